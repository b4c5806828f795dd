"""Time EVE beside the same by hand with LAPACK's eigenvalues, on the host and under jax.jit, and its parts.

Then small batches of eigenvalues under jax.jit beside JAX's own, and EVE under torch.compile beside plain tensors.

    python benchmarks/eigenvalues.py [--quick]

One thread; calls run in turn, and each figure is their minimum, with the median in the second column. The share of the
parts is that of one block: counts into class-first order and rates, eigenvalues, and the entropy with all the rest.
Values are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax  # noqa: E402 (after the threads are fixed)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from machine import machine, print_machine  # noqa: E402 (beside this file, as are the next two)
from rivals import plain_eve  # noqa: E402
from timing import Time, best  # noqa: E402

import matrics  # noqa: E402
from matrics._engine.eigenvalues import host, xla  # noqa: E402
from matrics._engine.eigenvalues.lanes import LEAST_MATRICES  # noqa: E402

CELLS = 4_000_000
HOST_SIZES = (4, 5, 7, 10, 20, 30)
JIT_SIZES = (4, 5, 7, 10, 20, 30)
SMALL_SIZES = (5, 10, 20)


def timed(calls: dict[str, Callable[[], object]], runs: int) -> dict[str, Time]:
    """Minimum and median of the processor time of each call."""
    return dict(zip(calls, best(*calls.values(), runs=runs, clock=time.process_time), strict=True))


def stack_of(n: int, dtype: type) -> np.ndarray:
    count = max(CELLS // n**2, LEAST_MATRICES * n)
    return np.random.default_rng(n).integers(1, 100, (count, n, n)).astype(dtype)


def plain_jax(cm: jax.Array) -> jax.Array:
    """EVE by hand in JAX."""
    rates = cm / cm.sum(-1, keepdims=True)
    values = jnp.linalg.eigvalsh((rates + jnp.swapaxes(rates, -1, -2)) / 2)
    positive = jnp.where(values > 0, values, 0)
    shares = positive / positive.sum(-1, keepdims=True)
    return -(shares * jnp.log(jnp.where(shares > 0, shares, 1))).sum(-1) / jnp.log(cm.shape[-1])


def print_row(n: int, dtype: type, found: dict[str, Time], count: int, last: str) -> None:
    plain, ours = found["by hand"], found["matrics"]
    ratio = plain / ours
    times = f"{plain / count * 1e9:>9.0f} {ours / count * 1e9:>9.0f}"
    ratios = f"{ratio:>7.2f}× {ratio.median:>7.2f}×"
    print(f"{n:>4} {np.dtype(dtype).name:<8} {times} {ratios}   {last}", flush=True)


def on_host(sizes: Sequence[int], runs: int) -> None:
    print("EVE on the host: ns a matrix, and times as fast as plain NumPy (minimum, median)\n")
    print(f"{'n':>4} {'dtype':<8} {'by hand':>9} {'matrics':>9} {'minimum':>8} {'median':>8}   of it eigenvalues")
    for dtype in (np.float64, np.float32):
        for n in sizes:
            stack = stack_of(n, dtype)
            digits = 1e-13 if dtype is np.float64 else 1e-5
            np.testing.assert_allclose(matrics.eve(stack), plain_eve(stack), rtol=0, atol=digits)
            found = timed({"by hand": lambda s=stack: plain_eve(s), "matrics": lambda s=stack: matrics.eve(s)}, runs)
            if host.takes_steps(n, stack.dtype, len(stack)):
                block = np.ascontiguousarray(symmetric(stack[:8192]).transpose(1, 2, 0))
                with np.errstate(all="ignore"):
                    alone = timed({"steps": lambda b=block: host.eigenvalues(b)}, runs)["steps"] / block.shape[-1]
                part = f"{alone / (found['matrics'] / len(stack)):.0%}"
            else:
                part = "LAPACK's"
            print_row(n, dtype, found, len(stack), part)


def symmetric(stack: np.ndarray) -> np.ndarray:
    rates = stack / stack.sum(-1, keepdims=True)
    return (rates + np.swapaxes(rates, -1, -2)) / 2


def under_jit(sizes: Sequence[int], runs: int) -> None:
    print("\nEVE under jax.jit: likewise, beside jax.numpy.linalg.eigvalsh\n")
    print(f"{'n':>4} {'dtype':<8} {'by hand':>9} {'matrics':>9} {'minimum':>8} {'median':>8}   compiling, s")
    jax.config.update("jax_enable_x64", True)
    for dtype in (np.float64, np.float32):
        for n in sizes:
            stack = jnp.asarray(stack_of(n, dtype)[:20_000])
            begin = time.perf_counter()
            ours = jax.jit(matrics.eve).lower(stack).compile()
            compiling = time.perf_counter() - begin
            plain = jax.jit(plain_jax).lower(stack).compile()
            np.testing.assert_allclose(ours(stack), plain(stack), rtol=0, atol=1e-5)
            calls = {"by hand": lambda f=plain, s=stack: f(s).block_until_ready()}
            calls["matrics"] = lambda f=ours, s=stack: f(s).block_until_ready()
            print_row(n, dtype, timed(calls, runs), len(stack), f"{compiling:.1f}")


def in_small_batches(sizes: Sequence[int], runs: int) -> None:
    print("\nEigenvalues of small batches under jax.jit, µs, beside jax.numpy.linalg.eigvalsh (minimum, median)\n")
    print(f"{'n':>4} {'matrices':>9} {'eigvalsh':>9} {'matrics':>9} {'minimum':>8} {'median':>8}")
    for n in sizes:
        for count in (1, 16, 64):
            matrices = jnp.asarray(symmetric(stack_of(n, np.float64)[:count]))
            jitted = {"theirs": jax.jit(jnp.linalg.eigvalsh), "ours": jax.jit(xla.eigenvalues)}
            calls = {name: lambda f=f, x=matrices: f(x).block_until_ready() for name, f in jitted.items()}
            np.testing.assert_allclose(*(call() for call in calls.values()), rtol=0, atol=1e-13)
            repeated = {name: lambda call=call: [call() for _ in range(100)] for name, call in calls.items()}
            theirs, ours = (taken / 100 * 1e6 for taken in timed(repeated, runs).values())
            ratio = ours / theirs
            print(f"{n:>4} {count:>9} {theirs:>9.0f} {ours:>9.0f} {ratio:>7.2f}× {ratio.median:>7.2f}×", flush=True)


def under_torch_compile(sizes: Sequence[int], runs: int) -> None:
    print("\nEVE of tensors, ns a matrix: compiled beside plain (minimum, median)\n")
    print(f"{'n':>4} {'matrices':>9} {'plain':>9} {'compiled':>9} {'minimum':>8} {'median':>8}   compiling, s")
    torch.set_num_threads(1)
    for n in sizes:
        for count in (1000, 20_000):
            tensor = torch.from_numpy(stack_of(n, np.float64)[:count])
            torch._dynamo.reset()
            compiled = torch.compile(matrics.eve, fullgraph=True, dynamic=False)
            begin = time.perf_counter()
            np.testing.assert_allclose(compiled(tensor), matrics.eve(tensor), rtol=0, atol=1e-13)
            compiling = time.perf_counter() - begin
            calls = {"plain": lambda t=tensor: matrics.eve(t), "compiled": lambda f=compiled, t=tensor: f(t)}
            plain, ours = (taken / len(tensor) * 1e9 for taken in timed(calls, runs).values())
            ratio = ours / plain
            times = f"{len(tensor):>9} {plain:>9.0f} {ours:>9.0f}"
            print(f"{n:>4} {times} {ratio:>7.2f}× {ratio.median:>7.2f}×   {compiling:.1f}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer sizes and runs")
    options = parser.parse_args(arguments)
    print_machine(machine())
    runs = 3 if options.quick else 9
    on_host((5, 10) if options.quick else HOST_SIZES, runs)
    under_jit((5,) if options.quick else JIT_SIZES, runs)
    in_small_batches((5,) if options.quick else SMALL_SIZES, runs)
    under_torch_compile((5,) if options.quick else SMALL_SIZES, runs)


if __name__ == "__main__":
    main()
