"""Eigenvalues in code that XLA compiles for the CPU: in steps for many matrices, otherwise by LAPACK.

``jax.numpy.linalg.eigvalsh`` also computes the eigenvectors, and so takes twice as long as LAPACK for values alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from matrics._arrays import Array
from matrics._arrays.jax import JAX
from matrics._arrays.jax_matrices import of_any_batch, one_by_one, with_derivatives
from matrics._engine.eigenvalues.lanes import LEAST_MATRICES, Lanes, dot

# Larger matrices were not measured, as the gain decreases with the number of rows (docs/numerics.md).
MOST_CLASSES = 30
# Sweeps of few rows are unrolled, as loops run longer; more rows would take long to compile.
MOST_WRITTEN_OUT = 7
# With more rows the tridiagonal form is computed in halves, as rows in loops keep the length of the first matrix.
MOST_AT_ONCE = 10
# The number of elements in a column of the matrices of a block: more do not fit into the first-level cache, and fewer
# increase the overhead of loops.
COLUMN = 5120
# All known matrices need less than half as many.
MOST_SWEEPS = 60


def takes_steps(x: Array) -> bool:
    """Whether the eigenvalues of (M, n, n) are computed in steps: for many, as programs take long to compile."""
    matrices, n = x.shape[:2]
    return bool(n <= MOST_CLASSES and matrices >= LEAST_MATRICES * n)


class XlaLanes(Lanes):
    """The steps in code that XLA compiles."""

    def once(self, x: Array) -> Array:
        """See ``Lanes``; a pivot of 0 must stay exactly 0 where its square is computed."""
        barrier: Any = lax.optimization_barrier
        return barrier(x)


_by_lapack = one_by_one(jnp.linalg.eigvalsh)
eigenvalues = with_derivatives(of_any_batch(lambda x: in_steps(x) if takes_steps(x) else _by_lapack(x)))
"""The ascending eigenvalues (…, n) of symmetric, finite matrices (…, n, n) with cells of at most about 1."""


def in_steps(x: Array) -> Array:
    """The eigenvalues (M, n) of a stack (M, n, n)."""
    count, n = x.shape[:2]
    block = COLUMN // n - 8  # rows at distances of a power of two conflict in the first-level cache
    blocks = math.ceil(count / block)
    stack = jnp.pad(x, ((0, blocks * block - count), (0, 0), (0, 0)))
    # Matrices are transposed class-first in the block, where they are in the cache.
    values = lax.map(_of_block, jnp.reshape(stack, (blocks, block, n, n)))
    return jnp.reshape(values, (blocks * block, n))[:count]


def _of_block(matrices: Array) -> Array:
    """The ascending eigenvalues (B, n) of (B, n, n); NaN where they do not converge."""
    cells = jnp.permute_dims(matrices, (1, 2, 0))
    lanes = XlaLanes(JAX, cells)
    state: Any = _tridiagonal(lanes, lanes.once(cells))
    last = len(cells) - 1
    loop: Any = lax.fori_loop
    if len(cells) <= MOST_WRITTEN_OUT:
        # Separate arrays for rows avoid copies.
        state, loop = tuple(map(tuple, state)), _written_out

    def split_off(first: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        """Sweep from the last row to ``first``, until its off-diagonal element is negligible in all matrices."""

        def is_left(squares: Array) -> Array:
            return _row(squares, first) > lanes.negligible_square

        def goes_on(state: tuple[Array, Array, Array]) -> Array:
            return jnp.any(is_left(state[1])) & (state[2] < MOST_SWEEPS)

        def sweep(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            diagonal, squares, number = state
            left = is_left(squares)
            top, second, bottom = (_row(diagonal, i) for i in (first, first + 1, last))
            shift, *carried = lanes.begin(top, second, bottom, _row(squares, first))

            def put(new: Array, value: Array, old: Array, i: Array) -> Array:
                # A converged matrix does not change, so that its values do not depend on other matrices.
                return _with_row(new, jnp.where(left, value, _row(old, i)), i)

            def rotate(step: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
                # Different arrays are read and written, as XLA would otherwise copy all rows each time.
                i = last - 1 - step
                element, off, *carried = lanes.rotated(_row(diagonal, i), _row(squares, i), shift, *state[2:])
                return put(state[0], element, diagonal, i + 1), put(state[1], off, squares, i + 1), *carried

            rotated = loop(0, last - first, rotate, (diagonal, squares, *carried))
            new_diagonal, new_squares, pivot, square, sine = rotated
            return (
                put(new_diagonal, pivot + shift, diagonal, first),
                put(new_squares, sine * square, squares, first),
                number + 1,
            )

        diagonal, squares, _ = lax.while_loop(goes_on, sweep, (*state, 0))
        value = jnp.where(is_left(squares), math.nan, _row(diagonal, first))
        return _with_row(diagonal, value, first), squares

    diagonal, squares = loop(0, last - 1, split_off, state)
    pair = lanes.last_pair(list(diagonal[-2:]), list(squares[-2:-1]))
    return jnp.matrix_transpose(_ascending(jnp.stack([*diagonal[:-2], *pair])))


def _tridiagonal(lanes: Lanes, cells: Array) -> tuple[Array, Array]:
    """The diagonal and the squares of the off-diagonal, each of n rows, from the last row to the first."""
    diagonal, squares = [], [jnp.zeros_like(cells[0, 0])]
    while len(cells) > 2:
        last, kept = len(cells) - 1, len(cells) // 2 + 1 if len(cells) > MOST_AT_ONCE else 2

        def reduce(step: Array, state: tuple[Array, Array], last: int = last) -> tuple[Array, Array]:
            return _reduced(lanes, *state, last - step)

        cells, off_squares = lax.fori_loop(0, len(cells) - kept, reduce, (cells, jnp.zeros_like(cells[0])))
        diagonal += [cells[i, i] for i in range(last, kept - 1, -1)]
        squares += [off_squares[i] for i in range(last, kept - 1, -1)]
        cells = cells[:kept, :kept]
    diagonal += [cells[1, 1], cells[0, 0]]
    squares.append(cells[1, 0] * cells[1, 0])
    return jnp.stack(diagonal[::-1]), jnp.stack(squares[::-1])


def _reduced(lanes: Lanes, cells: Array, squares: Array, last: Array) -> tuple[Array, Array]:
    """The rows before ``last`` after the reflection from both sides, B - v wᵀ - w vᵀ, and the squares.

    It loops over rows, as XLA would otherwise compute the vectors again for each cell.
    """
    index, row = jnp.arange(len(cells))[:, None], _row(cells, last)
    column = [_row(row, last - 1), *jnp.where(index < last - 1, row, 0)]
    (first, *others), square, factor = lanes.reflector(column)
    vector = lanes.once(_with_row(jnp.stack(others), first, last - 1))

    def add_row(j: Array, image: Array) -> Array:
        return image + _row(cells, j) * _row(vector, j)[None, :]

    image = lax.fori_loop(0, last, add_row, jnp.zeros_like(vector))
    image = lanes.once(jnp.where(index < last, image * factor[None, :], 0))
    image = lanes.once(image - vector * (dot(list(vector), list(image)) * (factor * 0.5))[None, :])

    def change_row(i: Array, cells: Array) -> Array:
        change = _row(vector, i)[None, :] * image + _row(image, i)[None, :] * vector
        return _with_row(cells, _row(cells, i) - change, i)

    return lax.fori_loop(0, last, change_row, cells), _with_row(squares, square, last)


def _ascending(values: Array) -> Array:
    """The rows in ascending order in each lane, by insertion."""

    def insert(i: Array, ordered: Array) -> Array:
        below = jnp.concat([jnp.full_like(ordered[:1], -math.inf), ordered[:-1]])
        return jnp.minimum(jnp.maximum(below, _row(values, i)[None, :]), ordered)

    return lax.fori_loop(0, len(values), insert, jnp.full_like(values, math.inf))


def _row(x: Any, i: Any) -> Array:
    """The row of an array, or of a tuple of rows."""
    return x[i] if isinstance(x, tuple) else lax.dynamic_index_in_dim(x, i, 0, keepdims=False)


def _with_row(x: Any, value: Array, i: Any) -> Any:
    if isinstance(x, tuple):
        return (*x[:i], value, *x[i + 1 :])
    return lax.dynamic_update_index_in_dim(x, value, i, 0)


def _written_out(begin: int, end: int, step: Callable[[Any, Any], Any], state: Any) -> Any:
    """The result of ``lax.fori_loop``, with an unrolled loop."""
    for i in range(begin, end):
        state = step(i, state)
    return state
