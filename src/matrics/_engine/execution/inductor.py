"""The tables of PyTorch's compiler on the CPU, which writes loops over vectors of one width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._arrays import Array, Standard
from matrics._engine.execution.fewer_passes import OnePass, WrittenOut
from matrics._engine.margins import MAX_WRITTEN_OUT_REST, margin
from matrics._engine.table import Table

# Up to so many classes cells are turned class-first: to transpose more of them takes longer than what is gained. It is
# more of float64, whose rows it adds up slowly.
MAX_TURNED = {32: 8, 64: 24}  # bits


def stack_table(cells: Array, backend: Standard, **options: Any) -> Table:
    """The table of a user's stack ``[*batch, true, pred]``."""
    turned = cells.ndim > 2 and 1 < cells.shape[-1] <= MAX_TURNED[backend.xp.finfo(cells.dtype).bits]
    return table(_turned(cells, backend) if turned else cells, backend, class_first=turned, **options)


def _turned(cells: Array, backend: Standard) -> Array:
    """``[*batch, true, pred]`` as ``[true, pred, *batch]``, in memory of that order."""
    xp, batch = backend.xp, cells.ndim - 2
    first = xp.permute_dims(cells, (batch, batch + 1, *range(batch)))
    # What is joined is written into memory, once; a copy would be undone, and transposed for each use of a cell.
    return xp.concat([first[:1, ...], first[1:, ...]])


def table(cells: Array, backend: Standard, *, class_first: bool, **options: Any) -> Table:
    """The table for cells of this size."""
    few = class_first and 1 < cells.shape[0] <= MAX_WRITTEN_OUT_REST
    kind = FewClasses if few else Stacked
    return kind(cells, backend, class_first=class_first, **options)


class InductorTable(Table):
    """A table whose class numbers are as wide as its cells."""

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """The table for cells of that size."""
        options = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return table(cells, self.backend, class_first=class_first, **options)

    @margin
    def _index(self) -> Array:
        return self.xp.astype(self.backend.class_index(self.n, self._given), self._given.dtype)

    def _scale(self) -> Array | None:
        """A power of two near 1 / √(m r), by arithmetic: a loop that reads bits has no vectors.

        A number less what is left of it without its first digit is that digit, and so a power of two. Of two classes
        bits are faster, as what follows is then a loop of its own.
        """
        if self.n == 2:
            return super()._scale()
        limits = self.xp.finfo(self.total.dtype)
        shift = 2.0 ** (52 if limits.bits == 64 else 23) + 1
        total, least = (self.xp.sqrt(x.detach()) for x in (self.total, self._least_rest))
        size = self.xp.clip(1 / total / least, limits.smallest_normal, limits.max / (2 * shift))
        shifted = size * shift
        return shifted - (shifted - size)

    def _column_sums_without(self, *rows: Array) -> Sequence[Array]:
        # Both in one pass.
        return [self._column_sums_of(self.class_numbers != position[None, ...]) for position in rows]


class FewClasses(WrittenOut, InductorTable):
    """Of few classes all sums are additions."""

    def _in_classes(self, values: list[Array]) -> Array:
        if self.n != 2:
            return self.xp.stack(values)
        first, second = (x[None, ...] for x in values)  # a stack would be written into memory
        return self.xp.where(self.class_numbers == 0, first, second)


class Stacked(OnePass, InductorTable):
    """True positives, false negatives and false positives as one stack, which is written into memory once."""

    @margin
    def _counted(self) -> Array:
        xp, cells = self.xp, self.cells
        if self.class_first:
            tp, errors = self.diagonal(cells), self.off_diagonal
        else:
            # By products with what is in memory: it would compute the positions of a row's cells again for every row.
            # And true positives come with the column sums.
            one = xp.astype(self._index[:, None] == self._index[None, :], cells.dtype)
            one = xp.concat([one[:1, :], one[1:, :]])
            tp, errors = self.sum_over(self.true_axis, cells * one), cells * (1 - one)
        return xp.stack([tp, *(self.sum_over(axis, errors) for axis in (self.pred_axis, self.true_axis))])
