"""The table of a diagnostic test: its rows and its texts."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrics._engine.results import Result
from matrics._tables import latex, markdown
from matrics._tables.documents import write_docx
from matrics._tables.table import Library, imported
from matrics._uncertainty.results import IntervalStatus
from matrics._wording import amount, capital, counted, in_percent, with_limits
from matrics.typing import NumPyArray

__all__ = ["DiagnosticTable", "as_fraction", "as_number", "in_columns"]

WIDTH = 100  # of a line of text
SENTENCES = {
    **{int(status): status.sentence for status in IntervalStatus},
    # The table takes no squared weights, for which the sentence of the status asks.
    int(IntervalStatus.NOT_COUNTS): "cells are not whole numbers, and limits treat them as counts: those of weighted "
    "samples are others",
}


@dataclass(frozen=True, eq=False, repr=False)
class DiagnosticTable(Result):
    """Measures of a diagnostic test with their limits, as from :func:`matrics.stats.diagnostic_table`.

    ``print`` writes the table.

    Parameters
    ----------
    names : tuple of str, length R
        The measures, one a row: ten, and two more for each prevalence of several.
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

    def to_frame(self, *, library: Library = "pandas") -> Any:
        """The table as a data frame: ``measure``, ``numerator``, ``denominator``, ``estimate``, limits and more.

        Parameters
        ----------
        library : {"pandas", "polars"}
            Which library the data frame is of.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            A row for each measure.

        Raises
        ------
        ImportError
            The library is not installed.
        """
        columns = {"measure": list(self.names), "numerator": self.numerator, "denominator": self.denominator}
        columns |= {"estimate": self.estimate, "low": self.low, "high": self.high}
        return imported(library).DataFrame({**columns, "method": list(self.method), "status": self.status})

    def to_markdown(self) -> str:
        """The table in Markdown, with the counts above it and remarks below."""
        head = ["measure", "n/N", "value", f"{in_percent(self.level)} limits", "method"]
        return "\n\n".join([self.title(), markdown.table(head, self.cells(), texts=1), *self.remarks()])

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs: limits in brackets, and title and remarks as comments."""
        head = ["measure", "n/N", latex.escape(f"value [{in_percent(self.level)} limits]"), "method"]
        rows = []
        for name, counts, value, limits, how in self.cells():
            both = f" [{limits.replace(' to ', ', ')}]" if limits else ""
            rows.append([latex.escape(text).replace("-", "$-$") for text in (counts, value + both)])
            rows[-1] = [latex.escape(name), *rows[-1], latex.escape(how)]
        comments = [latex.comment(text) for text in (self.title(), *self.remarks())]
        return "\n".join([*comments, latex.tabular(head, rows, texts=1)])

    def to_docx(self, path: str | Path) -> Path:
        """Write the table into a document of Word, with the rules of a table in a journal.

        Parameters
        ----------
        path : str or Path
            The file, whose name ends with ``.docx``; an older file is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ModuleNotFoundError
            python-docx is not installed: it is in the extra ``docx``.
        ValueError
            The name of the file has another ending.
        """
        head = ["measure", "n/N", f"value ({in_percent(self.level)} limits)", "method"]
        rows = [
            [name, counts, value + (f" ({limits})" if limits else ""), method]
            for name, counts, value, limits, method in self.cells()
        ]
        return write_docx(path, self.title(), head, rows, self.remarks())

    def __str__(self) -> str:
        head = ["", "n/N", "value", f"{in_percent(self.level)} limits", "method"]
        lines = in_columns([head, *self.cells()], texts=(0, 4))
        remarks = [textwrap.fill(remark, WIDTH) for remark in self.remarks()]
        return "\n".join([textwrap.fill(self.title(), WIDTH), "", *lines, *([""] if remarks else []), *remarks])

    __repr__ = __str__

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


def as_fraction(part: float, whole: float) -> str:
    """The samples of a proportion, such as 21/32; empty where there are none."""
    if math.isnan(part):
        return ""
    places = 0 if float(part).is_integer() and float(whole).is_integer() else 1
    return f"{part:.{places}f}/{whole:.{places}f}"


def as_number(value: float, low: float = math.nan, high: float = math.nan, error: float = math.nan) -> tuple[str, str]:
    """A value and its limits, with as many digits as the error justifies."""
    text, *limits = with_limits(value, low, high, error)
    return text, "" if math.isnan(low + high) else " to ".join(limits)


def in_columns(rows: list[list[str]], *, texts: tuple[int, ...]) -> list[str]:
    """Lines of cells in columns: texts begin at the left, numbers end at the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            f"{cell:<{width}}" if k in texts else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
