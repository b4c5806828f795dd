"""Execution on the host for measures of row sums, column sums and the diagonal: a single sweep over the cells."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.execution.digits import holds_products, rounds_from
from matrics._engine.execution.host import SummedTable, WholeStack
from matrics._engine.execution.scratch import Scratch
from matrics._engine.margins import margin

# With at least this number of classes, sums run along the rows, and the axes of the cells are not permuted.
MIN_CLASSES_IN_PLACE = 50
# With at least this number of classes, a sweep takes less time than a copy of the cells with the class axes first.
MIN_CLASSES_OF_PRODUCTS = 8
# If at least this share of the total is outside the row and the column of a class, differences of margins are as
# precise as sums of cells.
LEAST_REST = 1 / 32


class NotIntegersError(Exception):
    """A formula needs exact differences, and the cells of its block are not integers: another table is necessary."""


class SweptTable(SummedTable):
    """A table with known row sums, column sums and diagonal; cells are read only if a formula needs them.

    The sums are exact integers. If the margins suffice (``_margins_suffice``), large counts are differences of margins,
    without another pass over the cells. Counts that may be small, such as ``fn`` and ``fp``, are differences only if
    all cells are known to be integers.
    """

    def __init__(
        self,
        block: Array,
        sums: Array,
        total: Array,
        *,
        largest: float,
        all_integers: Callable[[], bool] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(block.transpose(1, 2, 0), sums, total, largest=largest, **options)
        self._all_integers = all_integers  # None if all cells are known to be integers
        self.needed_integers = False
        """Whether a formula needed the check that all cells are integers."""

    def _need_integers(self) -> None:
        """Raise an error unless all cells are integers; the block then needs another table."""
        self.needed_integers = True
        if self._all_integers is not None and not self._all_integers():
            raise NotIntegersError
        self._all_integers = None

    @margin
    def exact(self) -> bool:
        """Whether differences of cells are exact."""
        self._need_integers()
        return True

    @margin
    def not_true(self) -> Array:
        """See ``Table``; a difference of margins."""
        return self.total[None, ...] - self.true

    @margin
    def not_pred(self) -> Array:
        """See ``Table``; a difference of margins."""
        return self.total[None, ...] - self.pred

    @margin
    def tn(self) -> Array:
        """See ``Table``; a difference of margins."""
        return self.not_true - (self.pred - self.tp)

    @margin
    def cells(self) -> Array:
        """The cells, in the same order as in other blocks, so that sums are rounded in the same way.

        Formulas assume that the counts of this table are not extreme, so the cells must be integers.
        """
        self._need_integers()
        order: Any = "K" if self.n >= MIN_CLASSES_IN_PLACE else "C"
        return self._given.astype(self.true.dtype, order=order, copy=False)

    @property
    def has_read_cells(self) -> bool:
        """Whether a formula has read the cells."""
        return "cells" in self.__dict__


def sweep(
    block: Array, scratch: Scratch, zero_division: float, whole: WholeStack, *, part: int, checks_integers: bool
) -> SweptTable | None:
    """The table of a block from a single sweep over its cells, in parts; None if a full check is necessary.

    Parameters
    ----------
    block
        The matrices ``[matrix, true, pred]``.
    scratch
        The reused memory.
    zero_division, whole
        Options of the table.
    part
        The number of cells that fit into the cache.
    look
        Whether formulas need the check that all cells are integers. The check is fastest while a part is in the cache.
        If it is not needed, it would take longer than all sums.
    """
    count, n, _ = block.shape
    dtype = scratch.cells.dtype
    if n < MIN_CLASSES_OF_PRODUCTS:
        return None
    known = NUMPY.is_integer(block)
    sums = np.empty((3, n, count), dtype)
    factors = np.ones(n, dtype)
    step = max(1, min(part, scratch.cells.size) // (n * n))
    parts = [slice(start, start + step) for start in range(0, count, step)]
    sums_of_part = np.empty((2, min(step, count), n), dtype)
    are_integers = True
    for here in parts:
        cells = scratch.floats(block[here])
        if checks_integers or known or not _have_few_digits(cells):
            # The minimum first: among all operations it loads the cells from memory the fastest.
            if not np.minimum.reduce(cells, axis=None) >= 0 or not (known or scratch.all_integers(cells)):
                return None
        else:
            are_integers = False
        # Products with a vector of 1s are the fastest sums, and sums of integers are the same in any order.
        true, pred = both = sums_of_part[:, : len(cells)]
        np.matmul(cells.reshape(-1, n), factors, out=true.reshape(-1))  # a single product for all matrices
        np.matmul(factors, cells, out=pred)
        np.copyto(sums[:2, :, here], both.transpose(0, 2, 1))
        np.copyto(sums[2, :, here], cells.diagonal(axis1=1, axis2=2).T)
    total = np.add.reduce(sums[0], axis=0)
    largest = float(total.max())
    if not largest < rounds_from(dtype):
        return None

    def all_integers() -> bool:
        return all(scratch.all_integers(scratch.floats(block[here])) for here in parts)

    if not are_integers and not _margins_suffice(sums, total, largest, scratch):
        are_integers = all_integers()
        if not are_integers:
            return None
    return SweptTable(
        block,
        sums,
        total,
        largest=largest,
        all_integers=None if are_integers else all_integers,
        stack=whole,
        zero_division=zero_division,
    )


def slices(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    """Slices of at most ``step`` matrices, and of at least two, as sums of a single matrix have another order."""
    edges = [*range(start, stop, step), stop]
    if len(edges) > 2 and edges[-1] - edges[-2] == 1:
        edges[-2] -= 1
    return list(itertools.pairwise(edges))


@functools.cache
def _bits_of(dtype: Any) -> tuple[Any, int]:
    """The integer dtype with the bits of floats, and the mask of the second half of the digits."""
    return np.dtype(f"i{dtype.itemsize}"), int(2 ** ((np.finfo(dtype).nmant + 1) // 2)) - 1


def _have_few_digits(cells: Array) -> bool:
    """Whether no cell is negative, and all have at most half of the binary digits of the dtype; NaN may pass.

    All bits are combined by "or" in a single pass. Counts have few digits; fractions such as 1/3 have all digits. Sums
    of cells with few digits are exact, unless some cells are much smaller than others.
    """
    integers, last = _bits_of(cells.dtype)
    combined = int(np.bitwise_or.reduce(cells.view(integers), axis=None))
    return combined >= 0 and combined & last == 0


def _margins_suffice(sums: Array, total: Array, largest: float, scratch: Scratch) -> bool:
    """Whether products and large differences of margins are as precise as those of cells, for cells of few digits.

    Row sums, column sums and the diagonal are integers, so products are exact. At least 1/32 of the total is outside
    the row and column of each class, so a difference is as precise as the sum of these cells, even if a sum was rounded
    because some cells are tiny (2⁻³⁶ in a row with 2²⁰).
    """
    true, pred, tp = sums
    if not holds_products(np.float64, largest) or not scratch.all_integers(sums):
        return False
    taken = true + pred
    taken -= tp
    return bool((np.maximum.reduce(taken, axis=0) <= (1 - LEAST_REST) * total).all())
