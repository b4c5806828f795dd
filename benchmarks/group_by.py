"""Count labels by groups with ``matrics count`` next to pyarrow, Polars and DuckDB, which do the same ``GROUP BY``.

    python benchmarks/group_by.py            # 5 million rows of text, 20 million of Parquet
    python benchmarks/group_by.py 0.1        # a tenth of that

Each tool is a process of its own that counts the combinations of group, true and predicted label, and writes them to
Parquet. The table has the best of three runs: seconds by the clock, seconds of all cores, and the largest memory, all
with the start of the tool. pyarrow's script is the shortest that does it: a GROUP BY of each batch, merged.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

RUNS = 3

MATRICS = "import sys; sys.argv[0] = 'matrics'; from matrics._cli import main; main()"
PYARROW = """
import sys, pyarrow as pa, pyarrow.csv, pyarrow.parquet as pq
path, output = sys.argv[1:]
columns = ["g", "y_true", "y_pred"]
if path.endswith("parquet"):
    batches = pq.ParquetFile(path).iter_batches(2**20, columns=columns)
else:
    kinds = pa.csv.ConvertOptions(include_columns=columns, column_types=dict.fromkeys(columns, pa.string()))
    batches = pa.csv.open_csv(path, pa.csv.ReadOptions(block_size=2**24), convert_options=kinds)
def merged(parts):
    table = pa.concat_tables(parts).group_by(columns).aggregate([("count", "sum")])
    return table.rename_columns([*columns, "count"])
parts = []
for batch in batches:
    found = pa.Table.from_batches([batch]).group_by(columns).aggregate([([], "count_all")])
    parts.append(found.rename_columns([*columns, "count"]))
    if len(parts) == 8:
        parts = [merged(parts)]
pq.write_table(merged(parts).sort_by([(name, "ascending") for name in columns]), output)
"""
POLARS = """
import sys, polars as pl
path, output = sys.argv[1:]
table = pl.scan_parquet(path) if path.endswith("parquet") else pl.scan_csv(path)
columns = ["g", "y_true", "y_pred"]
table.group_by(columns).len("count").sort(columns).sink_parquet(output)
"""
DUCKDB = """
import sys, duckdb
path, output = sys.argv[1:]
columns = "g, y_true, y_pred"
duckdb.sql(f"COPY (SELECT {columns}, count(*) AS count FROM '{path}' GROUP BY ALL ORDER BY ALL) TO '{output}'")
"""
TOOLS = {"matrics": MATRICS, "pyarrow": PYARROW, "Polars": POLARS, "DuckDB": DUCKDB}


def write(folder: Path, share: float) -> dict[str, Path]:
    """Make the files: labels and groups as text and as integers, few and many groups and classes."""
    rng = np.random.default_rng(0)

    def table(rows: int, groups: int, classes: int, *, texts: bool) -> pa.Table:
        true = rng.integers(0, classes, rows)
        pred = np.where(rng.random(rows) < 0.8, true, rng.integers(0, classes, rows))
        codes = {"g": rng.integers(0, groups, rows), "y_true": true, "y_pred": pred}
        if not texts:
            return pa.table(codes)
        names = {"g": [f"model {k:05}" for k in range(groups)]}
        names["y_true"] = names["y_pred"] = [f"class {k}" for k in range(classes)]
        made = {
            name: pa.DictionaryArray.from_arrays(code, names[name]).cast(pa.string()) for name, code in codes.items()
        }
        return pa.table(made)

    files = {}
    for quotes in ("none", "all_valid"):
        name = "CSV, 5 M rows" + (", all quoted" if quotes == "all_valid" else "")
        files[name] = folder / f"{quotes}.csv"
        rows = table(int(5e6 * share), 100, 10, texts=True)
        with files[name].open("wb") as file:
            file.write(b"g,y_true,y_pred\n")
            pa.csv.write_csv(rows, file, pa.csv.WriteOptions(include_header=False, quoting_style=quotes))
    for name, rows, groups, classes, texts in (
        ("Parquet, 20 M integers", 20e6, 10_000, 10, False),
        ("Parquet, 20 M texts", 20e6, 10_000, 10, True),
        ("300,000 groups of 30", 9e6, 300_000, 30, False),
    ):
        files[name] = folder / f"{len(files)}.parquet"
        made = table(int(rows * share), groups, classes, texts=texts)
        pq.write_table(made, files[name], row_group_size=2**20, write_page_checksum=True)
    return files


def measured(tool: str, path: Path, output: Path) -> tuple[float, float, float]:
    """Seconds by the clock, seconds of all cores, and the largest memory in MiB."""
    arguments = [str(path), str(output)]
    if tool == "matrics":
        arguments = ["count", str(path), "--by", "g", "--output", str(output)]
    begin = time.perf_counter()
    command = [sys.executable, "-c", TOOLS[tool], *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 (the code above)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, tool
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(f"{'':<26}" + "".join(f"{tool:>26}" for tool in TOOLS))
    print(f"{'':<26}" + f"{'s':>10}{'CPU s':>8}{'MiB':>8}" * len(TOOLS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: a child begins with the memory of its parent.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            files = pool.submit(write, folder, share).result()
        for what, path in files.items():
            runs: dict[str, list[tuple[float, float, float]]] = {tool: [] for tool in TOOLS}
            totals = set()
            for _ in range(RUNS):
                for tool, found in runs.items():
                    found.append(measured(tool, path, folder / "o.parquet"))
                    totals.add(pq.read_metadata(folder / "o.parquet").num_rows)
            assert len(totals) == 1, totals
            best = {tool: [min(values) for values in zip(*found, strict=True)] for tool, found in runs.items()}
            print(
                f"{what:<26}"
                + "".join(f"{wall:>10.2f}{cpu:>8.2f}{memory:>8.0f}" for wall, cpu, memory in best.values())
            )
