"""Run the tests and the benchmarks that need a GPU, and print the tables of the page on speed in Markdown.

    python benchmarks/gpu.py [--quick] [--device cuda]

It needs a CUDA device, a build of PyTorch for it, and the extra ``test``; with a build of JAX for it the table has rows
of jax.jit as well. The tests are all of the project, or with ``--quick`` those alone that skip without a GPU. Then it
looks that nothing waits for the device, and compares and times. ``--device cpu --quick`` tries this script without a
GPU: tensors of the CPU then take the road of a device. The exit code is 1 if a test fails or something waits.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import backends  # (beside this file, as are the next three; fixes the threads of the host)
import jax
import numpy as np
import torch
from machine import machine, print_machine
from rivals import PANEL, plain_eve
from timing import Time, best
from torchmetrics.functional.classification import multiclass_confusion_matrix

import matrics
from matrics.arrays.torch import TORCH, Torch
from matrics.engine.eigenvalues import bisection
from matrics.integrations.torch import ConfusionMetric

ROOT = Path(__file__).parents[1]
DEVICE_TESTS = ["tests/test_torch_metric.py", "tests/test_torch_scores.py", "-k", "gpu or cuda"]
DTYPES = ("float32", "float64")
SIZES = (2, 3, 5, 10, 30, 100)
EIGENVALUE_SIZES = (3, 4, 5, 10, 20, 30, 64, 100)
LABELS = (10_000, 1_000_000, 100_000_000)
CLASSES = (10, 1000)
CELLS, EIGENVALUE_CELLS, QUICK_CELLS = 100_000_000, 2_000_000, 200_000  # of a stack
WAITS = "waits"

Row = Sequence[object]


def tests_pass(*, quick: bool) -> bool:
    """Whether the tests pass; what they print comes first."""
    # Two processes would share the GPU's memory. What backends.py has set for compilers is not meant for tests.
    ours = ("XLA_FLAGS", "TORCHINDUCTOR_FORCE_DISABLE_CACHES")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *(DEVICE_TESTS if quick else ["tests"])]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0  # noqa: S603 (the tests beside this file)


def print_table(title: str, heads: Sequence[str], rows: Iterable[Row]) -> None:
    """One table in Markdown; the first two columns are words."""
    print(f"\n### {title}\n\n| {' | '.join(heads)} |\n|{'---|' * 2}{'---:|' * (len(heads) - 2)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def stack_of(n: int, dtype: str, cells: int) -> np.ndarray:
    return np.random.default_rng(n).integers(1, 100, (max(cells // n**2, 1), n, n)).astype(dtype)


def timed(calls: Iterable[Callable[[], object]], device: torch.device) -> list[Time]:
    """Seconds of each call until the device has finished, after one that warms up."""

    def finished(call: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            call()
            if device.type == "cuda":
                torch.cuda.synchronize()

        run()
        return run

    return best(*map(finished, calls), runs=9)


def ratio(of: Time, ours: Time) -> str:
    """How often ours fits into another time, by the best runs and by the medians."""
    return f"{of / ours:.2f}×, {(of / ours).median:.2f}×"


# Nothing waits --------------------------------------------------------------------------------------------------------


def waits(call: Callable[[], object], device: torch.device) -> str:
    """Whether a call makes the host wait for the device, which PyTorch then refuses."""
    if device.type != "cuda":
        return "not a GPU"
    call()  # what is prepared once may wait
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        call()
    except RuntimeError as error:
        if "synchroniz" not in str(error):
            raise
        return WAITS
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return "does not wait"


def waiting(device: torch.device) -> Iterator[Row]:
    """Whether EVE and all of core wait, and how far EVE is from that of the host."""
    for n, dtype in product(EIGENVALUE_SIZES, DTYPES):
        cm = stack_of(n, dtype, 10_000)
        tensor = torch.from_numpy(cm).to(device)
        found = [waits(partial(matrics.eve, tensor), device), waits(partial(matrics.score, tensor), device)]
        apart = np.abs(matrics.eve(tensor).numpy(force=True) - matrics.eve(cm)).max()
        yield n, dtype, *found, f"{apart:.1e}"


# Times ----------------------------------------------------------------------------------------------------------------


def measures(device: torch.device, sizes: Sequence[int]) -> Iterator[Row]:
    """Six measures: those of backends.py."""
    has_jax = jax.default_backend() == "gpu" or device.type == "cpu"
    with torch.no_grad():
        for n, dtype in product(sizes, DTYPES):
            for row in backends.measure(n, dtype, str(device)):
                if row["road"].startswith("jax") and not has_jax:
                    continue
                yield (
                    *(f"{n} {dtype}", row["road"], f"{row['read']:.2f}", f"{row['by hand']:.2f}"),
                    *(f"{row['ours']:.2f}", ratio(row["by hand"], row["ours"])),
                    "" if row["road"] == "torch" else f"{row['compile']:.1f}",
                )


def eigenvalues(device: torch.device, sizes: Sequence[int], cells: int) -> Iterator[Row]:
    """Bisection beside PyTorch's solver, and EVE."""
    for n, dtype in product(sizes, DTYPES):
        cm = stack_of(n, dtype, cells)
        rates = cm / cm.sum(-1, keepdims=True)
        tensor, symmetric = (torch.from_numpy(x).to(device) for x in (cm, (rates + rates.swapaxes(-1, -2)) / 2))
        apart = (bisection.eigenvalues(TORCH, symmetric) - torch.linalg.eigvalsh(symmetric)).abs().max().item()
        digits = 1e-4 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(
            matrics.eve(tensor).numpy(force=True)[:1000], plain_eve(cm[:1000]), rtol=0, atol=digits
        )
        calls = (
            partial(torch.linalg.eigvalsh, symmetric),
            partial(bisection.eigenvalues, TORCH, symmetric),
            partial(matrics.eve, tensor),
        )
        solver, ours, eve = (taken / len(cm) * 1e9 for taken in timed(calls, device))
        yield n, dtype, f"{solver:.1f}", f"{ours:.1f}", ratio(solver, ours), f"{eve:.1f}", f"{apart:.1e}"


def counting(device: torch.device, sizes: Sequence[int]) -> Iterator[Row]:
    """Counting labels beside what is written by hand, and torchmetrics."""
    for size, n in product(sizes, CLASSES):
        true, pred = torch.randint(0, n, (2, size), generator=torch.Generator().manual_seed(n)).to(device)
        metric, floor = ConfusionMetric(n, "accuracy").to(device), torch.zeros(n * n, dtype=torch.int64, device=device)

        def by_hand(true: torch.Tensor = true, pred: torch.Tensor = pred, n: int = n) -> torch.Tensor:
            return torch.bincount(true * n + pred, minlength=n * n).view(n, n)

        def bare(
            true: torch.Tensor = true, pred: torch.Tensor = pred, n: int = n, floor: torch.Tensor = floor
        ) -> torch.Tensor:
            bins = true * n + pred
            return floor.scatter_add_(0, bins, torch.ones_like(bins))

        assert torch.equal(matrics.confusion_matrix(true, pred, num_classes=n), by_hand()), "counts differ"
        calls = (
            by_hand,
            bare,
            partial(matrics.confusion_matrix, true, pred, num_classes=n),
            partial(metric.update, true, pred),
            partial(multiclass_confusion_matrix, pred, true, n, validate_args=False),
        )
        hand, added, ours, update, theirs = (taken / size * 1e9 for taken in timed(calls, device))
        figures = (f"{taken:.3f}" for taken in (hand, added, ours, update, theirs))
        yield f"{size:,}", n, *figures, ratio(hand, ours), ratio(added, update)


def streaming(device: torch.device, cells: int) -> Iterator[Row]:
    """A stack in the host's memory, scored here and there."""
    for n in (3, 10):
        cm = stack_of(n, "float64", cells)
        calls = (
            partial(matrics.score, cm, PANEL),
            partial(matrics.score, cm, PANEL, workers=-1),
            partial(matrics.score_blocks, cm, PANEL, device=device),
        )
        one, all_cores, there = (taken / len(cm) * 1e9 for taken in timed(calls, device))
        yield (
            n,
            "float64",
            f"{one:.1f}",
            f"{all_cores:.1f}",
            f"{there:.1f}",
            f"{8 * n**2 / there:.2f}",
            ratio(one, there),
        )


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the tests that need a GPU, and small stacks")
    parser.add_argument("--device", type=torch.device, default="cuda", help="PyTorch's")
    options = parser.parse_args()
    device, quick = options.device, options.quick
    if device.type != "cpu" and not torch.cuda.is_available():
        print("benchmarks/gpu.py needs a CUDA device and a build of PyTorch that finds it.", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore", module="torch")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the GPU's memory
    passed = tests_pass(quick=quick)
    if device.type == "cpu":  # or the host's code would score the tensors
        Torch.host_view = lambda *_: None
        Torch.waits_for_eigenvalues = lambda *_: True
    jax.config.update("jax_enable_x64", True)
    torch.set_num_threads(1)  # of the host
    cells = QUICK_CELLS if quick else CELLS
    backends.CELLS = cells
    sizes = (3, 10) if quick else SIZES

    print("\n## On a GPU\n")
    print_machine(machine())
    if device.type == "cuda":
        print(f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}.")
    print("Each figure is the best of several runs in turn; of ratios the median follows.")
    looked = list(waiting(device))
    heads = ("n", "dtype", "EVE", "core", "EVE beside the host's, largest difference")
    print_table("Whether the host waits", heads, looked)
    heads = ("n, dtype", "road", "one read", "by hand", "ours", "times as fast", "compiling, s")
    print_table("Six measures, ns a matrix", heads, measures(device, sizes))
    heads = ("n", "dtype", "`eigvalsh`", "bisection", "times as fast", "EVE", "largest difference")
    print_table(
        "Eigenvalues, ns a matrix",
        heads,
        eigenvalues(device, sizes if quick else EIGENVALUE_SIZES, min(cells, EIGENVALUE_CELLS)),
    )
    heads = ("labels", "classes", "`bincount`", "`scatter_add_`", "`confusion_matrix`", "`ConfusionMetric.update`")
    heads += ("torchmetrics", "`confusion_matrix`: as fast as `bincount`", "`update`: as fast as `scatter_add_`")
    print_table("Counting, ns a pair of labels", heads, counting(device, LABELS[:1] if quick else LABELS))
    heads = ("n", "dtype", "`score`", "all cores", "`score_blocks`", "GB/s", "times as fast as one core")
    print_table("Six measures of a stack on the host, ns a matrix", heads, streaming(device, cells))
    return int(not passed or any(WAITS in row for row in looked))


if __name__ == "__main__":
    sys.exit(main())
