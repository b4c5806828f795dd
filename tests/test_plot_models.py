"""Forest plots of models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot
from matrics._plot.models import MeasureOfModels

pytest.importorskip("matplotlib")

from pictures import compare

NAMES = ["forest", "boosting", "a model with quite a long name", "coin", "tree", "none"]


def compared(metrics: object = ("mcc", "cen")) -> dict:
    """Models of which the second is best, the last one predicts one class, and the fourth guesses."""
    random = np.random.default_rng(0)
    true = random.integers(0, 3, 300)
    right = (0.9, 0.92, 0.7, 0.0, 0.8, 0.0)
    predicted = [np.where(random.random(300) < share, true, random.integers(0, 3, 300)) for share in right]
    predicted[-1][:] = 0
    return matrics.compare_models(true, predicted, metrics, num_classes=3, num=300, rng=0)


def matrices(models: int) -> np.ndarray:
    random = np.random.default_rng(1)
    return np.stack([random.multinomial(500, np.ravel(1 + k * np.eye(3)) / (9 + 3 * k)) for k in range(models)])


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("models", lambda: plot.models(compared(), names=NAMES)),
        pytest.param("models_one", lambda: plot.models(compared("mcc"), names=NAMES), marks=pytest.mark.exhaustive),
        pytest.param(
            "models_200",
            lambda: plot.models(matrics.interval(matrices(200).reshape(-1, 3, 3), ["accuracy"]), most=12),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, display: object, tmp_path: Path) -> None:
    compare(display(), name, tmp_path)


def test_the_best_come_first_and_the_tied_are_marked() -> None:
    found = compared()
    display = plot.models(found, names=NAMES)
    values = found["mcc"].intervals.estimate
    assert np.isnan(values[5])
    assert display.order == [*np.argsort(-values[:5]), 5]
    assert [label.get_text() for label in display.ax_[0].get_yticklabels()][:2] == ["boosting", "forest"]
    filled = [line.get_markerfacecolor() != "white" for line in display.ax_[0].lines if line.get_marker() == "o"]
    assert filled == found["mcc"].tied[display.order[:5]].tolist()
    limits = [line.get_xdata() for line in display.ax_[0].lines if len(line.get_xdata()) == 2 and line.get_lw() > 1]
    best = found["mcc"].intervals
    np.testing.assert_allclose(limits[0], [best.low[1], best.high[1]])
    assert display.ax_[0].lines[0].get_xdata()[0] == values[1]  # the dashed line
    assert display.ax_[0].texts[0].get_text() == "undefined"
    assert display.measures[1].best == np.nanargmin(found["cen"].intervals.estimate)  # of CEN lower is better
    told = display.describe()
    assert told.startswith("Forest plot of 6 models. By mcc the best is boosting with 0.")
    assert "Not significantly different from it: forest and tree." in told
    assert "By cen (lower is better) the best is" in told


def test_intervals_alone_do_not_tell_who_is_tied() -> None:
    cm = np.array([[[8, 2], [1, 9]], [[10, 0], [0, 10]], [[0, 0], [0, 0]]])
    display = plot.models(matrics.interval(cm, "accuracy"), names=["a", "b", "c"])
    assert display.measures[0].tied is None
    assert "dashed: the best value" in display.ax_.texts[-1].get_text()
    assert "cannot be told" not in display.describe()
    assert "It is undefined for 1 of the models." in display.describe()
    nothing = plot.models(matrics.interval(cm[2:], "accuracy"))
    assert nothing.describe() == "Forest plot of 1 model. accuracy is undefined for all of them."


def test_of_many_models_the_best_and_the_worst_are_shown() -> None:
    cm = matrices(60).reshape(-1, 3, 3)
    display = plot.models(matrics.interval(cm, "accuracy"), most=10)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    order = np.argsort(-matrics.accuracy(cm), kind="stable")
    assert labels == [*map(str, order[:7]), "… 50 more …", *map(str, order[-3:])]
    assert "50 of the 60 models are not shown" in display.ax_.texts[-1].get_text()
    assert display.describe().endswith("10 models are shown, the best and the worst by accuracy.")


def test_from_predictions() -> None:
    true = np.arange(60) % 3
    predictions = {"a": true, "b": (true + (true > 1)) % 3}
    display = plot.ModelsDisplay.from_predictions(true, predictions, "accuracy", num_classes=3, num=100, rng=0)
    assert display.names == ["a", "b"]
    np.testing.assert_allclose(display.measures[0].estimate, [1, 2 / 3])
    assert display.measures[0].order().tolist() == [0, 1]
    several = plot.ModelsDisplay.from_predictions(
        true, [true] * 3, "accuracy", num_classes=3, num=50, names=["x", "y", "z"]
    )
    assert several.names == ["x", "y", "z"]


def test_results_of_any_library(backend: object) -> None:
    cm = matrices(3).reshape(-1, 3, 3)
    display = plot.models(matrics.interval(backend.asarray(cm), "accuracy"))
    np.testing.assert_allclose(display.measures[0].estimate, matrics.accuracy(cm), rtol=1e-6)


def test_a_value_without_limits_is_told_from_one_with_narrow_limits() -> None:
    cm = np.array([[[500, 0], [0, 500]], [[400, 10], [10, 400]]])
    found = matrics.interval(cm, "cohen_kappa", method="bootstrap", num=100, rng=0)
    assert np.isnan(found["cohen_kappa"].low).tolist() == [True, False]
    display = plot.models(found)
    assert [line.get_marker() for line in display.ax_.lines if line.get_marker() in "oD"] == ["D", "o"]
    assert "◆ without limits" in display.ax_.texts[-1].get_text()
    assert "0 with 1 (no limits)" in display.describe()


def test_all_of_them_may_be_tied() -> None:
    same = MeasureOfModels("mcc", True, *np.ones((3, 2)), np.ones(2, bool))
    display = plot.ModelsDisplay([same], ["a", "b"], [0, 1], 2).plot()
    assert "none of 2 is significantly different from" in display.ax_.texts[-1].get_text()
    many = MeasureOfModels("mcc", True, *np.ones((3, 8)), np.ones(8, bool))
    display = plot.ModelsDisplay([many], list("abcdefgh"), list(range(8)), 8)
    assert "Not significantly different from it: b, c, d, e, f and 2 more." in display.describe()
    alone = MeasureOfModels("mcc", True, *np.array([[1, 0.5]] * 3), np.array([True, False]))
    assert "All others are significantly worse." in plot.ModelsDisplay([alone], ["a", "b"], [0, 1], 2).describe()


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ([1, 2], {}, "results: expected a mapping of measures"),
        ({"accuracy": 3}, {}, "expected intervals or comparisons of models, got int"),
        ({"best": "interval"}, {}, "best"),
        ({"imbalance_ratio": "interval"}, {}, "with a better direction, got imbalance_ratio"),
        ({"accuracy": "interval"}, {"names": ["a"]}, "names: expected 2, a name for each model"),
        ({"accuracy": "interval"}, {"most": 1}, "most: expected a number of models"),
        ({"accuracy": "interval"}, {"ax": [1, 2]}, "ax: expected Axes"),
        ({"recall:class": "interval"}, {}, "choose an average over the classes"),
        ({f"fbeta(beta={k})": "interval" for k in range(1, 14)}, {}, "at most 12 measures, each in a panel, got 13"),
        ({"accuracy": "interval", "mcc": "single"}, {}, "the same models for all measures"),
    ],
)
def test_errors_say_what_was_expected(results: object, options: dict, message: str) -> None:
    cm = np.array([[[8, 2], [1, 9]], [[7, 3], [2, 8]]])
    found = matrics.interval(cm, "accuracy")["accuracy"]
    known = {
        "interval": found,
        "single": matrics.interval(cm[:1], "accuracy")["accuracy"],
    }
    if isinstance(results, dict):
        results = {name: known.get(value, value) for name, value in results.items()}
    if results == {"recall:class": found}:
        results = matrics.interval(cm, "recall:class")
    with pytest.raises((ValueError, TypeError), match=message):
        plot.models(results, **options)
