"""Archives and workbooks whose members are large, named twice or damaged: an error that names the file."""

import contextlib
import gzip
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
npz = pytest.importorskip("matrics._files.npz")

SHEET = '<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row>{}</sheetData></worksheet>'
FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
ROWS = '<table:table-row table:number-rows-repeated="{}"><table:table-cell {}/></table:table-row>'
NAMESPACES = 'xmlns:table="t" xmlns:office="o"'


def archive(name, *members):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names that are there already
        for member, content in members:
            made.writestr(member, content)


def ods(*rows):
    return f"<table:table {NAMESPACES}>{''.join(rows)}</table:table>"


WORKBOOKS = {
    "the last cell.xlsx": ("xl/worksheets/sheet1.xml", SHEET.format(FAR), "1,048,576 rows and 16,384 columns"),
    "a sheet of another name.xlsx": ("a.bin", SHEET.format(FAR), "1,048,576 rows and 16,384 columns"),
    "without addresses.xlsx": ("xl/a.xml", SHEET.format("<row>" + "<c/>" * 999 + "<c><v/></c></row>"), None),
    "texts.xlsx": (
        "xl/sharedStrings.xml",
        lambda: b" " * (2**28 // 5 + 1),
        "got 53,687,092 bytes in 'xl/sharedStrings.xml'",
    ),
    "styles.xlsx": ("xl/styles.xml", lambda: b" " * (2**23 + 1), "got 8,388,609 bytes in 'xl/styles.xml'"),
    "a long text.xlsx": ("xl/worksheets/a.xml", lambda: b"<c>" + b"a" * 2**21, "1/256 of 256 MiB, the limit of"),
    "the last cell.ods": (
        "content.xml",
        ods(ROWS.format(1048575, ""), ROWS.format(1, 'table:number-columns-repeated="16384" office:value-type="x"')),
        "1,048,576 rows and 16,384 columns",
    ),
    "empty rows.ods": ("content.xml", ods(ROWS.format(1048576, 'table:number-columns-repeated="16384"')), None),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", WORKBOOKS)
def test_a_workbook_is_measured_before_it_is_read(command, name):
    pytest.importorskip("pandas")
    member, content, expected = WORKBOOKS[name]
    archive(name, (member, content() if callable(content) else content))
    code, out, err = command("count", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"matrics: {name}: expected a sheet that pandas can read, got: ") or expected is None
    assert (expected or "") in err
    assert ("MATRICS_MAX_MEMBER_MIB" in err) == (expected is not None)


def test_the_limit_of_a_workbook_can_be_raised(command, monkeypatch):
    pytest.importorskip("pandas")
    archive("x.xlsx", ("xl/worksheets/a.xml", SHEET.format(FAR)))
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "600000")
    assert "MATRICS_MAX_MEMBER_MIB" not in command("count", "x.xlsx")[2]
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "1e3")
    err = command("count", "x.xlsx")[2]
    assert "MATRICS_MAX_MEMBER_MIB: expected a whole number of MiB, got '1e3'" in err


def test_not_enough_memory_is_no_fault_of_a_sheet(command, monkeypatch):
    pandas = pytest.importorskip("pandas")
    archive("x.xlsx", ("a.xml", "<a/>"))

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(pandas, "ExcelFile", fail)
    assert command("count", "x.xlsx") == (2, "", "matrics: not enough memory\n")


def test_members_of_one_name(command):
    np.save("a.npy", np.eye(2, dtype=int))
    array = Path("a.npy").read_bytes()
    header = json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}})
    archive("x.npz", ("a.npy", array), ("a.npy", array))
    archive("x.eval", ("header.json", header), ("summaries.json", "[]"), ("summaries.json", "[]"))
    for name in ("x.npz", "x.eval"):
        code, out, err = command("score", name)
        assert (code, out) == (2, "")
        assert err.startswith(f"matrics: {name}: expected")
        assert "expected members of different names, got two of the name" in err


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["npy", "npz"])
@pytest.mark.parametrize("shape", ["(True, 2, 2)", "(2, True)", "(2.0, 2, 2)"])
def test_a_shape_that_is_no_numbers(command, kind, shape):
    np.save("x.npy", np.ones((1, 2, 2)))
    content = Path("x.npy").read_bytes()
    length = len(b"(1, 2, 2)") - len(shape)
    # The header ends with spaces, which a longer shape replaces.
    damaged = content.replace(b"(1, 2, 2), }" + b" " * max(0, -length), f"{shape}, }}".encode() + b" " * max(0, length))
    assert len(damaged) == len(content)
    Path("x.npy").write_bytes(damaged)
    archive("x.npz", ("a.npy", damaged))
    code, out, err = command("score", f"x.{kind}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"matrics: x.{kind}: expected a")


def test_damaged_archives_are_no_fault_of_an_output(tmp_path):
    random = np.random.default_rng(0)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.arange(18).reshape(2, 3, 3), b=np.ones((2, 3, 3), int))
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    read = 0
    for _ in range(120):
        damaged = whole.copy()
        places = random.integers(0, len(whole), 3)
        damaged[places] = random.integers(0, 256, 3)
        path.write_bytes(damaged.tobytes())
        # No OSError, which would be reported without a name, or with that of an output.
        with contextlib.suppress(ValueError):
            npz.NpzStack(path, npz.members(path)).read(0, 4)
            read += 1
    assert read < 60


# Text that expands --------------------------------------------------------------------------------------------------

LINE = b'{"sample": 1, "target": "a", "prediction": "b"}\n'
EXPANDING = {
    "many lines.jsonl.gz": ([LINE * 30_000], "1/4 of 1 MiB, the limit of the environment variable"),
    "a long line.jsonl.gz": ([b" " * 2**20], "line 1: expected lines of at most 262,144 bytes"),
    "many lists.jsonl.gz": ([b'{"a": [' + b"[]," * 5000 + b"[]]}\n"] * 5, "1/4 of 1 MiB"),
    "a crosstab.csv.gz": ([b"y" + b",0" * 400 + b"\n"] + [b"0" + b",0" * 400 + b"\n"] * 400, "1/4 of 1 MiB"),
    "numbers.csv.gz": ([b"0" + b",0" * 399 + b"\n"] * 400, "1/4 of 1 MiB"),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", EXPANDING)
def test_a_small_file_of_much_text(command, monkeypatch, name):
    """The limit is lowered for this: the default would take seconds."""
    lines, expected = EXPANDING[name]
    Path(name).write_bytes(gzip.compress(b"".join(lines)))
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "1")
    code, out, err = command("score", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"matrics: {name}: ")
    assert expected in err
    monkeypatch.delenv("MATRICS_MAX_MEMBER_MIB")
    assert "MATRICS_MAX_MEMBER_MIB" not in command("score", name)[2]


def test_a_log_that_expands(command, monkeypatch):
    header = json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}})
    score = {"match": {"value": "C", "answer": "a"}}
    samples = [{"id": k, "epoch": 1, "target": "a", "scores": score, "messages": ["x" * 200_000]} for k in range(9)]
    places = [(f"samples/{one['id']}_epoch_1.json", json.dumps(one)) for one in samples]
    archive("whole.eval", ("header.json", header), ("summaries.json", json.dumps(samples)))
    archive("parts.eval", ("header.json", header), *places)
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "1")
    code, _, err = command("score", "whole.eval", "--metrics", "accuracy")
    assert (code, "whole.eval: expected members of at most 1 MiB" in err) == (2, True)
    # Of each sample alone only the grades are kept.
    assert command("score", "parts.eval", "--metrics", "accuracy")[0] == 0


def test_more_groups_than_are_kept(command, monkeypatch):
    """Each different value of a column is kept, so that a file of groups alone takes a multiple of its size."""
    lines = [b"group,y_true,y_pred\n", *(b"group %d,0,1\n" % number for number in range(30_000))]
    Path("groups.csv.gz").write_bytes(gzip.compress(b"".join(lines)))
    options = ("count", "groups.csv.gz", "--by", "group", "--output", "counts.parquet")
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "1")
    code, _, err = command(*options)
    assert (code, err.count("\n")) == (2, 1)
    assert "column 'group': expected distinct values of at most 262,144 bytes, 1/4 of 1 MiB" in err
    assert not Path("counts.parquet").exists()
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "4")
    assert command(*options)[0] == 0
