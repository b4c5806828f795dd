"""Run the benchmarks one after the other, and print all tables on one page.

    python benchmarks/all.py [--quick]

Each runs in a process of its own. ``--quick`` takes some of the sizes and runs, and five minutes of processor time at
most.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from machine import IS_PRINTED, machine, print_machine  # (beside this file)

HERE = Path(__file__).parent
# With what they take for the quick page; those without it are left out of that.
QUICK = {
    "start.py": ["--quick"],
    "run.py": ["--sizes", "3", "10", "100"],
    "eigenvalues.py": ["--quick"],
    "backends.py": ["--sizes", "3", "--dtypes", "float32", "--no-catalogue"],
    "ranking.py": ["--quick"],
    "training.py": ["--quick"],
}
# Not coverage.py and gpu.py: the one simulates for hours what is no time, the other needs another machine.
OTHERS = {
    "calls.py": [],
    "catalogue.py": [],
    "losses.py": [],
    "uncertainty.py": [],
    "study.py": [],
    "multilabel.py": [],
    "groups.py": [],
    "many_classes.py": [],
    "score_state.py": [],
    "frames.py": [],
    "group_by.py": [],
    "memory.py": ["--gigabytes", "1"],
    "hundred_million.py": ["--matrices", "10000000"],
    "dask_cluster.py": [],
    "command_line.py": [],
    "count_labels.py": [],
    "training_sizes.py": [],
    "scorers.py": [],
}


def processor_time() -> float:
    """Seconds that the processes have taken that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Print the page; the exit code of the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="some sizes, in five minutes")
    options = parser.parse_args()
    scripts = QUICK if options.quick else {name: OTHERS.get(name, []) for name in (*QUICK, *OTHERS)}
    print_machine(machine())
    environment = {**os.environ, IS_PRINTED: "1"}
    failed, begin = 0, time.perf_counter()
    for name, arguments in scripts.items():
        print(f"{'=' * 100}\n{' '.join(['python', f'benchmarks/{name}', *arguments])}\n", flush=True)
        before = processor_time()
        done = subprocess.run([sys.executable, str(HERE / name), *arguments], env=environment, check=False)  # noqa: S603 (the files beside this one)
        print(f"\n({processor_time() - before:.0f} s of processor time)\n", flush=True)
        failed = failed or done.returncode
    print(f"All of it: {processor_time():.0f} s of processor time in {time.perf_counter() - begin:.0f} s")
    return failed


if __name__ == "__main__":
    sys.exit(main())
