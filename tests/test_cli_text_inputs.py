"""Inputs as text: several files, JSON Lines, compressed files, other encodings, missing labels, and sheets."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
RANDOM = np.random.default_rng(11)
ROWS = 90
TRUE = RANDOM.choice(["chat", "chien", "été"], ROWS)
PRED = np.where(RANDOM.random(ROWS) < 0.7, TRUE, "chat")
SCORE = RANDOM.random(ROWS)
MODEL = RANDOM.choice(["x", "y"], ROWS)
SCORE_OPTIONS = ["--by", "model", "--metrics", "accuracy,mcc"]
CURVE = ["--scores", "score", "--positive", "chat", "--by", "model", "--metrics", "mcc", "--thresholds", "0.3,0.6"]


def lines(rows: Any = None) -> list[str]:
    found = range(ROWS) if rows is None else rows
    return [f"{k},{MODEL[k]},{TRUE[k]},{PRED[k]},{SCORE[k]!r}".replace("np.float64(", "").rstrip(")") for k in found]


HEAD = "id,model,y_true,y_pred,score"
TEXT = "\n".join([HEAD, *lines()]) + "\n"


@pytest.fixture(autouse=True)
def _here(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("whole.csv").write_text(TEXT, "utf-8")


def rows(command: Any, *arguments: Any, said: str = "") -> list[dict[str, Any]]:
    code, out, err = command(*arguments, "--format", "json")
    assert code == 0, err
    assert err.startswith(said) if said else not err, err
    return list(json.loads(out)["rows"])


def split() -> None:
    Path("part").mkdir()
    for k in range(3):
        Path(f"part/{k}.csv").write_text("\n".join([HEAD, *lines(range(k, ROWS, 3))]) + "\n", "utf-8")


def json_lines(name: str = "whole.jsonl", skip: int = 1) -> None:
    records = [
        {"id": k, "model": MODEL[k], "y_true": TRUE[k], "y_pred": PRED[k], "score": SCORE[k], "tags": ["a"]}
        for k in range(0, ROWS, skip)
    ]
    Path(name).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def zipped(name: str, text: bytes, how: str) -> None:
    Path(name).write_bytes(gzip.compress(text) if how == "gzip" else pa.compress(text, how, asbytes=True))


FILES: dict[str, tuple[Any, str, list[str]]] = {
    "pattern": (split, "part/*.csv", []),
    "folder": (split, "part", []),
    "JSON Lines": (json_lines, "whole.jsonl", []),
    "zstd": (lambda: zipped("whole.csv.zst", TEXT.encode(), "zstd"), "whole.csv.zst", []),
    "two frames of zstd": (
        lambda: Path("two.csv.zst").write_bytes(
            b"".join(pa.compress(part, "zstd", asbytes=True) for part in (TEXT.encode()[:777], TEXT.encode()[777:]))
        ),
        "two.csv.zst",
        [],
    ),
    "tabs in zstd": (lambda: zipped("t.tsv.zst", TEXT.replace(",", "\t").encode(), "zstd"), "t.tsv.zst", []),
    "latin-1": (lambda: Path("l.csv").write_bytes(TEXT.encode("latin-1")), "l.csv", ["--encoding", "latin-1"]),
    "utf-16": (lambda: Path("u.csv").write_bytes(TEXT.encode("utf-16")), "u.csv", ["--encoding", "UTF-16"]),
    "latin-1 in gzip": (
        lambda: zipped("l.csv.gz", TEXT.encode("cp1252"), "gzip"),
        "l.csv.gz",
        ["--encoding", "cp1252"],
    ),
}


@pytest.mark.exhaustive
@pytest.mark.exhaustive(case=["two frames of zstd", "tabs in zstd", "latin-1 in gzip"])
@pytest.mark.parametrize("case", FILES)
def test_every_command_reads_it_as_it_reads_one_plain_file(command: Any, case: str) -> None:
    make, path, options = FILES[case]
    make()
    commands: dict[str, list[str]] = {
        "score": SCORE_OPTIONS,
        "interval": SCORE_OPTIONS,
        "count": ["--by", "model"],
        "compare": ["--by", "model", "--metrics", "mcc"],
        "curve": CURVE,
        "threshold": [*CURVE[:6], "--metric", "f1", "--metrics", "mcc", "--num", "0"],
    }
    for name, arguments in commands.items():
        assert rows(command, name, path, *options, *arguments) == rows(command, name, "whole.csv", *arguments), name


def test_the_values_are_those_of_the_library(command: Any) -> None:
    split()
    for one in rows(command, "score", "part/*.csv", *SCORE_OPTIONS):
        mine = one["model"] == MODEL
        known = np.unique(TRUE)
        table = matrics.confusion_matrix(
            np.searchsorted(known, TRUE[mine]), np.searchsorted(known, PRED[mine]), num_classes=3
        )
        assert one["accuracy"] == pytest.approx(np.mean(TRUE[mine] == PRED[mine]))
        assert one["mcc"] == pytest.approx(float(matrics.mcc(table)))


def test_several_json_lines_are_one_table(command: Any) -> None:
    json_lines("a.jsonl")
    text = Path("a.jsonl").read_text("utf-8").splitlines(keepends=True)
    Path("b.jsonl").write_text("".join(text[50:]), "utf-8")
    zipped("c.jsonl.zst", "".join(text[:20]).encode(), "zstd")
    zipped("d.jsonl.gz", "".join(text[20:50]).encode(), "gzip")
    Path("a.jsonl").write_text("".join(text[:50]), "utf-8")
    whole = rows(command, "score", "whole.csv", *SCORE_OPTIONS)
    assert rows(command, "score", "[ab].jsonl", *SCORE_OPTIONS) == whole
    counts = [
        {tuple(list(one.values())[:-1]): one["count"] for one in rows(command, "count", name)}
        for name in ("a.jsonl", "c.jsonl.zst", "d.jsonl.gz")
    ]
    assert counts[0] == {
        key: counts[1].get(key, 0) + counts[2].get(key, 0) for key in counts[1].keys() | counts[2].keys()
    }


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pattern", ["part/*.csv", "part", "[ab].jsonl"])
def test_several_files_have_an_output(command: Any, pattern: str) -> None:
    split()
    json_lines("a.jsonl")
    Path("b.jsonl").write_text(Path("a.jsonl").read_text("utf-8"), "utf-8")
    given = ("score", pattern, "--metrics", "accuracy")
    wanted = rows(command, *given)
    for _ in range(2):  # the second replaces the first
        assert command(*given, "--output", "o.json")[0] == command(*given, "--output", "o.parquet")[0] == 0
    assert json.loads(Path("o.json").read_text("utf-8"))["rows"] == wanted == pq.read_table("o.parquet").to_pylist()
    first = "a.jsonl" if "jsonl" in pattern else "part/0.csv"
    Path("link.md").symlink_to(first)
    refused = "a name outside of the input" if pattern == "part" else "a file other than the input"
    assert command(*given, "--output", "link.md")[2].startswith(f"matrics: --output: expected {refused}")


def test_a_folder_of_one_file_and_matrices_in_several(command: Any) -> None:
    Path("alone").mkdir()
    Path("alone/x.csv").write_text(TEXT, "utf-8")
    assert rows(command, "score", "alone", *SCORE_OPTIONS) == rows(command, "score", "whole.csv", *SCORE_OPTIONS)
    for name, cells in (("m1.csv", "1,2,3,4"), ("m2.csv", "5,0,0,5")):
        Path(name).write_text(f"a,b,c,d\n{cells}\n")
    found = rows(command, "score", "m?.csv", "--cells", "a,b,c,d", "--metrics", "accuracy")
    assert [one["accuracy"] for one in found] == [0.5, 1.0]


def test_an_encoding_that_is_wrong_is_named(command: Any) -> None:
    Path("l.csv").write_bytes(TEXT.encode("latin-1"))
    code, out, err = command("score", "l.csv", *SCORE_OPTIONS)
    assert (code, out) == (2, "")
    assert err.startswith("matrics: l.csv: expected text in UTF-8:")
    code, out, err = command("score", "l.csv", "--encoding", "utf-16", *SCORE_OPTIONS)
    assert (code, out) == (2, "")
    assert err.startswith("matrics: l.csv: ")


def test_a_big_file_in_another_encoding(command: Any) -> None:
    """A letter of several bytes may lie on the edge of a block."""
    many = 200_000
    text = "y_true,y_pred\n" + "é€,é€\né€,b\nb,b\n" * many
    Path("big.csv").write_bytes(text.encode("utf-16"))
    counts = rows(command, "count", "big.csv", "--encoding", "utf-16")
    assert [one["count"] for one in counts] == [many] * 3


# Missing labels ------------------------------------------------------------------------------------------------------

HOLES = """\
id,model,y_true,y_pred,score
1,x,0,0,0.2
2,x,1,,0.5
3,x,10,1,0.7
4,y,,0,0.1
5,y,1,1,0.9
6,,1,1,0.8
7,y,0,1,0.3
"""


def holes(kind: str) -> str:
    Path("h.csv").write_text(HOLES)
    if kind == "csv":
        return "h.csv"
    records = [line.split(",") for line in HOLES.splitlines()[1:]]
    columns = list(zip(*records, strict=True))
    typed = {
        "model": [one or None for one in columns[1]],
        "y_true": [int(one) if one else None for one in columns[2]],
        "y_pred": [int(one) if one else None for one in columns[3]],
        "score": [float(one) for one in columns[4]],
    }
    if kind == "parquet":
        pq.write_table(pa.table(typed), "h.parquet")
    else:
        made = [dict(zip(typed, row, strict=True)) for row in zip(*typed.values(), strict=True)]
        Path("h.jsonl").write_text("".join(json.dumps(one) + "\n" for one in made))
    return f"h.{kind}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_missing_labels(command: Any, kind: str) -> None:
    path = holes(kind)
    code, out, err = command("count", path, "--by", "model", "--format", "csv")
    assert (code, out) == (2, "")
    code, out, err = command("count", path, "--by", "model", "--missing", "drop", "--format", "csv")
    assert (code, out) == (0, "model,y_true,y_pred,count\nx,0,0,1\nx,10,1,1\ny,0,1,1\ny,1,1,1\n")
    assert err.splitlines() == [
        f"matrics: {path}: left out 3 rows without a value in y_true, y_pred, model",
        f"matrics: warning: {path}: only among the true labels: '10'",
    ]
    code, out, err = command("count", path, "--missing", "class", "--format", "csv")
    assert code == 0
    assert sorted(out.splitlines()[1:]) == sorted(
        ["(missing),0,1", "0,0,1", "0,1,1", "1,(missing),1", "1,1,2", "10,1,1"]
    )
    assert "model" in command("count", path, "--by", "model", "--missing", "class")[2]  # a group must have a name
    given = ("--by", "model", "--missing", "drop", "--metrics", "accuracy")
    compared = rows(command, "compare", path, *given, said=f"matrics: {path}: left out 3 rows")
    assert [one["estimate"] for one in compared] == [0.5, 0.5]


def test_missing_scores_are_left_out(command: Any) -> None:
    Path("s.csv").write_text("y_true,score\n0,0.2\n1,\n1,0.7\n0,0.4\n,0.9\n")
    Path("t.csv").write_text("y_true,score\n0,0.2\n1,0.7\n0,0.4\n")
    given = ["--scores", "score", "--metrics", "mcc"]
    assert rows(command, "curve", "s.csv", *given, "--missing", "drop", said="matrics: s.csv: left out 2 rows") == rows(
        command, "curve", "t.csv", *given
    )
    code, _, err = command("curve", "s.csv", *given)
    assert code == 2
    assert "expected a value in column 'y_true', got an empty cell" in err


def test_missing_labels_where_all_labels_are_there_change_nothing(command: Any) -> None:
    numbers = "y_true,y_pred\n2,2\n10,10\n9,10\n"
    Path("n.csv").write_text(numbers)
    pq.write_table(pa.table({"y_true": [2, 10, 9], "y_pred": [2, 10, 10]}), "n.parquet")
    for name in ("n.csv", "n.parquet"):
        code, out, _ = command("score", name, "--metrics", "recall:class", "--missing", "class", "--format", "csv")
        assert code == 0
        assert out.splitlines()[0] == "recall of class 2,recall of class 9,recall of class 10"


def test_an_output_has_no_rows_that_were_left_out(command: Any) -> None:
    text = "y_true,y_pred\n" + "a,a\n,a\nb,a\n" * 1000
    Path("r.csv").write_text(text)
    code, out, err = command("count", "r.csv", "--missing", "drop", "--output", "c.parquet")
    assert code == 0, err
    assert "2,000 samples" in out
    assert "left out 1,000 rows" in err
    assert rows(command, "count", "c.parquet", said="matrics: warning: c.parquet: only among the true labels") == [
        {"y_true": "a", "y_pred": "a", "count": 1000},
        {"y_true": "b", "y_pred": "a", "count": 1000},
    ]


# Sheets --------------------------------------------------------------------------------------------------------------


def test_sheets_of_excel(command: Any) -> None:
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    pandas.read_csv("whole.csv").to_excel("whole.xlsx", index=False)
    assert rows(command, "score", "whole.xlsx", *SCORE_OPTIONS) == rows(command, "score", "whole.csv", *SCORE_OPTIONS)
    assert rows(command, "curve", "whole.xlsx", *CURVE) == rows(command, "curve", "whole.csv", *CURVE)
    holes("csv")
    pandas.read_csv("h.csv").to_excel("h.xlsx", index=False)
    found = rows(command, "count", "h.xlsx", "--missing", "drop", said="matrics: h.xlsx: left out 2 rows")
    assert sum(one["count"] for one in found) == 5
    pandas.DataFrame({"y_true": [1, "one"], "y_pred": ["one", 1]}).to_excel("mixed.xlsx", index=False)
    assert {one["y_true"] for one in rows(command, "count", "mixed.xlsx", said="matrics: warning: mixed.xlsx")} == {
        "1",
        "one",
    }
    Path("broken.xlsx").write_text("no sheet")
    code, out, err = command("score", "broken.xlsx")
    assert (code, out) == (2, "")
    assert err.startswith("matrics: broken.xlsx: expected a sheet that pandas can read, got")


def test_sheets_need_pandas(command: Any, monkeypatch: Any) -> None:
    Path("x.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    code, out, err = command("score", "x.xlsx")
    assert (code, out) == (2, "")
    assert "sheets need pandas and its reader: python -m pip install pandas openpyxl" in err


WRONG = {
    "missing": (["score", "whole.csv", "--missing", "no"], "--missing: expected error, drop or class, got 'no'"),
    "encoding": (
        ["score", "whole.csv", "--encoding", "klingon"],
        "--encoding: expected an encoding of Python, such as",
    ),
    "no text": (["score", "whole.csv", "--encoding", "base64"], "--encoding: expected an encoding of Python, such as"),
    "other file": (
        ["score", "m.parquet", "--encoding", "latin-1"],
        "--encoding: expected a text file with this option, got",
    ),
    "matrices": (["score", "m.npy", "--missing", "drop"], "--missing: expected a file with columns y_true and y_pred"),
    "cells": (["score", "m.csv", "--cells", "a,b,c,d", "--missing", "drop"], "--missing: expected no such option with"),
    "truncated": (["score", "cut.csv.zst"], "cut.csv.zst: expected a file compressed by zstd: "),
    "not zstd": (["score", "plain.csv.zst"], "plain.csv.zst: expected a file compressed by zstd: "),
    "all left out": (
        ["score", "none.csv", "--missing", "drop"],
        "none.csv: expected at least one row of labels, got none: left out 1 row without a value in y_true, y_pred",
    ),
    "one has no column": (["compare", "part/*.csv", "--by", "model"], "part/x.csv: expected the columns"),
    "mixed lines": (["score", "*.jsonl"], "*.jsonl: b.jsonl: expected lines that are no evaluation, as in a.jsonl"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_one_line(command: Any, case: str) -> None:
    split()
    Path("part/x.csv").write_text("y_true,y_pred\na,a\n")
    pq.write_table(pa.table({"y_true": ["a"], "y_pred": ["a"]}), "m.parquet")
    np.save("m.npy", np.eye(2))
    Path("m.csv").write_text("a,b,c,d\n1,2,3,4\n")
    Path("cut.csv.zst").write_bytes(pa.compress(TEXT.encode(), "zstd", asbytes=True)[:-9])
    Path("plain.csv.zst").write_text(TEXT, "utf-8")
    Path("none.csv").write_text("y_true,y_pred\na,\n")
    Path("a.jsonl").write_text('{"y_true": 1, "y_pred": 1}\n')
    Path("b.jsonl").write_text('{"sample": 1, "score": 1}\n')
    arguments, expected = WRONG[case]
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"matrics: {expected}"), err
