"""Files of hostile sizes are refused, or read, in little memory."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

# The largest memory of the command beyond that of its libraries, in MiB.
COMMAND = """
import resource, sys
sys.argv = ["matrics", *sys.argv[1:]]
from matrics.cli import app, main
import pyarrow.csv, pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    main()
finally:
    print("peak", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


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


@pytest.mark.skipif(sys.platform == "win32", reason="resource is of Unix")
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\n" * 40_000_000, "expected a matrix or columns y_true and y_pred, got an empty file"),
        (b"\n" * 40_000_000 + ROWS, None),
        (ROWS + b"\n" * 40_000_000, None),
        (b"x" * 200_000_000, "expected names of columns, got a line of more than"),
        (ROWS + b"x" * 200_000_000, "expected lines of at most"),
        (ROWS + b'0,"' + b"x\n" * 100_000_000, "expected every quote that opens a cell to be closed"),
    ],
    ids=["blank lines", "blank lines before", "blank lines behind", "an endless header", "an endless line", "a quote"],
)
def test_small_archives_of_large_texts(tmp_path, content, expected):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content, 1))
    code, err, peak = run(tmp_path, "score", "x.csv.gz", "--metrics", "mcc")
    if expected is None:
        assert (code, err) == (0, "")
    else:
        assert (code, expected in err) == (2, True), err
        assert len(err) < 300
    assert peak < 600


def test_nested_metadata_are_no_traceback(tmp_path):
    about = '{"matrics": "counts", "version": ' + "[" * 100_000 + "]" * 100_000 + "}"
    table = pa.table({"y_true": [0], "y_pred": [0], "count": [1]}).replace_schema_metadata({b"matrics": about.encode()})
    pq.write_table(table, tmp_path / "x.parquet")
    code, err, _ = run(tmp_path, "score", "x.parquet")
    assert (code, err) == (
        2,
        "x.parquet: expected what matrics count has written, got something else: the file is damaged",
    )
    with pytest.raises(RecursionError):  # or the test above shows nothing
        json.loads(about)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_small_archive_of_a_large_array(tmp_path, order):
    shape = (1, 12_000, 12_000) if order == "C" else (150, 1000, 1000)
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(shape, order=order))
    code, err, peak = run(tmp_path, "score", "x.npz", "--metrics", "accuracy")
    assert code == 2
    assert err.startswith("x.npz: expected arrays of numbers written by numpy.savez: 'a' of shape ")
    assert err.endswith("MB in the file: save it by numpy.save, which is read in place")
    assert peak < 100


def test_an_archive_of_many_arrays_is_opened_once_to_be_read(tmp_path, monkeypatch):
    zipfile = pytest.importorskip("matrics.files.npz").zipfile
    read = pytest.importorskip("matrics.files.matrices").read
    names = pytest.importorskip("matrics.files.names").Names()
    np.savez(tmp_path / "x.npz", **{f"a{k}": np.full((2, 2), k) for k in range(300)})
    opened = []
    monkeypatch.setattr(zipfile, "ZipFile", lambda *given, make=zipfile.ZipFile: opened.append(given) or make(*given))
    source = read(tmp_path / "x.npz", names, None)
    assert source.block(0, 300)[:, 0, 0].tolist() == list(range(300))
    assert len(opened) == 2  # for the headers, and for the numbers
