"""Limits of an expected calibration error, which is too large in every sample: a test turned into limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._ranking.probability_bins import Forecasts, binned
from matrics._uncertainty.limits import spread

NUM_BINS = 15
# Halvings of the range of the factor, and the largest one.
STEPS, MOST_TIMES = 30, 2**20
# Gaps that are 0 but for rounding.
ROUNDING = 1e-12


def calibration_limits(
    made: Forecasts, units: Array | None, level: float, num: int, rng: np.random.Generator
) -> tuple[float, float, float, float, bool]:
    """The error of one row of forecasts (N,), its limits, its standard error, and whether samples are few.

    The gap of each bin between probabilities and what happens is found with a normal error. The absolute values of
    such errors add up even where all gaps are 0, so that the error of a calibrated model is never 0 and quantiles of
    replicates lie above the truth. Here the gaps are multiplied by a factor: the limits are the errors of the largest
    and of the smallest factor with which an error as it was found is not unusual, and 0 if it is usual without gaps.
    Without any gap their place is taken by gaps of one size in all bins.
    """
    size = made.probability.size
    into = binned(made.probability[None], None, NUM_BINS, "width", NUMPY)
    place = into.index[0]
    weight = (made.probability - made.outcome) / size
    gap = np.bincount(place, weight, NUM_BINS)
    error = float(np.abs(gap).sum())
    # The variance of what happens in a bin, as if half a sample more had happened and half had not.
    number, happened = np.bincount(place, minlength=NUM_BINS), np.bincount(place, made.outcome, NUM_BINS)
    share = (happened + 0.5) / (number + 1)
    if units is None:
        moved = np.sqrt(number * share * (1 - share)) / size * rng.standard_normal((num, NUM_BINS))
    else:
        of_unit = np.zeros((int(units.max()) + 1, NUM_BINS))
        outcome = made.outcome - (happened / np.maximum(number, 1))[place]
        np.add.at(of_unit, (units, place), outcome / size)
        # Sums of clusters that are multiplied by independent normal numbers, by their covariance.
        values, vectors = np.linalg.eigh(of_unit.T @ of_unit * len(of_unit) / max(1, len(of_unit) - 1))
        moved = rng.standard_normal((num, NUM_BINS)) * np.sqrt(np.maximum(values, 0)) @ vectors.T

    even = error <= ROUNDING
    pattern = number / size if even else gap

    def quantile(times: float, share: float) -> float:
        return float(np.quantile(np.abs(times * pattern + moved).sum(axis=-1), share))

    low, high = inverted_limits(quantile, error, 1.0 if even else error, level)
    deviation = float(spread(np.abs(gap + moved).sum(axis=-1), NUMPY)[0])
    return error, low, high, deviation, bool((number[number > 0] < 5).mean() > 0.5)


def inverted_limits(
    quantile: Callable[[float, float], float], error: float, size: float, level: float
) -> tuple[float, float]:
    """Limits of an error that is too large by chance: where, with its gaps multiplied, it would not be unusual.

    ``quantile(times, share)`` is the quantile of the errors that are found with the gaps multiplied by a factor, and
    ``size`` is the error of the gaps themselves. An error that is smaller than half of those that are found without
    gaps was lucky: it says no more than the middle one of these, whose upper limit it has. No error is above 1.
    """
    tail = (1 - level) / 2
    low = _factor(lambda times: quantile(times, 1 - tail), error) * size
    high = _factor(lambda times: quantile(times, tail), max(error, quantile(0.0, 0.5))) * size
    return min(low, 1.0), min(high, 1.0)


def _factor(quantile: Callable[[float], float], error: float) -> float:
    """The factor at which a quantile is the error that was found; 0 if it is larger with any."""
    if quantile(0.0) >= error:
        return 0.0
    low, high = 0.0, 1.0
    while quantile(high) < error and high < MOST_TIMES:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if quantile(middle) < error else (low, middle)
    return (low + high) / 2
