"""Full disks, directories that vanish, closed pipes and killed processes: one line, and nothing half-written."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import content

if sys.platform == "win32":
    pytest.skip("signals, limits and pipes of Unix", allow_module_level=True)
resource = pytest.importorskip("resource")
pytest.importorskip("typer")
runs = pytest.importorskip("matrics._cli.run")
Output = pytest.importorskip("matrics._files.outputs.unfinished").Output
read = pytest.importorskip("matrics._files.matrices").read
Names = pytest.importorskip("matrics._files.label_rows").Names

RANDOM = np.random.default_rng(0)
KINDS = ("o.csv", "o.parquet", "parts/")
SCORE = ("score", "s.npy", "--metrics", "accuracy,mcc,recall:class", "--output")
ROWS, BLOCKS = 64, 40

# A process of its own with small blocks, each of which takes a while.
CHILD = f"""
import sys, time
from matrics._cli import main, run
from matrics._files.outputs.unfinished import Output
run.LEAST_ROWS, run.BLOCK_CELLS = {ROWS}, 1
append = Output.append
def slowly(*given):
    time.sleep(0.02)
    return append(*given)
Output.append = slowly
main()
"""


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(runs, "LEAST_ROWS", ROWS)
    monkeypatch.setattr(runs, "BLOCK_CELLS", 1)


@pytest.fixture(autouse=True)
def _stack(tmp_path):
    np.save(tmp_path / "s.npy", RANDOM.integers(0, 4, (ROWS * BLOCKS, 3, 3)))


def remove(name):
    shutil.rmtree(name) if name.endswith("/") else Path(name).unlink()


def whole(command, name):
    assert command(*SCORE, name)[0] == 0
    made = content(name)
    remove(name)
    return made


def names():
    return sorted(path.name for path in Path().iterdir())


@contextlib.contextmanager
def no_file_beyond(size):
    """Files cannot grow beyond a size, as on a disk that is full; Python gets an error, as it ignores the signal."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# Disks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_a_disk_that_fills_up(command, name):
    """At any size: within the first block, within the others, and within the end."""
    made = whole(command, name)
    largest = max(map(len, made.values()))
    kept = 0
    for size in (0, 700, largest // 2, largest - 1):
        Path("kept.csv").write_text("precious")
        with no_file_beyond(size):
            code, out, err = command(*SCORE, name)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert err.startswith(f"matrics: {name.removesuffix('/')}: File too large")
        assert not Path(name).exists()
        kept += "--resume" in err
        assert command(*SCORE, name, "--resume")[0] == 0
        assert content(name) == made
        remove(name)
        assert names() == ["kept.csv", "s.npy"]
    assert kept


def test_an_output_that_is_there_stays_until_the_new_one_is_whole(command):
    Path("o.csv").write_text("precious")
    with no_file_beyond(5000):
        assert command(*SCORE, "o.csv")[0] == 2
    assert Path("o.csv").read_text() == "precious"
    assert command(*SCORE, "o.csv", "--resume")[0] == 0
    assert Path("o.csv").read_text() != "precious"


@pytest.mark.parametrize("name", KINDS)
def test_a_directory_that_vanishes(command, monkeypatch, name):
    Path("there").mkdir()
    append = Output.append

    def append_and_move(self, *given):
        append(self, *given)
        if self.work.done == 9:
            Path("there").rename("away")

    monkeypatch.setattr(Output, "append", append_and_move)
    code, out, err = command(*SCORE, f"there/{name}")
    assert (code, out) == (2, "")
    output = f"there/{name.removesuffix('/')}"
    assert err.startswith(f"matrics: {output}: its directory vanished while it was written; --resume continues from ")
    assert not Path("away", name).exists()


def test_a_run_goes_on_in_a_directory_that_was_moved(command):
    made = whole(command, "o.csv")
    Path("there").mkdir()
    with no_file_beyond(9000):
        assert command(*SCORE, "there/o.csv")[0] == 2
    Path("there").rename("away")
    code, _, err = command(*SCORE, "away/o.csv", "--resume")
    assert (code, "continues from there" in err) == (0, True)
    assert content("away/o.csv") == made


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written(command):
    Path("there").mkdir(mode=0o500)
    assert command(*SCORE, "there/o.csv") == (2, "", "matrics: there/o.csv: Permission denied\n")


def test_a_directory_with_files_is_left_alone(command):
    Path("parts").mkdir()
    Path("parts/precious").touch()
    for name in ("parts", "parts/"):
        code, _, err = command(*SCORE, name)
        assert code == 2
        assert "expected a new or an empty directory, got 'parts', which has files" in err
    Path("parts/precious").unlink()
    assert command(*SCORE, "parts")[0] == 0


# Processes ------------------------------------------------------------------------------------------------------------


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-c", CHILD, *arguments], stderr=subprocess.PIPE, text=True, **options)


def wait_for(blocks):
    """Wait until so many blocks are finished."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if len(list(Path().glob(".matrics-*.unfinished/data/part-*"))) >= blocks:
            return
        time.sleep(0.002)
    raise AssertionError("expected more blocks within a minute")


@pytest.mark.parametrize("moments", [2, pytest.param(10, marks=pytest.mark.exhaustive)])
def test_killed_at_random_moments(command, moments):
    """Nothing can be done about SIGKILL: what is there has to do."""
    made = whole(command, "o.parquet")
    chance = random.Random(0)  # noqa: S311
    for number, block in enumerate(sorted(chance.sample(range(1, BLOCKS - 3), moments))):
        process = start(*SCORE, "o.parquet", *(["--resume"] if number else []), stdout=subprocess.DEVNULL)
        wait_for(block)
        time.sleep(chance.random() * 0.02)
        process.kill()
        assert process.communicate()[1].count("\n") <= 1
        assert process.returncode == -signal.SIGKILL
        assert not Path("o.parquet").exists()
    code, _, err = command(*SCORE, "o.parquet", "--resume")
    assert (code, "continues from there" in err) == (0, True)
    assert content("o.parquet") == made


@pytest.mark.parametrize(
    ("number", "expected"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.exhaustive)],
)
def test_stopped_by_a_signal(command, number, expected):
    made = whole(command, "o.parquet")
    process = start(*SCORE, "o.parquet", stdout=subprocess.DEVNULL)
    wait_for(5)
    process.send_signal(number)
    err = process.communicate()[1]
    assert process.returncode == expected
    assert len(err.splitlines()) == 1
    assert err.startswith("matrics: o.parquet: stopped; --resume continues from ")
    assert command(*SCORE, "o.parquet", "--resume")[0] == 0
    assert content("o.parquet") == made


@pytest.mark.exhaustive
def test_a_pipe_that_is_closed_early(tmp_path):
    process = start("score", "s.npy", "--metrics", "all", stdout=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    assert process.communicate()[1] == ""
    assert process.returncode in (1, 141)  # rich ends with 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_screen_that_is_a_full_disk(tmp_path):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "matrics", "score", "s.npy", "--metrics", "mcc", "--output", "o.csv"]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
    assert (ran.returncode, ran.stderr) == (2, "matrics: standard output: No space left on device\n")
    assert len((tmp_path / "o.csv").read_text().splitlines()) == ROWS * BLOCKS + 1  # it is whole


# Inputs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_that_is_cut_off_while_it_is_read(tmp_path, order):
    """Where a file is mapped, the system would end the process."""
    np.save(tmp_path / "x.npy", np.ones((9, 40, 5, 5), order=order))
    source = read(tmp_path / "x.npy", Names(), None)
    size = (tmp_path / "x.npy").stat().st_size
    for left in (size - 1, size // 2, 100, 0):
        os.truncate(tmp_path / "x.npy", left)
        with pytest.raises(
            ValueError, match=r"x\.npy: expected an array of shape \(9, 40, 5, 5\), got a file that was"
        ):
            source.block(0, 360)


@pytest.mark.parametrize("form", ["csv", "json", "markdown", "table"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_on_a_full_disk_is_no_success(tmp_path, form, unbuffered):
    """Without a buffer Python drops the rest of a text of which a part was written, and raises no error."""
    np.save(tmp_path / "s.npy", np.ones((3000, 2, 2)))
    run = [sys.executable, "-m", "matrics", "score", "s.npy", "--metrics", "core", "--format", form]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    options = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True, "env": environment}
    with (tmp_path / "whole").open("wb") as file:
        assert subprocess.run(run, stdout=file, check=False, **options).returncode == 0
    size = (tmp_path / "whole").stat().st_size - 10
    with (tmp_path / "cut").open("wb") as file, no_file_beyond(size):
        ended = subprocess.run(run, stdout=file, check=False, **options)
    assert ended.returncode == 2, ended.stderr
    assert "File too large" in ended.stderr


def test_an_unexpected_error_is_no_failed_gate(command, monkeypatch):
    """Python would end with 1, which means that a requirement does not hold."""
    Path("l.csv").write_text("y_true,y_pred\n0,0\n1,0\n")
    monkeypatch.setattr("matrics._cli.logs.is_log", lambda _: 1 // 0)
    code, _, err = command("gate", "l.csv", "--require", "accuracy >= 0")
    assert code == 2
    assert err.startswith("matrics: internal error: ZeroDivisionError: ")
    assert len(err.splitlines()) == 1
    monkeypatch.setenv("MATRICS_TRACEBACK", "1")
    assert "Traceback" in command("gate", "l.csv", "--require", "accuracy >= 0")[2]
