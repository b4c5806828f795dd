"""The table of a diagnostic test: its rows and its texts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from matrics._tables.paper import PaperResult, PaperTable, as_fraction, as_number
from matrics._uncertainty.results import IntervalStatus
from matrics._wording import amount, capital, counted, in_percent
from matrics.typing import NumPyArray

__all__ = ["DiagnosticTable"]

SENTENCES = {
    **{int(status): status.sentence for status in IntervalStatus},
    # The table takes no squared weights, for which the sentence of the status asks.
    int(IntervalStatus.NOT_COUNTS): "cells are not whole numbers, and limits treat them as counts: those of weighted "
    "samples are others",
}


@dataclass(frozen=True, eq=False, repr=False)
class DiagnosticTable(PaperResult):
    """Measures of a diagnostic test with their limits, as from :func:`matrics.stats.diagnostic_table`.

    ``print`` writes the table. The columns of ``to_frame()`` are ``measure``, ``numerator``, ``denominator``,
    ``estimate``, ``low``, ``high``, ``method`` and ``status``.

    Parameters
    ----------
    names : tuple of str, length R
        The measure of each row: ten, and two more for each prevalence if there are several.
    estimate, low, high : array, shape (R,)
        The values and their limits; NaN where there are none.
    standard_error : array, shape (R,)
        Their standard errors.
    status : array of int, shape (R,)
        Why limits are missing or not to be relied on: a code of :class:`matrics.IntervalStatus`.
    method : tuple of str, length R
        How the limits of each row are formed; empty where the value is given.
    numerator, denominator : array, shape (R,)
        The samples of each proportion, such as 21 of 32; NaN in the other rows.
    counts : array, shape (2, 2)
        True positives and false negatives; false positives and true negatives.
    positive : str
        The positive class.
    level : float
        The confidence level.
    rest : dict of str to float
        The samples of each other true class: these count as negative, as do predictions of these classes.
    """

    names: tuple[str, ...]
    estimate: NumPyArray
    low: NumPyArray
    high: NumPyArray
    standard_error: NumPyArray
    status: NumPyArray
    method: tuple[str, ...]
    numerator: NumPyArray
    denominator: NumPyArray
    counts: NumPyArray
    positive: str
    level: float
    rest: dict[str, float] = field(default_factory=dict)

    def _columns(self) -> dict[str, Any]:
        columns = {"measure": list(self.names), "numerator": self.numerator, "denominator": self.denominator}
        columns |= {"estimate": self.estimate, "low": self.low, "high": self.high}
        return {**columns, "method": list(self.method), "status": self.status}

    def _table(self) -> PaperTable:
        head = ["measure", "n/N", "value", f"{in_percent(self.level)} limits", "method"]
        return PaperTable(self.title(), head, self.cells(), 3, self.remarks(), texts=(0, 4))

    def title(self) -> str:
        """The counts, in a sentence."""
        parts = ("true positive", "false negative", "false positive", "true negative")
        cells = [counted(size, what) for size, what in zip(self.counts.ravel().tolist(), parts, strict=True)]
        against = ""
        if len(self.rest) > 1:  # which of them are meant is not clear by itself
            against = f", against {', '.join(f'{name} ({amount(size)})' for name, size in self.rest.items())}"
        samples = counted(float(self.counts.sum()), "sample")
        return f"{samples}; positive: {self.positive}{against}. {', '.join(cells)}."

    def remarks(self) -> list[str]:
        """What the statuses of the rows say, in sentences."""
        reasons: dict[str, list[str]] = {}
        for name, status, value in zip(self.names, self.status.tolist(), self.estimate.tolist(), strict=True):
            if status != IntervalStatus.OK:
                reason = "0/0, as there are no such samples" if math.isnan(value) else SENTENCES[status]
                reasons.setdefault(reason, []).append(name)
        return [
            f"{'All rows' if len(names) == len(self.names) else capital(', '.join(names))}: {reason}."
            for reason, names in reasons.items()
        ]

    def cells(self) -> list[list[str]]:
        """The texts of each row: measure, samples, value, limits and method."""
        numbers = (self.numerator, self.denominator, self.estimate, self.low, self.high, self.standard_error)
        rows = zip(self.names, *(column.tolist() for column in numbers), self.method, strict=True)
        return [
            [name, as_fraction(part, whole), *as_number(value, low, high, error), method]
            for name, part, whole, value, low, high, error, method in rows
        ]
