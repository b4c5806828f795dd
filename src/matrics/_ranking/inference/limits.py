"""Limits of measures of scores from the influences of samples, also for few samples and at the end of a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._uncertainty.limits import Range, around, normal_quantile, student_quantile

# The number of added units, whose variance is assumed to be the largest possible.
PSEUDO = 2
# Halvings of the range, down to rounding.
STEPS = 54


class Side(NamedTuple):
    """A part of the variance of a measure that has its own units: positive samples, negative samples, or clusters."""

    variance: Array  # (...)
    effective: Array  # (...): the number of units that share the deviations from a perfect value; 0 without deviations
    units: Array  # (...)


def score_limits(
    estimate: Array,
    sides: Sequence[Side],
    pairs: Array | float,
    spread: Callable[[Array], Array],
    level: float,
) -> tuple[Array, Array]:
    """Limits of a measure between 0 and 1: the values that are compatible with the estimate, at their own variance.

    At a value t, the variance of a side is the estimated variance in proportion to t (1 - t). It is combined with the
    variance of two added units, which is the largest possible, ``spread(t)``. So a perfect value, whose variance is 0,
    has a limit as well. Satterthwaite's degrees of freedom count the same units.

    Parameters
    ----------
    estimate : array, shape (...)
        Between 0 and 1.
    sides : sequence of Side
        The parts whose variances add up to the variance of the estimate.
    pairs : array or float
        For an area, 1 / the number of pairs, as each pair has a variance of its own; otherwise 0.
    spread : callable
        The largest variance of a unit at a value.
    level : float
        The confidence level.

    References
    ----------
    Newcombe 2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2", whose
    method 5 has the variance ``spread`` alone.
    """
    variance_of_share = estimate * (1 - estimate)

    def variances_at(t: Array) -> list[Array]:
        ratio = np.where(variance_of_share > 0, t * (1 - t) / np.where(variance_of_share > 0, variance_of_share, 1), 0)
        return [
            (side.effective * side.variance * ratio + PSEUDO * spread(t) / side.units) / (side.effective + PSEUDO)
            for side in sides
        ]

    def limit(bound: float) -> Array:
        t = _solved(
            estimate, bound, lambda t: normal_quantile(level) * np.sqrt(sum(variances_at(t)) + t * (1 - t) * pairs)
        )
        variances = variances_at(t)
        squares = sum(part**2 / (side.units - 1 + PSEUDO) for part, side in zip(variances, sides, strict=True))
        degrees = np.where(squares > 0, sum(variances) ** 2 / np.where(squares > 0, squares, 1), math.inf)
        factor = quantile(level, degrees)
        return _solved(estimate, bound, lambda t: factor * np.sqrt(sum(variances_at(t)) + t * (1 - t) * pairs))

    is_known = ~np.isnan(estimate)
    for side in sides:
        is_known &= side.units > 0
    return np.where(is_known, limit(0.0), math.nan), np.where(is_known, limit(1.0), math.nan)


def spread_of_area(t: Array) -> Array:
    """The larger variance, of the two sides, of Hanley and McNeil's placements at an area."""
    return np.maximum(t * (1 - t) ** 2 / (2 - t), t**2 * (1 - t) / (1 + t))


def spread_of_share(t: Array) -> Array:
    """The variance of a value that is 0 or 1."""
    return t * (1 - t)


def quantile(level: float, degrees: Array) -> Array:
    """The quantile of Student's distribution for each number of degrees of freedom."""
    flat = [
        normal_quantile(level) if not degree < 1e6 else student_quantile(level, max(float(degree), 1.0))
        for degree in np.ravel(degrees)
    ]
    return np.asarray(flat).reshape(np.shape(degrees))


def logit_limits(estimate: Array, error: Array, level: float) -> tuple[Array, Array]:
    """Limits on the scale of the logit; NaN at 0 and 1."""
    return around(estimate, error, normal_quantile(level), (0.0, 1.0), NUMPY)


def straight_limits(estimate: Array, error: Array, level: float, bounds: Range) -> tuple[Array, Array]:
    """The estimate and a number of standard errors to either side, clipped to the bounds; NaN without an error."""
    half_width = np.where(error > 0, normal_quantile(level) * error, math.nan)
    return np.clip(estimate - half_width, *bounds), np.clip(estimate + half_width, *bounds)


def mean_limits(  # noqa: PLR0917 (as of ``around``)
    estimate: Array, error: Array, skewness: Array, units: Array, level: float, bounds: Range
) -> tuple[Array, Array]:
    """Limits of the mean of skewed units, such as losses: Student's limits through Hall's transformation.

    Parameters
    ----------
    estimate, error, skewness, units : array, shape (...)
        The mean, its standard error, the skewness of a unit, and the number of units.
    level : float
        The confidence level.
    bounds : tuple of float
        The range to which the limits are clipped.

    References
    ----------
    Hall 1992, "On the removal of skewness by transformation".
    """
    t = quantile(level, np.maximum(units - 1, 1))
    skew = skewness / np.sqrt(units)
    is_symmetric = np.abs(skew) < 1e-6
    safe = np.where(is_symmetric, 1, skew)

    def transformed(x: Array) -> Array:
        return np.where(is_symmetric, x, 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1))

    error = np.where((error > 0) & (units > 1), error, math.nan)
    return np.clip(estimate - transformed(t) * error, *bounds), np.clip(estimate - transformed(-t) * error, *bounds)


def _solved(estimate: Array, end: float, half_width: Callable[[Array], Array]) -> Array:
    """The farthest value towards ``end`` whose distance from the estimate is below its half-width, by bisection."""
    inside, outside = np.asarray(estimate, float), np.full(np.shape(estimate), end)
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        is_within = np.abs(middle - estimate) < half_width(middle)
        inside, outside = np.where(is_within, middle, inside), np.where(is_within, outside, middle)
    return (inside + outside) / 2
