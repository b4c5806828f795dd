"""The table of a matrix without its cells: true positives, false negatives and false positives of every class.

Which measures need no more is found by trying: a formula that reads cells, or for something that has their size,
gets an error.
"""

from __future__ import annotations

from typing import Any, NoReturn

from matrics._arrays import Array, Standard
from matrics._engine.margins import margin
from matrics._engine.table import Table


class CellsNeeded(Exception):  # noqa: N818 (the caller makes an error of it that names the measure)
    """A formula reads cells."""


class NoCells(Table):
    """A table of margins alone, in memory of the order of the classes.

    Parameters
    ----------
    margins
        Floating margins ``[class, *batch]`` or ``[*batch]`` by name. What is not among them is made of ``tp``, ``fn``
        and ``fp``, which a subclass may have.
    backend
        Their library.
    like
        An array in the shape and dtype of ``tp``, if that is not among them.
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
        """Raise, because the cells are not available."""
        raise CellsNeeded

    def rowwise(self, x: Array) -> NoReturn:  # noqa: ARG002
        """Arrays in the shape of cells are as large as the cells."""
        raise CellsNeeded

    columnwise = cellwise = beside_cells = rowwise

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, such as those of each class against the rest."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return Table(cells, self.backend, class_first=class_first, **options)

    @margin
    def tn(self) -> Array:
        """True negatives: the hits of the other classes, and those of their errors that are not of this class.

        Neither is a difference of sums that are nearly all in one class, as the total less a row and a column may be.
        """
        return self.others(self.tp, 0) + self.not_negative(self.others(self.fn, 0) - self.fp)

    def errors_outside(self, chosen: Array) -> Array:
        """The errors of the other classes that are not of the chosen one, likewise."""
        xp = self.xp
        of_others, of_chosen = xp.where(chosen, 0, self.fn), xp.where(chosen, self.fp, 0)
        return self.not_negative(self.sum(of_others, axis=0) - self.sum(of_chosen, axis=0))

    @margin
    def valid(self) -> Array:
        """Whether no count is negative, NaN or infinite, nor their sum."""
        xp = self.xp
        lowest = xp.min(xp.minimum(self.tp, xp.minimum(self.fn, self.fp)), axis=0)
        return xp.where(self.total < float("inf"), lowest, -1) >= 0  # neither is so for NaN
