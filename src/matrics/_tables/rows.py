"""The rows that matrics.frames.count() counts: those of a table, or groups of rows that a database has counted."""

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

LARGEST = 2**53  # up to here floating numbers are all integers


class Numbers(NamedTuple):
    """The names of the columns of numbers: counts, or weights and perhaps their squares."""

    counts: Hashable | None
    weight: Hashable | None
    squares: Hashable | None

    @property
    def names(self) -> list[Hashable]:
        """Those that are there."""
        return [name for name in self if name is not None]


@dataclass(frozen=True)
class Rows:
    """Rows of labels, with what messages call them.

    Parameters
    ----------
    columns : mapping of names to columns
        Labels, groups and numbers.
    wanted : Numbers
        The columns of numbers.
    sums : Sums or None
        If a database has grouped the rows, its columns of sums.
    where : function of an int
        What messages call the row at a position.
    """

    columns: Mapping[Any, Any]
    wanted: Numbers
    sums: Sums | None = None
    where: Where = at_position

    @classmethod
    def of(cls, frame: Any, keys: Sequence[Any], wanted: Numbers) -> Rows:
        """The rows of a table, or the groups that a database makes of its rows by ``keys``."""
        if not groups_itself(frame):
            names = [*keys, *wanted.names]
            return cls(open_table("frame", frame, names).columns(names), wanted)
        squares_of = wanted.weight if wanted.squares is None else None
        grouped, sums = tally(frame, keys, wanted.names, squares_of=squares_of)
        names = [*keys, sums.rows, *sums.sums.values(), *sums.least.values(), *sums.known.values()]
        names += [] if sums.squares is None else [sums.squares]
        columns = open_table("frame", grouped, names).columns(names)
        rows = numbers_of(sums.rows, columns[sums.rows], "counts")
        return cls(columns, wanted, sums, lambda row: f"in a group of {rows[row]:,.0f} rows, all counted as one")

    def without(self, name: Hashable, ignored: Sequence[Hashable]) -> Rows:
        """The rows with other labels in a column."""
        if not ignored:
            return self
        column = coded(name, self.columns[name], self.where)
        kept = np.asarray([label not in ignored for label in column.listed()], bool)[column.codes]
        rows = np.flatnonzero(kept)
        columns = {key: filtered(values, kept) for key, values in self.columns.items()}
        return replace(self, columns=columns, where=lambda row: self.where(int(rows[row])))

    def numbers(self) -> dict[str, Array]:
        """The ``counts``, or the ``weights`` and ``squares``, of all rows, checked."""
        found = {}
        if self.wanted.counts is not None:
            found["counts"] = self._whole(self.wanted.counts)
        elif self.sums is not None and self.wanted.weight is None:
            found["counts"] = numbers_of(self.sums.rows, self.columns[self.sums.rows]).astype(np.int64)
        if self.wanted.weight is not None:
            found["weights"] = self._numbers(self.wanted.weight, "weights")
        if self.wanted.squares is not None:
            found["squares"] = self._numbers(self.wanted.squares, "squared weights").astype(np.float64)
        elif self.sums is not None and self.sums.squares is not None:
            found["squares"] = numbers_of(self.sums.squares, self.columns[self.sums.squares])
        return found

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
        """Numbers of at least 0, or their sums if a database has added them up: it passes over missing ones."""
        if self.sums is None:
            return weights_of(name, self.columns[name], what, self.where)
        rows, known = (numbers_of(one, self.columns[one]) for one in (self.sums.rows, self.sums.known[name]))
        if (missing := rows - known).any():
            row = int(missing.argmax())
            raise ValueError(
                f"column {quoted(name)}: expected a value in every row, got {missing.sum():,.0f} missing, the first "
                f"in a group of {rows[row]:,.0f} rows"
            )
        for column in (self.sums.least[name], self.sums.sums[name]):  # of which one shows any wrong number
            found = weights_of(name, self.columns[column], what, lambda row: f"in a group of {rows[row]:,.0f} rows")
        return found
