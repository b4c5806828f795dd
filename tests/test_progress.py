"""The share of a computation that is done, by itself and on the screens of commands."""

from __future__ import annotations

import threading
from pathlib import Path
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

    def noted(loop: Any) -> None:
        advance(loop)
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
CALLS: dict[str, Any] = {
    "interval": lambda: matrics.ranking.interval(TRUE, SCORE, "precision_at_k(k=20)", num=9000, rng=0),
    "gate": lambda: matrics.gate(TRUE, "recall_at_k(k=20) >= 0.01", y_score=SCORE, groups=np.arange(400) // 200),
    "best_threshold": lambda: matrics.ranking.best_threshold(TRUE, SCORE, "f1", level=0.9, num=9000, rng=0),
    "compare_models": lambda: matrics.compare_models(TRUE, {"a": PRED[0], "b": PRED[1]}, "mcc", num_classes=2, rng=0),
    "bootstrap": lambda: matrics.interval(np.ones((4, 3, 3)), "mcc", method="bootstrap", num=20_000, rng=0, workers=2),
    "curve": lambda: matrics.plot.curve(TRUE, SCORE, level=0.9, num=9000, rng=0),
    "certificate": lambda: matrics.study.certificate("recall", cases=5),
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
    """On a terminal the bar has the share of the replicates."""
    pytest.importorskip("typer")
    from matrics._cli import progress

    rows = [f"{true},{score:.4f}" for true, score in zip(TRUE, SCORE, strict=True)]
    Path("x.csv").write_text("\n".join(["y_true,score", *rows]) + "\n")
    percents: list[int | None] = []
    line = progress._line

    def noted(shown: Any) -> str:
        percents.append(shown.percent)
        return line(shown)

    monkeypatch.setattr(progress, "_line", noted)
    monkeypatch.setattr(progress, "SHOW_AFTER", 0.0)
    monkeypatch.setattr(progress, "REFRESH", 0.001)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    given = ("--scores", "score", "--require", "precision_at_k(k=20) >= 0.1")
    code, _, err = command("gate", "x.csv", *given)
    assert code == 0
    assert any(percent is not None for percent in percents)
    assert " %: gate: " in err
