"""The variance of sums over clusters of unequal sizes, and how surely it is known."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, Standard
from matrics._uncertainty.limits import student_quantile

# The degree of the polynomial that Student's quantiles are read from: its error is below that of the quantiles.
DEGREE = 14


class Spread(NamedTuple):
    """What the contributions of clusters (K, …) say about the variance of their sum; all arrays have the shape (…)."""

    variance: Array
    clusters: Array  # the number of clusters with samples
    degrees: Array  # of freedom of the variance


def spread_of_clusters(away: Array, weights: Array, alone: Array, xp: Any) -> Spread:
    """The variance of a sum of contributions of clusters, which add up to 0, and its degrees of freedom.

    ``weights`` are the variances of the contributions if all samples were independent, up to a factor; they are 0 of
    clusters without samples, which have no information. ``alone`` is the variance of the sum in that case.

    A cluster with the share h of all weights draws the estimate towards itself, so that its contribution is too small
    by the factor √(1 - h): Bell and McCaffrey's (2002) correction, K / (K - 1) for equal clusters. There are at most as
    many degrees of freedom as effective clusters less one, Kish's (Σ h)² / Σ h², and as many as the kurtosis of the
    contributions leaves (Satterthwaite): if a few of many clusters make the variance, it is the variance of a few. Both
    are about that part of the variance that independent samples would not have, and are divided by it.
    """
    some = weights > 0
    clusters = xp.sum(xp.astype(some, away.dtype), axis=0)
    total = xp.sum(weights, axis=0)
    share = weights / xp.where(total > 0, total, 1)
    effective = 1 / _positive(xp.sum(share * share, axis=0), xp)
    squares = xp.where(some, away * away, 0)
    found = xp.sum(squares / _positive(1 - share, xp), axis=0)
    whole = _positive(xp.sum(squares, axis=0), xp)
    fourth = xp.sum((squares / whole) ** 2, axis=0) - 1 / xp.where(clusters > 0, clusters, 1)
    by_kurtosis = 2 / _positive(fourth, xp)
    beyond = xp.where(found > alone, found - alone, 0) / _positive(found, xp)
    degrees = xp.minimum(by_kurtosis, effective - 1) / _positive(beyond, xp)
    return Spread(found, clusters, xp.minimum(degrees, clusters - 1))


def _positive(values: Array, xp: Any) -> Array:
    """The values, and a number near 0 in place of 0 and of what rounding makes of it."""
    least = float(xp.finfo(values.dtype).smallest_normal) ** 0.5
    return xp.where(values > least, values, least)


def student_quantiles(level: float, degrees: Array, backend: Standard) -> Array:
    """Student's quantile for each number of degrees of freedom, below one that for one; NaN for none.

    It is read from a polynomial in 1 / degrees, as all libraries have sums and products.
    """
    xp = backend.xp
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    exact = [math.log(student_quantile(level, 2 / (1 + node))) for node in nodes]
    place = 2 / xp.where(degrees > 1, degrees, 1) - 1
    found = xp.zeros_like(place)
    for factor in np.polynomial.chebyshev.cheb2poly(np.polynomial.chebyshev.chebfit(nodes, exact, DEGREE))[::-1]:
        found = found * place + float(factor)
    return xp.where(degrees > 0, xp.exp(found), math.nan)
