"""Margins in fewer passes over the cells, for compilers: explicit additions, several counts in a pass, and blocks."""

from __future__ import annotations

from collections.abc import Sequence

from matrics._arrays import Array
from matrics._engine.margins import margin
from matrics._engine.safety import add
from matrics._engine.table import Table


class NeedsWholeStack(Exception):  # noqa: N818 (no error: the function is computed of the whole stack instead)
    """A function of a table of a block computes eigenvalues, which have blocks of their own."""


class FromErrors(Table):
    """A table whose row and column sums are computed from errors, without another pass over the cells."""

    @margin
    def true(self) -> Array:
        """See ``Margins``: row sums."""
        return self.tp + self.fn

    @margin
    def pred(self) -> Array:
        """See ``Margins``: column sums."""
        return self.tp + self.fp


class WrittenOut(Table):
    """A table whose false negatives, false positives and true negatives are explicit additions of cells."""

    @margin
    def fn(self) -> Array:
        """See ``Table``."""
        return self._sums_without_own(self.backend.unstack(self.cells, axis=self.true_axis))

    @margin
    def fp(self) -> Array:
        """See ``Table``."""
        return self._sums_without_own(self.backend.unstack(self.cells, axis=self.pred_axis))

    def _sums_without_own(self, rows: Sequence[Array]) -> Array:
        axis = 0 if self.class_first else -1
        entries = [self.backend.unstack(row, axis=axis) for row in rows]
        return self._in_classes([add((*row[:i], *row[i + 1 :])) for i, row in enumerate(entries)])

    def _in_classes(self, values: list[Array]) -> Array:
        """The values of all classes, each of shape ``[*batch]``, as ``[class, *batch]``."""
        return self.xp.stack(values)


class OnePass(Table):
    """A table whose true positives, false negatives and false positives come from a single pass over the cells."""

    @margin
    def tp(self) -> Array:
        """True positives."""
        return self._counted[0]

    @margin
    def fn(self) -> Array:
        """False negatives."""
        return self._counted[1]

    @margin
    def fp(self) -> Array:
        """False positives."""
        return self._counted[2]

    @margin
    def _counted(self) -> Sequence[Array]:
        """True positives, false negatives and false positives, in this order, and possibly other counts."""
        raise NotImplementedError
