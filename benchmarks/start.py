"""Time how long matrics takes to start: the import, the command line; and random matrices, beside plain integers.

    python benchmarks/start.py [--runs N] [--quick]

Each start is a process of its own: its processor time, of user and system, the least of several and their median, in
turn with one that only imports NumPy. Python compiles a file that has no bytecode yet; with PYTHONDONTWRITEBYTECODE it
does so at every start, and the times are longer. The files of examples/ are read, so run it in a clone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine, print_machine  # (beside this file, as is timing)
from timing import Time, best

import matrics

ROOT = Path(__file__).parents[1]
SWEEP = str(ROOT / "examples" / "digits_sweep.parquet")
STARTS = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "import matrics": ["-c", "import matrics"],
    "matrics --help": ["-m", "matrics", "--help"],
    "matrics score --help": ["-m", "matrics", "score", "--help"],
    "matrics score digits_sweep.parquet": ["-m", "matrics", "score", SWEEP, "--by", "model"],
}
CELLS = 9_000_000  # of each stack of random matrices
SIZES = (2, 3, 10, 100, 1000)


def processor_time(arguments: list[str]) -> float:
    """Seconds of one process."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=quiet)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"failed: python {' '.join(arguments)}")
    return used.ru_utime + used.ru_stime


def peak_memory(call: Callable[[], np.ndarray]) -> float:
    """The most memory in use at a time, as a multiple of the result."""
    tracemalloc.start()
    size = call().nbytes
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / size


def print_starts(runs: int) -> None:
    """The processor time of each start, and beside NumPy's import."""
    for arguments in STARTS.values():  # what has no bytecode yet is compiled here
        processor_time(arguments)
    taken = {name: [] for name in STARTS}
    for _ in range(runs):
        for name, arguments in STARTS.items():
            taken[name].append(processor_time(arguments))
    found = {name: Time.of(times) for name, times in taken.items()}
    kept = "not kept" if sys.dont_write_bytecode else "kept"
    print(f"Processor time of a process, the least and the median of {runs} runs; bytecode is {kept}\n")
    print(f"{'process':<36}{'seconds':>9}{'median':>9}{'of import numpy':>18}{'median':>9}")
    for name, seconds in found.items():
        ratio = seconds / found["import numpy"]
        print(f"{name:<36}{seconds:>9.3f}{seconds.median:>9.3f}{ratio:>17.2f}×{ratio.median:>8.2f}×")


def print_random(cells: int, runs: int) -> None:
    """Time and memory of random matrices, beside those of random integers of the same shape."""
    random = np.random.default_rng(0)
    print("\nrandom_matrices, beside integers(1, 1001) of NumPy in the same shape\n")
    line = f"{'matrices':>9}{'classes':>9}{'ns a cell':>11}{'integers':>10}"
    print(f"{line}{'times as long':>15}{'median':>8}{'memory/result':>15}")
    for n in SIZES:
        number = cells // n**2

        def ours(number: int = number, n: int = n) -> np.ndarray:
            return matrics.simulate.random_matrices(number, n, rng=random)

        def plain(number: int = number, n: int = n) -> np.ndarray:
            return random.integers(1, 1001, (number, n, n))

        drawn = number * n**2
        ours_time, plain_time = (taken / drawn * 1e9 for taken in best(ours, plain, runs=runs, clock=time.process_time))
        ratio = ours_time / plain_time
        times = f"{ours_time:>11.1f}{plain_time:>10.1f}{ratio:>15.1f}{ratio.median:>8.1f}"
        print(f"{number:>9,}{n:>9}{times}{peak_memory(ours):>15.2f}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="few runs and small stacks")
    options = parser.parse_args()
    print_machine(machine())
    print_starts(3 if options.quick else options.runs)
    print_random(CELLS // 9 if options.quick else CELLS, 3 if options.quick else 7)


if __name__ == "__main__":
    main()
