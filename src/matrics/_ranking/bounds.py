"""Areas and measures at k of binned scores, with bounds that hold for any order of the scores inside each bin."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, Standard
from matrics._engine.evaluation import is_nan
from matrics._engine.results import NamedResult


class Bounded(NamedResult):
    """A measure of binned scores, and limits of the measure of the scores themselves.

    Parameters
    ----------
    value : array
        The value if all scores of a bin are equal.
    low, high : array
        The least and the largest value of any scores with the same bins.
    """

    value: Array
    low: Array
    high: Array


class BoundedBins(NamedTuple):
    """The counts from which measures are computed: floats, with the highest bin first."""

    positives: Array  # (*B, K)
    negatives: Array
    positives_above: Array  # in higher bins
    negatives_above: Array
    positives_upto: Array  # in the bin and in higher bins
    negatives_upto: Array
    all_positives: Array  # (*B, 1)
    all_negatives: Array
    is_tied: Array | None  # (*B, K): whether all scores of the bin are known to be equal; None if this is never known
    has_units: bool  # whether every sample counts 1


def roc_auc(bins: BoundedBins, backend: Standard) -> tuple[list[Array], Array]:
    """Value and limits of the area under the ROC curve, and whether it is defined.

    It is the share of pairs of a positive and a negative sample in which the positive has the higher score. A pair with
    equal scores counts ½. A pair within a bin may count 0, ½ or 1.
    """
    xp = backend.xp
    # The product might overflow in float32, so the negatives are scaled before it, and the positives after it.
    share = bins.negatives / nonzero(bins.all_negatives, xp)
    twice_the_positives = 2 * nonzero(bins.all_positives, xp)[..., 0]
    value = _sum(share * (bins.positives_above + bins.positives_upto), backend) / twice_the_positives
    of_bin = share * bins.positives
    half_width = (
        _sum(of_bin if bins.is_tied is None else xp.where(bins.is_tied, 0, of_bin), backend) / twice_the_positives
    )
    return [value, value - half_width, value + half_width], ((bins.all_positives > 0) & (bins.all_negatives > 0))[
        ..., 0
    ]


def average_precision(bins: BoundedBins, backend: Standard) -> tuple[list[Array], Array]:
    """Value and limits of the average precision, and whether it is defined.

    It is the mean, over the positives, of the precision among all samples with the same or a higher score. Let a bin
    have p positives and q negatives, and the bins above it t positives and f negatives. Among the samples up to the
    i-th positive of the bin there are at least t + i positives and at most f + q negatives, and at most t + p positives
    and at least f negatives. So the precision there is at least (t + i) / (t + i + f + q), and at most
    (t + p) / (t + p + f). All positives attain the lower limit if the negatives come first and no scores are equal, and
    the upper limit if the positives come first and are equal.

    With F = f + q, g(x) = (t + x) / (t + x + F) is concave, so g(i) is at least its mean from i - 1/2 to i + 1/2:
    the sum over i is at least the integral from 1/2 to p + 1/2, p - F log(1 + p / (t + F + 1/2)). Of weights, the i-th
    positive counts w g(W), W being the weight up to it; as g increases, the sum is at least the integral from 0 to p.
    """
    xp = backend.xp
    p, positives_upto, negatives = bins.positives, bins.positives_upto, bins.negatives_upto
    num_positives = nonzero(bins.all_positives, xp)
    share = p / num_positives
    value, high = (
        share * (positives_upto / nonzero(positives_upto + x, xp)) for x in (negatives, bins.negatives_above)
    )
    below = bins.positives_above + negatives
    below = below + 0.5 if bins.has_units else nonzero(below, xp)  # 0 only if there are no negatives either
    low = (p - negatives * xp.log1p(p / below)) / num_positives
    if bins.has_units:
        low = xp.where(p == 1, value, low)
    if bins.is_tied is not None:
        low, high = (xp.where(bins.is_tied, value, part) for part in (low, high))
    return [_sum(part, backend) for part in (value, low, high)], (bins.all_positives > 0)[..., 0]


def at_k(name: str, k: float, bins: BoundedBins, backend: Standard) -> tuple[list[Array], Array]:
    """Value and limits of precision, recall or lift of the k highest scores, and whether it is defined.

    Let the bin of the k-th highest score have p positives and q negatives, and the bins above it t positives and f
    negatives. Then m = k - t - f samples of this bin are among the k. At least max(0, m - q) and at most min(m, p) of
    them are positive, and m p / (p + q) is the mean over all orders of the bin, which is the value for equal scores.
    """
    xp = backend.xp
    above, upto = bins.positives_above + bins.negatives_above, bins.positives_upto + bins.negatives_upto
    has_kth = (above < k) & (upto >= k)  # a single bin, or no bin if there are fewer than k samples

    def of_bin(x: Array) -> Array:
        return xp.sum(xp.where(has_kth, x, 0), axis=-1)

    hits_above, p, q = of_bin(bins.positives_above), of_bin(bins.positives), of_bin(bins.negatives)
    m = backend.clamped(k - of_bin(above), 0, None)
    value = hits_above + m * (p / nonzero(p + q, xp))
    low, high = hits_above + backend.clamped(m - q, 0, None), hits_above + xp.minimum(m, p)
    if bins.is_tied is not None:
        is_tied = xp.any(has_kth & bins.is_tied, axis=-1)
        low, high = xp.where(is_tied, value, low), xp.where(is_tied, value, high)
    positives, number = bins.all_positives[..., 0], (bins.all_positives + bins.all_negatives)[..., 0]
    is_defined = number >= k
    divisor: Array | float = k
    if name != "precision_at_k":
        is_defined = is_defined & (positives > 0)
        divisor = nonzero(positives if name == "recall_at_k" else k * positives / nonzero(number, xp), xp)
    # Sums of counts are exact up to 2 / eps. Beyond it, each has a relative error of a few eps.
    eps = float(xp.finfo(value.dtype).eps)
    margin = xp.astype(number > 2 / eps, value.dtype) * (32 * eps * k)
    low = backend.clamped((low - margin) / divisor, 0, None) * (1 - 4 * eps)
    high = (high + margin) / divisor * (1 + 4 * eps)
    return [value / divisor, low, high if name == "lift_at_k" else backend.clamped(high, None, 1)], is_defined


def average_of(
    measures: list[Array],
    weights: Array | None,
    zero_division: float,
    is_defined: Array,
    backend: Standard,
    *,
    highest: float = 1.0,
) -> list[Array]:
    """Values (*B, n) averaged over classes, with or without weights; undefined values are left out.

    If ``zero_division`` is a number, it replaces undefined values, and all values count. ``highest`` is the highest
    value that the measure may have.
    """
    xp = backend.xp
    if is_nan(zero_division):
        weights_used = xp.astype(is_defined, measures[0].dtype)
    else:
        weights_used = xp.ones_like(measures[0])
        measures = [xp.where(is_defined, part, zero_division) for part in measures]
    if weights is not None:
        weights_used = weights_used * weights
    total = tree_sum(weights_used, xp)[..., None]
    share = weights_used / nonzero(total, xp)
    means = [tree_sum(xp.where(weights_used > 0, part, 0) * share, xp) for part in measures]
    if not is_nan(zero_division):
        return widened(means, share.shape[-1], backend, (min(zero_division, 0.0), max(zero_division, highest)))
    means = widened(means, share.shape[-1], backend, (0.0, highest))
    return [xp.where(total[..., 0] > 0, mean, math.nan) for mean in means]


def widened(
    measures: list[Array], length: int, backend: Standard, range_of_values: tuple[float, float] = (0.0, 1.0)
) -> list[Array]:
    """Limits moved apart by more than the rounding error: as many ulps of 1 as the sum has steps, plus 16.

    No term exceeds its share of the samples, and the shares add up to 1. The error of each term is a few ulps of its
    share, and a pairwise sum adds half an ulp in each step. The errors of values above 1 are proportional to the value.
    """
    xp = backend.xp
    value, low, high = measures
    margin = (length.bit_length() + 16) * float(xp.finfo(value.dtype).eps)
    scale = 1.0 if range_of_values[1] <= 1 else backend.clamped(high, 1, None)
    return [
        value,
        backend.clamped(low - margin * scale, range_of_values[0], None),
        backend.clamped(high + margin * scale, None, range_of_values[1]),
    ]


def outward(low: Array, high: Array) -> tuple[Array, Array]:
    """Limits in float64, rounded outwards to float32."""
    low32, high32 = low.astype(np.float32), high.astype(np.float32)
    low32 = np.where(low32 > low, np.nextafter(low32, np.float32(-np.inf)), low32)
    return low32, np.where(high32 < high, np.nextafter(high32, np.float32(np.inf)), high32)


def tree_sum(x: Array, xp: Any) -> Array:
    """The pairwise sum along the last axis: on every backend its error grows with the logarithm of the length."""
    while x.shape[-1] > 1:
        half = x.shape[-1] // 2
        pairs = x[..., :half] + x[..., half : 2 * half]
        x = pairs if x.shape[-1] == 2 * half else xp.concat([pairs, x[..., 2 * half :]], axis=-1)
    return x[..., 0]


def _sum(x: Array, backend: Standard) -> Array:
    """The pairwise sum along the last axis; NumPy's sum is pairwise already."""
    return np.sum(x, axis=-1) if backend.looking_is_free else tree_sum(x, backend.xp)


def nonzero(x: Array, xp: Any) -> Array:
    """Divisors, with 1 in place of 0; a dividend is 0 there as well."""
    return x + xp.astype(x == 0, x.dtype)
