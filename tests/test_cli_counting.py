"""Labels counted batch by batch: the same matrices as of the whole table, however the rows are cut, and resumed."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from matrics.files import labels  # noqa: E402
from matrics.files import rows as batches, cells, codes, parquet  # noqa: E402
from matrics.files.rows import Batch, TextRows, ahead  # noqa: E402
from matrics.cli.counting.codes import Codes, Integers  # noqa: E402
from matrics.files.count import Beside, count  # noqa: E402
from matrics.files.counts import Counter  # noqa: E402
from matrics.files.inputs import open_input, parquet_rows  # noqa: E402
from matrics.files.labels import Names  # noqa: E402


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


def assert_same(counted, expected):
    np.testing.assert_array_equal(counted.stack, expected.stack)
    assert counted.classes == expected.classes
    assert list(counted.groups) == list(expected.groups)
    for name, values in expected.groups.items():
        assert counted.groups[name].type == labels.decoded(values).type
        # By text, as pyarrow takes NaN for another value than NaN.
        assert list(map(str, counted.groups[name].to_pylist())) == list(map(str, values.to_pylist()))


BY = [
    (),
    ("few",),
    ("many",),
    ("text", "few"),
    ("date", "many", "bool"),
    ("uint64", "float", "time", "decimal", "int8"),
]


@pytest.mark.parametrize("by", BY, ids=",".join)
@pytest.mark.parametrize("classes", ["int", "text"])
@pytest.mark.parametrize("size", [10**6, 37])
def test_batches_make_the_matrices_of_the_table(tmp_path, monkeypatch, by, classes, size):
    monkeypatch.setattr(batches, "BATCH_ROWS", size)
    table = table_of(np.random.default_rng(len(by)), 500, classes)
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=111)
    names = Names(by=by)
    counted = count(open_input([tmp_path / "x.parquet"], names)).of_source
    assert_same(counted, labels.count_table(table.select(labels.wanted_columns(names)), names))


@pytest.mark.parametrize("most", [1, 2**22])
def test_hashing_and_the_table_agree(monkeypatch, most):
    monkeypatch.setattr(codes, "MOST_RANGE", most)
    rng, found = np.random.default_rng(0), Integers()
    seen = np.empty(0, np.int64)
    for low, high in ((5, 9), (0, 3), (7, 20), (-40, 2), (-40, 20)):
        values = rng.integers(low, high, 50).astype(np.int16)
        numbers = found.encode(values)
        seen = np.union1d(seen, values)
        np.testing.assert_array_equal(found.known[numbers], values)
        np.testing.assert_array_equal(np.sort(found.known), seen)


def test_values_of_a_dictionary_that_no_row_has_are_not_there():
    values = Codes(lambda _, column: labels.decoded(column))
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), pa.array(["b", "unused", "a", ""]))
    assert values.known.type == pa.int64()
    np.testing.assert_array_equal(values.encode("g", column), [1, 0, 1])
    assert values.known.to_pylist() == ["b", "a"]
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "unused"]))
    np.testing.assert_array_equal(values.encode("g", other), [1, 2])
    with pytest.raises(codes.MissingValueError):
        values.encode("g", pa.DictionaryArray.from_arrays(pa.array([3]), column.dictionary))


@pytest.mark.parametrize("weights", ["none", "integers", "floats"])
def test_a_state_continues(tmp_path, monkeypatch, weights):
    monkeypatch.setattr(batches, "BATCH_ROWS", 50)
    rng = np.random.default_rng(1)
    table = table_of(rng, 400, "text")
    made = {"integers": rng.integers(0, 2**52, 400), "floats": rng.random(400), "none": np.zeros(400)}[weights]
    table = table.append_column("w", pa.array(made))
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=130)
    names = Names(by=("text", "date", "many", "float", "y_true"), counts=None if weights == "none" else "w")
    given = open_input([tmp_path / "x.parquet"], names)
    once = count(given)
    counter = given.counter()
    ends = [0]
    work = SimpleNamespace(can_be_repeated=True, counted=tmp_path / "counted", rows=0)
    for position, batch in given.rows.batches():
        with work.counted.open("wb") as file:
            counter.save(file)
        work.rows = counter.rows
        assert work.rows == ends[-1]
        resumed = count(given, Beside(work))
        assert_same(resumed.of_source, once.of_source)
        assert resumed.stack.tobytes() == once.stack.tobytes()
        counter.add(batch)
        ends.append(position)
    assert ends[-1] == 400


@pytest.mark.parametrize("start", [0, 1, 50, 111, 112, 399, 400])
def test_batches_begin_at_any_row(tmp_path, monkeypatch, start):
    monkeypatch.setattr(batches, "BATCH_ROWS", 30)
    monkeypatch.setattr(labels, "CHUNK_ROWS", 10)
    whole = pa.table({"y_true": np.arange(400), "y_pred": np.arange(400)})
    for k, rows in enumerate((slice(0, 250), slice(250, 400))):
        part = whole.slice(rows.start, rows.stop - rows.start)
        pq.write_table(part, tmp_path / f"{k}.parquet", row_group_size=111)
        lines = [f"{number},{number}" for number in part["y_true"].to_pylist()]
        (tmp_path / f"{k}.csv").write_text("\n".join(["y_true,y_pred", *lines]))
    parquet = parquet_rows([tmp_path / "0.parquet", tmp_path / "1.parquet"], Names())
    text = TextRows((tmp_path / "0.csv", tmp_path / "1.csv"), (".csv", ".csv"), Names())
    for rows in (parquet, text):
        found = list(rows.batches(start))
        read = [int(number) for _, batch in found for number in batch.table["y_true"].to_pylist()]
        assert read == list(range(start, 400))
        for position, batch in found:
            first = int(batch.table["y_true"][0].as_py())
            assert position == first + len(batch.table)
            assert batch.row == (first if first < 250 else first - 250)


def test_counts_are_exact_and_refused_beyond_64_bits():
    names = Names(counts="w")
    counter = Counter(names)
    big = 2**62 - 1

    def add(*counts):
        ones = [1] * len(counts)
        counter.add(Batch(pa.record_batch({"y_true": ones, "y_pred": ones, "w": pa.array(counts, pa.int64())}), "x"))

    add(big, 1)
    assert counter.counted().stack.tolist() == [[[2**62]]]
    with pytest.raises(ValueError, match="whose sum is below 2\\*\\*63, got 9,223,372,036,854,775,808 so far"):
        add(big, 1)


def test_weights_add_up_row_by_row():
    weights = np.random.default_rng(2).random(1000)
    ones = [0] * 1000
    for cut in (1000, 7):
        counter = Counter(Names(counts="w"))
        table = pa.table({"y_true": ones, "y_pred": ones, "w": weights})
        for batch in table.to_batches(cut):
            counter.add(Batch(batch, "x"))
        assert counter.counted().stack.item() == list(itertools.accumulate(weights))[-1]


def test_too_many_cells_are_named_before_they_are_there(monkeypatch):
    monkeypatch.setattr(cells, "MOST_CELLS", 1000)
    counter = Counter(Names(by=("g",)))
    for k in range(11):
        true = np.arange(9)
        batch = Batch(pa.record_batch({"y_true": true, "y_pred": true, "g": np.full(9, k)}), "x")
        counter.add(batch)
    assert counter.cells.stack.shape == (11, 9, 9)
    two = pa.record_batch({"y_true": [0, 0], "y_pred": [0, 0], "g": [98, 99]})
    with pytest.raises(ValueError, match="few classes, got 9 classes in 13 groups: too many to count"):
        counter.add(Batch(two, "x"))


def test_memory_is_asked_for(tmp_path, monkeypatch):
    most = cells.most_cells()
    assert 0 < most <= cells.MOST_CELLS
    (tmp_path / "memory.max").write_text(f"{2**20}\n")
    monkeypatch.setattr(cells, "CGROUP", tmp_path / "memory.max")
    assert cells.most_cells() == 2**20 // 32
    (tmp_path / "memory.max").write_text("max\n")
    assert cells.most_cells() == most


def test_the_stack_grows_in_both_ways():
    rng, grown = np.random.default_rng(3), cells.Cells()
    expected = np.zeros((60, 40, 40), np.int64)
    for groups, n in ((1, 1), (3, 2), (3, 9), (60, 9), (60, 10), (60, 40)):
        grown.reserve(groups, n)
        of, true, pred = (rng.integers(0, most, 500) for most in (groups, n, n))
        grown.add(of, true, pred, None)
        np.add.at(expected, (of, true, pred), 1)
        np.testing.assert_array_equal(grown.stack, expected[:groups, :n, :n])


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
    endless.close()  # its thread ends, or this would never return
    assert list(ahead(iter(()))) == []


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
    names = Names(by=("text",))
    counted = count(open_input([tmp_path / "x.parquet"], names)).of_source
    assert_same(counted, labels.count_table(table.select(labels.wanted_columns(names)), names))
