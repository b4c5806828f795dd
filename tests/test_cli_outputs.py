"""Output files: the same values and bytes however they are made, readable by others; and how far a run is."""

import re
from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics._progress import steps

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
in_order = pytest.importorskip("matrics._cli.blocks").in_order
blocks = pytest.importorskip("matrics._cli.blocks")
progress = pytest.importorskip("matrics._cli.progress")
bar = pytest.importorskip("matrics._progress.bar")
runs = pytest.importorskip("matrics._cli.run")
Totals = pytest.importorskip("matrics._cli.blocks").Totals
writers = pytest.importorskip("matrics._files.outputs.writers")

RANDOM = np.random.default_rng(0)
ROWS = 64


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(runs, "LEAST_ROWS", ROWS)
    monkeypatch.setattr(runs, "BLOCK_CELLS", 1)
    monkeypatch.setattr(runs, "PIECE_BYTES", 8 * 9 * 40)


@pytest.fixture
def stack(tmp_path):
    stack = RANDOM.integers(0, 4, (1000, 3, 3))
    np.save(tmp_path / "s.npy", stack)
    return stack


def same(written, values):
    return np.array_equal(written.to_numpy(zero_copy_only=False), values, equal_nan=True)


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
def test_values_are_those_of_the_library(command, stack, tmp_path, dtype):
    np.save(tmp_path / "s.npy", stack.astype(dtype))
    assert command("score", "s.npy", "--metrics", "mcc,eve,recall:class", "--output", "o.parquet")[0] == 0
    table = pq.read_table("o.parquet", page_checksum_verification=True)
    floats = stack.astype(np.float32 if dtype == np.float32 else np.float64)
    assert table["index_0"].to_pylist() == list(range(1000))
    assert same(table["mcc"], matrics.mcc(floats))
    assert same(table["eve"], matrics.eve(floats))
    recall = matrics.recall(floats, average="class")
    assert all(same(table[f"recall of class {k}"], recall[:, k]) for k in range(3))
    assert table["mcc"].null_count == np.isnan(matrics.mcc(floats)).sum() > 0
    metadata = pq.read_metadata("o.parquet")
    assert [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)] == [ROWS] * 15 + [40]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
@pytest.mark.parametrize("metrics", ["core", pytest.param("all,on_host", marks=pytest.mark.exhaustive)])
@pytest.mark.usefixtures("stack")
def test_the_number_of_workers_changes_no_byte(command, name, metrics):
    made = set()
    for workers in ("1", "2", "7"):
        assert command("score", "s.npy", "--metrics", metrics, "--output", name, "--workers", workers)[0] == 0
        made.add(Path(name).read_bytes())
    assert len(made) == 1


@pytest.mark.usefixtures("stack")
def test_a_directory_has_the_rows_of_the_file(command):
    for name in ("o.parquet", "parts/"):
        assert command("score", "s.npy", "--metrics", "core", "--output", name)[0] == 0
    assert len(list(Path("parts").iterdir())) == 16
    assert pq.read_table("parts").equals(pq.read_table("o.parquet"))


def test_a_large_directory_has_several_files(command, tmp_path):
    np.save(tmp_path / "s.npy", RANDOM.integers(0, 4, (ROWS * 40, 2, 2)))
    assert command("score", "s.npy", "--metrics", "mcc", "--output", "parts/")[0] == 0
    files = sorted(Path("parts").iterdir())
    assert [path.name for path in files] == [f"part-{k:05d}.parquet" for k in range(40)]
    assert [pq.read_metadata(path).num_rows for path in files] == [ROWS] * 40
    assert pq.read_table("parts")["index_0"].to_pylist() == list(range(ROWS * 40))


@pytest.mark.usefixtures("stack")
def test_pandas_reads_it(command):
    pandas = pytest.importorskip("pandas")
    for name in ("o.parquet", "parts/"):
        assert command("score", "s.npy", "--metrics", "mcc", "--output", name)[0] == 0
        frame = pandas.read_parquet(name)
        assert np.array_equal(frame["mcc"], matrics.mcc(np.load("s.npy")), equal_nan=True)


@pytest.mark.usefixtures("stack")
def test_polars_reads_it(command):
    polars = pytest.importorskip("polars")
    assert command("score", "s.npy", "--metrics", "mcc", "--output", "o.parquet")[0] == 0
    frame = polars.read_parquet("o.parquet")
    assert np.array_equal(frame["mcc"].to_numpy(), matrics.mcc(np.load("s.npy")), equal_nan=True)


def test_blocks_are_bounded(monkeypatch):
    """By the cells that are written, and by what is read for them."""
    monkeypatch.undo()
    read, options = pytest.importorskip("matrics._files.source"), pytest.importorskip("matrics._cli.options")
    rows = {}
    for n, metrics in ((3, "mcc,f1"), (3, "all"), (30, "mcc"), (1000, "mcc"), (10_000, "mcc")):
        source = read.MatrixSource("", np.broadcast_to(np.int64(1), (10**6, n, n)), (), tuple(map(str, range(n))))
        run = runs.ScoreRun(
            source=source,
            metrics=matrics._scoring.score.resolve(metrics),
            zero_division=np.nan,
            settings=options.RunOptions(),
            to_backend=np.asarray,
        )
        rows[n, metrics] = run.rows, next(piece for piece in run.pieces() if piece[0] == run.rows)
    assert rows == {
        (3, "mcc,f1"): (524_288, (524_288, 619_430)),
        (3, "all"): (8192, (8192, 16_384)),
        (30, "mcc"): (32_768, (32_768, 33_897)),
        (1000, "mcc"): (32, (32, 33)),
        (10_000, "mcc"): (1, (1, 2)),
    }


# Writers --------------------------------------------------------------------------------------------------------------


def table(rows, columns=20):
    """Columns of many kinds, more than fit the short form of a list."""
    return pa.table(
        {
            "text": pa.array([f"group {k % 7}" if k % 5 else None for k in range(rows)], pa.large_string()),
            "list": pa.array([[k, None] for k in range(rows)], pa.list_(pa.int32())),
            "flag": pa.array([k % 2 == 0 for k in range(rows)]),
            **{f"x{k}": pa.array(RANDOM.random(rows)) for k in range(columns)},
        }
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_of_tables_is_the_table(tmp_path, kind):
    """Whatever columns it has: text, numbers, times, nulls; and without rows."""
    whole = table(100) if kind == "parquet" else table(100).drop_columns(["list"])
    for rows in (100, 0):
        writer = writers.open_writer(tmp_path / "o", kind, whole.schema)
        for start in range(0, rows, 30):
            writer.write(whole.slice(start, 30))
        writer.write(whole.slice(0, 0))
        writer.finish()
        expected = whole.slice(0, rows)
        if kind == "parquet":
            found = pq.ParquetFile(tmp_path / "o")
            assert found.read().equals(expected)
            assert found.metadata.num_row_groups == -(-rows // 30)
        else:
            assert len((tmp_path / "o").read_text().splitlines()) == rows + 1


def test_a_directory_has_a_file_for_each_table(tmp_path):
    whole = table(100)
    opened = writers.open_writer(tmp_path, "directory", whole.schema)
    for rows in (100, 0):
        opened.write(opened.encode(whole.slice(0, rows)))
    opened.finish()
    for number, rows in enumerate((100, 0)):
        assert pq.read_table(tmp_path / f"part-{number:05d}.parquet").equals(whole.slice(0, rows))


# Invalid matrices -----------------------------------------------------------------------------------------------------


@pytest.fixture
def spoilt(stack, tmp_path):
    """The stack with some invalid matrices, and where they are."""
    stack = stack.astype(float)
    where = [5, 64, 65, 300, *range(900, 910)]
    stack[where[:4], 1, 2] = [-1, np.nan, np.inf, -np.inf]
    stack[where[4:]] = -1
    np.save(tmp_path / "s.npy", stack)
    return stack, where


NAMED = "[5], [64], [65], [300], [900], [901], [902], [903], [904], [905] and 4 more"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("arguments", [("score",), ("interval",)])
def test_invalid_matrices_are_nulls_or_left_out(command, spoilt, arguments):
    stack, where = spoilt
    rest = np.delete(np.arange(len(stack)), where)
    common = (*arguments, "s.npy", "--metrics", "mcc,accuracy", "--output", "o.parquet")
    code, _, err = command(*common)
    assert code == 2
    assert "got -1 in the cell [1, 2] (from 0) of matrix [5]" in err
    code, out, err = command(*common, "--on-invalid", "nan")
    assert (code, err) == (0, "")
    assert f"14 invalid matrices, undefined: {NAMED}\n" in out
    table = pq.read_table("o.parquet")
    assert table.num_rows == len(stack)
    assert same(table["mcc"], matrics.mcc(stack, invalid="nan"))
    code, out, err = command(*common, "--on-invalid", "skip")
    assert (code, err) == (0, "")
    assert f"14 invalid matrices, left out: {NAMED}\n" in out
    assert f"o.parquet: {len(rest)} rows" in out
    skipped = pq.read_table("o.parquet")
    assert skipped["index_0"].to_pylist() == rest.tolist()
    assert skipped.equals(table.take(rest))
    if arguments == ("interval",):
        assert table["mcc/status"].take(pa.array(where)).to_pylist() == [matrics.IntervalStatus.INVALID] * len(where)


def test_invalid_matrices_on_the_screen(command, spoilt, tmp_path):
    stack, where = spoilt
    code, out, _ = command("score", "s.npy", "--metrics", "mcc", "--on-invalid", "skip")
    assert (code, f"14 invalid matrices, left out: {NAMED}" in out) == (0, True)
    undefined = int(np.isnan(matrics.mcc(stack, invalid="nan")).sum())
    assert int(re.search(r"^mcc .* ([\d,]+)$", out, re.MULTILINE).group(1)) == undefined - len(where)
    np.save(tmp_path / "few.npy", stack[3:8])
    for command_name in ("score", "interval"):
        out = command(command_name, "few.npy", "--metrics", "mcc", "--on-invalid", "skip")[1]
        assert "1 invalid matrix, left out: [2]" in out
        assert re.findall(r"^(\d)  ", out, re.MULTILINE) == ["0", "1", "3", "4"]
    np.save(tmp_path / "none.npy", -np.ones((3, 2, 2)))
    for name, options in (("none.npy", []), ("few.npy", ["--on-invalid", "raise"])):
        assert command("score", name, "--on-invalid", "skip", *options)[0] == 2
    assert command("score", "none.npy", "--on-invalid", "nan")[0] == 0


def test_all_are_left_out_of_a_file(command, tmp_path):
    np.save(tmp_path / "s.npy", -np.ones((100, 2, 2)))
    for name in ("o.parquet", "o.csv"):
        assert command("score", "s.npy", "--metrics", "mcc", "--on-invalid", "skip", "--output", name)[0] == 0
    assert pq.read_table("o.parquet").to_pydict() == {"index_0": [], "mcc": []}
    assert Path("o.csv").read_text() == "index_0,mcc\n"


# Progress -------------------------------------------------------------------------------------------------------------


def test_words_of_progress():
    totals = Totals(matrices=60_000_000, undefined=1200, invalid=3)
    made = blocks.Progress(100_000_000, 72, totals, begin=0)
    made.begin = bar.time.monotonic() - 10
    assert made.percent == 60
    assert re.sub(r"\b(5\.99|6)\b", "6", made.words()) == (
        "60,000,000 of 100,000,000 matrices, 6 M matrices/s, 432 MB/s, 7 s left, 1,200 undefined, 3 invalid"
    )
    assert bar.time_text(59.6) == "1 min 0 s"
    assert bar.time_text(7322) == "2 h 2 min"
    assert [blocks._short(rate) for rate in (5, 1234, 2.5e9)] == ["5", "1.23 k", "2.5 G"]
    totals.current = (60_000_000, 80_000_000)
    for _ in steps("abcd"):
        assert made.percent in {60, 65, 70, 75}
    assert made.percent == 75  # and not back to 60
    nothing = blocks.Progress(5, 0, Totals())
    nothing.begin = bar.time.monotonic()
    assert nothing.words() == "0 of 5 matrices, 0 matrices/s"


@pytest.mark.usefixtures("stack")
def test_lines_of_progress_are_there_on_request(command, monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.001)
    arguments = ("score", "s.npy", "--metrics", "core")
    quiet = command(*arguments)
    assert quiet[2] == ""
    code, out, err = command(*arguments, "--progress")
    assert (code, out) == quiet[:2]
    assert err
    assert all(re.match(r"matrics: \d+ %: [\d,]+ of 1,000 matrices, .* matrices/s", line) for line in err.splitlines())


@pytest.mark.usefixtures("stack")
def test_a_bar_is_on_a_terminal_alone(command, monkeypatch):
    monkeypatch.setattr(bar, "SHOW_AFTER", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, err = command("score", "s.npy", "--metrics", "core")
    assert code == 0
    assert "of 1,000 matrices" in err


# Threads --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_calls_in_threads_come_in_order(workers):
    asked = []

    def given():
        for number in range(50):
            asked.append(number)
            yield number

    made = in_order(lambda number: number**2, given(), workers)
    assert next(made) == 0
    assert len(asked) <= workers + 1  # no more than what is under way
    assert list(made) == [number**2 for number in range(1, 50)]


def test_an_error_in_a_thread_comes_in_its_place():
    made = in_order(lambda number: 1 // (3 - number), range(10), 2)
    assert [next(made) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(made)
