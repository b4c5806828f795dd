"""Limits of the lowest or the highest value of the classes, from the limits of the classes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matrics._arrays import Array, Standard
from matrics._uncertainty.measure import Extreme, Task, score_of

#: Lower and upper limits and standard errors of all classes, (B, C) each.
OfClasses = tuple[Array, Array, Array]


def _classes_of(extreme: Extreme, values: Array) -> Sequence[int]:
    """The classes of which it is the lowest or highest value."""
    return extreme.classes or range(values.shape[-1])


def values_of_classes(task: Task, extreme: Extreme) -> Array:
    """The values of all classes, (B, C)."""
    return score_of([extreme.each], task.zero_division)(task.there(task.whole), task.workers)[0]


def level_of_all(level: float, extreme: Extreme, values: Array) -> float:
    """The level for limits of a class so that the limits of all classes hold at once (Bonferroni)."""
    return 1 - (1 - level) / len(_classes_of(extreme, values))


def of_classes(extreme: Extreme, values: Array, every: OfClasses, each: OfClasses, backend: Standard) -> OfClasses:
    """Limits and the standard error (B,) of an extreme value, from limits that hold for every or for each class.

    The lowest of several lower limits is below the lowest value with at least the probability of a single limit. The
    lowest upper limit needs limits that hold for all classes at once: if classes are similar, the lowest estimate is
    biased downwards, and has no derivative for the delta method.
    """
    xp, classes = backend.xp, _classes_of(extreme, values)
    ends = (every[0], each[1]) if extreme.is_highest else (each[0], every[1])
    value, low, high, error = (xp.stack([x[:, k] for k in classes], axis=-1) for x in (values, *ends, each[2]))
    unknown = xp.isnan(value)
    side = -1.0 if extreme.is_highest else 1.0
    # If a class has a value and no limits, the extreme has no limits.
    complete = ~xp.any(~unknown & xp.isnan(low + high), axis=-1) & ~xp.all(unknown, axis=-1)
    low, high = (side * xp.min(xp.where(unknown, math.inf, side * x), axis=-1) for x in (low, high))
    place = xp.argmin(xp.where(unknown, math.inf, side * value), axis=-1)
    error = xp.take_along_axis(error, place[:, None], axis=-1)[:, 0]
    low, high = (xp.where(complete, limit, math.nan) for limit in (low, high))
    return low, high, error
