"""The eigenvalues of stacks of NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.eigenvalues.lanes import LEAST_MATRICES, Lanes, dot

# The sweeps before the first check of convergence: for the first eigenvalue, for the following, and for the last.
SWEEPS_OF_FIRST, SWEEPS, SWEEPS_OF_LAST = 4, 3, 2
LAST = 4
# All known matrices need less than half as many.
MOST_SWEEPS = 60
# For larger matrices LAPACK, which solves them separately, is as fast. The steps need thousands of calls for any number
# of matrices. docs/speed.md has the measured times.
MOST_CLASSES = {"float64": 20, "float32": 30}
# The sizes of an array with a number for each matrix of a block, and of all cells of a block. They exceed the cache, as
# the overhead of thousands of calls is larger than the cost of cache misses.
LANE_BYTES = 128 * 1024
BLOCK_BYTES = 32 * 1024 * 1024


def takes_steps(n: int, dtype: Any, matrices: int) -> bool:
    """Whether the eigenvalues of a stack are computed by the steps of ``Lanes``, or by LAPACK."""
    return n <= MOST_CLASSES[dtype.name] and matrices >= LEAST_MATRICES * n


def block_of(matrices: int, least: int, dtype: Any, n: int) -> int:
    """The number of matrices in a block; blocks have equal sizes, because each needs equally many calls."""
    most: int = max(least, min(LANE_BYTES, BLOCK_BYTES // (n * n)) // dtype.itemsize)
    return math.ceil(matrices / math.ceil(matrices / most))


def any_eigenvalues(cells: Array) -> Array:
    """The ascending eigenvalues ``[class, matrix]`` of any number of matrices ``[class, class, matrix]``.

    They are computed in blocks that fit into the second-level cache.
    """
    n, _, matrices = cells.shape
    if not takes_steps(n, cells.dtype, matrices):
        return np.ascontiguousarray(NUMPY.eigvalsh(cells.transpose(2, 0, 1)).T)
    step = block_of(matrices, 0, cells.dtype, n)
    values = np.empty((n, matrices), cells.dtype)
    with np.errstate(all="ignore"):
        for start in range(0, matrices, step):
            part = slice(start, start + step)
            values[:, part] = eigenvalues(np.ascontiguousarray(cells[:, :, part]))
    return values


class HostLanes(Lanes):
    """The steps in NumPy, where a check of the smallest square takes less time than replacing numbers."""

    def __init__(self, like: Array) -> None:
        super().__init__(NUMPY, like)

    def square(self, first: Array, *others: Array) -> tuple[Array, Array]:
        """See ``Lanes``."""
        square = dot([first, *others], [first, *others])
        if np.minimum.reduce(square, axis=None, initial=np.inf) >= self.least_square:
            return first, square
        return super().square(first, *others)


def eigenvalues(cells: Array) -> Array:
    """The ascending eigenvalues ``[class, matrix]`` of symmetric matrices ``[class, class, matrix]``.

    After a fixed number of sweeps each matrix gets as many as it needs, so its values do not depend on other matrices.
    """
    lanes = HostLanes(cells)
    n, results = len(cells), []
    diagonal, squares = lanes.tridiagonal(cells)
    for rows in range(n, 2, -1):
        number = SWEEPS_OF_FIRST if rows == n else SWEEPS if rows > LAST else SWEEPS_OF_LAST
        for _ in range(number):
            diagonal, squares = lanes.sweep(diagonal, squares)
        _finish(lanes, diagonal, squares)
        results.append(diagonal[0])
        diagonal, squares = diagonal[1:], squares[1:]
    return np.stack(lanes.ascending([*results, *lanes.last_pair(diagonal, squares)]))


def _finish(lanes: Lanes, diagonal: Sequence[Array], squares: Sequence[Array]) -> None:
    """Sweep the matrices whose first off-diagonal element is not negligible, in place, until it is."""
    left = np.flatnonzero(squares[0] > lanes.negligible_square)
    for _ in range(MOST_SWEEPS):
        if not left.size:
            return
        swept = lanes.sweep([x.take(left) for x in diagonal], [x.take(left) for x in squares])
        for arrays, values in zip((diagonal, squares), swept, strict=True):
            for x, value in zip(arrays, values, strict=True):
                x[left] = value
        left = left[swept[1][0] > lanes.negligible_square]
    for x in diagonal:
        x[left] = np.nan
