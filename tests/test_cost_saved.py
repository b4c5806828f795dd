"""The money that a new rule saves, against SciPy's paired t-test and statsmodels' clustered errors."""

from __future__ import annotations

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(11)
N = 600
Y = (RANDOM.random(N) < 0.2).astype(int)
A = (RANDOM.random(N) < np.where(Y == 1, 0.6, 0.2)).astype(int)
B = (RANDOM.random(N) < np.where(Y == 1, 0.8, 0.1)).astype(int)
AMOUNT = RANDOM.random(N) * 50
COSTS = {"cost_false_negative": AMOUNT, "cost_false_positive": 5.0}


def cost(rule: np.ndarray) -> np.ndarray:
    return np.where((Y == 1) & (rule == 0), AMOUNT, np.where((Y == 0) & (rule == 1), 5.0, 0.0))


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_limits_are_those_of_a_paired_t_test(level: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = matrics.ranking.cost_saved(Y, A, B, **COSTS, level=level)
    limits = stats.ttest_rel(cost(A), cost(B)).confidence_interval(level)
    expected = [(cost(A) - cost(B)).sum(), N * limits.low, N * limits.high]
    np.testing.assert_allclose([found.estimate, found.low, found.high], expected)
    assert found.status == 0


def test_clusters_are_drawn_as_wholes() -> None:
    """As statsmodels' errors of a mean with clusters, but for its factor."""
    api = pytest.importorskip("statsmodels.api")
    clusters = np.arange(N) // 4
    found = matrics.ranking.cost_saved(Y, A, B, **COSTS, clusters=clusters)
    gap = cost(A) - cost(B)
    fit = api.OLS(gap, np.ones(N)).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False})
    number = N // 4
    assert found.standard_error == pytest.approx(N * fit.bse[0] * np.sqrt(number / (number - 1)))
    assert found.estimate == pytest.approx(gap.sum())


def test_labels_of_any_kind_and_thresholds() -> None:
    names = np.array(["fine", "fraud"])
    expected = matrics.ranking.cost_saved(Y, A, B, **COSTS)
    assert matrics.ranking.cost_saved(names[Y], names[A], names[B], positive="fraud", **COSTS) == expected
    assert matrics.ranking.cost_saved(Y == 1, A == 1, B >= 0.5, **COSTS) == expected


def test_rules_that_agree_have_no_limits() -> None:
    found = matrics.ranking.cost_saved(Y, A, A, **COSTS)
    assert found.estimate == 0
    assert np.isnan(found.low)
    assert found.status == matrics.IntervalStatus.NO_VARIATION
    few = matrics.ranking.cost_saved(Y[:30], A[:30], B[:30], cost_false_negative=1, cost_false_positive=1)
    assert few.status == matrics.IntervalStatus.FEW_SAMPLES


def test_the_limits_contain_what_is_saved_on_average() -> None:
    held = 0
    for _ in range(200):
        y = (RANDOM.random(400) < 0.2).astype(int)
        a, b = (
            (RANDOM.random(400) < np.where(y == 1, hit, alarm)).astype(int) for hit, alarm in ((0.6, 0.2), (0.8, 0.1))
        )
        found = matrics.ranking.cost_saved(y, a, b, cost_false_negative=20.0, cost_false_positive=5.0)
        truth = 400 * (0.2 * 0.2 * 20 + 0.8 * 0.1 * 5)
        held += found.low <= truth <= found.high
    assert 180 <= held <= 199


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((Y, A, B[:-1]), COSTS, ValueError, "y_true, y_a, y_b: expected the labels of the same samples"),
        ((Y, A, B + 0.5), COSTS, ValueError, "y_b: expected"),
        ((Y, A, B), {}, ValueError, "cost_false_negative: expected a number, or an array of numbers, got None"),
        ((Y, A, B), {"cost_false_positive": 5.0}, ValueError, "cost_false_negative: expected a number"),
        (([1], [0], [1]), {"cost_false_negative": 1, "cost_false_positive": 1}, ValueError, "at least two samples"),
    ],
)
def test_errors_say_what_was_expected(arguments: tuple, options: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.ranking.cost_saved(*arguments, **options)
