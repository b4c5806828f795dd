"""Small calls of this working tree beside those of another commit, in alternating processes.

    python benchmarks/compare.py REV [--rounds 5]

Run it before a release with the last one as REV. A row whose ratio is above 1.1 has become slower.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def best_of(sources: dict[str, Path], rounds: int) -> dict[str, dict[str, float]]:
    """The best time of each call with each source, of runs in turn, so that both see the same machine."""
    best: dict[str, dict[str, float]] = {name: {} for name in sources}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "times.json"
        for _ in range(rounds):
            for name, source in sources.items():
                command = [sys.executable, str(ROOT / "benchmarks/calls.py"), "--json", str(file)]
                subprocess.run(command, env=os.environ | {"PYTHONPATH": str(source)}, check=True)  # noqa: S603
                for call, taken in json.loads(file.read_text()).items():
                    best[name][call] = min(taken, best[name].get(call, taken))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="a commit, a branch or a tag")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", str(other), options.revision], check=True)  # noqa: S603
        try:
            best = best_of({"before": other / "src", "now": ROOT / "src"}, options.rounds)
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)  # noqa: S603
    print(f"| {'call':28} | before µs |   now µs | ratio |\n|{'-' * 30}|{'-' * 10}:|{'-' * 9}:|{'-' * 6}:|")
    for call, now in best["now"].items():
        before = best["before"].get(call)
        ratio = "new" if before is None else f"{now / before:.2f}"
        print(f"| {call:28} | {before or float('nan'):9.1f} | {now:8.1f} | {ratio:>5} |")


if __name__ == "__main__":
    main()
