"""Time ``matrics score FILE --output``, beside a script that only copies numbers, and say how much memory it takes.

    python benchmarks/command_line.py [MATRICES] [--workers W] [--directory DIR]

Six measures of 3×3 matrices in a .npy are written to Parquet. The script maps the file, reads it in the same blocks,
and writes six columns of the same values, which it is given, with pyarrow, in the same format and codec, and waits for
the disk as matrics does: it computes nothing. Both are processes of their own, whose start counts. They run in turn,
with the files in the page cache, and the shortest of three times is shown. Linux only, as anonymous memory is read from
/proc: a thread samples RssAnon, which leaves out mapped pages, as these are the system's to drop.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PANEL = ["accuracy", "mcc", "cohen_kappa", "recall:macro", "precision:macro", "f1:macro"]
CHUNK = 100_000  # matrices made at once
PAUSE = 0.01  # seconds between samples of memory
RUNS = 3
MIB = 2**20

OURS = """
import json, sys
from matrics._cli import main
try:
    main()
except SystemExit as end:
    if end.code:
        raise
print(json.dumps(sorted({"torch", "jax"} & set(sys.modules))), file=sys.stderr)
"""
COPY = """
import os, sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
from matrics._files.outputs.writers import parquet_options
file, values, output, rows = *sys.argv[1:4], int(sys.argv[4])
stack, columns = np.load(file, mmap_mode="r"), np.load(values, mmap_mode="r")
schema = pa.schema([(str(k), pa.float64()) for k in range(len(columns))])
options = parquet_options(schema) if sys.argv[5] == "same" else {"compression": "zstd"}
with open(output, "wb") as sink:
    with pq.ParquetWriter(sink, schema, **options) as writer:
        for start in range(0, len(stack), rows):
            block = np.array(stack[start : start + rows])
            arrays = [pa.array(column[start : start + rows], from_pandas=True) for column in columns]
            writer.write_table(pa.table(arrays, schema=schema), row_group_size=rows)
    sink.flush()
    os.fsync(sink.fileno())
"""


def make(path: Path, count: int) -> None:
    """A stack of random counts."""
    random = np.random.default_rng(0)
    stack = np.lib.format.open_memmap(path, mode="w+", dtype=np.int64, shape=(count, 3, 3))
    for start in range(0, count, CHUNK):
        stack[start : start + CHUNK] = random.integers(1, 100, (min(CHUNK, count - start), 3, 3))


class Taken(NamedTuple):
    """What a process took."""

    seconds: float
    of_cores: float  # seconds of all cores together
    anonymous: int


def timed(*command: str) -> tuple[Taken, str]:
    """What a process takes, and what it writes to stderr."""
    begin, before, peak = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN), [0]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # noqa: S603

    def watch() -> None:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            lines = [line for line in status.read_text().splitlines() if line.startswith("RssAnon")]
            peak.extend(int(line.split()[1]) * 1024 for line in lines)
            time.sleep(PAUSE)

    thread = threading.Thread(target=watch)
    thread.start()
    _, complaints = process.communicate()
    seconds = time.perf_counter() - begin
    thread.join()
    if process.returncode:
        raise SystemExit(complaints)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    of_cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(seconds, of_cores, max(peak)), complaints


def measure(folder: Path, count: int, workers: str | None) -> None:
    """Write, score, copy, compare, print."""
    file, values, output, copy = (str(folder / name) for name in ("s.npy", "v.npy", "o.parquet", "c.parquet"))
    make(Path(file), count)
    threads = [] if workers is None else ["--workers", workers]
    arguments = ["score", file, "--metrics", ",".join(PANEL), "--output", output, *threads]
    ours = (sys.executable, "-c", OURS, *arguments)
    first, libraries = timed(*ours)
    assert not json.loads(libraries), f"imported: {libraries}"
    table = pq.read_table(output)
    np.save(values, np.stack([column.to_numpy() for column in table.columns[-len(PANEL) :]]))
    del table
    rows = str(pq.read_metadata(output).row_group(0).num_rows)
    rivals = {
        "copy, same options of the writer": (sys.executable, "-c", COPY, file, values, copy, rows, "same"),
        "copy, pyarrow's default options and zstd": (sys.executable, "-c", COPY, file, values, copy, rows, "default"),
        "cat FILE > /dev/null": ("cat", file),
    }
    runs = {name: [timed(*command)[0]] for name, command in rivals.items()}
    runs["matrics score"] = [first]
    for _ in range(RUNS - 1):
        for name, command in {**rivals, "matrics score": ours}.items():
            runs[name].append(timed(*command)[0])
    best = {name: min(taken) for name, taken in runs.items()}
    score = best.pop("matrics score")
    anonymous = max(taken.anonymous for taken in runs["matrics score"])
    size, written = Path(file).stat().st_size, Path(output).stat().st_size
    print(f"{count:,} matrices of 3×3, {size / 1e6:,.0f} MB; six measures to Parquet, {written / 1e6:,.0f} MB")
    rate = f"{count / score.seconds / 1e6:.1f} M matrices/s, {score.of_cores:.1f} s of all cores"
    print(f"{'matrics score':<42}{score.seconds:8.2f} s   {rate}")
    for name, taken in best.items():
        ratios = (
            f"{score.seconds / taken.seconds:.2f} times as long, {score.of_cores / taken.of_cores:.2f} of all cores"
        )
        print(f"{name:<42}{taken.seconds:8.2f} s   matrics takes {ratios}")
    print(f"anonymous memory of matrics at most {anonymous / MIB:.0f} MiB; neither torch nor jax was imported")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("matrices", type=int, nargs="?", default=2_000_000)
    parser.add_argument("--workers")
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()), help="where the files go")
    options = parser.parse_args()
    print(f"pyarrow {pa.__version__}, NumPy {np.__version__}")
    with tempfile.TemporaryDirectory(dir=options.directory) as temporary:
        measure(Path(temporary), options.matrices, options.workers)
