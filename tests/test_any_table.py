"""Columns and tables of every library, as codes and as numbers."""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._tables.columns import coded, numbers_of, weights_of

pa = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAN = float("nan")


class Stream:
    """A table of which nothing is known but its stream, as that of a library that matrics has never heard of."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def relation(columns: dict[str, list[Any]]) -> Any:
    """A relation of DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(pa.table(columns))


def expression(columns: dict[str, list[Any]]) -> Any:
    """A table of Ibis."""
    return pytest.importorskip("ibis").memtable(pa.table(columns))


TABLES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "pyarrow": pa.table,
    "pyarrow-batch": pa.RecordBatch.from_pydict,
    "pyarrow-chunks": lambda columns: pa.concat_tables(
        [pa.table(columns).slice(k, 3) for k in range(0, len(columns["y_true"]), 3)]
    ),
    "sequences": dict,
    "arrays": lambda columns: {name: np.asarray(values) for name, values in columns.items()},
    "series": lambda columns: {name: pandas.Series(values) for name, values in columns.items()},
    "stream": lambda columns: Stream(pa.table(columns)),
    "duckdb": relation,
    "ibis": expression,
}

ROWS = {
    "site": ["north", "south", "south", "north", "south", "north", "east", "south"],
    "day": [2, 1, 2, 2, 1, 1, 2, 2],
    "y_true": ["ok", "fraud", "ok", "ok", "fraud", "ok", "fraud", "?"],
    "y_pred": ["ok", "ok", "ok", "fraud", "fraud", "ok", "fraud", "ok"],
    "w": [1.5, 2.0, 0.5, 1.0, 4.0, 0.0, 1.0, 9.0],
}


# What messages call a row: a database has grouped its own.
AT = {kind: "in a group of [13] rows" if kind in ("duckdb", "ibis") else "at position" for kind in TABLES}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", TABLES)
def test_every_table_is_counted_alike(kind: str) -> None:
    """Groups, labels, weights, and what is left out; columns that nobody asked for may be anything."""
    rows = ROWS | {"other": [[1], None, [2, 3], [], [], [], [], []]}
    if kind in ("arrays", "series"):
        rows = ROWS
    options: Any = {"by": ["site", "day"], "sample_weight": "w", "ignore_index": "?"}
    found = matrics.frames.count(TABLES[kind](rows), **options)
    assert found.labels == ("fraud", "ok")
    assert found.to_dict()["groups"] == {"site": ["east", "north", "north", "south", "south"], "day": [2, 1, 2, 1, 2]}
    expected = [[[1, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [1, 1.5]], [[4, 2], [0, 0]], [[0, 0], [0, 0.5]]]
    np.testing.assert_array_equal(found.matrix, expected)
    for library in ("pandas", "polars"):
        frame = matrics.to_frame(found.score("accuracy"), axes=found.groups, library=library)
        assert frame["site"].to_list() == ["east", "north", "north", "south", "south"]
        assert found.to_frame(library=library)["day"].to_list()[::4] == [2, 1, 2, 1, 2]
    assert matrics.frames.count(TABLES[kind](rows), labels=["ok", "fraud", "?"]).matrix.sum() == 8
    with pytest.raises(ValueError, match=r"frame: expected a column 'town', got the columns 'site', 'day', 'y_true'"):
        matrics.frames.count(TABLES[kind](rows), by="town")
    with pytest.raises(
        ValueError, match=rf"column 'y_true': expected one of the labels 'ok', 'fraud', got '\?' {AT[kind]}"
    ):
        matrics.frames.count(TABLES[kind](rows), labels=["ok", "fraud"])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", TABLES)
def test_missing_values_are_refused_by_name_and_position(kind: str) -> None:
    """None, NaN and empty text."""
    for name, values in {
        "y_true": ["ok", None, "ok"],
        "y_pred": ["ok", "", "ok"],
        "day": [1.0, NAN, 2.0],
        "w": [1.0, None, 2.0],
    }.items():
        rows = {"y_true": ["ok"] * 3, "y_pred": ["ok"] * 3, "day": [1] * 3, "w": [1] * 3, name: values}
        with pytest.raises(
            ValueError, match=f"column '{name}': expected a value .*, got 1 missing, the first {AT[kind]}( 1)?"
        ):
            matrics.frames.count(TABLES[kind](rows), by="day", sample_weight="w")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_positions_are_those_of_the_table_where_labels_are_ignored(kind: str) -> None:
    rows = {
        "y_true": ["?", "a", "?", "a"],
        "y_pred": ["a", "a", "a", None],
        "w": [-1.0, 1.0, NAN, -3.0],
        "n": ["x"] * 4,
    }
    options: Any = {"ignore_index": "?", "labels": ["a"]}
    with pytest.raises(ValueError, match=r"column 'y_pred': .* missing, the first at position 3"):
        matrics.frames.count(TABLES[kind](rows), **options)
    with pytest.raises(ValueError, match=r"column 'w': .*, got -3 at position 3"):
        matrics.frames.count(TABLES[kind](rows), y_pred="n", sample_weight="w", **options)
    with pytest.raises(ValueError, match="column 'n': expected one of the labels 'a', got 'x' at position 1 "):
        matrics.frames.count(TABLES[kind](rows), y_pred="n", **options)


def test_values_of_every_kind() -> None:
    """What pyarrow, NumPy and sequences hold; codes are places among sorted values."""
    times = [dt.datetime(2024, 1, day) for day in (2, 1, 2)]  # noqa: DTZ001
    words = pa.array(["b", "a", "b"])
    columns: list[tuple[Any, list[Any]]] = [
        (words, ["a", "b"]),
        (words.cast(pa.large_string()), ["a", "b"]),
        (pa.array(["b", "a", "b"], pa.string_view()), ["a", "b"]),
        (words.cast(pa.binary()), [b"a", b"b"]),
        (pa.chunked_array([["b"], ["a", "b"]]), ["a", "b"]),
        (pa.chunked_array([["b"], ["a", "b"]]).dictionary_encode(), ["a", "b"]),
        (pa.chunked_array([pa.array(["b"]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]), ["a", "b"]),
        # A value that no row has, one that is there twice, and one that is missing, in a dictionary.
        (pa.DictionaryArray.from_arrays([1, 3, 2], ["z", "b", "b", "a"]), ["a", "b"]),
        (pa.DictionaryArray.from_arrays([2, 1, 2], [None, "a", "b"]), ["a", "b"]),
        (pa.DictionaryArray.from_arrays([1, 2, 1], [NAN, 2.5, 1.5]), [1.5, 2.5]),
        (pa.array([True, False, True]), [False, True]),
        (pa.array(np.asarray([2.5, 1, 2.5], np.float16)), [1, 2.5]),
        (pa.array([2**63 + 5, 7, 2**63 + 5], pa.uint64()), [7, 2**63 + 5]),
        (pa.array(times), sorted(times[:2])),
        (
            pa.array([decimal.Decimal(2), decimal.Decimal(1), decimal.Decimal(2)]),
            [decimal.Decimal(1), decimal.Decimal(2)],
        ),
        (pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "name", "vendor"), words), ["a", "b"]),
        (polars.Series(["b", "a", "b"]).to_arrow(), ["a", "b"]),
        (np.asarray(["b", "a", "b"]), ["a", "b"]),
        (np.asarray(["b", "a", "b"], object), ["a", "b"]),
        (np.asarray([2, 1, 2], np.int8), [1, 2]),
        (np.asarray(times, "datetime64[s]"), sorted(times[:2])),
        (["b", "a", "b"], ["a", "b"]),
        (("b", "a", "b"), ["a", "b"]),
        ([np.int64(2), 1, 2], [1, 2]),
        ([2.5, 1, 2.5], [1, 2.5]),
        (Stream(pa.chunked_array([["b"], ["a", "b"]])), ["a", "b"]),
        (pandas.Index(["b", "a", "b"]), ["a", "b"]),
        (pandas.Categorical(["b", "a", "b"]), ["a", "b"]),
        (polars.Series(["b", "a", "b"], dtype=polars.Categorical), ["a", "b"]),
    ]
    for column, values in columns:
        found = coded("name", column)
        assert found.codes.tolist() == [1, 0, 1], column
        assert found.codes.dtype == np.int64
        assert found.listed() == values, column
    assert coded("name", []).listed() == coded("name", pa.chunked_array([], pa.string())).listed() == []


def test_categories_keep_their_order() -> None:
    """Those of an ordered dictionary, as an Enum of Polars is one; others are only how values are stored."""
    enum = polars.Series(["b", "a", "b"], dtype=polars.Enum(["z", "b", "a"]))
    for column in (enum, pa.array(enum.to_arrow()), pandas.Series(["b", "a", "b"], dtype=enum.to_pandas().dtype)):
        found = coded("name", column)
        assert (found.listed(), found.codes.tolist()) == (["b", "a"], [0, 1, 0])
        assert found.categories == ("z", "b", "a")
    plain = coded("name", pa.array(["b", "a", "b"]).dictionary_encode())
    assert (plain.listed(), plain.categories) == (["a", "b"], None)
    table = pa.table({"y_true": enum.to_arrow(), "y_pred": enum.to_arrow()})
    assert matrics.frames.count(table).labels == ("z", "b", "a")
    with pytest.raises(ValueError, match="got 1 missing, the first at position 2"):
        coded("name", polars.Series(["b", "a", ""], dtype=polars.Enum(["b", "", "a"])))


@pytest.mark.parametrize(
    "column",
    [
        [1, "a"],
        [0, True],
        [(1, 2), (3, 4)],
        [{"a": 1}],
        np.ones((2, 2)),
        "abc",
        3,
        pa.array([[1]]),
        polars.Series([[1], [2]]),
        pandas.Series([[1], [2]]),
    ],
)
def test_what_are_no_codes(column: Any) -> None:
    with pytest.raises(
        TypeError, match="column 'name': expected values of the same kind, such as numbers, text or times, "
    ):
        coded("name", column)


def test_numbers() -> None:
    """Integers stay integers as weights, which may be counts; scores are floating numbers."""
    of_integers: list[Any] = [
        [1, 0, 3],
        np.asarray([1, 0, 3], np.uint8),
        pa.chunked_array([[1], [0, 3]]),
        pa.array([1, 0, 3]).dictionary_encode(),
        pa.array([1, 0, 3]).cast(pa.decimal128(38)),  # as DuckDB gives sums of integers
        pandas.Series([1, 0, 3], dtype="Int16"),
        pandas.Series([1, 0, 3], dtype="int64[pyarrow]"),
        polars.Series([1, 0, 3], dtype=polars.UInt64),
    ]
    of_floats: list[Any] = [
        [1, 0.0, 3],
        pa.array(np.asarray([1, 0, 3], np.float16)),
        pa.array([decimal.Decimal("1.00"), decimal.Decimal("0.25"), decimal.Decimal("3.00")]),
        pandas.Series([1, 0, 3], dtype="Float32"),
        pandas.Series([decimal.Decimal(1), decimal.Decimal(0), decimal.Decimal(3)]),
        polars.Series([1, 0, 3], dtype=polars.Decimal(5, 2)),
    ]
    for columns, dtype in ((of_integers, np.int64), (of_floats, np.float64)):
        for column in columns:
            found = weights_of("name", column)
            assert found.dtype == dtype, column
            assert found.tolist() in ([1, 0, 3], [1, 0.25, 3])
            assert numbers_of("name", column).dtype == np.float64
    assert weights_of("name", [2**60 + 1]).tolist() == [2**60 + 1]
    large = weights_of("name", np.asarray([2**63], np.uint64))
    assert (large.dtype, large.tolist()) == (np.float64, [2.0**63])
    assert numbers_of("name", [-1.5, float("inf")]).tolist() == [-1.5, float("inf")]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_what_are_no_weights(library: str) -> None:
    make = {"pandas": pandas.Series, "polars": polars.Series, "pyarrow": pa.array, "numpy": list}[library]
    for values in (["1", "2"], [dt.date(2024, 1, 1)], [[1], [2]]):
        with pytest.raises(TypeError, match="column 'name': expected counts, which are numbers, got"):
            weights_of("name", make(values), "counts")
    for value in (-1.0, float("inf")):
        with pytest.raises(ValueError, match=f"expected finite weights of at least 0, got {value:g} in row 3 of a.csv"):
            weights_of("name", make([1.0, 2.0, value]), where=lambda row: f"in row {row + 1} of a.csv")
    for value in (None, NAN):
        with pytest.raises(
            ValueError, match=r"expected a value in every row, got 1 missing, the first in row 2 of a.csv"
        ):
            weights_of("name", make([1.0, value]), where=lambda row: f"in row {row + 1} of a.csv")


def test_what_are_no_tables() -> None:
    for one in (pa.array([1]), pa.chunked_array([[1]]), polars.Series([1]), 3, [1, 2], np.ones(3)):
        with pytest.raises(
            TypeError, match="frame: expected a data frame of pandas or Polars, a table of pyarrow, a mapp"
        ):
            matrics.frames.count(one)
    with pytest.raises(
        ValueError, match=r"frame: expected columns of the same length, got \{'y_true': 2, 'y_pred': 1\}"
    ):
        matrics.frames.count({"y_true": [0, 1], "y_pred": [0]})
    twice = pa.Table.from_arrays([pa.array([0])] * 3, ["y_true", "y_pred", "y_pred"])
    with pytest.raises(ValueError, match="frame: expected a column 'y_pred', got several"):
        matrics.frames.count(twice)


def test_no_rows() -> None:
    table = pa.table({"y_true": ["a"], "y_pred": ["a"], "g": [1]}).slice(1)
    counts = matrics.frames.count(table, by="g", labels=["a", "b"])
    assert counts.matrix.shape == (0, 2, 2)
    assert len(matrics.to_frame(counts.score(), axes=counts.groups)) == 0


def test_without_pyarrow() -> None:
    """Data frames need it not; anything else says what to install."""
    code = """if True:
        import sys
        sys.modules["pyarrow"] = None
        import matrics, polars
        rows = {"g": ["s", "n"], "y_true": ["a", "b"], "y_pred": ["a", "b"], "w": [1, 2]}
        counts = matrics.frames.count(polars.DataFrame(rows), by="g", sample_weight="w", ignore_index="?")
        print(counts.matrix.tolist(), counts.groups["g"].to_list())
        try:
            matrics.frames.count(rows)
        except ImportError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[[[0.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, 0.0]]] ['n', 's']",
        "tables and columns need pyarrow unless they are of pandas or Polars: python -m pip install pyarrow",
    ]


@pytest.mark.parametrize("kind", ["pyarrow", "duckdb", "stream"])
def test_reports_of_every_table(kind: str) -> None:
    """The same findings, under the same checksum."""
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 300)
    pred = np.where(rng.random(300) < 0.8, true, 1 - true)
    columns = {
        "y_true": np.asarray(["fraud", "ok"])[true].tolist(),
        "y_pred": np.asarray(["fraud", "ok"])[pred].tolist(),
        "model": ["a", "b", "b"] * 100,
        "other": [[1]] * 300,
    }
    options: Any = {"by": "model", "metrics": "accuracy"}
    found = matrics.report(TABLES[kind](columns), **options)
    frame = matrics.report(pandas.DataFrame(columns), **options)
    assert found.findings.summary == frame.findings.summary
    assert found.data.origin == frame.data.origin
    np.testing.assert_array_equal(found.data.matrices, frame.data.matrices)


def test_what_no_report_is_of() -> None:
    pytest.importorskip("jinja2")
    with pytest.raises(
        TypeError, match=r"data: expected a data frame .*; or a mapping of confusion matrices, or a path, got a"
    ):
        matrics.report([1, 2])
    with pytest.raises(TypeError, match=r"got a LazyFrame: collect it first, data\.collect\(\)"):
        matrics.report(polars.LazyFrame({"y_true": [0]}))
