"""The steps: a symmetric matrix becomes tridiagonal, and rotations split off one eigenvalue after the other.

The cells of a matrix are lists of arrays, with one element of each array for each matrix. All matrices take the same
steps, so that every operation runs along the matrices, however small these are, and no matrix affects another. The
tridiagonal form is Householder's; the rotations are those of Pal, Walker and Kahan, a QL algorithm without square roots
(B. N. Parlett, The Symmetric Eigenvalue Problem, section 8.15; LAPACK's ``sterf``), with Wilkinson's shifts. It works
with the squares of the off-diagonal elements, of the cosines and of the sines.

No cell may be much above 1, or its square would overflow; what is far below the rounding of 1 counts as 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._arrays import Array, Standard

# A stack of fewer matrices for each class is LAPACK's.
LEAST_MATRICES = 200

Tridiagonal = tuple[list[Array], list[Array]]
"""The diagonal, and the squares of the elements next to it."""


class Lanes:
    """The steps, for arrays of one library and dtype.

    Parameters
    ----------
    backend
        The library.
    like
        An array of the dtype, on the device.
    """

    def __init__(self, backend: Standard, like: Array) -> None:
        self.xp: Any = backend.xp
        precision = float(self.xp.finfo(like.dtype).eps)
        self.tiny = self.xp.asarray(precision**2, dtype=like.dtype, **backend.device_option(like))
        self.least_square = self.tiny * self.tiny
        # Without such an off-diagonal element no eigenvalue changes by more than rounding.
        self.negligible_square = 4 * precision**2

    def once(self, x: Array) -> Array:
        """``x``, which a compiler is not to compute again, with another rounding, for something else."""
        return x

    def square(self, first: Array, *others: Array) -> tuple[Array, Array]:
        """The first number, and the sum of the squares, by which one may divide.

        If all are too small for that, the first one is replaced by a number that is lost in rounding everywhere else.
        It may not be added to: next to a pivot of 0 is one of that very size, whose square decides.
        """
        square = dot([first, *others], [first, *others])
        first = self.xp.where(square < self.least_square, self.xp.copysign(self.tiny, first), first)
        return first, dot([first, *others], [first, *others])

    # The tridiagonal form ---------------------------------------------------------------------------------------------

    def tridiagonal(self, cells: Sequence[Sequence[Array]]) -> Tridiagonal:
        """The tridiagonal form of matrices whose lower triangles are given.

        Its first row is the last of the matrix, since rotations split off the first row.
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
        """The reflection I - f v vᵀ that leaves only the first element of a column: v, its square, and f."""
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
        found = []
        for i in size:
            row = []
            for j in range(i + 1):
                cell = rest[i][j] - vector[i] * image[j]
                cell -= image[i] * vector[j]
                row.append(cell)
            found.append(row)
        return found

    # Rotations --------------------------------------------------------------------------------------------------------

    def distance(self, first: Array, second: Array, square: Array) -> Array:
        """How far the eigenvalue of the first two rows that is next to ``first`` is below it."""
        half = second - first
        half *= 0.5
        radius = self.xp.sqrt(half * half + square)
        radius += self.tiny
        half += self.xp.copysign(radius, half)
        return square / half

    def sweep(self, diagonal: Sequence[Array], squares: Sequence[Array]) -> Tridiagonal:
        """The matrix after one sweep of rotations, which make the first off-diagonal element much smaller."""
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
        """The shift of a sweep, by its first two rows, and the pivot, square and sine of its first rotation."""
        shift = self.once(first - self.distance(first, second, off))
        pivot, square = self.square(last - shift)
        return shift, pivot, square, self.xp.zeros_like(pivot)

    def rotated(  # noqa: PLR0917 (what one rotation hands to the next)
        self, element: Array, off: Array, shift: Array, pivot: Array, square: Array, sine: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """One rotation: the new elements of the row after that of ``element``, and pivot, its square and sine.

        The reciprocal is a number of its own: given quotients of quotients, XLA makes products of them that leave the
        range of float32.
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
        """The values of each matrix in order, by comparing neighbours."""
        found = list(values)
        for end in range(len(found) - 1, 0, -1):
            for i in range(end):
                first, second = found[i], found[i + 1]
                found[i], found[i + 1] = self.xp.minimum(first, second), self.xp.maximum(first, second)
        return found


def dot(x: Sequence[Array], y: Sequence[Array]) -> Array:
    """Σ x y of lists of arrays."""
    found = x[0] * y[0]
    for one, other in zip(x[1:], y[1:], strict=True):
        found += one * other
    return found
