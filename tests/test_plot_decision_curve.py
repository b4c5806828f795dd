"""Pictures of decision curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

RANDOM = np.random.default_rng(7)
LOGIT = RANDOM.normal(-1, 1.3, 500)
Y = (RANDOM.random(500) < 1 / (1 + np.exp(-LOGIT))).astype(int)
GOOD, WILD = 1 / (1 + np.exp(-LOGIT)), 1 / (1 + np.exp(-3 * (LOGIT + RANDOM.normal(size=500))))


@pytest.mark.parametrize(
    ("name", "y_prob"),
    [
        ("decision_curve", {"logistic": GOOD, "too sure": WILD}),
        pytest.param("decision_curve_one", GOOD, marks=pytest.mark.exhaustive),
    ],
)
def test_it_looks_as_it_did(name: str, y_prob: object, tmp_path: Path) -> None:
    compare(plot.decision_curve(Y, y_prob, num=300), name, tmp_path)  # type: ignore[arg-type]


def test_lines_are_the_net_benefits() -> None:
    display = plot.decision_curve(Y, {"logistic": GOOD, "too sure": WILD}, [0.3, 0.1], num=200)
    found = matrics.ranking.decision_curve(Y, np.stack([GOOD, WILD]), [0.3, 0.1], num=200, rng=0)
    for part, same in zip(display.curve.net_benefit, found.net_benefit, strict=True):
        np.testing.assert_array_equal(part, same)
    drawn = {line.get_label(): line for line in display.ax_.lines}
    np.testing.assert_array_equal(drawn["logistic"].get_xdata(), [0.1, 0.3])
    np.testing.assert_array_equal(drawn["logistic"].get_ydata(), found.net_benefit.estimate[0, ::-1])
    np.testing.assert_array_equal(drawn["treat all"].get_ydata(), found.treat_all.estimate[0, ::-1])
    assert set(drawn["treat none"].get_ydata()) == {0}
    better = (found.net_benefit.estimate[0] > np.maximum(found.treat_all.estimate[0], 0)).sum()
    assert f"logistic is worth more than treating all and than treating none at {better} of them" in display.describe()


def test_thresholds_end_where_probabilities_do() -> None:
    assert plot.decision_curve(Y, GOOD / 4, num=20).curve.thresholds.max() <= 0.25
    assert plot.decision_curve([0, 1], [0.001, 0.002], num=20).curve.thresholds.tolist() == [0.01, 0.02]


@pytest.mark.parametrize(
    ("y_prob", "names", "message"),
    [
        (np.full((9, 500), 0.5), None, "expected 1 to 8 models"),
        ({"a": GOOD}, ["a"], "the keys of y_prob are the names"),
        (np.stack([GOOD, WILD]), ["a"], "names: expected 2"),
        ({}, None, "empty mapping"),
    ],
)
def test_bad_input_raises(y_prob: object, names: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.decision_curve(Y, y_prob, [0.2], names=names, num=20)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_what_is_undefined_is_said() -> None:
    spoiled = np.where(np.arange(500) == 3, np.nan, GOOD)
    told = plot.decision_curve(Y, spoiled, num=20).describe()
    assert "the model is undefined: a NaN." in told
    assert "worth" not in told
    display = plot.decision_curve(Y, {"spoiled": spoiled, "fine": GOOD}, [0.1, 0.3], num=20)
    assert "spoiled is undefined: a NaN. fine is worth more" in display.describe()
    drawn = {line.get_label(): line for line in display.ax_.lines}
    assert "spoiled: undefined: a NaN" in drawn
    alone = matrics.ranking.decision_curve(Y, GOOD, [0.1, 0.3], num=20)
    np.testing.assert_array_equal(drawn["treat all"].get_ydata(), alone.treat_all.estimate)  # of the other model
    nobody = plot.decision_curve([0, 0, 0], [0.1, 0.2, 0.3], prevalence=0.2, num=20)
    assert "the model is undefined: no samples of a class." in nobody.describe()


@pytest.mark.parametrize(
    ("y_true", "y_prob", "thresholds", "message"),
    [
        (Y, GOOD, [], "thresholds: expected at least one threshold, got none"),
        ([], [], None, "y_true: expected at least one sample, got none"),
        (np.zeros(0, int), np.zeros((2, 0)), [0.1], "y_true: expected at least one sample, got none"),
    ],
)
def test_nothing_to_draw(y_true: object, y_prob: object, thresholds: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.decision_curve(y_true, y_prob, thresholds, num=20)  # type: ignore[arg-type]


def test_the_picture_ends_where_no_model_is_useful_and_has_all_limits() -> None:
    """Without the few probabilities near 1, and with the colours of the bands in the legend."""
    random = np.random.default_rng(1)
    y_true = (random.random(400) < 0.08).astype(int)
    marker = random.normal(10 + 4 * y_true, 3)
    y_prob = 1 / (1 + np.exp(-(marker - 14) / 1.2))
    display = plot.decision_curve(y_true, {"a": y_prob, "b": y_prob**2}, num=200)
    found = display.curve.net_benefit
    x, prevalence = np.asarray(display.curve.thresholds), y_true.mean()
    rival = np.maximum(np.asarray(display.curve.treat_all.estimate)[0], 0)
    is_useful = (np.asarray(found.estimate).max(axis=0) - rival) > 0.02 * prevalence
    assert x[is_useful].max() > 0.9  # a single patient
    assert 0.2 < display.end < 0.6
    there = x <= display.end
    bottom, top = display.ax_.get_ylim()
    assert bottom < np.asarray(found.low)[:, there].min()
    assert top > np.asarray(found.high)[:, there].max()
    legend = display.figure_.legends[0]
    assert [text.get_text() for text in legend.get_texts()][-1] == "95% limits"
    colours = {line.get_label(): line.get_color() for line in display.ax_.lines}
    patches = [patch.get_facecolor()[:3] for patch in legend.findobj(Rectangle) if patch.get_alpha() == 0.18]
    assert patches == [to_rgb(colours["a"]), to_rgb(colours["b"])]
