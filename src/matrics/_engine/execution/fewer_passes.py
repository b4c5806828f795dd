"""Margins in fewer passes over the cells, for compilers: sums written out as additions, and counts found together."""

from __future__ import annotations

from collections.abc import Sequence

from matrics._arrays import Array
from matrics._engine.margins import margin
from matrics._engine.safety import add
from matrics._engine.table import Table


class WrittenOut(Table):
    """False negatives, false positives and true negatives of more than one class as additions of single cells."""

    @margin
    def fn(self) -> Array:
        """See ``Table``."""
        return self._sums_beside(self.backend.unstack(self.cells, axis=self.true_axis))

    @margin
    def fp(self) -> Array:
        """See ``Table``."""
        return self._sums_beside(self.backend.unstack(self.cells, axis=self.pred_axis))

    def _sums_beside(self, rows: Sequence[Array]) -> Array:
        axis = 0 if self.class_first else -1
        entries = [self.backend.unstack(row, axis=axis) for row in rows]
        return self._in_classes([add((*row[:i], *row[i + 1 :])) for i, row in enumerate(entries)])

    def _in_classes(self, values: list[Array]) -> Array:
        """The values of all classes, ``[*batch]`` each, as ``[class, *batch]``."""
        return self.xp.stack(values)


class OnePass(Table):
    """True positives, false negatives and false positives from one pass over the cells."""

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
        """These three first."""
        raise NotImplementedError
