"""Areas of binned scores, with bounds that hold for any order of the scores inside each bin."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, Standard
from matrics._engine.evaluation import is_nan
from matrics._engine.results import NamedResult


class Bounded(NamedResult):
    """A value of binned scores, and limits between which the value of the scores themselves is.

    Parameters
    ----------
    value : array
        The value, where scores of one bin count as equal.
    low, high : array
        The least and the largest value that the scores can have, given the bins that they are in.
    """

    value: Array
    low: Array
    high: Array


class BoundedBins(NamedTuple):
    """What areas are made of: floats, with the highest bin first."""

    positives: Array  # (*B, K)
    negatives: Array
    positives_above: Array  # in the bins above
    negatives_above: Array
    positives_upto: Array  # in these and in the bin itself
    negatives_upto: Array
    all_positives: Array  # (*B, 1)
    all_negatives: Array
    is_tied: Array | None  # (*B, K): whether all scores of the bin are equal for certain; None if no bin is
    has_units: bool  # whether every sample counts 1


def roc_auc(bins: BoundedBins, backend: Standard) -> tuple[list[Array], Array]:
    """Value, low and high of the area under the ROC curve, and whether it is defined.

    It is the share of pairs, a positive and a negative sample, in which the positive has the higher score; half of
    those with equal scores count. In one bin a pair may count 0, half or 1.
    """
    xp = backend.xp
    # One factor is scaled before the product, which float32 might not hold, and the other one at the end.
    share = bins.negatives / _or_one(bins.all_negatives, xp)
    twice = 2 * _or_one(bins.all_positives, xp)[..., 0]
    value = _sum(share * (bins.positives_above + bins.positives_upto), backend) / twice
    of_bin = share * bins.positives
    half = _sum(of_bin if bins.is_tied is None else xp.where(bins.is_tied, 0, of_bin), backend) / twice
    return [value, value - half, value + half], ((bins.all_positives > 0) & (bins.all_negatives > 0))[..., 0]


def average_precision(bins: BoundedBins, backend: Standard) -> tuple[list[Array], Array]:
    """Value, low and high of the average precision, and whether it is defined.

    It is the mean, over the positives, of the precision among all samples with the same score or a higher one. Let a
    bin have p positives and q negatives, and the bins above it t and f. Among the samples up to the i-th positive of
    the bin there are at least t + i positives and at most f + q negatives, at most t + p positives and at least f
    negatives. So the precision there is at least (t + i) / (t + i + f + q), which all of them have if the negatives
    come first and no scores are equal, and at most (t + p) / (t + p + f), which all of them have if the positives come
    first and are equal.

    With F = f + q, g(x) = (t + x) / (t + x + F) is concave, so g(i) is at least its mean from i - 1/2 to i + 1/2:
    the sum over i is at least the integral from 1/2 to p + 1/2, p - F log(1 + p / (t + F + 1/2)). Of weights, the i-th
    positive counts w g(W), W being the weight up to it; as g increases, the sum is at least the integral from 0 to p.
    """
    xp = backend.xp
    p, upto, negatives = bins.positives, bins.positives_upto, bins.negatives_upto
    total = _or_one(bins.all_positives, xp)
    share = p / total
    value, high = (share * (upto / _or_one(upto + x, xp)) for x in (negatives, bins.negatives_above))
    below = bins.positives_above + negatives
    below = below + 0.5 if bins.has_units else _or_one(below, xp)  # which is 0 only where negatives are
    low = (p - negatives * xp.log1p(p / below)) / total
    if bins.has_units:
        low = xp.where(p == 1, value, low)
    if bins.is_tied is not None:
        low, high = (xp.where(bins.is_tied, value, part) for part in (low, high))
    return [_sum(part, backend) for part in (value, low, high)], (bins.all_positives > 0)[..., 0]


def average_of(
    areas: list[Array], weights: Array | None, zero_division: float, is_defined: Array, backend: Standard
) -> list[Array]:
    """Values (*B, n) averaged over classes, with these weights, or all the same; undefined ones are left out.

    With a number for ``zero_division`` no value is undefined.
    """
    xp = backend.xp
    if is_nan(zero_division):
        counted = xp.astype(is_defined, areas[0].dtype)
    else:
        counted = xp.ones_like(areas[0])
        areas = [xp.where(is_defined, area, zero_division) for area in areas]
    if weights is not None:
        counted = counted * weights
    total = tree_sum(counted, xp)[..., None]
    share = counted / _or_one(total, xp)
    means = [tree_sum(xp.where(counted > 0, area, 0) * share, xp) for area in areas]
    if not is_nan(zero_division):
        return widened(means, share.shape[-1], backend, (min(zero_division, 0.0), max(zero_division, 1.0)))
    means = widened(means, share.shape[-1], backend)
    return [xp.where(total[..., 0] > 0, mean, math.nan) for mean in means]


def widened(areas: list[Array], length: int, backend: Standard, ends: tuple[float, float] = (0.0, 1.0)) -> list[Array]:
    """Limits moved apart by more than all errors of rounding: ulps of 1, as many as sums have steps and some more.

    No term is above its share of the samples, the shares add up to 1, each term is wrong by a few ulps of its share,
    and a sum in pairs adds half an ulp a step.
    """
    xp = backend.xp
    value, low, high = areas
    margin = (length.bit_length() + 16) * float(xp.finfo(value.dtype).eps)
    return [value, backend.clamped(low - margin, ends[0], None), backend.clamped(high + margin, None, ends[1])]


def outward(low: Array, high: Array) -> tuple[Array, Array]:
    """NumPy's float64 limits in float32, never nearer to each other."""
    low32, high32 = low.astype(np.float32), high.astype(np.float32)
    low32 = np.where(low32 > low, np.nextafter(low32, np.float32(-np.inf)), low32)
    return low32, np.where(high32 < high, np.nextafter(high32, np.float32(np.inf)), high32)


def tree_sum(x: Array, xp: Any) -> Array:
    """The sum along the last axis, in pairs: its error grows with the logarithm of the length, on every backend."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        pairs = x[..., :half] + x[..., half : 2 * half]
        x = pairs if x.shape[-1] == 2 * half else xp.concat([pairs, x[..., 2 * half :]], axis=-1)
    return x[..., 0]


def _sum(x: Array, backend: Standard) -> Array:
    """The sum along the last axis; NumPy's own adds in pairs as well."""
    return np.sum(x, axis=-1) if backend.looking_is_free else tree_sum(x, backend.xp)


def _or_one(x: Array, xp: Any) -> Array:
    """Divisors, with 1 in place of 0, where the dividend is 0 as well."""
    return x + xp.astype(x == 0, x.dtype)
