"""CSV files and JSON lines that a training run writes, is killed at, and goes on with; read back by other readers."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

import matrics
from matrics._integrations.loggers.files import BLOCK, CsvFile
from matrics.loggers import log_to

CM = [[8, 2, 0], [1, 6, 3], [0, 5, 15]]
FIRST, SECOND, THIRD = ({"val/mcc": x / 8, "val/recall/é": math.nan, "val/odds": math.inf} for x in (1, 2, 3))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def objects(path: Path) -> list[dict[str, Any]]:
    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in path.read_text("utf-8").splitlines()]


def test_a_csv_file_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "a.csv"
    for step, scores in enumerate([FIRST, dict(reversed(SECOND.items())), THIRD]):
        log_to(path, scores, step)
    assert path.read_text("utf-8") == (
        "step,val/mcc,val/recall/é,val/odds\n0,0.125,NaN,inf\n1,0.25,NaN,inf\n2,0.375,NaN,inf\n"
    )


def test_a_file_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    log_to(str(path), FIRST, 0)
    log_to(path, {"train/loss": 0.1}, 1)
    assert objects(path) == [
        {"step": 0, "val/mcc": 0.125, "val/recall/é": None, "val/odds": None},
        {"step": 1, "train/loss": 0.1},
    ]


def test_names_with_commas_and_quotes(tmp_path: Path) -> None:
    path, kappa = tmp_path / "a.csv", "cohen_kappa(costs=[[0,1,2],[1,0,1],[2,1,0]])"
    scores = {kappa: 0.5, **matrics.score(CM, "recall:class", class_names=["cat", '"dog"', "hawk, or owl"])}
    log_to(path, scores, 1)
    log_to(path, scores, 2)
    expected = {kappa: "0.5", "recall/cat": "0.8", 'recall/"dog"': "0.6", "recall/hawk, or owl": "0.75"}
    assert rows(path) == [{"step": step, **expected} for step in "12"]


def test_pandas_and_polars_read_numbers(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for name in ("a.csv", "a.jsonl"):
        log_to(tmp_path / name, {"mcc": math.nan, "odds": 2.0}, 0)
        log_to(tmp_path / name, {"mcc": 0.1, "odds": math.inf}, 1)
    table, lines = pandas.read_csv(tmp_path / "a.csv"), pandas.read_json(tmp_path / "a.jsonl", lines=True)
    assert table.dtypes.astype(str).tolist() == ["int64", "float64", "float64"]
    assert math.isnan(table["mcc"][0])
    assert table["mcc"][1] == lines["mcc"][1] == 0.1
    assert table["odds"][1] == polars.read_csv(tmp_path / "a.csv")["odds"][1] == math.inf
    assert polars.read_ndjson(tmp_path / "a.jsonl")["mcc"].to_list() == [None, 0.1]


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({**FIRST, "val/dropped": 3.0}, "got 'val/dropped' more: log to another file, or to a .jsonl file"),
        ({"val/mcc": 0.5, "val/odds": 1.0}, "got 'val/recall/é' less"),
        ({"loss": 0.5}, "got 'loss' more and 'val/mcc', 'val/recall/é', 'val/odds' less"),
    ],
)
@pytest.mark.parametrize("ending", ["", "1,0.25,Na"])
def test_other_columns_leave_the_file_as_it_was(
    tmp_path: Path, scores: dict[str, float], says: str, ending: str
) -> None:
    path = tmp_path / "a.csv"
    log_to(path, FIRST, 0)
    with path.open("a", encoding="utf-8") as file:
        file.write(ending)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=says):
        log_to(path, scores, 1)
    assert path.read_bytes() == before


def test_a_file_that_is_no_log_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("name,age\nAda,36", "utf-8")
    with pytest.raises(ValueError, match="expected the columns of"):
        log_to(path, FIRST, 0)
    assert path.read_text("utf-8") == "name,age\nAda,36"
    path.write_text("step,a,a\n", "utf-8")
    with pytest.raises(ValueError, match="a name twice"):
        log_to(path, {"a": 1.0}, 0)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_killed_at_any_byte_and_resumed(tmp_path: Path, ending: str) -> None:
    """Whatever is left of a file, the next step follows a whole line, and what was removed is said."""
    path, scores = tmp_path / f"a.{ending}", {"é": math.nan, "mcc": 0.375}
    log_to(path, scores, 0)
    one = path.read_bytes()
    log_to(path, scores, 1)
    two = path.read_bytes()
    for size in range(len(two) + 1):
        path.write_bytes(two[:size])
        half = two[:size].rpartition(b"\n")[2]
        whole = ending == "jsonl" and half.endswith(b"}")
        if half and not whole:
            with pytest.warns(RuntimeWarning, match="the last line was incomplete") as said:
                log_to(path, scores, 2)
            assert repr(half.decode(errors="replace")) in str(said[0].message)
            assert said[0].filename == __file__
        else:
            log_to(path, scores, 2)
        read = rows(path) if ending == "csv" else objects(path)
        steps = [0] * (size >= len(one) - whole) + [1] * (size >= len(two) - whole) + [2]
        assert [int(row["step"]) for row in read] == steps, size
        assert all(list(row) == ["step", *scores] for row in read)
        assert float(read[-1]["mcc"]) == 0.375


def test_a_half_line_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    log_to(path, FIRST, 0)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"step": 1, "' + "x" * 2 * BLOCK)
    with pytest.warns(RuntimeWarning, match="incomplete"):
        log_to(path, SECOND, 1)
    assert [line["step"] for line in objects(path)] == [0, 1]


def test_a_last_line_of_something_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("[1, 2, 3", "utf-8")
    log_to(path, {"loss": 0.5}, 1)
    assert path.read_text("utf-8") == '[1, 2, 3\n{"step": 1, "loss": 0.5}\n'


@pytest.mark.parametrize("mode", ["w", "a", "x"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "ndjson"])
def test_open_files(tmp_path: Path, mode: str, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    with path.open(mode, encoding="utf-8", newline="") as file:
        log_to(file, FIRST, 0)
        log_to(file, SECOND, 1)
        if ending == "csv":
            with pytest.raises(ValueError, match="expected the columns of"):
                log_to(file, {"loss": 0.5}, 2)
    assert [int(row["step"]) for row in (rows(path) if ending == "csv" else objects(path))] == [0, 1]


def test_a_file_that_was_opened_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    log_to(path, FIRST, 0)
    whole = path.read_bytes()
    path.write_bytes(whole + b"1,0.2")
    with path.open("a", encoding="utf-8", newline="") as file:
        with pytest.warns(RuntimeWarning, match=r"'1,0.2'"):
            log_to(file, SECOND, 1)
        log_to(file, THIRD, 2)
    assert [row["val/mcc"] for row in rows(path)] == ["0.125", "0.25", "0.375"]


def test_a_header_that_excel_has_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfstep,loss\r\n0,1.0\r\n")
    log_to(path, {"loss": 0.5}, 1)
    assert path.read_bytes() == b"\xef\xbb\xbfstep,loss\r\n0,1.0\r\n1,0.5\n"


def test_a_name_with_a_carriage_return_is_one_cell(tmp_path: Path) -> None:
    """Readers end a line at a carriage return that is not in quotes."""
    path = tmp_path / "run.csv"
    CsvFile(path).write({"a\rb": 0.5}, 1)
    assert path.read_bytes() == b'step,"a\rb"\n1,0.5\n'
