"""Measures of the k highest of binned scores, with bounds that hold for any order of the scores inside each bin."""

from __future__ import annotations

from matrics._arrays import Array, Standard
from matrics._ranking.bounds import BoundedBins, nonzero


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
