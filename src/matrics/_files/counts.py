"""Counts of the distinct rows of files: how many samples have the same groups, true label and predicted label.

Memory grows with the number of distinct rows, and not with the square of the classes: only the matrices of the block
that is scored are laid out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics._arrays import sizes
from matrics._files import columns, crosstab
from matrics._files.archives import share_in_words
from matrics._files.labels import MISSING_CLASS, Order, as_labels, found_labels, joined_order, order_of
from matrics._files.missing import said, settled_batch
from matrics._files.names import Names, wanted_columns
from matrics._files.notices import two_names
from matrics._memory_limits import MEMBER
from matrics._quoting import quoted
from matrics._tables.vocabularies import apart, foreign_predictions

if TYPE_CHECKING:
    from matrics._files.rows import Batch

Array = Any
Column = Any

MOST_BINS = 2**22  # combinations of values that get a bin each: 32 MiB
SLICE_ROWS = 2**16  # rows counted into bins at a time; they fit in a core's cache
MOST_RANGE = 2**20  # integers from the smallest to the largest of a batch that are their own codes
MOST_PARTS = 16  # batches that are counted before they are merged
MOST_COUNT = 2**63 - 1
OF_VALUES = 4  # the different values of a column may take this part of the limit of a member of an archive
OF_MEMORY = 4  # a matrix may take this part of the memory
CGROUP = Path("/sys/fs/cgroup/memory.max")  # the limit of a container


class MissingValueError(Exception):
    """A row has no value in a column."""


class Values:
    """The different values of one kind of column, numbered in the order in which they appear."""

    def __init__(self, normal: Callable[[str, Column], Column]) -> None:
        self._normal = normal  # how values are compared: as labels, or unchanged
        self._checked: Any = None
        self.known: Column = None

    def numbers(self, name: str, values: Column) -> Array:
        """Return the number of each value; new values get new numbers."""
        values = _whole(self._normal(name, values))
        if columns.is_missing(values).any():
            raise MissingValueError
        self._agree(name, values.type)
        values = columns.as_int64(name, values) if self.known.type == pa.int64() else values.cast(self.known.type)
        found = pc.index_in(values, value_set=self.known)
        if found.null_count:
            new = pc.unique(values.filter(found.is_null()))
            self.known = pa.concat_arrays([self.known, new])
            if self.known.nbytes > MEMBER.size // OF_VALUES:
                raise ValueError(
                    f"column {quoted(name)}: expected different values of at most {share_in_words(OF_VALUES)}, got "
                    f"more: {len(self.known):,} so far"
                )
            found = pc.index_in(values, value_set=self.known)
        return found.to_numpy()

    def check(self, name: str, kind: Any) -> None:
        """Raise if values of this type cannot be numbered, or have another type than earlier values."""
        if kind != self._checked:
            self._agree(name, self._normal(name, pa.array([], kind)).type)
            self._checked = kind

    def _agree(self, name: str, kind: Any) -> None:
        """Take values of this type after those before them, perhaps of another file."""
        if self.known is None:
            try:
                pc.sort_indices(pa.array([], kind))
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:  # such as lists, structs and 16-bit floats
                raise ValueError(f"column {quoted(name)}: expected numbers, text or times, got {kind}") from error
            self.known = pa.array([], kind)
        elif kind != self.known.type:
            wider = _wider(self.known.type, kind)
            if wider is None:
                before, now = _called(self.known.type), _called(kind)
                raise ValueError(f"column {quoted(name)}: expected {before}, as in the rows before, got {now}")
            is_integer = pa.types.is_integer(wider)
            self.known = columns.as_int64(name, self.known) if is_integer else self.known.cast(wider)


class Counts:
    """Adds up batches of rows; ``texts`` are groups of text that may be numbers or times, which all of it decides."""

    def __init__(self, names: Names, texts: frozenset[str] = frozenset()) -> None:
        self.names, self.texts = names, texts
        self.rows = self.left_out = 0
        self.missing: dict[str, tuple[int, str]] = {}  # the number of missing values, and the row of the first
        self.order: Order | None = None  # of ordered categories
        self._labels = {name: Values(as_labels) for name in names.labels}
        self._cells = {name: Values(_as_groups) for name in names.cells}
        self._bins: dict[str, Array] | None = {}  # sums in a bin for each combination, as long as those are few
        self._parts: list[Any] = []  # else tables of the numbers of values, and of sums
        self._pending = 0  # rows of the parts that are not merged
        self._total = 0

    @property
    def _keys(self) -> list[tuple[str, Values]]:
        return [*self._cells.items(), *self._labels.items()]

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch."""
        rows = len(batch.table)
        for name in self.names.labels:
            self.order = joined_order(self.order, order_of(batch.table[name]))
        batch, left_out = settled_batch(batch, self.names)
        self.left_out += left_out
        for name, known in self._labels.items():
            known.check(name, _plain(batch.table.schema.field(name).type))
        if not self.missing and len(batch.table):
            try:
                self._count(batch)
            except MissingValueError:
                self._note_missing(batch)
        elif len(batch.table):  # an error with their number follows
            self._note_missing(batch)
        self.rows += rows

    def learn_classes(self, classes: Column) -> None:
        """Classes that are there whether a row has them or not."""
        for name, known in self._labels.items():
            known.numbers(name, classes)

    def _count(self, batch: Batch) -> None:
        codes, tables = zip(
            *(self._numbered(batch.table[name], name, known) for name, known in self._keys), strict=True
        )
        sums = self._sums(batch)
        sizes = [len(known.known) for _, known in self._keys]
        if self._bins is not None and math.prod(sizes) > MOST_BINS:
            self._parts = self._as_parts()
            self._bins = None
        if self._bins is None:
            numbers = [table[code] for code, table in zip(codes, tables, strict=True)]
            self._append(_grouped(_table(numbers, {"rows": np.ones(len(batch.table), np.int64), **sums})))
            return
        self._make_room(sizes, sums)
        for start in range(0, len(batch.table), SLICE_ROWS):
            some = slice(start, start + SLICE_ROWS)
            self._add_to_bins([table[code[some]] for code, table in zip(codes, tables, strict=True)], sums, some)

    def _numbered(self, column: Column, name: str, known: Values) -> tuple[Array, Array]:
        """Codes of a column, and the number that each code stands for."""
        known.check(name, _plain(column.type))
        codes, values = _codes(column)
        used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
        numbers = np.zeros(len(values), np.int32)
        numbers[used] = known.numbers(name, values.take(pa.array(used)))
        return codes, numbers

    def _make_room(self, sizes: list[int], sums: dict[str, Array]) -> None:
        """Make a bin for each combination of values of the columns; ``sizes`` are their numbers of values."""
        bins = self._bins or {}
        there = bins["rows"].shape if bins else (0,) * len(sizes)
        shape = tuple(max(size, old if size <= old else 2 * old) for size, old in zip(sizes, there, strict=True))
        shape = shape if math.prod(shape) <= MOST_BINS else tuple(map(max, sizes, there))
        shape = shape if math.prod(shape) <= MOST_BINS else tuple(sizes)
        kinds = {"rows": np.dtype(np.int64)} | {name: values.dtype for name, values in sums.items()}
        for name, kind in kinds.items():
            old = bins.get(name)
            if old is None or old.shape != shape or (kind == np.float64 and old.dtype != kind):
                bins[name] = np.zeros(shape, kind if old is None else np.promote_types(kind, old.dtype))
                if old is not None:
                    within = tuple(slice(min(pair)) for pair in zip(shape, old.shape, strict=True))
                    bins[name][within] = old[within]
        self._bins = bins

    def _add_to_bins(self, numbers: list[Array], sums: dict[str, Array], some: slice) -> None:
        bins = self._bins or {}
        places = numbers[0].astype(np.int64)
        for number, size in zip(numbers[1:], bins["rows"].shape[1:], strict=True):
            places *= size
            places += number
        np.add.at(bins["rows"].reshape(-1), places, 1)
        for name, values in sums.items():
            with np.errstate(over="ignore"):  # of weights; their sum is checked after all rows
                np.add.at(bins[name].reshape(-1), places, values[some])

    def _as_parts(self) -> list[Any]:
        """The tables of numbers and sums; bins are one of them."""
        if not self._bins:
            return self._parts
        used = np.nonzero(self._bins["rows"])
        return [_table(used, {name: bins[used] for name, bins in self._bins.items()})]

    def _sums(self, batch: Batch) -> dict[str, Array]:
        """The columns of sums: counts, and sums of weights and of squared weights."""
        names, found = self.names, {}
        for name in (names.counts, names.weight, names.squares):
            if name is not None and columns.is_missing(columns.decoded(batch.table[name])).any():
                raise MissingValueError
        if names.counts is not None:
            found["count"] = columns.counts_of(names.counts, batch.table[names.counts], batch.row, batch.where)
            self._admit(found["count"])
        if names.weight is not None:
            found["weight"] = columns.weights_of(names.weight, batch.table[names.weight], batch.row, batch.where)
            squares = names.squares
            found["squares"] = (
                found["weight"] ** 2
                if squares is None
                else columns.weights_of(squares, batch.table[squares], batch.row, batch.where)
            )
        return found

    def _admit(self, counts: Array) -> None:
        """Raise where 64 bits cannot add up counts."""
        if counts.dtype == np.int64:
            self._total += (int((counts >> 32).sum()) << 32) + int((counts & (2**32 - 1)).sum())
            if self._total > MOST_COUNT:
                raise ValueError(f"expected counts whose sum is below 2**63, got {self._total:,} so far")

    def _append(self, part: Any) -> None:
        self._parts.append(part)
        self._pending += len(part) if len(self._parts) > 1 else 0
        if len(self._parts) > MOST_PARTS or self._pending > 2 * len(self._parts[0]) + MOST_BINS:
            self._merge()

    def _merge(self) -> None:
        self._parts, self._pending = [_grouped(pa.concat_tables(self._parts, promote_options="permissive"))], 0

    def _note_missing(self, batch: Batch) -> None:
        for name in wanted_columns(self.names):
            missing = columns.is_missing(columns.decoded(batch.table[name]), nan=name in self._labels)
            if missing.any():
                number, first = self.missing.get(name, (0, f"row {batch.row + missing.argmax() + 1} of {batch.where}"))
                self.missing[name] = number + int(missing.sum()), first

    def counted(self) -> SortedCounts:
        """Return everything that was added, sorted."""
        for name in wanted_columns(self.names):
            if name in self.missing:
                number, first = self.missing[name]
                raise ValueError(
                    f"column {quoted(name)}: expected a value in every row, got {number} missing, the first in {first}"
                )
        if self.rows == self.left_out:
            without = f": {said(self.left_out, self.names)}" if self.left_out else ""
            raise ValueError(f"expected at least one row of labels, got none{without}")
        if self._bins is None:
            self._merge()
        (table,) = self._as_parts()
        labels = found_labels([(name, known.known) for name, known in self._labels.items()], self.names, self.order)
        cells = [
            columns.typed(pa.chunked_array([of.known])).combine_chunks() if name in self.texts else of.known
            for name, of in self._cells.items()
        ]
        ranks = []
        for place, values in enumerate(cells):
            rank = np.empty(len(values), np.int32)
            rank[pc.sort_indices(values).to_numpy()] = np.arange(len(values), dtype=np.int32)
            ranks.append(rank[table[str(place)].to_numpy()])
        for place, codes in enumerate(labels.codes, len(cells)):
            ranks.append(codes.astype(np.int32)[table[str(place)].to_numpy()])
        n = len(labels.classes)
        order = _order(ranks, [*map(len, cells), n, n])
        ranks = [rank[order] for rank in ranks]
        places = [pc.sort_indices(values).to_numpy() for values in cells]
        by = len(self.names.by)
        starts = _starts(ranks[:by], len(table))
        groups = {name: cells[k].take(pa.array(places[k][ranks[k][starts]])) for k, name in enumerate(self.names.by)}
        sums = {name: table[name].to_numpy()[order] for name in table.column_names[len(ranks) :]}
        sums.setdefault("count", sums["rows"])
        del sums["rows"]
        with np.errstate(over="ignore"):
            infinite = [name for name, values in sums.items() if not np.isfinite(values.sum(dtype=np.float64))]
        if infinite:
            what = "counts" if infinite == ["count"] else "weights"
            raise ValueError(f"expected {what} with a finite sum, got some whose sum is infinite")
        parts = None if self.names.clusters is None else _starts(ranks[: by + 1], len(table))
        found = SortedCounts(
            groups, labels.classes, starts, ranks[-2], ranks[-1], parts=parts, ordered=labels.ordered, **sums
        )
        if self.names.counts is not None and self.names.weight is None:
            crosstab.refuse_totals(found.true, found.pred, found.count, found.classes.to_pylist())
        if n * n > most_cells():
            raise ValueError(f"expected labels of few classes, got {n:,} classes: too many to lay out a matrix")
        return found


@dataclass(frozen=True)
class SortedCounts:
    """Counts sorted by group, true and predicted class: one row for each combination that occurs."""

    groups: dict[str, Column]  # the value of every group
    classes: Column
    starts: Array  # the first row of each group
    true: Array  # the place of each row's class among all classes
    pred: Array
    count: Array
    weight: Array = None  # sums of weights, if samples have any
    squares: Array = None
    parts: Array = None  # the first row of each cluster
    ordered: bool = False  # whether the order of the classes has a meaning

    @property
    def n(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def samples(self) -> float:
        """The sum of all counts."""
        return self.count.sum(dtype=np.float64) if self.count.dtype == np.float64 else int(self.count.sum())

    @property
    def cells(self) -> Array:
        """What each cell of a matrix adds up: weights, if samples have any, or else counts."""
        return self.count if self.weight is None else self.weight

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The classes that occur among the true, and those among the predicted labels."""
        text = list(map(str, self.classes.to_pylist()))
        wanted = self.cells != 0
        there = [np.unique(side[wanted]).tolist() for side in (self.true, self.pred)]
        true, pred = ([text[k] for k in side if text[k] != MISSING_CLASS] for side in there)
        return true, pred

    @property
    def foreign(self) -> list[str]:
        """The predicted labels of the first group that predicts no true label at all, in words of its own."""
        text, there = list(map(str, self.classes.to_pylist())), self.cells != 0
        groups = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.true))))
        found = foreign_predictions(self.true[there], self.pred[there], groups[there])
        return [text[k] for k in found.tolist() if text[k] != MISSING_CLASS]

    def renamed(self, positive: str | None) -> SortedCounts:
        """The same of two classes where ``positive`` has the names of a true and a predicted label: ``yes=pos``."""
        text = list(map(str, self.classes.to_pylist()))
        true, pred = ([text[k] for k in np.unique(side).tolist()] for side in (self.true, self.pred))
        found = two_names(true, pred, positive)
        if found is None:
            return self
        of_true, of_pred = (
            np.asarray([places.get(label, -1) for label in text]) for places in (found.of_true, found.of_pred)
        )
        classes = pa.array(found.classes, pa.large_string())
        return replace(self, classes=classes, true=of_true[self.true], pred=of_pred[self.pred])

    @property
    def apart(self) -> tuple[tuple[int, str], ...]:
        """The classes that are not to be counted as negative beside another one, and what their rows are."""
        text = list(map(str, self.classes.to_pylist()))
        of_true, of_pred = (np.bincount(side, self.count, self.n) for side in (self.true, self.pred))
        return apart(text, of_true, of_pred, MISSING_CLASS)

    def stack(self, cells: Array) -> CountedStack:
        """The matrices of all groups, ``(groups, n, n)``, or ``(n, n)`` without groups."""
        shape = (len(self.starts), self.n, self.n) if self.groups else (self.n, self.n)
        return CountedStack(shape, self.starts, self.true, self.pred, cells)

    @property
    def clusters(self) -> CountedStack:
        """The matrices of the clusters of all groups: ``(clusters, n, n)``."""
        return CountedStack((len(self.parts), self.n, self.n), self.parts, self.true, self.pred, self.cells)


@dataclass(frozen=True)
class CountedStack:
    """Matrices ``(*B, n, n)`` that are laid out when they are read."""

    shape: tuple[int, ...]
    starts: Array
    true: Array
    pred: Array
    cells: Array
    is_read_in_any_order: ClassVar[bool] = True

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the cells."""
        dtype: np.dtype[Any] = self.cells.dtype
        return dtype

    def read(self, start: int, stop: int) -> Array:
        """The matrices from ``start`` to ``stop``: ``(stop - start, n, n)``."""
        n = self.shape[-1]
        ends = np.append(self.starts, len(self.cells))
        rows = slice(int(ends[start]), int(ends[stop]))
        found = np.zeros((stop - start, n, n), self.dtype)
        of_matrix = np.repeat(np.arange(stop - start), np.diff(ends[start : stop + 1]))
        np.add.at(found, (of_matrix, self.true[rows], self.pred[rows]), self.cells[rows])
        return found


def most_cells() -> int:
    """The largest number of cells of a matrix: a quarter of the memory, and below that of a column of sample IDs."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return sizes.most_cells()
    limit = CGROUP.read_text().strip() if CGROUP.is_file() else "max"
    if limit.isdigit():
        memory = min(memory, int(limit))
    return min(sizes.most_cells(), memory // (8 * OF_MEMORY))


def _codes(column: Column) -> tuple[Array, Column]:
    """A column as numbers of its values, and the values; some may not occur."""
    if column.null_count:
        raise MissingValueError
    if str(_plain(column.type)) == "string_view":  # pyarrow cannot look up such values
        column = columns.decoded(column)
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        numbers = column.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < MOST_RANGE:
            return numbers.astype(np.int64) - low, pa.array(np.arange(low, high + 1)).cast(column.type)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return column.indices.to_numpy(), column.dictionary


def _table(numbers: Sequence[Array], sums: dict[str, Array]) -> Any:
    """The numbers of values by place, and sums by name."""
    columns_of = {str(place): number.astype(np.int32, copy=False) for place, number in enumerate(numbers)}
    return pa.table(columns_of | sums)


def _grouped(table: Any) -> Any:
    """One row for each combination of numbers."""
    keys = [name for name in table.column_names if name.isdigit()]
    sums = [(name, "sum") for name in table.column_names[len(keys) :]]
    return table.group_by(keys, use_threads=False).aggregate(sums).rename_columns(table.column_names)


def _order(ranks: list[Array], sizes: list[int]) -> Array:
    """The order of rows by these ranks, the first one first."""
    if math.prod(sizes) > MOST_COUNT:
        return np.lexsort(ranks[::-1])
    key = ranks[0].astype(np.int64)
    for rank, size in zip(ranks[1:], sizes[1:], strict=True):
        key *= size
        key += rank
    return np.argsort(key, kind="stable")


def _starts(ranks: list[Array], rows: int) -> Array:
    """The first row of each run of equal ranks; without ranks there is one run."""
    is_first = np.zeros(rows, bool)
    is_first[:1] = True
    for rank in ranks:
        is_first[1:] |= rank[1:] != rank[:-1]
    return np.flatnonzero(is_first)


def _as_groups(name: str, column: Column) -> Column:
    del name  # all values that can be sorted can be groups
    column = columns.decoded(column)
    return pc.cast(column, pa.large_string()) if columns.is_text(column.type) else column


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _whole(column: Column) -> Column:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _called(kind: Any) -> str:
    return "text" if columns.is_text(kind) else str(kind)


def _wider(one: Any, other: Any) -> Any:
    """The common type of both, or None."""
    for belongs, wide in ((pa.types.is_integer, pa.int64()), (pa.types.is_floating, pa.float64())):
        if belongs(one) and belongs(other):
            return wide
    return None
