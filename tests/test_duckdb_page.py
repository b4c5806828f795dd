"""The section on DuckDB of docs/frames.md: its SQL and its commands, in order. Its Python is run as a doctest."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "frames.md").read_text("utf-8").partition("(duckdb)=")[2]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_every_block_is_run() -> None:
    """Here, or where the pages are run as doctests."""
    kinds = [kind for kind, _ in BLOCKS]
    assert {kind: kinds.count(kind) for kind in kinds} == {"sql": 1, "console": 2, "python": 3}
    assert all(text.startswith(">>> ") for kind, text in BLOCKS if kind == "python")


def test_the_screens(command: Any, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "digits_sweep.parquet", tmp_path / "examples")
    for kind, text in BLOCKS:
        if kind == "sql":
            duckdb.connect().execute(text)
        elif kind == "console":
            line, screen = text.removeprefix("$ ").split("\n", 1)
            code, out, err = command(*shlex.split(line)[1:])
            assert (code, err, out.strip()) == (0, "", screen.strip()), line


def test_what_the_page_says_of_sql(command: Any) -> None:
    """Sums of counts are as exact as counts, by months too, and rows without a label can be left out or named."""
    duckdb = pytest.importorskip("duckdb")
    at = duckdb.connect()
    at.execute("CREATE TABLE p (day DATE, y_true TEXT, y_pred TEXT, n BIGINT)")
    at.execute(
        "INSERT INTO p VALUES ('2024-01-03', 'a', 'a', 2), ('2024-01-30', 'a', 'a', 3), ('2024-02-01', 'b', 'a', 1)"
    )
    at.execute("INSERT INTO p VALUES ('2024-02-01', 'b', 'b', 4), ('2024-02-02', 'b', NULL, 5)")
    query = "SELECT date_trunc('month', day) AS month, y_true, {} AS y_pred, sum(n) AS n FROM p {} GROUP BY ALL"
    for name, pred, where in (
        ("all", "y_pred", ""),
        ("some", "y_pred", "WHERE y_pred IS NOT NULL"),
        ("named", "coalesce(y_pred, 'none')", ""),
    ):
        at.execute(f"COPY ({query.format(pred, where)}) TO '{name}.parquet'")
    code, _, err = command("score", "all.parquet", "--by", "month", "--counts", "n")
    assert code == 2
    assert "column 'y_pred': expected a value in every row" in err
    for name, samples in (("some", 10), ("named", 15)):
        code, out, _ = command("score", f"{name}.parquet", "--by", "month", "--counts", "n", "--metrics", "accuracy")
        assert code == 0
        assert f"2 matrices of {2 + (name == 'named')} classes, {samples} samples" in out
