"""Limits where a rare class decides: their coverage by exact enumeration, and score limits with other solutions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._arrays import NUMPY
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.row_limits import reaches_by_rows

Z = normal_quantile(0.95)


def coverage(sizes: tuple[int, int], recalls: tuple[float, float], metric: str, **options: Any) -> tuple[float, float]:
    """Over all matrices of two classes of these sizes, by their probabilities; and over those of status 0."""
    binom = pytest.importorskip("scipy.stats").binom
    hits = [np.arange(size + 1) for size in sizes]
    shares = [binom.pmf(k, size, recall) for k, size, recall in zip(hits, sizes, recalls, strict=True)]
    hits = [k[share > 1e-9] for k, share in zip(hits, shares, strict=True)]
    probability = np.outer(*(share[share > 1e-9] for share in shares)).ravel()
    first, second = (grid.ravel() for grid in np.meshgrid(*hits, indexing="ij"))
    cells = np.stack([first, sizes[0] - first, sizes[1] - second, second], axis=-1).reshape(-1, 2, 2)
    found = matrics.interval(cells, metric, **options)[metric]
    truths = {
        "balanced_accuracy": sum(recalls) / 2,
        "informedness": sum(recalls) - 1,
        "g_mean": math.prod(recalls) ** 0.5,
    }
    held, ok = (found.low <= truths[metric]) & (truths[metric] <= found.high), found.status == 0
    return float(probability @ held), float(probability @ (held & ok)) / max(float(probability @ ok), 1e-12)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "g_mean", "informedness"])
def test_a_rare_class_with_few_errors(metric: str) -> None:
    """The delta method alone, which takes the variance at the estimate, held 84.2 % of them with status 0."""
    assert min(coverage((9900, 100), (0.98, 0.98), metric)) > 0.95
    assert min(coverage((4800, 200), (0.98, 0.99), metric, scheme="rows")) > 0.95
    assert coverage((50, 50), (0.95, 0.95), metric)[1] > 0.945  # with five errors expected, of status 0
    assert coverage((9900, 100), (0.98, 0.98), metric, method="delta")[0] < 0.9


@pytest.mark.exhaustive
def test_over_many_sizes_and_recalls() -> None:
    """What is left are the dips of Wilson's own limits, of up to a tenth of an error expected in the rare class."""
    found = {
        (size, ratio, recall, other): coverage((size * ratio, size), (other, recall), "balanced_accuracy")[0]
        for size in (20, 50, 100)
        for ratio in (1, 5, 20)
        for recall in (0.7, 0.9, 0.95, 0.98)
        for other in (0.7, 0.9, 0.98)
    }
    assert min(found.values()) > 0.925, min(found, key=lambda key: found[key])
    assert np.mean(list(found.values())) > 0.95


def score_limits(share: np.ndarray, trials: np.ndarray, weight: np.ndarray, between: float) -> tuple[float, float]:
    """How far the score limits of the sum are away, by a root of the quadratic equation of each row and one of all."""
    root = pytest.importorskip("scipy.optimize").brentq

    def moved(multiplier: float, side: np.ndarray) -> tuple[float, float]:
        # Where n (p - q) / (q (1 - q)) = λ w, which is where the likelihood is highest for a sum that is that far away.
        slope = multiplier * weight
        away = trials + slope
        q = 2 * trials * side / (away + np.sqrt(np.maximum(away**2 - 4 * slope * trials * side, 0)))
        return (weight * (side - q)).sum() + multiplier * between, (weight**2 * q * (1 - q) / trials).sum() + between

    def reach(side: np.ndarray) -> float:
        def excess(logarithm: float) -> float:
            far, variance = moved(math.exp(logarithm), side)
            return far - Z * math.sqrt(variance)

        grid = np.linspace(-30, 30, 400)
        values = [excess(one) for one in grid]
        last = max(k for k in range(len(grid) - 1) if values[k] <= 0 < values[k + 1])
        return float(moved(math.exp(root(excess, grid[last], grid[last + 1], xtol=1e-12)), side)[0])

    return reach(share), reach(1 - share)


def sum_of_rows(errors: list[int], sizes: list[int], weights: list[float], scheme: str) -> tuple[float, float]:
    """Our reaches of the sum of weighted recalls."""
    n = len(sizes)
    observed = np.zeros((1, n, n))
    by = np.zeros((1, n, n))
    for k, (wrong, size, weight) in enumerate(zip(errors, sizes, weights, strict=True)):
        observed[0, k, k], observed[0, k, k - 1] = size - wrong, wrong
        by[0, k, k] = weight / size
    down, up = reaches_by_rows(by.reshape(1, -1), observed + 1 / n**2, observed, Z, scheme, NUMPY)
    return float(down[0]), float(up[0])


@pytest.mark.parametrize("errors", [0, 1, 5, 40])
def test_one_row_alone_is_wilsons(errors: int) -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    low, high = confint(100 - errors, 100, method="wilson")
    found = sum_of_rows([errors, 30], [100, 100], [1.0, 0.0], "rows")
    # The smoothed table, of half a sample more, is what says how much a row of more than two cells varies.
    np.testing.assert_allclose(found, [1 - errors / 100 - low, high - 1 + errors / 100], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_several_rows_beside_the_exact_solution(seed: int) -> None:
    """The quantile is shared out in a few steps: within 6 % of where the score limits are, and rarely that far."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([2, 3, 8]))
    sizes = rng.integers(20, 400, n)
    errors = rng.binomial(sizes, rng.choice([0.02, 0.1, 0.3], n))
    weights = rng.uniform(0.5, 1, n)
    found = sum_of_rows(list(errors), list(sizes), list(weights), "rows")
    share = 1 - errors / sizes
    # Rows of two outcomes among n cells: their trials are the samples.
    np.testing.assert_allclose(found, score_limits(share, sizes.astype(float), weights, 0.0), rtol=0.06)


def test_the_part_between_rows_is_that_of_the_delta_method() -> None:
    """Where the rows are certain, class sizes alone vary: the reach is z standard errors, with any sizes."""
    observed = np.asarray([[[300.0, 0, 0], [0, 100, 0], [0, 0, 50]]])
    by = np.asarray([[[1.0, 1, 1], [2, 2, 2], [4, 4, 4]]])
    sizes = observed[0].sum(axis=1)
    spread = (sizes * (by[0, :, 0] - (sizes * by[0, :, 0]).sum() / 450) ** 2).sum()
    found = reaches_by_rows(by.reshape(1, -1), observed, observed, Z, "multinomial", NUMPY)
    np.testing.assert_allclose(found, Z * math.sqrt(spread))
    assert reaches_by_rows(by.reshape(1, -1), observed, observed, Z, "rows", NUMPY) == (0, 0)
