"""interval(): confidence intervals of coefficients of agreement, for items that are drawn at random."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Literal

import numpy as np

from matrics._arrays import Array, Standard
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._raters.coefficients import NAMES, linearised
from matrics._raters.formulas import Linearised
from matrics._raters.ratings import Ratings, read_ratings
from matrics._uncertainty.limits import around, normal_quantile, percentile_limits, spread, student_quantile
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import EITHER_OUTCOME, enough, graver
from matrics.typing import ArrayLike

# Below these numbers, coverage is less than the level: items with several ratings, items outside the most frequent
# class; and where disagreements are of several sizes, the effective number of items whose ratings disagree.
ITEMS, OTHERS, DISAGREEMENTS = 20, 10, EITHER_OUTCOME

# With fewer items than this whose ratings disagree, the logarithm of their number is far from normal.
COUNTED = 4

# The lowest limit for tables without a disagreement.
LOWEST = -1.0
UNDEFINED_SHARE = 0.05
# The cells of the replicates that are computed at a time.
CELLS_AT_ONCE = 2**22


def interval(
    ratings: ArrayLike,
    coefficients: str | Iterable[str],
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    weights: Any = None,
    level: float = 0.95,
    method: Literal["auto", "delta", "bootstrap"] = "auto",
    num: int | None = None,
    rng: Any = None,
) -> dict[str, Interval]:
    """Confidence intervals of coefficients of agreement, for items that are drawn at random.

    Parameters
    ----------
    ratings : array_like, shape (*B, items, raters), or a data frame with a row for each item
        The ratings; None, NaN or -1 where a rater has left an item out.
    num_classes : int, optional
        Number of classes, n; ratings are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    coefficients : str, or several of them
        Their names, such as ``"fleiss_kappa"``, also separated by commas.
    weights : str or array_like, optional
        How much two ratings agree, by name or as a matrix (n, n); the default of the coefficient if left out.
    level : float, default 0.95
        The confidence level.
    method : {"auto", "delta", "bootstrap"}
        By default (``"delta"``) Gwet's (2014) linearised variance with Student's quantile, on the scale of the
        logarithm of 1 less the coefficient, so that no limit is above 1; or quantiles of replicates with items drawn
        anew.
    num : int, optional
        Number of replicates of the bootstrap; 2,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where the draws of the bootstrap come from; anew each time if left out.

    Returns
    -------
    dict of str to matrics.Interval
        By name; the arrays have the shape (*B,). Status 1 for fewer than 20 items with several ratings, or 10 outside
        the most frequent class; with weights, also for fewer than 5 items whose ratings disagree.

    Raises
    ------
    ValueError
        A coefficient or a method does not exist, or as :func:`percent_agreement`.

    Notes
    -----
    The raters are fixed: the limits do not cover other raters. Without any disagreement the upper limit is 1, and the
    lower limit that for which z² / (n + z²) of the n items disagree entirely, Wilson's limit for 0 of n. If fewer than
    four items disagree, the upper limit is that of a Poisson distribution. The quantiles of ``"bootstrap"`` do not
    exist without a disagreement.

    Examples
    --------
    >>> from matrics import raters
    >>> ratings = [[0, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, -1]] * 5
    >>> for name, result in raters.interval(ratings, "fleiss_kappa,gwet_ac1", num_classes=2).items():
    ...     print(f"{name} {result.estimate:.3f}, between {result.low:.3f} and {result.high:.3f}")
    fleiss_kappa 0.532, between 0.241 and 0.712
    gwet_ac1 0.576, between 0.220 and 0.770
    """
    share = check_level(level)
    names = coefficients.split(",") if isinstance(coefficients, str) else list(coefficients)
    names = [str(name).strip() for name in names]
    for name in names:
        if name not in NAMES:
            raise ValueError(f"coefficients: expected {', '.join(map(repr, NAMES))}, got {quoted(name)}")
    if method not in ("auto", "delta", "bootstrap"):
        raise ValueError(f"method: expected 'auto', 'delta' or 'bootstrap', got {quoted(method)}")
    if method != "bootstrap" and not (num is None and rng is None):
        raise ValueError(f"num and rng: expected None, because method={quoted(method)} does not resample")
    known = None if labels is None else tuple(labels)
    read = read_ratings(ratings, num_classes, known)
    replicates = None if method != "bootstrap" else _resampled(read, num or 2000, rng)
    results = {}
    for name in steps(names):
        coefficient_weights = weights if weights is not None else default_weights(name)
        with read.backend.quiet():
            fields = _interval(name, read, coefficient_weights, known, share, replicates)
        results[name] = Interval(*(read.returned(part) for part in fields))
    return results


def default_weights(name: str) -> str:
    """The default weights of a coefficient."""
    return {"krippendorff_alpha": "nominal", "gwet_ac2": "quadratic"}.get(name, "none")


def _resampled(read: Ratings, num: int, rng: Any) -> Ratings:
    """The ratings of resampled items (num, *B, items, raters, n), on the host."""
    view = read.backend.host_view(read.chosen)
    if view is None:
        raise TypeError("method: expected 'delta' in compiled code and on devices, got 'bootstrap'")
    items = view.shape[-3]
    which = np.random.default_rng(rng).integers(0, items, (num, items)) if items else np.zeros((num, 0), int)
    return read._replace(chosen=np.moveaxis(np.take(view, which, axis=-3), -4, 0))


def _interval(  # noqa: PLR0917 (the arguments of interval, for a single coefficient)
    name: str, read: Ratings, weights: Any, labels: Any, level: float, replicates: Ratings | None
) -> tuple[Array, ...]:
    backend, xp = read.backend, read.backend.xp
    result = linearised(name, read, weights, labels)
    sizes = xp.sum(read.counts, axis=-1)
    shares = xp.sum(read.counts / xp.where(sizes > 0, sizes, 1)[..., None], axis=-2)  # the items of each class
    few = xp.sum(xp.astype(sizes >= 2, result.value.dtype), axis=-1) < ITEMS
    few = few | (xp.sum(shares, axis=-1) - xp.max(shares, axis=-1) < OTHERS)
    disagreements = result.disagreements(xp)
    if not (name == "gwet_ac1" or (isinstance(weights, str) and weights in {"none", "nominal"})):
        few = few | ~enough(
            disagreements, DISAGREEMENTS
        )  # a few small disagreements do not predict large disagreements
    integer = backend.widest_int(result.value) or xp.int32
    undefined = xp.astype(xp.zeros_like(result.value), integer)
    error = xp.sqrt(result.variance(xp))
    defined, perfect = ~xp.isnan(result.value), disagreements == 0
    if replicates is None:
        number = xp.sum(xp.astype(sizes >= 2, result.value.dtype), axis=-1)
        low, high = _limits(result, error, disagreements, number, _quantile(level, result.number, backend), backend)
        error = xp.where(perfect, 0.0, error)
    else:
        chunks = np.array_split(replicates.chosen, max(1, replicates.chosen.size // CELLS_AT_ONCE))
        values = [linearised(name, replicates._replace(chosen=chunk), weights, labels).value for chunk in steps(chunks)]
        drawn = np.moveaxis(np.concatenate([np.asarray(value) for value in values]), 0, -1)
        low, high = percentile_limits(drawn, level, backend)
        error, undefined = spread(drawn, backend)
    has_limits = defined & ((error > 0) | (perfect & (replicates is None))) & ~xp.isnan(low)
    conditions = {
        IntervalStatus.FEW_SAMPLES: few,
        IntervalStatus.NO_VARIATION: ~has_limits,
        IntervalStatus.UNDEFINED: ~defined,
    }
    if replicates is not None:
        conditions[IntervalStatus.UNDEFINED_REPLICATES] = undefined > UNDEFINED_SHARE * replicates.chosen.shape[0]
    status = graver(undefined * 0, conditions, xp)
    low, high = (xp.where(has_limits, limit, math.nan) for limit in (low, high))
    return result.value, low, high, xp.where(defined, error, math.nan), undefined, status


def _limits(  # noqa: PLR0917 (the local variables of _interval)
    result: Linearised, error: Array, disagreements: Array, number: Array, z: Array, backend: Standard
) -> tuple[Array, Array]:
    """Limits on the scale of the logarithm of the disagreement; exact limits where few items disagree."""
    xp = backend.xp
    positive = xp.where(disagreements > 0, disagreements, 1)
    low, high = around(result.value, error, z, (-math.inf, 1.0), backend)
    # The lower limit of a Poisson mean, as a part of its estimate (Wilson and Hilferty).
    part = 1 - 1 / (9 * positive) - z / (3 * xp.sqrt(positive))
    nearer = 1 - (1 - result.value) * xp.where(part > 0, part, 0) ** 3
    high = xp.where((disagreements < COUNTED) & (nearer > high), nearer, high)
    # If none of n items disagrees, at most a share of z² / (n + z²) does (Wilson), and these may disagree entirely.
    lowest = 1 - z**2 / (number + z**2) / result.room
    lowest = xp.where(lowest > LOWEST, lowest, LOWEST)
    perfect = disagreements == 0
    return xp.where(perfect, lowest, low), xp.where(perfect, 1.0, high)


def _quantile(level: float, number: Array, backend: Standard) -> Array:
    """Student's quantile for the number of items less 1: exact where the numbers can be inspected."""
    xp, view = backend.xp, backend.host_view(number)
    if view is not None:
        degrees, place = np.unique(view, return_inverse=True)
        known = np.asarray([student_quantile(level, max(int(number_of_items) - 1, 1)) for number_of_items in degrees])
        return known[place].reshape(view.shape)
    z = normal_quantile(level)
    degrees = xp.where(number > 2, number - 1, 1)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
