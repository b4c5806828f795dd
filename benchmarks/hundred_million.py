"""Score a stack in a file, beside reading the file: by matrics.score, in blocks, and by score_blocks.

    python benchmarks/hundred_million.py [--matrices N] [--classes N] [--directory DIR] [--runs R]

The file is written to a temporary directory first, and removed at the end; it takes 72 bytes for each 3×3 matrix, so
that a hundred million are 7.2 GB. All runs take turns and find the file in the system's cache, if that is large enough.
In brackets stands how many times as long as NumPy's read of the same blocks. Values are compared first; of the times
nothing is asserted.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from run import as_slow, machine, print_machine  # (beside this file, as is timing; fixes the threads)
from timing import best

import matrics

METRICS = ["accuracy", "mcc", "cohen_kappa", "recall:macro", "precision:macro", "f1:macro"]
BLOCK_BYTES = 64 * 2**20
STATUS = Path("/proc/self/status")


def write(path: Path, count: int, n: int) -> None:
    """A stack of random counts, a block at a time."""
    stack = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(count, n, n))
    random = np.random.default_rng(0)
    for start in range(0, count, 1_000_000):
        part = stack[start : start + 1_000_000]
        part[:] = random.integers(1, 100, part.shape)
    stack.flush()


def blocks(path: Path) -> list[np.ndarray]:
    """Views of the memory map, each of the size of a block."""
    stack = np.load(path, mmap_mode="r")
    step = max(1, BLOCK_BYTES // stack[0].nbytes)
    return [stack[start : start + step] for start in range(0, len(stack), step)]


def read(path: Path) -> float:
    """Every cell once."""
    return max(float(block.max()) for block in blocks(path))


def cat(path: Path) -> None:
    """As fast as the system hands out the file."""
    with Path("/dev/null").open("wb") as nowhere:
        subprocess.run(["cat", path], stdout=nowhere, check=True)  # noqa: S603, S607


def to_file(path: Path, scored: Path, workers: int) -> None:
    """Block by block into a file of six columns, so that not even the results are in memory."""
    count = len(np.load(path, mmap_mode="r"))
    columns = np.lib.format.open_memmap(scored, mode="w+", dtype=np.float64, shape=(len(METRICS), count))
    start = 0
    for block in blocks(path):
        for column, values in zip(columns, matrics.score(block, METRICS, workers=workers).values(), strict=True):
            column[start : start + len(block)] = values
        start += len(block)


def devices() -> dict[str, object]:
    """Those that this machine has."""
    import jax
    import torch

    found = {f"score_blocks, JAX's {device}": device for device in jax.local_devices()[:1]}
    if torch.cuda.is_available():
        found["score_blocks, cuda"] = torch.device("cuda")
    return {"score_blocks, the host": None, **found}


def anonymous(call: object) -> float:
    """By how much the memory that is no file's grew during a call, in MiB; 0 where the system does not say."""
    if not STATUS.exists():
        return 0.0

    def held() -> int:
        (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("RssAnon"))
        return int(line.split()[1])

    samples, done = [before := held()], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            samples.append(held())

    thread = threading.Thread(target=watch)
    thread.start()
    call()
    done.set()
    thread.join()
    return (max(samples) - before) / 1024


def main(path: Path, count: int, n: int, runs: int) -> None:
    """Write, compare, time, print."""
    begin = time.perf_counter()
    write(path, count, n)
    size = path.stat().st_size
    print(f"{count:,} matrices of {n} classes, {size / 1e9:.2f} GB, written in {time.perf_counter() - begin:.1f} s\n")
    stack, scored = np.load(path, mmap_mode="r"), path.with_name("scored.npy")
    part = stack[: min(count, 100_000)]
    wanted, places = matrics.score(part, METRICS), devices()
    for name, device in places.items():
        found = matrics.score_blocks(part, METRICS, device=device)
        close = 1e-12 if found["mcc"].dtype == np.float64 else 1e-4
        for metric, values in wanted.items():
            np.testing.assert_allclose(found[metric], values, rtol=close, atol=close, err_msg=name)
    calls = {
        "cat FILE > /dev/null": lambda: cat(path),
        "NumPy reads the blocks": lambda: read(path),
        "score, the whole memory map": lambda: matrics.score(stack, METRICS),
        "the same, 2 workers": lambda: matrics.score(stack, METRICS, workers=2),
        "score, blocks into a file": lambda: to_file(path, scored, 1),
        "the same, 2 workers ": lambda: to_file(path, scored, 2),
    }
    for name, device in places.items():
        calls[name] = lambda device=device: matrics.score_blocks(stack, METRICS, device=device)
    held = {name: anonymous(call) for name, call in calls.items()}  # the first run, which also compiles
    times = best(*calls.values(), runs=runs)
    floor = times[1]
    print(f"{'':<32}{'ns a matrix':>12}{'GB/s':>8}{'million/s':>11}{'MiB':>8}")
    for (name, taken), mib in zip(zip(calls, times, strict=True), held.values(), strict=True):
        figures = f"{taken / count * 1e9:>12.1f}{size / taken / 1e9:>8.2f}{count / taken / 1e6:>11.1f}{mib:>8.0f}"
        print(f"{name:<32}{figures}   ({as_slow(taken / floor)})")
    print(
        f"\nMiB: anonymous memory above that before; the results alone are {count * 8 * len(METRICS) / 2**20:.0f} MiB"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrices", type=int, default=2_000_000)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--directory", type=Path, help="where the file is written; the system's by default")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print_machine(machine())
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        main(Path(folder) / "stack.npy", options.matrices, options.classes, options.runs)
