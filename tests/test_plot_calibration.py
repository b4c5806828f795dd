"""Reliability diagrams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

RANDOM = np.random.default_rng(20)
PROBS = RANDOM.random(400)
Y = RANDOM.random(400) < PROBS**2  # these probabilities are too high
CLASSES = RANDOM.dirichlet([1, 1, 1], 200)
LABELS = RANDOM.integers(0, 3, 200)


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("calibration", lambda: plot.calibration(Y, PROBS, num_bins=10)),
        pytest.param(
            "calibration_models",
            lambda: plot.calibration(Y, {"a": PROBS, "b": PROBS**2, "nan": np.nan * PROBS}, num_bins=5),
            marks=[pytest.mark.exhaustive, pytest.mark.filterwarnings("ignore:.*got NaN")],
        ),
        pytest.param(
            "calibration_crowd",
            lambda: plot.calibration(Y, PROBS ** np.linspace(0.5, 4, 12)[:, None], num_bins=6, bins="mass"),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, draw: object, tmp_path: Path) -> None:
    compare(draw(), name, tmp_path)


def test_points_limits_and_error_are_those_of_the_bins() -> None:
    display = plot.calibration(Y, PROBS, num_bins=4, bins="width", level=0.9)
    (line,) = display.lines
    z, error = 1.6448536269514722, 0.0
    for k in range(4):
        inside = (k / 4 <= PROBS) & ((k + 1) / 4 > PROBS)
        n, share = inside.sum(), Y[inside].mean()
        # Wilson's limits are the p for which (share - p)² = z² p (1 - p) / n.
        limits = np.sort(np.roots([1 + z * z / n, -2 * share - z * z / n, share * share]))
        np.testing.assert_allclose([line.low[k], line.high[k]], limits)
        assert (line.samples[k], line.happened[k]) == (n, pytest.approx(share))
        assert line.predicted[k] == pytest.approx(PROBS[inside].mean())
        error += n / 400 * abs(share - PROBS[inside].mean())
    assert line.error == pytest.approx(error)
    assert display.ax_.get_title() == f"calibration error {error:.3f}"
    outside = (line.low > line.predicted) | (line.high < line.predicted)
    assert f"{outside.sum()} of 4 bins with samples have limits off the diagonal" in display.describe()
    assert outside.any()


def test_small_bins_are_counted_and_not_drawn() -> None:
    display = plot.calibration(Y, np.append(PROBS[:-3] / 2, [0.9, 0.95, 0.99]), bins="width", num_bins=10, smooth=False)
    (line,) = display.lines
    assert (line.samples[9], line.samples[4] >= 5) == (3, True)
    assert "1 bins of fewer than 5 samples are not drawn" in display.describe()
    drawn = [one for one in display.ax_.lines if one.get_marker() not in {"None", ""} and len(one.get_xdata())]
    assert max(drawn[0].get_xdata()) < 0.5


def test_the_smooth_curve_is_a_logistic_model_with_a_spline() -> None:
    """Of a model whose logits are too large by a factor, it is that of the truth, which is within its limits."""
    logit = RANDOM.normal(size=20_000)
    happened = RANDOM.random(20_000) < 1 / (1 + np.exp(-logit))
    smooth = plot.calibration(happened, 1 / (1 + np.exp(-2 * logit))).lines[0].smooth
    assert smooth is not None
    middle = (smooth.predicted > 0.1) & (smooth.predicted < 0.9)
    truth = 1 / (1 + np.sqrt(1 / smooth.predicted[middle] - 1))
    np.testing.assert_allclose(smooth.happened[middle], truth, atol=0.02)
    assert ((smooth.low <= smooth.happened) & (smooth.happened <= smooth.high)).all()
    assert plot.calibration([0, 1, 0, 1], [0.2, 0.3, 0.9, 0.4], num_bins=2, smooth=False).lines[0].smooth is None
    assert plot.calibration([1, 1], [0.2, 0.3], num_bins=2).lines[0].smooth is None  # nothing to fit


def test_probabilities_of_classes() -> None:
    top = plot.calibration(LABELS, CLASSES, num_bins=5, bins="width")
    confidence, correct = CLASSES.max(axis=1), CLASSES.argmax(axis=1) == LABELS
    inside = (confidence >= 0.6) & (confidence < 0.8)
    assert top.lines[0].happened[3] == pytest.approx(correct[inside].mean())
    assert top.ax_.get_ylabel() == "share of correct predictions"
    each = plot.calibration(LABELS, CLASSES, num_bins=5, bins="width", of="class_wise")
    assert [line.name for line in each.lines] == ["class 0", "class 1", "class 2"]
    own = matrics.probabilities.expected_calibration_error(LABELS == 1, CLASSES[:, 1], num_bins=5)
    assert each.lines[1].error == pytest.approx(float(own))


def test_several_models() -> None:
    stack = np.stack([PROBS, PROBS**2])
    by_name = plot.calibration(Y, {"a": PROBS, "b": PROBS**2})
    assert by_name.panels() == 2
    assert by_name.ax_[1].get_title() == f"b\nerror {by_name.lines[1].error:.3f} (equal mass)"
    together = plot.calibration(Y, stack, names=["a", "b"], together=True)
    assert [line.error for line in together.lines] == [line.error for line in by_name.lines]
    assert together.figure_.legends[0].get_texts()[0].get_text().startswith("a: calibration error")
    many = plot.calibration(Y, PROBS ** np.linspace(0.5, 4, 20)[:, None])
    errors = np.array([line.error for line in many.lines])
    assert set(many.named) == set(np.argsort(errors)[:5])
    assert "other 15" in many.describe()


def test_the_positive_class_and_names_of_classes() -> None:
    texts = np.where(Y, "disease", "healthy")
    display = plot.calibration(texts, {"net": PROBS}, positive="disease", num_bins=5, together=True)
    np.testing.assert_array_equal(display.lines[0].happened, plot.calibration(Y, PROBS, num_bins=5).lines[0].happened)
    assert display.ax_.get_ylabel() == "share of disease"
    assert display.describe().startswith("reliability diagram: probabilities of disease and how often")
    names = ["cat", "dog", "fox"]
    each = plot.calibration(LABELS, CLASSES, of="class_wise", class_names=names)
    assert [line.name for line in each.lines] == names
    one = plot.calibration(LABELS, CLASSES, class_names=names, positive="fox")
    np.testing.assert_array_equal(one.lines[0].happened, each.lines[2].happened)
    with pytest.raises(ValueError, match="pass the class of the scores, positive='disease'"):
        plot.calibration(texts, PROBS)


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_what_is_undefined_is_said() -> None:
    display = plot.calibration([0, 1, 1], {"nan": [0.1, np.nan, 0.2], "fine": [0.1, 0.2, 0.9]})
    assert "nan: undefined" in display.describe()
    assert display.ax_[0].get_title() == "nan\nundefined: a NaN"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, 2 * PROBS), {}, r"expected numbers in \[0, 1\]"),
        ((Y, PROBS), {"num_bins": 0}, "num_bins"),
        ((Y, PROBS), {"bins": "equal"}, "bins: expected"),
        ((Y, PROBS), {"of": "top_label"}, "expected probabilities of classes"),
        ((Y, PROBS), {"of": "class_wise"}, "expected probabilities of classes"),
        ((Y, PROBS), {"level": 95}, "level: expected"),
        ((Y, PROBS), {"names": "ab"}, "names: expected 1"),
        ((Y, {"a": PROBS}), {"names": ["b"]}, "names: expected None"),
        ((Y, {}), {}, "at least one model"),
        ((Y, np.zeros((0, 400))), {}, "at least one model"),
        (([], []), {}, "y_true: expected at least one sample, got none"),
        ((np.zeros(0, int), np.zeros((0, 3))), {}, "y_true: expected at least one sample, got none"),
    ],
)
def test_errors_say_what_was_expected(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.calibration(*arguments, **options)


@pytest.mark.sampled(1)
def test_arrays_of_any_library(backend: object) -> None:
    probs = CLASSES.astype(np.float32)
    line = plot.calibration(backend.asarray(LABELS), backend.asarray(probs)).lines[0]
    np.testing.assert_allclose(line.happened, plot.calibration(LABELS, probs).lines[0].happened, rtol=1e-6)


def test_a_smooth_curve_ends_where_samples_are_on_both_sides() -> None:
    """Between the fifth smallest and the fifth largest probability, and not on the frame."""
    random = np.random.default_rng(0)
    y_prob = np.concatenate([[0.001, 0.999], 0.3 + 0.4 * random.random(500)])
    y_true = (random.random(502) < y_prob).astype(int)
    (line,) = plot.calibration(y_true, y_prob).lines
    ordered = np.sort(y_prob)
    assert line.smooth is not None
    np.testing.assert_allclose(line.smooth.predicted[[0, -1]], ordered[[4, -5]])
    wide = random.random(4000) ** 4
    (line,) = plot.calibration((random.random(4000) < wide).astype(int), wide).lines
    assert line.smooth is not None
    assert line.smooth.predicted[0] == pytest.approx(0.005)


def test_a_rare_class_is_enlarged_and_few_samples_are_dotted() -> None:
    random = np.random.default_rng(1)
    y_true = (random.random(30_000) < 0.003).astype(int)
    y_prob = 1 / (1 + np.exp(-random.normal(-6.2 + 2.2 * y_true, 1.2)))
    assert y_prob.max() < 0.3
    display = plot.calibration(y_true, y_prob)
    (line,) = display.lines
    assert display.end == pytest.approx(1.05 * y_prob.max())
    assert line.histogram.sum() == 30_000
    edges = np.linspace(0, display.end, 21)
    np.testing.assert_array_equal(line.histogram, np.histogram(y_prob, edges)[0])
    assert line.smooth is not None
    assert np.count_nonzero(y_prob >= line.smooth.few) == 50
    assert f"bove {line.smooth.few:.2g} the line is dotted, as fewer than 50 samples are there" in display.describe()
    assert display.ax_.get_xlim()[1] < 0.32
    assert display.ax_.get_ylim()[1] > np.max(line.smooth.happened)
    assert "fewer than 50 samples" in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    common = plot.calibration(Y, PROBS)
    assert (common.end, common.ax_.get_legend()) == (1, None)
    assert "dotted" not in common.describe()


@pytest.mark.parametrize("width", [2.6, 6.4])
def test_the_title_is_within_the_picture(width: float) -> None:
    """A title that does not fit above its panel has two lines."""
    y_prob = RANDOM.random(300)
    display = matrics.plot.calibration((RANDOM.random(300) < y_prob).astype(int), y_prob, width=width)
    display.figure_.canvas.draw()
    title = display.ax_.title
    box = title.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= display.figure_.bbox.x1
    assert title.get_text().count("\n") == (width < 3)
