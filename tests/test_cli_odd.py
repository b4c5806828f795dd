"""Odd types of columns, odd places for outputs, and numbers at the end of their range, on the command line."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import done, refused

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
wide = pytest.importorskip("matrics._files.matrix_rows")
batches = pytest.importorskip("matrics._files.rows")

LABELS = {"y_true": ["cat", "dog", "cat"], "y_pred": ["cat", "dog", "dog"]}


def parquet(name, **columns):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({**LABELS, **columns}), name)


# Outputs --------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("task", "path", "output"),
    [
        ("score", "in", "in/k=1/x.parquet"),
        ("score", "in/*/*.parquet", "in/k=1/x.parquet"),
        ("score", "in", "in/new.csv"),
        ("score", "in", "in/new/"),
        ("count", "in/*/*.parquet", "in/k=1/x.parquet"),
        ("count", "in", "in/new.npz"),
    ],
)
def test_an_output_among_the_inputs(command, task, path, output):
    """It would replace a file that is read, or be read as data the next time."""
    parquet("in/k=1/x.parquet")
    before = Path("in/k=1/x.parquet").read_bytes()
    assert refused(command, task, path, "--output", output).startswith("--output: expected ")
    assert Path("in/k=1/x.parquet").read_bytes() == before
    assert [str(file) for file in Path("in").rglob("*.*")] == [os.path.join("in", "k=1", "x.parquet")]  # noqa: PTH118


def test_a_hidden_output_is_none_of_the_inputs(command):
    parquet("in/x.parquet")
    done(command, "score", "in", "--metrics", "mcc", "--output", "in/_scores.csv")
    assert "3 samples" in done(command, "score", "in", "--metrics", "mcc")


def test_an_output_without_a_name(command):
    np.save("x.npy", np.ones((2, 2)))
    empty = Path("empty")
    empty.mkdir()
    os.chdir(empty)
    said = refused(command, "score", "../x.npy", "--output", "")
    assert said.startswith("--output: expected a name that ends in .csv or .parquet")
    assert said.endswith("got ''")


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of Unix")
@pytest.mark.exhaustive(closed=[">&-", "2>&-"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_streams_that_are_closed(tmp_path, closed):
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    line = f"{sys.executable} -m matrics score x.npy --metrics mcc --output x.csv {closed}"
    ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "x.csv").read_text().startswith("mcc")


# Inputs ---------------------------------------------------------------------------------------------------------------


def test_a_file_that_is_named_twice(command):
    """Its rows would count twice, and nobody would see it."""
    parquet("in/x.parquet")
    Path("x.csv").write_text("y_true,y_pred\na,a\n")
    done(command, "count", "x.csv", "--output", "x_counts.parquet")
    twice = "expected each file once, got this file twice"
    for what, *given in (
        ("count", "in", "in/x.parquet"),
        ("count", "x.csv", "./x.csv"),
        ("merge", "x_counts.parquet", "x_counts.parquet"),
    ):
        assert refused(command, what, *given, "--output", "y.parquet") == f"{Path(given[1])}: {twice}"
    assert not Path("y.parquet").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_where_files_are_expected(command):
    for name in ("x.npy", "x.parquet"):
        os.mkfifo(name)
        said = refused(command, "score", name)
        assert said == f"{name}: expected a file that can be read in any order, got a pipe or a device"


def test_arrays_where_tables_are_expected(command):
    np.save("x.npy", np.ones((2, 2)))
    said = refused(command, "score", "x.npy", "--cells", "a,b,c,d")
    assert said == "x.npy: expected only text files or only Parquet files, got .npy"


# Types ----------------------------------------------------------------------------------------------------------------


def test_groups_of_bytes(command):
    values = pa.array([b"a", b"\xff", b"a"])
    parquet("x.parquet", g=values)
    done(command, "count", "x.parquet", "--by", "g", "--output", "c.parquet")
    done(command, "merge", "c.parquet", "--output", "d.parquet")
    done(command, "score", "d.parquet", "--metrics", "accuracy", "--output", "s.parquet")
    assert pq.read_table("s.parquet").to_pydict() == {"g": [b"a", b"\xff"], "accuracy": [0.5, 1.0]}
    said = refused(command, "score", "d.parquet", "--output", "s.csv")
    assert said.startswith("--output: expected a name that ends in .parquet for these columns")


def test_integers_beyond_64_bits_with_a_sign(command):
    large = pa.array([2**63, 1, 2], pa.uint64())
    expected = "expected integers below 2**63, got a larger integer"
    parquet("x.parquet", y_true=large, y_pred=large)
    assert refused(command, "score", "x.parquet") == f"x.parquet: column 'y_true': {expected}"
    for folder, first, second in (("a", large, [1, 2, 3]), ("b", [1, 2, 3], large)):
        parquet(f"{folder}/0.parquet", g=first)
        parquet(f"{folder}/1.parquet", g=second)
        said = refused(command, "score", folder, "--by", "g")
        assert said == f"{Path(folder, '1.parquet')}: column 'g': {expected}"


# Numbers --------------------------------------------------------------------------------------------------------------


def test_weights_whose_sum_is_beyond_all_numbers(command):
    parquet("x.parquet", w=[1e308, 1e308, 1e308])
    for arguments in (("score", "x.parquet"), ("count", "x.parquet", "--output", "c.parquet")):
        said = refused(command, *arguments, "--counts", "w")
        assert said == "x.parquet: expected counts with a finite sum, got an infinite sum"
    assert not Path("c.parquet").exists()


@pytest.mark.parametrize("number", [2, 100])
@pytest.mark.parametrize("what", ["score", "interval"])
def test_matrices_that_are_all_left_out(command, what, number):
    np.save("x.npy", np.full((number, 2, 2), -1))
    said = refused(command, what, "x.npy", "--metrics", "mcc", "--on-invalid", "skip")
    assert said == "x.npy: expected at least one valid matrix, got none"


def test_statuses_are_those_of_rows_that_are_shown(command):
    np.save("x.npy", np.array([[[5, 1], [1, 5]], [[5, 1], [1, -1]]]))
    out = done(command, "interval", "x.npy", "--metrics", "mcc", "--on-invalid", "skip")
    assert "(1 of 1)" in out
    assert "the matrix is invalid" not in out
    assert "the matrix is invalid" in done(command, "interval", "x.npy", "--metrics", "mcc", "--on-invalid", "nan")


# Temporary files ------------------------------------------------------------------------------------------------------


def test_no_space_for_a_temporary_table(command, monkeypatch):
    class Full:
        def __init__(self, *_, **__):
            raise OSError(28, "Error writing bytes to file")

    monkeypatch.setattr(wide.pq, "ParquetWriter", Full)
    Path("x.csv").write_text("a,b,c,d\n1,2,3,4\n")
    said = refused(command, "score", "x.csv", "--cells", "a,b,c,d")
    assert said.endswith("cells.parquet: No space left on device, for a temporary copy of the table")


def test_an_input_that_cannot_be_read_is_not_to_blame():
    """Only of what is in a file is there a ValueError."""
    for error, expected in (
        (OSError(5, "Error reading bytes from file. Detail: [errno 5]"), "Input/output error"),
        (OSError(5, "Input/output error", "b.parquet"), "Input/output error"),
    ):
        with pytest.raises(OSError, match=expected) as found, batches.named("a.parquet"):
            raise error
        assert found.value.filename == (error.filename or "a.parquet")
    with (
        pytest.raises(ValueError, match=r"a.parquet: expected a file that pyarrow can read, got: CRC"),
        batches.named("a.parquet"),
    ):
        raise OSError("CRC checksum verification failed")  # as pyarrow says it
    with pytest.raises(MemoryError), batches.named("a.parquet"):
        raise pa.ArrowMemoryError("malloc failed")
