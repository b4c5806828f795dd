"""Text files on the command line: no row of them may vanish, whatever is wrong with their quotes and separators."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import done

import matrics

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from matrics._files.matrices import read  # noqa: E402
from matrics._files.names import Names  # noqa: E402

CROSSTAB = "y_true,cat,dog,owl\ncat,8,2,0\ndog,1,9,0\nowl,3,0,5\n"
COUNTS = np.array([[8, 2, 0], [1, 9, 0], [3, 0, 5]])


def write(name, content):
    content = content.encode() if isinstance(content, str) else content
    Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


def refusal(command, content, *options, name="x.csv"):
    """What is said of a file after its name."""
    write(name, content)
    code, out, err = command("score", name, *options)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    return err.removeprefix(f"matrics: {name}: ").rstrip("\n")


def recalls(command, name, *options):
    """The number of samples, and every class with its recall."""
    out = done(command, "score", name, "--metrics", "recall:class", *options)
    samples = int(re.search(r"([\d,]+) samples?$", out.splitlines()[0]).group(1).replace(",", ""))
    return samples, dict(re.findall(r"^recall of (?:class )?(.*?) +(\d\.\d+|–)", out, re.MULTILINE))


# Rows ---------------------------------------------------------------------------------------------------------------


def thousand(row, line, end="\n"):
    """A file of 1,000 rows, with this one in this line of the file."""
    lines = ["id,y_true,y_pred,text", *(f"{k},{k % 2},{k % 3 % 2},text {k}" for k in range(1, 1001))]
    lines[line - 1] = row
    return end.join(lines) + end


@pytest.mark.sampled(8)
@pytest.mark.exhaustive(line=[2, 500], last=[False])  # which is about the last line
@pytest.mark.exhaustive(line=[2], end=["\r\n", "\r"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("last", [True, False], ids=["line end", "no line end"])
@pytest.mark.parametrize("line", [2, 500, 1001])
@pytest.mark.parametrize("row", ['7,"0,1,x', '"7,0,1,x', '7,0,1,"x', '7,0,1,"', '7,0,"1,x""', '7,0,1,"""'])
def test_an_open_quote_is_named_by_its_line(command, row, line, last, end):
    content = thousand(row, line, end)
    said = refusal(command, content if last else content.removesuffix(end))
    assert said.startswith(f"line {line}: expected every quote that opens a cell to be closed at its end, got ")
    assert said.endswith("unexpected end of data" + ("" if line == 1001 else " in line 1001"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("7,0,1", "line 500: expected 4 cells, as in the first row, got 3"),
        ("7,0,1,x,", "line 500: expected 4 cells, as in the first row, got 5"),
        ("7,0,1,x,y", "line 500: expected 4 cells, as in the first row, got 5"),
        ("7;0;1;x", "line 500: expected 4 cells, as in the first row, got 1"),
        ("   ", "line 500: expected 4 cells, as in the first row, got 1"),
        ('7,0,1, "x, y"', "line 500: expected 4 cells, as in the first row, got 5"),
        ("7,,1,x", "line 500: expected a value in column 'y_true', got an empty cell"),
        ('7,0,"",x', "line 500: expected a value in column 'y_pred', got an empty cell"),
        ('7,"0"0,1,x', "line 500: expected every quote that opens a cell to be closed at its end"),
        ('7,"0" ,1,x', "line 500: expected every quote that opens a cell to be closed at its end"),
        ('7,"0\n7",1,x', "line 500: expected a value in column 'y_true', got the line break in '0\\n7'"),
    ],
)
def test_a_wrong_row_is_named_by_its_line(command, row, expected):
    assert refusal(command, thousand(row, 500)).startswith(expected)


def test_lines_are_those_of_an_editor(command):
    head = 'y_true,y_pred,text\r\n\r\n0,0,"two\r\n\r\nlines"\r\n\n'
    assert refusal(command, head + "0,0\r\n").startswith("line 7: ")
    assert refusal(command, head + '0,0,"\r\n0,0,x\r\n').startswith("line 7: ")
    assert refusal(command, head + ",0,x\r\n").startswith("line 7: ")
    assert refusal(command, "\n\n1,2\n\n3,x\n") == "line 5, column 2: expected a number, got 'x'"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chunk", [2**10, 3])
def test_the_line_in_later_chunks(command, monkeypatch, chunk):
    monkeypatch.setattr("matrics._files.text.CHUNK_ROWS", chunk)
    assert refusal(command, thousand("7,,1,x", 900)).startswith("line 900: expected a value in column 'y_true'")
    write("x.csv", thousand("7,0,1,x", 900))
    assert recalls(command, "x.csv")[0] == 1000


def test_two_open_quotes_do_not_swallow_labels(command):
    rows = thousand('7,0,"1,x', 500).splitlines()
    rows[699] = '7,0,1",x'
    assert refusal(command, "\n".join(rows)).startswith("line 500: expected every quote that opens a cell to be closed")
    rows = ["y_true,y_pred", '"a', 'b",a', "a,a"]  # no line within is as wide as a row
    assert refusal(command, "\n".join(rows)).startswith("line 2: expected a value in column 'y_true'")


def test_a_huge_open_quote_does_not_take_all_memory(command, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("matrics._files.text.most_letters", lambda: 1000)
        assert "field larger than field limit (1000) in line" in refusal(command, thousand('7,0,1,"x', 500))
    write("x.csv", f"y_true,y_pred,text\n0,0,{'x' * 200_000}\n")
    assert recalls(command, "x.csv")[0] == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_proper_quotes(command, end):
    rows = ["y_true,y_pred,text", '"a, b","a, b","1', '2 ""quoted"""', "", '"say ""x""",say,', 'five",five","",""', ""]
    rows[5] = 'five",five",""'
    write("x.csv", end.join(rows))
    found = {"a, b": "1.000", 'five"': "1.000", 'say "x"': "0.000", "say": "–"}
    assert recalls(command, "x.csv") == (3, found)


SMALL = 'id,y_true,y_pred,text\n1,a,b,"x, y"\n\n2,b,"b",""\n3,"a",a,"say ""so"""\n4,b,a,z\n'


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=repr)
@pytest.mark.parametrize("letter", ['"', ",", ";", "\n", '""', '"\n'], ids=repr)
def test_no_slip_anywhere_loses_a_row(tmp_path, letter, end):
    small, path = SMALL.replace("\n", end), tmp_path / "x.csv"
    for position in range(len(small) + 1):
        path.write_text(small[:position] + letter + small[position:], newline="")
        try:
            source = read(path, Names(), None)
        except ValueError as error:
            assert re.search(r"line \d+: |got no 'y_|an empty file", str(error)), error  # noqa: PT017
        else:
            assert source.block(0, source.count).sum() == 4, position


@pytest.mark.sampled(2)
@pytest.mark.parametrize("piece", range(1, 6))
def test_no_missing_letters_anywhere_lose_a_row(tmp_path, piece):
    path = tmp_path / "x.csv"
    for position in range(len("id,y_true,y_pred,text\n"), len(SMALL) - piece):
        lost = SMALL[position : position + piece]
        if "\n" in lost:
            continue
        path.write_text(SMALL[:position] + SMALL[position + piece :], newline="")
        try:
            source = read(path, Names(), None)
        except ValueError as error:
            assert re.search(r"line \d+: ", str(error)), error  # noqa: PT017
        else:
            assert source.block(0, source.count).sum() == 4, (position, lost)


# Labels -------------------------------------------------------------------------------------------------------------


def test_labels_are_taken_letter_by_letter_from_every_format(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = [(" a", "a"), ("a", "a "), ("a", "a"), ("B", "b"), ("é", "e\u0301")]
    write("x.csv", "y_true,y_pred\n" + "".join(f"{true},{pred}\n" for true, pred in rows))
    columns = dict(zip(("y_true", "y_pred"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), "x.parquet")
    text, parquet = (read(Path(f"x.{suffix}"), Names(), None) for suffix in ("csv", "parquet"))
    assert text.classes == parquet.classes == (" a", "B", "a", "a ", "b", "e\u0301", "é")
    np.testing.assert_array_equal(text.block(0, 1), parquet.block(0, 1))


def test_names_of_columns_are_taken_letter_by_letter(command):
    content = "y_true, y_pred, g\n0,0,x\n"
    assert refusal(command, content) == (
        "expected the columns y_true, y_pred, got no 'y_pred'; the columns are 'y_true', ' y_pred', ' g'"
    )
    assert command("score", "x.csv", "--pred", " y_pred", "--by", " g")[0] == 0
    pq.write_table(pa.table({"y_true": [0], " y_pred": [0]}), "x.parquet")
    assert "got no 'y_pred'" in command("score", "x.parquet")[2]


@pytest.mark.parametrize("values", [["a", ""], pa.array(["a", ""]).dictionary_encode(), pa.array(["a", None])], ids=str)
def test_empty_text_is_missing_in_every_format(command, values):
    pq.write_table(pa.table({"y_true": ["a", "a"], "y_pred": values}), "x.parquet")
    code, _, err = command("score", "x.parquet")
    assert (code, "'y_pred': expected a value in every row, got 1 missing, the first in row 2" in err) == (2, True)


@pytest.mark.parametrize(
    ("groups", "kind"),
    [
        (["10", "9", "-1"], "int64"),
        (["0.10", "1e-3", "2"], "double"),
        (["2024-01-02", "2023-12-31"], "date32[day]"),
        (["2024-01-02 10:00:00", "2024-01-02 09:00:00.5"], "timestamp[ns]"),
        (["2024-01-02T10:00:00Z", "2024-01-02T09:00:00Z"], "timestamp[ns, tz=UTC]"),
        (["01", "1"], "large_string"),
        (["1.0", "1.00"], "large_string"),
        (["x", "1"], "large_string"),
    ],
)
def test_groups_of_a_text_file(tmp_path, groups, kind):
    path = tmp_path / "x.csv"
    path.write_text("y_true,y_pred,g\n" + "".join(f"0,0,{group}\n" for group in groups))
    source = read(path, Names(by=("g",)), None)
    assert source.count == len(groups)  # two texts are two groups
    values = source.keys[0].values
    assert str(values.type) == kind
    assert values.to_pylist() == sorted(values.to_pylist())


# Options ------------------------------------------------------------------------------------------------------------


def test_by_adds_up(command):
    write("x.csv", "y_true,y_pred,a,b,c\n0,0,1,1,1\n0,0,1,1,2\n0,1,2,1,1\n1,1,2,2,1\n")
    once = command("score", "x.csv", "--by", "a,b,c", "--metrics", "accuracy,mcc")
    assert "4 matrices" in once[1]
    assert command("score", "x.csv", "--by", "a", "--by", "b", "--by", "c", "--metrics", "accuracy,mcc") == once
    assert command("score", "x.csv", "--by", "a,b", "--by", "c,a", "--metrics", "accuracy", "--metrics", "mcc") == once


def test_names_of_the_label_columns(command):
    write("x.csv", "y_true,truth,guess\n5,a,a\n5,b,a\n")
    pq.write_table(pa.table({"truth": ["a", "b"], "guess": ["a", "a"]}), "x.parquet")
    options = ("--true", "truth", "--pred", "guess")
    for name in ("x.csv", "x.parquet"):
        assert recalls(command, name, *options) == (2, {"a": "1.000", "b": "0.000"})
        assert "expected the columns truth, y_pred, got no 'y_pred'" in command("score", name, "--true", "truth")[2]
    assert "expected a matrix or columns truth and guess" in refusal(command, "", *options)
    assert "column 'guess'" in refusal(command, "truth,guess\na,\n", *options)
    pq.write_table(pa.table({"truth": ["a"], "guess": [1]}), "x.parquet")
    assert "expected truth and guess to have labels of one type" in command("score", "x.parquet", *options)[2]
    # Numbers as names of columns do not make a matrix of the file.
    write("x.csv", "1,2\n5,5\n5,6\n")
    assert recalls(command, "x.csv", "--true", "1", "--pred", "2")[0] == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--true", "a"], "--true: expected a file with columns a and y_pred, got a file of matrices: x.csv"),
        (["--pred", "a"], "--pred: expected a file with columns y_true and a, got a file of matrices: x.csv"),
        (["--pred", "y_true"], "--pred: expected a column other than the true labels, got 'y_true' for both"),
        (["--by", "a", "--by", ""], "--by: expected names of columns, got ''"),
    ],
)
def test_options_that_do_not_fit(command, options, expected):
    write("x.csv", "1,2\n3,4\n")
    assert command("score", "x.csv", *options) == (2, "", f"matrics: {expected}\n")


# Formats ------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize(
    ("suffix", "separator"), [(".csv", ","), (".csv", ";"), (".csv", "\t"), (".tsv", "\t"), (".TSV", "\t")]
)
def test_separators(command, suffix, separator, gz):
    cells = [["y_true", "y_pred", '"the, note; here"'], ["a", "a", "x"], ["b", "a", '",,;;\t"']]
    write(f"x{suffix}{gz}", "\ufeff\n" + "\n".join(separator.join(row) for row in cells))
    assert recalls(command, f"x{suffix}{gz}") == (2, {"a": "1.000", "b": "0.000"})
    write(f"x{suffix}{gz}", "".join(separator.join(map(str, row)) + "\n" for row in COUNTS))
    assert recalls(command, f"x{suffix}{gz}")[0] == COUNTS.sum()


def test_commas_in_the_header_of_a_file_with_semicolons(command):
    write("x.csv", "y_true;y_pred;a note, if any\na;a;\nb;b;x, y, z\n")
    assert recalls(command, "x.csv")[0] == 2


def test_compressed_files_that_are_not(command):
    for content in (b"y_true,y_pred\n1,1\n", gzip.compress(b"y_true,y_pred\n" + b"1,1\n" * 9999)[:40], b"\x1f\x8b\x08"):
        Path("x.csv.gz").write_bytes(content)
        code, out, err = command("score", "x.csv.gz")
        assert (code, out) == (2, "")
        assert err.startswith(
            ("matrics: x.csv.gz: expected a file compressed by gzip", "matrics: x.csv.gz: expected a whole")
        )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("y_true,y_pred\n1,1\n0,1\n", [], "standard input: 1 matrix of 2 classes, 2 samples"),
        ("truth\tpred\n1\t1\n0\t1\n", ["--true", "truth", "--pred", "pred"], "standard input: 1 matrix of 2 classes"),
        ("1;2\n3;4\n", [], "standard input: 1 matrix of 2 classes, 10 samples"),
        (CROSSTAB, [], "standard input: 1 matrix of 3 classes, 28 samples"),
        ('y_true,y_pred\n1,"1\n', [], "matrics: standard input: line 2: expected every quote"),
        ("", [], "matrics: standard input: expected a matrix or columns y_true and y_pred, got an empty file"),
    ],
)
def test_standard_input_of_the_module(content, options, expected):
    ran = subprocess.run(
        [sys.executable, "-m", "matrics", "score", "-", *options],
        input=content.encode(),
        capture_output=True,
        check=False,
    )
    assert (ran.stdout + ran.stderr).decode().startswith(expected)
    assert ran.returncode == (2 if expected.startswith("matrics: ") else 0)


# Crosstabs ----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "content",
    [
        CROSSTAB,
        "predicted,owl,dog,cat\ncat,0,2,8\ndog,0,9,1\nowl,5,0,3\n",
        ";cat;dog;owl\r\ncat;8;2;0\r\ndog;1;9;0\r\nowl;3;0;5.0",
    ],
    ids=["pandas.crosstab", "other order", "without a name"],
)
def test_crosstab(command, content):
    write("x.csv", content)
    recall, precision = (
        {name: f"{value:.3f}" for name, value in zip(("cat", "dog", "owl"), values, strict=True)}
        for values in (matrics.recall(COUNTS, average="class"), matrics.precision(COUNTS, average="class"))
    )
    assert recalls(command, "x.csv") == (28, recall)
    assert recalls(command, "x.csv", "--rows", "pred") == (28, precision)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "t,a,b\na,1,2\nc,3,4\n",
            "expected the same labels in the rows and in the columns, got no row 'b', no column 'c'",
        ),
        ("t,0,1\n0,1,2\n", "expected the same labels in the rows and in the columns, got no row '1'"),
        ("t,8,9\n" + "".join(f"{k},1,2\n" for k in range(10)), "no column '3', no column '4' and 3 more"),
        ("t,a,b,a\na,1,2,3\nb,1,2,3\n", "expected one column for each label, got several for 'a'"),
        ("t,a,b\na,1,2\nb,3,4\na,5,6\n", "expected one row for each label, got several for 'a'"),
        ("t,a,b\na,1,2\nb,3,x\n", "line 3, column 3: expected a number, got 'x'"),
        ("t,a,b\na,1,2\nb,3,\n", "line 3, column 3: expected a number, got ''"),
        ("4O,1\n1,9\n", "line 1, column 1: expected a number, got '4O'"),
        ("4O,1,2\n1,30,0\n2,0,9\n", "line 1, column 1: expected a number, got '4O'"),
        ("y_true,a,b,All\na,1,2,3\nb,0,4,4\nAll,1,6,7\n", "expected only counts, got a row and a column 'All'"),
        ("t,a,b\na, 1,2\n b,3,4\n", "got no row 'b', no column ' b'"),
    ],
)
def test_crosstabs_that_are_refused(command, content, expected):
    assert expected in refusal(command, content)


def test_two_open_quotes_that_meet(command, tmp_path):
    """What is between them is one long cell to CSV, even if nobody asks for its column; its lines are rows, though."""
    path = tmp_path / "labels.csv"
    path.write_text('y_true,y_pred,note\na,a,"oops\nb,b,x\nb,b,y"\nb,a,z\n')
    code, _, err = command("score", str(path))
    assert code == 2
    assert "line 2: expected every quote that opens a cell to be closed at its end, got a cell with whole rows" in err
    path.write_text('y_true,y_pred,note\na,a,"two lines,\nbut no row"\nb,a,z\n')
    assert command("score", str(path))[0] == 0
