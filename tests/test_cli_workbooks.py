"""Workbooks as people have them: several sheets, titles above the table, crosstabs; messages name the sheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import refused

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
openpyxl = pytest.importorskip("openpyxl")
pandas = pytest.importorskip("pandas")

TRUE = ["cat", "cat", "dog", "dog", "dog"]
PRED = ["cat", "dog", "dog", "dog", "cat"]
LABELS = [["y_true", "y_pred"], *map(list, zip(TRUE, PRED, strict=True))]
CROSSTAB = [["", "dog", "cat"], ["cat", 1, 1], ["dog", 2, 1]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def workbook(**sheets: list[list[Any]]) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([None if cell == "" else cell for cell in row])
    book.save("b.xlsx")


def counts(command: Any, *arguments: str) -> Any:
    """The counts of cat and dog."""
    code, out, err = command("score", "b.xlsx", "--metrics", "tp:class,support:class", "--format", "json", *arguments)
    assert code == 0, err
    return list(json.loads(out)["rows"][0].values())


EXPECTED = [1, 2, 2, 3]  # true positives of cat and dog, and samples of both


@pytest.mark.parametrize(
    "rows",
    [
        LABELS,
        [["Readings of March"], [], *LABELS],
        [["site", "Ward 3"], ["", "", "note"], *[[*row, ""] for row in LABELS]],
        [["", "", ""], *[["", *row] for row in LABELS]],
        CROSSTAB,
        [["Readings of March"], [], *CROSSTAB],
        [["", "y_pred", "dog", "cat"], ["", "y_true"], *[["", *row] for row in CROSSTAB[1:]]],
    ],
)
def test_tables(command: Any, rows: list[list[Any]]) -> None:
    """Labels or a crosstab, wherever they begin."""
    workbook(data=rows)
    assert counts(command) == EXPECTED


def test_crosstab_of_pandas(command: Any) -> None:
    table = pandas.crosstab(pandas.Series(TRUE, name="y_true"), pandas.Series(PRED, name="y_pred"))
    table.to_excel("b.xlsx")
    assert counts(command) == EXPECTED


def test_numbers_alone(command: Any) -> None:
    workbook(data=[[1, 1], [1, 2]])
    assert counts(command) == EXPECTED


def test_sheet(command: Any) -> None:
    """A sheet by its name; the first is read without it, and messages say which sheet they are about."""
    workbook(
        notes=[["name", "value"], ["a", "b"]],
        data=LABELS,
        table=CROSSTAB,
        bad=[["", "a", "b"], ["a", 1, "x"], ["b", 0, 3]],
    )
    assert counts(command, "--sheet", "data") == EXPECTED
    assert counts(command, "--sheet", "table") == EXPECTED
    message = refused(command, "score", "b.xlsx")
    assert message.startswith(
        "b.xlsx, sheet 'notes': expected the columns y_true, y_pred, got no 'y_true'; the columns"
    )
    message = refused(command, "score", "b.xlsx", "--sheet", "bad")
    assert message == "b.xlsx, sheet 'bad': line 2, column 3: expected a number, got 'x'"
    message = refused(command, "score", "b.xlsx", "--sheet", "dta")
    assert message == "b.xlsx: --sheet: expected the name of a sheet ('notes', 'data', 'table', 'bad'), got 'dta'"
    Path("t.csv").write_text("y_true,y_pred\n0,0\n1,1\n")
    assert "--sheet: expected a workbook with it (.xlsx, .xlsm, .xls, .ods), got 'data' and t.csv" in refused(
        command, "score", "t.csv", "--sheet", "data"
    )


def test_scores_and_models(command: Any) -> None:
    """Scores, and columns of several models, below a title in the second sheet."""
    rows = [["title"], ["y_true", "a", "b"], [1, 0.9, 0.8], [0, 0.2, 0.9], [1, 0.7, 0.6], [0, 0.4, 0.1]]
    workbook(first=[["x"]], second=rows)
    code, out, err = command(
        "curve", "b.xlsx", "--sheet", "second", "--scores", "a,b", "--positive", "1", "--format", "json"
    )
    assert code == 0, err
    areas = {row["model"]: row["roc_auc"] for row in json.loads(out)["curves"]}
    assert areas == {"a": 1.0, "b": 0.5}


def test_several_files(command: Any) -> None:
    """Files of one pattern are one table, each with a header of its own place."""
    workbook(data=LABELS)
    Path("b.xlsx").rename("c1.xlsx")
    workbook(data=[["title"], ["y_pred", "y_true"], ["dog", "cat"]])
    Path("b.xlsx").rename("c2.xlsx")
    code, out, err = command("count", "c*.xlsx", "--format", "json")
    assert code == 0, err
    found = {(row["y_true"], row["y_pred"]): row["count"] for row in json.loads(out)["rows"]}
    assert found == {("cat", "cat"): 1, ("cat", "dog"): 2, ("dog", "cat"): 1, ("dog", "dog"): 2}


@pytest.mark.parametrize("name", ["b.xlsx", "b.csv"])
def test_report(command: Any, name: str) -> None:
    """A report of a crosstab, in a sheet or as text."""
    pytest.importorskip("jinja2")
    workbook(first=[["x"]], table=[["title"], *CROSSTAB])
    Path("b.csv").write_text("\n".join(",".join(map(str, row)) for row in CROSSTAB))
    more = ("--sheet", "table") if name == "b.xlsx" else ()
    code, _, err = command("report", name, *more, "--output", "r.md")
    assert code == 0, err
    text = Path("r.md").read_text()
    assert "Samples: 5" in text
    assert np.all([label in text for label in ("cat", "dog")])
