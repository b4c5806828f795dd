"""Margins: one stack of confusion matrices and its counts by class, each computed once and written as on paper.

Inside, classes come first and the batch last: a margin is ``[class, *batch]``, a total ``[*batch]``, so that formulas
read as on paper (``t.divide(t.tp, t.true)``) and reduce over leading axes. The cells themselves lie as they were given,
``[*batch, true, pred]``, or class-first.

No sum here is a difference that loses digits. ``fn``, ``fp`` and ``tn`` add up the cells they consist of: ``true - tp``
loses every digit of a few errors next to 10**17 true positives, and in float32 next to 10**8. This is the definition
for any library; where a compiler or the host has a faster way to the same numbers, a subclass in ``execution`` has
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from matrics._arrays import Array, Standard
from matrics._engine.safety import Safe
from matrics._engine.wide import Wide

# The sums behind true negatives are written out for so many classes.
MAX_WRITTEN_OUT_REST = 6
# Sums of all other cells of a row or column are written out for so many classes.
MAX_WRITTEN_OUT = 8


class margin:  # noqa: N801 (it reads as a decorator, like property)
    """A property computed on first use and kept.

    ``functools.cached_property`` would do, but on Python 3.11 it takes a lock, which ``torch.compile`` refuses.
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
    """One stack of confusion matrices, seen class-first.

    Parameters
    ----------
    cells
        Floating cells, ``[*batch, true, pred]``, or ``[true, pred, *batch]`` if ``class_first``.
    backend
        Their library.
    zero_division
        What an undefined (0/0) measure is worth.
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
        """The cells, in the order in which they were given."""
        return self._given

    @margin
    def is_moderate(self) -> bool:
        """Whether products of five counts are known to stay in the range of the dtype."""
        return self._known_to_be_moderate

    # Memory order ---------------------------------------------------------------------------------------------------

    def lead(self, x: Array) -> Array:
        """``[*batch, class]`` as ``[class, *batch]``, a view."""
        return x if x.ndim == 1 else self.xp.permute_dims(x, (x.ndim - 1, *range(x.ndim - 1)))

    def sum_over(self, axis: int, x: Array) -> Array:
        """Sum cells over one class axis: ``[class, *batch]``."""
        sums = self.sum(x, axis=axis)
        return sums if self.class_first else self.lead(sums)

    def cellwise(self, x: Array) -> Array:
        """``[*batch]`` so that it broadcasts against the cells."""
        return x[None, None, ...] if self.class_first else x[..., None, None]

    def rowwise(self, x: Array) -> Array:
        """``[true, *batch]`` so that it broadcasts against the cells."""
        return x[:, None, ...] if self.class_first else self._trail(x)[..., :, None]

    def columnwise(self, x: Array) -> Array:
        """``[pred, *batch]`` so that it broadcasts against the cells."""
        return x[None, :, ...] if self.class_first else self._trail(x)[..., None, :]

    def _trail(self, x: Array) -> Array:
        return self.xp.permute_dims(x, (*range(1, x.ndim), 0))

    def cell(self, x: Array, i: int, j: int) -> Array:
        """Cell (i, j) of something in the order of the cells: ``[*batch]``."""
        return x[i, j, ...] if self.class_first else x[..., i, j]

    def beside_cells(self, x: Array) -> Array:
        """Something for each pair of classes, ``[true, pred]``, so that it broadcasts against the cells."""
        batch = (1,) * self.batch_ndim
        return self.xp.reshape(x, (self.n, self.n, *batch) if self.class_first else (*batch, self.n, self.n))

    @margin
    def is_diagonal(self) -> Array:
        """True on the diagonal; of the rank of the cells."""
        return self.beside_cells(self._index[:, None] == self._index[None, :])

    @margin
    def _index(self) -> Array:
        """The numbers of the classes."""
        return self.backend.class_index(self.n, self._given)

    @margin
    def class_numbers(self) -> Array:
        """The number of each class, so that it broadcasts against ``[class, *batch]``."""
        return self._index[(slice(None), *(None,) * self.batch_ndim)]

    def constant(self, rows: list[list[float]]) -> Array:
        """Numbers for each pair of classes, so that they broadcast against the cells."""
        return self.beside_cells(self.backend.constant(rows, self.cells))

    @margin
    def class_distances(self) -> Array:
        """The distance of the numbers of two classes: ``[true, pred]``."""
        index = self.xp.astype(self.backend.class_index(self.n, self.cells), self.cells.dtype)
        return self.xp.abs(index[:, None] - index[None, :])

    def transposed(self, x: Array) -> Array:
        """Something in the order of the cells with true and predicted classes exchanged."""
        axes = (1, 0, *range(2, x.ndim)) if self.class_first else (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        return self.xp.permute_dims(x, axes)

    def as_matrices(self, x: Array) -> Array:
        """Something in the order of the cells as ``[*batch, true, pred]``, a view: what linear algebra takes."""
        return self.xp.permute_dims(x, (*range(2, x.ndim), 0, 1)) if self.class_first else x

    def diagonal(self, x: Array) -> Array:
        """The diagonal of something in the order of the cells: ``[class, *batch]``."""
        return self.lead(self.xp.linalg.diagonal(self.as_matrices(x)))

    def and_valid(self, condition: Array) -> Array:
        """Whether the condition ``[*batch]`` holds and the matrix is valid, because NaN would spread from here."""
        return condition & self.valid

    def unless_invalid(self, values: Array) -> Array:
        """Values ``[*batch]`` or ``[class, *batch]``, and NaN for invalid matrices."""
        valid = self.valid[None, ...] if values.ndim > self.total.ndim else self.valid
        return self.xp.where(valid, values, math.nan)

    def zero_unless(self, condition: Array, x: Array) -> Array:
        """Something in the order of the cells, with zeros for matrices that are invalid or miss the condition."""
        return self.xp.where(self.cellwise(self.and_valid(condition)), x, 0)

    # Factors of products --------------------------------------------------------------------------------------------

    def wide(self, x: Array) -> Array:
        """A count as a factor of products that do not leave the range of floats, whatever the counts: see ``Wide``.

        In PyTorch float32 becomes float64, which holds products of five, and their digits.
        """
        if self.is_moderate:
            return x
        wider = self.backend.wider_float(self.total)
        if wider is None:
            total = self.cellwise(self.total) if x.ndim - self.total.ndim == 2 else self.total
            return Wide.of(x, total, self.backend)
        return self.xp.astype(self.xp.where(self.is_zero(x), 0, x), wider)

    def unit(self, x: Array) -> Array:
        """A power of two that brings ``x``, which is not negative, near 1."""
        backend, limit = self.backend, self.backend.largest_exponent(x)
        return backend.power_of_two(self.xp.clip(-backend.exponent(x), -limit, limit))

    @margin
    def scale(self) -> Array | None:
        """A power of two for each matrix that brings products of two margins near 1; None where none is needed.

        No product in a covariance is above m r, where m is the total and r what the largest class leaves of it: each
        factor is scaled by 1 / √(m r). A scale of 1 / m would let r vanish next to a dominant class.
        """
        return self._scale()

    def _scale(self) -> Array | None:
        backend = self.backend
        middle = self.xp.floor((backend.exponent(self.total) + backend.exponent(self._least_rest)) / 2)
        limit = backend.largest_exponent(self.total)
        return backend.power_of_two(self.xp.clip(-middle, -limit, limit))

    @margin
    def _least_rest(self) -> Array:
        """The total without the largest class, of the true or the predicted classes, whichever is smaller."""
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
        """False negatives: samples of the class that were predicted as another."""
        return self.sum_over(self.pred_axis, self.off_diagonal)

    @margin
    def fp(self) -> Array:
        """False positives: samples of other classes that were predicted as this one."""
        return self.sum_over(self.true_axis, self.off_diagonal)

    @margin
    def tn(self) -> Array:
        """True negatives: samples of other classes predicted as other classes, all cells outside its row and column.

        Of few classes running sums from both ends leave one row out without a subtraction. Unrolled over the classes,
        since cumulative sums are 7 to 30 times slower in every library.
        """
        if self.n > self.max_written_out_rest:
            return self._rest
        return self._sums_beside(self._sums_of_others(self.cells, self.true_axis))

    @margin
    def _rest(self) -> Array:
        """Values tn from few operations, however many classes there are.

        The total less a class's row and column keeps its digits unless they hold nearly everything. A cell is in the
        cross of row and column of at most two classes, so all crosses together hold at most twice the total, and only
        two of them can hold more than four fifths of it each. For these the other cells are added up.
        """
        xp, total = self.xp, self.total[None, ...]
        cross = self.tp + (self.fn + self.fp)
        rest = total - cross
        if self.backend.is_integer(self.cells):  # which keep all digits
            return rest
        large = cross > 4 * rest
        if self.nowhere(large):
            return rest
        index = self.class_numbers
        first, last = xp.min(xp.where(large, index, self.n), axis=0), xp.max(xp.where(large, index, -1), axis=0)
        columns = self._column_sums_without(first, last)
        without_first, without_last = (
            self.sum(xp.where(index != position[None, ...], sums, 0), axis=0)[None, ...]
            for position, sums in zip((first, last), columns, strict=True)
        )
        return xp.where(large, xp.where(index == first[None, ...], without_first, without_last), rest)

    def _column_sums_without(self, *rows: Array) -> Sequence[Array]:
        """For each of two positions ``[*batch]`` of a class the column sums of all rows but that of the class.

        From one masked copy of the stack: without both rows, then with the other's again.
        """
        first, last = rows
        index, xp = self.class_numbers, self.xp
        both = self._column_sums_of((index != first[None, ...]) & (index != last[None, ...]))
        return [xp.where((first == last)[None, ...], both, both + self._row(other)) for other in (last, first)]

    def _column_sums_of(self, rows: Array) -> Array:
        """Column sums of the rows for which this is true, ``[class, *batch]``."""
        return self.sum_over(self.true_axis, self.xp.where(self.rowwise(rows), self.cells, 0))

    def _row(self, position: Array) -> Array:
        """For each matrix the row of the class at a position ``[*batch]``: ``[class, *batch]``."""
        xp, at = self.xp, self.xp.clip(position, 0, self.n - 1)
        if self.class_first:
            return xp.take_along_axis(self.cells, at[None, None, ...], axis=0)[0]
        return self.lead(xp.take_along_axis(self.cells, at[..., None, None], axis=-2)[..., 0, :])

    def _sums_beside(self, rows: Sequence[Array]) -> Array:
        """For each class the sum of its row, a slice of cells, without the class's own entry: ``[class, *batch]``."""
        xp, axis = self.xp, 0 if self.class_first else -1
        before = () if self.class_first else (...,)
        after = (...,) if self.class_first else ()
        # No sums of nothing: JAX refuses empty slices of arrays that are sharded over devices.
        nothing = xp.zeros_like(rows[0][(*before, 0, *after)])
        left = [self.sum(row[(*before, slice(0, i), *after)], axis=axis) for i, row in enumerate(rows) if i > 0]
        right = [self.sum(row[(*before, slice(i, None), *after)], axis=axis) for i, row in enumerate(rows[:-1], 1)]
        return xp.stack([nothing, *left]) + xp.stack([*right, nothing])

    def _sums_of_others(self, x: Array, axis: int) -> list[Array]:
        """For each index of a class axis the sum of the slices at all others."""
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
        """For each entry the sum of the entries of higher (ascending), or of lower, numbers along a class axis."""
        before: tuple[Any, ...] = (slice(None),) * (axis % x.ndim)
        slices = [x[(*before, i, ...)] for i in range(self.n)]
        sums = [self.xp.zeros_like(slices[0])]
        for part in slices[:0:-1] if ascending else slices[:-1]:
            sums.append(sums[-1] + part)
        return self.xp.stack(sums[::-1] if ascending else sums, axis=axis)

    @margin
    def around(self) -> tuple[Array, Array, Array]:
        """For each cell the sums of the other cells of its row, of its column, and of neither, in the cells' order."""
        row, column = self.others(self.cells, self.pred_axis), self.others(self.cells, self.true_axis)
        return row, column, self.others(row, self.true_axis)

    def others(self, x: Array, axis: int) -> Array:
        """For each entry the sum of all others along a class axis."""
        xp = self.xp
        if self.n <= MAX_WRITTEN_OUT:
            return xp.stack(self._sums_of_others(x, axis), axis=axis)
        # A difference, unless the entry is more than half of the sum: then it is the only one of that size.
        rest = xp.sum(x, axis=axis, keepdims=True) - x
        smaller = xp.where(x == xp.max(x, axis=axis, keepdims=True), 0, x)
        return xp.where(x > rest, xp.sum(smaller, axis=axis, keepdims=True), rest)

    @margin
    def true(self) -> Array:
        """Samples of each true class: row sums."""
        return self.tp + self.fn

    @margin
    def pred(self) -> Array:
        """Samples predicted as each class: column sums."""
        return self.tp + self.fp

    @margin
    def not_true(self) -> Array:
        """Samples of the other true classes."""
        return self.fp + self.tn

    @margin
    def not_pred(self) -> Array:
        """Samples predicted as another class."""
        return self.fn + self.tn

    @margin
    def class_errors(self) -> Array:
        """Samples of the class or predicted as it, but not both."""
        return self.fp + self.fn

    def errors_outside(self, chosen: Array) -> Array:
        """The errors outside the row and the column of a chosen class, ``[class, *batch]``: ``[*batch]``."""
        outside = ~(self.rowwise(chosen) | self.columnwise(chosen))
        return self.sum(self.xp.where(outside, self.off_diagonal, 0), axis=(self.true_axis, self.pred_axis))

    # Totals, [*batch] -----------------------------------------------------------------------------------------------

    @margin
    def total(self) -> Array:
        """All samples."""
        return self.sum(self.true, axis=0)

    @margin
    def hits(self) -> Array:
        """Correct predictions: the sum of the diagonal."""
        return self.sum(self.tp, axis=0)

    @margin
    def errors(self) -> Array:
        """Samples predicted as something else."""
        return self.sum(self.fn, axis=0)

    @margin
    def valid(self) -> Array:
        """Whether every cell is finite and not negative, and their sum finite."""
        # Over the true classes first: for PyTorch's compiler that is part of the pass that makes column sums.
        lowest = self.xp.min(self.xp.min(self.cells, axis=self.true_axis), axis=0 if self.class_first else -1)
        if self.backend.is_integer(self.cells):
            return lowest >= 0
        return self.xp.where(self.total < math.inf, lowest, -1) >= 0  # neither is so for NaN
