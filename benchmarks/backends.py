"""Time six measures on PyTorch and JAX, eager and compiled, beside the same six written by hand there, in one run.

    python benchmarks/backends.py [--json FILE] [--sizes N ...] [--device cpu]

One thread, plain arrays of whole numbers; values are compared first. A figure is the best of several runs, and below it
their median. What compiling takes stands beside it, and at the
end what it takes for the whole catalogue.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")  # or what is compiled again takes no time
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import jax  # noqa: E402 (after the threads are fixed)
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from machine import machine, print_machine  # noqa: E402 (beside this file, as are the next two)
from rivals import PANEL, plain_panel  # noqa: E402
from timing import best, both  # noqa: E402

import matrics  # noqa: E402

warnings.filterwarnings("ignore", module="torch")

SIZES = (2, 3, 5, 10, 30)
CELLS = 2_000_000


def ours(cm: Any) -> dict[str, Any]:
    return matrics.score(cm, PANEL)


def everything(cm: Any) -> dict[str, Any]:
    return matrics.score(cm, "all")


def synchronize(result: Any) -> Any:
    """Wait for the device."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return jax.block_until_ready(result)


def first_call(function: Callable[..., Any], stack: Any) -> float:
    """Seconds of the first call, which compiles."""
    begin = time.perf_counter()
    synchronize(function(stack))
    return time.perf_counter() - begin


def to_numpy(x: Any) -> np.ndarray:
    return x.numpy(force=True) if isinstance(x, torch.Tensor) else np.asarray(x)


def measure(n: int, dtype: str, device: str) -> list[dict[str, Any]]:
    """Each road of one size and dtype: nanoseconds a matrix, and seconds of compiling."""
    cm = np.random.default_rng(n).integers(1, 100, (CELLS // n**2, n, n)).astype(dtype)
    tensor, array = torch.from_numpy(cm).to(device), jnp.asarray(cm)
    in_torch, in_jax = partial(plain_panel, xp=torch), partial(plain_panel, xp=jnp)
    torch._dynamo.reset()
    roads = {
        "torch": (tensor, ours, in_torch),
        "torch.compile": (tensor, torch.compile(ours, fullgraph=True), torch.compile(in_torch, fullgraph=True)),
        "jax.jit": (array, jax.jit(ours), jax.jit(in_jax)),
    }
    digits = 1e-3 if dtype == "float32" else 1e-9  # by hand counts are subtracted, which float32 has few digits for
    return [{"n": n, "dtype": dtype, "road": road, **measure_road(*calls, digits)} for road, calls in roads.items()]


def measure_road(stack: Any, mine: Callable[..., Any], by_hand: Callable[..., Any], digits: float) -> dict[str, float]:
    takes, takes_by_hand = first_call(mine, stack), first_call(by_hand, stack)
    expected = by_hand(stack)
    for metric, values in mine(stack).items():
        np.testing.assert_allclose(to_numpy(values), to_numpy(expected[metric]), digits, digits, err_msg=metric)
    calls = (stack.sum, partial(by_hand, stack), partial(mine, stack))
    times = best(*(lambda call=call: synchronize(call()) for call in calls))
    read, hand, taken = (seconds / len(stack) * 1e9 for seconds in times)
    return {"read": read, "by hand": hand, "ours": taken, "compile": takes, "compile by hand": takes_by_hand}


def measure_catalogue(device: str) -> dict[str, float]:
    """Seconds to compile all measures for 3×3 matrices."""
    cm = np.random.default_rng(0).integers(1, 100, (100, 3, 3)).astype("float32")
    torch._dynamo.reset()
    compiled = torch.compile(everything, fullgraph=True)
    return {
        "jax.jit": first_call(jax.jit(everything), jnp.asarray(cm)),
        "torch.compile": first_call(compiled, torch.from_numpy(cm).to(device)),
    }


def print_tables(rows: list[dict[str, Any]], catalogue: dict[str, float]) -> None:
    print("Six measures, nanoseconds a matrix. In brackets: how often ours fits into the same written by hand.\n")
    head = f"{'n':>4} {'dtype':8} {'road':14} {'':>6} {'one read':>9} {'by hand':>9} {'ours':>14}"
    print(f"{head} {'compiling, s':>13} {'by hand':>8}")
    for row in both(rows):
        times = f"{row['ours']:.0f} ({row['by hand'] / row['ours']:.1f}×)"
        line = f"{row['n']:>4} {row['dtype']:8} {row['road']:14} {row['of']:>6} {row['read']:>9.1f}"
        line = f"{line} {row['by hand']:>9.0f} {times:>14}"
        print(
            line
            if row["road"] == "torch" or row["of"] == "median"
            else f"{line} {row['compile']:>13.1f} {row['compile by hand']:>8.1f}"
        )
    if catalogue:
        takes = ", ".join(f"{road} {seconds:.1f} s" for road, seconds in catalogue.items())
        print(f"\nCompiling the {len(matrics.list_metrics('all'))} measures of the catalogue: {takes}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="save the figures here")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of classes")
    parser.add_argument("--dtypes", nargs="+", default=("float32", "float64"))
    parser.add_argument("--device", default="cpu", help="PyTorch's; JAX takes its own default")
    parser.add_argument("--no-catalogue", action="store_true", help="do not compile the whole catalogue")
    arguments = parser.parse_args()
    jax.config.update("jax_enable_x64", "float64" in arguments.dtypes)
    torch.set_num_threads(1)
    print_machine(machine())
    with torch.no_grad():
        settings = product(arguments.sizes, arguments.dtypes, [arguments.device])
        rows = [row for setting in settings for row in measure(*setting)]
        catalogue = {} if arguments.no_catalogue else measure_catalogue(arguments.device)
    print_tables(rows, catalogue)
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "compile all": catalogue}, indent=1) + "\n")


if __name__ == "__main__":
    main()
