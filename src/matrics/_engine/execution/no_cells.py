"""A table without cells: only the true positives, false negatives and false positives of every class.

A trial call shows which measures need more: a formula that reads cells, or arrays of their size, raises an error.
"""

from __future__ import annotations

from typing import Any, NoReturn

from matrics._arrays import Array, Standard
from matrics._engine.execution.fewer_passes import FromErrors
from matrics._engine.margins import margin
from matrics._engine.table import Table


class CellsNeeded(Exception):  # noqa: N818 (the caller raises an error with the name of the measure)
    """A formula reads cells, which the table does not have."""


class NoCells(FromErrors):
    """A table of margins alone, which needs memory in proportion to the number of classes.

    Parameters
    ----------
    margins
        Floating margins ``[class, *batch]`` or ``[*batch]`` by name. Other margins are computed from ``tp``, ``fn`` and
        ``fp``, which may be attributes of a subclass.
    backend
        The array library of the margins.
    like
        An array in the shape and dtype of ``tp``, if ``margins`` does not contain ``tp``.
    options
        See ``Table``.
    """

    def __init__(self, margins: dict[str, Array], backend: Standard, like: Array | None = None, **options: Any) -> None:
        like = margins["tp"] if like is None else like
        super().__init__(like[:, None, ...], backend, class_first=True, **options)
        for name, value in margins.items():
            setattr(self, name, value)

    @margin
    def cells(self) -> Array:
        """Raise an error, because the cells are not available."""
        raise CellsNeeded

    def rowwise(self, x: Array) -> NoReturn:  # noqa: ARG002
        """Raise an error, because arrays in the shape of the cells are as large as the cells."""
        raise CellsNeeded

    columnwise = cellwise = broadcast_pairs = rowwise

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, such as the cells of each class against the rest."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return Table(cells, self.backend, class_first=class_first, **options)

    @margin
    def tn(self) -> Array:
        """True negatives: the hits of the other classes, and the errors between other classes.

        Neither part is a difference of two large sums of nearly equal size, as the total minus a row and a column may
        be.
        """
        return self.others(self.tp, 0) + self.not_negative(self.others(self.fn, 0) - self.fp)

    def errors_outside(self, chosen: Array) -> Array:
        """The errors outside the row and the column of a chosen class, as in ``tn``."""
        xp = self.xp
        errors_of_others, errors_of_chosen = xp.where(chosen, 0, self.fn), xp.where(chosen, self.fp, 0)
        return self.not_negative(self.sum(errors_of_others, axis=0) - self.sum(errors_of_chosen, axis=0))

    @margin
    def valid(self) -> Array:
        """Whether all counts and their sum are finite and not negative."""
        xp = self.xp
        lowest = xp.min(xp.minimum(self.tp, xp.minimum(self.fn, self.fp)), axis=0)
        return xp.where(self.total < float("inf"), lowest, -1) >= 0  # both comparisons are False for NaN
