"""In a folder where others may write: nothing of a stranger is touched, followed or waited for."""

import hashlib
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import done, refused

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
sealed = pytest.importorskip("matrics._files.outputs.sealed")
unfinished = pytest.importorskip("matrics._files.outputs.unfinished")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of Unix")

SCORE = ("score", "s.npy", "--metrics", "mcc", "--output", "o.csv")


@pytest.fixture(autouse=True)
def _stack(tmp_path):
    np.save(tmp_path / "s.npy", np.ones((9, 2, 2)))


def folder():
    """The folder in which o.csv is made: anyone can compute its name."""
    return Path(f".matrics-{hashlib.blake2b(b'o.csv', digest_size=6).hexdigest()}.unfinished")


@pytest.fixture
def precious(tmp_path_factory):
    """A folder of a victim, with files of all the names that a run uses."""
    made = tmp_path_factory.mktemp("precious")
    for name in ("notes.txt", "question", "journal", "counted-1", "part-00000.parquet", "whole"):
        (made / name).write_text("precious")
    return made


def untouched(made):
    return all(path.read_text() == "precious" for path in made.iterdir()) and len(list(made.iterdir())) == 6


@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_a_link_as_working_folder_is_refused(command, precious, options):
    folder().symlink_to(precious)
    said = refused(command, *SCORE, *options)
    assert said.startswith(f"o.csv: expected the working folder {folder()} to belong only to you, got a link")
    assert untouched(precious)
    assert not Path("o.csv").exists()


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_folder_that_others_can_write_to_is_refused(command, mode):
    folder().mkdir()
    folder().chmod(mode)
    assert "got one that others can write to" in refused(command, *SCORE)
    assert list(folder().iterdir()) == []


def test_a_folder_of_another_user_is_refused(command, monkeypatch):
    folder().mkdir(mode=0o700)
    monkeypatch.setattr("os.getuid", lambda: 12345)
    assert "got one that others can write to" in refused(command, *SCORE)


def test_a_file_as_working_folder_is_refused(command):
    folder().write_text("precious")
    assert "got a link or a file" in refused(command, *SCORE)
    assert folder().read_text() == "precious"


def test_the_working_folder_is_for_the_user_alone(command, monkeypatch):
    modes = []
    seal = unfinished.seal

    def look(where, *given):
        modes.append(stat.S_IMODE(folder().stat().st_mode))
        return seal(where, *given)

    monkeypatch.setattr(unfinished, "seal", look)
    done(command, *SCORE)
    assert set(modes) == {0o700}


@pytest.mark.parametrize("name", [sealed.WHOLE, sealed.NEW, "lock", "question-00000000", "data"])
def test_links_within_the_folder_are_not_followed(command, precious, name):
    """Whoever could place them: the user has moved a folder there, or an older version has followed a link."""
    folder().mkdir(mode=0o700)
    (folder() / name).symlink_to(precious if name == "data" else precious / "notes.txt")
    for options in ((), ("--resume",)):
        code, _, err = command(*SCORE, *options)
        assert code in (0, 2), err
        assert len(err.splitlines()) <= 1
        assert untouched(precious)


@pytest.mark.parametrize("name", ["question-00000000", "counted-5-00000000", "lock", sealed.WHOLE, sealed.NEW])
def test_pipes_within_the_folder_are_not_waited_for(tmp_path, name):
    made = tmp_path / folder()
    made.mkdir(mode=0o700)
    os.mkfifo(made / name)
    run = [sys.executable, "-m", "matrics", *SCORE, "--resume"]
    ended = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == (2 if name == "lock" else 0), ended.stderr
    assert "Traceback" not in ended.stderr


def test_files_of_others_stay_in_the_folder(command):
    """What has not the name of a file of a run is not removed, and so the folder stays."""
    folder().mkdir(mode=0o700)
    (folder() / "notes.txt").write_text("precious")
    done(command, *SCORE)
    assert [path.name for path in folder().iterdir()] == ["notes.txt"]
    assert (folder() / "notes.txt").read_text() == "precious"


@pytest.mark.parametrize("arguments", [SCORE, ("count", "l.csv", "--output", "o.parquet")], ids=["score", "count"])
def test_an_output_keeps_the_mode_of_the_file_that_it_replaces(command, arguments):
    Path("l.csv").write_text("y_true,y_pred\n0,0\n1,0\n")
    output = Path(arguments[-1])
    before = os.umask(0o027)
    try:
        done(command, *arguments)
        assert stat.S_IMODE(output.stat().st_mode) == 0o640
        for mode in (0o600, 0o664):
            output.chmod(mode)
            done(command, *arguments)
            assert stat.S_IMODE(output.stat().st_mode) == mode
    finally:
        os.umask(before)


COMMANDS = {
    "score": SCORE,
    "count": ("count", "l.csv", "--output", "o.parquet"),
    "delivery": ("score", "s.npy", "--metrics", "mcc", "--output", "o.json"),
    "gate": ("gate", "l.csv", "--require", "accuracy >= 0", "--output", "o.json"),
    "report": ("report", "l.csv", "--output", "o.html"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_link_as_output_keeps_its_place(command, tmp_path_factory, name):
    """The file that the link points to is replaced when the new one is whole, as a shell would write to it."""
    Path("l.csv").write_text("y_true,y_pred\n" + "0,0\n1,0\n1,1\n" * 10)
    output = Path(COMMANDS[name][-1])
    target = tmp_path_factory.mktemp("elsewhere") / output.name
    target.write_text("older")
    output.symlink_to(target)
    command(*COMMANDS[name])
    assert output.is_symlink()
    assert target.read_bytes() not in (b"older", b"")
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize("after", [0.02, 0.1, 0.3, 0.6])
def test_ctrl_c_at_any_moment_is_no_traceback(tmp_path, after):
    """During imports, and twice."""
    run = [sys.executable, "-m", "matrics", "score", "s.npy", "--metrics", "all", "--output", "o.csv"]
    process = subprocess.Popen(run, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(0.05)  # Python itself has started
    for _ in range(2):
        time.sleep(after)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    assert process.returncode in (0, 130, -signal.SIGINT)
