"""Eigenvalues on a device by array operations alone, without synchronization with the host.

Each eigenvalue of a tridiagonal matrix is located by bisection: the number of negative pivots is the number of
eigenvalues below a point (Sturm sequences; Parlett, The Symmetric Eigenvalue Problem, section 3.3). The number of
steps is fixed, and sufficient for every matrix. There are far fewer operations than with rotations, but more
arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

from matrics._arrays import Array, Standard

# For larger matrices the operations take longer than a synchronization.
MOST_CLASSES = 128
# The number of parts into which a step divides an interval: few matrices do not use all of a device, and many matrices
# would fill its memory.
PARTS = 16
MOST_POINTS = 2**24


def eigenvalues(backend: Standard, matrices: Array) -> Array:
    """The ascending eigenvalues (…, n) of symmetric, finite matrices (…, n, n) with cells of at most about 1."""
    xp: Any = backend.xp
    axes = range(matrices.ndim - 2)
    diagonal, squares = _tridiagonal(xp, xp.permute_dims(matrices, (matrices.ndim - 2, matrices.ndim - 1, *axes)))
    n, precision = diagonal.shape[0], float(xp.finfo(diagonal.dtype).eps)
    roots = xp.sqrt(squares)
    nothing = xp.zeros_like(diagonal[:1, ...])
    reach = xp.abs(diagonal) + xp.concat([nothing, roots]) + xp.concat([roots, nothing])
    # Slightly more than the largest Gershgorin circle, and not 0.
    bound = xp.max(reach, axis=0) * (1 + 8 * n * precision) + precision**2
    squares = squares + (precision**2 * bound) ** 2  # avoids 0/0 at a pivot of 0
    parts = PARTS if (PARTS - 1) * math.prod(diagonal.shape) * n <= MOST_POINTS else 2
    index = backend.class_index(n, diagonal)
    ranks = xp.reshape(index, (1, n, *(1 for _ in axes)))
    steps = xp.reshape(backend.class_index(parts, diagonal)[1:], (parts - 1, 1, *(1 for _ in axes)))
    steps = xp.astype(steps, diagonal.dtype)

    def narrowed(low: Array, width: Array) -> tuple[Array, Array]:
        width = width / parts
        points = low[None, ...] + steps * width
        is_below = _number_below(xp, diagonal, squares, points) <= ranks
        return low + width * xp.astype(xp.sum(xp.astype(is_below, index.dtype), axis=0), low.dtype), width

    number = math.ceil((3 - math.log2(precision)) / math.log2(parts))
    low, width = backend.repeated(number, narrowed, (xp.zeros_like(diagonal) - bound[None, ...], 2 * bound))
    return xp.permute_dims(low + width / 2, (*range(1, low.ndim), 0))


def _number_below(xp: Any, diagonal: Array, squares: Array, points: Array) -> Array:
    """The number of eigenvalues below each point."""
    pivot = diagonal[0, ...] - points
    number = xp.astype(pivot < 0, xp.int32)
    for i in range(1, diagonal.shape[0]):
        pivot = (diagonal[i, ...] - points) - squares[i - 1, ...] / pivot
        number = number + xp.astype(pivot < 0, xp.int32)
    return number


def _tridiagonal(xp: Any, cells: Array) -> tuple[Array, Array]:
    """The diagonal ``[class, *batch]`` and the squares of the off-diagonal; see ``Lanes``."""
    tiny = float(xp.finfo(cells.dtype).eps) ** 2
    diagonal, squares = [], []
    rest = cells
    while rest.shape[0] > 2:
        diagonal.append(rest[:1, 0, ...])
        first, others, rest = rest[1:2, 0, ...], rest[2:, 0, ...], rest[1:, 1:, ...]
        sign = xp.where(first < 0, -xp.ones_like(first), xp.ones_like(first))
        first = first + tiny * sign
        square = first * first + xp.sum(others * others, axis=0, keepdims=True)
        length = xp.sqrt(square)
        factor = 1 / (square + length * xp.abs(first))
        squares.append(square)
        vector = xp.concat([first + length * sign, others])
        # Not a matrix product, which autocast and TensorFloat-32 would round.
        image = xp.sum(rest * vector[None, ...], axis=1) * factor
        image = image - vector * (xp.sum(vector * image, axis=0, keepdims=True) * factor * 0.5)
        change = vector[:, None, ...] * image[None, ...]
        rest = rest - change - xp.permute_dims(change, (1, 0, *range(2, change.ndim)))
    diagonal += [rest[:1, 0, ...], rest[1:, 1, ...]]
    squares.append(rest[1:, 0, ...] * rest[1:, 0, ...])
    return xp.concat(diagonal), xp.concat(squares)
