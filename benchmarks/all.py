"""Run the benchmarks one after the other, and print all tables on one page.

    python benchmarks/all.py [--quick]

Each runs in a process of its own. ``--quick`` takes some of the sizes and runs, and five minutes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
# With what they take for the quick page; those without it are left out of that.
QUICK = {
    "start.py": ["--quick"],
    "run.py": ["--sizes", "3", "10"],
    "eigenvalues.py": ["--quick"],
    "ranking.py": ["--quick"],
    "training.py": ["--quick"],
}
OTHERS = (
    "catalogue.py",
    "backends.py",
    "uncertainty.py",
    "study.py",
    "multilabel.py",
    "groups.py",
    "many_classes.py",
    "score_state.py",
    "dask_cluster.py",
    "command_line.py",
    "count_labels.py",
)


def main() -> int:
    """Print the page; the exit code of the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="some sizes, in five minutes")
    options = parser.parse_args()
    scripts = dict(QUICK) if options.quick else {name: [] for name in (*QUICK, *OTHERS)}
    failed = 0
    for name, arguments in scripts.items():
        print(f"\n{'=' * 100}\n{' '.join(['python', f'benchmarks/{name}', *arguments])}\n", flush=True)
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, str(HERE / name), *arguments], check=False)  # noqa: S603 (the files beside this one)
        print(f"\n({time.perf_counter() - begin:.0f} s)", flush=True)
        failed = failed or done.returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
