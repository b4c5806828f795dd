"""Limits at stationary points, at ends of ranges and at ties of classes: exact enumeration, and simulation of many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import matrics
from matrics._scoring.score import resolve
from matrics._uncertainty.arguments import classes_of
from matrics._uncertainty.second_order import can_bend

# Their limits hold everywhere, and nothing else is computed for them.
STRAIGHT = (
    "accuracy",
    "recall:class",
    "recall",
    "precision:class",
    "precision",
    "f1:class",
    "f1",
    "mcc",
    "cohen_kappa",
    "balanced_accuracy",
    "g_mean",
    "informedness:class",
    "positive_likelihood_ratio:class",
    "negative_likelihood_ratio:class",
    "diagnostic_odds_ratio:class",
    "cen",
    "mcen",
)
BENT = (
    "imbalance_ratio",
    "cramers_v",
    "phi",
    "pearson_c",
    "tschuprows_t",
    "eve",
    "accuracy_standard_error",
    "adjusted_rand_index",
    "pred_entropy",
    "true_entropy",
    "no_information_rate",
    "bray_curtis_dissimilarity:class",
)


@matrics.metric(kind="overall", range=(0, 1), higher_is_better=True)
def squared_informedness(t: Any) -> Any:
    """It is 0 at chance, where its derivatives are 0."""
    return (t.tpr[1, ...] + t.tnr[1, ...] - 1) ** 2


@matrics.metric(kind="overall", range=(-1, 1), higher_is_better=True)
def plain_informedness(t: Any) -> Any:
    """The same without the square."""
    return t.tpr[1, ...] + t.tnr[1, ...] - 1


@pytest.mark.sampled(1)
def test_which_measures_bend() -> None:
    for n in (2, 12):
        for names, wanted in ((STRAIGHT, False), (BENT, True)):
            found = resolve(list(names), classes_of(n, None, None))
            assert {name: can_bend(metric, n) for name, metric in found.items()} == dict.fromkeys(names, wanted)
    metrics = resolve([squared_informedness, plain_informedness], classes_of(2, None, None)).values()
    assert [can_bend(metric, 2) for metric in metrics] == [True, False]


def of_one_count(name: str, count: np.ndarray, number: int) -> np.ndarray:
    """Matrices of 2 classes whose measure depends on how many of a number of samples are in a part of them."""
    first, second = count // 2, (number - count) // 2
    cells = np.stack([count - first, first, second, number - count - second], axis=-1)
    if name == "accuracy_standard_error":  # the part is the diagonal, and not a row
        cells = cells[:, [0, 2, 3, 1]]
    return cells.reshape(-1, 2, 2)


def exact_value(name: str, p: float, number: int) -> float:
    if name == "imbalance_ratio":
        return max(p, 1 - p) / min(p, 1 - p)
    if name == "true_entropy":
        return -p * math.log(p) - (1 - p) * math.log(1 - p)
    return math.sqrt(p * (1 - p) / number)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["imbalance_ratio", "true_entropy", "accuracy_standard_error"])
@pytest.mark.parametrize("number", [80, 600, 2000])
def test_exact_coverage_about_a_stationary_point(name: str, number: int) -> None:
    """All data sets with their probabilities, at an even split and at distances of up to four standard errors."""
    counts = np.arange(number + 1)
    one = matrics.interval(of_one_count(name, counts, number), name)[name]
    for away in (0, 0.5, 1, 1.5, 2, 2.5, 3, 4):
        p = 0.5 - away / (2 * math.sqrt(number))
        exact, weights = exact_value(name, p, number), stats.binom.pmf(counts, number, p)
        missed = ~((one.low <= exact + 1e-12) & (exact - 1e-12 <= one.high)) & (one.status == 0)
        assert weights @ missed <= 0.07, (away, weights @ missed)


@pytest.mark.sampled(1)
def test_limits_reach_the_end_of_the_range() -> None:
    """Pearson's test is the test of the end for measures of association."""
    rng = np.random.default_rng(0)
    cm = rng.multinomial(400, [0.25] * 4, 400).reshape(-1, 2, 2)
    p = np.asarray([stats.chi2_contingency(one, correction=False).pvalue for one in cm])
    for name in ("phi", "cramers_v", "tschuprows_t"):
        low = matrics.interval(cm, name)[name].low
        assert (low[p > 0.06] == 0).all()
    even = matrics.interval([[25, 24], [24, 27]], ["imbalance_ratio"])["imbalance_ratio"]
    assert even.low == 1
    assert even.high > math.exp(1.96 * 2 / math.sqrt(100))


def test_weights_that_are_counts_and_no_samples() -> None:
    rng = np.random.default_rng(1)
    cm = rng.multinomial(400, [0.3, 0.2, 0.2, 0.3], 50).reshape(-1, 2, 2)
    names = ["imbalance_ratio", "true_entropy", "phi", "eve"]
    plain, weighted = matrics.interval(cm, names), matrics.interval(cm, names, squared_weights=cm)
    for name in names:
        np.testing.assert_allclose(weighted[name].low, plain[name].low, rtol=1e-9)
        np.testing.assert_allclose(weighted[name].high, plain[name].high, rtol=1e-9)
    nothing = matrics.interval(np.zeros((2, 2)), names)
    assert all(np.isnan(one.low) and one.status == 6 for one in nothing.values())
    assert matrics.interval(np.zeros((0, 3, 3)), "eve")["eve"].low.shape == (0,)


def test_the_delta_method_and_clusters_keep_their_limits() -> None:
    cm = np.asarray([[28, 24], [24, 24]])
    for options in ({"method": "delta"}, {"cluster_axis": 0}):
        stack = cm if "method" in options else np.stack([cm] * 30) + np.arange(30)[:, None, None] % 3
        assert matrics.interval(stack, "imbalance_ratio", **options)["imbalance_ratio"].low > 1  # type: ignore[arg-type]


def test_far_from_chance_no_changed_matrices_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of each matrix of a stack depend on this matrix alone."""
    near, far = np.asarray([[70, 60], [58, 62]]), np.asarray([[400, 50], [60, 490]])
    names = ["eve", "cramers_v", "pearson_c"]
    together = matrics.interval(np.stack([far, near, far + 1]), names)
    for k, cm in enumerate((far, near, far + 1)):
        for name, alone in matrics.interval(cm, names).items():
            np.testing.assert_array_equal([together[name].low[k], together[name].high[k]], [alone.low, alone.high])

    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("matrics._uncertainty.second_order._by_chunks", refuse)
    matrics.interval(np.stack([far, far + 1]), names)
    with pytest.raises(AssertionError):
        matrics.interval(near, names)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "number"), [("consonni_todeschini_ii", 50), ("eyraud", 80), ("eve", 20)])
def test_limits_hold_with_the_samples_that_their_record_needs(name: str, number: int) -> None:
    """At the matrices where they missed most often with fewer samples, of EVE with two classes."""
    for n, share, recall in (
        (2, 0.5, 0.98),
        (3, 1 / 3, 0.98),
        (2, 0.3, 0.8),
        (2, 0.1, 0.85),
        (2, 0.5, 0.5),
        (2, 0.3, 0.55),
    ):
        if name == "eve" and n > 2:
            continue
        sizes = np.full(n, 1 / n) if share in {0.5, 1 / 3} else np.asarray([1 - share, share])
        shares = sizes[:, None] * np.where(np.eye(n, dtype=bool), recall, (1 - recall) / (n - 1))
        samples = number * n**2
        cm = np.random.default_rng(0).multinomial(samples, shares.ravel(), 4000).reshape(-1, n, n)
        exact = matrics.score(shares * samples, f"{name}:class" if name != "eve" else name).popitem()[1]
        one = matrics.interval(cm, f"{name}:class" if name != "eve" else name).popitem()[1]
        missed = (one.status == 0) & ~((one.low <= exact + 1e-9) & (exact - 1e-9 <= one.high))
        assert missed.mean(axis=0).max() <= 0.07 + 2 * math.sqrt(0.07 * 0.93 / 4000), (n, share, recall)


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [2, 3])
def test_coverage_at_chance_and_at_ties(n: int) -> None:
    """Classes of equal and of unequal sizes whose predictions are independent of them, and nearly so."""
    names = ["phi", "cramers_v", "tschuprows_t", "imbalance_ratio", "accuracy_standard_error", "pred_entropy"]
    rng, unequal = np.random.default_rng(0), np.asarray([0.7, 0.3] if n == 2 else [0.5, 0.3, 0.2])
    even = np.full(n, 1 / n)
    for true, pred in ((even, even), (unequal, unequal), (unequal, even)):
        for mix in (0, 0.1):
            shares = (1 - mix) * np.outer(true, pred) + mix * np.diag(true)
            cm = rng.multinomial(600, shares.ravel(), 2000).reshape(-1, n, n)
            exact = matrics.score(shares * 600, names)
            for name, one in matrics.interval(cm, names).items():
                missed = (one.status == 0) & ~((one.low <= exact[name] + 1e-9) & (exact[name] - 1e-9 <= one.high))
                assert missed.mean() <= 0.07 + 2 * math.sqrt(0.07 * 0.93 / 2000), (name, true, pred, mix)
