"""matrics.testing: assertions in tests of models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import matrics
from matrics.testing import assert_at_least

CM = [[90, 10], [12, 88]]


def test_what_is_at_least_raises_nothing() -> None:
    assert_at_least(CM, "accuracy", 0.83)  # Wilson's interval of 178 of 200 begins at 0.839
    assert_at_least(["a", "b"] * 50, "recall[b]", 0.5, y_pred=["a", "b"] * 44 + ["b", "a"] * 6)
    assert_at_least(CM, matrics.mcc, 0.5)
    assert_at_least(CM, "recall:class", 0.5, class_names=["cat", "dog"])


def test_a_failure_shows_the_interval_and_the_worst_errors() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_at_least(CM, "accuracy", 0.95, class_names=["cat", "dog"])
    assert str(failure.value).splitlines() == [
        "accuracy >= 0.95: fail; 0.890, 95 % between 0.839 and 0.926",
        "most frequent errors:",
        "  dog predicted as cat: 12 (12.0% of dog)",
        "  cat predicted as dog: 10 (10.0% of cat)",
    ]
    with pytest.raises(AssertionError) as failure:
        assert_at_least(CM, "accuracy", 0.95, top=1)
    assert str(failure.value).count("predicted as") == 1


def test_undecided_says_how_many_samples_would_decide() -> None:
    with pytest.raises(
        AssertionError, match=r"accuracy >= 0.86: undecided; .*; about 515 samples would decide \(now 2"
    ):
        assert_at_least(CM, "accuracy", 0.86)  # 1.96² · 0.86 · 0.14 / 0.03²
    assert_at_least(CM, "accuracy", 0.86, on_undecided="pass")
    with pytest.raises(AssertionError, match="undecided counts as fail"):
        assert_at_least(CM, "accuracy", 0.86, on_undecided="fail")
    assert_at_least(CM, "accuracy", 0.86, level=0.7)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((CM, "hamming_loss", 0.1), {}, ValueError, r"matrics.gate\(cm, 'hamming_loss <= 0.1'\)"),
        ((CM, "mmc", 0.1), {}, ValueError, "did you mean mcc"),
        ((CM, "mcc", "0.8"), {}, ValueError, "least: expected a number, got '0.8'"),
        ((CM, "mcc", 8), {}, ValueError, "from -1 to 1, the range of mcc"),
        (([CM, CM], "mcc", 0.8), {}, ValueError, "cm_or_y: expected a single confusion matrix"),
        (([0, 1], "mcc", 0.8), {}, TypeError, "cm_or_y: .* got labels alone"),
        ((CM, "mcc", 0.8), {"on_undecided": True}, ValueError, "on_undecided: expected"),
    ],
)
def test_errors(arguments: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        assert_at_least(*arguments, **options)


@pytest.mark.exhaustive
def test_pytest_shows_the_line_of_the_test(tmp_path: Path) -> None:
    """And no line of this library."""
    (tmp_path / "test_model.py").write_text(
        "from matrics.testing import assert_at_least\n\n\n"
        "def test_model():\n"
        "    assert_at_least([[90, 10], [12, 88]], 'mcc', 0.95)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 1
    assert "test_model.py:5: AssertionError" in found.stdout
    assert "E       AssertionError: mcc >= 0.95: fail; 0.780, 95 % between" in found.stdout
    assert "testing.py" not in found.stdout
