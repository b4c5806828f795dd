"""Two models on the same folds: beside SciPy's t-test, baycomp, and formulas written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
A = [0.81, 0.84, 0.79, 0.86, 0.83, 0.80, 0.85, 0.82, 0.84, 0.83]
B = [0.80, 0.81, 0.79, 0.82, 0.80, 0.78, 0.83, 0.80, 0.83, 0.79]


def test_the_corrected_t_test() -> None:
    """The plain t of SciPy, with the variance of Nadeau and Bengio."""
    found = matrics.stats.compare_folds(A, B, test_fraction=0.1, level=0.9)
    plain = stats.ttest_rel(A, B)
    scale = math.sqrt((1 / 10) / (1 / 10 + 1 / 9))
    assert found.statistic == pytest.approx(plain.statistic * scale, rel=1e-10)
    assert found.p_value == pytest.approx(2 * stats.t.sf(found.statistic, 9), rel=1e-10)
    reach = stats.t.ppf(0.95, 9) * found.standard_error
    assert (found.low, found.high) == (pytest.approx(0.022 - reach), pytest.approx(0.022 + reach))
    again = matrics.stats.compare_folds(B, A, test_fraction=0.1, level=0.9)
    assert (again.difference, again.p_value) == (pytest.approx(-found.difference), pytest.approx(found.p_value))


def test_probabilities_are_those_of_baycomp() -> None:
    """baycomp 1.0.3: ``CorrelatedTTest.probs(a, b, rope=0.01, runs=1)``."""
    found = matrics.stats.compare_folds(A, B, test_fraction=0.1, rope=0.01)
    got = [found.probability_better, found.probability_equal, found.probability_worse]
    expected = [0.9607074881558553, 0.039042286222122136, 0.0002502256220225929]
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    other = matrics.stats.compare_folds(A, B, test_fraction=0.1, rope=0.01, higher_is_better=False)
    assert other.probability_better == pytest.approx(found.probability_worse)


def test_five_by_two() -> None:
    """Dietterich's t and Alpaydin's F, by their sums."""
    a, b = RANDOM.normal(0.8, 0.02, (2, 5, 2))
    gap = a - b
    spread = math.sqrt(sum(((row - row.mean()) ** 2).sum() for row in gap) / 5)
    t = matrics.stats.compare_folds(a, b, method="5x2_t")
    assert t.statistic == pytest.approx(gap[0, 0] / spread, rel=1e-12)
    assert t.p_value == pytest.approx(2 * stats.t.sf(abs(t.statistic), 5), rel=1e-10)
    f = matrics.stats.compare_folds(a, b, method="5x2_f", test_fraction=0.5)
    assert f.statistic == pytest.approx((gap**2).sum() / (2 * 5 * spread**2), rel=1e-12)
    assert f.p_value == pytest.approx(stats.f.sf(f.statistic, 10, 5), rel=1e-10)


@pytest.mark.sampled(2)
def test_batches_are_one_by_one(backend: Any) -> None:
    a, b = RANDOM.normal(size=(3, 4, 10)), RANDOM.normal(size=(4, 10))
    found = matrics.stats.compare_folds(backend.asarray(a), backend.asarray(b), test_fraction=0.1, rope=0.1)
    assert type(found.p_value) is type(backend.asarray(a))
    alone = matrics.stats.compare_folds(a[1, 2], b[2], test_fraction=0.1, rope=0.1)
    for part, one in zip(found, alone, strict=True):
        np.testing.assert_allclose(backend.numpy(part)[1, 2], one, **backend.tolerance)


def test_what_does_not_vary_says_nothing() -> None:
    gap = np.asarray([[0.1] * 4, [0.0] * 4, [0.1, 0.2, math.nan, 0.3], [0.1, 0.2, 0.1, 0.3]])
    found = matrics.stats.compare_folds(gap, np.zeros(4), test_fraction=0.25)
    assert found.status.tolist() == [IntervalStatus.NO_VARIATION] * 2 + [IntervalStatus.UNDEFINED, IntervalStatus.OK]
    assert np.isnan(found.p_value).tolist() == [True, True, True, False]
    assert found.difference[:2].tolist() == [pytest.approx(0.1), 0]


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (A, B, {}, r"test_fraction: expected n_test / \(n_test \+ n_train\)"),
        (A, B, {"test_fraction": 10}, "between 0 and 1"),
        (A, B, {"test_fraction": np.full(2, 0.5)}, "test_fraction: expected n_test"),
        (
            np.zeros((5, 2)),
            np.zeros((5, 2)),
            {"method": "5x2_t", "test_fraction": np.full(2, 0.5)},
            "test_fraction: expected 0.5 or None",
        ),
        (A, B[:9], {"test_fraction": 0.1}, r"same folds .*scores_a \(10,\), scores_b \(9,\)"),
        ([0.8], [0.7], {"test_fraction": 0.1}, "at least two folds"),
        (A, B, {"method": "5x2_t"}, r"\(\*B, 5, 2\)"),
        (A, B, {"test_fraction": 0.1, "method": "plain"}, "method"),
        (A, B, {"test_fraction": 0.1, "rope": -1}, "rope"),
        (np.zeros((5, 2)), np.zeros((5, 2)), {"method": "5x2_f", "rope": 0.1}, "gives no probabilities"),
    ],
)
def test_bad_input_raises(a: Any, b: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.stats.compare_folds(a, b, **options)
