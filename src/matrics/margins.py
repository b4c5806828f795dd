"""Margins: one stack of confusion matrices and its counts by class, each computed once.

Inside, classes come first and the batch last: a margin is ``[class, *batch]``, a total ``[*batch]``, so that formulas
read as on paper (``t.divide(t.tp, t.true)``) and reduce over leading axes. Where the cells themselves lie is this
file's own business: class-first in blocks on the host, and few classes for PyTorch's compiler on the CPU; where they
were given elsewhere (XLA is slowed down several times by a transposed stack), and only the margins are class-first.

No sum here is a difference that loses digits. ``fn``, ``fp`` and ``tn`` add up the cells they consist of: ``true - tp``
loses every digit of a few errors beside 10**17 hits, and in float32 beside 10**8. Differences are taken, at a third of
the cost, only where the host, or JAX's compiled code when it runs, has seen that all cells are whole numbers whose sum
is small enough to make them exact; or, for true negatives of many classes, where a fifth of the total or more is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from matrics import _backend
from matrics._backend import Array, Namespace
from matrics.safety import MOST_UNROLLED, Safe, add
from matrics.wide import Wide

# The sums behind true negatives are written out for so many classes, and for more of them for XLA; then PyTorch's
# compiler on the CPU has the others written out as well.
MOST_SUMMED = 6
MOST_SUMMED_BY_XLA = 16
# Sums of all other cells of a row or column are written out for so many classes.
MAX_WRITTEN_OUT = 8
# From here on it pays XLA to look at the cells: the sums that differences replace are longer.
LEAST_BRANCHED = 5


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
        setattr(table, self.name, value)
        return value


class Margins(Safe):
    """One stack of confusion matrices, seen class-first.

    Parameters
    ----------
    cells
        Floating cells, ``[*batch, true, pred]``, or ``[true, pred, *batch]`` if ``class_first``.
    xp
        Their namespace.
    zero_division
        What an undefined (0/0) measure is worth.
    exact, exact_products
        Whether sums and differences of cells are known to be exact, and those of products of two of them.
    product_dtype
        The dtype of these products on the host: float64, or that of the cells where it holds them.
    is_moderate
        Whether products of five counts are known to stay in the range of the dtype.
    """

    def __init__(
        self,
        cells: Array,
        xp: Namespace,
        *,
        class_first: bool = False,
        zero_division: float = math.nan,
        exact: bool = False,
        exact_products: bool = False,
        product_dtype: Any = np.float64,
        is_moderate: bool = False,
    ) -> None:
        super().__init__(xp, zero_division)
        self.cells = cells
        self.class_first = class_first
        self.true_axis, self.pred_axis = (0, 1) if class_first else (-2, -1)
        self.n: int = cells.shape[0] if class_first else cells.shape[-1]
        self.is_vectorized = _backend.is_vectorized(cells, xp)
        most = MOST_UNROLLED if self.is_xla else MOST_SUMMED if self.is_vectorized and class_first else 0
        looks = self.is_xla and self.n >= LEAST_BRANCHED and not class_first and not exact
        self.is_branched = looks and 0 not in cells.shape
        self.is_unrolled = 1 < self.n <= most  # if it does not branch, or in the branch
        self.is_stacked = self.is_vectorized and not self.is_unrolled
        self.exact = exact
        self.exact_products = exact_products
        self.product_dtype = product_dtype
        self.is_moderate = is_moderate

    # Memory order ---------------------------------------------------------------------------------------------------

    def lead(self, x: Array) -> Array:
        """``[*batch, class]`` as ``[class, *batch]``, a view."""
        return self.xp.permute_dims(x, (x.ndim - 1, *range(x.ndim - 1)))

    def sum_over(self, axis: int, x: Array) -> Array:
        """Sum cells over one class axis: ``[class, *batch]``."""
        sums = self.sum(x, axis=axis)
        sums = sums if self.class_first else self.lead(sums)
        # On the host cells may lie in another order, and then later sums would round differently.
        return np.ascontiguousarray(sums) if self.is_host else sums

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
        batch = (1,) * (self.cells.ndim - 2)
        return self.xp.reshape(x, (self.n, self.n, *batch) if self.class_first else (*batch, self.n, self.n))

    @margin
    def is_diagonal(self) -> Array:
        """True on the diagonal; of the rank of the cells."""
        return self.beside_cells(self._index[:, None] == self._index[None, :])

    @margin
    def _index(self) -> Array:
        """The numbers of the classes, as wide as the cells for PyTorch's compiler, whose vectors are of one width."""
        index = _backend.class_index(self.n, self.cells, self.xp)
        return self.xp.astype(index, self.cells.dtype) if self.is_vectorized else index

    @margin
    def _class(self) -> Array:
        """The number of each class, so that it broadcasts against ``[class, *batch]``."""
        return self._index[(slice(None), *(None,) * (self.cells.ndim - 2))]

    def as_matrices(self, x: Array) -> Array:
        """Something in the order of the cells as ``[*batch, true, pred]``, a view: what linear algebra takes."""
        return self.xp.permute_dims(x, (*range(2, x.ndim), 0, 1)) if self.class_first else x

    def diagonal(self, x: Array) -> Array:
        """The diagonal of something in the order of the cells: ``[class, *batch]``."""
        diagonal = self.lead(self.xp.linalg.diagonal(self.as_matrices(x)))
        return np.ascontiguousarray(diagonal) if self.is_host else diagonal

    # Factors of products --------------------------------------------------------------------------------------------

    def wide(self, x: Array) -> Array:
        """A count as a factor of products that do not leave the range of floats, whatever the counts: see ``Wide``.

        On the host and on PyTorch float32 becomes float64, which holds products of five, and their digits.
        """
        if self.is_host and (self.is_moderate or self.total.dtype != np.float64):
            return x.astype(np.float64, copy=False)
        if self.is_moderate:
            return x
        wider = _backend.wider_float(self.total, self.xp)
        if wider is None:
            total = self.cellwise(self.total) if x.ndim - self.total.ndim == 2 else self.total
            return Wide.of(x, total, self.xp)
        return self.xp.astype(self.xp.where(self.is_zero(x), 0, x), wider)

    def unit(self, x: Array) -> Array:
        """A power of two that brings ``x``, which is not negative, near 1."""
        limit = _backend.largest_exponent(x, self.xp)
        return _backend.power_of_two(self.xp.clip(-_backend.exponent(x, self.xp), -limit, limit), self.xp)

    @margin
    def scale(self) -> Array | None:
        """A power of two for each matrix that brings products of two margins near 1; None where none is needed.

        No product in a covariance is above m r, where m is the total and r what the largest class leaves of it: each
        factor is scaled by 1 / √(m r). A scale of 1 / m would let r vanish beside a dominant class.
        """
        xp, exponent = self.xp, _backend.exponent

        def rest(x: Array) -> Array:
            least = xp.min(x, axis=0)
            return xp.where(least > 0, least, self.total)

        least = xp.minimum(rest(self.not_true), rest(self.not_pred))
        middle = xp.floor((exponent(self.total, xp) + exponent(least, xp)) / 2)
        limit = _backend.largest_exponent(self.total, xp)
        return _backend.power_of_two(xp.clip(-middle, -limit, limit), xp)

    # Margins, [class, *batch] ---------------------------------------------------------------------------------------

    @margin
    def off_diagonal(self) -> Array:
        """The errors: the cells with a zero diagonal."""
        return self.xp.where(self.is_diagonal, 0, self.cells)

    @margin
    def tp(self) -> Array:
        """The diagonal."""
        return self._counted[0] if self.is_branched or self.is_stacked else self.diagonal(self.cells)

    @margin
    def fn(self) -> Array:
        """Items of the class that were called something else."""
        if self.exact:
            return self.true - self.tp
        if self.is_branched or self.is_stacked:
            return self._counted[1]
        if self.is_unrolled:
            return self._sums_beside(self.xp.unstack(self.cells, axis=self.true_axis))
        return self.sum_over(self.pred_axis, self.off_diagonal)

    @margin
    def fp(self) -> Array:
        """Items of other classes that were called this one."""
        if self.exact:
            return self.pred - self.tp
        if self.is_branched or self.is_stacked:
            return self._counted[2]
        if self.is_unrolled:
            return self._sums_beside(self.xp.unstack(self.cells, axis=self.pred_axis))
        return self.sum_over(self.true_axis, self.off_diagonal)

    @margin
    def tn(self) -> Array:
        """Items of other classes that were not called this one: all cells outside the class's row and column.

        Of few classes running sums from both ends leave one row out without a subtraction. Unrolled over the classes,
        since cumulative sums are 7 to 30 times slower on every backend.
        """
        if self.exact:
            return self.not_true - self.fp
        if self.is_branched:
            return self._counted[3]
        if self.n > (MOST_SUMMED_BY_XLA if self.is_xla else MOST_SUMMED):
            return self._rest
        return self._sums_beside(self._sums_of_others(self.cells, self.true_axis))

    @margin
    def _counted(self) -> Sequence[Array]:
        """Values tp, fn and fp, and what else compiled code finds with them."""
        return self._looked_at() if self.is_branched else self._stacked()

    def _looked_at(self) -> Sequence[Array]:
        """Values tp, fn, fp, tn and valid: XLA looks at the cells as it runs, and takes differences if they are exact.

        Written for its compiler on the CPU. Column sums that are NaN where a cell is not whole, or is negative, or the
        sum is large, are one fast pass, and looked at in their stead. The branch is where arrays are put into memory,
        and before and behind it classes come first: in a transposed order XLA would read them again and again.

        The gradient of a difference is one as well. It has the digits of the largest component of a matrix's gradient;
        those of much smaller ones are lost.
        """
        xp, cells, n = self.xp, self.cells, self.n
        rows = [cells[..., i, :] for i in range(n)]
        pred = add([xp.where(row == xp.floor(xp.abs(row)), row, math.nan) for row in rows])
        limit = 2 ** (xp.finfo(cells.dtype).bits * 3 // 4)
        # Between two sums something has to stand, or XLA makes one of them, and writes each row into memory before it.
        pred = xp.where(pred < limit, pred, math.nan)
        total = xp.sum(pred, axis=-1)
        seen = xp.all(total < limit)  # NaN is not; a maximum may pass it over
        true = self.sum(cells, axis=-1)
        tp = xp.reshape(cells, (*cells.shape[:-2], n * n))[..., :: n + 1]  # as a slice, not gathered

        def differences(true: Array, pred: Array, tp: Array, total: Array, _: Array) -> tuple[Array, ...]:
            fn, fp = true - tp, pred - tp
            return tp, fn, fp, (total[None, ...] - true) - fp, xp.ones_like(total, dtype=xp.bool)

        def sums(*arrays: Array) -> tuple[Array, ...]:
            table = Margins(arrays[-1], xp)
            table.is_branched = False  # or it would ask again
            counts = _backend.in_memory(xp.stack([table.tp, table.fn, table.fp, table.tn]))
            return *xp.unstack(counts), table.valid

        found: Sequence[Array] = _backend.branch(
            seen, differences, sums, self.lead(true), self.lead(pred), self.lead(tp), total, cells
        )
        return found

    def _stacked(self) -> Sequence[Array]:
        """Values tp, fn and fp: stacked, since PyTorch's compiler writes a stack into memory class-first, once."""
        xp, cells = self.xp, self.cells
        if self.class_first:
            tp, errors = self.diagonal(cells), self.off_diagonal
        else:
            # By products with what is in memory: it would compute the positions of a row's cells again for every row.
            # And hits come with the column sums.
            one = xp.astype(self._index[:, None] == self._index[None, :], cells.dtype)
            one = xp.concat([one[:1, :], one[1:, :]])
            tp, errors = self.sum_over(self.true_axis, cells * one), cells * (1 - one)
        sums = (self.sum_over(axis, errors) for axis in (self.pred_axis, self.true_axis))
        stack: Sequence[Array] = xp.stack([tp, *sums])
        return stack

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
        large = cross > 4 * rest
        if self.is_host and not large.any():
            return rest
        index = self._class
        first, last = xp.min(xp.where(large, index, self.n), axis=0), xp.max(xp.where(large, index, -1), axis=0)

        def columns_of(rows: Array) -> Array:
            return self.sum_over(self.true_axis, xp.where(self.rowwise(rows), self.cells, 0))

        if self.is_vectorized:  # PyTorch's compiler makes the two sums in one pass
            columns = [columns_of(index != position[None, ...]) for position in (first, last)]
        else:
            # From one masked copy of the stack, which XLA writes down: without both rows, then with the other's again.
            both = columns_of((index != first[None, ...]) & (index != last[None, ...]))
            columns = [xp.where((first == last)[None, ...], both, both + self._row(other)) for other in (last, first)]

        without_first, without_last = (
            self.sum(xp.where(index != position[None, ...], sums, 0), axis=0)[None, ...]
            for position, sums in zip((first, last), columns, strict=True)
        )
        return xp.where(large, xp.where(index == first[None, ...], without_first, without_last), rest)

    def _row(self, position: Array) -> Array:
        """For each matrix the row of the class at a position ``[*batch]``: ``[class, *batch]``."""
        xp, at = self.xp, self.xp.clip(position, 0, self.n - 1)
        if self.class_first:
            return xp.take_along_axis(self.cells, at[None, None, ...], axis=0)[0]
        return self.lead(xp.take_along_axis(self.cells, at[..., None, None], axis=-2)[..., 0, :])

    def _sums_beside(self, rows: Sequence[Array]) -> Array:
        """For each class the sum of its row, a slice of cells, without the class's own entry: ``[class, *batch]``."""
        xp, axis = self.xp, 0 if self.class_first else -1
        if self.is_unrolled:
            entries = [xp.unstack(row, axis=axis) for row in rows]
            sums = [add((*row[:i], *row[i + 1 :])) for i, row in enumerate(entries)]
            if self.is_vectorized and self.n == 2:  # a stack PyTorch's compiler would write into memory
                first, second = (x[None, ...] for x in sums)
                return xp.where(self._class == 0, first, second)
            return xp.stack(sums)
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

    @margin
    def around(self) -> tuple[Array, Array, Array]:
        """For each cell the sums of the other cells of its row, of its column, and of neither, in the cells' order."""
        row, column = self._others(self.cells, self.pred_axis), self._others(self.cells, self.true_axis)
        return row, column, self._others(row, self.true_axis)

    def _others(self, x: Array, axis: int) -> Array:
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
        """Items of each true class: row sums."""
        return self.sum_over(self.pred_axis, self.cells) if self.is_host or self.exact else self.tp + self.fn

    @margin
    def pred(self) -> Array:
        """Items called each class: column sums."""
        return self.sum_over(self.true_axis, self.cells) if self.is_host or self.exact else self.tp + self.fp

    @margin
    def not_true(self) -> Array:
        """Items of the other true classes."""
        return self.total[None, ...] - self.true if self.exact else self.fp + self.tn

    @margin
    def not_pred(self) -> Array:
        """Items called another class."""
        return self.total[None, ...] - self.pred if self.exact else self.fn + self.tn

    @margin
    def class_errors(self) -> Array:
        """Items of the class or called so, but not both."""
        return self.fp + self.fn

    # Totals, [*batch] -----------------------------------------------------------------------------------------------

    @margin
    def total(self) -> Array:
        """All items."""
        return self.sum(self.true, axis=0)

    @margin
    def hits(self) -> Array:
        """Items called what they are."""
        return self.sum(self.tp, axis=0)

    @margin
    def errors(self) -> Array:
        """Items called something else."""
        return self.sum(self.fn, axis=0)

    @margin
    def valid(self) -> Array:
        """Whether every cell is finite and not negative, and their sum finite."""
        if self.is_branched:
            return self._counted[4]
        # Over the true classes first: for PyTorch's compiler that is part of the pass that makes column sums.
        lowest = self.xp.min(self.xp.min(self.cells, axis=self.true_axis), axis=0 if self.class_first else -1)
        if _backend.is_integer(self.cells, self.xp):
            return lowest >= 0
        return self.xp.where(self.total < math.inf, lowest, -1) >= 0  # neither is so for NaN
