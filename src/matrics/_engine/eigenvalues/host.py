"""The eigenvalues of NumPy's stacks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.eigenvalues.lanes import LEAST_MATRICES, Lanes, dot

# The sweeps that all matrices take before it is seen which need more: for the first eigenvalue, while there are many
# rows, and for the last ones.
SWEEPS_OF_FIRST, SWEEPS, SWEEPS_OF_LAST = 4, 3, 2
LAST = 4
# No matrix is known that needs half as many.
MOST_SWEEPS = 60
# LAPACK takes one matrix at a time, and larger ones as fast; the steps take some thousand calls, however few matrices
# there are. docs/speed.md has the measured times.
MOST_CLASSES = {"float64": 20, "float32": 30}
# The steps take thousands of calls, which cost more than a cache that is too small: the bytes of an array with one
# number for each matrix of a block, and of all cells of a block.
LANE_BYTES = 128 * 1024
BLOCK_BYTES = 32 * 1024 * 1024


def takes_steps(n: int, dtype: Any, matrices: int) -> bool:
    """Whether a stack's eigenvalues are found in steps, or by LAPACK."""
    return n <= MOST_CLASSES[dtype.name] and matrices >= LEAST_MATRICES * n


def block_of(matrices: int, least: int, dtype: Any, n: int) -> int:
    """How many matrices to solve at once: in equal blocks, because each takes as many calls."""
    most: int = max(least, min(LANE_BYTES, BLOCK_BYTES // (n * n)) // dtype.itemsize)
    return math.ceil(matrices / math.ceil(matrices / most))


def any_eigenvalues(cells: Array) -> Array:
    """Ascending eigenvalues ``[class, matrix]`` of ``[class, class, matrix]``, of any number and with any strides.

    In blocks that fit into the second cache.
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
    """The steps in NumPy, where a look at the smallest square takes less time than to replace numbers."""

    def __init__(self, like: Array) -> None:
        super().__init__(NUMPY, like)

    def square(self, first: Array, *others: Array) -> tuple[Array, Array]:
        """See ``Lanes``."""
        square = dot([first, *others], [first, *others])
        if np.minimum.reduce(square, axis=None, initial=np.inf) >= self.least_square:
            return first, square
        return super().square(first, *others)


def eigenvalues(cells: Array) -> Array:
    """Ascending eigenvalues ``[class, matrix]`` of symmetric matrices ``[class, class, matrix]``.

    Each matrix takes the sweeps that all take, and then as many as it needs: its bits do not depend on the others.
    """
    lanes = HostLanes(cells)
    n, found = len(cells), []
    diagonal, squares = lanes.tridiagonal(cells)
    for rows in range(n, 2, -1):
        number = SWEEPS_OF_FIRST if rows == n else SWEEPS if rows > LAST else SWEEPS_OF_LAST
        for _ in range(number):
            diagonal, squares = lanes.sweep(diagonal, squares)
        _finish(lanes, diagonal, squares)
        found.append(diagonal[0])
        diagonal, squares = diagonal[1:], squares[1:]
    return np.stack(lanes.ascending([*found, *lanes.last_pair(diagonal, squares)]))


def _finish(lanes: Lanes, diagonal: Sequence[Array], squares: Sequence[Array]) -> None:
    """Sweep the matrices whose first off-diagonal element is not yet negligible, until it is; in place."""
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
