"""Full disks, directories that vanish, closed pipes and killed processes: one line, and nothing half-written."""

import contextlib
import os
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
Output = pytest.importorskip("matrics._files.outputs.whole").Output
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
from matrics._files.outputs.whole import Output
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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", KINDS)
def test_a_disk_that_fills_up(command, name):
    """At any size: within the first block, within the others, and within the end."""
    made = whole(command, name)
    largest = max(map(len, made.values()))
    for size in (0, 700, largest // 2, largest - 1):
        with no_file_beyond(size):
            code, out, err = command(*SCORE, name)
        assert (code, out, err) == (2, "", f"matrics: {name.removesuffix('/')}: File too large\n")
        assert names() == ["s.npy"]
    assert whole(command, name) == made


def test_an_output_that_is_there_stays_until_the_new_one_is_whole(command):
    Path("o.csv").write_text("precious")
    with no_file_beyond(5000):
        assert command(*SCORE, "o.csv")[0] == 2
    assert Path("o.csv").read_text() == "precious"
    assert command(*SCORE, "o.csv")[0] == 0
    assert Path("o.csv").read_text() != "precious"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", KINDS)
def test_a_directory_that_vanishes(command, monkeypatch, name):
    Path("there").mkdir()
    append, seen = Output.append, []

    def append_and_move(self, *given):
        append(self, *given)
        seen.append(given)
        if len(seen) == 9:
            Path("there").rename("away")

    monkeypatch.setattr(Output, "append", append_and_move)
    code, out, err = command(*SCORE, f"there/{name}")
    assert (code, out, err) == (2, "", f"matrics: there/{name.removesuffix('/')}: No such file or directory\n")
    assert not Path("away", name).exists()


def test_two_runs_on_one_output(command, monkeypatch):
    """Each has its own file until it is whole, and the last one has the name."""
    append, seen = Output.append, []

    def append_and_run(self, *given):
        append(self, *given)
        seen.append(given)
        if len(seen) == 9:
            assert command("score", "s.npy", "--metrics", "mcc", "--output", "o.csv")[0] == 0
            assert Path("o.csv").read_text().startswith("index_0,mcc\n")

    made = whole(command, "o.csv")
    monkeypatch.setattr(Output, "append", append_and_run)
    assert command(*SCORE, "o.csv")[0] == 0
    assert content("o.csv") == made
    assert names() == ["o.csv", "s.npy"]


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


def wait_until_it_writes():
    """Wait until the hidden file of a run has a block."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if any(path.stat().st_size for path in Path().glob(".*.tmp")):
            return
        time.sleep(0.002)
    raise AssertionError("expected a file within a minute")


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive)])
def test_a_process_that_is_killed(command, number):
    """SIGKILL leaves a hidden file, and nothing with the name of the output; SIGTERM leaves nothing."""
    process = start(*SCORE, "o.parquet", stdout=subprocess.DEVNULL)
    wait_until_it_writes()
    process.send_signal(number)
    assert process.communicate()[1] == ""
    assert process.returncode == (143 if number == signal.SIGTERM else -number)
    assert [name for name in names() if not name.startswith(".")] == ["s.npy"]
    assert len(names()) == (2 if number == signal.SIGKILL else 1)
    assert command(*SCORE, "o.parquet")[0] == 0


@pytest.mark.exhaustive
@pytest.mark.usefixtures("command")  # which changes to a folder of its own
def test_ctrl_c_leaves_nothing():
    process = start(*SCORE, "o.parquet", stdout=subprocess.DEVNULL)
    wait_until_it_writes()
    process.send_signal(signal.SIGINT)
    assert (process.communicate()[1], process.returncode, names()) == ("", 130, ["s.npy"])


@pytest.mark.exhaustive
def test_a_pipe_that_is_closed_early(tmp_path):
    process = start("score", "s.npy", "--metrics", "all", stdout=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    assert process.communicate()[1] == ""
    assert process.returncode == 141


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_gate_whose_reader_stops_has_not_failed(tmp_path, form):
    """The exit code 1 of rich and of click would mean that the model fails."""
    rows = [f"{k % 2},{k % 2}" for k in range(60)]
    (tmp_path / "l.csv").write_text("\n".join(["y_true,y_pred", *rows]) + "\n")
    process = start("gate", "l.csv", "--require", "mcc >= 0.5", "--format", form, stdout=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    assert (process.communicate()[1], process.returncode) == ("", 141)


@pytest.mark.exhaustive
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


@pytest.mark.sampled(1)
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
    pytest.importorskip("matrics._cli.gate_files")  # which would keep the function below if it were imported later
    monkeypatch.setattr("matrics._cli.gate_files.opened", lambda *_: 1 // 0)
    code, _, err = command("gate", "l.csv", "--require", "accuracy >= 0")
    assert code == 2
    assert err.startswith("matrics: internal error: ZeroDivisionError: ")
    assert len(err.splitlines()) == 1
    monkeypatch.setenv("MATRICS_TRACEBACK", "1")
    assert "Traceback" in command("gate", "l.csv", "--require", "accuracy >= 0")[2]
