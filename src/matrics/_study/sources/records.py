"""Every number that the five sources print, with its true value."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Record:
    """A number that a source prints, or a statement that a number can confirm.

    Attributes
    ----------
    source : str
        ``"000"`` to ``"004"``.
    table : str
        The table of the source, or the subject of its text.
    matrix_name : str
        The confusion matrix, or the case.
    matrix : tuple of tuples, or None
        The cells, as in the source; None if the case has no matrix.
    rows : str
        The meaning of the rows: ``"true"`` or ``"predicted"`` classes, or ``"-"``.
    measure : str
        The name of the quantity, in the words of the source.
    printed : str
        The printed value. A statement that is true is 1, a difference that should vanish is 0.
    computed : float or None
        The true value, with 60 digits in the computation; None if it is undefined.
    verdict : str
        ``"match"``; ``"rounding"``, if the source truncates or the last digit differs by 1; ``"erratum"``, if the
        number is wrong; ``"ambiguous"``, if the text has two readings.
    note : str
        The reason for the verdict, or an empty text.
    """

    source: str
    table: str
    matrix_name: str
    matrix: Matrix | None
    rows: str
    measure: str
    printed: str
    computed: float | None
    verdict: str
    note: str

    @property
    def cells(self) -> Matrix:
        """The matrix; raises if the record has no matrix."""
        if self.matrix is None:
            raise ValueError(f"{self.matrix_name}: expected a record with a matrix, got none")
        return self.matrix


@functools.cache
def load() -> tuple[Record, ...]:
    """All records, in the order of the sources."""
    named = matrices()
    return tuple(
        Record(
            source=table["source"],
            table=table["table"],
            matrix_name=name,
            matrix=None if key is None else named[key],
            rows=table["rows"],
            measure=measure,
            printed=printed,
            computed=computed,
            verdict=verdict,
            note=note,
        )
        for table in _stored()["tables"]
        for name, key, measure, printed, computed, verdict, note in table["records"]
    )


@functools.cache
def matrices() -> dict[str, Matrix]:
    """The matrices of the records, by source and name: ``matrices()["000 M2"]``."""
    return {
        name: tuple(tuple(float(cell) for cell in row) for row in rows) for name, rows in _stored()["matrices"].items()
    }


@functools.cache
def _stored() -> Any:
    return json.loads(files("matrics._study.sources").joinpath("records.json").read_text(encoding="utf-8"))
