"""A test of whether the estimate of a measure is biased, such as a lowest value over classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._uncertainty.measure import MADE_OF_MAXIMA, Measure, Task, score_of
from matrics._uncertainty.options import DRAWING

# Pairs of opposite changes of the matrix, a power of 2: the bias of a lowest of 2 to 8 values is accurate to 0.06.
PAIRS = 32

# The noticeable bias, in standard errors. Smooth measures of enough samples have half of this bias; it is five times as
# large if several classes compete for the lowest value. From 1/3 on, coverage is below 93 %.
NOTICEABLE = 0.1

# The size of the changed matrices of a chunk, in numbers.
NUMBERS_AT_ONCE = 2**22


def may_be_biased(measure: Measure, method: str, *, of_difference: bool) -> bool:
    """Whether limits need the test: other measures of the catalogue are smooth, or their limits allow for the bias.

    Limits of a lowest value over classes allow for it, unless they are plain, or are quantiles of differences.
    """
    if measure.extreme is not None:
        return method == "delta" or (of_difference and method in DRAWING)
    is_own = measure.metric is not None and measure.metric.is_own
    return is_own or (measure.name in MADE_OF_MAXIMA and method != "auto")


def bias_of(task: Task, measure: Measure) -> Array:
    """The bias of each value in standard errors, (B,) or (B, C), by matrices that are a standard error away.

    The bias is the distance of the mean of replicates from the estimate. A replicate adds or subtracts the standard
    error of each cell, or the contribution of each cluster. The replicates are pairs of opposite changes, so that the
    mean has no noise if the measure is linear there. It is 0 where the measure is undefined or does not vary.
    """
    count = task.whole.shape[0]
    step = max(1, NUMBERS_AT_ONCE // (2 * PAIRS * task.size)) if task.backend is NUMPY else max(1, count)
    parts = [_bias_of(task.part(slice(k, k + step)), measure) for k in range(0, max(1, count), step)]
    return task.backend.xp.concat(parts, axis=0)


def _bias_of(task: Task, measure: Measure) -> Array:
    backend, xp, (count, rows, columns) = task.backend, task.backend.xp, task.whole.shape
    cells = xp.reshape(task.whole, (1, count, rows * columns))
    if task.options.scheme == "clusters":
        number = task.cells.shape[0]
        parts = xp.reshape(task.cells, (number, count * rows * columns))
        deviations = parts - xp.mean(parts, axis=0)[None, :]
        changes = xp.reshape(
            xp.matmul(backend.constant(_signs(number), cells), deviations), (PAIRS, count, rows * columns)
        )
    else:
        squares = cells if task.squares is None else xp.reshape(task.squares, cells.shape)
        changes = backend.constant(_signs(rows * columns), cells)[:, None, :] * xp.sqrt(squares)
    # No cell may become negative. Both changes of a pair are clipped, so that they stay opposite.
    changes = xp.where(changes > cells, cells, xp.where(changes < -cells, -cells, changes))
    tables = xp.reshape(xp.concat([cells + changes, cells - changes], axis=0), (2 * PAIRS, count, rows, columns))
    score = score_of([measure], task.zero_division)
    (value,) = score(task.there(task.whole), task.workers)
    (values,) = score(xp.reshape(task.there(tables), (2 * PAIRS * count, rows, columns)), task.workers)
    values = xp.reshape(values, (2, PAIRS, *value.shape))
    deviations = values - value[None, None, ...]
    pairs = (deviations[0, ...] + deviations[1, ...]) / 2
    known = xp.isfinite(pairs)
    number = xp.sum(xp.astype(known, value.dtype), axis=0)
    number = xp.where(number > 0, number, 1)
    bias = xp.sum(xp.where(known, pairs, 0), axis=0) / number
    spread = xp.sum(xp.where(known[None, ...], deviations**2, 0), axis=(0, 1)) / (2 * number) - bias**2
    return xp.where(spread > 0, bias / xp.sqrt(xp.where(spread > 0, spread, 1)), 0)


def _signs(number: int) -> Any:
    """The signs of the changes, (PAIRS, number): columns of a Hadamard matrix by Sylvester.

    The columns are orthogonal, so no two of up to 31 cells change together. Of more cells, some change
    together; a fixed random order determines which.
    """
    matrix = np.ones((1, 1))
    while len(matrix) < PAIRS:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    random = np.random.default_rng(0)
    columns = np.concatenate([1 + random.permutation(PAIRS - 1) for _ in range(0, number, PAIRS - 1)])
    return matrix[:, columns[:number]].tolist()
