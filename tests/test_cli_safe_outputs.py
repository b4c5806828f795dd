"""In a folder where others may write: nothing of a stranger is touched, followed or waited for."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import done

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of Unix")

SCORE = ("score", "s.npy", "--metrics", "mcc", "--output", "o.csv")


@pytest.fixture(autouse=True)
def _stack(tmp_path):
    np.save(tmp_path / "s.npy", np.ones((9, 2, 2)))


@pytest.mark.parametrize("name", ["o.csv", "o.parquet", "parts/"])
def test_what_lies_in_the_way_is_not_touched(command, monkeypatch, tmp_path_factory, name):
    """The name of the hidden file is random; even a link of that name is not followed."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    precious = tmp_path_factory.mktemp("precious") / "notes.txt"
    precious.write_text("precious")
    Path(".known.tmp").symlink_to(precious.parent if name.endswith("/") else precious)
    code, _, err = command(*SCORE[:-1], name)
    assert code == (2 if name.endswith("/") else 0), err
    assert [path.read_text() for path in precious.parent.iterdir()] == ["precious"]


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


@pytest.mark.sampled(2)
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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("after", [0.02, 0.1, 0.3, 0.6])
def test_ctrl_c_at_any_moment_is_no_traceback(tmp_path, after):
    """During imports, and twice."""
    start = "from _matrics_command import main; main()"  # as the script that pip writes
    run = [sys.executable, "-c", start, "score", "s.npy", "--metrics", "all", "--output", "o.csv"]
    process = subprocess.Popen(run, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(0.05)  # Python itself has started
    for _ in range(2):
        time.sleep(after)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err, err
    assert process.returncode in (0, 130, -signal.SIGINT)
