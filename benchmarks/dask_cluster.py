"""Score a file of 3×3 matrices through dask on several processes, one of which is killed, beside plain matrics.

    python benchmarks/dask_cluster.py [--matrices 4_000_000] [--workers 4] [--memory-limit 1GB] [--folder DIRECTORY]

All read the same .npy file by a memory map in the same blocks, and write six measures into .npy files; those are
compared byte by byte. The rival is a loop over the blocks with plain matrics in one process. Starting the processes is
not counted; starting the one that takes the place of a killed one is. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import filecmp
import logging
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import dask  # noqa: E402 (after the threads are fixed)
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
import numpy as np  # noqa: E402

import matrics  # noqa: E402
from matrics.integrations.dask import score  # noqa: E402

METRICS = ["accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc"]
BLOCK = 200_000  # 14.4 MB


class Column:
    """A .npy file that takes values by slices, opened anew by each process that writes."""

    def __init__(self, path: Path, length: int) -> None:
        self.path = path
        np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(length,)).flush()

    def __setitem__(self, where: object, values: np.ndarray) -> None:
        np.load(self.path, mmap_mode="r+")[where] = values


def make_file(path: Path, number: int) -> None:
    """So many matrices of counts."""
    random = np.random.default_rng(18)
    stack = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(number, 3, 3))
    for start in range(0, number, BLOCK):
        stack[start : start + BLOCK] = random.integers(0, 100, stack[start : start + BLOCK].shape)
    stack.flush()


def from_npy(path: Path) -> da.Array:
    """The stack in a .npy file; every task opens the file itself and reads its block."""
    stack = np.load(path, mmap_mode="r")

    def read(block_info: dict) -> np.ndarray:
        (start, stop), *_ = block_info[None]["array-location"]
        return np.load(path, mmap_mode="r")[start:stop]

    chunks = da.core.normalize_chunks((BLOCK, -1, -1), stack.shape)
    return da.map_blocks(read, chunks=chunks, dtype=stack.dtype, meta=np.empty((0, 0, 0), stack.dtype))


def plain(path: Path, columns: dict[str, Column]) -> None:
    """Plain matrics, block after block."""
    stack = np.load(path, mmap_mode="r")
    for start in range(0, len(stack), BLOCK):
        where = slice(start, start + BLOCK)
        for name, values in matrics.score(stack[where], METRICS).items():
            columns[name][where] = values


def by_dask(path: Path, columns: dict[str, Column]) -> None:
    """The same through dask, with whatever scheduler is set."""
    scores = score(from_npy(path), METRICS)
    da.store([scores[name] for name in METRICS], [columns[name] for name in METRICS], lock=False)


def kill_one(client: distributed.Client, blocks: int) -> threading.Thread:
    """Kill a process once a third of the blocks are scored; the thread that does it."""
    victim = next(iter(client.run(os.getpid).values()))

    def done(dask_scheduler: distributed.Scheduler) -> int:
        return dask_scheduler.transition_counter

    def watch() -> None:
        start = client.run_on_scheduler(done)
        while client.run_on_scheduler(done) < start + blocks * 7:  # some twenty transitions a block
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def timed(function: object, *arguments: object) -> tuple[float, float]:
    """Seconds by the clock, and those of this process's CPU for each of them."""
    clock, cpu = time.perf_counter(), time.process_time()
    function(*arguments)
    taken = time.perf_counter() - clock
    return taken, (time.process_time() - cpu) / taken


def main() -> None:
    """Print a table of all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=int, default=4_000_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path, ways = Path(folder, "stack.npy"), {}
        make_file(path, chosen.matrices)

        def columns_of(way: str) -> dict[str, Column]:
            return {name: Column(Path(folder, f"{way} {name}.npy"), chosen.matrices) for name in METRICS}

        wanted = columns_of("wanted")
        plain(path, wanted)

        def run(way: str, function: object) -> None:
            columns = columns_of(way)
            ways[way] = timed(function, path, columns)
            for name, column in columns.items():
                assert filecmp.cmp(column.path, wanted[name].path, shallow=False), f"{way}: {name} differs"
                column.path.unlink()

        run("plain matrics, one process", plain)
        for threads in (1, 2):
            with dask.config.set(scheduler="threads", num_workers=threads):
                run(f"dask, {threads} thread{'s'[: threads - 1]}", by_dask)
        processes = f"dask, {chosen.workers} processes"
        with (
            distributed.LocalCluster(
                n_workers=chosen.workers,
                threads_per_worker=1,
                processes=True,
                memory_limit=chosen.memory_limit,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            run(f"{processes}, first run", by_dask)  # in which they import what they need
            run(processes, by_dask)
            before = set(client.run(os.getpid).values())
            killer = kill_one(client, chosen.matrices // BLOCK)
            run(f"{processes}, one killed", by_dask)
            assert not killer.is_alive(), "all was scored before a process was killed: take more matrices"
            client.wait_for_workers(chosen.workers, timeout=60)
            assert len(before - set(client.run(os.getpid).values())) == 1, "not one process was killed"
    floor = ways["plain matrics, one process"][0]
    print(
        f"{chosen.matrices:,} matrices (3, 3) of float64, {chosen.matrices * 72 / 1e9:.2f} GB; {len(METRICS)} measures;"
    )
    print(f"blocks of {BLOCK:,}; {os.cpu_count()} cores; dask {dask.__version__}; all files are equal\n")
    print(f"{'':<32}{'seconds':>9}{'of plain':>10}{'matrices/s':>13}{'CPU of this process':>21}")
    for way, (taken, cpu) in ways.items():
        print(f"{way:<32}{taken:>9.2f}{taken / floor:>10.2f}{chosen.matrices / taken:>13,.0f}{cpu:>21.2f}")


if __name__ == "__main__":
    main()
