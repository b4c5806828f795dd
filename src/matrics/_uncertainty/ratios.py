"""Score limits of ratios of two proportions, and of their odds: they exist also if a cell is 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from matrics._arrays import Array, Standard
from matrics._engine.table import Table

# Halvings between the smallest and the largest value.
STEPS = 60


class TwoSamples(NamedTuple):
    """Successes of two samples, and their sizes."""

    hits: Array
    size: Array
    other_hits: Array
    other_size: Array


def odds_ratio_limits(samples: TwoSamples, z: Any, backend: Standard) -> tuple[Array, Array]:
    """Cornfield's limits of an odds ratio, with Miettinen and Nurminen's variance.

    With fixed margins, the expected successes of the first sample determine the odds ratio. The limits are those from
    which the observed successes are z standard errors away.
    """
    xp = backend.xp
    x, n, y, m = samples
    whole = x + y
    least = xp.where(whole > m, whole - m, 0 * x)
    most = xp.where(whole < n, whole, n)
    # The variance is that of the number of samples less 1.
    scale = (n + m) / xp.where(n + m > 1, n + m - 1, 1)

    def squared_distance(expected: Array) -> Array:
        """The squared distance of the successes from the expected number, in squared standard errors."""
        parts = (expected, whole - expected, n - expected, m - whole + expected)
        inverse = sum(1 / xp.where(part > 0, part, 1) for part in parts)
        inside = (parts[0] > 0) & (parts[1] > 0) & (parts[2] > 0) & (parts[3] > 0)
        return xp.where(inside, (x - expected) ** 2 * inverse / scale, math.inf)

    def ratio(expected: Array, end: Array) -> Array:
        top, bottom = expected * (m - whole + expected), (whole - expected) * (n - expected)
        return xp.where(bottom > 0, top / xp.where(bottom > 0, bottom, 1), end)

    known = (n > 0) & (m > 0) & (whole > 0) & (whole < n + m)
    low = _bisect(x, least, lambda middle: squared_distance(middle) < z * z, backend)
    high = _bisect(x, most, lambda middle: squared_distance(middle) < z * z, backend)
    low = xp.where(x <= least, 0 * x, ratio(low, 0 * x))
    high = xp.where(x >= most, 0 * x + math.inf, ratio(high, 0 * x + math.inf))
    return xp.where(known, low, math.nan), xp.where(known, high, math.nan)


def ratio_limits(samples: TwoSamples, z: Any, backend: Standard) -> tuple[Array, Array]:
    """Miettinen and Nurminen's limits of a ratio of two proportions: Koopman's with the number of samples less 1."""
    xp = backend.xp
    x, n, y, m = samples
    scale = (n + m) / xp.where(n + m > 1, n + m - 1, 1)

    def squared_distance(ratio: Array) -> Array:
        """The squared distance of the first proportion from ratio times the second, in squared standard errors."""
        # The most likely proportion of the second sample, if that of the first is ratio times as large.
        a, b, c = (n + m) * ratio, n * ratio + x + m + y * ratio, x + y
        root = xp.sqrt(xp.where(b * b > 4 * a * c, b * b - 4 * a * c, 0))
        second = 2 * c / xp.where(b + root > 0, b + root, 1)
        first = ratio * second
        variance = (first * (1 - first) / n + ratio * ratio * second * (1 - second) / m) * scale
        gap = x / n - ratio * y / m
        return xp.where(variance > 0, gap * gap / xp.where(variance > 0, variance, 1), xp.where(gap == 0, 0, math.inf))

    known = (n > 0) & (m > 0) & (x + y > 0)
    x, n, y, m = (xp.where(known, part, 1) for part in samples)
    scale = xp.where(known, scale, 1)
    share, other = x / n, y / m
    # On a scale from 0 to 1, on which an infinite ratio is 1.
    place = share / (share + other)

    def ratio_of(place: Array) -> Array:
        return place / xp.where(place < 1, 1 - place, 1)

    low = ratio_of(_bisect(place, 0 * place, lambda middle: squared_distance(ratio_of(middle)) < z * z, backend))
    high = ratio_of(_bisect(place, 0 * place + 1, lambda middle: squared_distance(ratio_of(middle)) < z * z, backend))
    low = xp.where(x == 0, 0 * x, low)
    high = xp.where(y == 0, 0 * x + math.inf, high)
    return xp.where(known, low, math.nan), xp.where(known, high, math.nan)


def _bisect(near: Array, far: Array, is_within: Callable[[Array], Array], backend: Standard) -> Array:
    xp = backend.xp

    def step(near: Array, far: Array) -> tuple[Array, Array]:
        middle = (near + far) / 2
        within = is_within(middle)
        return xp.where(within, middle, near), xp.where(within, far, middle)

    near, far = backend.looped(STEPS, step, (near, far))
    return (near + far) / 2


def _rates(t: Table) -> tuple[Array, ...]:
    return t.tp, t.true, t.fp, t.not_true


def _missed_rates(t: Table) -> tuple[Array, ...]:
    return t.fn, t.true, t.tn, t.not_true


#: The two samples of a measure of each class, and the function for its limits.
RATIOS: dict[str, tuple[Callable[[Table], tuple[Array, ...]], Callable[..., tuple[Array, Array]]]] = {
    "diagnostic_odds_ratio": (_rates, odds_ratio_limits),
    "positive_likelihood_ratio": (_rates, ratio_limits),
    "negative_likelihood_ratio": (_missed_rates, ratio_limits),
}
