"""How far a count of labels is; and what ends it leaves nothing."""

import gzip
import os
import re
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from commands import content as contents
from commands import whole

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from matrics._cli import blocks, progress  # noqa: E402
from matrics._files import rows as batches  # noqa: E402
from matrics._files import text  # noqa: E402
from matrics._files.counts import Counts  # noqa: E402
from matrics._files.notices import Stopped  # noqa: E402
from matrics._progress import bar  # noqa: E402

RANDOM = np.random.default_rng(0)
ROWS, BATCH = 2400, 100
BY = ("--by", "model,fold")
COMMANDS = {
    "count": ("count", "x.parquet", *BY, "--output", "o.parquet"),
    "score": ("score", "x.parquet", *BY, "--metrics", "mcc,recall:class", "--output", "o.parquet"),
    "merge": ("merge", "a.parquet", "b.parquet", "--output", "o.parquet"),
}


@pytest.fixture(autouse=True)
def _table(tmp_path):
    true = RANDOM.integers(0, 5, ROWS)
    columns = {
        "y_true": true,
        "y_pred": np.where(RANDOM.random(ROWS) < 0.6, true, RANDOM.integers(0, 5, ROWS)),
        "model": pa.array([f"model {k}" for k in RANDOM.integers(0, 7, ROWS)]),
        "fold": RANDOM.integers(0, 5, ROWS),
        "w": RANDOM.random(ROWS),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=700)


@pytest.fixture
def others(tmp_path, command):
    """The same rows in other files."""
    table = pq.read_table(tmp_path / "x.parquet")
    pa.csv = pytest.importorskip("pyarrow.csv")
    pa.csv.write_csv(table, tmp_path / "x.csv")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress((tmp_path / "x.csv").read_bytes()))
    (tmp_path / "d").mkdir()
    for k, rows in enumerate((table.slice(0, 950), table.slice(950))):
        pq.write_table(rows, tmp_path / "d" / f"{k}.parquet")
    for name, part in (("a.parquet", "d/0.parquet"), ("b.parquet", "d/1.parquet")):
        assert command("count", part, *BY, "--output", name)[0] == 0


@pytest.fixture
def _small_batches(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", BATCH)
    monkeypatch.setattr(text, "BLOCK_BYTES", 40 * BATCH)


# Stopped --------------------------------------------------------------------------------------------------------------

ENDS = {
    "Ctrl-C": (KeyboardInterrupt, 130, ""),
    "SIGTERM": (Stopped(143), 143, ""),
    "memory": (MemoryError("of all things"), 2, "matrics: not enough memory: of all things\n"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("others", "_small_batches")
def test_a_count_that_stops_leaves_nothing(command, monkeypatch, name, end):
    error, expected, message = ENDS[end]
    add, before = Counts.add, sorted(Path().iterdir())

    def add_some(self, batch):
        if self.rows:
            raise error
        add(self, batch)

    monkeypatch.setattr(batches, "BATCH_ROWS", 10)
    monkeypatch.setattr(Counts, "add", add_some)
    assert command(*COMMANDS[name]) == (expected, "", message)
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("name", ["count", "score"])
@pytest.mark.usefixtures("_small_batches")
def test_an_input_that_changes_while_it_is_counted(command, monkeypatch, name):
    add = Counts.add

    def add_and_touch(self, batch):
        os.utime("x.parquet", ns=(1, 1))
        add(self, batch)

    monkeypatch.setattr(Counts, "add", add_and_touch)
    said = "matrics: x.parquet: expected a file that does not change, got a file that changed while it was read\n"
    assert command(*COMMANDS[name]) == (2, "", said)
    assert [path.name for path in Path().iterdir()] == ["x.parquet"]


@pytest.mark.usefixtures("_small_batches")
def test_an_error_in_the_input_leaves_nothing(command):
    table = pq.read_table("x.parquet")
    spoilt = pa.array([None if k == 1500 else k % 2 for k in range(ROWS)])
    pq.write_table(table.set_column(0, "y_true", spoilt), "x.parquet")
    code, _, err = command(*COMMANDS["score"])
    assert (code, "got 1 missing, the first in row 1501 of the data" in err) == (2, True)
    assert [path.name for path in Path().iterdir()] == ["x.parquet"]


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes of Unix")
@pytest.mark.usefixtures("others", "_small_batches")
def test_pipes_are_counted_once(command):
    """Nothing reads a pipe before its rows are counted, or they would be gone."""
    arguments = ["score", "x.csv", *BY, "--metrics", "mcc", "--output", "o.parquet"]
    expected, shown = whole(command, *arguments)
    os.mkfifo("pipe.csv")
    thread = threading.Thread(target=Path("pipe.csv").write_bytes, args=(Path("x.csv").read_bytes(),))
    thread.start()
    arguments[1] = "pipe.csv"
    code, out, err = command(*arguments)
    thread.join()
    assert (code, err, out) == (0, "", shown.replace("x.csv", "pipe.csv"))
    assert contents("o.parquet") == expected


# Progress -------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("score", "x.parquet", "--metrics", "mcc"), r"\d+ %: [\d,]+ of 2,400 rows counted, .* rows/s, .* left"),
        (("interval", "x.parquet", "--method", "delta"), r"\d+ %: [\d,]+ of 2,400 rows counted, .* rows/s, .* left"),
        (("count", "x.csv", "--output", "o.parquet"), r"\d+ %: [\d,]+ rows counted, .* rows/s, .* MB/s, .* left"),
        (("count", "x.csv.gz", "--output", "o.parquet"), r"\d+ %: [\d,]+ rows counted, .* rows/s, .* MB/s, .* left"),
        (
            ("merge", "a.parquet", "b.parquet", "--output", "o.parquet"),
            r"\d+ %: [\d,]+ of [\d,]+ rows counted, .* rows/s.*",
        ),
    ],
)
@pytest.mark.usefixtures("others", "_small_batches")
def test_lines_while_labels_are_counted(command, monkeypatch, arguments, expected):
    add, seen, told = Counts.add, threading.Event(), []

    def say(line):
        told.append(line)
        seen.set()

    def wait_and_add(self, batch):
        for _ in range(2 * bool(self.rows)):  # the first line may have been made before the rows so far were counted
            seen.clear()
            assert seen.wait(10)
        add(self, batch)

    assert command(*arguments)[2] == ""
    monkeypatch.setattr(batches, "BATCH_ROWS", ROWS // 3)
    monkeypatch.setattr(text, "BLOCK_BYTES", 40 * ROWS // 3)
    monkeypatch.setattr(progress, "LINE_EVERY", 0.001)
    monkeypatch.setattr(progress, "say", say)
    monkeypatch.setattr(Counts, "add", wait_and_add)
    assert command(*arguments, "--progress")[0] == 0
    counted = [line for line in told if "rows counted" in line]
    assert re.fullmatch(expected, counted[-1]), counted[-1]


@pytest.mark.usefixtures("_small_batches")
def test_a_bar_is_on_a_terminal_alone(command, monkeypatch):
    add = Counts.add

    def add_slowly(self, batch):
        time.sleep(0.005)
        add(self, batch)

    monkeypatch.setattr(Counts, "add", add_slowly)
    monkeypatch.setattr(bar, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(bar, "REFRESH", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, err = command(*COMMANDS["count"])
    assert code == 0
    assert "of 2,400 rows counted" in err


def test_words_of_counting():
    class Rows:
        count, size = None, 4_000_000

    made = blocks.RowProgress(Rows())
    made.rows, made.read = 3_000_000, 1_000_000.0
    made.begin = bar.time.monotonic() - 10
    words = made.words()
    assert words.startswith("3,000,000 rows counted, ")
    assert words.endswith(" rows/s, 0 MB/s, 30 s left")
    assert made.percent == 25
    Rows.size, Rows.count = 0, 12_000_000
    known = blocks.RowProgress(Rows(), begin=made.begin)
    assert (known.percent, known.words()) == (0, "0 of 12,000,000 rows counted, 0 rows/s")
    Rows.count = None
    assert blocks.RowProgress(Rows()).percent is None
