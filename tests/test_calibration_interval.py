"""Calibration as clinical papers report it: beside R's rms and glm, statsmodels, and by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_decision_curve import cancer

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
# R 4.2.2, rms 6.5.0: robcov(lrm(y ~ lp)), glm(y ~ offset(lp)), and glm(y ~ rcs(lp, 5)) with Harrell's knots, where lp
# is the logit of the 0.7th power of the risks of dcurves' example data; the standard error of the second is from
# statsmodels (HC0). The Eavg and E90 of val.prob are of a lowess curve. Errors of clusters are those of robcov for 250.
OF_R = {
    "intercept": (-0.5591701480538059, 0.1538312733451570),
    "slope": (1.1976327363003341, 0.1240467314613087),
    "in_the_large": (-0.6969290723487755, 0.11541858937151007),
    "observed_expected_ratio": (0.64632890571008783, None),
    "ici": (0.07660798204002324, None),
    "e50": (0.08367968069032590, None),
    "e90": (0.12249195988045679, None),
}
DISTANCES = ["ici", "e50", "e90"]
OF_CLUSTERS = {"intercept": 0.1641751194796852, "slope": 0.1251803001549429}


def calibrated(size: int, sharpness: float = 1.0, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities whose logits are too large by a factor."""
    logit = RANDOM.normal(-0.5, 1.2, size=(*shape, size))
    return (RANDOM.random(logit.shape) < 1 / (1 + np.exp(-logit))).astype(int), 1 / (1 + np.exp(-sharpness * logit))


@pytest.mark.exhaustive
def test_beside_r() -> None:
    y_true, y_prob = cancer()
    found = matrics.probabilities.interval(y_true, y_prob**0.7, rng=0)
    assert set(found) == set(OF_R)
    for name, (estimate, error) in OF_R.items():
        assert found[name].estimate == pytest.approx(estimate, rel=1e-6), name
        if error is not None:
            of_sample = error * math.sqrt(750 / 749)
            assert found[name].standard_error == pytest.approx(of_sample, rel=1e-6)
            reach = 1.959963984540054 * of_sample
            assert found[name].low == pytest.approx(estimate - reach, rel=1e-6)
        assert found[name].low <= found[name].high
        assert found[name].status == 0


def test_clusters_are_those_of_r() -> None:
    y_true, y_prob = cancer()
    found = matrics.probabilities.interval(y_true, y_prob**0.7, list(OF_CLUSTERS), clusters=np.tile(np.arange(250), 3))
    for name, error in OF_CLUSTERS.items():
        assert found[name].standard_error == pytest.approx(error * math.sqrt(250 / 249), rel=1e-6)


def test_the_ratio_has_the_variance_of_a_ratio() -> None:
    y_true, y_prob = calibrated(300)
    found = matrics.probabilities.interval(y_true, y_prob, "observed_expected_ratio")["observed_expected_ratio"]
    ratio = y_true.sum() / y_prob.sum()
    error = np.std((y_true - ratio * y_prob) / y_prob.mean(), ddof=1) / math.sqrt(300)
    assert found.estimate == pytest.approx(ratio, rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-6)
    assert found.low == pytest.approx(ratio * math.exp(-1.959963984540054 * error / ratio), rel=1e-6)


@pytest.mark.exhaustive
def test_what_is_wrong_is_found() -> None:
    y_true, y_prob = calibrated(3000, 2.0)
    found = matrics.probabilities.interval(y_true, y_prob, rng=0)
    assert found["slope"].high < 0.6
    for name in ("ici", "e50", "e90"):
        assert 0 < found[name].low < found[name].estimate < found[name].high
    y_true, y_prob = calibrated(3000)
    found = matrics.probabilities.interval(y_true, y_prob, rng=0)
    assert found["slope"].low < 1 < found["slope"].high
    assert found["ici"].low == 0


@pytest.mark.sampled(2)
def test_batches_are_one_by_one(backend: Any) -> None:
    y_true, y_prob = calibrated(80, 1.0, 3)
    found = matrics.probabilities.interval(backend.asarray(y_true), backend.asarray(y_prob), rng=0, num=50)
    for name, one in found.items():
        assert type(one.low) is type(backend.asarray(y_prob))
        alone = matrics.probabilities.interval(y_true[1], y_prob[1], name, rng=0, num=50)[name]
        np.testing.assert_allclose(
            backend.numpy(one.estimate)[1], alone.estimate, rtol=2e-3 if not backend.float64 else 1e-7
        )


@pytest.mark.parametrize(
    ("y_true", "y_prob", "undefined"),
    [
        ([1, 1, 1, 1], [0.2, 0.3, 0.4, 0.9], {"slope", "intercept", "in_the_large", "ici", "e50", "e90"}),
        ([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], {"slope", "intercept", "ici", "e50", "e90"}),  # separated
        ([0, 1, 0, 1, 1], [0.0, 0.2, 0.8, 0.9, 0.4], {"slope", "intercept", "in_the_large", "ici", "e50", "e90"}),
        ([0, 1, 0, 1, 1], [0.5] * 5, {"slope", "intercept", "ici", "e50", "e90"}),  # no slope in one probability
    ],
)
def test_what_cannot_be_said_is_undefined(y_true: list[int], y_prob: list[float], undefined: set[str]) -> None:
    found = matrics.probabilities.interval(y_true, y_prob, rng=0)
    assert {name for name, one in found.items() if one.status == IntervalStatus.UNDEFINED} == undefined
    assert all(np.isnan(found[name].low) for name in undefined)


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_bad_input() -> None:
    y_true, y_prob = calibrated(40, 1.0, 2)
    y_prob[0, 3] = math.nan
    found = matrics.probabilities.interval(y_true, y_prob, rng=0)
    assert {int(one.status[0]) for one in found.values()} == {IntervalStatus.INVALID}
    assert not np.isnan(found["slope"].low[1])
    with pytest.raises(ValueError, match=r"measures: expected slope, .*got 'brier'"):
        matrics.probabilities.interval(y_true, y_prob, "brier")
    with pytest.raises(TypeError, match=r"measures: expected names, such as slope, intercept, got \[5\]"):
        matrics.probabilities.interval(y_true, y_prob, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from 0 to 1"):
        matrics.probabilities.interval([0, 1], [0.2, 3.0])
    with pytest.raises(ValueError, match="choose a class by positive="):
        matrics.probabilities.interval([0, 1], [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]])
    assert np.isnan(matrics.probabilities.interval([], np.zeros(0), rng=0)["slope"].estimate)


@pytest.mark.sampled(1)
def test_distances_that_are_0_by_luck_have_upper_limits() -> None:
    """Shares of 0.3 and 0.7 that are met exactly: as far as 1,000 samples allow, and never beyond 1."""
    y_true = ([0] * 7 + [1] * 3 + [0] * 3 + [1] * 7) * 50
    found = matrics.probabilities.interval(y_true, ([0.3] * 10 + [0.7] * 10) * 50, DISTANCES, rng=0)
    for one in found.values():
        assert one.estimate == pytest.approx(0, abs=1e-9)
        assert one.low == 0
        assert 0.02 < one.high < 0.08
    for one in matrics.probabilities.interval([1, 0, 1], [0.3, 0.2, 0.1], DISTANCES, rng=0).values():
        assert one.high <= 1
