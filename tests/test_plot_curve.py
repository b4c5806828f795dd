"""Pictures of measures against the threshold, of ROC curves and of precision-recall curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import matrics
from matrics import plot

pytest.importorskip("matplotlib")

from pictures import compare

from matrics._plot.curve_data import steps
from matrics._plot.curve_lines import measure_at
from matrics._plot.lines import thinned

RANDOM = np.random.default_rng(19)
Y = RANDOM.random(300) < 0.3
GOOD, BAD = (RANDOM.normal(size=300) + shift * Y for shift in (2, 1))
MODELS = {"good": GOOD, "less good, with a name that is too long for it": BAD}


def counts_at(threshold: float, scores: np.ndarray = GOOD) -> tuple[int, int, int, int]:
    """True and false positives, false and true negatives, one sample after the other."""
    tp = fp = fn = tn = 0
    for is_positive, score in zip(Y, scores, strict=True):
        tp += bool(is_positive and score >= threshold)
        fp += bool(not is_positive and score >= threshold)
        fn += bool(is_positive and score < threshold)
        tn += bool(not is_positive and score < threshold)
    return tp, fp, fn, tn


def legend(display: plot.Display) -> list[str]:
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        pytest.param("curve_roc", lambda: plot.curve(Y, MODELS, iso="mcc", best="mcc"), marks=pytest.mark.exhaustive),
        ("curve_precision_recall", lambda: plot.curve(Y, GOOD, kind="precision_recall", level=0.9, num=100, rng=0)),
        pytest.param(
            "curve_measures", lambda: plot.curve(Y, GOOD, kind=["f1", "mcc", "cen"]), marks=pytest.mark.exhaustive
        ),
        pytest.param("curve_models", lambda: plot.curve(Y, MODELS, kind=["f1", "eve"]), marks=pytest.mark.exhaustive),
        pytest.param(
            "curve_crowd",
            lambda: plot.curve(Y, np.linspace(0, 2, 40)[:, None] * Y + np.sin(np.arange(12000).reshape(40, 300) ** 2)),
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_it_looks_as_it_did(name: str, draw: object, tmp_path: Path) -> None:
    compare(draw(), name, tmp_path)


def test_the_points_are_those_of_the_counts() -> None:
    (roc,) = plot.curve(Y, GOOD).lines[0]
    (pr,) = plot.curve(Y, GOOD, kind="precision_recall").lines[0]
    (f1,) = plot.curve(Y, GOOD, kind="f1").lines[0]
    assert f"{np.mean(Y):.1%} of the samples are positive" in plot.curve(Y, GOOD, kind="precision_recall").describe()
    for place in (0, 1, 40, 299, 300):
        tp, fp, fn, tn = counts_at(roc.thresholds[place])
        assert (roc.x[place], roc.y[place]) == (fp / (fp + tn), tp / (tp + fn))
        assert pr.x[place] == tp / (tp + fn)
        if place:
            assert pr.y[place] == tp / (tp + fp)
            assert f1.y[place] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    pairs = GOOD[Y][:, None] - GOOD[~Y]
    assert roc.summary == pytest.approx(np.mean(pairs > 0))


def test_names_of_curves_in_other_spellings() -> None:
    said = plot.curve(Y, GOOD, kind="precision_recall").describe()
    assert plot.curve(Y, GOOD, kind="Precision-Recall").describe() == said
    assert plot.curve(Y, GOOD, kind="ROC").kind == "roc"


def test_pr_is_the_precision_recall_curve() -> None:
    """And not the prevalence, which PyCM calls so."""
    display = plot.curve(Y, GOOD, kind="pr")
    assert (display.kind, display.ax_.get_ylabel()) == ("precision_recall", "precision")
    area = float(matrics.ranking.average_precision(Y, GOOD))
    assert display.lines[0][0].summary == pytest.approx(area)
    np.testing.assert_array_equal(display.lines[0][0].y, matrics.ranking.precision_recall_curve(Y, GOOD).precision)


TEXTS = np.where(Y, "fraud", "ok")  # in the order of the alphabet the other class is the last


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("y_true", "options", "name"),
    [
        (TEXTS, {"positive": "fraud"}, "fraud"),
        (list(TEXTS), {"positive": "fraud"}, "fraud"),
        (Y.astype(int), {"class_names": ["ok", "fraud"], "positive": "fraud"}, "fraud"),
        (1 - Y, {"positive": 0}, "class 0"),
        (np.where(Y, 2, np.arange(300) % 2), {"positive": 2}, "class 2"),
    ],
)
def test_the_positive_class(y_true: object, options: dict, name: str) -> None:
    """However it is said, the numbers are those of 0 and 1, and titles say of which class."""
    roc = plot.curve(y_true, {"a": GOOD}, **options)
    assert roc.lines[0][0].summary == pytest.approx(float(matrics.ranking.roc_auc(Y, GOOD)))
    assert roc.ax_.get_ylabel() == f"true positive rate (recall) of {name}"
    assert roc.describe().startswith(f"ROC curve for {name};")
    measure = plot.curve(y_true, GOOD, kind="recall,mcc", **options)
    assert measure.measures == [f"recall of {name}", "mcc"]
    assert legend(measure)[0].startswith(f"recall of {name}: ")
    np.testing.assert_array_equal(measure.lines[0][0].y, matrics.ranking.threshold_curve(Y, GOOD, "recall")["recall"])


def test_one_of_several_classes_is_compared_with_the_rest() -> None:
    y_true = np.arange(30) % 3
    scores = np.eye(3)[y_true] + RANDOM.normal(size=(30, 3))
    names = ["cat", "dog", "fox"]
    each = plot.curve(y_true, scores, class_names=names, kind="f1")
    assert [line.name for line in each.lines[0]] == names
    assert each.measures == ["f1 of each class"]
    one = plot.curve(y_true, {"net": scores}, class_names=names, positive="dog", kind="f1")
    assert one.measures == ["f1 of dog"]
    np.testing.assert_array_equal(one.lines[0][0].y, each.lines[0][1].y)


@pytest.mark.parametrize(
    ("y_true", "options", "message"),
    [
        (TEXTS, {}, "pass the class of the scores, positive='fraud' or positive='ok'"),
        (TEXTS, {"positive": "FRAUD"}, "positive: expected a label of y_true, 'fraud', 'ok', got 'FRAUD'"),
        (Y, {"class_names": ["ok", "fraud"], "positive": "FRAUD"}, "positive: expected one of the classes 'ok', 'frau"),
    ],
)
def test_a_class_that_is_not_known(y_true: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot.curve(y_true, GOOD, **options)


def test_the_best_threshold_is_marked() -> None:
    display = plot.curve(Y, MODELS, kind=["mcc", "cen"])
    for metric, lines in zip(("mcc", "cen"), display.lines, strict=True):
        for line, scores in zip(lines, MODELS.values(), strict=True):
            best = matrics.ranking.best_threshold(Y, scores, metric)
            assert (line.thresholds[line.best], line.summary) == (best.threshold, best.value)
    assert display.best_of is None
    best = matrics.ranking.best_threshold(Y, GOOD, "mcc")
    assert f"mcc of good: best {best.value:.3f} from {best.threshold:.3g} on" in display.describe()
    best = matrics.ranking.best_threshold(Y, GOOD, "f1")
    on_roc = plot.curve(Y, GOOD, best="f1")
    assert on_roc.lines[0][0].thresholds[on_roc.lines[0][0].best] == best.threshold
    assert legend(on_roc)[1] == f"best f1 of class 1: from {best.threshold:.3g} on"
    assert plot.curve(Y, GOOD, kind="f1", best=False).lines[0][0].best is None


def test_bands_are_quantiles_of_resampled_curves() -> None:
    display = plot.curve(Y, GOOD, kind="accuracy", level=0.9, num=2000, rng=1)
    (band,) = display.bands[0]
    for threshold in (0.0, 1.0):
        place = np.abs(band.x - threshold).argmin()
        tp, _, _, tn = counts_at(band.x[place])
        share = (tp + tn) / len(Y)
        error = 1.645 * np.sqrt(share * (1 - share) / len(Y))  # the accuracy of resampled samples is binomial
        assert (band.low[place], band.high[place]) == pytest.approx((share - error, share + error), abs=0.008)
    again = plot.curve(Y, GOOD, kind="accuracy", level=0.9, num=2000, rng=1).bands[0][0]
    np.testing.assert_array_equal(band.low, again.low)
    assert "pointwise 90% limits" in display.describe()


def test_bands_of_roc_and_precision_recall_hold_the_curve() -> None:
    for kind in ("roc", "precision_recall"):
        display = plot.curve(Y, GOOD, kind=kind, level=0.99, num=300, rng=0)
        (band,), (line,) = display.bands[0], display.lines[0]
        value = np.interp(band.x, line.x, line.y) if kind == "roc" else None
        if value is None:
            value = line.y[1:][np.minimum(np.searchsorted(line.x[1:], band.x - 1e-12), len(line.x) - 2)]
        inside = (band.low <= value + 1e-9) & (value - 1e-9 <= band.high)
        assert inside[5:-5].all()
        assert (band.high - band.low).max() > 0.05


def test_lines_of_equal_values() -> None:
    tp, fp, fn, tn = counts_at(0.5)
    share = np.mean(Y)
    metric = matrics.get_metric("mcc")
    cm = [[tn, fp], [fn, tp]]
    on_roc = measure_at("roc", np.array([fp / (fp + tn)]), np.array([tp / (tp + fn)]), share, metric)
    on_pr = measure_at("precision_recall", np.array([tp / (tp + fn)]), np.array([tp / (tp + fp)]), share, metric)
    assert on_roc == pytest.approx(float(matrics.mcc(cm)))
    assert on_pr == pytest.approx(float(matrics.mcc(cm)))
    # Whoever finds all positive samples cannot have a precision below their share.
    assert np.isnan(measure_at("precision_recall", np.array([1.0]), np.array([share / 2]), share, metric))
    assert "equal mcc at prevalence" in "".join(legend(plot.curve(Y, GOOD, iso="mcc")))
    assert "equal" not in "".join(legend(plot.curve(Y, GOOD, kind="precision_recall", iso=False)))


def test_measures_that_have_no_lines_of_equal_values() -> None:
    for metric in ("imbalance_ratio", "adjusted_rand_index"):  # the same everywhere, and undefined for shares
        assert "equal" not in "".join(legend(plot.curve(Y, GOOD, iso=metric)))


def test_measures_without_bounds_and_without_a_direction() -> None:
    display = plot.curve(Y, GOOD, kind="chi_squared")
    assert display.ax_.get_ylim()[1] > 10
    neutral = plot.curve(Y, GOOD, kind="prevalence")
    assert neutral.lines[0][0].best is None
    assert legend(neutral) == ["prevalence of class 1"]


def test_few_positive_samples_may_be_drawn_in_no_replicate() -> None:
    scores = np.arange(500) / 500
    y_true = np.arange(500) == 400
    (band,) = plot.curve(y_true, scores, kind="precision_recall", level=0.9, num=50, rng=0).bands[0]
    assert np.isfinite(band.low).all()  # of the replicates that have one


def test_classes_are_compared_with_the_rest() -> None:
    y_true = np.arange(30) % 3
    scores = np.eye(3)[y_true] + RANDOM.normal(size=(30, 3))
    display = plot.curve(y_true, scores)
    assert [line.name for line in display.lines[0]] == ["class 0", "class 1", "class 2"]
    areas = matrics.ranking.roc_auc(y_true, scores, average="class")
    np.testing.assert_allclose([line.summary for line in display.lines[0]], areas)
    assert np.isfinite(plot.curve(y_true, scores, kind="precision_recall").prevalence)


def test_many_models_are_grey_and_the_best_have_names() -> None:
    scores = RANDOM.normal(size=(30, 300)) + np.linspace(0, 2, 30)[:, None] * Y
    display = plot.curve(Y, scores)
    areas = np.array([line.summary for line in display.lines[0]])
    assert set(display.named) == set(np.argsort(-areas)[:5])
    assert any("25 others" in text for text in legend(display))
    assert "The other 25 are grey lines." in display.describe()


@pytest.mark.exhaustive
def test_files_are_small() -> None:
    y_true = RANDOM.random(100_000) < 0.3
    scores = RANDOM.normal(size=100_000) + y_true
    for kind in ("roc", "precision_recall", ["f1", "mcc", "precision", "recall"]):
        assert len(plot.curve(y_true, scores, kind=kind, level=0.95, num=100, rng=0).svg()) < 150_000
    sweep = RANDOM.normal(size=(200, 300)) + np.linspace(0, 2, 200)[:, None] * Y
    for kind in ("roc", "precision_recall", "mcc"):
        assert len(plot.curve(Y, sweep, kind=kind).svg()) < 150_000


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_what_is_undefined_is_said() -> None:
    scores = {"nan": np.where(np.arange(300) == 3, np.nan, GOOD), "good": GOOD}
    display = plot.curve(Y, scores, level=0.9, num=20, rng=0)
    assert legend(display)[0] == "nan: a score is NaN or a label out of range"
    assert "nan is undefined" in display.describe()
    assert "no positive samples" in plot.curve(np.zeros(3, int), GOOD[:3], kind="mcc").describe()
    assert "no samples" in plot.curve(np.zeros(0, int), np.zeros(0)).describe()
    assert "no negative samples" in plot.curve(np.ones(3, int), GOOD[:3]).describe()


def test_curves_that_were_computed_before() -> None:
    weights = RANDOM.random(300)
    roc = matrics.ranking.roc_curve(Y, np.stack([GOOD, BAD]), sample_weight=weights)
    display = plot.curve(roc, names=["a", "b"])
    assert (display.kind, [line.name for line in display.lines[0]]) == ("roc", ["a", "b"])
    np.testing.assert_array_equal(display.lines[0][1].y, roc.tpr[1])
    assert plot.curve(matrics.ranking.roc_curve(Y, GOOD)).describe() == "ROC curve."
    twice = matrics.ranking.threshold_curve(Y, GOOD, ["recall", "recall:binary", "mcc"])
    assert plot.curve(twice).measures == ["recall of class 1", "mcc"]
    own = matrics.ranking.threshold_curve(Y, GOOD, ["f1", "cen"], thresholds=[0.0, 1.0, 0.5])
    lines = plot.curve(own).lines[0]
    np.testing.assert_array_equal(lines[0].thresholds, [1, 0.5, 0])
    assert lines[0].summary == max(own["f1"])
    assert lines[1].summary == min(own["cen"])
    pair = {name: matrics.ranking.precision_recall_curve(Y, scores) for name, scores in MODELS.items()}
    assert [line.name for line in plot.curve(pair).lines[0]] == list(MODELS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, GOOD), {"kind": "f1", "best": "mcc"}, "best: expected True or False"),
        ((Y, GOOD), {"kind": "recall:class"}, "a single value for each matrix"),
        ((Y, GOOD), {"kind": "f1", "iso": "mcc"}, "iso: expected None"),
        ((Y, GOOD), {"iso": ["mcc", "f1"]}, "iso: expected a measure"),
        ((Y, GOOD), {"level": 2}, "level: expected"),
        ((Y, GOOD), {"names": ["a", "b"]}, "names: expected 1"),
        ((Y, MODELS), {"names": ["a", "b"]}, "names: expected None"),
        ((Y, {}), {}, "at least one model"),
        ((Y, np.zeros((0, 300))), {}, "at least one model"),
        ((Y, GOOD), {"kind": []}, "at least one metric"),
        ((Y, MODELS), {"kind": matrics.list_metrics("overall")[:13]}, "at most 12 measures"),
        ((Y,), {}, "instead of both, a ThresholdCurve"),
        ((matrics.ranking.roc_curve(Y, GOOD),), {"level": 0.9}, "level: expected None"),
        ((matrics.ranking.roc_curve(Y, GOOD),), {"best": "mcc"}, "best: expected True or False"),
        (
            ({"a": matrics.ranking.roc_curve(Y, GOOD), "b": matrics.ranking.precision_recall_curve(Y, GOOD)},),
            {},
            "curves of the same kind",
        ),
    ],
)
def test_errors_say_what_was_expected(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        plot.curve(*arguments, **options)


@pytest.mark.sampled(2)
def test_arrays_of_any_library(backend: object) -> None:
    display = plot.curve(backend.asarray(Y), backend.asarray(GOOD.astype(np.float32)))
    np.testing.assert_array_equal(display.lines[0][0].y, plot.curve(Y, GOOD.astype(np.float32)).lines[0][0].y)


def test_it_is_drawn_where_the_user_says() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    display = plot.curve(Y, MODELS, kind=["f1", "mcc"], ax=axes)
    assert list(display.ax_) == list(axes)
    assert axes[1].get_legend() is not None
    assert not display.figure_.legends


def test_thinned_lines_are_as_good_as_all_points() -> None:
    x = np.linspace(0, 1, 20_000)
    y = np.where((x > 0.4) & (x < 0.41), np.nan, np.sin(9 * x) + (np.abs(x - 0.7) < 1e-4))
    few_x, few_y = thinned(x, y)
    assert len(few_x) < 400
    assert np.isnan(few_y).sum() == 1
    known = np.isfinite(y)
    away = np.abs(np.interp(x[known], few_x[np.isfinite(few_y)], few_y[np.isfinite(few_y)]) - y[known])
    assert away[(x[known] < 0.69) | (x[known] > 0.71)].max() < 0.01
    assert few_y[np.isfinite(few_y)].max() == np.nanmax(y)  # a single point that stands out stays
    np.testing.assert_array_equal(thinned([1, 2], [3, np.nan])[0], [1, 2])


def test_values_hold_up_to_their_threshold() -> None:
    x, y = steps(np.array([1.0, 2.0, 4.0]), np.array([10.0, 20.0, 30.0]))
    np.testing.assert_array_equal(np.stack([x, y], -1), [[1, 10], [1, 20], [2, 20], [2, 30], [4, 30]])


def test_an_infinite_best_value_is_written() -> None:
    told = plot.curve([0, 1, 0, 1], [0.1, 0.9, 0.4, 0.3], kind="diagnostic_odds_ratio").describe()
    assert "diagnostic_odds_ratio of class 1: best ∞ from" in told


def test_a_corner_in_which_several_good_curves_overlap_is_enlarged() -> None:
    random = np.random.default_rng(0)
    true = random.integers(0, 2, 400)
    good = {name: 4 * true + random.normal(size=400) for name in ("one", "two")}
    for kind, corner in (("roc", (0, 1)), ("precision_recall", (1, 1))):
        display = plot.curve(true, good, kind=kind)
        (inset,) = display.ax_.child_axes
        (left, right), (low, high) = inset.get_xlim(), inset.get_ylim()
        assert left < corner[0] < right
        assert low < corner[1] < high
        assert high - low < 0.25
        # All curves are there, and turn within it.
        assert len(inset.lines) == 2
        for line in inset.lines:
            x, y = line.get_data()
            assert ((left <= x) & (x <= right) & (low <= y) & (y <= high)).any()
    poor = {name: true + random.normal(size=400) for name in ("one", "two")}
    assert not plot.curve(true, poor).ax_.child_axes
    assert not plot.curve(true, good["one"]).ax_.child_axes
    assert not plot.curve(true, good | {"poor": poor["one"]}).ax_.child_axes  # which turns elsewhere


def test_the_axis_of_thresholds_ends_where_scores_end() -> None:
    random = np.random.default_rng(0)
    scores = 0.2 + 0.1 * random.random(100)
    low, high = plot.curve(random.integers(0, 2, 100), scores, kind="accuracy").ax_.get_xlim()
    assert scores.min() - 0.005 < low < scores.min()
    assert scores.max() < high < scores.max() + 0.005


def test_areas_have_limits_and_a_given_threshold_is_marked() -> None:
    """Axes and the mark by the words of clinical studies, whose values are counted by hand."""
    display = plot.curve(Y, GOOD, threshold=0.5, style="clinical")
    (line,) = display.lines[0]
    area = matrics.ranking.interval(Y, GOOD, "roc_auc")["roc_auc"]
    assert (line.summary, line.low, line.high) == tuple(float(part) for part in area[:3])
    assert f"AUC {line.summary:.3f} [{line.low:.3f}, {line.high:.3f}]" in legend(display)[0]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("1 \N{MINUS SIGN} specificity", "sensitivity")
    positive, scores = np.asarray(Y) == 1, np.asarray(GOOD)
    sensitivity, specificity = (scores[positive] >= 0.5).mean(), (scores[~positive] < 0.5).mean()
    assert (line.x[line.best], line.y[line.best]) == (pytest.approx(1 - specificity), sensitivity)
    assert f"from 0.5 on: sensitivity {sensitivity:.3f}, specificity {specificity:.3f}" in legend(display)[1]
    dots = [one for one in display.ax_.lines if one.get_marker() not in {"", "None", None}]
    assert len(dots) == 1
    assert plot.curve(Y, GOOD, level=0.5, num=10).lines[0][0].low > line.low
    above = plot.curve(Y, GOOD, kind="pr", threshold=scores.max() + 1).lines[0][0]
    assert (above.best, above.x[0]) == (0, 0)


def test_a_threshold_that_cannot_be_marked() -> None:
    with pytest.raises(ValueError, match="threshold: expected None with best="):
        plot.curve(Y, GOOD, threshold=0.5, best="f1")
    with pytest.raises(ValueError, match="threshold: expected None with measures"):
        plot.curve(Y, GOOD, threshold=0.5, kind="f1")
    with pytest.raises(ValueError, match="threshold: expected a finite number, got nan"):
        plot.curve(Y, GOOD, threshold=np.nan)
    with pytest.raises(ValueError, match="style: expected 'default' or 'clinical', got 'x'"):
        plot.curve(Y, GOOD, style="x")  # type: ignore[arg-type]


def test_a_score_that_is_lower_for_positive_samples_is_noted() -> None:
    note = "area below 0.5, so the score is probably lower in the positive class: use its negative "
    assert f"the curve: {note}" in plot.curve(Y, -np.asarray(GOOD)).describe()
    both = plot.curve(Y, {"up": GOOD, "down": -np.asarray(GOOD)}).describe()
    assert f" down: {note}" in both
    assert "up: area" not in both
    assert "below 0.5" not in plot.curve(Y, GOOD).describe()
    assert "below 0.5" not in plot.curve([0, 1, 0, 1], [1.0, 0.0, 0.3, 0.5]).describe()  # the limits contain 0.5
