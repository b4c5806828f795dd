"""Commands whose work has no count show on a terminal that they work, and for how long."""

import contextlib
import re
import threading
import time

import numpy as np
import pytest

pytest.importorskip("typer")

from matrics._cli import progress
from matrics._progress import bar

RUNS = {
    "threshold": ("threshold", "x.csv", "--scores", "y_score", "--metric", "f1", "--num", "20"),
    "curve": ("curve", "x.csv", "--scores", "y_score"),
    "diagnostic": ("diagnostic", "x.csv"),
    "certificate": ("certificate", "recall", "--cases", "5"),
}


@pytest.fixture
def _file(tmp_path):
    """A file of scores, in the folder of the command."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 40)
    scores = (labels + random.random(40)) / 2
    rows = [f"{label},{int(score > 0.5)},{score:.3f}" for label, score in zip(labels, scores, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["y_true,y_pred,y_score", *rows]) + "\n")


def wait_for_the_bar(monkeypatch):
    """Draw it at once, and begin to work when it is there."""

    @contextlib.contextmanager
    def started(show):
        with bar.watched(show):
            time.sleep(0.3)
            yield

    monkeypatch.setattr(bar, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(bar, "REFRESH", 0.001)
    monkeypatch.setattr(progress, "watched", started)


@pytest.mark.usefixtures("_file")
@pytest.mark.exhaustive(name=["certificate"])
@pytest.mark.parametrize("name", RUNS)
def test_a_bar_on_a_terminal_changes_no_output(command, monkeypatch, name):
    code, out, err = command(*RUNS[name])
    assert (code, err) == (0, "")
    wait_for_the_bar(monkeypatch)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = command(*RUNS[name])
    assert shown[0] == 0
    assert re.search(rf"{name}: \d+ s", shown[2])
    assert bar.THREAD not in [thread.name for thread in threading.enumerate()]
    assert out.split()[0] in shown[1]


@pytest.mark.usefixtures("_file")
def test_the_bar_is_gone_before_anything_is_printed(command, monkeypatch, capsys):
    """Also where standard output is the same terminal, and the work is done while the table is made."""
    printed = []

    def end_working():
        printed.append(capsys.readouterr().out)
        progress.end_working()

    monkeypatch.setattr("matrics._cli.writers.end_working", end_working)
    for name in ("stderr", "stdout"):
        monkeypatch.setattr(f"sys.{name}.isatty", lambda: True)
    code, out, err = command(*RUNS["curve"])
    assert (code, err) == (0, "")
    assert printed == [""]
    assert "roc_auc" in out


def test_an_error_ends_the_bar(command, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    code, _, err = command(*[part.replace("x.csv", "none.csv") for part in RUNS["threshold"]])
    assert code == 2
    assert "none.csv" in err
    assert bar.THREAD not in [thread.name for thread in threading.enumerate()]
