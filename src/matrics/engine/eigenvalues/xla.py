"""The eigenvalues in code that XLA compiles for the CPU, and their derivatives.

``jax.numpy.linalg.eigvalsh`` computes the eigenvectors as well, and so takes twice as long as LAPACK's values alone.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from matrics.arrays import Array
from matrics.arrays.jax import JAX, spread_as
from matrics.engine.eigenvalues.lanes import LEAST_MATRICES, Lanes, dot

# The sweeps of more rows, which are written out, take too long to compile.
MOST_CLASSES = 10
# The elements of a column of a block's matrices. More leave the first cache, and loops over fewer take their time.
COLUMN = 5120
# No matrix is known that needs half as many.
MOST_SWEEPS = 60


def takes_steps(x: Array) -> bool:
    """Whether the eigenvalues of (…, n, n) are found in steps: of many, as the program takes seconds to compile.

    On several devices a block would be gathered from all of them, and JAX refuses to cut what is on a mesh.
    """
    n, matrices = x.shape[-1], math.prod(x.shape[:-2])
    alone = jax.device_count() == 1 and not spread_as(x)
    return n <= MOST_CLASSES and matrices >= LEAST_MATRICES * n and alone


class XlaLanes(Lanes):
    """The steps in code that XLA compiles."""

    def once(self, x: Array) -> Array:
        """See ``Lanes``: a pivot of exactly 0 must not be another number where its square is computed."""
        barrier: Any = lax.optimization_barrier
        return barrier(x)


@jax.custom_jvp
def eigenvalues(x: Array) -> Array:
    """Ascending eigenvalues (…, n) of symmetric, finite matrices (…, n, n) with cells of at most about 1."""
    n, batch = x.shape[-1], x.shape[:-2]
    count = math.prod(batch)
    block = COLUMN // n
    blocks = math.ceil(count / block)
    stack = jnp.pad(jnp.reshape(x, (count, n, n)), ((0, blocks * block - count), (0, 0), (0, 0)))
    # Matrices are turned class-first in the block, where they are in the cache.
    values = lax.map(_of_block, jnp.reshape(stack, (blocks, block, n, n)))
    return jnp.reshape(jnp.reshape(values, (blocks * block, n))[:count], (*batch, n))


@eigenvalues.defjvp
def _derivative(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """By the eigenvectors: the change of an eigenvalue is vᵀ dA v, finite wherever they coincide."""
    (x,), (change,) = primals, tangents
    values, vectors = jnp.linalg.eigh(x, symmetrize_input=False)
    change = (change + jnp.matrix_transpose(change)) / 2
    moved = jnp.matmul(change, vectors, precision=lax.Precision.HIGHEST)
    return values, jnp.sum(vectors * moved, axis=-2)


def _of_block(matrices: Array) -> Array:
    """Ascending eigenvalues (B, n) of (B, n, n); NaN where they do not converge."""
    cells = jnp.permute_dims(matrices, (1, 2, 0))
    lanes = XlaLanes(JAX, cells)
    diagonal, squares = map(jnp.stack, _tridiagonal(lanes, cells))
    found = []

    def sweep(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        diagonal, squares, number = state
        # Each matrix keeps what it has when it is done, so that its bits do not depend on the others.
        left = (squares[0] > lanes.negligible_square)[None, :]
        swept = map(jnp.stack, lanes.sweep(list(diagonal), list(squares)))
        diagonal, squares = (jnp.where(left, new, old) for new, old in zip(swept, state, strict=False))
        return diagonal, squares, number + 1

    def goes_on(state: tuple[Array, Array, Array]) -> Array:
        return jnp.any(state[1][0] > lanes.negligible_square) & (state[2] < MOST_SWEEPS)

    for _ in range(len(cells) - 2):
        diagonal, squares, _ = lax.while_loop(goes_on, sweep, (diagonal, squares, 0))
        found.append(jnp.where(squares[0] > lanes.negligible_square, math.nan, diagonal[0]))
        diagonal, squares = diagonal[1:], squares[1:]
    return jnp.stack(lanes.ascending([*found, *lanes.last_pair(list(diagonal), list(squares))]), axis=-1)


def _tridiagonal(lanes: Lanes, cells: Array) -> tuple[list[Array], list[Array]]:
    """See ``Lanes``: the same with loops over rows, without which XLA computes the vectors again for each cell."""
    rest = cells
    diagonal, squares = [], []
    while len(rest) > 2:
        diagonal.append(rest[0, 0])
        column, square, factor = lanes.reflector(list(rest[1:, 0]))
        squares.append(square)
        rest = _reflected(rest[1:, 1:], jnp.stack(column), factor)
    diagonal += [rest[0, 0], rest[1, 1]]
    squares.append(rest[1, 0] * rest[1, 0])
    return diagonal[::-1], squares[::-1]


def _reflected(rest: Array, vector: Array, factor: Array) -> Array:
    """The matrix after the reflection from both sides: B - v wᵀ - w vᵀ."""

    def add_column(j: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        image, rest, vector = state
        return image + rest[j] * vector[j][None, :], rest, vector

    def change_row(i: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        rest, vector, image = state
        row = rest[i] - (vector[i][None, :] * image + image[i][None, :] * vector)
        return rest.at[i].set(row), vector, image

    size = len(rest)
    image = lax.fori_loop(0, size, add_column, (jnp.zeros_like(vector), rest, vector))[0]
    image *= factor[None, :]
    image -= vector * (dot(list(vector), list(image)) * (factor * 0.5))[None, :]
    return lax.fori_loop(0, size, change_row, (rest, vector, image))[0]
