"""Files of hostile sizes are refused, or read, in little memory."""

import contextlib
import gzip
import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# The largest memory of the command beyond that of its libraries, in MiB. What ``resource`` has as the largest memory
# begins with that of the process of the tests, and so with more than the command takes.
COMMAND = """
import re, sys
from pathlib import Path
sys.argv = ["matrics", *sys.argv[1:]]
from matrics._cli import app, main
import pyarrow.csv, pyarrow.parquet
def largest():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024
before = largest()
try:
    main()
finally:
    print("peak", largest() - before)
"""
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="the largest memory is read from /proc")


def run(folder, *arguments):
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    assert len(ended.stderr.splitlines()) <= 1
    return ended.returncode, ended.stderr.removeprefix("matrics: ").strip(), int(ended.stdout.rpartition("peak ")[2])


ROWS = b"y_true,y_pred\n0,0\n1,1\n"
MILLION = 1_000_000


@pytest.mark.sampled(1)
@needs_proc
@pytest.mark.parametrize(
    ("parts", "expected", "most"),
    [  # what is repeated, how often, between what: whole texts would stay in memory as long as the process
        ((b"", b"\n", 40 * MILLION, b""), "expected a matrix or columns y_true and y_pred, got an empty file", 100),
        ((b"", b"\n", 5 * MILLION, ROWS), None, 150),
        ((ROWS, b"\n", 5 * MILLION, b""), None, 150),
        ((b"", b"x", 200 * MILLION, b""), "expected names of columns, got a line of more than", 150),
        ((ROWS, b"x", 200 * MILLION, b""), "expected lines of at most", 500),
        ((ROWS + b'0,"', b"x" * 99 + b"\n", 2 * MILLION, b""), "expected every quote that opens a cell", 600),
        ((ROWS + b'0,"', b"x\n", 100 * MILLION, b""), "expected every quote that opens a cell to be closed", 600),
    ],
    ids=[
        "blank lines",
        "blank lines before",
        "blank lines behind",
        "an endless header",
        "an endless line",
        "a quote",
        "a quote before short lines",
    ],
)
@pytest.mark.exhaustive(
    parts=[
        (ROWS, b"\n", 5 * MILLION, b""),
        (ROWS, b"x", 200 * MILLION, b""),
        (ROWS + b'0,"', b"x\n", 100 * MILLION, b""),
    ]
)
def test_small_archives_of_large_texts(tmp_path, parts, expected, most):
    before, repeated, times, behind = parts
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(before + repeated * times + behind, 1))
    code, err, peak = run(tmp_path, "score", "x.csv.gz", "--metrics", "mcc")
    if expected is None:
        assert (code, err) == (0, "")
    else:
        assert (code, expected in err) == (2, True), err
        assert len(err) < 300
    assert 0 < peak < most


def test_nested_metadata_are_no_traceback(tmp_path):
    about = '{"matrics": "counts", "version": ' + "[" * 100_000 + "]" * 100_000 + "}"
    table = pa.table({"y_true": [0], "y_pred": [0], "count": [1]}).replace_schema_metadata({b"matrics": about.encode()})
    pq.write_table(table, tmp_path / "x.parquet")
    code, err, _ = run(tmp_path, "score", "x.parquet")
    assert (code, err) == (
        2,
        "x.parquet: expected a file as written by matrics count, got different bytes: the file is damaged",
    )
    with pytest.raises(RecursionError):  # or the test above shows nothing
        json.loads(about)


REFUSED = r"at once, got .* MB in 'a' of shape .* MB in the file: save it by numpy.save, which is read in place"


@pytest.mark.exhaustive
@needs_proc
def test_a_small_archive_of_a_large_array(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("a.npy", "w", force_zip64=True) as file,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": (1, 12_000, 12_000)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(1152):
            file.write(bytes(MILLION))
    code, err, peak = run(tmp_path, "score", "x.npz", "--metrics", "accuracy")
    assert code == 2
    assert err.startswith("x.npz: expected arrays of numbers written by numpy.savez: ")
    assert re.search(f"{REFUSED}$", err)
    assert peak < 100


@pytest.mark.parametrize(("order", "refused"), [("C", False), ("F", True)])
def test_an_array_of_columns_is_read_at_once(tmp_path, monkeypatch, order, refused):
    """One of rows is read by the matrix."""
    npz = pytest.importorskip("matrics._files.npz")
    monkeypatch.setenv("MATRICS_MAX_MEMBER_MIB", "1")
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros((150, 100, 100), order=order))
    with pytest.raises(ValueError, match=REFUSED) if refused else contextlib.nullcontext():
        npz.members(tmp_path / "x.npz")


def test_an_archive_of_many_arrays_is_opened_once_to_be_read(tmp_path, monkeypatch):
    zipfile = pytest.importorskip("matrics._files.npz").zipfile
    read = pytest.importorskip("matrics._files.matrices").read
    names = pytest.importorskip("matrics._files.names").Names()
    np.savez(tmp_path / "x.npz", **{f"a{k}": np.full((2, 2), k) for k in range(300)})
    opened = []
    monkeypatch.setattr(zipfile, "ZipFile", lambda *given, make=zipfile.ZipFile: opened.append(given) or make(*given))
    source = read(tmp_path / "x.npz", names, None)
    assert source.block(0, 300)[:, 0, 0].tolist() == list(range(300))
    assert len(opened) == 2  # for the headers, and for the numbers
