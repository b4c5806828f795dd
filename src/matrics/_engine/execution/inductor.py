"""The tables for PyTorch's compiler on the CPU, whose loops use vectors of a fixed width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._arrays import Array, Standard
from matrics._engine.execution.fewer_passes import FromErrors, OnePass, WrittenOut
from matrics._engine.margins import MAX_WRITTEN_OUT_REST, margin
from matrics._engine.table import Table

# Up to this number of classes cells are transposed class-first: with more classes the transposition takes longer than
# it saves. The number is larger for float64, whose rows the compiler adds up slowly.
MAX_TURNED = {32: 8, 64: 24}  # bits


def stack_table(cells: Array, backend: Standard, **options: Any) -> Table:
    """The table of a stack ``[*batch, true, pred]`` of a user."""
    turned = cells.ndim > 2 and 1 < cells.shape[-1] <= MAX_TURNED[backend.xp.finfo(cells.dtype).bits]
    return table(_turned(cells, backend) if turned else cells, backend, class_first=turned, **options)


def _turned(cells: Array, backend: Standard) -> Array:
    """The cells ``[*batch, true, pred]`` as ``[true, pred, *batch]``, in memory of this order."""
    xp, batch = backend.xp, cells.ndim - 2
    first = xp.permute_dims(cells, (batch, batch + 1, *range(batch)))
    # A concatenation is written to memory once; the compiler would remove a copy, and transpose at each use of a cell.
    return xp.concat([first[:1, ...], first[1:, ...]])


def table(cells: Array, backend: Standard, *, class_first: bool, **options: Any) -> Table:
    """The table for cells with this number of classes."""
    few = class_first and 1 < cells.shape[0] <= MAX_WRITTEN_OUT_REST
    kind = FewClasses if few else Stacked
    return kind(cells, backend, class_first=class_first, **options)


class InductorTable(FromErrors):
    """A table whose class numbers have the dtype of the cells, for equally wide vectors."""

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """The table for other cells."""
        options = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return table(cells, self.backend, class_first=class_first, **options)

    @margin
    def _index(self) -> Array:
        return self.xp.astype(self.backend.class_index(self.n, self._given), self._given.dtype)

    def _scale(self) -> Array | None:
        """A power of two near 1 / √(m r), by arithmetic, as a loop that reads bits has no vectors.

        A number minus the number without its first binary digit is this digit, and so a power of two. For two classes
        reading bits is faster, as the following operations are then in a separate loop.
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
        # Both sums are computed in the same pass.
        return [self._column_sums_of(self.class_numbers != position[None, ...]) for position in rows]


class FewClasses(WrittenOut, InductorTable):
    """A table for few classes, whose sums are explicit additions."""

    def _in_classes(self, values: list[Array]) -> Array:
        if self.n != 2:
            return self.xp.stack(values)
        first, second = (x[None, ...] for x in values)  # the compiler would write a stack to memory
        return self.xp.where(self.class_numbers == 0, first, second)


class Stacked(OnePass, InductorTable):
    """A table whose true positives, false negatives and false positives are stacked, and written to memory once."""

    @margin
    def _counted(self) -> Array:
        xp, cells = self.xp, self.cells
        if self.class_first:
            tp, errors = self.diagonal(cells), self.off_diagonal
        else:
            # Products with an identity matrix in memory: otherwise the compiler computes the positions of the cells
            # again for every row. True positives are computed with the column sums.
            identity = xp.astype(self._index[:, None] == self._index[None, :], cells.dtype)
            identity = xp.concat([identity[:1, :], identity[1:, :]])
            tp, errors = self.sum_over(self.true_axis, cells * identity), cells * (1 - identity)
        return xp.stack([tp, *(self.sum_over(axis, errors) for axis in (self.pred_axis, self.true_axis))])
