"""Clusters of unequal sizes, and a few unlike the others: variance, degrees of freedom, status, comparisons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import matrics
from matrics import IntervalStatus
from matrics._arrays import NUMPY
from matrics._uncertainty.clusters import spread_of_clusters, student_quantiles
from matrics._uncertainty.models import _critical

SPECS = ["accuracy", "recall[1]", "f1[1]", "balanced_accuracy", "mcc"]


def drawn(sizes: Any, shares: Any, recalls: Any, random: Any) -> np.ndarray:
    """Matrices (K, sets, 2, 2) with these sizes, shares of class 1 and recalls of both classes in each cluster."""
    positive = random.binomial(sizes, shares)
    hits, right = random.binomial(positive, recalls[1]), random.binomial(sizes - positive, recalls[0])
    return np.stack([right, sizes - positive - right, positive - hits, hits], axis=-1).reshape(*sizes.shape, 2, 2)


def few_bad(number: int, sets: int, *, high: float = 0.98) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 20, of which one in twenty has the recalls 0.3, and the true shares."""
    random = np.random.default_rng([1, number])
    sizes, recalls = np.full((number, sets), 20), np.where(random.random((number, sets)) < 0.05, 0.3, high)
    recall = 0.05 * 0.3 + 0.95 * high
    return drawn(sizes, 0.5, [recalls, recalls], random), np.asarray([[recall, 1 - recall], [1 - recall, recall]]) / 2


def of_pareto(number: int, sets: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 1 to 400 samples."""
    random = np.random.default_rng([2, number])
    sizes = np.clip(np.floor(3 * (1 + random.pareto(1.2, (number, sets)))), 1, 400).astype(int)
    rest = (1 - correlation) / correlation
    shares = random.beta(0.4 * rest, 0.6 * rest, sizes.shape)
    recalls = [random.beta(0.85 * rest, 0.15 * rest, sizes.shape) for _ in range(2)]
    return drawn(sizes, shares, recalls, random), np.asarray([[0.51, 0.09], [0.06, 0.34]])


def kept(law: tuple[np.ndarray, np.ndarray]) -> dict[str, float]:
    """The shares of data sets that are covered or have another status than 0."""
    clusters, truth = law
    exact = matrics.score(truth, SPECS)
    found = matrics.interval(clusters, SPECS, cluster_axis=0)
    return {
        name: float(((one.low <= exact[name]) & (exact[name] <= one.high) | (one.status != 0)).mean())
        for name, one in found.items()
    }


def test_the_variance_is_that_of_independent_samples_if_they_are() -> None:
    """Its expectation, by the covariance of contributions whose variances are as large as the clusters."""
    random = np.random.default_rng(0)
    for sizes in (np.ones(12), np.arange(1.0, 20), 3 * (1 + random.pareto(1.2, 40))):
        share = sizes / sizes.sum()
        covariance = np.diag(share) - np.outer(share, share)  # of x - h Σ x, where x has the variances h
        values = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(share))) @ random.standard_normal(
            (len(share), 4000)
        )
        one = spread_of_clusters(values, share[:, None] + 0 * values, np.zeros(4000), np)
        expected = (np.diag(covariance) / (1 - share)).sum()
        assert expected == pytest.approx(1)
        assert one.variance.mean() == pytest.approx(expected, abs=4 * one.variance.std() / math.sqrt(4000))


def test_equal_clusters_have_the_usual_variance() -> None:
    """That of a mean, with K - 1 degrees of freedom if no contribution is extreme; and fewer if one is."""
    alike = np.asarray([-1.0, 1] * 10)[:, None]
    one = spread_of_clusters(alike, np.ones((20, 1)), np.zeros(1), np)
    assert (one.variance[0], one.degrees[0]) == pytest.approx((alike.var(ddof=1) * 20, 19))
    single = np.where(np.arange(20) == 0, 19.0, -1)[:, None]
    kurtosis = stats.kurtosis(single[:, 0], fisher=False)
    one = spread_of_clusters(single, np.ones((20, 1)), np.zeros(1), np)
    assert one.degrees[0] == pytest.approx(2 * 20 / (kurtosis - 1))  # Satterthwaite's, of 20 independent values
    # A cluster with half of all samples is worth three, less one: Σ h² is 1/4 + 1/76.
    sizes = np.where(np.arange(20) == 0, 19.0, 1)[:, None]
    one = spread_of_clusters(alike, sizes, np.zeros(1), np)
    assert one.degrees[0] == pytest.approx(1 / (1 / 4 + 1 / 76) - 1)
    # And if independent samples vary as much, the number of clusters is the limit.
    assert spread_of_clusters(alike, sizes, np.full(1, 1e3), np).degrees[0] == 19


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_students_quantiles(level: float) -> None:
    degrees = np.asarray([2.0, 2.5, 3.3, 7, 29, 1e4])
    np.testing.assert_allclose(student_quantiles(level, degrees, NUMPY), stats.t.ppf((1 + level) / 2, degrees), 2e-3)
    assert np.isnan(student_quantiles(level, np.zeros(1), NUMPY))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", [few_bad(40, 1000), few_bad(100, 1000), of_pareto(60, 1000, 0.1)])
def test_what_status_0_promises(law: Any) -> None:
    """At least 93 %, less three standard errors of the simulation; it was 84 to 92 %."""
    assert min(kept(law).values()) > 0.93 - 3 * math.sqrt(0.93 * 0.07 / 1000)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [30, 60, 100, 200])
def test_what_status_0_promises_of_unequal_sizes(number: int) -> None:
    for correlation in (0.1, 0.3):
        least = 0.93 - 3 * math.sqrt(0.93 * 0.07 / 2000)
        assert min(kept(of_pareto(number, 2000, correlation)).values()) > least


def test_the_status_of_few_effective_clusters() -> None:
    """One of 40 clusters with half of all samples: 4 effective ones; with a tenth it is one of 35."""
    clusters = np.tile(np.asarray([[16, 4], [4, 16]]), (40, 1, 1))
    few, ok = int(IntervalStatus.FEW_SAMPLES), int(IntervalStatus.OK)
    for times, wanted in ((39, few), (4, ok)):
        clusters[0] = times * np.asarray([[16, 4], [4, 16]])
        found = matrics.interval(clusters, [*SPECS, "precision[0]"], cluster_axis=0)
        assert {int(one.status) for one in found.values()} == {wanted}


def test_the_status_of_clusters_that_may_be_missing() -> None:
    """With an error in each of 15 clusters, a bad cluster would move MCC out of its limits; accuracy allows for it."""
    few, ok = int(IntervalStatus.FEW_SAMPLES), int(IntervalStatus.OK)
    clusters = np.tile(np.asarray([[10, 0], [0, 10]]), (40, 1, 1))
    clusters[:15] += np.asarray([[-1, 1], [0, 0]])
    found = matrics.interval(clusters, ["mcc", "f1", "f1[1]", "accuracy"], cluster_axis=0)
    assert [int(one.status) for one in found.values()] == [few, few, few, ok]
    bad = np.concatenate([clusters, [[[0, 10], [10, 0]]]]).sum(axis=0)
    moved = matrics.score(bad, ["mcc", "accuracy"])
    assert moved["mcc"] < found["mcc"].low
    assert moved["accuracy"] > found["accuracy"].low
    clusters[:3] = [[4, 6], [6, 4]]
    assert matrics.interval(clusters, "mcc", cluster_axis=0)["mcc"].status == ok
    # Of two requirements, the one that such a cluster could break is undecided.
    clusters[:3] = [[9, 1], [0, 10]]
    y_true, y_pred = (np.repeat(x, clusters.ravel()) for x in (np.tile([0, 0, 1, 1], 40), np.tile([0, 1, 0, 1], 40)))
    names = np.repeat(np.arange(40), 20)
    verdicts = matrics.gate(y_true, ["mcc >= 0.5", "mcc <= 0.999"], y_pred=y_pred, num_classes=2, clusters=names)
    assert [one.verdict for one in verdicts.requirements] == ["undecided", "pass"]


def test_unequal_clusters_of_two_models() -> None:
    """The difference of two equal models on the same clusters, and on others, is 0."""
    random, sets = np.random.default_rng(3), 500
    sizes = np.clip(np.floor(3 * (1 + random.pareto(1.2, (100, sets)))), 1, 400).astype(int)
    rest = 0.7 / 0.3
    a, b = (random.beta(0.85 * rest, 0.15 * rest, sizes.shape) for _ in range(2))
    cells = random.multinomial(sizes, np.stack([a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)], axis=-1))
    joint = np.zeros((*sizes.shape, 2, 2, 2), int)
    joint[..., 0, :, :] = cells.reshape(*sizes.shape, 2, 2)
    alone, other = joint.sum(-1), np.roll(joint, 1, axis=1).sum(-2)
    for one in (
        matrics.compare_paired(joint, "accuracy", cluster_axis=0)["accuracy"],
        matrics.compare(alone, other, "accuracy", cluster_axis=0)["accuracy"],
    ):
        held = (one.low <= 0) & (one.high >= 0) | (one.status != 0)
        assert held.mean() > 0.93 - 3 * math.sqrt(0.93 * 0.07 / sets)  # it was 88 %


def test_the_critical_value_of_tied_models() -> None:
    """That of Student's distribution with the tail of the normal one, which SciPy has."""
    for units in (20, 30, 1000.5):
        for errors in (1.96, 2.9, 4.0):
            wanted = stats.t.isf(stats.norm.sf(errors), units - 1) * math.sqrt(units / (units - 1))
            np.testing.assert_allclose(_critical(np.asarray([errors]), 0.9, units), wanted, 1e-4)
    # Replicates of two clusters have few values: the factor is that of the level at least.
    np.testing.assert_allclose(
        _critical(np.asarray([1.4]), 0.95, 2), 1.4 * stats.t.ppf(0.975, 1) / 1.95996 * 2**0.5, 1e-4
    )
    assert _critical(np.asarray(0.0), 0.95, 20) == 0
    assert np.isnan(_critical(np.asarray([math.nan]), 0.95, 20)).all()
    assert np.isfinite(_critical(np.asarray([40.0]), 0.95, 20)).all()


@pytest.mark.exhaustive
def test_equal_models_are_tied() -> None:
    """All ten, in 95 % of data sets of 30 clusters; it was 90 %."""
    units, models = 30, 10
    random, sets, told = np.random.default_rng(units), 400, 0
    for seed in range(sets):
        recalls = random.beta(0.8 * 4, 0.2 * 4, (models, units))
        names, true = np.repeat(np.arange(units), 20), random.integers(0, 2, 20 * units)
        predictions = np.where(random.random((models, true.size)) < recalls[:, names], true, 1 - true)
        options: Any = {"num_classes": 2, "clusters": names, "num": 300, "rng": seed}
        told += not matrics.compare_models(true, predictions, "accuracy", **options)["accuracy"].tied.all()
    assert told / sets < 0.05 + 3 * math.sqrt(0.05 * 0.95 / sets)
