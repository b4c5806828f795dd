"""``Margins``: a stack of confusion matrices and its counts by class, each computed once.

Classes are the first axis and the batch is last: a margin is ``[class, *batch]``, a total ``[*batch]``, so that
formulas read as on paper (``t.divide(t.tp, t.true)``) and reduce over leading axes. The cells keep their order,
``[*batch, true, pred]``, or class-first.

No sum is a difference that loses digits. ``fn``, ``fp`` and ``tn`` are sums of their cells: ``true - tp`` loses all
digits of a few errors next to 10**17 true positives, and in float32 next to 10**8. This definition works for any
library; subclasses in ``execution`` compute the same numbers faster for a compiler or the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from matrics._arrays import Array, Standard
from matrics._engine.safety import Safe
from matrics._engine.wide import Wide

# The sums for true negatives are unrolled up to this number of classes.
MAX_WRITTEN_OUT_REST = 6
# Sums of all other cells of a row or column are unrolled up to this number of classes.
MAX_WRITTEN_OUT = 8


class margin:  # noqa: N801 (a decorator, like property)
    """A property that is computed on first use and cached.

    ``functools.cached_property`` uses a lock on Python 3.11, which ``torch.compile`` does not support.
    """

    def __init__(self, function: Callable[[Any], Array]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, table: Any, owner: type | None = None) -> Any:
        if table is None:
            return self
        value = self.function(table)
        table.__dict__[self.name] = value  # setattr takes twice as long
        return value


class Margins(Safe):
    """A stack of confusion matrices, with counts in class-first order.

    Parameters
    ----------
    cells
        Floating-point cells, ``[*batch, true, pred]``, or ``[true, pred, *batch]`` if ``class_first``.
    backend
        The array library of the cells.
    zero_division
        The value of undefined measures (0/0).
    is_moderate
        Whether products of five counts are known to stay in the range of the dtype.
    """

    max_written_out_rest = MAX_WRITTEN_OUT_REST

    def __init__(
        self,
        cells: Array,
        backend: Standard,
        *,
        class_first: bool = False,
        zero_division: float = math.nan,
        is_moderate: bool = False,
    ) -> None:
        super().__init__(backend, zero_division)
        self._given = cells
        self.class_first = class_first
        self.true_axis, self.pred_axis = (0, 1) if class_first else (-2, -1)
        self.n: int = cells.shape[0] if class_first else cells.shape[-1]
        self.batch_ndim: int = cells.ndim - 2
        self._known_to_be_moderate = is_moderate

    @margin
    def cells(self) -> Array:
        """The cells in their original order."""
        return self._given

    @property
    def dtype(self) -> Any:
        """The floating dtype of all values."""
        return self._given.dtype

    @margin
    def is_moderate(self) -> bool:
        """Whether products of five counts are known to stay in the range of the dtype."""
        return self._known_to_be_moderate

    # Memory order ---------------------------------------------------------------------------------------------------

    def lead(self, x: Array) -> Array:
        """A view of ``[*batch, class]`` as ``[class, *batch]``."""
        return x if x.ndim == 1 else self.xp.permute_dims(x, (x.ndim - 1, *range(x.ndim - 1)))

    def sum_over(self, axis: int, x: Array) -> Array:
        """The sum of cells over a class axis, ``[class, *batch]``."""
        sums = self.sum(x, axis=axis)
        return sums if self.class_first else self.lead(sums)

    def cellwise(self, x: Array) -> Array:
        """A view of ``[*batch]`` that broadcasts against the cells."""
        return x[None, None, ...] if self.class_first else x[..., None, None]

    def rowwise(self, x: Array) -> Array:
        """A view of ``[true, *batch]`` that broadcasts against the cells."""
        return x[:, None, ...] if self.class_first else self._trail(x)[..., :, None]

    def columnwise(self, x: Array) -> Array:
        """A view of ``[pred, *batch]`` that broadcasts against the cells."""
        return x[None, :, ...] if self.class_first else self._trail(x)[..., None, :]

    def _trail(self, x: Array) -> Array:
        return x if x.ndim == 1 else self.xp.permute_dims(x, (*range(1, x.ndim), 0))

    def classwise(self, x: Array) -> Array:
        """A view of ``[*batch]`` that broadcasts against ``[class, *batch]``."""
        return x[None, ...]

    def cell(self, x: Array, i: int, j: int) -> Array:
        """The element (i, j) of an array in the order of the cells, ``[*batch]``."""
        return x[i, j, ...] if self.class_first else x[..., i, j]

    def broadcast_pairs(self, x: Array) -> Array:
        """An array for pairs of classes, ``[true, pred]``, in a shape that broadcasts against the cells."""
        batch = (1,) * self.batch_ndim
        return self.xp.reshape(x, (self.n, self.n, *batch) if self.class_first else (*batch, self.n, self.n))

    @margin
    def is_diagonal(self) -> Array:
        """The mask of the diagonal, with as many axes as the cells."""
        return self.broadcast_pairs(self._index[:, None] == self._index[None, :])

    @margin
    def _index(self) -> Array:
        """The numbers of the classes."""
        return self.backend.class_index(self.n, self._given)

    @margin
    def class_numbers(self) -> Array:
        """The numbers of the classes, in a shape that broadcasts against ``[class, *batch]``."""
        return self._index[(slice(None), *(None,) * self.batch_ndim)]

    def constant(self, rows: list[list[float]]) -> Array:
        """The numbers for pairs of classes, in a shape that broadcasts against the cells."""
        return self.broadcast_pairs(self.backend.constant(rows, self.cells))

    @margin
    def class_distances(self) -> Array:
        """The distances of the numbers of two classes, ``[true, pred]``."""
        index = self.xp.astype(self.backend.class_index(self.n, self.cells), self.cells.dtype)
        return self.xp.abs(index[:, None] - index[None, :])

    def transposed(self, x: Array) -> Array:
        """An array in the order of the cells, with true and predicted classes exchanged."""
        axes = (1, 0, *range(2, x.ndim)) if self.class_first else (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        return self.xp.permute_dims(x, axes)

    def as_matrices(self, x: Array) -> Array:
        """A view of an array in the order of the cells as ``[*batch, true, pred]``, for linear algebra."""
        return self.xp.permute_dims(x, (*range(2, x.ndim), 0, 1)) if self.class_first else x

    def diagonal(self, x: Array) -> Array:
        """The diagonal of an array in the order of the cells, ``[class, *batch]``."""
        return self.lead(self.xp.linalg.diagonal(self.as_matrices(x)))

    def and_valid(self, condition: Array) -> Array:
        """Whether the condition ``[*batch]`` holds and the matrix is valid, as NaN would spread otherwise."""
        return condition & self.valid

    def unless_invalid(self, values: Array) -> Array:
        """The values ``[*batch]`` or ``[class, *batch]``, with NaN for invalid matrices."""
        valid = self.valid[None, ...] if values.ndim > self.total.ndim else self.valid
        return self.xp.where(valid, values, math.nan)

    def zero_unless(self, condition: Array, x: Array) -> Array:
        """An array in the order of the cells, with zeros for matrices that are invalid or violate the condition."""
        return self.xp.where(self.cellwise(self.and_valid(condition)), x, 0)

    # Factors of products --------------------------------------------------------------------------------------------

    def wide(self, x: Array) -> Array:
        """A count as a factor of products that stay in the range of floats for any counts; see ``Wide``.

        In PyTorch float32 becomes float64, which represents products of five counts precisely.
        """
        if self.is_moderate:
            return x
        wider = self.backend.wider_float(self.total)
        if wider is None:
            total = self.cellwise(self.total) if x.ndim - self.total.ndim == 2 else self.total
            return Wide.of(x, total, self.backend)
        return self.xp.astype(self.xp.where(self.is_zero(x), 0, x), wider)

    def unit(self, x: Array) -> Array:
        """A power of two whose product with x, which is not negative, is near 1."""
        backend, limit = self.backend, self.backend.largest_exponent(x)
        return backend.power_of_two(self.xp.clip(-backend.exponent(x), -limit, limit))

    @margin
    def scale(self) -> Array | None:
        """A power of two for each matrix that scales products of two margins to about 1; None if unnecessary.

        No product in a covariance exceeds m r, where m is the total and r the total without the largest class: each
        factor is scaled by 1 / √(m r). With a scale of 1 / m, r would vanish next to a dominant class.
        """
        return self._scale()

    def _scale(self) -> Array | None:
        backend = self.backend
        middle = self.xp.floor((backend.exponent(self.total) + backend.exponent(self._least_rest)) / 2)
        limit = backend.largest_exponent(self.total)
        return backend.power_of_two(self.xp.clip(-middle, -limit, limit))

    @margin
    def _least_rest(self) -> Array:
        """The total without the largest class; the smaller result of the true and the predicted classes."""
        xp = self.xp

        def rest(x: Array) -> Array:
            least = xp.min(x, axis=0)
            return xp.where(least > 0, least, self.total)

        return xp.minimum(rest(self.not_true), rest(self.not_pred))

    # Margins, [class, *batch] ---------------------------------------------------------------------------------------

    @margin
    def off_diagonal(self) -> Array:
        """The errors: the cells with a zero diagonal."""
        return self.xp.where(self.is_diagonal, 0, self.cells)

    @margin
    def tp(self) -> Array:
        """True positives: the diagonal."""
        return self.diagonal(self.cells)

    @margin
    def fn(self) -> Array:
        """False negatives: samples of the class that were predicted as another class."""
        return self.sum_over(self.pred_axis, self.off_diagonal)

    @margin
    def fp(self) -> Array:
        """False positives: samples of other classes that were predicted as this class."""
        return self.sum_over(self.true_axis, self.off_diagonal)

    @margin
    def tn(self) -> Array:
        """True negatives: samples of other classes predicted as other classes, all cells outside the row and column.

        For few classes, running sums from both ends leave out a row without a subtraction. They are unrolled over the
        classes, as cumulative sums are 7 to 30 times slower in every library.
        """
        outside = None if self.class_first else self.backend.sums_outside(self.cells)
        if outside is not None:
            return self.lead(outside)
        if self.n > self.max_written_out_rest:
            return self._rest
        return self._sums_without_own(self._sums_of_others(self.cells, self.true_axis))

    @margin
    def _rest(self) -> Array:
        """True negatives for any number of classes, from few operations.

        The total minus the row and column of a class is precise unless these have nearly all samples. A cell is in the
        row or column of at most two classes, so only two classes can have more than four fifths of the total in their
        row and column. For these classes the other cells are added up.
        """
        xp, total = self.xp, self.classwise(self.total)
        cross = self.tp + (self.fn + self.fp)
        rest = total - cross
        if self.backend.is_integer(self.cells):  # integers have no rounding
            return rest
        if self.nowhere_above(cross, 4, rest):
            return rest
        large = cross > 4 * rest
        index = self.class_numbers
        first, last = xp.min(xp.where(large, index, self.n), axis=0), xp.max(xp.where(large, index, -1), axis=0)
        columns = self._column_sums_without(first, last)
        without_first, without_last = (
            self.sum(xp.where(index != position[None, ...], sums, 0), axis=0)[None, ...]
            for position, sums in zip((first, last), columns, strict=True)
        )
        return xp.where(large, xp.where(index == first[None, ...], without_first, without_last), rest)

    def _column_sums_without(self, *rows: Array) -> Sequence[Array]:
        """The column sums without the row of a class, for each of two positions ``[*batch]`` of a class.

        A single masked copy of the stack leaves out both rows; the row of the other class is then added.
        """
        first, last = rows
        index, xp = self.class_numbers, self.xp
        both = self._column_sums_of((index != first[None, ...]) & (index != last[None, ...]))
        return [xp.where((first == last)[None, ...], both, both + self._row(other)) for other in (last, first)]

    def _column_sums_of(self, rows: Array) -> Array:
        """The column sums of the rows of a mask, ``[class, *batch]``."""
        return self.sum_over(self.true_axis, self.xp.where(self.rowwise(rows), self.cells, 0))

    def _row(self, position: Array) -> Array:
        """The row of the class at a position ``[*batch]`` of each matrix, ``[class, *batch]``."""
        xp, at = self.xp, self.xp.clip(position, 0, self.n - 1)
        if self.class_first:
            return xp.take_along_axis(self.cells, at[None, None, ...], axis=0)[0]
        return self.lead(xp.take_along_axis(self.cells, at[..., None, None], axis=-2)[..., 0, :])

    def _sums_without_own(self, rows: Sequence[Array]) -> Array:
        """The sums of the rows without the entries of the class itself, ``[class, *batch]``."""
        xp, axis = self.xp, 0 if self.class_first else -1
        before = () if self.class_first else (...,)
        after = (...,) if self.class_first else ()
        # No empty sums, as JAX does not support empty slices of arrays that are sharded over devices.
        nothing = xp.zeros_like(rows[0][(*before, 0, *after)])
        left = [self.sum(row[(*before, slice(0, i), *after)], axis=axis) for i, row in enumerate(rows) if i > 0]
        right = [self.sum(row[(*before, slice(i, None), *after)], axis=axis) for i, row in enumerate(rows[:-1], 1)]
        return xp.stack([nothing, *left]) + xp.stack([*right, nothing])

    def _sums_of_others(self, x: Array, axis: int) -> list[Array]:
        """The sums of the slices at all other indices of a class axis, for each index."""
        n = self.n
        before: tuple[Any, ...] = (slice(None),) * (axis % x.ndim)
        slices = [x[(*before, i, ...)] for i in range(n)]
        if n == 1:
            return [0 * slices[0]]
        above, below = [slices[0]], [slices[-1]]
        for i in range(1, n - 1):
            above.append(above[-1] + slices[i])
            below.append(below[-1] + slices[-1 - i])
        return [below[-1], *(above[i - 1] + below[n - 2 - i] for i in range(1, n - 1)), above[-1]]

    def sums_beyond(self, x: Array, axis: int, *, ascending: bool) -> Array:
        """The sums of the entries with higher (ascending) or lower numbers along a class axis, for each entry."""
        before: tuple[Any, ...] = (slice(None),) * (axis % x.ndim)
        slices = [x[(*before, i, ...)] for i in range(self.n)]
        sums = [self.xp.zeros_like(slices[0])]
        for part in slices[:0:-1] if ascending else slices[:-1]:
            sums.append(sums[-1] + part)
        return self.xp.stack(sums[::-1] if ascending else sums, axis=axis)

    @margin
    def around(self) -> tuple[Array, Array, Array]:
        """The sums of the other cells of the row, of the column, and of neither, for each cell."""
        row, column = self.others(self.cells, self.pred_axis), self.others(self.cells, self.true_axis)
        return row, column, self.others(row, self.true_axis)

    def others(self, x: Array, axis: int) -> Array:
        """The sum of all other entries along a class axis, for each entry."""
        xp = self.xp
        if self.n <= MAX_WRITTEN_OUT:
            return xp.stack(self._sums_of_others(x, axis), axis=axis)
        # A difference, unless the entry is more than half of the sum: then it is the only entry of this size.
        rest = xp.sum(x, axis=axis, keepdims=True) - x
        smaller = xp.where(x == xp.max(x, axis=axis, keepdims=True), 0, x)
        return xp.where(x > rest, xp.sum(smaller, axis=axis, keepdims=True), rest)

    @margin
    def true(self) -> Array:
        """The samples of each true class: row sums."""
        return self.sum_over(self.pred_axis, self.cells)

    @margin
    def pred(self) -> Array:
        """The samples predicted as each class: column sums."""
        return self.sum_over(self.true_axis, self.cells)

    @margin
    def not_true(self) -> Array:
        """The samples of the other true classes."""
        return self.fp + self.tn

    @margin
    def not_pred(self) -> Array:
        """The samples predicted as another class."""
        return self.fn + self.tn

    @margin
    def class_errors(self) -> Array:
        """The samples of the class or predicted as the class, but not both."""
        return self.fp + self.fn

    def errors_outside(self, chosen: Array) -> Array:
        """The errors ``[*batch]`` outside the row and the column of a chosen class, a mask ``[class, *batch]``."""
        outside = ~(self.rowwise(chosen) | self.columnwise(chosen))
        return self.sum(self.xp.where(outside, self.off_diagonal, 0), axis=(self.true_axis, self.pred_axis))

    # Totals, [*batch] -----------------------------------------------------------------------------------------------

    @margin
    def total(self) -> Array:
        """The number of all samples."""
        return self.sum(self.true, axis=0)

    @margin
    def hits(self) -> Array:
        """The number of correct predictions: the sum of the diagonal."""
        return self.sum(self.tp, axis=0)

    @margin
    def errors(self) -> Array:
        """The number of wrong predictions."""
        return self.sum(self.fn, axis=0)

    @margin
    def valid(self) -> Array:
        """Whether all cells and their sum are finite and not negative."""
        # Over the true classes first, as PyTorch's compiler includes this in the pass for column sums.
        lowest = self.xp.min(self.xp.min(self.cells, axis=self.true_axis), axis=0 if self.class_first else -1)
        if self.backend.is_integer(self.cells):
            return lowest >= 0
        return self.xp.where(self.total < math.inf, lowest, -1) >= 0  # both comparisons are False for NaN
