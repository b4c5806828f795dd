"""Limits of an expected calibration error, which is biased upwards: they invert a test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._ranking.probability_bins import Forecasts, binned
from matrics._uncertainty.limits import spread

NUM_BINS = 15
# Halvings of the range of the factor, and its largest value.
STEPS, MOST_TIMES = 30, 2**20
# Smaller errors are rounding errors.
ROUNDING = 1e-12


def calibration_limits(
    forecast: Forecasts, units: Array | None, level: float, num: int, rng: np.random.Generator
) -> tuple[float, float, float, float, bool]:
    """The calibration error of forecasts (N,), its limits, its standard error, and whether samples are few.

    The gap of each bin between probabilities and outcomes has a normal error. The absolute values of such errors add
    up even if all gaps are 0. So the estimate for a calibrated model is never 0, and quantiles of replicates lie above
    the true error. The limits therefore invert a test, in which all gaps are multiplied by a factor: they are the
    errors for the smallest and the largest factor with which the estimate is not unusual. The lower limit is 0 if the
    estimate is usual without gaps. If all gaps are 0, gaps of equal size in all bins replace them.
    """
    size = forecast.probability.size
    binned_forecasts = binned(forecast.probability[None], None, NUM_BINS, "width", NUMPY)
    bins = binned_forecasts.index[0]
    weight = (forecast.probability - forecast.outcome) / size
    gap = np.bincount(bins, weight, NUM_BINS)
    error = float(np.abs(gap).sum())
    # The variance of the outcomes of a bin, with half a positive and half a negative sample added.
    number, num_positive = np.bincount(bins, minlength=NUM_BINS), np.bincount(bins, forecast.outcome, NUM_BINS)
    share = (num_positive + 0.5) / (number + 1)
    if units is None:
        noise = np.sqrt(number * share * (1 - share)) / size * rng.standard_normal((num, NUM_BINS))
    else:
        sums_of_units = np.zeros((int(units.max()) + 1, NUM_BINS))
        outcome = forecast.outcome - (num_positive / np.maximum(number, 1))[bins]
        np.add.at(sums_of_units, (units, bins), outcome / size)
        # Draws with the covariance of the sums of clusters.
        values, vectors = np.linalg.eigh(
            sums_of_units.T @ sums_of_units * len(sums_of_units) / max(1, len(sums_of_units) - 1)
        )
        noise = rng.standard_normal((num, NUM_BINS)) * np.sqrt(np.maximum(values, 0)) @ vectors.T

    has_no_gaps = error <= ROUNDING
    pattern = number / size if has_no_gaps else gap

    def quantile(times: float, share: float) -> float:
        return float(np.quantile(np.abs(times * pattern + noise).sum(axis=-1), share))

    low, high = inverted_limits(quantile, error, 1.0 if has_no_gaps else error, level)
    error_of_estimate = float(spread(np.abs(gap + noise).sum(axis=-1), NUMPY)[0])
    return error, low, high, error_of_estimate, bool((number[number > 0] < 5).mean() > 0.5)


def inverted_limits(
    quantile: Callable[[float, float], float], error: float, size: float, level: float
) -> tuple[float, float]:
    """Limits of an error that is biased upwards, by inverting a test of a factor of the gaps.

    ``quantile(times, share)`` is the quantile of the estimates if the gaps are multiplied by a factor, and ``size`` is
    the error of the gaps themselves. If the estimate is below the median estimate without gaps, the upper limit is that
    of the median. No error is above 1.
    """
    tail = (1 - level) / 2
    low = _factor(lambda times: quantile(times, 1 - tail), error) * size
    high = _factor(lambda times: quantile(times, tail), max(error, quantile(0.0, 0.5))) * size
    return min(low, 1.0), min(high, 1.0)


def _factor(quantile: Callable[[float], float], error: float) -> float:
    """The factor at which a quantile equals the estimated error; 0 if the quantile is larger for every factor."""
    if quantile(0.0) >= error:
        return 0.0
    low, high = 0.0, 1.0
    while quantile(high) < error and high < MOST_TIMES:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if quantile(middle) < error else (low, middle)
    return (low + high) / 2
