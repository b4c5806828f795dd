"""Execution on the host where row sums, column sums and the diagonal are all that is needed: one sweep of the cells."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.execution.digits import holds_products, product_dtype_of, rounds_from
from matrics._engine.execution.host import HostTable, WholeStack
from matrics._engine.execution.scratch import Scratch
from matrics._engine.margins import margin
from matrics._engine.table import Table

# From here on a row of cells is long enough for sums to run along it: then cells stay in the order they came in. Sums
# alone do so earlier, as products with a vector of ones.
MIN_CLASSES_IN_PLACE = 50
MIN_CLASSES_OF_PRODUCTS = 8
# Multiplications in a product for which OpenBLAS does not start threads of its own, next to ours.
MAX_PRODUCT = 4 * 65536
# The share of the total outside the row and the column of a class from which on differences of margins have the digits
# of sums of cells.
LEAST_REST = 1 / 32


class NotIntegersError(Exception):
    """A formula needs exact differences, and the cells of its block are not integers: the block takes another way."""


class Swept(HostTable):
    """A table with known row sums, column sums and diagonal; its cells are fetched when they are needed.

    Its sums are integers, and exact. What is large wherever the margins suffice (``_margins_suffice``) is a difference
    of them without a further look at the cells; what may be small, as ``fn`` and ``fp``, is one only where all cells
    are known to be integers.
    """

    scale = None  # such counts are not extreme

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
        super().__init__(block.transpose(1, 2, 0), is_moderate=True, **options)
        self.true, self.pred, self.tp = sums
        self.total = total
        self.exact_products = holds_products(np.float64, largest)
        self.product_dtype = product_dtype_of(total.dtype, largest)
        self._all_integers = all_integers  # None if it is known
        self.was_asked = False
        """Whether a formula needed to know that all cells are integers."""

    @property
    def of_normal_counts(self) -> Table:
        """The table itself, whose sums are integers."""
        return self

    def _need_integers(self) -> None:
        """Go on only if all cells are integers; if they are not, the block has to take another way."""
        self.was_asked = True
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
        """A difference."""
        return self.total[None, ...] - self.true

    @margin
    def not_pred(self) -> Array:
        """A difference."""
        return self.total[None, ...] - self.pred

    @margin
    def tn(self) -> Array:
        """A difference."""
        return self.not_true - (self.pred - self.tp)

    @margin
    def cells(self) -> Array:
        """The cells, in the same order as in other blocks, lest sums round otherwise.

        Formulas of cells take this table for one of counts that are not extreme, so these have to be integers.
        """
        self._need_integers()
        order: Any = "K" if self.n >= MIN_CLASSES_IN_PLACE else "C"
        return self._given.astype(self.true.dtype, order=order, copy=False)

    @property
    def cells_were_read(self) -> bool:
        """Whether a formula has used them."""
        return "cells" in self.__dict__


def sweep(
    block: Array, scratch: Scratch, zero_division: float, whole: WholeStack, *, part: int, look: bool
) -> Swept | None:
    """The table of a block from one sweep over its cells, in parts; None if the block needs a full check.

    Parameters
    ----------
    block
        The matrices ``[matrix, true, pred]``.
    scratch
        Memory.
    zero_division, whole
        Options of the table.
    part
        How many cells fit the cache.
    look
        Whether formulas will ask if all cells are integers. That is cheapest while a part is in the cache; where
        nothing asks, it would take longer than all sums.
    """
    count, n, _ = block.shape
    dtype = scratch.cells.dtype
    known = NUMPY.is_integer(block)
    few = n < MIN_CLASSES_OF_PRODUCTS
    sums = np.empty((3, n, count), dtype)
    factors = _factors(n, dtype) if few else np.ones(n, dtype)
    step = max(1, min(part, scratch.cells.size) // (n * n))
    parts = [slice(start, start + step) for start in range(0, count, step)]
    sums_of_part = np.empty((2, 0 if few else min(step, count), n), dtype)
    seen = True
    for here in parts:
        cells = scratch.floats(block[here])
        if few or look or known or not _have_few_digits(cells):
            # The minimum first: of all that is done here it brings cells from memory the fastest.
            if not np.minimum.reduce(cells, axis=None) >= 0 or not (known or scratch.all_integers(cells)):
                return None
        else:
            seen = False
        # Products with ones and zeros are the fastest sums; those of integers are the same in any order.
        if few:
            flat, out = cells.reshape(-1, n * n).T, sums.reshape(3 * n, count)[:, here]
            for first, last in slices(0, len(cells), MAX_PRODUCT // factors.size):
                np.matmul(factors, flat[:, first:last], out=out[:, first:last])
        else:
            true, pred = found = sums_of_part[:, : len(cells)]
            np.matmul(cells.reshape(-1, n), factors, out=true.reshape(-1))  # one product, not one a matrix
            np.matmul(factors, cells, out=pred)
            np.copyto(sums[:2, :, here], found.transpose(0, 2, 1))
            np.copyto(sums[2, :, here], cells.diagonal(axis1=1, axis2=2).T)
    total = np.add.reduce(sums[0], axis=0)
    largest = float(total.max())
    if not largest < rounds_from(dtype):
        return None

    def all_integers() -> bool:
        return all(scratch.all_integers(scratch.floats(block[here])) for here in parts)

    if not seen and not _margins_suffice(sums, total, largest, scratch):
        seen = all_integers()
        if not seen:
            return None
    return Swept(
        block,
        sums,
        total,
        largest=largest,
        all_integers=None if seen else all_integers,
        stack=whole,
        zero_division=zero_division,
    )


def slices(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    """Slices of at most ``step``, none of a single matrix if there are more: its sums would run in another order."""
    edges = [*range(start, stop, step), stop]
    if len(edges) > 2 and edges[-1] - edges[-2] == 1:
        edges[-2] -= 1
    return list(itertools.pairwise(edges))


def _factors(n: int, dtype: Any) -> Array:
    """The factors of the flat cells of a matrix that give its row sums, column sums and diagonal."""
    one = np.eye(n, dtype=dtype)
    row, column = np.repeat(one, n, axis=1), np.tile(one, n)
    return np.concatenate([row, column, row * column])


@functools.cache
def _bits_of(dtype: Any) -> tuple[Any, int]:
    """The integers with the bits of floats, and where the digits after the first half are in them."""
    return np.dtype(f"i{dtype.itemsize}"), int(2 ** ((np.finfo(dtype).nmant + 1) // 2)) - 1


def _have_few_digits(cells: Array) -> bool:
    """Whether no cell is negative and none has more than half of the binary digits of its dtype; NaN may pass.

    All bits are combined by "or", which takes one pass, as the minimum does. Counts have few digits; fractions like 1/3
    have all. Sums of cells with few digits are exact, unless some cells are tiny beside the others.
    """
    integers, last = _bits_of(cells.dtype)
    combined = int(np.bitwise_or.reduce(cells.view(integers), axis=None))
    return combined >= 0 and combined & last == 0


def _margins_suffice(sums: Array, total: Array, largest: float, scratch: Scratch) -> bool:
    """Whether products and large differences of margins are what those of cells would be, for cells of few digits.

    Row sums, column sums and the diagonal are integers, so that their products are exact. And each class leaves
    1/32 of the total outside its row and column, so that a difference has the digits of a sum of these cells even where
    a sum was rounded because some cells are tiny (2⁻³⁶ in a row with 2²⁰).
    """
    true, pred, tp = sums
    if not holds_products(np.float64, largest) or not scratch.all_integers(sums):
        return False
    taken = true + pred
    taken -= tp
    return bool((np.maximum.reduce(taken, axis=0) <= (1 - LEAST_REST) * total).all())
