"""Counting where the data are: GROUP BY for any database, relations of DuckDB and tables of Ibis."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pandas = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.xdist_group("databases")  # one process imports them

RANDOM = np.random.default_rng(7)
N = 3000
# Names that a careless statement would fall for.
ODD = 'mo"del; DROP TABLE x --'


def rows(number: int = N) -> Any:
    """Labels with two columns of groups, one of which is called as the column of counts, and weights."""
    true = RANDOM.integers(0, 3, number)
    names = np.array(["cat", "dog", "owl"])
    return pandas.DataFrame(
        {
            ODD: np.array(["net", "tree"])[RANDOM.integers(0, 2, number)],
            "Count": RANDOM.integers(0, 4, number),
            "y_true": names[true],
            "y_pred": names[np.where(RANDOM.random(number) < 0.8, true, RANDOM.integers(0, 3, number))],
            "w": RANDOM.exponential(size=number),
            "large": RANDOM.integers(1, 2**31 - 1, number).astype(np.int32),
        }
    )


def query(database: str, frame: Any, text: str) -> Any:
    """What a database answers, as a data frame of pandas; the table is called 'p t'."""
    if database == "sqlite":
        sqlite3 = importlib.import_module("sqlite3")
        with sqlite3.connect(":memory:") as at:
            frame.to_sql("p t", at, index=False)
            found = pandas.read_sql(text, at)
        at.close()
        return found
    at = pytest.importorskip("duckdb").connect()
    at.register("p t", pa.Table.from_pandas(frame))
    return at.sql(text).to_arrow_table().to_pandas()


def same(found: Any, wanted: Any, *, by: list[str]) -> None:
    assert found.labels == wanted.labels
    for name in by:
        assert list(found.groups[name].to_pylist() if hasattr(found.groups[name], "to_pylist") else found.groups[name])
        assert found.to_dict()["groups"][name] == wanted.to_dict()["groups"][name]
    np.testing.assert_allclose(found.matrix, wanted.matrix, rtol=1e-12)
    assert (found.squared_weights is None) == (wanted.squared_weights is None)
    if wanted.squared_weights is not None:
        np.testing.assert_allclose(found.squared_weights, wanted.squared_weights, rtol=1e-12)


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_the_statement_runs_and_its_result_is_a_table_of_counts(database: str) -> None:
    frame = rows()
    by = [ODD, "Count"]
    counted = query(database, frame, matrics.frames.count_sql("p t", by=by))
    assert list(counted.columns) == [ODD, "Count", "y_true", "y_pred", "count_"]
    assert len(counted) <= 2 * 4 * 9
    found = matrics.frames.count(counted, by=by, counts="count_")
    wanted = matrics.frames.count(frame, by=by)
    same(found, wanted, by=by)
    assert found.matrix.dtype == np.int64
    for key, one in found.interval("mcc, recall:class").items():
        np.testing.assert_array_equal(one.low, wanted.interval("mcc, recall:class")[key].low)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
@pytest.mark.parametrize("weight", ["w", "large"])
def test_weights_have_their_squares(database: str, weight: str) -> None:
    """Squares of 32-bit integers are beyond 64 bits together, and beyond 32 alone."""
    frame = rows()
    counted = query(database, frame, matrics.frames.count_sql("p t", by=ODD, sample_weight=weight))
    assert list(counted.columns)[-3:] == ["count", "weight", "squared_weight"]
    found = matrics.frames.count(counted, by=ODD, sample_weight="weight", squared_weights="squared_weight")
    wanted = matrics.frames.count(frame, by=ODD, sample_weight=weight)
    same(found, wanted, by=[ODD])
    np.testing.assert_allclose(found.interval("mcc")["mcc"].low, wanted.interval("mcc")["mcc"].low, rtol=1e-12)


def test_the_text() -> None:
    assert matrics.frames.count_sql(("lake", 'a"b', "t"), y_true="truth", y_pred="guess", by=["m", "truth"]) == (
        'SELECT "m", "truth", "guess", COUNT(*) AS "count"\nFROM "lake"."a""b"."t"\nGROUP BY "m", "truth", "guess"'
    )
    for wrong, error, message in (
        ({"table": ""}, ValueError, "table: expected the name of a column or a table, got ''"),
        ({"table": ()}, ValueError, "table: expected a name, got an empty sequence"),
        ({"table": 3}, TypeError, "table: expected names, which are text, got 3"),
        ({"table": "t", "y_true": "a\0b"}, ValueError, "columns: expected the name of a column"),
        ({"table": "t", "by": ["a", "a"]}, ValueError, "by: expected different columns"),
        ({"table": "t", "sample_weight": 3}, TypeError, "columns: expected names, which are text, got 3"),
    ):
        with pytest.raises(error, match=message):
            matrics.frames.count_sql(**wrong)


def databases(frame: Any) -> dict[str, Any]:
    """Tables that group themselves."""
    found, table = {}, pa.Table.from_pandas(frame)
    if importlib.util.find_spec("duckdb"):
        at = importlib.import_module("duckdb").connect()
        at.register("p", table)
        found["duckdb"] = at.sql("SELECT * FROM p")
    if importlib.util.find_spec("ibis"):
        found["ibis"] = importlib.import_module("ibis").memtable(table)
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("database", ["duckdb", "ibis"])
def test_a_table_of_a_database_is_counted_there(database: str) -> None:
    frame = rows()
    table = databases(frame).get(database)
    if table is None:
        pytest.skip(f"no {database}")
    by = [ODD, "Count"]
    for options in (
        {"by": by},
        {"by": by, "sample_weight": "w"},
        {"by": ODD, "sample_weight": "large", "ignore_index": "owl", "labels": ["dog", "cat", "owl"]},
        {"by": ODD, "counts": "large"},
        {"labels": ["owl", "dog", "cat"]},
        {"by": ODD, "sample_weight": "w", "squared_weights": "large"},
    ):
        groups = options.get("by", [])
        same(
            matrics.frames.count(table, **options),
            matrics.frames.count(frame, **options),
            by=[groups] if isinstance(groups, str) else groups,
        )
    again = matrics.frames.count(table.filter(table.w > 1) if database == "ibis" else table.filter('"w" > 1'))
    same(again, matrics.frames.count(frame[frame["w"] > 1]), by=[])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("database", ["duckdb", "ibis"])
@pytest.mark.parametrize(
    ("column", "values", "options", "error", "message"),
    [
        ("w", [1.0, -1.0, 3.0], {"sample_weight": "w"}, ValueError, "'w': .* at least 0, got -1 in a group of 3 rows"),
        ("w", [1.0, None, 3.0], {"sample_weight": "w"}, ValueError, "'w': .* got 1 missing, .* in a group of 3 rows"),
        ("w", [1.0, np.inf, 3.0], {"sample_weight": "w"}, ValueError, "'w': expected finite weights .* got inf"),
        ("w", [1.5, 1.0, 3.0], {"counts": "w"}, ValueError, "'w': expected counts, which are integers, got 5.5"),
        (
            "w",
            ["a", "b", "c"],
            {"sample_weight": "w"},
            TypeError,
            "frame: expected columns that the database can group",
        ),
        (
            "y_pred",
            ["a", None, None],
            {},
            ValueError,
            "'y_pred': .* got 1 missing, the first in a group of 2 rows that the database counted",
        ),
        ("y_pred", ["a", "b", "b"], {"labels": ["a"]}, ValueError, "'y_pred': .* got 'b' in a group of 2 rows"),
        ("w", [1.0, 1.0, 3.0], {"by": "nope"}, ValueError, "frame: expected a column 'nope', got the columns"),
    ],
)
def test_what_a_database_would_pass_over(  # noqa: PLR0917 (a row of the table)
    database: str, column: str, values: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    """Sums leave out missing values, and negative ones vanish in them."""
    frame = pandas.DataFrame({"y_true": ["a"] * 3, "y_pred": ["a"] * 3, "w": [1.0] * 3} | {column: values})
    if column == "w" and None in values:
        frame = frame.astype({"w": "Float64"})
    table = databases(frame).get(database)
    if table is None:
        pytest.skip(f"no {database}")
    with pytest.raises(error, match=message):
        matrics.frames.count(table, **options)


def test_counts_of_rows_that_are_counted() -> None:
    frame = pandas.DataFrame({"y_true": ["a", "b", "b"], "y_pred": ["a", "b", "a"], "n": [2**60 + 1, 3, 0]})
    found = matrics.frames.count(frame, counts="n")
    assert found.matrix.tolist() == [[2**60 + 1, 0], [0, 3]]  # exactly
    assert found.squared_weights is None
    floats = matrics.frames.count(frame.astype({"n": float}).assign(n=[2.0, 3.0, 0.0]), counts="n")
    assert floats.matrix.dtype == np.int64
    for wrong, message in (
        ({"counts": "n", "sample_weight": "n"}, r"expected either counts=, .* got counts='n', sample_weight='n'"),
        ({"squared_weights": "n"}, r"expected either counts=, .* got squared_weights='n'"),
    ):
        with pytest.raises(TypeError, match=message):
            matrics.frames.count(frame, **wrong)
    with pytest.raises(ValueError, match=r"'n': expected counts, which are integers, got 0.5 at position 1"):
        matrics.frames.count(frame.assign(n=[1.0, 0.5, 2.0]), counts="n")
    with pytest.raises(ValueError, match="'n': expected finite counts of at least 0, got -1 at position 2"):
        matrics.frames.count(frame.assign(n=[1, 2, -1]), counts="n")


@pytest.mark.exhaustive
def test_many_rows_stay_in_the_database() -> None:
    """Thirty million rows, which would take a gigabyte here: the process stays small."""
    pytest.importorskip("duckdb")
    if not Path("/proc/self/status").exists():
        pytest.skip("Linux says what a process took; ru_maxrss of a child begins at what its parent took")
    code = """
import re, duckdb, matrics
at = duckdb.connect()
at.execute("SET threads = 1")
at.execute("SET enable_progress_bar = false")
at.execute("SET memory_limit = '300MB'")
text = "SELECT 'class ' || (range % 7) AS y_true, 'class ' || ((range * 13) % 7) AS y_pred FROM range(30_000_000)"
found = matrics.frames.count(at.sql(text))
assert found.matrix.sum() == 30_000_000
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600  # MiB
