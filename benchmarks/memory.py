"""Score a memory-mapped stack larger than one likes to hold, and say how much anonymous memory that took. Linux only.

    python benchmarks/memory.py [--gigabytes G] [--workers W] [--directory DIR]

A thread samples RssAnon, which leaves out mapped pages, as these are the system's to drop. What is left after what was
there before and the output should stay under 64 MiB, whatever the size.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import matrics

PANEL = ["accuracy", "mcc", "cohen_kappa", "recall:macro", "precision:macro", "f1:macro"]
STATUS = Path("/proc/self/status")
MIB, TARGET = 2**20, 64
CHUNK = 10_000  # matrices written at once
PAUSE = 0.002  # seconds between samples


def anonymous() -> int:
    """RssAnon of this process, in bytes."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


def write(path: Path, count: int, n: int) -> None:
    """A stack of random counts, a chunk at a time."""
    rng = np.random.default_rng(0)
    stack = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(count, n, n))
    chunk = rng.integers(1, 100, (CHUNK, n, n)).astype(np.float64)
    for start in range(0, count, CHUNK):
        stack[start : start + CHUNK] = chunk[: count - start]
    stack.flush()


def score(path: Path, workers: int) -> dict[str, float]:
    """Score the stack while a thread looks at the memory."""
    stack = np.load(path, mmap_mode="r")
    samples, done = [], threading.Event()

    def watch() -> None:
        while not done.wait(PAUSE):
            samples.append(anonymous())

    thread = threading.Thread(target=watch)
    before = anonymous()
    thread.start()
    begin = time.perf_counter()
    scores = matrics.score(stack, PANEL, workers=workers)
    seconds = time.perf_counter() - begin
    done.set()
    thread.join()
    output = sum(values.nbytes for values in scores.values())
    return {
        "seconds": seconds,
        "samples": len(samples),
        "before": before,
        "output": output,
        "peak": max(samples),
        "beyond": max(samples) - before - output,
    }


def main() -> None:
    """Write, score, delete, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()), help="where the stack goes")
    options = parser.parse_args()
    if not STATUS.exists():
        sys.exit("no /proc/self/status here: RssAnon is Linux's")
    size, free = options.gigabytes * 1e9, shutil.disk_usage(options.directory).free
    if free < size + 1e9:
        sys.exit(f"{options.directory}: {free / 1e9:.1f} GB free, {size / 1e9 + 1:.1f} wanted (--directory)")
    count = int(size / (8 * options.classes**2))
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        path = Path(folder) / "stack.npy"
        write(path, count, options.classes)
        found = score(path, options.workers)
    print(
        f"{count:,} matrices of {options.classes} classes, {options.gigabytes:g} GB memory-mapped,"
        f" six measures, workers={options.workers}: {found['seconds']:.1f} s"
    )
    print(f"RssAnon before {found['before'] / MIB:.0f} MiB, peak {found['peak'] / MIB:.0f} MiB"
          f" ({found['samples']} samples), output {found['output'] / MIB:.0f} MiB")  # fmt: skip
    print(f"beyond both: {found['beyond'] / MIB:.1f} MiB (target: under {TARGET})")


if __name__ == "__main__":
    main()
