"""Eigenvalues on a GPU: two kernels in Triton, which PyTorch's builds for CUDA contain.

The first kernel computes the tridiagonal form by Householder reflections, with several matrices in a tile. The second
kernel computes each eigenvalue by bisection with Sturm counts (Parlett, The Symmetric Eigenvalue Problem, section
3.3), as ``bisection`` does with some thousand operations. The number of steps is fixed, so no lane waits for another,
and the host does not synchronize.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

# A tile with larger matrices does not fit into the registers.
MOST_CLASSES = 32
# The number of cells of a tile, padded to a power of two, and of lanes of the bisection.
TILE, LANES = 2048, 128
# The tridiagonal form of more matrices would need too much memory.
MOST_AT_ONCE = 2**24


def eigenvalues(cells: torch.Tensor) -> torch.Tensor:
    """The ascending eigenvalues ``[class, matrix]`` of symmetric, finite matrices ``[class, class, matrix]``.

    Strides are arbitrary. Cells must not be much larger than 1.
    """
    n, matrices = cells.shape[1:]
    values = cells.new_empty((n, matrices))
    with torch.cuda.device_of(cells):
        for start in range(0, matrices, MOST_AT_ONCE):
            part = slice(start, start + MOST_AT_ONCE)
            _solve(cells[:, :, part], values[:, part])
    return values


def _solve(cells: torch.Tensor, values: torch.Tensor) -> None:
    n, matrices = values.shape
    diagonal, squares = cells.new_empty((n, matrices)), cells.new_empty((n - 1, matrices))
    precision = torch.finfo(cells.dtype).eps
    side = triton.next_power_of_2(n)
    in_tile = max(TILE // side**2, 1)
    options: dict[str, Any] = {"CLASSES": n, "PRECISION": precision, "num_warps": cells.itemsize // 2}
    _tridiagonal[(triton.cdiv(matrices, in_tile),)](
        *(cells, diagonal, squares, matrices, *cells.stride()), SIDE=side, MATRICES=in_tile, **options
    )
    steps = math.ceil(3 - math.log2(precision))
    _bisected[(triton.cdiv(matrices, LANES), n)](
        *(diagonal, squares, values, matrices, values.stride(0)), STEPS=steps, MATRICES=LANES, **options
    )


@triton.jit
def _tridiagonal(  # noqa: PLR0917 (kernels take strides separately)
    cells: tl.tensor,
    diagonal: tl.tensor,
    squares: tl.tensor,
    count: tl.tensor,
    row_stride: tl.tensor,
    column_stride: tl.tensor,
    matrix_stride: tl.tensor,
    CLASSES: tl.constexpr,
    PRECISION: tl.constexpr,
    SIDE: tl.constexpr,
    MATRICES: tl.constexpr,
) -> None:
    """The diagonal ``[class, matrix]`` and the squares of the off-diagonal elements, from the first row on.

    Products are added up along the axes of the tile, as ``tl.dot`` rounds float32 to TensorFloat-32.
    """
    matrix = tl.program_id(0).to(tl.int64) * MATRICES + tl.arange(0, MATRICES)
    here = matrix < count
    index = tl.arange(0, SIDE)
    row, column, vector_index = index[None, :, None], index[None, None, :], index[None, :]
    places = cells + matrix[:, None, None] * matrix_stride
    places += row.to(tl.int64) * row_stride + column.to(tl.int64) * column_stride
    rest = tl.load(places, mask=here[:, None, None] & (row < CLASSES) & (column < CLASSES), other=0.0)
    for step in range(CLASSES - 2):
        at_first = vector_index == step + 1
        reflected = tl.sum(tl.where(row == step, rest, 0.0), axis=1)
        tl.store(diagonal + step * count + matrix, tl.sum(tl.where(vector_index == step, reflected, 0.0), axis=1), here)
        vector = tl.where(vector_index > step, reflected, 0.0)
        first = tl.sum(tl.where(at_first, vector, 0.0), axis=1)
        first = tl.where(first < 0, first - PRECISION * PRECISION, first + PRECISION * PRECISION)  # avoids 0/0
        vector = tl.where(at_first, first[:, None], vector)
        square = tl.sum(vector * vector, axis=1)
        tl.store(squares + step * count + matrix, square, here)
        length = tl.sqrt(square)
        factor = 1.0 / (square + length * tl.abs(first))
        vector = tl.where(at_first, (first + tl.where(first < 0, -length, length))[:, None], vector)
        image = tl.sum(rest * vector[:, :, None], axis=1) * factor[:, None]
        image = tl.where(vector_index > step, image, 0.0)
        image -= vector * (tl.sum(vector * image, axis=1) * factor * 0.5)[:, None]
        rest -= vector[:, :, None] * image[:, None, :] + image[:, :, None] * vector[:, None, :]
    for last in tl.static_range(CLASSES - 2, CLASSES):
        element = tl.sum(tl.sum(tl.where((row == last) & (column == last), rest, 0.0), axis=1), axis=1)
        tl.store(diagonal + last * count + matrix, element, here)
    off_diagonal = tl.sum(tl.sum(tl.where((row == CLASSES - 1) & (column == CLASSES - 2), rest, 0.0), axis=1), axis=1)
    tl.store(squares + (CLASSES - 2) * count + matrix, off_diagonal * off_diagonal, here)


@triton.jit
def _quotient(a: tl.tensor, b: tl.tensor) -> tl.tensor:
    """The correctly rounded quotient; the approximation for float32 loses eigenvalues next to exact zeros."""
    if a.dtype == tl.float32:
        return tl.div_rn(a, b)
    else:  # noqa: RET505 (Triton compiles only the branch of a constant condition)
        return a / b


@triton.jit
def _bisected(  # noqa: PLR0917
    diagonal: tl.tensor,
    squares: tl.tensor,
    values: tl.tensor,
    count: tl.tensor,
    class_stride: tl.tensor,
    CLASSES: tl.constexpr,
    PRECISION: tl.constexpr,
    STEPS: tl.constexpr,
    MATRICES: tl.constexpr,
) -> None:
    """The eigenvalues of a single rank, which is the index of the program on the second axis of the grid."""
    matrix = tl.program_id(0).to(tl.int64) * MATRICES + tl.arange(0, MATRICES)
    here, rank = matrix < count, tl.program_id(1).to(tl.int64)
    # Kept in registers for all steps.
    elements = ()
    off_squares = ()
    for i in tl.static_range(CLASSES):
        elements = elements + (tl.load(diagonal + i * count + matrix, here, other=0.0),)  # noqa: RUF005 (Triton has no *)
    for i in tl.static_range(CLASSES - 1):
        off_squares = off_squares + (tl.load(squares + i * count + matrix, here, other=0.0),)  # noqa: RUF005
    # Slightly more than the largest Gershgorin circle, and not 0.
    bound = tl.abs(elements[CLASSES - 1]) + tl.sqrt(off_squares[CLASSES - 2])
    before = 0.0
    for i in tl.static_range(CLASSES - 1):
        root = tl.sqrt(off_squares[i])
        bound = tl.maximum(bound, tl.abs(elements[i]) + before + root)
        before = root
    bound = bound * (1 + 8 * CLASSES * PRECISION) + PRECISION * PRECISION
    least = (PRECISION * PRECISION * bound) * (PRECISION * PRECISION * bound)  # avoids 0/0 at a pivot of 0
    low, width = -bound, 2 * bound
    for _ in range(STEPS):
        width *= 0.5
        point = low + width
        pivot = elements[0] - point
        below = (pivot < 0).to(tl.int32)
        for i in tl.static_range(1, CLASSES):
            pivot = (elements[i] - point) - _quotient(off_squares[i - 1] + least, pivot)
            below += (pivot < 0).to(tl.int32)
        low = tl.where(below <= rank, point, low)
    tl.store(values + rank * class_stride + matrix, low + 0.5 * width, here)
