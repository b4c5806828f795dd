"""Eigenvalues of many small matrices in parallel: tridiagonal form, then rotations for each eigenvalue.

The cells are lists of arrays, with an element for each matrix. All matrices take the same steps, so every operation
runs along the matrices, and no matrix affects another. The tridiagonal form is Householder's; the rotations are those
of Pal, Walker and Kahan, a QL algorithm without square roots (B. N. Parlett, The Symmetric Eigenvalue Problem, section
8.15; LAPACK's ``sterf``), with Wilkinson's shifts. It works with the squares of the off-diagonal elements, of the
cosines and of the sines.

Cells must not be much larger than 1, as their squares would overflow; numbers far below the rounding error of 1 count
as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._arrays import Array, Standard

# For fewer matrices per class LAPACK is faster.
LEAST_MATRICES = 200

Tridiagonal = tuple[list[Array], list[Array]]
"""The diagonal, and the squares of the off-diagonal elements."""


class Lanes:
    """The steps, for arrays of a library and dtype.

    Parameters
    ----------
    backend
        The array library.
    like
        An array of the dtype and on the device of the matrices.
    """

    def __init__(self, backend: Standard, like: Array) -> None:
        self.xp: Any = backend.xp
        precision = float(self.xp.finfo(like.dtype).eps)
        self.tiny = self.xp.asarray(precision**2, dtype=like.dtype, **backend.device_option(like))
        self.least_square = self.tiny * self.tiny
        # Setting a smaller off-diagonal element to 0 changes no eigenvalue by more than rounding.
        self.negligible_square = 4 * precision**2

    def once(self, x: Array) -> Array:
        """The array ``x``, which compilers must not compute again with another rounding."""
        return x

    def square(self, first: Array, *others: Array) -> tuple[Array, Array]:
        """The first number, and the sum of the squares, which is never 0.

        If all numbers are too small, the first is replaced by a number below the rounding errors of all others. It is
        replaced and not increased: a pivot of 0 may have a neighbour of the same size, whose square matters.
        """
        square = dot([first, *others], [first, *others])
        first = self.xp.where(square < self.least_square, self.xp.copysign(self.tiny, first), first)
        return first, dot([first, *others], [first, *others])

    # The tridiagonal form ---------------------------------------------------------------------------------------------

    def tridiagonal(self, cells: Sequence[Sequence[Array]]) -> Tridiagonal:
        """The tridiagonal form of matrices, from their lower triangles.

        Its first row is the last row of the matrix, as rotations split off the first row.
        """
        rest = [list(row[: i + 1]) for i, row in enumerate(cells)]
        diagonal, squares = [], []
        while len(rest) > 2:
            diagonal.append(rest[0][0])
            vector, square, factor = self.reflector([row[0] for row in rest[1:]])
            squares.append(square)
            rest = self._reflected([row[1:] for row in rest[1:]], vector, factor)
        diagonal += [rest[0][0], rest[1][1]]
        squares.append(rest[1][0] * rest[1][0])
        return diagonal[::-1], squares[::-1]

    def reflector(self, column: Sequence[Array]) -> tuple[list[Array], Array, Array]:
        """The reflection I - f v vᵀ that sets all but the first element of a column to 0: v, its square, and f."""
        first, square = self.square(*column)
        length = self.xp.sqrt(square)
        size = self.xp.abs(first)
        size *= length
        size += square
        return [first + self.xp.copysign(length, first), *column[1:]], square, 1 / size

    def _reflected(self, rest: list[list[Array]], vector: list[Array], factor: Array) -> list[list[Array]]:
        """The lower triangle after the reflection from both sides: B - v wᵀ - w vᵀ."""
        size = range(len(vector))
        image = [dot([rest[max(i, j)][min(i, j)] for j in size], vector) for i in size]
        image = [part * factor for part in image]
        half = dot(vector, image)
        half *= factor * 0.5
        image = [part - half * along for part, along in zip(image, vector, strict=True)]
        rows = []
        for i in size:
            row = []
            for j in range(i + 1):
                cell = rest[i][j] - vector[i] * image[j]
                cell -= image[i] * vector[j]
                row.append(cell)
            rows.append(row)
        return rows

    # Rotations --------------------------------------------------------------------------------------------------------

    def distance(self, first: Array, second: Array, square: Array) -> Array:
        """The difference of ``first`` from the nearest eigenvalue of the first two rows."""
        half = second - first
        half *= 0.5
        radius = self.xp.sqrt(half * half + square)
        radius += self.tiny
        half += self.xp.copysign(radius, half)
        return square / half

    def sweep(self, diagonal: Sequence[Array], squares: Sequence[Array]) -> Tridiagonal:
        """The matrix after a sweep of rotations, which make the first off-diagonal element much smaller."""
        last = len(diagonal) - 1
        shift, pivot, square, sine = self.begin(diagonal[0], diagonal[1], diagonal[last], squares[0])
        new_diagonal, new_squares = [pivot] * (last + 1), [square] * (last + 1)
        for i in range(last - 1, -1, -1):
            new_diagonal[i + 1], new_squares[i + 1], pivot, square, sine = self.rotated(
                diagonal[i], squares[i], shift, pivot, square, sine
            )
        new_diagonal[0], new_squares[0] = pivot + shift, sine * square
        return new_diagonal, new_squares[:last]

    def begin(self, first: Array, second: Array, last: Array, off: Array) -> tuple[Array, Array, Array, Array]:
        """The shift of a sweep, from the first two rows, and the pivot, square and sine of its first rotation."""
        shift = self.once(first - self.distance(first, second, off))
        pivot, square = self.square(last - shift)
        return shift, pivot, square, self.xp.zeros_like(pivot)

    def rotated(  # noqa: PLR0917 (the state of the rotations)
        self, element: Array, off: Array, shift: Array, pivot: Array, square: Array, sine: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """The results of a rotation: the new elements of the next row, and the new pivot, square and sine.

        The reciprocal is computed explicitly: XLA turns quotients of quotients into products that leave the range of
        float32.
        """
        radius = square + off
        reciprocal = 1 / radius
        cosine, next_sine = square * reciprocal, off * reciprocal
        next_pivot = element - shift
        next_pivot *= cosine
        next_pivot -= next_sine * pivot
        next_pivot, next_square = self.square(self.once(next_pivot))
        radius *= sine
        next_square /= cosine
        next_element = pivot - next_pivot
        next_element += element
        return next_element, radius, next_pivot, next_square, next_sine

    def last_pair(self, diagonal: Sequence[Array], squares: Sequence[Array]) -> list[Array]:
        """The eigenvalues of the last two rows."""
        first, second = diagonal
        distance = self.distance(first, second, squares[0])
        return [first - distance, second + distance]

    def ascending(self, values: Sequence[Array]) -> list[Array]:
        """The values of each matrix in ascending order, by comparisons of neighbours."""
        ordered = list(values)
        for end in range(len(ordered) - 1, 0, -1):
            for i in range(end):
                first, second = ordered[i], ordered[i + 1]
                ordered[i], ordered[i + 1] = self.xp.minimum(first, second), self.xp.maximum(first, second)
        return ordered


def dot(x: Sequence[Array], y: Sequence[Array]) -> Array:
    """The sum Σ x y over lists of arrays."""
    total = x[0] * y[0]
    for first, second in zip(x[1:], y[1:], strict=True):
        total += first * second
    return total
