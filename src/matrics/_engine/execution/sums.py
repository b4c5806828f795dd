"""Exact sums of a single matrix of integers on the host; for many classes, without a copy of the matrix as floats."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.execution.digits import rounds_from
from matrics._engine.execution.host import SummedTable, WholeStack
from matrics._engine.execution.sweep import SweptTable

# From this number of classes on, a copy of the cells takes most of the time of measures of margins.
MANY_CLASSES = 100
# The size of the rows that stay in the cache of a core while they are read three times.
PART_BYTES = 256 * 1024


def summed_matrix(cells: Array, zero_division: float) -> SummedTable | None:
    """The table of a matrix of integers in float64; None if a sum may be rounded or a cell is negative.

    Products with a vector of 1s take half the time of sums, and sums of integers are the same in any order. The
    position of the smallest cell takes half the time of the smallest cell.
    """
    factors, empty = _of_size(len(cells))
    true = cells.dot(factors)
    total = true.dot(factors)
    if not (total < rounds_from(cells.dtype) and cells.item(cells.argmin()) >= 0):
        return None
    return empty.of_matrix(cells, (true, factors.dot(cells), cells.diagonal().copy()), total, zero_division)


@functools.cache
def _of_size(n: int) -> tuple[Array, SummedTable]:
    """A vector of n 1s, and the table of an (n, n) matrix without samples."""
    cells = np.zeros((n, n))
    return np.full(n, 1.0), SummedTable(cells, (cells[0],) * 3, cells[0, 0], largest=0, stack=WholeStack(1))


def summed(stack: Array, zero_division: float, dtype: Any) -> SweptTable | None:
    """The table of a stack (1, n, n) of integers; None for other stacks, and if a full check is necessary."""
    if len(stack) != 1 or stack.shape[-1] < MANY_CLASSES or not NUMPY.is_integer(stack):
        return None
    (matrix,) = stack
    bits = matrix.view(
        matrix.dtype.str.replace("i", "u")
    )  # as unsigned integers, negative numbers are among the largest
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
    return SweptTable(stack, sums, total, largest=float(total[0]), zero_division=zero_division)
