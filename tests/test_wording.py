"""Numbers below 1 are nowhere written as 1, nor numbers above 0 as 0, where people read them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._wording import amount, counted, limits, number, percentage, rounded, significant, with_limits

# Of 20,000 samples one is wrong: 0.99995, which three digits make 1.
ALMOST = np.array([[9999, 1], [0, 10000]])
WHOLE = re.compile(r"(?<![\d.])1\.0+(?!\d)|(?<![\d.])0\.0+(?!\d)|100(\.0)?\s?%")


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_what_is_written_is_true(digits: int) -> None:
    """As exact decimal numbers: within half a unit, or beyond what is written."""
    half = Decimal(10) ** -digits / 2
    for value in (0.0, 1.0, -1.0, 0.5, 0.04, 0.96, 0.996, 0.9996, 0.99996, 0.004, 0.0004, 0.00004, 1e-8, 2.5, 1e-15):
        for x in (value, -value):
            text, exact = rounded(x, digits), Decimal(x)
            shown = Decimal(text.lstrip("<>"))
            if text.startswith(">"):
                assert exact > shown
            elif text.startswith("<"):
                assert exact < shown
            else:
                assert abs(exact - shown) <= half
                is_end = shown in (1, -1) or (shown == 0 and exact > 0)  # 0 is no end of what may be negative
                assert not is_end or abs(exact - shown) < Decimal("1e-9")
            assert len(text) <= 3 + digits


def test_other_kinds_of_numbers() -> None:
    assert [percentage(x) for x in (0.0, 0.0004, 0.5, 0.9996, 1.0)] == ["0.0", "<0.1", "50.0", ">99.9", "100.0"]
    assert [significant(x, 3) for x in (0.0, 0.0004, 0.9996, -0.9996, 1.0)] == ["0", "0.0004", "0.9996", "-0.9996", "1"]
    assert rounded(1 - 2**-53) == "1.000"  # which only differs by rounding


@pytest.mark.parametrize("value", [0.0, 0.5, -0.25, 999.9994, 999.9996, -1234.5, 123456789.2, 1e15, -1e300])
def test_numbers_of_any_size(value: float) -> None:
    """Within half a unit of the last digit, without an exponent below 10¹⁵."""
    text = number(value)
    assert ("e" in text) == (abs(value) >= 1e15)
    decimals = 3 if abs(value) < 1000 else 0
    half = Decimal(10) ** -decimals / 2 if "e" not in text else Decimal(str(abs(value))) / 1000
    assert abs(Decimal(text.replace(",", "")) - Decimal(value)) <= half


def test_amounts_and_plurals() -> None:
    assert [amount(x) for x in (0, 1e6, 0.125, 12.3456789, 99999.96, 1e7 + 0.5)] == [
        *("0", "1,000,000", "0.125", "12.3457", "100,000", "10,000,000")
    ]
    assert [counted(2, what) for what in ("matrix", "class", "score", "category")] == [
        *("2 matrices", "2 classes", "2 scores", "2 categories")
    ]


def texts() -> dict[str, Any]:
    """What is printed of a matrix that is right in all but one of 20,000 samples."""
    from matrics import plot

    true = np.repeat([0, 1], 10000)
    pred = np.concatenate([[1], true[1:]])
    return {
        "interval": lambda: repr(matrics.interval(ALMOST, "accuracy", method="delta")["accuracy"].estimate.item()),
        "gate": lambda: str(matrics.gate(ALMOST, "accuracy >= 0.9")),
        "diagnostic": lambda: str(matrics.stats.diagnostic_table(ALMOST)).partition("likelihood")[0],
        "classification report": lambda: str(matrics.classification_report(true, pred)),
        "models": lambda: plot.models(matrics.interval([ALMOST, ALMOST], "accuracy")).describe(),
        "confusion": lambda: plot.confusion_matrix(ALMOST).describe(),
        "report": lambda: matrics.report({"model": ALMOST}, metrics="accuracy").describe().partition("Note")[0],
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize("place", list(texts()))
def test_places(place: str) -> None:
    """Accuracy, recall, precision and their limits are all below 1, so that no 1.000 is right, but for one class."""
    for package in ("matplotlib", "scipy", "jinja2"):
        pytest.importorskip(package)
    text = texts()[place]()
    right = {  # class 1 has the recall 1, and class 0 the precision 1; their limits and error rates are 1 and 0
        "diagnostic": ("sensitivity", "negative predictive value"),
        "classification report": ("0 ", "1 "),
    }
    lines = [line for line in text.splitlines() if not line.strip().startswith(right.get(place, "\0"))]
    wrong = [line for line in lines if WHOLE.search(line)]
    assert not wrong
    assert re.search(r">\.99|>99\.9|0\.9999", text)


def test_cells_of_pictures() -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    correlation = np.array([[1.0, 0.996, -0.997], [0.996, 1.0, 0.004], [-0.997, 0.004, 1.0]])
    random = np.random.default_rng(0)
    found = matrics.study.agreement(random.integers(1, 50, (40, 2, 2)), ["mcc", "accuracy", "f1"])
    display = matrics.plot.agreement(found)
    display.correlation = correlation
    assert display._texts() == [["1", ">.99", "<−.99"], [">.99", "1", "<.01"], ["<−.99", "<.01", "1"]]


@pytest.mark.parametrize("exponent", range(-6, 4))
@pytest.mark.parametrize("share", [0.03, 0.3, 1.0, 3.0, 30.0, 300.0])
def test_limits_have_the_digits_that_their_error_justifies(exponent: int, share: float) -> None:
    """The limits are told apart, and rounding moves no number by more than half of the standard error."""
    value = 1.234 * 10.0**exponent
    error = value / share
    texts = with_limits(value, value - 2 * error, value + 2 * error)
    shown = [float(text.replace(",", "").lstrip("<>")) for text in texts]
    if value < 900 and error > 1e-6:
        assert shown[1] < shown[0] < shown[2]
        assert abs(shown[0] - value) <= error / 2
        assert share <= 1 or len(texts[0].lstrip("0.")) >= 2
    assert with_limits(value, value - 2 * error, value + 2 * error, error) == texts


def test_differences_of_rare_classes_are_shown() -> None:
    """These were "0.000 [0.000, 0.000]"."""
    assert limits(0.0003, 0.0001, 0.0005) == "0.00030 [0.00010, 0.00050]"
    assert limits(-0.00021, -0.0004, 0.00001) == "-0.00021 [-0.00040, 0.00001]"
    cm = np.array([[199_000, 500], [100, 400]])
    other = np.array([[199_000, 500], [60, 440]])
    found = matrics.compare(other, cm, "accuracy")["accuracy"]
    text = matrics.to_latex({"accuracy": found})
    assert "0.00020 [" in text, text
    assert number(0.003124) == "0.00312"
