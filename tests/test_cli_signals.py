"""SIGTERM and Ctrl-C end a command that waits for a pipe, or whose main thread does not end."""

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

if sys.platform == "win32":
    pytest.skip("signals and pipes of Unix", allow_module_level=True)
pytest.importorskip("typer")
pytest.importorskip("pyarrow")

BOTH = [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.exhaustive)]
PIPE_BYTES = 2**18  # a pipe holds less
# A measure that takes no notice of exceptions, as a call of a library does not until it returns.
DEAF = """
import sys
import threading

import matrics

@matrics.metric(kind="overall", range=(0, 1), higher_is_better=True, formula="x", source="own", undefined="never")
def deaf(t):
    "It never returns."
    print("ready", file=sys.stderr, flush=True)
    while True:
        try:
            threading.Event().wait()
        except BaseException:
            pass
"""


@pytest.fixture
def start(monkeypatch, tmp_path):
    """Start a command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    with contextlib.ExitStack() as processes:

        def begin(*arguments, **streams):
            command = [sys.executable, "-m", "matrics", *arguments]
            process = processes.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, **streams))
            processes.callback(process.kill)
            return process

        yield begin


@pytest.mark.parametrize(("number", "code"), BOTH)
def test_a_writer_that_sleeps(start, number, code):
    process = start("count", "-", "--output", "o.parquet", stdin=subprocess.PIPE)
    # The write returns when the process has read most of it. The pipe then stays open, and has no more rows.
    process.stdin.write(b"y_true,y_pred\n" + b"a,b\n" * PIPE_BYTES)
    process.stdin.flush()
    process.send_signal(number)
    assert process.wait(60) == code
    process.stdin.close()
    assert process.stderr.read() == b""
    assert list(Path().iterdir()) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(("number", "code"), BOTH)
def test_a_main_thread_that_does_not_end(start, number, code):
    Path("deaf.py").write_text(DEAF)
    np.save("s.npy", np.ones((3, 2, 2)))
    made = set(Path().iterdir())
    process = start("score", "s.npy", "--plugin", "deaf", "--metrics", "deaf", "--output", "o.csv")
    assert process.stderr.readline() == b"ready\n"
    process.send_signal(number)
    assert process.wait(60) == code
    assert process.stderr.read() == b""
    assert set(Path().iterdir()) == made
