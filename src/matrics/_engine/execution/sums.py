"""Execution on the host for one matrix of many classes: sums of the integers themselves, without a copy as floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.execution.digits import rounds_from
from matrics._engine.execution.sweep import Swept

# From here on a copy of the cells, and fresh pages for it, take most of the time of measures of margins.
MANY_CLASSES = 100
# Rows that stay in a core's cache between three looks at them.
PART_BYTES = 256 * 1024


def summed(stack: Array, zero_division: float, dtype: Any) -> Swept | None:
    """The table of a stack (1, n, n) of integers; None if it is of another kind, or needs a full check."""
    if len(stack) != 1 or stack.shape[-1] < MANY_CLASSES or not NUMPY.is_integer(stack):
        return None
    (matrix,) = stack
    bits = matrix.view(matrix.dtype.str.replace("i", "u"))  # in which a negative number is among the largest
    limit, n = rounds_from(dtype), len(matrix)
    true, pred = np.empty(n, np.int64), np.zeros(n, np.int64)
    step = max(1, PART_BYTES // (n * matrix.itemsize))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        if int(np.maximum.reduce(bits[rows], axis=None)) * matrix.size >= limit:
            return None
        np.add.reduce(matrix[rows], axis=1, dtype=np.int64, out=true[rows])
        pred += np.add.reduce(matrix[rows], axis=0, dtype=np.int64)
    sums = np.empty((3, n, 1), dtype)
    sums[0, :, 0], sums[1, :, 0], sums[2, :, 0] = true, pred, matrix.diagonal()
    total = np.add.reduce(sums[0], axis=0)
    return Swept(stack, sums, total, largest=float(total[0]), zero_division=zero_division)
