"""The different values of a column, numbered in the order in which they appear, batch after batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics.cli import labels
from matrics.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

Array = Any
Column = Any

MOST_RANGE = 2**22  # integers from the smallest to the largest, for which a table has a place each: 32 MiB


class MissingValueError(Exception):
    """A row has no value in this column."""


class Integers:
    """Integers as numbers from 0: looked up in a table of their whole range if it is small, else by hashing."""

    def __init__(self) -> None:
        self.known: Array = np.empty(0, np.int64)
        self._low = 0
        self._table: Array | None = np.empty(0, np.int64)  # of the integers from ``low``; -1: not yet known
        self._shift: int | None = None  # where the numbers are the integers plus this, no table is needed

    def find(self, values: Array) -> Array:
        """The number of every integer, or -1."""
        if not len(values):
            return np.empty(0, np.int64)
        self._widen(int(values.min()), int(values.max()))
        return self._look_up(values)

    def learn(self, values: Array) -> None:
        """Number integers that are not yet known, each of them once."""
        first = len(self.known)
        self.known = np.concatenate([self.known, values])
        if len(values):
            self._widen(int(values.min()), int(values.max()))
        if self._table is not None:
            self._table[values - self._low] = np.arange(first, len(self.known))
            self._note_shift()

    def encode(self, values: Array) -> Array:
        """The number of every integer; new ones are numbered in ascending order."""
        if not len(values):
            return np.empty(0, np.int64)
        places = self._places_of(values)
        if places is None:
            self._widen(int(values.min()), int(values.max()))
            places = self._places_of(values)
        if places is None or self._table is None:
            return self._encode_by_hashing(values)
        if self._shift is not None:
            return places + self._table[0] if self._table[0] else places
        numbers = self._table.take(places)
        if numbers.min() < 0:
            self.learn(np.flatnonzero(np.bincount(places[numbers < 0])) + self._low)
            numbers = self._table.take(places)
        return numbers

    def _places_of(self, values: Array) -> Array | None:
        """The places of integers in the table, if it has all of them."""
        if self._table is None or not len(self._table):
            return None
        is_plain = values.dtype == np.int64 and self._low == 0
        places = values if is_plain else np.subtract(values, self._low, dtype=np.int64)
        # What is below the table is beyond it without a sign: one comparison is enough.
        return places if places.view(np.uint64).max() < len(self._table) else None

    def _encode_by_hashing(self, values: Array) -> Array:
        hashed = pa.array(values.astype(np.int64, copy=False)).dictionary_encode()
        different = hashed.dictionary.to_numpy()
        self.learn(np.sort(different[self.find(different) < 0]))
        return self.find(different).take(hashed.indices.to_numpy().astype(np.intp))

    def _look_up(self, values: Array) -> Array:
        """The number of every integer, all of which are within the table if there is one."""
        if self._table is None:
            return _places(pa.array(values.astype(np.int64, copy=False)), pa.array(self.known))
        if self._shift is None:
            return self._table.take(np.subtract(values, self._low, dtype=np.int64))
        return np.add(values, self._shift, dtype=np.int64) if self._shift else values.astype(np.int64, copy=False)

    def _widen(self, low: int, high: int) -> None:
        """Let the table have a place for these integers, or give it up."""
        table, old_low = self._table, self._low
        if table is None or old_low <= low <= high < old_low + len(table):
            return
        if len(table):
            low, high = min(low, old_low), max(high, old_low + len(table) - 1)
        if high - low >= MOST_RANGE:
            self._table = self._shift = None
            return
        self._table, self._low = np.full(high - low + 1, -1), low
        self._table[old_low - low :][: len(table)] = table
        self._note_shift()

    def _note_shift(self) -> None:
        table = self._table
        is_even = table is not None and len(table) and np.array_equal(table, np.arange(len(table)) + table[0])
        self._shift = int(table[0]) - self._low if is_even and table[0] >= 0 else None  # type: ignore[index]


class Codes:
    """The values of one kind of column; ``normal`` says as what they are compared: as labels, or as they are."""

    def __init__(self, normal: Callable[[str, Column], Column]) -> None:
        self.normal = normal
        self.kind: Any = None
        self._type: Any = None  # of the latest column, as it was given
        self._integers = Integers()
        self._others: Column = None
        self._latest: tuple[Column, Column] | None = None  # a dictionary, and the number of each of its values

    def __len__(self) -> int:
        return len(self._integers.known if self._others is None else self._others)

    @property
    def known(self) -> Column:
        """All values so far, by number."""
        if self._others is not None:
            return self._others
        return pa.array(self._integers.known).cast(self.kind or pa.int64())

    def encode(self, name: str, column: Column) -> Array:
        """The number of every row's value; raises MissingValueError where a row has none."""
        if column.null_count:
            raise MissingValueError
        if column.type != self._type:
            self._agree(name, self.normal(name, pa.array([], _of_values(column.type))).type)
            self._type = column.type
        if str(_of_values(column.type)) == "string_view":  # which pyarrow cannot look up
            column = labels.decoded(column)
        if pa.types.is_uint64(column.type) and self._others is None:
            column = labels.as_int64(name, column)
        if pa.types.is_integer(column.type) and self._others is None:
            return self._integers.encode(column.to_numpy())
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        if self._latest is None or not self._latest[0].equals(column.dictionary):
            self._latest = column.dictionary, pa.array(self._find(name, column.dictionary))
        numbers = _taken(self._latest[1], column.indices)
        if len(numbers) and numbers.min() < 0:
            # A dictionary may have values that no row has: they are not there.
            indices = column.indices.to_numpy()[numbers < 0]
            used = np.flatnonzero(np.bincount(indices, minlength=len(column.dictionary)))
            self.learn(name, column.dictionary.take(pa.array(used)))
            self._latest = column.dictionary, pa.array(self._find(name, column.dictionary))
            numbers = _taken(self._latest[1], column.indices)
        return numbers

    def learn(self, name: str, values: Column) -> None:
        """Number values that are not yet known, in this order."""
        values = self.normal(name, values)
        if values.null_count or (labels.is_text(values.type) and pc.any(pc.equal(values, "")).as_py()):
            raise MissingValueError
        self._agree(name, values.type)
        values = _whole(values.cast(self.kind)).unique()  # two values of a dictionary may be the same
        new = values.filter(pa.array(self._find(name, values) < 0))
        if self._others is None:
            self._integers.learn(new.cast(pa.int64()).to_numpy())
        else:
            self._others = pa.concat_arrays([self._others, new])

    def _find(self, name: str, values: Column) -> Array:
        values = _whole(self.normal(name, values).cast(self.kind))
        if self._others is not None:
            return _places(values, self._others)
        numbers = self._integers.find(pc.fill_null(values.cast(pa.int64()), 0).to_numpy())
        return np.where(values.is_null().to_numpy(zero_copy_only=False), -1, numbers)

    def _agree(self, name: str, kind: Any) -> None:
        """Take a column of this type after those before it, of another file perhaps."""
        if kind == self.kind:
            return
        if self.kind is None:
            _refuse_unsortable(name, kind)
            self.kind = kind
            if not pa.types.is_integer(kind) or pa.types.is_uint64(kind):
                self._others = pa.array([], kind)
            return
        wider = _wider(self.kind, kind)
        if wider is None:
            raise ValueError(f"column {quoted(name)}: expected {self.kind}, as in the rows before, got {kind}")
        self._latest = None
        if self._others is not None:
            is_integer = pa.types.is_integer(wider)
            self._others = labels.as_int64(name, self._others) if is_integer else self._others.cast(wider)
        self.kind = wider


def _wider(one: Any, other: Any) -> Any:
    """The type of both, or nothing."""
    if labels.is_text(one) and labels.is_text(other):
        return one
    for belongs, wide in ((pa.types.is_integer, pa.int64()), (pa.types.is_floating, pa.float64())):
        if belongs(one) and belongs(other):
            return wide
    return None


def _of_values(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _refuse_unsortable(name: str, kind: Any) -> None:
    try:
        pc.sort_indices(pa.array([], kind))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:  # as of lists, structs and 16-bit floats
        raise ValueError(f"column {quoted(name)}: expected numbers, text or times, got {kind}") from error


def _whole(column: Column) -> Column:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _places(values: Column, known: Column) -> Array:
    """The place of each value among the known ones, or -1."""
    return pc.fill_null(pc.index_in(values, value_set=known, skip_nulls=True), -1).to_numpy().astype(np.int64)


def _taken(numbers: Column, indices: Column) -> Array:
    """The numbers at these places, which are within their dictionary: who reads a file checks that."""
    return pc.take(numbers, indices, boundscheck=False).to_numpy()
