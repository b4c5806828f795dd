"""Time what has to be waited for before any result: import, help and a small file; and random matrices.

    python benchmarks/start.py [--quick]

Processor time of whole processes, each the best of several in turn. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from timing import best  # (beside this file)

import matrics

ROOT = Path(__file__).parents[1]
FILE = str(ROOT / "examples" / "digits_sweep.parquet")
COMMANDS = {
    "import numpy": ["-c", "import numpy"],
    "import matrics": ["-c", "import matrics"],
    "matrics --help": ["-m", "matrics", "--help"],
    "matrics score FILE --by model": ["-m", "matrics", "score", FILE, "--by", "model"],
}


def processor_time(arguments: list[str]) -> float:
    """Seconds that a new interpreter takes, with its compiled modules in place."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)  # noqa: S603 (COMMANDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processes(runs: int) -> None:
    """Each command in turn."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(runs):
        for name, arguments in COMMANDS.items():
            times[name].append(processor_time(arguments))
    print("Processor time of a process, and how many times that of import numpy\n")
    least = {name: min(taken) for name, taken in times.items()}
    for name, taken in least.items():
        print(f"{name:<32} {taken:>6.2f} s {taken / least['import numpy']:>6.1f}×")


def random_matrices(count: int) -> None:
    """Beside as many plain integers."""
    print("\nmatrics.random_matrices, as times of Generator.integers of the same size, and of the result's memory\n")
    for n in (3, 10):
        num = count // n**2
        ours, plain = best(
            lambda n=n, num=num: matrics.random_matrices(num, n, rng=0),
            lambda n=n, num=num: np.random.default_rng(0).integers(1, 1000, (num, n, n)),
        )
        tracemalloc.start()
        size = matrics.random_matrices(num, n, rng=0).nbytes
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"n = {n:<3} {num:>8,} matrices: {ours / plain:.1f}× the time, {peak / size:.2f}× the memory")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    options = parser.parse_args(arguments)
    processes(3 if options.quick else 15)
    random_matrices(1_000_000 if options.quick else 4_000_000)


if __name__ == "__main__":
    main()
