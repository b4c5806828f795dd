"""Limits of second order: at stationary points such as chance, at the ends of the range, and at ties of classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.record import Metric
from matrics._uncertainty.limits import Range, normal_quantile, on_scale
from matrics._uncertainty.measure import Measure, Task, score_of
from matrics._uncertainty.slopes import slopes, variance

# Pairs of opposite random changes of a table, and their sizes in standard errors.
PAIRS, SIZES = 64, (1, 2)

# A measure bends if the root mean square of its even part is above this many standard errors; a bound for each of
# SIZES. The even part is the mean of both changes of a pair less the value. It reaches the first bound three standard
# errors from a stationary point, and the second at a tie of two classes that is as likely as the table.
BEND_BOUNDS = (0.25, 0.75)
# A measure bends if the root mean square of its even part is above this many standard errors; a bound for each of
# SIZES. The even part is the mean of both changes of a pair less the value. It reaches the first bound three standard
# errors from a stationary point, and the second at a tie of two classes that is as likely as the table. ENT = (0.25,
# 0.75)

# The second bound for a tie that is three standard errors away, which only the larger changes reach.
FAR_TIE_BOUND = 0.4

# A measure that is corrected for bias bends only within so many standard errors of chance, or of its best value.
NEAR_CHANCE, NEAR_BEST = 5, 4

# Closer to an end of the range than this many standard errors, a logarithmic or logit scale is not used.
NEAR = 1.4

# The even part of a smooth measure grows with the square of the change. If the mean squares of both sizes, divided by
# the fourth power of the size, differ by more than this factor, the derivative jumps.
TIE = 1.3

# The number of classes up to which the code computes whether a measure can bend; more classes count as so many.
MOST_CLASSES = 4

# The share of a cell that a change removes at most.
LARGEST_CHANGE = 0.9

# Standard errors up to this part of a value are due to rounding.
NOISE = 1e-6

# Cells of the changed tables of a chunk.
CELLS_AT_ONCE = 2**20

#: Lower and upper limits, and standard errors.
LimitsAndError = tuple[Array, Array, Array]


class Bend(NamedTuple):
    """The effects of changes of a table beyond the first derivative of a measure; each (B,) or (B, C)."""

    bends: Array  # whether the effects are large compared with the standard error
    is_tie: Array  # whether they come from a tie, at which the derivative jumps
    bias: Array  # their mean
    spread: Array  # their variance
    lowest: Array  # the lowest value of all changed tables
    highest: Array  # the highest value
    rejects_no_end: tuple[Array, Array]  # the ends of the range that a test does not reject


class Around(NamedTuple):
    """The values of a measure at some tables, with standard errors."""

    value: Array
    error: Array
    bounds: Range


def around_bends(task: Task, which: Sequence[int], limits: Sequence[LimitsAndError], z: float) -> list[LimitsAndError]:
    """The limits of these measures: of second order where a measure bends and these limits are wider.

    The first derivative vanishes at a stationary point and jumps at a tie, so that the delta method has a wrong
    variance there. Random changes of the table, as large as those of another sample, have effects beyond the first
    derivative. Their variance adds to that of the delta method, and their mean is the bias of the estimate. On the side
    to which the measure bends, the limit is at least as far as the curvature leads; on the other side it is at most a
    bias beyond all changed tables. These limits are not on the scale of a logarithm or a logit, which would not reach
    the end of the range. An end that a test does not reject is the limit. Clusters have another variance, so their
    limits stay as they are.
    """
    xp = task.backend.xp
    few = xp.sum(task.whole, axis=(-2, -1)) < task.size
    near = [
        _may_bend(task.measures[k], task.estimates[k], error, few)
        for k, (_, _, error) in zip(which, limits, strict=True)
    ]
    results = limits
    if task.backend is not NUMPY:
        results = _by_chunks(task, which, limits, z)
    elif (
        rows := np.flatnonzero(np.any([is_near.reshape(len(is_near), -1).any(axis=1) for is_near in near], axis=0))
    ).size:
        of_rows = _by_chunks(task.part(rows), which, [tuple(x[rows] for x in ends) for ends in limits], z)
        results = [tuple(x.copy() for x in ends) for ends in limits]
        for ends, new in zip(results, of_rows, strict=True):
            for x, y in zip(ends, new, strict=True):
                x[rows] = y
    kept = zip(near, results, limits, strict=True)
    return [
        (*(xp.where(is_near, x, y) for x, y in zip(new[:2], old[:2], strict=True)), old[2])
        for is_near, new, old in kept
    ]


def _may_bend(measure: Measure, value: Array, error: Array, few: Array) -> Array:
    """Where a measure may bend. With a correction for bias and two bounds that is at chance or at its best value.

    With fewer samples than cells, ``few``, a measure may bend anywhere.
    """
    low, high = measure.range
    is_corrected = measure.biased and math.isfinite(low) and math.isfinite(high)
    least = NEAR_CHANCE * error if is_corrected else math.inf
    few = few[:, None] if value.ndim > 1 else few
    return few | ~((value - low > least) & (high - value > NEAR_BEST * error))


def _by_chunks(task: Task, which: Sequence[int], limits: Sequence[LimitsAndError], z: float) -> list[LimitsAndError]:
    """The limits of ``around_bends`` for all matrices, also where no measure may bend."""
    backend, xp, count = task.backend, task.backend.xp, task.whole.shape[0]
    step = max(1, CELLS_AT_ONCE // (task.size * PAIRS)) if backend is NUMPY else max(1, count)
    parts: list[list[LimitsAndError]] = []
    for start in range(0, count, step):
        chunk = slice(start, start + step)
        ends = [(low[chunk, ...], high[chunk, ...], error[chunk, ...]) for low, high, error in limits]
        parts.append(_around(task.part(chunk), which, ends, z))
    return [
        tuple(xp.concat(list(column), axis=0) for column in zip(*chunks, strict=True))
        for chunks in zip(*parts, strict=True)
    ]


def _around(task: Task, which: Sequence[int], limits: Sequence[LimitsAndError], z: float) -> list[LimitsAndError]:
    xp, measures = task.backend.xp, [task.measures[k] for k in which]
    total = xp.sum(task.whole, axis=(-2, -1), keepdims=True)
    whole = (task.whole + 1 / task.size) * (total / (total + 1))  # the same number of samples, on which some depend
    score = score_of(measures, task.zero_division)

    def scores(cells: Array) -> list[Array]:
        return score(task.there(cells), task.workers)

    rows = zip(scores(whole), limits, measures, strict=True)
    points = [Around(value, error, measure.range) for value, (_, _, error), measure in rows]
    pairs = max(1, task.whole.shape[-1] * (task.whole.shape[-1] - 1) // 2)
    # Each pair of classes may be tied: the limits hold for all pairs at once (Bonferroni).
    of_ties = normal_quantile(1 - (1 - task.options.level) / pairs) / normal_quantile(task.options.level)
    results = []
    for point, ends, bend in zip(
        points, limits, _bends(whole, points, scores, _steps(task, whole), z, task.backend), strict=True
    ):
        results.append(_limits(point, ends, bend, z, of_ties, xp))
    return results


def _limits(point: Around, limits: LimitsAndError, bend: Bend, z: float, of_ties: float, xp: Any) -> LimitsAndError:  # noqa: PLR0917
    """The limits of a measure from its values, its effects of second order, and the limits of the delta method."""
    (value, error, bounds), (low, high, _) = point, limits
    size = xp.abs(bend.bias)
    distance = z * xp.sqrt(error**2 + bend.spread + size**2 / 4)
    curved = z * error + z**2 * xp.minimum(size, bend.spread / (2 * xp.where(size > 0, size, 1)))
    of_ties = xp.where(bend.is_tie & (z * of_ties * error > distance), z * of_ties * error, distance)
    ends = []
    for side, end, old, rejects_none in zip((-1, 1), bounds, (low, high), bend.rejects_no_end, strict=True):
        # In the units of an upper limit.
        bias, most = side * bend.bias, bend.highest if side > 0 else -bend.lowest
        limit = side * value - bias / 2 + xp.where(bias < 0, of_ties, distance)
        limit = xp.where((bias > 0) & (side * value + curved > limit), side * value + curved, limit)
        limit = side * xp.minimum(limit, most + size)
        limit = xp.where(side * limit > side * end, end, limit)
        limit = xp.where(bend.bends & ~(side * old > side * limit), limit, old)  # never a narrower interval
        ends.append(xp.where(rejects_none & (error > 0), end, limit))
    return ends[0], ends[1], error


def _room(point: Around, xp: Any) -> Array:
    """The distance from the nearer end of the range."""
    low, high = (xp.abs(point.value - end) for end in point.bounds)
    return xp.minimum(low, high)


# The effects of changes of the tables --------------------------------------------------------------------------------


def _bends(  # noqa: PLR0917 (a measure, tables, and changes of the tables)
    whole: Array, points: Sequence[Around], score: Any, steps: Array, z: float, backend: Standard
) -> list[Bend]:
    """The effects of second order of changes of either sign, for each measure."""
    xp = backend.xp
    values, whole = [], whole[None, ...]  # JAX may be set to refuse arrays of different ranks
    for size in SIZES:
        change = size * steps
        change = xp.where(
            change > LARGEST_CHANGE * whole,
            LARGEST_CHANGE * whole,
            xp.where(change < -LARGEST_CHANGE * whole, -LARGEST_CHANGE * whole, change),
        )
        values.append((score(whole + change), score(whole - change)))
    return [
        _bend(point, [(up[k], down[k]) for up, down in values], _scale(whole), z, backend)
        for k, point in enumerate(points)
    ]


def _bend(point: Around, values: list[tuple[Array, Array]], scale: float, z: float, backend: Standard) -> Bend:
    """The effects of second order for a measure, from its values at both tables of all pairs of both sizes."""
    xp, (value, error, bounds) = backend.xp, point
    x, slope, _ = on_scale(value, bounds, backend)
    of_pairs = value[None, ...]
    is_near, bends, squares = _room(point, xp) <= NEAR * error, error < 0, []
    for size, least, (up, down) in zip(SIZES, BEND_BOUNDS, values, strict=True):
        scaled = (on_scale(up, bounds, backend)[0] + on_scale(down, bounds, backend)[0]) / 2 - x[None, ...]
        square = xp.mean(((up + down) / 2 - of_pairs) ** 2, axis=0)
        squares.append(square / size**4)
        least_square = (least * error) ** 2
        if size > 1:  # a tie further away
            least_square = xp.where(squares[-1] > TIE * squares[0], (FAR_TIE_BOUND * error) ** 2, least_square)
        is_bent = is_near | ~(xp.mean(scaled**2, axis=0) / slope**2 <= least_square)
        bends = bends | ((square > least_square) & is_bent)
    bends = bends & (error > 0)
    up, down = values[0]
    bias, spread = _moments((up + down) / 2 - of_pairs, scale, xp)
    all_values = xp.concat([part for pair in values for part in pair], axis=0)
    ends = []
    for side, end in zip((-1, 1), bounds, strict=True):
        if not math.isfinite(end):
            ends.append(error < 0)
            continue
        mean, of_squares = _moments(((up - end) ** 2 + (down - end) ** 2) / 2 - (of_pairs - end) ** 2, scale, xp)
        # The squared distance is a quadratic form. The test uses the mean and the variance of that form at the end.
        is_flat = bends & ((value - end) ** 2 <= mean + z * xp.sqrt(of_squares))
        # Measures such as EVE rise from the end like a square root, which doubles the distance in standard errors.
        is_steep = (side * bias > BEND_BOUNDS[0] / 2 * error) & (xp.abs(value - end) <= 2 * z * error)
        changed = xp.concat([up, down], axis=0)
        touches = xp.any(side * changed >= side * end, axis=0)
        ends.append(is_flat | is_steep | touches)
    is_tie = (squares[1] * TIE < squares[0]) | (squares[1] > TIE * squares[0])
    return Bend(bends, is_tie, bias, spread, xp.min(all_values, axis=0), xp.max(all_values, axis=0), (ends[0], ends[1]))


def _moments(values: Array, scale: float, xp: Any) -> tuple[Array, Array]:
    mean = xp.mean(values, axis=0)
    return mean, xp.mean((values - mean[None, ...]) ** 2, axis=0) * scale


def _steps(task: Task, whole: Array) -> Array:
    """Random changes (pairs, B, r, c), as large as those of another sample: of all samples, or within each row."""
    backend, xp = task.backend, task.backend.xp
    total = xp.sum(task.whole, axis=(-2, -1), keepdims=True)
    spread = whole
    if task.squares is not None:
        spread = (task.squares + 1 / task.size) * (total / (total + 1))
    by = backend.constant(_normal(task.size).tolist(), whole)
    steps = xp.sqrt(spread)[None, ...] * xp.reshape(by, (PAIRS, 1, *whole.shape[-2:]))
    axes = -1 if task.options.scheme == "rows" else (-2, -1)
    whole = whole[None, ...]
    total = xp.sum(whole, axis=axes, keepdims=True)
    return steps - whole * (xp.sum(steps, axis=axes, keepdims=True) / xp.where(total > 0, total, 1))


@lru_cache(maxsize=64)
def _normal(size: int) -> Array:
    """Normal numbers (pairs, size). Up to ``PAIRS`` columns are uncorrelated, like those of infinitely many pairs."""
    drawn = np.random.default_rng(0).standard_normal((PAIRS, size))
    drawn = np.linalg.qr(drawn)[0] if size <= PAIRS else drawn
    return drawn * (math.sqrt(PAIRS) / np.linalg.norm(drawn, axis=0))


def _scale(whole: Array) -> float:
    """The factor for the variance of quadratic forms of uncorrelated numbers, whose squares vary less."""
    rows, columns = whole.shape[-2:]
    return (PAIRS + 2) / (PAIRS - (rows - 1) * (columns - 1)) if rows * columns <= PAIRS else 1


# Which measures can bend ---------------------------------------------------------------------------------------------


def can_bend(metric: Metric | None, n: int) -> bool:
    """Whether a measure of n classes bends at matrices with many samples; other measures need no second order."""
    return metric is not None and n > 1 and _can_bend(metric, min(n, MOST_CLASSES))


@lru_cache(maxsize=1024)
def _can_bend(metric: Metric, n: int) -> bool:
    cells = _tables(n)
    score, size = score_of([Measure.of(metric)], math.nan), n * n
    by = np.sqrt(cells) * _normal(size).reshape(PAIRS, 1, n, n)
    steps = by - cells * (by.sum(axis=(-2, -1), keepdims=True) / cells.sum(axis=(-2, -1), keepdims=True))
    try:
        with NUMPY.quiet():
            derivatives = slopes(cells, score, NUMPY, second=False, workers=1)
            error = np.sqrt(variance(derivatives.first[0], cells, "multinomial", None, NUMPY))
            point = Around(derivatives.values[0], error, metric.range)
            (bend,) = _bends(cells, [point], lambda tables: score(tables, 1), steps, 2.0, NUMPY)
            return bool((bend.bends & (error > NOISE * np.abs(point.value))).any())
    except Exception:  # noqa: BLE001 (a measure of the user, which may require another number of classes)
        return True


def _tables(n: int) -> Array:
    """Matrices of many samples: of chance, of equal classes, predictions or margins, and with half of them correct."""
    rng = np.random.default_rng(0)
    cells = rng.uniform(0.5, 1.5, (4, n, n)) + rng.uniform(0, 2 * n, (4, 1, 1)) * np.eye(n)
    true, pred = cells.sum(axis=2, keepdims=True), cells.sum(axis=1, keepdims=True)
    right = np.eye(n) * cells
    wrong = cells - right
    of_all = right / right.sum(axis=(1, 2), keepdims=True) + wrong / wrong.sum(axis=(1, 2), keepdims=True)
    chance = [np.ones((1, n, n)), true + 0 * pred, pred + 0 * true, true * np.swapaxes(true, 1, 2), true * pred]
    stack = np.concatenate([*chance, cells / true, cells / pred, cells + np.swapaxes(cells, 1, 2), of_all])
    stack = np.repeat(stack * (2000 * n * n / stack.sum(axis=(1, 2), keepdims=True)), 2, axis=0)
    return stack + np.sqrt(stack) * rng.standard_normal(stack.shape)  # without noise all derivatives may be 0
