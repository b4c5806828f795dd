"""The rows for matrics.frames.count(): the rows of a table, or groups of rows that a database has counted."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._quoting import quoted
from matrics._tables.any_table import open_table
from matrics._tables.columns import Where, at_position, coded, filtered, numbers_of, weights_of
from matrics._tables.tally import Sums, groups_itself, tally

__all__ = ["Numbers", "Rows"]

LARGEST = 2**53  # floating numbers contain all integers up to this number


class Numbers(NamedTuple):
    """The names of the columns of numbers: counts, or weights and optionally their squares."""

    counts: Hashable | None
    weight: Hashable | None
    squares: Hashable | None

    @property
    def names(self) -> list[Hashable]:
        """The names that are not None."""
        return [name for name in self if name is not None]


@dataclass(frozen=True)
class Rows:
    """Rows of labels, with their names for messages.

    Parameters
    ----------
    columns : mapping of names to columns
        Labels, groups and numbers.
    names : Numbers
        The columns of numbers.
    sums : Sums or None
        The columns of sums if a database has grouped the rows, else None.
    where : function of an int
        The name of the row at a position, for messages.
    """

    columns: Mapping[Any, Any]
    names: Numbers
    sums: Sums | None = None
    where: Where = at_position

    @classmethod
    def of(cls, frame: Any, keys: Sequence[Any], names: Numbers) -> Rows:
        """The rows of a table, or the groups of its rows by ``keys`` if the table is in a database."""
        if not groups_itself(frame):
            chosen = [*keys, *names.names]
            return cls(open_table("frame", frame, chosen).columns(chosen), names)
        squares_of = names.weight if names.squares is None else None
        grouped, sums = tally(frame, keys, names.names, squares_of=squares_of)
        chosen = [*keys, sums.rows, *sums.sums.values(), *sums.least.values(), *sums.known.values()]
        chosen += [] if sums.squares is None else [sums.squares]
        columns = open_table("frame", grouped, chosen).columns(chosen)
        rows = numbers_of(sums.rows, columns[sums.rows], "counts")
        return cls(columns, names, sums, lambda row: f"in a group of {rows[row]:,.0f} rows that the database counted")

    def without(self, name: Hashable, ignored: Sequence[Hashable]) -> Rows:
        """The rows without the ignored labels in a column."""
        if not ignored:
            return self
        column = coded(name, self.columns[name], self.where)
        kept = np.asarray([label not in ignored for label in column.listed()], bool)[column.codes]
        rows = np.flatnonzero(kept)
        columns = {key: filtered(values, kept) for key, values in self.columns.items()}
        return replace(self, columns=columns, where=lambda row: self.where(int(rows[row])))

    def numbers(self) -> dict[str, Array]:
        """The checked ``counts``, or ``weights`` and ``squares``, of all rows."""
        numbers = {}
        if self.names.counts is not None:
            numbers["counts"] = self._whole(self.names.counts)
        elif self.sums is not None and self.names.weight is None:
            numbers["counts"] = numbers_of(self.sums.rows, self.columns[self.sums.rows]).astype(np.int64)
        if self.names.weight is not None:
            numbers["weights"] = self._numbers(self.names.weight, "weights")
        if self.names.squares is not None:
            numbers["squares"] = self._numbers(self.names.squares, "squared weights").astype(np.float64)
        elif self.sums is not None and self.sums.squares is not None:
            numbers["squares"] = numbers_of(self.sums.squares, self.columns[self.sums.squares])
        return numbers

    def _whole(self, name: Hashable) -> Array:
        counts = self._numbers(name, "counts")
        wrong = (counts != np.floor(counts)) | (counts > LARGEST) if counts.dtype.kind == "f" else np.zeros(0, bool)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"column {quoted(name)}: expected counts, which are integers, got {counts[row]:g} {self.where(row)}"
            )
        return counts.astype(np.int64)

    def _numbers(self, name: Hashable, what: str) -> Array:
        """Numbers of at least 0, or their sums from a database; raises if a value is missing or invalid."""
        if self.sums is None:
            return weights_of(name, self.columns[name], what, self.where)
        rows, known = (numbers_of(column, self.columns[column]) for column in (self.sums.rows, self.sums.known[name]))
        if (missing := rows - known).any():
            row = int(missing.argmax())
            raise ValueError(
                f"column {quoted(name)}: expected a value in every row, got {missing.sum():,.0f} missing, the first "
                f"in a group of {rows[row]:,.0f} rows"
            )
        for column in (
            self.sums.least[name],
            self.sums.sums[name],
        ):  # an invalid number shows in the minimum or in the sum
            sums = weights_of(name, self.columns[column], what, lambda row: f"in a group of {rows[row]:,.0f} rows")
        return sums
