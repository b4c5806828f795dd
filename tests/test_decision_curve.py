"""Decision curves: beside dcurves, by exact fractions, and their limits."""

from __future__ import annotations

import csv
import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)


def cancer() -> tuple[np.ndarray, np.ndarray]:
    """The outcomes and predicted risks of the example data of dcurves 1.1.7."""
    with (Path(__file__).parent / "data" / "cancer_risk.csv").open() as file:
        rows = list(csv.DictReader(file))
    y_true = np.asarray([int(row["cancer"] == "True") for row in rows])
    return y_true, np.asarray([float(row["cancerpredmarker"]) for row in rows])


def test_net_benefits_are_those_of_dcurves() -> None:
    y_true, y_prob = cancer()
    thresholds = [0.05, 0.1, 0.15, 0.2, 0.35]
    found = matrics.ranking.decision_curve(y_true, y_prob, thresholds, rng=0)
    of_model = [0.105543859649123, 0.087407407407407, 0.079215686274510, 0.067333333333333, 0.050153846153846]
    of_all = [0.094736842105263, 0.044444444444444, -0.011764705882353, -0.075, -0.323076923076923]
    avoided = [0.205333333333333, 0.386666666666667, 0.515555555555555, 0.569333333333333, 0.693142857142857]
    np.testing.assert_allclose(found.net_benefit.estimate, of_model, atol=1e-14)
    np.testing.assert_allclose(found.treat_all.estimate, of_all, atol=1e-14)
    np.testing.assert_allclose(found.interventions_avoided.estimate, 100 * np.asarray(avoided), atol=1e-12)
    np.testing.assert_allclose(found.standardized.estimate, np.asarray(of_model) / 0.14, rtol=1e-12)
    assert found.prevalence == pytest.approx(0.14, rel=1e-12)
    rare = matrics.ranking.decision_curve(y_true, y_prob, thresholds, prevalence=0.05, rng=0)
    of_model = [0.020908084163898, 0.009843730773963, 0.005778125203570, -0.000370985603544, -0.001408126756964]
    np.testing.assert_allclose(rare.net_benefit.estimate, of_model, atol=1e-14)
    np.testing.assert_allclose(rare.treat_all.estimate[2:4], [-0.117647058823529, -0.1875], atol=1e-14)


def test_it_is_the_definition() -> None:
    y_true, y_prob = RANDOM.integers(0, 2, 40), RANDOM.integers(0, 11, 40) / 10
    thresholds = [0.7, 0.0, 0.1, 0.55]  # in any order, and some are probabilities
    found = matrics.ranking.decision_curve(y_true, y_prob, thresholds, rng=0)
    for k, threshold in enumerate(thresholds):
        tp = int(((y_prob >= threshold) & (y_true == 1)).sum())
        fp = int(((y_prob >= threshold) & (y_true == 0)).sum())
        odds = Fraction(str(threshold)) / (1 - Fraction(str(threshold)))
        assert found.net_benefit.estimate[k] == pytest.approx(float((tp - fp * odds) / 40), abs=1e-14)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert np.isnan(found.interventions_avoided.estimate[1])  # at 0 false alarms cost nothing


@pytest.mark.parametrize("prevalence", [None, 0.1])
def test_limits_have_the_width_of_a_mean(prevalence: float | None) -> None:
    """Without a prevalence the net benefit is a mean over samples; with one, of two samples."""
    y_true, y_prob = cancer()
    found = matrics.ranking.decision_curve(y_true, y_prob, [0.1, 0.3], prevalence=prevalence, num=8000, rng=0)
    for k, threshold in enumerate((0.1, 0.3)):
        odds, treated = threshold / (1 - threshold), y_prob >= threshold
        if prevalence is None:
            expected = np.std(np.where(y_true == 1, treated, -odds * treated)) / math.sqrt(y_true.size)
        else:
            hit, alarm = treated[y_true == 1], treated[y_true == 0]
            expected = math.hypot(
                prevalence * hit.std() / math.sqrt(hit.size),
                (1 - prevalence) * odds * alarm.std() / math.sqrt(alarm.size),
            )
        assert found.net_benefit.standard_error[k] == pytest.approx(expected, rel=0.04)
        width = found.net_benefit.high[k] - found.net_benefit.low[k]
        assert width == pytest.approx(2 * 1.96 * expected, rel=0.06)


def test_clusters_are_drawn_as_wholes() -> None:
    y_true, y_prob = cancer()
    alone = matrics.ranking.decision_curve(y_true, y_prob, [0.2], num=4000, rng=0).net_benefit
    copies = matrics.ranking.decision_curve(
        np.tile(y_true, 3), np.tile(y_prob, 3), [0.2], clusters=np.tile(np.arange(y_true.size), 3), num=4000, rng=0
    ).net_benefit
    assert copies.standard_error[0] == pytest.approx(alone.standard_error[0], rel=0.06)


def test_models_have_names(backend: Any) -> None:
    y_true, y_prob = RANDOM.integers(0, 2, 30), RANDOM.random((2, 30))
    found = matrics.ranking.decision_curve(backend.asarray(y_true), backend.asarray(y_prob), [0.2, 0.4], rng=0, num=50)
    assert tuple(found.net_benefit.low.shape) == (2, 2)
    assert type(found.net_benefit.low) is type(backend.asarray(y_prob))
    named = matrics.ranking.decision_curve(y_true, {"a": y_prob[0], "b": y_prob[1]}, [0.2, 0.4], rng=0, num=50)
    np.testing.assert_allclose(
        backend.numpy(found.net_benefit.estimate), named.net_benefit.estimate, **backend.tolerance
    )
    frame = named.to_frame()
    assert frame["model"].tolist() == ["a", "a", "b", "b"]
    assert frame["threshold"].tolist() == [0.2, 0.4, 0.2, 0.4]
    again = matrics.ranking.decision_curve(y_true, {"a": y_prob[0], "b": y_prob[1]}, [0.2, 0.4], rng=0, num=50)
    np.testing.assert_array_equal(named.net_benefit.low, again.net_benefit.low)


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_bad_samples_stay_alone() -> None:
    y_true, y_prob = RANDOM.integers(0, 2, 30), RANDOM.random((3, 30))
    y_prob[1, 0] = math.nan
    found = matrics.ranking.decision_curve(y_true, y_prob, [0.2], rng=0)
    assert np.isnan(found.net_benefit.estimate[:, 0]).tolist() == [False, True, False]
    assert found.net_benefit.status[1, 0] == IntervalStatus.INVALID
    assert not np.isnan(found.net_benefit.low[[0, 2]]).any()
    nobody = matrics.ranking.decision_curve(y_true, y_prob[0] / 2, [0.9], rng=0).net_benefit
    assert (nobody.estimate[0], nobody.status[0]) == (0, IntervalStatus.NO_VARIATION)
    healthy = matrics.ranking.decision_curve([0, 0, 0], [0.1, 0.5, 0.2], [0.3], rng=0)
    assert healthy.net_benefit.estimate[0] == pytest.approx(-(0.3 / 0.7) / 3)
    assert np.isnan(healthy.standardized.estimate[0])
    assert np.isnan(matrics.ranking.decision_curve([], np.zeros(0), [0.3], rng=0).net_benefit.estimate).all()


@pytest.mark.parametrize(
    ("y_prob", "options", "message"),
    [
        ([0.2, 1.2], {}, "from 0 to 1, got others"),
        ([0.2, 0.3], {"thresholds": [1.0]}, "from 0 to below 1, got 1"),
        ([0.2, 0.3], {"thresholds": [[0.1]]}, r"shape \(1, 1\)"),
        ([0.2, 0.3], {"thresholds": [math.nan]}, "got nan"),
        ([0.2, 0.3], {"prevalence": 0}, "between 0 and 1"),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], {}, "choose a class by positive="),
        ({}, {}, "empty mapping"),
    ],
)
def test_bad_input_raises(y_prob: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.ranking.decision_curve([0, 1], y_prob, **options)


def test_thresholds_that_are_traced_are_refused() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="thresholds: expected known values, outside jit, compile and vmap"):
        jax.jit(lambda given: matrics.ranking.decision_curve([0, 1], [0.2, 0.3], given))(np.asarray([0.1]))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_a_threshold_is_rounded_as_probabilities_are(backend: Any, kind: str) -> None:
    """A probability of 0.7 in single precision reaches the threshold 0.7, as ``y_prob >= 0.7`` says."""
    y_true, thresholds = np.tile([1, 0, 1, 0], 25), np.arange(1, 100) / 100
    y_prob = backend.asarray((np.arange(100) / 100).astype(kind))
    found = matrics.ranking.decision_curve(y_true, y_prob, thresholds, num=2, rng=0)
    here = backend.numpy(y_prob)
    for place, threshold in enumerate(thresholds):
        treated = here >= here.dtype.type(threshold)
        odds = threshold / (1 - threshold)
        expected = np.mean(treated & (y_true == 1)) - odds * np.mean(treated & (y_true == 0))
        assert float(found.net_benefit.estimate[place]) == pytest.approx(expected, abs=1e-5)


def test_named_models_of_a_batch_are_refused() -> None:
    y_true, y_prob = np.array([[0, 1]] * 2), np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match=r"y_prob: expected the probabilities \(N,\) of each model in a mapping"):
        matrics.ranking.decision_curve(y_true, {"a": y_prob, "b": y_prob}, [0.2])


def test_many_clusters_take_little_memory() -> None:
    """Replicates are drawn in parts: those of 20,000 clusters at once would be 0.3 GB."""
    random = np.random.default_rng(0)
    y_true, y_prob = random.integers(0, 2, 20_000), random.random(20_000)
    tracemalloc.start()
    matrics.ranking.decision_curve(y_true, y_prob, [0.2], clusters=np.arange(20_000), num=2000, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e8


def test_equal_models_have_equal_limits() -> None:
    y_true, y_prob = RANDOM.integers(0, 2, 200), RANDOM.random(200)
    found = matrics.ranking.decision_curve(y_true, {"a": y_prob, "b": y_prob}, [0.2, 0.5], rng=0).net_benefit
    np.testing.assert_array_equal(found.low[0], found.low[1])


def test_the_status_counts_samples_on_both_sides_of_a_threshold() -> None:
    y_true = np.repeat([0, 0, 0, 1, 1, 1], [100, 50, 4, 2, 50, 50])
    y_prob = np.repeat([0.05, 0.4, 0.95, 0.05, 0.4, 0.95], [100, 50, 4, 2, 50, 50])
    curve = matrics.ranking.decision_curve(y_true, y_prob, [0.1, 0.5, 0.9], num=200, rng=0)
    few = matrics.IntervalStatus.FEW_SAMPLES
    # Of four false alarms each weighs nine at 0.9, and of two missed samples each is worth nine treatments at 0.1.
    assert curve.net_benefit.status.tolist() == [0, 0, few]
    assert curve.interventions_avoided.status.tolist() == [few, 0, 0]
    assert curve.treat_all.status.tolist() == [0, 0, 0]
    one_more = np.append(y_true, 0), np.append(y_prob, 0.95)
    assert (matrics.ranking.decision_curve(*one_more, [0.9], num=200, rng=0).net_benefit.status == 0).all()
    # Three clusters with five false alarms are few, and any order of thresholds has the same statuses.
    clusters = np.arange(y_true.size + 1)
    clusters[[151, 153, -1]] = [150, 152, 152]
    curve = matrics.ranking.decision_curve(*one_more, [0.9, 0.5], clusters=clusters, num=200, rng=0)
    assert curve.net_benefit.status.tolist() == [few, 0]


LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "beta": lambda random, shape: random.beta(1, 3, shape),
    "common": lambda random, shape: 1 / (1 + np.exp(-random.normal(0, 1.5, shape))),
    "sharp": lambda random, shape: random.beta(0.3, 0.6, shape),
}


@pytest.mark.parametrize(
    ("law", "sets"), [("beta", 200), *(pytest.param(law, 800, marks=pytest.mark.exhaustive) for law in LAWS)]
)
def test_status_0_holds_at_all_thresholds(law: str, sets: int) -> None:
    random = np.random.default_rng(0)
    thresholds = np.asarray([0.01, 0.05, 0.2, 0.5, 0.7, 0.8, 0.9, 0.99])
    endless = LAWS[law](random, (1_000_000,))
    odds, share = thresholds / (1 - thresholds), endless.mean()
    treated = endless[:, None] >= thresholds
    hits, alarms = (np.mean(treated * x[:, None], axis=0) for x in (endless, 1 - endless))
    truths = {
        "net_benefit": hits - odds * alarms,
        "standardized": (hits - odds * alarms) / share,
        "interventions_avoided": 100 * (hits - odds * alarms - share + odds * (1 - share)) / odds,
    }
    y_prob = LAWS[law](random, (sets, 300))
    y_true = (random.random(y_prob.shape) < y_prob).astype(int)
    curve = matrics.ranking.decision_curve(y_true, y_prob, thresholds, num=200, rng=0)
    for name, truth in truths.items():
        one = getattr(curve, name)
        missed = (one.status == 0) & ~((one.low <= truth) & (truth <= one.high))
        assert (missed.mean(axis=0) < 0.07 + 3 * np.sqrt(0.07 * 0.93 / sets)).all(), name
