"""Whether the estimate of a measure is biased, as that of a lowest value over classes is: a test for any measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._uncertainty.measure import MADE_OF_MAXIMA, Measure, Task, score_of
from matrics._uncertainty.options import DRAWING

# Pairs of opposite changes of the matrix, a power of 2: the bias of a lowest of 2 to 8 values is right to some 0.06.
PAIRS = 32

# The bias that counts, in standard errors. With smooth measures of enough samples it is half of this, and where several
# classes compete for the lowest value five times as large; from a third on, coverage is below 93 %.
NOTICEABLE = 0.1

# Numbers of the changed matrices per chunk.
NUMBERS_AT_ONCE = 2**22


def may_be_biased(measure: Measure, method: str, *, of_difference: bool) -> bool:
    """Whether limits need the test: other measures of the catalogue are smooth, or their limits allow for the bias.

    Those of a lowest value over classes do, unless they are plain, or are quantiles of differences.
    """
    if measure.extreme is not None:
        return method == "delta" or (of_difference and method in DRAWING)
    own = measure.metric is not None and measure.metric.is_own
    return own or (measure.name in MADE_OF_MAXIMA and method != "auto")


def bias_of(task: Task, measure: Measure) -> Array:
    """The bias of each value in standard errors, (B,) or (B, C), by matrices that are a standard error away.

    It is the distance of the mean of replicates from the estimate, where a replicate adds or subtracts the standard
    error of each cell, or the contribution of each cluster. The replicates are pairs of opposite ones, so that the mean
    has no noise if the measure is a straight line there. It is 0 where the measure is undefined or does not vary.
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
        away = parts - xp.mean(parts, axis=0)[None, :]
        moved = xp.reshape(xp.matmul(backend.constant(_signs(number), cells), away), (PAIRS, count, rows * columns))
    else:
        squares = cells if task.squares is None else xp.reshape(task.squares, cells.shape)
        moved = backend.constant(_signs(rows * columns), cells)[:, None, :] * xp.sqrt(squares)
    # No cell may become negative; both of a pair are cut, and so remain opposite.
    moved = xp.where(moved > cells, cells, xp.where(moved < -cells, -cells, moved))
    tables = xp.reshape(xp.concat([cells + moved, cells - moved], axis=0), (2 * PAIRS, count, rows, columns))
    score = score_of([measure], task.zero_division)
    (own,) = score(task.there(task.whole), task.workers)
    (values,) = score(xp.reshape(task.there(tables), (2 * PAIRS * count, rows, columns)), task.workers)
    values = xp.reshape(values, (2, PAIRS, *own.shape))
    away = values - own[None, None, ...]
    pairs = (away[0, ...] + away[1, ...]) / 2
    known = xp.isfinite(pairs)
    number = xp.sum(xp.astype(known, own.dtype), axis=0)
    number = xp.where(number > 0, number, 1)
    bias = xp.sum(xp.where(known, pairs, 0), axis=0) / number
    spread = xp.sum(xp.where(known[None, ...], away**2, 0), axis=(0, 1)) / (2 * number) - bias**2
    return xp.where(spread > 0, bias / xp.sqrt(xp.where(spread > 0, spread, 1)), 0)


def _signs(number: int) -> Any:
    """The signs of the changes, (PAIRS, number): columns of a Hadamard matrix by Sylvester.

    These are orthogonal, so no two of up to 31 cells move together; of more, a few do, which ones is drawn once.
    """
    matrix = np.ones((1, 1))
    while len(matrix) < PAIRS:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    random = np.random.default_rng(0)
    columns = np.concatenate([1 + random.permutation(PAIRS - 1) for _ in range(0, number, PAIRS - 1)])
    return matrix[:, columns[:number]].tolist()
