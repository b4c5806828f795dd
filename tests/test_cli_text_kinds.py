"""Text files as other programs write them: Excel, NumPy, bzip2, decimal commas, and comments above the table."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")

from commands import refused  # noqa: E402

import matrics  # noqa: E402

ROWS = [(0, 0, 0.25), (0, 1, 0.5), (1, 1, 0.75), (1, 1, 0.625), (0, 0, 0.125)]
TABLE = "y_true,y_pred,score\n" + "".join(f"{true},{pred},{score}\n" for true, pred, score in ROWS)
COUNTS = [[2, 1], [0, 2]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def counts(command: Any, *arguments: str) -> Any:
    """The matrix of a file."""
    code, out, err = command("count", *arguments, "--format", "json")
    assert code == 0, err
    found = np.zeros((2, 2), int)
    for row in json.loads(out)["rows"]:
        found[int(row["y_true"]), int(row["y_pred"])] = row["count"]
    return found.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\n" + TABLE.replace(",", ";"),
        '"sep=;"\r\n' + TABLE.replace(",", ";").replace("\n", "\r\n"),
        "\ufeffSEP=,\n" + TABLE,
        "sep=|\n" + TABLE.replace(",", "|"),
        "# model 3\n# by a person, who wrote commas, here\n\n" + TABLE,
        "sep=;\n# x\n" + TABLE.replace(",", ";"),
        TABLE.replace(",", " "),
        "  " + TABLE.replace(",", "   ").replace("\n", "\n    ").rstrip(" "),
        "# " + TABLE,
        "# model 3\n#y_true y_pred score\n" + TABLE.split("\n", 1)[1].replace(",", " "),
    ],
)
def test_tables(command: Any, text: str) -> None:
    Path("t.csv").write_bytes(text.encode())
    assert counts(command, "t.csv") == COUNTS


def test_lines_of_messages(command: Any) -> None:
    """Lines that were left out count."""
    Path("t.csv").write_text("sep=;\n# x\n\ny_true;score\n1;0.5\n0;bad\n")
    message = refused(command, "curve", "t.csv", "--scores", "score")
    assert message == "t.csv: line 6: expected a number in column 'score', got 'bad'"
    Path("t.csv").write_text("# x\n# y_true score\n1 0.5\n0 bad\n")
    assert "t.csv: line 4: expected a number" in refused(command, "curve", "t.csv", "--scores", "score")


@pytest.mark.parametrize("end", ["csv", "txt", "txt.gz"])
def test_numpy_savetxt(command: Any, end: str) -> None:
    """A matrix with blanks and a comment, and labels whose header NumPy writes as a comment."""
    np.savetxt(f"m.{end}", COUNTS, header="three days of work")
    code, out, err = command("score", f"m.{end}", "--metrics", "accuracy", "--format", "json")
    assert code == 0, err
    assert json.loads(out)["rows"] == [{"accuracy": 0.8}]
    labels = np.asarray(ROWS)[:, :2].astype(int)
    for delimiter in (" ", ",", "\t"):
        np.savetxt(f"l.{end}", labels, fmt="%d", delimiter=delimiter, header=delimiter.join(["y_true", "y_pred"]))
        assert counts(command, f"l.{end}") == COUNTS


def test_no_comments_below_the_header(command: Any) -> None:
    """A sign in a label, or at the beginning of a later line, is no comment."""
    Path("t.csv").write_text("y_true,y_pred\n#a,#a\n#b,#a\n")
    code, out, err = command("count", "t.csv", "--format", "json")
    assert code == 0, err
    assert {row["y_true"] for row in json.loads(out)["rows"]} == {"#a", "#b"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["gz", "bz2", "zst"])
def test_compressed(command: Any, end: str) -> None:
    """Files by their names, and standard input by its first bytes."""
    codec = {"gz": gzip.compress, "bz2": bz2.compress}
    if end in codec:
        Path(f"t.csv.{end}").write_bytes(codec[end](TABLE.encode()))
    else:
        with pa.CompressedOutputStream("t.csv.zst", "zstd") as stream:
            stream.write(TABLE.encode())
    content = Path(f"t.csv.{end}").read_bytes()
    assert counts(command, f"t.csv.{end}") == COUNTS
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-m", "matrics", "score", "-", "--metrics", "accuracy", "--format", "csv"]
    run = subprocess.run(arguments, input=content, capture_output=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.decode().split() == ["accuracy", "0.8"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [(TABLE.encode(), "file compressed by bzip2"), (bz2.compress(TABLE.encode())[:-9], "whole compressed file")],
)
def test_damaged(command: Any, content: bytes, expected: str) -> None:
    Path("t.csv.bz2").write_bytes(content)
    assert f"t.csv.bz2: expected a {expected}" in refused(command, "count", "t.csv.bz2")


def test_decimal_commas(command: Any) -> None:
    """Scores, weights, cells and several columns of models; a point is then no part of a number."""
    Path("p.csv").write_text(TABLE)
    Path("c.csv").write_text(TABLE.replace(",", ";").replace("0.", "0,"))
    scores = ("--scores", "score", "--format", "csv")
    assert command("curve", "c.csv", *scores, "--decimal", ",")[:2] == command("curve", "p.csv", *scores)[:2]
    weights = ("--weight", "score", "--format", "csv", "--metrics", "accuracy")
    assert command("score", "c.csv", *weights, "--decimal", ",")[:2] == command("score", "p.csv", *weights)[:2]
    message = refused(command, "curve", "c.csv", "--scores", "score")
    assert "got '0,25'; --decimal reads a comma as the point of a number" in message
    Path("c.csv").write_text("y_true;score\n1;0,5\n0;1.234\n")
    message = refused(command, "curve", "c.csv", "--scores", "score", "--decimal", ",")
    assert "line 3: expected a number in column 'score', got '1.234'" in message
    Path("m.csv").write_text("tn;fp;fn;tp\n1,5;0;0;2,5\n")
    cells = ("--cells", "tn,fp,fn,tp", "--decimal", ",", "--metrics", "accuracy", "--format", "csv")
    assert command("score", "m.csv", *cells)[1].split() == ["index_0,accuracy", "0,1.0"]
    assert "--decimal: expected a point or a comma, got 'x'" in refused(command, "count", "p.csv", "--decimal", "x")


MATRIX = [[12.5, 0.25, 0], [1, 30, 2.75], [0.5, 3, 40]]


@pytest.mark.parametrize("separator", [";", "\t", "  ", '","', "sep=;", "crosstab", "crosstab with sep=;"])
def test_decimal_commas_of_matrices(command: Any, separator: str) -> None:
    """A file with nothing but a matrix, or a crosstab, has the values of the same file with points."""
    numbers = [[f"{cell:g}".replace(".", ",") for cell in row] for row in MATRIX]
    quote = '"' if separator == '","' else ""
    between = separator if separator in {";", "\t", "  ", '","'} else ";"
    lines = [quote + between.join(row) + quote for row in numbers]
    if separator.startswith("crosstab"):
        lines = [";a;b;c", *(f"{label};{line}" for label, line in zip("abc", lines, strict=True))]
    lines = ["sep=;", *lines] if "sep=" in separator else lines
    Path("m.csv").write_text("\n".join(lines) + "\n")
    code, out, err = command("score", "m.csv", "--decimal", ",", "--metrics", "accuracy,mcc", "--format", "csv")
    assert code == 0, err
    values = [float(text) for text in out.splitlines()[1].split(",")]
    expected = matrics.score(MATRIX, ["accuracy", "mcc"])
    assert values == pytest.approx([float(expected["accuracy"]), float(expected["mcc"])], rel=1e-12)
    assert values[0] == pytest.approx(82.5 / 90)


def test_decimal_commas_of_wrong_matrices(command: Any) -> None:
    """A point is no part of a number; without the option the message names it."""
    Path("m.csv").write_text("12,5;0,25\n1;1.234\n")
    message = refused(command, "score", "m.csv", "--decimal", ",")
    assert message == "m.csv: line 2, column 2: expected a number, got '1.234'"
    hint = "; --decimal reads a comma as the point of a number"
    for text, cell in (("12,5;0,25\n1,5;3,5\n", "5;0"), ("1;0\n1,5;3,5\n", "1,5")):
        Path("m.csv").write_text(text)
        message = refused(command, "score", "m.csv")
        assert f"expected a number, got {cell!r}{hint}" in message
    Path("m.csv").write_text("# y_true;score\n1;0,5;0,75\n0;0,25;0,5\n".replace("score", "score;other"))
    values = command("curve", "m.csv", "--scores", "score", "--decimal", ",", "--format", "csv")[1]
    assert [row.split(",")[0] for row in values.splitlines()[1:]] == ["inf", "0.5", "0.25"]


def test_decimal_of_arrays(command: Any) -> None:
    np.save("m.npy", np.asarray(MATRIX))
    for option, value in (("decimal", ","), ("encoding", "latin-1")):
        message = refused(command, "score", "m.npy", f"--{option}", value)
        assert message == f"--{option}: expected a text file with this option, got m.npy"


def test_decimal_of_sheets(command: Any) -> None:
    """Cells of a sheet are numbers, whatever its program shows."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    pandas.DataFrame(MATRIX).to_excel("m.xlsx", header=False, index=False)
    message = refused(command, "score", "m.xlsx", "--decimal", ",")
    assert message == "--decimal: expected a text file with this option, got m.xlsx"


def test_decimal_of_other_files(command: Any) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(ROWS, columns=["y_true", "y_pred", "score"]).to_parquet("p.parquet")
    message = refused(command, "count", "p.parquet", "--decimal", ",")
    assert message == "--decimal: expected a text file with this option, got p.parquet"
