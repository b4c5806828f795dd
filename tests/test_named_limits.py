"""Limits by name: beside statsmodels, SciPy, exact sums, and R."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import matrics
from matrics import IntervalStatus

proportion = pytest.importorskip("statsmodels.stats.proportion")
tables = pytest.importorskip("statsmodels.stats.contingency_tables")

RANDOM = np.random.default_rng(0)
PROPORTIONS = {"wilson": "wilson", "agresti_coull": "agresti_coull", "clopper_pearson": "beta", "jeffreys": "jeffreys"}
RATIOS = ("diagnostic_odds_ratio", "positive_likelihood_ratio", "negative_likelihood_ratio")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("method", "theirs"), PROPORTIONS.items())
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_proportions_are_those_of_statsmodels(method: Any, theirs: str, level: float) -> None:
    cm = RANDOM.integers(1, 60, (20, 3, 3))
    found = matrics.interval(cm, ["accuracy", "recall:class", "precision:class"], method=method, level=level)
    right, total = np.einsum("bii->b", cm), cm.sum((1, 2))
    diagonal = np.einsum("bii->bi", cm)
    for name, hits, number in (
        ("accuracy", right, total),
        ("recall:class", diagonal, cm.sum(2)),
        ("precision:class", diagonal, cm.sum(1)),
    ):
        low, high = proportion.proportion_confint(hits, number, 1 - level, theirs)
        np.testing.assert_allclose(found[name].low, low, rtol=1e-9)
        np.testing.assert_allclose(found[name].high, high, rtol=1e-9)


def test_exact_limits_have_the_probability_of_their_tails() -> None:
    """The sums of binomial probabilities, as exact fractions."""
    found = matrics.interval([[13, 4], [0, 7]], "sensitivity,specificity,recall:class", method="clopper_pearson")
    low, high = (Fraction(float(x)) for x in (found["specificity"].low, found["specificity"].high))

    def tail(p: Fraction, least: int, most: int) -> float:
        return float(sum(math.comb(17, k) * p**k * (1 - p) ** (17 - k) for k in range(least, most + 1)))

    assert tail(low, 13, 17) == pytest.approx(0.025, rel=1e-10)
    assert tail(high, 0, 13) == pytest.approx(0.025, rel=1e-10)
    assert found["sensitivity"].low == pytest.approx(0.025 ** (1 / 7), rel=1e-12)
    assert found["sensitivity"].high == 1


def test_jeffreys_limits_end_with_the_range() -> None:
    """Brown, Cai and DasGupta: 0 without successes, 1 without failures."""
    found = matrics.interval([[10, 0], [8, 0]], "recall:class", method="jeffreys")["recall:class"]
    assert (found.high[0], found.low[1]) == (1, 0)
    assert found.low[0] == pytest.approx(stats.beta.ppf(0.025, 10.5, 0.5), rel=1e-12)
    assert found.high[1] == pytest.approx(stats.beta.ppf(0.975, 0.5, 8.5), rel=1e-12)


def test_the_log_method_is_woolfs() -> None:
    cm = np.asarray([[40, 7], [5, 30]])
    found = matrics.interval(cm, [f"{name}:class" for name in RATIOS], method="log")
    odds = found["diagnostic_odds_ratio:class"]
    expected = tables.Table2x2(cm).oddsratio_confint(0.05, "normal")
    np.testing.assert_allclose([odds.low[1], odds.high[1]], expected, rtol=1e-6)
    ratio = tables.Table2x2([[30, 5], [7, 40]])  # true positives and misses; false alarms and right negatives
    positive = found["positive_likelihood_ratio:class"]
    np.testing.assert_allclose([positive.low[1], positive.high[1]], ratio.riskratio_confint(0.05), rtol=1e-6)


@pytest.mark.parametrize("cells", [(30, 5, 7, 40), (12, 0, 3, 25), (4, 9, 0, 11), (1, 1, 1, 1), (300, 2, 1, 900)])
def test_score_limits_are_those_of_statsmodels(cells: tuple[int, ...]) -> None:
    tp, fn, fp, tn = cells
    specs = [f"{name}:binary" for name in RATIOS]
    found = matrics.interval([[tn, fp], [fn, tp]], specs, method="score")
    for name, compare, hits in (
        ("diagnostic_odds_ratio:binary", "odds-ratio", (tp, fp)),
        ("positive_likelihood_ratio:binary", "ratio", (tp, fp)),
        ("negative_likelihood_ratio:binary", "ratio", (fn, tn)),
    ):

        def away(value: float, compare: str = compare, hits: tuple[int, int] = hits) -> float:
            with np.errstate(all="ignore"):
                test = proportion.test_proportions_2indep(
                    hits[0], tp + fn, hits[1], fp + tn, value=value, compare=compare, method="score", correction=True
                )
            return float(test.statistic**2 - stats.norm.ppf(0.975) ** 2)

        one = found[name]
        low, high = float(one.low), float(one.high)
        for limit, side in ((low, -1), (high, 1)):
            if 0 < limit < math.inf:
                exact = math.exp(optimize.brentq(lambda x: away(math.exp(x)), *sorted(_around(limit, side))))
                assert limit == pytest.approx(exact, rel=1e-6), (name, side)
            else:
                assert limit == (0 if side < 0 else math.inf)
                assert hits[0 if side < 0 else 1] == 0 or tp + fn == hits[0] or fp + tn == hits[1]
        assert low <= one.estimate <= high


def _around(limit: float, side: int) -> tuple[float, float]:
    return math.log(limit) - 0.05 * side, math.log(limit) + 0.05 * side


def test_a_zero_cell_has_a_score_limit_and_no_log_limit() -> None:
    cm = [[[40, 3], [0, 20]], [[40, 0], [2, 20]], [[40, 3], [2, 20]]]
    found = {method: matrics.interval(cm, "dor", method=method)["dor"] for method in ("log", "score")}  # type: ignore[arg-type]
    assert np.isnan(found["log"].low).tolist() == [True, True, False]
    assert found["log"].status[0] == IntervalStatus.NO_VARIATION
    assert np.isfinite(found["score"].low).all()
    assert found["score"].high.tolist()[:2] == [math.inf, math.inf]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", [*PROPORTIONS, "score", "log"])
def test_every_library_and_batches(backend: Any, method: Any) -> None:
    cm = RANDOM.integers(1, 40, (2, 4, 2, 2))
    specs = ["recall:class", "accuracy"] if method in PROPORTIONS else ["dor:class", "lr_plus[1]"]
    found = matrics.interval(backend.asarray(cm), specs, method=method)
    for name, one in found.items():
        assert type(one.low) is type(backend.asarray(cm))
        alone = matrics.interval(cm[1, 2], specs, method=method)[name]
        digits = backend.tolerance if backend.looks else {"rtol": 1e-7}  # derivatives are differences on the host alone
        np.testing.assert_allclose(backend.numpy(one.low)[1, 2], alone.low, **digits)
        np.testing.assert_allclose(backend.numpy(one.high)[1, 2], alone.high, **digits)


def test_a_bad_matrix_stays_alone() -> None:
    cm = np.asarray([[[5.0, 1], [2, 9]], [[-1, 1], [2, 9]], [[0, 0], [0, 0]], [[1e15, 1e9], [1e10, 1e15]]])
    for method, spec in (("clopper_pearson", "recall:class"), ("score", "dor:class"), ("jeffreys", "accuracy")):
        with pytest.warns(RuntimeWarning, match="invalid"):
            found = matrics.interval(cm, spec, method=method)[spec]  # type: ignore[arg-type]
        status = found.status.reshape(4, -1)[:, 0].tolist()
        assert status[1:3] == [IntervalStatus.INVALID, IntervalStatus.UNDEFINED]
        kept = matrics.interval(cm[[0, 3]], spec, method=method)[spec]  # type: ignore[arg-type]
        np.testing.assert_array_equal(found.low[[0, 3]], kept.low)
        assert np.isfinite(kept.low).all()


@pytest.mark.parametrize(
    ("method", "spec", "message"),
    [
        ("clopper_pearson", "mcc", "proportions such as accuracy"),
        ("jeffreys", "f1", "proportions such as accuracy"),
        ("log", "accuracy", "unbounded"),
        ("score", "accuracy", "'diagnostic_odds_ratio:class'"),
        ("score", "dor:macro", "'diagnostic_odds_ratio:class'"),
        ("exact", "accuracy", "'clopper_pearson', 'jeffreys'"),
    ],
)
def test_others_are_refused(method: Any, spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.interval([[5, 1], [2, 9]], spec, method=method)


def test_options_that_have_no_use_are_refused() -> None:
    for options in ({"num": 10}, {"scheme": "rows"}, {"prevalence": 0.1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            matrics.interval([[5, 1], [2, 9]], "recall:class", method="jeffreys", **options)  # type: ignore[arg-type]


def test_weights_count_as_trials() -> None:
    """Equal weights leave the limits of the samples."""
    cm = np.asarray([[50, 4], [7, 60]])
    for method in ("clopper_pearson", "jeffreys", "agresti_coull"):
        plain = matrics.interval(cm, "accuracy", method=method)["accuracy"]  # type: ignore[arg-type]
        weighted = matrics.interval(2.0 * cm, "accuracy", method=method, squared_weights=4.0 * cm)["accuracy"]  # type: ignore[arg-type]
        assert (weighted.low, weighted.high) == (pytest.approx(plain.low), pytest.approx(plain.high))


@pytest.mark.parametrize("method", ["clopper_pearson", "jeffreys"])
@pytest.mark.parametrize("size", [1e13, 1e15])
def test_huge_counts_have_the_limits_of_a_normal_law(method: Any, size: float) -> None:
    """SciPy's quantiles have lost their digits there."""
    share = 0.75
    found = matrics.interval([[share * size, 0.25 * size], [0, 0]], "accuracy", method=method)["accuracy"]
    reach = 1.959963984540054 * math.sqrt(share * (1 - share) / size)
    for limit in (share - found.low, found.high - share):
        assert limit == pytest.approx(reach, rel=0.02)
