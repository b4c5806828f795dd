"""The variance of sums over clusters of unequal sizes, and its degrees of freedom."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, Standard
from matrics._uncertainty.limits import student_quantile

# The degree of the polynomial for Student's quantiles: its error is below the error of the quantiles.
DEGREE = 14


class Spread(NamedTuple):
    """The variance of a sum of contributions of clusters (K, …); all arrays have the shape (…)."""

    variance: Array
    clusters: Array  # the number of clusters with samples
    degrees: Array  # the degrees of freedom of the variance


def spread_of_clusters(deviations: Array, weights: Array, independent: Array, xp: Any) -> Spread:
    """The variance of a sum of contributions of clusters, which add up to 0, and its degrees of freedom.

    ``weights`` are the variances of the contributions if all samples were independent, up to a factor. They are 0 for
    clusters without samples, which have no information. ``independent`` is the variance of the sum in that case.

    A cluster with the share h of all weights draws the estimate towards itself, so that its contribution is too small
    by the factor √(1 - h). The result has Bell and McCaffrey's (2002) correction, K / (K - 1) for equal clusters. The
    degrees of freedom are at most the effective number of clusters, Kish's (Σ h)² / Σ h², less 1. They are also limited
    by the kurtosis of the contributions (Satterthwaite): a variance from a few clusters is known as poorly as theirs.
    Both limits concern the part of the variance that independent samples would not have, and are divided by it.
    """
    has_samples = weights > 0
    clusters = xp.sum(xp.astype(has_samples, deviations.dtype), axis=0)
    total = xp.sum(weights, axis=0)
    share = weights / xp.where(total > 0, total, 1)
    effective = 1 / _positive(xp.sum(share * share, axis=0), xp)
    squares = xp.where(has_samples, deviations * deviations, 0)
    spread = xp.sum(squares / _positive(1 - share, xp), axis=0)
    whole = _positive(xp.sum(squares, axis=0), xp)
    fourth = xp.sum((squares / whole) ** 2, axis=0) - 1 / xp.where(clusters > 0, clusters, 1)
    by_kurtosis = 2 / _positive(fourth, xp)
    excess = xp.where(spread > independent, spread - independent, 0) / _positive(spread, xp)
    degrees = xp.minimum(by_kurtosis, effective - 1) / _positive(excess, xp)
    return Spread(spread, clusters, xp.minimum(degrees, clusters - 1))


def _positive(values: Array, xp: Any) -> Array:
    """The values, with a small positive number in place of 0 and of rounding errors."""
    least = float(xp.finfo(values.dtype).smallest_normal) ** 0.5
    return xp.where(values > least, values, least)


def student_quantiles(level: float, degrees: Array, backend: Standard) -> Array:
    """Student's quantile for each number of degrees of freedom; up to 1 it is the quantile for 1, and NaN for 0.

    The quantile is a polynomial in 1 / degrees, as all libraries have sums and products.
    """
    xp = backend.xp
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    exact = [math.log(student_quantile(level, 2 / (1 + node))) for node in nodes]
    x = 2 / xp.where(degrees > 1, degrees, 1) - 1
    logarithm = xp.zeros_like(x)
    for factor in np.polynomial.chebyshev.cheb2poly(np.polynomial.chebyshev.chebfit(nodes, exact, DEGREE))[::-1]:
        logarithm = logarithm * x + float(factor)
    return xp.where(degrees > 0, xp.exp(logarithm), math.nan)
