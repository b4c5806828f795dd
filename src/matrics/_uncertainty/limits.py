"""Limits from an estimate and its standard error, or from replicates."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard

Range = tuple[float, float]


def normal_quantile(level: float) -> float:
    """The quantile z: a normal variate is between -z and z with this probability."""
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantile(level: float, degrees: float) -> float:
    """The quantile of Student's distribution, to 1e-5 from three degrees of freedom on: Hill 1970, algorithm 396."""
    tail = 1 - level
    if degrees < 1:
        return math.nan
    if degrees == 1:
        return 1 / math.tan(tail * math.pi / 2)
    if degrees == 2:
        return math.sqrt(2 / (tail * (2 - tail)) - 2)
    a = 1 / (degrees - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * degrees
    x = d * tail
    y = x ** (2 / degrees)
    if y > 0.05 + a:
        x = NormalDist().inv_cdf(tail / 2)
        y = x * x
        if degrees < 5:
            c += 0.3 * (degrees - 4.5) * (x + 0.6)
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
        y = a * y * y
        y = math.expm1(y)
    else:
        y = (
            (1 / (((degrees + 6) / (degrees * y) - 0.089 * d - 0.822) * (degrees + 2) * 3) + 0.5 / (degrees + 4)) * y
            - 1
        ) * (degrees + 1) / (degrees + 2) + 1 / y
    return math.sqrt(degrees * y)


# Replicates per chunk of the sum of squares: they fit in a cache.
REPLICATES_AT_ONCE = 2**14

# Scales. A measure with two bounds is on the scale of its logit (which for [-1, 1] is twice Fisher's z), and a measure
# with a single bound on a logarithmic scale, so that no limit leaves the range. --------------------------------------


def on_scale(value: Array, bounds: Range, backend: Standard) -> tuple[Array, Array, Array]:
    """A value on its scale, and the first and second derivative of the scale there."""
    xp, (low, high) = backend.xp, bounds
    below, above = value - low, high - value
    if low == -math.inf and high == math.inf:
        return value, xp.ones_like(value), xp.zeros_like(value)
    if high == math.inf:
        return xp.log(below), 1 / below, -1 / below**2
    if low == -math.inf:
        return -xp.log(above), 1 / above, 1 / above**2
    return xp.log(below) - xp.log(above), 1 / below + 1 / above, 1 / above**2 - 1 / below**2


def off_scale(x: Array, bounds: Range, backend: Standard) -> Array:
    """The value at x on the scale."""
    xp, (low, high) = backend.xp, bounds
    if low == -math.inf and high == math.inf:
        return x
    if high == math.inf:
        return low + xp.exp(x)
    if low == -math.inf:
        return high - xp.exp(-x)
    # From the nearer bound, so that no digits cancel.
    odds = xp.exp(-xp.abs(x))
    part = (high - low) * odds / (1 + odds)
    return xp.where(x < 0, low + part, high - part)


def around(value: Array, error: Array, z: float, bounds: Range, backend: Standard) -> tuple[Array, Array]:
    """Limits z standard errors from the value on its scale; NaN at the bounds and without an error."""
    xp = backend.xp
    known = (error > 0) & (value > bounds[0]) & (value < bounds[1])
    inside = xp.where(known, value, _middle(bounds))
    x, slope, _ = on_scale(inside, bounds, backend)
    reach = z * error * slope
    low, high = (xp.where(known, off_scale(x + side * reach, bounds, backend), math.nan) for side in (-1, 1))
    return low, high


def around_corrected(  # noqa: PLR0917 (the parameters of ``around``)
    value: Array, variance: Array, bias: Array, z: float, bounds: Range, backend: Standard
) -> tuple[Array, Array]:
    """Limits for a measure with a biased estimate: half of the bias moves the limits, and widens them.

    Each limit is the outer of two: the limit on the scale, and the limit on the measure itself, clipped to the bounds.
    """
    xp = backend.xp
    known = (variance > 0) & (value > bounds[0]) & (value < bounds[1])
    inside = xp.where(known, value, _middle(bounds))
    x, slope, curve = on_scale(inside, bounds, backend)
    bias = xp.where(xp.isfinite(bias), bias, 0)
    bias_on_scale = slope * bias + curve * variance / 2
    reach, straight = (z * xp.sqrt(v + b * b / 4) for v, b in ((variance * slope**2, bias_on_scale), (variance, bias)))
    low = xp.minimum(off_scale(x - bias_on_scale / 2 - reach, bounds, backend), inside - bias / 2 - straight)
    high = xp.maximum(off_scale(x - bias_on_scale / 2 + reach, bounds, backend), inside - bias / 2 + straight)
    low = xp.where(low < bounds[0], bounds[0], low)
    high = xp.where(high > bounds[1], bounds[1], high)
    return xp.where(known, low, math.nan), xp.where(known, high, math.nan)


def _middle(bounds: Range) -> float:
    low, high = bounds
    if math.inf in (high, -low):
        return low + 1 if low > -math.inf else high - 1 if high < math.inf else 0.0
    return (low + high) / 2


def wilson(share: Array, trials: Array, z: float, backend: Standard) -> tuple[Array, Array]:
    """Wilson's score limits of a proportion, for a number of trials."""
    xp = backend.xp
    defined = trials > 0
    trials = xp.where(defined, trials, 1)
    share = xp.where(defined, share, 0)
    low = wilson_at(share, trials, z, backend)
    # 1 less the lower limit of failures would lose all digits where nearly all trials are failures.
    middle, half_width = _wilson(share, trials, z, backend)
    high = xp.where(share == 1, 1.0, middle + half_width)
    return xp.where(defined, low, math.nan), xp.where(defined, high, math.nan)


def wilson_at(share: Array, trials: Array, z: Any, backend: Standard) -> Array:
    """Wilson's lower score limit of a proportion of at least one trial; 0 for a proportion of 0."""
    middle, reach = _wilson(share, trials, z, backend)
    return backend.xp.where(share > 0, middle - reach, 0)


def _wilson(share: Array, trials: Array, z: Any, backend: Standard) -> tuple[Array, Array]:
    """The middle of both limits, and their distance from it."""
    whole = 1 + z * z / trials
    half_width = z * backend.xp.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    return (share + z * z / (2 * trials)) / whole, half_width / whole


# Replicates, along the last axis -------------------------------------------------------------------------------------


def quantiles(replicates: Array, shares: list[Array], backend: Standard) -> list[Array]:
    """The quantiles of the defined replicates at these shares, with linear interpolation."""
    xp = backend.xp
    missing = xp.isnan(replicates)
    number = replicates.shape[-1] - xp.sum(xp.astype(missing, replicates.dtype), axis=-1)
    ordered = xp.sort(xp.where(missing, math.inf, replicates), axis=-1)
    index = backend.widest_int(replicates) or xp.int32
    results = []
    for share in shares:
        place = xp.clip(share * (number - 1), 0, replicates.shape[-1] - 1)
        below = xp.floor(xp.where(xp.isnan(place), 0, place))
        part = place - below
        ends = []
        for corner in (below, xp.minimum(below + 1, xp.clip(number - 1, 0, None))):
            at = xp.astype(corner, index)[..., None]
            ends.append(xp.take_along_axis(ordered, at, axis=-1)[..., 0])
        first, second = ends
        between = first + part * (xp.where(second == first, first, second) - first)
        value = xp.where((part == 0) | (second == first), first, between)
        results.append(xp.where((number > 0) & ~xp.isnan(place), value, math.nan))
    return results


def percentile_limits(values: Array, level: float, backend: Standard) -> tuple[Array, Array]:
    """The limits of the central share ``level`` of the replicates."""
    tail = backend.xp.full_like(values[..., 0], (1 - level) / 2)
    low, high = quantiles(values, [tail, 1 - tail], backend)
    return low, high


def spread(values: Array, backend: Standard) -> tuple[Array, Array]:
    """The standard deviation of the defined replicates, and the number of undefined replicates."""
    xp = backend.xp
    missing = xp.isnan(values)
    undefined = xp.sum(xp.astype(missing, backend.widest_int(values) or xp.int32), axis=-1)
    number = xp.astype(values.shape[-1] - undefined, values.dtype)
    mean = xp.sum(xp.where(missing, 0, values), axis=-1) / xp.where(number > 0, number, 1)
    deviations = xp.where(missing, 0, values - mean[..., None])
    error = xp.sqrt(xp.sum(deviations * deviations, axis=-1) / xp.where(number > 1, number - 1, 1))
    return xp.where(number > 1, error, math.nan), undefined


def summary_of_finite(values: Array, level: float) -> tuple[Array, Array, Array, Array] | None:
    """Percentile limits, spread and 0 for replicates of NumPy that are all finite; else None. Reorders them.

    It takes a third of the time of the two functions above, for which drawing would have to wait.
    """
    number = values.shape[-1]
    mean = np.mean(values, axis=-1)  # NaN or infinite if a replicate is
    if number < 2 or not np.isfinite(mean).all():
        return None
    squares = np.zeros(mean.shape)
    for start in range(0, number, REPLICATES_AT_ONCE):
        deviations = values[..., start : start + REPLICATES_AT_ONCE] - mean[..., None]
        squares += np.vecdot(deviations, deviations)
    place = (1 - level) / 2 * (number - 1)
    below = int(place)
    ranks = [below, min(below + 1, number - 1)]
    ranks += [number - 1 - rank for rank in ranks]
    values.partition(sorted(set(ranks)), axis=-1)
    low, next_low, high, next_high = (values[..., rank] for rank in ranks)
    part = place - below
    limits = (low + part * (next_low - low), high + part * (next_high - high))
    return (*limits, np.sqrt(squares / (number - 1)), np.zeros(mean.shape, np.int64))


def bca_limits(
    values: Array, estimate: Array, acceleration: Array, level: float, backend: Standard
) -> tuple[Array, Array]:
    """Limits corrected for bias and acceleration; NaN if the estimate is beyond all replicates."""
    xp = backend.xp
    defined = xp.sum(xp.astype(~xp.isnan(values), values.dtype), axis=-1)
    below = xp.sum(xp.astype(values < estimate[..., None], values.dtype), axis=-1)
    equal = xp.sum(xp.astype(values == estimate[..., None], values.dtype), axis=-1)
    share = (below + equal / 2) / xp.where(defined > 0, defined, 1)
    known = (share > 0) & (share < 1)
    shift = backend.normal_quantile(xp.where(known, share, 0.5))
    shares = []
    for side in ((1 - level) / 2, (1 + level) / 2):
        z = shift + backend.normal_quantile(xp.full_like(share, side))
        shares.append(xp.where(known, backend.normal_cdf(shift + z / (1 - acceleration * z)), math.nan))
    low, high = quantiles(values, shares, backend)
    return low, high
