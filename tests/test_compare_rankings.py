"""Comparisons of models by their scores: beside pROC, SciPy and the bootstrap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_ranking_interval import markers

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
POINT = "recall_at_specificity(specificity=0.9)"


def models(size: int = 200, number: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the probabilities of models that are unlike each other."""
    y_true, shared = RANDOM.integers(0, 2, size), RANDOM.normal(size=size)
    strength = np.linspace(1.6, 0.4, number)[:, None]
    logits = strength * (2 * y_true - 1) + shared + RANDOM.normal(size=(number, size))
    return y_true, 1 / (1 + np.exp(-logits))


def test_delongs_test_is_that_of_proc() -> None:
    """The numbers are of ``roc.test`` and ``cov`` of pROC 1.18.0."""
    y_true, scores = markers()
    found = matrics.ranking.compare(y_true, scores, "roc_auc", rng=0)["roc_auc"]
    assert found.names == ("s100b", "ndka", "wfns")
    assert found.p_value[0, 1] == pytest.approx(0.16429517522305448, rel=1e-10)
    assert found.p_value[0, 2] == pytest.approx(0.02717578222918815, rel=1e-10)
    difference = found.differences
    assert difference.difference[0, 1] / difference.standard_error[0, 1] == pytest.approx(1.3907700257355771, rel=1e-11)
    assert (difference.low[0, 1], difference.high[0, 1]) == (
        pytest.approx(-0.048870606422809354, rel=1e-9),
        pytest.approx(0.287691744634191449, rel=1e-9),
    )
    variances = found.intervals.standard_error**2
    for (i, j), covariance in {
        (0, 1): -0.00075616493805657884,
        (0, 2): 0.0011961556737675448,
        (1, 2): -0.00053296785676243776,
    }.items():
        expected = variances[i] + variances[j] - 2 * covariance
        assert difference.standard_error[i, j] ** 2 == pytest.approx(expected, rel=1e-11)
    assert found.tied.tolist() == [True, False, True]  # wfns against s100b: p = 0.027, of three pairs


def test_sensitivity_at_a_specificity_is_compared_as_by_proc() -> None:
    """pROC 1.18.0 draws 20,000 stratified replicates: p = 0.162, limits from .22 to .61 and from .05 to .41.

    It draws lines between the points of its curves, so that only markers with many values have the same sensitivity.
    """
    y_true, scores = markers()
    pair = {name: scores[name] for name in ("s100b", "ndka")}
    found = matrics.ranking.compare(y_true, pair, POINT, rng=0, num=4000)[POINT]
    np.testing.assert_allclose(found.intervals.estimate, [0.3902439, 0.195122], rtol=1e-6)
    assert found.p_value[0, 1] == pytest.approx(0.162, abs=0.04)
    np.testing.assert_allclose(found.intervals.low, [0.2195, 0.0488], atol=0.05)
    np.testing.assert_allclose(found.intervals.high, [0.6146, 0.4146], atol=0.05)


def test_losses_are_compared_as_paired_means() -> None:
    y_true, y_prob = models()
    found = matrics.ranking.compare(y_true, y_prob[:2], "log_loss")["log_loss"]
    loss = -np.log(np.where(y_true == 1, y_prob[:2], 1 - y_prob[:2]))
    paired = stats.ttest_rel(*loss)
    z = found.differences.difference[0, 1] / found.differences.standard_error[0, 1]
    assert z == pytest.approx(paired.statistic, rel=1e-10)
    assert found.p_value[0, 1] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-10)
    assert found.differences.probability[0, 1] == pytest.approx(stats.norm.sf(z), rel=1e-10)  # a lower loss is better
    assert found.probability_best[0] == pytest.approx(stats.norm.sf(z), rel=1e-10)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("clusters", [None, np.arange(300) // 3])
def test_the_bootstrap_agrees(clusters: Any) -> None:
    y_true, y_prob = models(300)
    exact = matrics.ranking.compare(y_true, y_prob, clusters=clusters, rng=0)
    drawn = matrics.ranking.compare(y_true, y_prob, clusters=clusters, rng=0, method="bootstrap", num=3000)
    pairs = ~np.eye(3, dtype=bool)
    for name, one in exact.items():
        got = drawn[name].differences.standard_error[pairs]
        np.testing.assert_allclose(got, one.differences.standard_error[pairs], rtol=0.1)
        np.testing.assert_allclose(drawn[name].probability_best, one.probability_best, atol=0.06)


def test_many_models_are_corrected_for() -> None:
    """The critical difference of equal models is that of the studentised range."""
    y_true, y_prob = models(400, 2)
    equal = y_prob[:1] + 0.001 * RANDOM.normal(size=(6, 400))
    found = matrics.ranking.compare(y_true, np.clip(equal, 0, 1), "brier_score", rng=0)["brier_score"]
    error = found.differences.standard_error
    best = np.argmin(found.intervals.estimate)
    behind = found.intervals.estimate - found.intervals.estimate[best]
    critical = stats.studentized_range.ppf(0.95, 6, np.inf) / math.sqrt(2)
    assert found.tied.tolist() == (behind <= critical * error[best]).tolist()
    assert found.probability_best.sum() == pytest.approx(1)


@pytest.mark.sampled(1)
def test_a_batch_is_one_by_one(backend: Any) -> None:
    y_true, y_prob = np.stack([models(50)[0] for _ in range(2)]), RANDOM.random((2, 3, 50))
    found = matrics.ranking.compare(backend.asarray(y_true), backend.asarray(y_prob), rng=0)
    for name, one in found.items():
        assert tuple(one.p_value.shape) == (2, 3, 3)
        assert type(one.p_value) is type(backend.asarray(y_prob))
        alone = matrics.ranking.compare(y_true[1], y_prob[1], name, rng=0)[name]
        np.testing.assert_allclose(backend.numpy(one.p_value)[1], alone.p_value, **backend.tolerance)
        np.testing.assert_allclose(backend.numpy(one.differences.low)[1], alone.differences.low, **backend.tolerance)


def test_classes_come_last() -> None:
    y_true, y_score = RANDOM.integers(0, 3, 60), RANDOM.normal(size=(2, 60, 3))
    found = matrics.ranking.compare(y_true, {"a": y_score[0], "b": y_score[1]}, average="class")["roc_auc"]
    assert (found.intervals.low.shape, found.p_value.shape, found.tied.shape) == ((2, 3), (2, 2, 3), (2, 3))
    for k in range(3):
        alone = matrics.ranking.compare((y_true == k).astype(int), y_score[..., k], "roc_auc")["roc_auc"]
        assert found.p_value[0, 1, k] == pytest.approx(alone.p_value[0, 1], rel=1e-10)
    mean = matrics.ranking.compare(y_true, y_score, "roc_auc")["roc_auc"]
    np.testing.assert_allclose(mean.intervals.estimate, found.intervals.estimate.mean(-1), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_equal_and_missing_models() -> None:
    y_true, y_prob = models(60)
    scores = np.stack([y_prob[0], y_prob[0] ** 2, np.full(60, math.nan), y_prob[1]])
    found = matrics.ranking.compare(y_true, scores, "roc_auc", rng=0)["roc_auc"]
    assert (found.differences.difference[0, 1], found.p_value[0, 1]) == (0, 1)
    assert found.differences.status[0, 1] == IntervalStatus.NO_VARIATION
    assert np.isnan(found.p_value[2]).all()
    assert found.tied.tolist()[:3] == [True, True, False]
    assert found.probability_best.sum() == pytest.approx(1)
    assert found.probability_best[2] == 0
    alone = matrics.ranking.compare(y_true, scores[[0, 1, 3]], "roc_auc", rng=0)["roc_auc"]
    np.testing.assert_allclose(found.p_value[np.ix_([0, 1, 3], [0, 1, 3])], alone.p_value, rtol=1e-12)


def test_an_infinite_loss_has_no_differences() -> None:
    y_true, y_prob = models(60)
    y_prob[1, 3] = 1 - y_true[3]  # certain, and wrong
    found = matrics.ranking.compare(y_true, y_prob, "log_loss", rng=0)["log_loss"]
    assert found.intervals.estimate[1] == math.inf
    assert np.isnan(found.p_value[1]).all()
    assert (found.tied[1], found.probability_best[1]) == (False, 0)
    alone = matrics.ranking.compare(y_true, y_prob[[0, 2]], "log_loss")["log_loss"]
    assert found.p_value[0, 2] == pytest.approx(alone.p_value[0, 1])


@pytest.mark.parametrize(
    ("y_score", "options", "message"),
    [
        (np.zeros(4), {}, r"scores \(M, N\) of M models"),
        (np.zeros((1, 1, 4, 2)), {}, r"scores \(M, N\) of M models"),
        ({}, {}, "an empty mapping"),
        ({"a": np.zeros(4), "b": np.zeros(3)}, {}, r"'a' \(4,\), 'b' \(3,\)"),
        (np.zeros((2, 4)), {"metrics": "expected_calibration_error"}, "compare log_loss or brier_score"),
        (np.zeros((2, 3)), {}, "y_true"),
        (np.zeros((0, 4)), {}, r"y_score: expected the scores of at least one model, got shape \(0, 4\)"),
        (np.zeros((0, 4, 2)), {}, r"y_score: expected the scores of at least one model, got shape \(0, 4, 2\)"),
        (np.zeros((2, 4)), {"average": ["macro"]}, "average: expected one of 'auto', 'macro', 'class', None"),
    ],
)
def test_bad_input_raises(y_score: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.ranking.compare([0, 1, 0, 1], y_score, **options)


def test_frames_have_names() -> None:
    y_true, y_prob = models(60, 2)
    frame = matrics.ranking.compare(y_true, {"net": y_prob[0], "tree": y_prob[1]}, "roc_auc")["roc_auc"].to_frame()
    assert frame["model"].tolist() == ["net", "tree"]


def test_labels_that_are_traced_are_refused() -> None:
    jax = pytest.importorskip("jax")
    y_true, y_prob = models(60, 2)
    with pytest.raises(TypeError, match="y_true: expected known values, outside jit, compile and vmap"):
        jax.jit(lambda labels: matrics.ranking.compare(labels, y_prob, "roc_auc"))(y_true)


@pytest.mark.parametrize("elements", [2, 3])
def test_named_models_of_a_batch_are_not_mixed(elements: int) -> None:
    """As many elements as models, too: the axis of models comes after that of the batch."""
    random = np.random.default_rng(4)
    y_true = random.integers(0, 2, (elements, 40))
    scores = {"a": 0.3 * y_true + random.random((elements, 40)), "b": random.random((elements, 40))}
    found = matrics.ranking.compare(y_true, scores, "roc_auc")["roc_auc"]
    expected = np.stack([matrics.ranking.roc_auc(y_true, one) for one in scores.values()], axis=-1)
    np.testing.assert_allclose(found.intervals.estimate, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["roc_auc", "brier_score"])
def test_models_that_are_alike_are_as_likely_to_be_best(metric: str) -> None:
    random = np.random.default_rng(1)
    y_true, scores = random.integers(0, 2, 60), random.random(60)
    found = matrics.ranking.compare(y_true, np.stack([scores] * 3), metric)[metric]
    np.testing.assert_allclose(found.probability_best, 1 / 3, atol=0.01)


def test_a_point_of_several_classes_is_compared() -> None:
    random = np.random.default_rng(2)
    y_true, scores = random.integers(0, 3, 90), random.dirichlet([1, 1, 1], (2, 90))
    scores[0] += 2 * np.eye(3)[y_true]
    found = matrics.ranking.compare(y_true, scores / scores.sum(-1, keepdims=True), POINT, rng=0, num=300)[POINT]
    assert found.p_value[0, 1] < 1e-4
    by_class = matrics.ranking.interval(y_true, scores[1], POINT, average="class", rng=0, num=300)[POINT]
    mean = matrics.ranking.interval(y_true, scores[1], POINT, rng=0, num=300)[POINT]
    assert mean.estimate == pytest.approx(by_class.estimate.mean())
    assert mean.high - mean.low < (by_class.high - by_class.low).min()  # of three times as many samples


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_has_a_column_for_each_model(library: str) -> None:
    frames = pytest.importorskip(library)
    y_true, scores = models(number=2)
    named = dict(zip("ab", scores, strict=True))
    found = matrics.ranking.compare(y_true, frames.DataFrame(named), "roc_auc")["roc_auc"]
    expected = matrics.ranking.compare(y_true, named, "roc_auc")["roc_auc"]
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(found.p_value, expected.p_value)
