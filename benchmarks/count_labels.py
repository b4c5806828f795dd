"""Count labels of a Parquet file with ``matrics count`` beside pyarrow, which merely reads the same columns.

    python benchmarks/count_labels.py            # 20 million rows
    python benchmarks/count_labels.py 200000000

The file has 10 classes in 10,000 groups, in row groups of 2**20 rows, with integers or with text, in the order of
chance or sorted by group. It is made in the folder for temporary files, and removed. Each command is a process of its
own, and runs several times in turn with pyarrow's; of each the best is taken. What Python and the libraries take to
start is taken off for the ratios. Of the times nothing is asserted.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 20_000_000
GROUPS, CLASSES = 10_000, 10
ROW_GROUP = 2**20
RUNS = 3

# After the command: the largest memory of the process, that without files, and what was imported.
COMMAND = """
import sys
sys.argv = ["matrics", *sys.argv[1:]]
from matrics._cli import main
try:
    main()
finally:
    print(open("/proc/self/status").read(), "imported", *sorted({"torch", "jax"} & set(sys.modules)))
"""
# The memory without files has no high-water mark: it is looked at while the process runs.
PYARROW = """
import sys, pyarrow.parquet as pq
path, threads, *texts = sys.argv[1:]
with pq.ParquetFile(path, read_dictionary=texts) as file:
    for batch in file.iter_batches(2**20, columns=["y_true", "y_pred", "group"], use_threads=threads == "yes"):
        pass
"""


def write(path: Path, rows: int, *, texts: bool, ordered: bool) -> None:
    """Make the file."""
    rng = np.random.default_rng(0)
    classes = pa.array([f"class {k}" for k in range(CLASSES)])
    groups = pa.array([f"model {k:05}" for k in range(GROUPS)])
    writer = None
    for start in range(0, rows, ROW_GROUP):
        some = min(ROW_GROUP, rows - start)
        true = rng.integers(0, CLASSES, some)
        pred = np.where(rng.random(some) < 0.8, true, rng.integers(0, CLASSES, some))
        group = (np.arange(start, start + some) * GROUPS // rows) if ordered else rng.integers(0, GROUPS, some)
        columns = {"y_true": (true, classes), "y_pred": (pred, classes), "group": (group, groups)}
        made = {
            name: pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), names).cast(pa.string()) if texts else code
            for name, (code, names) in columns.items()
        }
        table = pa.table(made)
        writer = writer or pq.ParquetWriter(path, table.schema, write_page_checksum=True)
        writer.write_table(table, row_group_size=ROW_GROUP)
    writer.close()


def timed(code: str, *arguments: str) -> tuple[float, float, int, str]:
    """Seconds by the clock and of all cores, the most anonymous memory in bytes, and what the process prints."""
    begin = time.perf_counter()
    before = os.times()
    process = subprocess.Popen(  # noqa: S603 (the code above)
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )
    most = 0
    while process.poll() is None:
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        most = max(most, int(found[1]) * 1024 if found else 0)
        time.sleep(0.01)
    printed = process.stdout.read()
    after = os.times()
    assert process.returncode == 0, printed
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - begin, cpu, most, printed


def less(taken: tuple[float, float], start: tuple[float, float]) -> tuple[float, float]:
    """Without the start."""
    return taken[0] - start[0], taken[1] - start[1]


def measure(folder: Path, rows: int, starts: list[tuple[float, float]], *, texts: bool, ordered: bool) -> None:
    """Print a line."""
    path, output = folder / "labels.parquet", folder / "counts.parquet"
    write(path, rows, texts=texts, ordered=ordered)
    names = ["y_true", "y_pred", "group"] if texts else []
    ours, alone, together, most = [], [], [], 0
    for _ in range(RUNS):
        alone.append(timed(PYARROW, str(path), "no", *names)[:2])
        together.append(timed(PYARROW, str(path), "yes", *names)[:2])
        seconds, cpu, memory, printed = timed(COMMAND, "count", str(path), "--by", "group", "--output", str(output))
        ours.append((seconds, cpu))
        most = max(most, memory)
        assert printed.rstrip().endswith("imported"), "torch or jax was imported"
    assert pq.read_table(output)["count"].to_numpy().sum() == rows
    best = [tuple(map(min, zip(*runs, strict=True))) for runs in (ours, alone, together)]
    whole = best[0][0]
    of_each = (starts[0], starts[1], starts[1])
    (wall, cpu), (one, one_cpu), (both, _) = (less(*pair) for pair in zip(best, of_each, strict=True))
    print(
        f"{'text' if texts else 'integers':<10}{'sorted' if ordered else 'by chance':<11}"
        f"{path.stat().st_size / 1e6:>8,.0f} MB{whole:>9.2f} s{rows / wall / 1e6:>8.1f} M/s"
        f"{wall / one:>14.2f}{wall / both:>14.2f}{cpu / one_cpu:>16.2f}{most / 2**20:>12.0f} MiB"
    )
    path.unlink()


if __name__ == "__main__":
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    starts = []
    for code, arguments in ((COMMAND, ["--version"]), ("import pyarrow.parquet", [])):
        runs = [timed(code, *arguments)[:2] for _ in range(RUNS)]
        starts.append(tuple(map(min, zip(*runs, strict=True))))
    print(f"{rows:,} rows, {GROUPS:,} groups, {CLASSES} classes")
    print(
        f"to start: matrics {starts[0][0]:.2f} s, pyarrow {starts[1][0]:.2f} s; in 'time', but in nothing right of it"
    )
    print("ratios: to pyarrow reading the same columns in batches of 2**20 rows, in one thread and in several\n")
    print(
        f"{'labels':<10}{'rows':<11}{'file':>11}{'time':>11}{'rows':>12}{'to 1 thread':>14}{'to threads':>14}"
        f"{'processor time':>16}{'anonymous':>16}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for texts in (False, True):
            for ordered in (False, True):
                measure(Path(folder), rows, starts, texts=texts, ordered=ordered)
