"""Labels counted batch by batch: the same matrices as of the whole table, however the rows are cut."""

import itertools
import threading

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from matrics._files import counts as of_counts  # noqa: E402
from matrics._files import parquet  # noqa: E402
from matrics._files import rows as batches  # noqa: E402
from matrics._files import text as of_text  # noqa: E402
from matrics._files.count import count  # noqa: E402
from matrics._files.counts import Counts, MissingValueError, Values  # noqa: E402
from matrics._files.counts_file import About, rows_of  # noqa: E402
from matrics._files.inputs import open_input, open_labels, parquet_rows  # noqa: E402
from matrics._files.names import Names  # noqa: E402
from matrics._files.rows import Batch, TextRows, ahead  # noqa: E402


def columns(rng, rows):
    """Columns of every type that groups may have; many values and few, near each other and far apart."""
    few, many = rng.integers(0, 4, rows), rng.integers(0, rows, rows)
    return {
        "few": pa.array(few),
        "many": pa.array(many * 10**9),
        "text": pa.array([f"model {k}" for k in many]),
        "dictionary": pa.array([f"m{k}" for k in few]).dictionary_encode(),
        "int8": pa.array((few - 2).astype(np.int8)),
        "uint64": pa.array(few.astype(np.uint64) + 2**63),
        "float": pa.array(rng.choice([0.5, np.nan, np.inf, -1.0], rows)),
        "bool": pa.array(few > 1),
        "date": pa.array(few, pa.int32()).cast(pa.date32()),
        "time": pa.array(many, pa.timestamp("ns", "UTC")),
        "decimal": pa.array(few).cast(pa.decimal128(30, 2)),
    }


def table_of(rng, rows, classes="int"):
    true = rng.integers(0, 5, rows)
    pred = np.where(rng.random(rows) < 0.6, true, rng.integers(0, 7, rows))
    made = {"int": lambda x: pa.array(x * 3 - 4), "text": lambda x: pa.array([f"c{k}" for k in x])}[classes]
    return pa.table({"y_true": made(true), "y_pred": made(pred), **columns(rng, rows)})


def in_order(value):
    """Values in their order, NaN last."""
    return (value != value, 0 if value != value else value)


def assert_counts_of(counted, table, by, weights=None):
    """What a dictionary of Python's own counts."""
    keys = list(zip(*(map(in_order, table[name].to_pylist()) for name in by), strict=True)) or [()] * len(table)
    true, pred = (table[name].to_pylist() for name in ("y_true", "y_pred"))
    groups, classes = sorted(set(keys)), sorted({*true, *pred})
    places = {key: k for k, key in enumerate(groups)}, {label: k for k, label in enumerate(classes)}
    expected = np.zeros((len(groups), len(classes), len(classes)), np.int64)
    for key, i, j, weight in zip(keys, true, pred, weights or [1] * len(table), strict=True):
        expected[places[0][key], places[1][i], places[1][j]] += weight
    np.testing.assert_array_equal(counted.stack(counted.cells).read(0, len(groups)), expected)
    assert counted.classes.to_pylist() == classes
    assert list(counted.groups) == list(by)
    for k, name in enumerate(by):
        # By text, as pyarrow takes NaN for another value than NaN.
        values = [key[k][1] if not key[k][0] else float("nan") for key in groups]
        assert list(map(str, counted.groups[name].to_pylist())) == list(map(str, values))


BY = [
    (),
    ("few",),
    ("many",),
    ("text", "few"),
    ("date", "many", "bool"),
    ("uint64", "float", "time", "decimal", "int8"),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("by", BY, ids=",".join)
@pytest.mark.parametrize("classes", ["int", "text"])
@pytest.mark.parametrize("size", [10**6, 37])
@pytest.mark.parametrize("bins", [0, 2000, of_counts.MOST_BINS])
def test_batches_make_the_matrices_of_the_table(tmp_path, monkeypatch, by, classes, size, bins):  # noqa: PLR0917
    """However the rows are cut, and whether combinations have bins, rows of a table, or first one, then the other."""
    monkeypatch.setattr(batches, "BATCH_ROWS", size)
    monkeypatch.setattr(of_counts, "MOST_BINS", bins)
    monkeypatch.setattr(of_counts, "MOST_PARTS", 3)
    table = table_of(np.random.default_rng(len(by)), 500, classes)
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=111)
    assert_counts_of(count(open_labels([open_input(tmp_path / "x.parquet")], Names(by=by))), table, by)


@pytest.mark.parametrize("most", [1, 2**22])
def test_integers_far_apart_and_near_each_other_have_codes(monkeypatch, most):
    monkeypatch.setattr(of_counts, "MOST_RANGE", most)
    rng = np.random.default_rng(0)
    for low, high in ((5, 9), (0, 3), (-40, 20), (-(2**62), 2**62)):
        for kind in (np.int64, np.int16 if high < 2**15 else np.int64):
            values = rng.integers(low, high, 50).astype(kind)
            codes, known = of_counts._codes(pa.array(values))
            np.testing.assert_array_equal(known.to_numpy()[codes], values)


def test_values_of_a_dictionary_that_no_row_has_are_not_there():
    counts = Counts(Names(by=("g",)))

    def add(indices, values):
        column = pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(values))
        ones = [1] * len(indices)
        counts.add(Batch(pa.record_batch({"y_true": ones, "y_pred": ones, "g": column}), "x"))

    add([2, 0, 2], ["b", "unused", "a", ""])
    add([0, 1], ["a", "unused"])
    found = counts.counted()
    assert found.groups["g"].to_pylist() == ["a", "b", "unused"]
    assert found.count.tolist() == [3, 1, 1]
    values = Values(of_counts._as_groups)
    with pytest.raises(MissingValueError):
        values.numbers("g", pa.array([""]))
    add([3], ["b", "unused", "a", ""])
    with pytest.raises(ValueError, match="column 'g': expected a value in every row, got 1 missing"):
        counts.counted()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bins", [0, of_counts.MOST_BINS])
@pytest.mark.parametrize("weights", ["integers", "floats", "weights"])
def test_sums_of_batches(tmp_path, monkeypatch, weights, bins):
    """The sums of the weights of each cell, which Python adds up exactly."""
    monkeypatch.setattr(batches, "BATCH_ROWS", 50)
    monkeypatch.setattr(of_counts, "MOST_BINS", bins)
    monkeypatch.setattr(of_counts, "MOST_PARTS", 3)
    rng = np.random.default_rng(1)
    table = table_of(rng, 400, "text")
    made = rng.integers(0, 2**52, 400) if weights == "integers" else rng.integers(0, 64, 400) / 64
    table = table.append_column("w", pa.array(made))
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=130)
    by = ("few", "bool", "int8")
    names = Names(
        by=by, counts="w" if weights in ("integers", "floats") else None, weight="w" if weights == "weights" else None
    )
    given = open_labels([open_input(tmp_path / "x.parquet")], names)
    found = count(given)
    if weights == "integers":
        assert_counts_of(found, table, by, made.tolist())
        return
    cells: dict[tuple[str, ...], list[float]] = {}
    for row in table.to_pylist():
        key = tuple(str(row[name]) for name in (*by, "y_true", "y_pred"))
        sums = cells.setdefault(key, [0.0, 0.0])
        sums[0] += row["w"]
        sums[1] += row["w"] ** 2
    got = rows_of(found, About.of(found, names).names, 0, len(found.true))
    keys = zip(*(map(str, got[name].to_pylist()) for name in (*by, "y_true", "y_pred")), strict=True)
    if weights == "weights":
        values = zip(got["weight"].to_pylist(), got["squared_weight"].to_pylist(), strict=True)
        assert dict(zip(keys, map(list, values), strict=True)) == cells
    else:
        assert dict(zip(keys, got["count"].to_pylist(), strict=True)) == {key: sums[0] for key, sums in cells.items()}


def test_clusters_and_weights_of_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 50)
    table = table_of(np.random.default_rng(3), 400)
    weights = np.random.default_rng(4).integers(1, 5, 400)
    table = table.append_column("w", pa.array(weights))
    pq.write_table(table, tmp_path / "x.parquet")
    found = count(open_labels([open_input(tmp_path / "x.parquet")], Names(by=("few",), clusters="text", weight="w")))
    assert_counts_of(found, table, ("few",), weights.tolist())
    squares = found.stack(found.squares).read(0, len(found.starts))
    assert squares.sum() == (weights**2).sum()
    pairs = {*zip(table["few"].to_pylist(), table["text"].to_pylist(), strict=True)}
    clusters = found.clusters.read(0, len(pairs))
    assert len(clusters) == len(pairs) == len(found.parts)
    np.testing.assert_array_equal(
        np.add.reduceat(clusters, np.searchsorted(found.parts, found.starts), axis=0),
        found.stack(found.cells).read(0, len(found.starts)),
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start", [0, 1, 50, 111, 112, 399, 400])
def test_batches_begin_at_any_row(tmp_path, monkeypatch, start):
    monkeypatch.setattr(batches, "BATCH_ROWS", 30)
    monkeypatch.setattr(of_text, "BLOCK_BYTES", 40)
    whole = pa.table({"y_true": np.arange(400), "y_pred": np.arange(400)})
    for k, rows in enumerate((slice(0, 250), slice(250, 400))):
        part = whole.slice(rows.start, rows.stop - rows.start)
        pq.write_table(part, tmp_path / f"{k}.parquet", row_group_size=111)
        lines = [f"{number},{number}" for number in part["y_true"].to_pylist()]
        (tmp_path / f"{k}.csv").write_text("\n".join(["y_true,y_pred", *lines]))
    parquet = parquet_rows(tmp_path / "?.parquet", Names())
    text = TextRows((tmp_path / "0.csv", tmp_path / "1.csv"), (".csv", ".csv"), Names())
    for rows in (parquet, text) if not start else (parquet,):  # only Parquet is read from the middle
        found = list(rows.batches(start) if start else rows.batches())
        read = [int(number) for _, batch in found for number in batch.table["y_true"].to_pylist()]
        assert read == list(range(start, 400))
        for position, batch in found:
            first = int(batch.table["y_true"][0].as_py())
            assert position == first + len(batch.table)
            assert batch.row == (first if first < 250 else first - 250)


def test_counts_are_exact_and_refused_beyond_64_bits():
    counts = Counts(Names(counts="w"))
    big = 2**62 - 1

    def add(*numbers):
        ones = [1] * len(numbers)
        counts.add(Batch(pa.record_batch({"y_true": ones, "y_pred": ones, "w": pa.array(numbers, pa.int64())}), "x"))

    add(big, 1)
    assert counts.counted().count.tolist() == [2**62]
    with pytest.raises(ValueError, match="whose sum is below 2\\*\\*63, got 9,223,372,036,854,775,808 so far"):
        add(big, 1)


def test_weights_add_up_row_by_row():
    weights = np.random.default_rng(2).random(1000)
    ones = [0] * 1000
    for cut in (1000, 7):
        counts = Counts(Names(counts="w"))
        table = pa.table({"y_true": ones, "y_pred": ones, "w": weights})
        for batch in table.to_batches(cut):
            counts.add(Batch(batch, "x"))
        assert counts.counted().count.item() == list(itertools.accumulate(weights))[-1]


def test_integers_and_then_fractions_are_counts():
    counts = Counts(Names(counts="w"))
    for number in (1, 0.5, 2):
        counts.add(Batch(pa.record_batch({"y_true": [0], "y_pred": [0], "w": [number]}), "x"))
    assert counts.counted().count.tolist() == [3.5]


def test_too_many_classes_are_named_before_a_matrix_is_laid_out(monkeypatch):
    monkeypatch.setattr(of_counts.sizes, "most_cells", lambda: 99)
    counts = Counts(Names())
    counts.add(Batch(pa.record_batch({"y_true": np.arange(9), "y_pred": np.arange(9)}), "x"))
    assert len(counts.counted().true) == 9
    counts.add(Batch(pa.record_batch({"y_true": [9], "y_pred": [9]}), "x"))
    with pytest.raises(ValueError, match="few classes, got 10 classes: too many to lay out a matrix"):
        counts.counted()


def test_memory_is_looked_up(tmp_path, monkeypatch):
    most = of_counts.most_cells()
    assert 0 < most <= of_counts.sizes.most_cells()
    (tmp_path / "memory.max").write_text(f"{2**20}\n")
    monkeypatch.setattr(of_counts, "CGROUP", tmp_path / "memory.max")
    assert of_counts.most_cells() == 2**20 // 32
    (tmp_path / "memory.max").write_text("max\n")
    assert of_counts.most_cells() == most


def test_what_is_read_ahead_ends_with_an_error_and_with_its_reader():
    def items():
        yield 1
        raise OSError("gone")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(OSError, match="gone"):
        next(found)
    endless = ahead(iter(range(10**9)))
    assert [next(endless), next(endless)] == [0, 1]
    endless.close()
    assert list(ahead(iter(()))) == []


def test_what_is_read_ahead_is_not_waited_for():
    is_there, is_closed = threading.Event(), threading.Event()

    def items():
        try:
            yield 1
            is_there.wait()  # as for a pipe
            yield 2
        finally:
            is_closed.set()

    before = set(threading.enumerate())
    found = ahead(items())
    assert next(found) == 1
    (thread,) = set(threading.enumerate()) - before
    found.close()
    assert not is_closed.is_set()
    is_there.set()
    thread.join()  # it ends with what it was making
    assert is_closed.wait(10)


def test_few_row_groups_are_open_at_a_time(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_ROWS", 25)
    assert list(parquet._row_groups([10] * 7, 1)) == [range(1, 4), range(4, 7)]
    assert list(parquet._row_groups([100, 3, 0, 40, 1], 0)) == [range(1), range(1, 4), range(4, 5)]
    assert list(parquet._row_groups([], 0)) == []


def test_row_groups_larger_than_memory_are_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "LARGE_BYTES", 100)
    monkeypatch.setattr(parquet, "BUFFER_BYTES", 64)
    table = table_of(np.random.default_rng(5), 2000, "text")
    pq.write_table(table, tmp_path / "x.parquet")
    assert_counts_of(count(open_labels([open_input(tmp_path / "x.parquet")], Names(by=("text",)))), table, ("text",))
