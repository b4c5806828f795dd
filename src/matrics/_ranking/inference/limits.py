"""Limits of measures of scores from the influences of samples, that hold with few samples and at the end of a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._uncertainty.limits import Range, around, normal_quantile, student_quantile

# So many units are assumed to be as spread as they can be at most, besides those that were seen.
PSEUDO = 2
# Halvings of the range, down to rounding.
STEPS = 54


class Side(NamedTuple):
    """A part of the variance of a measure that has its own units: positive samples, negative samples, or clusters."""

    variance: Array  # (...)
    effective: Array  # (...): how many units share the deviations from a perfect value; 0 of a perfect one
    units: Array  # (...)


def score_limits(
    estimate: Array,
    sides: Sequence[Side],
    pairs: Array | float,
    spread: Callable[[Array], Array],
    level: float,
) -> tuple[Array, Array]:
    """Limits of a measure between 0 and 1: the values from which the estimate is not too far, with their own variance.

    At a value t, the variance of a side is the one that was found, in proportion to t (1 - t), joined by that of two
    more units that vary as much as a unit can, ``spread(t)``. So a perfect value, whose variance is 0, has a limit as
    well. Satterthwaite's degrees of freedom count the same units.

    Parameters
    ----------
    estimate : array, shape (...)
        Between 0 and 1.
    sides : sequence of Side
        The parts of its variance, which add up.
    pairs : array or float
        Of an area: 1 / the number of pairs, as a pair varies by itself, too; otherwise 0.
    spread : callable
        The largest variance of one unit at a value.
    level : float
        The confidence level.

    References
    ----------
    Newcombe 2006, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2", whose
    method 5 has the variance ``spread`` alone.
    """
    own = estimate * (1 - estimate)

    def parts(t: Array) -> list[Array]:
        ratio = np.where(own > 0, t * (1 - t) / np.where(own > 0, own, 1), 0)
        return [
            (side.effective * side.variance * ratio + PSEUDO * spread(t) / side.units) / (side.effective + PSEUDO)
            for side in sides
        ]

    def limit(end: float) -> Array:
        t = _solved(estimate, end, lambda t: normal_quantile(level) * np.sqrt(sum(parts(t)) + t * (1 - t) * pairs))
        found = parts(t)
        squares = sum(part**2 / (side.units - 1 + PSEUDO) for part, side in zip(found, sides, strict=True))
        degrees = np.where(squares > 0, sum(found) ** 2 / np.where(squares > 0, squares, 1), math.inf)
        factor = quantile(level, degrees)
        return _solved(estimate, end, lambda t: factor * np.sqrt(sum(parts(t)) + t * (1 - t) * pairs))

    known = ~np.isnan(estimate)
    for side in sides:
        known &= side.units > 0
    return np.where(known, limit(0.0), math.nan), np.where(known, limit(1.0), math.nan)


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
    """The estimate and a number of standard errors to either side, cut at the bounds; NaN without an error."""
    reach = np.where(error > 0, normal_quantile(level) * error, math.nan)
    return np.clip(estimate - reach, *bounds), np.clip(estimate + reach, *bounds)


def mean_limits(  # noqa: PLR0917 (as of ``around``)
    estimate: Array, error: Array, skewness: Array, units: Array, level: float, bounds: Range
) -> tuple[Array, Array]:
    """Limits of the mean of units that are skewed, as losses are: Student's, through Hall's transformation.

    Parameters
    ----------
    estimate, error, skewness, units : array, shape (...)
        The mean, its standard error, the skewness of a unit, and how many there are.
    level : float
        The confidence level.
    bounds : tuple of float
        Where the limits are cut.

    References
    ----------
    Hall 1992, "On the removal of skewness by transformation".
    """
    t = quantile(level, np.maximum(units - 1, 1))
    skew = skewness / np.sqrt(units)
    flat = np.abs(skew) < 1e-6
    safe = np.where(flat, 1, skew)

    def back(x: Array) -> Array:
        return np.where(flat, x, 3 / safe * (np.cbrt(1 + safe * (x - safe / 6)) - 1))

    error = np.where((error > 0) & (units > 1), error, math.nan)
    return np.clip(estimate - back(t) * error, *bounds), np.clip(estimate - back(-t) * error, *bounds)


def _solved(estimate: Array, end: float, reach: Callable[[Array], Array]) -> Array:
    """The farthest value towards an end that the estimate is within reach of, by halving."""
    near, far = np.asarray(estimate, float), np.full(np.shape(estimate), end)
    for _ in range(STEPS):
        middle = (near + far) / 2
        within = np.abs(middle - estimate) < reach(middle)
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return (near + far) / 2
