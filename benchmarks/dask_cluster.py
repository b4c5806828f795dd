"""Score a file of 3×3 matrices through dask on several processes, one of which is killed, beside plain matrics.

    python benchmarks/dask_cluster.py [--matrices 10_000_000] [--workers 4] [--memory-limit 1GB] [--folder DIRECTORY]

All read the same .npy file by a memory map in the same blocks, and write six measures into .npy files; those are
compared byte by byte. The rival is a loop over the blocks with plain matrics in one process. Figures are the best of
three runs, but for that with a process killed. Starting the processes is not counted; starting the one that takes the
place of a killed one is. CPU seconds are those of all processes: they tell what dask costs on a machine that has other
work, too. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import contextlib
import filecmp
import logging
import math
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import dask  # noqa: E402 (after the threads are fixed)
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
import numpy as np  # noqa: E402

import matrics  # noqa: E402
from matrics.dask import score  # noqa: E402

METRICS = ["accuracy", "balanced_accuracy", "precision", "recall", "f1", "mcc"]
BLOCK = 1_000_000  # 72 MB
# distributed makes glibc give back all freed memory at once, so that each intermediate result is fresh pages.
KEPT_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**26,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}


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


@contextlib.contextmanager
def clients(workers: int, memory_limit: str) -> Iterator[distributed.Client]:
    """A client of so many processes."""
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory_limit,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def cpu_seconds(client: distributed.Client | None) -> float:
    """What this process and those of the cluster have used of the CPU."""
    return time.process_time() + sum(client.run(time.process_time).values() if client else ())


def main() -> None:
    """Print a table of all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", type=int, default=10_000_000)
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

        def run(way: str, function: object, client: distributed.Client | None = None, *, runs: int = 3) -> None:
            taken = []
            for _ in range(runs):
                columns = columns_of(way)
                clock, cpu = time.perf_counter(), cpu_seconds(client)
                function(path, columns)
                taken.append((time.perf_counter() - clock, cpu_seconds(client) - cpu))
                for name, column in columns.items():
                    assert filecmp.cmp(column.path, wanted[name].path, shallow=False), f"{way}: {name} differs"
                    column.path.unlink()
            ways[way] = tuple(map(min, zip(*taken, strict=True)))

        run("plain matrics, one process", plain)
        for threads in (1, 2):
            with dask.config.set(scheduler="threads", num_workers=threads):
                run(f"dask, {threads} thread{'s'[: threads - 1]}", by_dask)
        processes = f"dask, {chosen.workers} processes"
        with clients(chosen.workers, chosen.memory_limit) as client:
            run(f"{processes}, as they come", by_dask, client)
        with dask.config.set(KEPT_MEMORY), clients(chosen.workers, chosen.memory_limit) as client:
            run(f"{processes}, memory kept", by_dask, client)
            before = set(client.run(os.getpid).values())
            killer = kill_one(client, chosen.matrices // BLOCK)
            run(f"{processes}, one killed", by_dask, runs=1)  # whose CPU time nobody can ask for
            ways[f"{processes}, one killed"] = (ways[f"{processes}, one killed"][0], math.nan)
            assert not killer.is_alive(), "all was scored before a process was killed: take more matrices"
            client.wait_for_workers(chosen.workers, timeout=60)
            assert len(before - set(client.run(os.getpid).values())) == 1, "not one process was killed"
    floor, cpu_floor = ways["plain matrics, one process"]
    print(
        f"{chosen.matrices:,} matrices (3, 3) of float64, {chosen.matrices * 72 / 1e9:.2f} GB; {len(METRICS)} measures;"
    )
    print(f"blocks of {BLOCK:,}; {os.cpu_count()} cores; dask {dask.__version__}; all files are equal\n")
    print(f"{'':<34}{'seconds':>9}{'of plain':>10}{'CPU seconds':>13}{'of plain':>10}{'matrices/s':>13}")
    for way, (taken, cpu) in ways.items():
        figures = f"{taken:>9.2f}{taken / floor:>10.2f}{cpu:>13.2f}{cpu / cpu_floor:>10.2f}"
        print(f"{way:<34}{figures}{chosen.matrices / taken:>13,.0f}")
    print(f"\nload of the machine in the last minute: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
