"""Scores that are lower in the positive class: everything is as of their negatives, thresholds in the user's units."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ranking

RANDOM = np.random.default_rng(8)
TRUE = (RANDOM.random(120) < 0.4).astype(int)
LOW = RANDOM.normal(20 - 4 * TRUE, 3).round(1)  # of ill people low values
LOW[0] = LOW[TRUE == 1][3]  # of both classes

SINGLE: dict[str, dict[str, Any]] = {
    "roc_auc": {},
    "average_precision": {},
    "partial_roc_auc": {"max_fpr": 0.3},
    "roc_auc_variance": {},
    "precision_at_recall": {"recall": 0.8},
    "recall_at_precision": {"precision": 0.8},
    "recall_at_specificity": {"specificity": 0.8},
    "precision_at_k": {"k": 20},
    "recall_at_k": {"k": 20},
    "lift_at_k": {"k": 20},
}


@pytest.mark.parametrize("name", SINGLE)
def test_values(name: str) -> None:
    """Measures without a threshold are those of the negated scores, and not those of the scores."""
    measure, options = getattr(ranking, name), SINGLE[name]
    found = measure(TRUE, LOW, lower_is_positive=True, **options)
    assert found == measure(TRUE, -LOW, **options)
    if name != "roc_auc_variance":  # which is that of both directions
        assert found != measure(TRUE, LOW, **options)


def test_area_by_pairs() -> None:
    """The area is the share of pairs in which the ill person has the lower value."""
    ill, healthy = LOW[TRUE == 1][:, None], LOW[TRUE == 0][None]
    by_hand = np.mean((ill < healthy) + 0.5 * (ill == healthy))
    assert ranking.roc_auc(TRUE, LOW, lower_is_positive=True) == pytest.approx(by_hand, rel=1e-12)


def test_curves() -> None:
    """Thresholds are values of the marker, from -inf up, and at each a value of at most this is positive."""
    for name in ("roc_curve", "precision_recall_curve"):
        curve = getattr(ranking, name)(TRUE, LOW, lower_is_positive=True)
        assert np.array_equal(curve.thresholds, [-math.inf, *np.sort(LOW)])
        recall = curve.tpr if name == "roc_curve" else curve.recall
        by_hand = [np.mean(LOW[TRUE == 1] <= limit) for limit in curve.thresholds]
        assert np.allclose(recall, by_hand, rtol=1e-12)


@pytest.mark.parametrize("thresholds", [None, [14.0, LOW[0], 30.0]])
def test_threshold_curve(thresholds: Any) -> None:
    found = ranking.threshold_curve(TRUE, LOW, ["recall", "precision"], thresholds=thresholds, lower_is_positive=True)
    assert np.array_equal(found.thresholds, [-math.inf, *np.sort(LOW)] if thresholds is None else thresholds)
    for limit, recall, precision in zip(found.thresholds, found["recall"], found["precision"], strict=True):
        below = limit >= LOW
        assert recall == pytest.approx(np.mean(below[TRUE == 1]))
        if below.any():
            assert precision == pytest.approx(TRUE[below].mean())


def test_confusion_matrix() -> None:
    cm = ranking.confusion_matrix(TRUE, LOW, [16.0, LOW[0]], lower_is_positive=True)
    for found, limit in zip(cm, [16.0, LOW[0]], strict=True):
        assert np.array_equal(found, matrics.confusion_matrix(TRUE, (limit >= LOW).astype(int), num_classes=2))


def test_thresholds_of_unsigned_integers() -> None:
    """Their sign is changed as that of the scores' type: 16 does not become 240."""
    found = ranking.confusion_matrix(TRUE, LOW, np.array([16], np.uint8), lower_is_positive=True)
    assert np.array_equal(found, ranking.confusion_matrix(TRUE, LOW, [16.0], lower_is_positive=True))
    assert found[0].sum(axis=0)[1] == np.sum(LOW <= 16)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_libraries(library: str) -> None:
    """The same on tensors, also in compiled code of JAX."""
    module = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
    true, low = (module.asarray(values) for values in (TRUE, LOW))
    expected = ranking.threshold_curve(TRUE, LOW, "recall", lower_is_positive=True)

    def curve(true: Any, low: Any) -> Any:
        found = ranking.threshold_curve(true, low, "recall", lower_is_positive=True)
        return found.thresholds, found["recall"], ranking.roc_auc(true, low, lower_is_positive=True)

    runs = [curve] if library == "torch" else [curve, pytest.importorskip("jax").jit(curve)]
    for run in runs:
        thresholds, recall, area = run(true, low)
        assert np.allclose(np.asarray(thresholds), expected.thresholds, rtol=1e-6)
        assert np.allclose(np.asarray(recall), expected["recall"], rtol=1e-6)
        assert float(area) == pytest.approx(ranking.roc_auc(TRUE, LOW, lower_is_positive=True), rel=1e-6)


def test_best_threshold() -> None:
    """The threshold and its limits have the units of the marker, the limits in their order; so has a budget."""
    found = ranking.best_threshold(TRUE, LOW, "f1", lower_is_positive=True, level=0.9, num=50, rng=3)
    other = ranking.best_threshold(TRUE, -LOW, "f1", level=0.9, num=50, rng=3)
    assert (found.threshold, found.value) == (-other.threshold, other.value)
    interval, turned = found.threshold_interval, other.threshold_interval
    assert (interval.estimate, interval.low, interval.high) == (-turned.estimate, -turned.high, -turned.low)
    assert interval.low <= interval.estimate <= interval.high
    assert tuple(found.value_interval) == tuple(other.value_interval)
    budget = {"subject_to": "predicted_positives<=30"}
    unlabelled = RANDOM.normal(18, 4, 40)
    found = ranking.best_threshold(TRUE, LOW, "recall", unlabelled_scores=unlabelled, lower_is_positive=True, **budget)
    assert np.sum(found.threshold >= LOW) + np.sum(unlabelled <= found.threshold) <= 30
    other = ranking.best_threshold(TRUE, -LOW, "recall", unlabelled_scores=-unlabelled, **budget)
    assert (found.threshold, found.value) == (-other.threshold, other.value)


def test_limits() -> None:
    """Limits and comparisons are those of the negated scores."""
    found = ranking.interval(TRUE, LOW, "roc_auc", lower_is_positive=True)["roc_auc"]
    assert tuple(found) == tuple(ranking.interval(TRUE, -LOW, "roc_auc")["roc_auc"])
    models = {"a": LOW, "b": LOW + RANDOM.normal(size=120)}
    both = ranking.compare(TRUE, models, "roc_auc", lower_is_positive=True)["roc_auc"]
    other = ranking.compare(TRUE, {name: -scores for name, scores in models.items()}, "roc_auc")["roc_auc"]
    assert np.array_equal(both.p_value, other.p_value, equal_nan=True)
    assert np.array_equal(both.intervals.estimate, other.intervals.estimate)


OPTIONS: dict[str, dict[str, Any]] = {
    "threshold": {"threshold": 17.0},
    "best": {"best": "mcc"},
    "precision_recall": {"kind": "pr", "level": 0.9, "num": 20, "rng": 0},
    "measures": {"kind": ["f1", "mcc"], "level": 0.9, "num": 20, "rng": 0},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_picture(name: str) -> None:
    """The lines are those of the negated scores, with thresholds in the units of the marker."""
    plot = pytest.importorskip("matplotlib") and pytest.importorskip("matrics.plot")
    options = OPTIONS[name]
    drawn = plot.curve(TRUE, LOW, lower_is_positive=True, **options)
    other = plot.curve(TRUE, -LOW, **{**options, **({"threshold": -17.0} if name == "threshold" else {})})
    for own, line in zip(drawn.lines[0], other.lines[0], strict=True):
        assert np.array_equal(own.thresholds, -line.thresholds)
        assert (own.best, own.summary) == (line.best, line.summary)
        assert np.array_equal(own.y, line.y, equal_nan=True)
    for own, band in zip(drawn.bands[0], other.bands[0], strict=True):
        assert np.array_equal(own.x, -band.x if name == "measures" else band.x)
        assert np.array_equal(own.low, band.low, equal_nan=True)
    place = drawn.lines[0][0].best
    if name == "threshold":
        assert drawn.lines[0][0].y[place] == np.mean(LOW[TRUE == 1] <= 17)
        assert "up to 17: recall" in drawn.describe()
    if name == "measures":  # drawn steps hold from a score up to, and not including, the next score
        line = drawn.lines[0][0]
        x, y = drawn._corners(line)
        for score, value in zip(line.thresholds[1:], line.y[1:], strict=True):
            assert value in y[x == score] or np.isnan(value)
        assert drawn.ax_.get_xlabel() == "threshold: positive up to this score"
        at = line.thresholds[place]
        assert f"best {line.summary:.3f} up to {at:.3g}" in drawn.describe()
        between = (line.thresholds[place] + line.thresholds[place + 1]) / 2
        assert np.interp(between, x[::-1], y[::-1]) == line.y[place]


def test_picture_of_computed_curves() -> None:
    plot = pytest.importorskip("matplotlib") and pytest.importorskip("matrics.plot")
    for name in ("roc_curve", "precision_recall_curve"):
        computed = getattr(ranking, name)(TRUE, LOW, lower_is_positive=True)
        said = plot.curve({"marker": computed}, lower_is_positive=True, threshold=17.0).describe()
        assert "marker: up to 17: " in said
        assert f"recall {np.mean(LOW[TRUE == 1] <= 17):.3f}" in said
    computed = ranking.threshold_curve(TRUE, LOW, "f1", lower_is_positive=True)
    best = ranking.best_threshold(TRUE, LOW, "f1", lower_is_positive=True)
    said = plot.curve(computed, lower_is_positive=True).describe()
    assert f"best {best.value:.3f} up to {best.threshold:.3g}" in said
    assert "lower_is_positive=True" in plot.curve(TRUE, LOW).describe()
    with pytest.raises(ValueError, match="lower_is_positive: expected y_score of a single class with it, got a"):
        plot.curve([0, 1, 2], np.eye(3), lower_is_positive=True)


def test_refused() -> None:
    with pytest.raises(ValueError, match="lower_is_positive: expected y_score of a single class with it, got a"):
        ranking.roc_auc([0, 1, 2], np.eye(3), lower_is_positive=True)
    with pytest.raises(ValueError, match="lower_is_positive: expected False with net_benefit, whose weight is the odd"):
        ranking.threshold_curve([0, 1], [0.2, 0.1], "net_benefit", lower_is_positive=True)


def test_gate() -> None:
    """Requirements on areas, of all samples and of groups, are those of the negated scores."""
    groups = np.where(np.arange(120) % 2, "a", "b")
    options: dict[str, Any]
    for options in ({}, {"groups": groups}, {"groups": groups, "reference": "a"}):
        texts = "roc_auc >= 0.7" if "reference" not in options else ["roc_auc >= 0.7", "average_precision"]
        own = matrics.gate(TRUE, texts, y_score=LOW, lower_is_positive=True, **options)
        other = matrics.gate(TRUE, texts, y_score=-LOW, **options)
        assert str(own) == str(other)
    assert own.requirements[0].estimate == ranking.roc_auc(TRUE[groups == "a"], -LOW[groups == "a"])
    assert matrics.gate(TRUE, "roc_auc >= 0.7", y_score=LOW).verdict == "fail"
    with pytest.raises(ValueError, match="lower_is_positive: expected y_score= with it"):
        matrics.gate(TRUE, "recall >= 0.7", y_pred=TRUE, lower_is_positive=True)
    with pytest.raises(ValueError, match="lower_is_positive: expected y_score of a single class"):
        matrics.gate([0, 1, 2], "roc_auc >= 0.7", y_score=np.eye(3), lower_is_positive=True)
    with pytest.raises(ValueError, match=r"expected scores in \[0, 1\] for log_loss"):
        matrics.gate([0, 1], "log_loss <= 1", y_score=[0.2, 0.1], lower_is_positive=True)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typer")
    monkeypatch.chdir(tmp_path)
    for name, sign in (("low.csv", 1), ("high.csv", -1)):
        lines = [f"{true},{sign * score},{'ab'[k % 2]}" for k, (true, score) in enumerate(zip(TRUE, LOW, strict=True))]
        Path(name).write_text("y_true,score,part\n" + "\n".join(lines) + "\n")


@pytest.mark.usefixtures("files")
def test_curve_of_command(command: Any) -> None:
    """The rows of ``curve`` are those of the negated column, with thresholds of the other sign."""
    low, high = (
        [
            line.split(",")
            for line in command("curve", name, "--scores", "score", *more, "--format", "csv")[1].splitlines()
        ]
        for name, more in (("low.csv", ("--lower-is-positive",)), ("high.csv", ()))
    )
    place = low[0].index("threshold")
    assert len(low) == len(high) > 50
    for own, other in zip(low[1:], high[1:], strict=True):
        assert float(own[place]) == -float(other[place])
        assert [*own[:place], *own[place + 1 :]] == [*other[:place], *other[place + 1 :]]
    given = ("--scores", "score", "--lower-is-positive", "--thresholds", "16,18", "--metrics", "recall")
    code, out, err = command("curve", "low.csv", *given, "--format", "json")
    assert code == 0, err
    found = json.loads(out)
    recalls = [row["recall of class 1"] for row in found["rows"]]
    assert found["lower_is_positive"] is True
    assert recalls == [pytest.approx(np.mean(LOW[TRUE == 1] <= limit)) for limit in (16, 18)]


@pytest.mark.usefixtures("files")
def test_threshold_of_command(command: Any) -> None:
    options = ("--scores", "score", "--metric", "f1", "--num", "50", "--format", "json")
    own, other = (
        json.loads(command("threshold", name, *options, *more)[1])["rows"][0]
        for name, more in (("low.csv", ("--lower-is-positive",)), ("high.csv", ()))
    )
    assert (own["threshold"], own["threshold/low"]) == (-other["threshold"], -other["threshold/high"])
    for name in ("value", "tp", "fp", "expected/low"):
        assert own[name] == other[name]
    code, out, _ = command("threshold", "low.csv", *options[:-2], "--lower-is-positive")
    assert code == 0
    assert "positive: 1, by low scores" in out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("of_groups", [(), ("--by", "part")])
def test_gate_of_command(command: Any, of_groups: tuple[str, ...]) -> None:
    """Areas are those of the negated column, and labels those of results of at most the threshold."""
    given = ("low.csv", "--scores", "score", "--require", "roc_auc >= 0.6", "--format", "json", *of_groups)
    code, out, err = command("gate", *given, "--lower-is-positive")
    assert code in {0, 3}, err
    printed = json.loads(out)
    assert printed["lower_is_positive"] is True
    parts = np.asarray(["a", "b"] * 60)
    for row in printed["rows"]:
        here = parts == row["group"] if of_groups else np.ones(120, bool)
        assert row["estimate"] == pytest.approx(ranking.roc_auc(TRUE[here], -LOW[here]))
    assert command("gate", *given)[0] == 1
    assert "positive: 1, by low scores" in command("gate", *given[:5], "--lower-is-positive")[1]
    both = (*given, "--require", "recall >= 0.1", "--threshold", "17", "--lower-is-positive")
    rows = json.loads(command("gate", *both)[1])["rows"]
    for row in rows[len(printed["rows"]) :]:
        here = parts == row["group"] if of_groups else np.ones(120, bool)
        assert row["estimate"] == pytest.approx(np.mean(LOW[here & (TRUE == 1)] <= 17))
    out = command("gate", *both[:5], *both[7:])[1]
    assert "threshold up to 17" in out
    code, _, err = command("gate", "low.csv", "--require", "recall >= 0.1", "--lower-is-positive", "--pred", "score")
    assert code == 2
    assert "--lower-is-positive: expected --scores COLUMN with it" in err


@pytest.mark.usefixtures("files")
def test_note_of_reversed_scores(command: Any) -> None:
    """The note on an area below 0.5 names the option, with which the note is gone."""
    out = command("curve", "low.csv", "--scores", "score")[1]
    assert "use its negative (--lower-is-positive)" in out
    assert "below 0.5" not in command("curve", "low.csv", "--scores", "score", "--lower-is-positive")[1]


@pytest.mark.usefixtures("files")
def test_score_and_compare(command: Any) -> None:
    """At a threshold of the file's units, results of at most it are positive."""
    given = ("low.csv", "--scores", "score", "--lower-is-positive", "--threshold", "17", "--format", "json")
    recall = np.mean(LOW[TRUE == 1] <= 17)
    found = json.loads(command("score", *given, "--metrics", "recall")[1])
    assert found["rows"][0]["recall of class 1"] == pytest.approx(recall)
    lines = [f"{true},{score},{score + 1}" for true, score in zip(TRUE, LOW, strict=True)]
    Path("two.csv").write_text("y_true,score,other\n" + "\n".join(lines) + "\n")
    models = ("--scores", "score,other", "--positive", "1", "--metrics", "recall", "--num", "100")
    given = ("two.csv", *models, "--lower-is-positive", "--threshold", "score=17,other=18", "--format", "json")
    found = json.loads(command("compare", *given)[1])
    rows = {(row["measure"].split()[0], row["model"]): row["estimate"] for row in found["rows"]}
    assert rows["recall", "score"] == rows["recall", "other"] == pytest.approx(recall)
    assert rows["roc_auc", "score"] == pytest.approx(ranking.roc_auc(TRUE, -LOW))
    for name in ("score", "compare"):
        code, _, err = command(name, "low.csv", "--by", "part", "--lower-is-positive", "--pred", "score")
        assert code == 2
        assert "--lower-is-positive: expected --scores with it" in err
