"""The share of a computation that is done, by itself and on the screens of commands."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._progress import counted_loop, share_done, steps

RANDOM = np.random.default_rng(3)


def test_loops_within_loops() -> None:
    """Each step counts once it is done; a loop that an error ends is no longer counted."""
    assert share_done() is None
    shares = []
    for _ in steps(range(4)):
        shares.append(share_done())
        shares += [share_done() for _ in steps(range(2))]
    assert shares == [0, 0, 0.125, 0.25, 0.25, 0.375, 0.5, 0.5, 0.625, 0.75, 0.75, 0.875]
    with pytest.raises(ZeroDivisionError), counted_loop(2):
        assert 1 / len(shares[12:]) == share_done()
    assert share_done() is None
    assert list(steps([])) == []


def test_loops_that_say_little() -> None:
    """A single step has no share but that of its inner loop; several inner loops in sequence never go back."""
    assert [share_done() for _ in steps("a")] == [None]
    assert [share_done() for _ in steps("a") for _ in steps("bc")] == [0, 0.5]
    assert [share_done() for _ in steps("a", nested=False) for _ in steps("bc")] == [None, None]
    assert [share_done() for _ in steps("ab", nested=False) for _ in steps("cd")] == [0, 0, 0.5, 0.5]
    sequence = [share_done() for _ in steps("ab") for inner in ("cd", "efgh") for _ in steps(inner)]
    assert sequence == [0, 0.25, 0.25, 0.25, 0.25, 0.375, 0.5, 0.75, 0.75, 0.75, 0.75, 0.875]


def test_loops_of_threads() -> None:
    """Threads count steps of a loop of the main thread; their own loops are not counted."""
    shares: list[float | None] = []
    with counted_loop(100) as loop:

        def work() -> None:
            for _ in steps(range(25)):
                loop.advance()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        shares.append(share_done())
    assert shares == [0.75]


def shares_of(call: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The shares after each step of the loops of a call."""
    shares: list[float] = []
    advance = matrics._progress.CountedLoop.advance

    def noted(loop: Any, number: int = 1) -> None:
        advance(loop, number)
        share = share_done()
        if share is not None:
            shares.append(share)

    monkeypatch.setattr("matrics._progress.CountedLoop.advance", noted)
    call()
    assert share_done() is None
    return shares


TRUE = np.arange(400) % 2
SCORE = TRUE + RANDOM.normal(size=400)
PRED = [(SCORE + RANDOM.normal(size=400) > 0.5).astype(int) for _ in range(2)]
STACK = np.ones((9, 5, 5))
CALLS: dict[str, Any] = {
    "interval": lambda: matrics.ranking.interval(TRUE, SCORE, "precision_at_k(k=20)", num=9000, rng=0),
    "gate": lambda: matrics.gate(TRUE, "recall_at_k(k=20) >= 0.01", y_score=SCORE, groups=np.arange(400) // 200),
    "best_threshold": lambda: matrics.ranking.best_threshold(TRUE, SCORE, "f1", level=0.9, num=9000, rng=0),
    "compare_models": lambda: matrics.compare_models(TRUE, {"a": PRED[0], "b": PRED[1]}, "mcc", num_classes=2, rng=0),
    "bootstrap": lambda: matrics.interval(np.ones((4, 3, 3)), "mcc", method="bootstrap", num=20_000, rng=0, workers=2),
    "curve": lambda: matrics.plot.curve(TRUE, SCORE, level=0.9, num=9000, rng=0),
    "certificate": lambda: matrics.study.certificate("recall", cases=5),
    "score": lambda: matrics.score(np.ones((20_000, 5, 5)), "mcc,f1:class"),
    "score_blocks": lambda: matrics.score_blocks(np.ones((500, 5, 5)), "mcc", device=None, block_bytes=5000),
    "compare": lambda: matrics.compare(
        np.ones((9, 5, 5)), np.ones((9, 5, 5)), "f1", method="bootstrap", num=9000, rng=0
    ),
    "permutation_test": lambda: matrics.stats.permutation_test(TRUE, PRED, "mcc", num_classes=2, num=9999, rng=0),
    "raters": lambda: matrics.raters.interval(
        RANDOM.integers(0, 3, (500, 4)), "fleiss_kappa, gwet_ac1", num_classes=3, method="bootstrap", rng=0
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_with_many_replicates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The share rises from step to step to 1."""
    if name == "curve":
        pytest.importorskip("matplotlib")
        pytest.importorskip("matrics.plot")
    shares = shares_of(CALLS[name], monkeypatch)
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert shares[0] < 1


def test_bar_of_a_command(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the bar has the share of the properties."""
    pytest.importorskip("typer")
    from matrics._progress import bar

    percents: list[int | None] = []
    line = bar.in_percent

    def noted(shown: Any) -> str:
        percents.append(shown.percent)
        return line(shown)

    monkeypatch.setattr(bar, "in_percent", noted)
    monkeypatch.setattr(bar, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(bar, "REFRESH", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, err = command("certificate", "recall", "--cases", "5")
    assert code == 0
    assert any(percent is not None for percent in percents)
    assert " %: certificate: " in err


# The bar of functions in Python --------------------------------------------------------------------------------------

SHOWN = """
import time
import numpy, matrics
from matrics._progress import bar, steps

bar.SHOW_AFTER, bar.REFRESH = 0.02, 0.01
own = matrics.metric(kind="overall", range=(0, 1), higher_is_better=True, name="slow")

@own
def slow(t):
    for _ in steps(range(4)):
        time.sleep(0.1)
    return t.total

with matrics.progress(), matrics.progress():
    matrics.score(numpy.ones((2, 2)), slow)
    time.sleep(0.2)
    print("between [red]")
    slow(numpy.ones((2, 2)))
    time.sleep(0.2)
time.sleep(0.2)
print("after")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_bar_on_a_terminal() -> None:
    """The name of the function that is called, its time and its share; nothing stays on the screen."""
    pytest.importorskip("rich")
    pty = pytest.importorskip("pty")
    outer, inner = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen([sys.executable, "-c", SHOWN], stdout=inner, stderr=inner, env=environment) as process:
        os.close(inner)
        read = b""
        with contextlib.suppress(OSError):  # the terminal is closed
            while part := os.read(outer, 1000):
                read += part
    os.close(outer)
    assert process.returncode == 0, read
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode())
    first, between, rest = text.partition("between [red]")
    second, after, end = rest.partition("after")
    assert (between, after, end.strip()) == ("between [red]", "after", "")
    for shown, name in ((first, "score"), (second, "slow")):
        shares = [int(share) for share in re.findall(rf"(\d+) %: {name}: 0 s", shown)]
        assert shares == sorted(shares)
        assert {25, 50, 75} <= set(shares)
    assert "score" not in second
    assert read.count(b"\x1b[?25l") == read.count(b"\x1b[?25h") == 2  # the cursor is hidden and shown again


def test_nothing_is_printed_elsewhere(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In files no thread is started; on a terminal there is no bar for a short call or for other functions."""
    pytest.importorskip("rich")
    from matrics._progress import bar

    with matrics.progress():
        assert bar.THREAD not in [thread.name for thread in threading.enumerate()]
        matrics.mcc([[4, 1], [1, 4]])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(bar, "SHOW_AFTER", 0.1)
    monkeypatch.setattr(bar, "REFRESH", 0.01)
    with matrics.progress():
        assert bar.THREAD in [thread.name for thread in threading.enumerate()]
        matrics.mcc([[4, 1], [1, 4]])
        time.sleep(0.3)
    assert bar.THREAD not in [thread.name for thread in threading.enumerate()]
    assert capsys.readouterr() == ("", "")


def test_an_error_ends_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It passes, and another context shows a bar again."""
    pytest.importorskip("rich")
    from matrics._progress import bar

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for _ in range(2):
        with pytest.raises(ValueError, match="unknown metric"), matrics.progress():
            matrics.score([[4, 1], [1, 4]], "no_such_measure")
        assert bar.THREAD not in [thread.name for thread in threading.enumerate()]


def test_what_progress_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package rich, also where nothing would be drawn; and the main thread."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with matrics.progress():
                pass
        except RuntimeError as error:
            errors.append(error)

    if importlib.util.find_spec("rich"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert "expected the main thread" in str(errors[0])
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r'matrics.progress needs rich.*"matrics\[cli\]"'), matrics.progress():
        pass
