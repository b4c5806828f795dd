"""Counts of the distinct rows of files: how many samples have the same groups, true label and predicted label.

Memory grows with the number of distinct rows, and not with the square of the number of classes, as full matrices exist
only for the block that is scored.
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
from matrics._files.labels import MISSING_CLASS, Order, as_labels, joined_order, label_classes, order_of
from matrics._files.missing import drop_missing_in_batch, left_out_text
from matrics._files.names import Names, required_columns
from matrics._files.notices import two_names
from matrics._memory_limits import MEMBER
from matrics._quoting import quoted
from matrics._tables.vocabularies import apart, foreign_predictions

if TYPE_CHECKING:
    from matrics._files.rows import Batch

Array = Any
Column = Any

MOST_BINS = 2**22  # combinations of values with a bin for each: 32 MiB
SLICE_ROWS = 2**16  # rows that are counted into bins at a time; they fit in the cache of a core
MOST_RANGE = 2**20  # up to this range of the integers of a batch, the integers themselves are the codes
MOST_PARTS = 16  # counted batches that are kept until they are merged
MOST_COUNT = 2**63 - 1
OF_VALUES = 4  # the distinct values of a column may take 1/4 of the limit of a member of an archive
OF_MEMORY = 4  # a matrix may take 1/4 of the memory
CGROUP = Path("/sys/fs/cgroup/memory.max")  # the limit of a container


class MissingValueError(Exception):
    """A row has no value in a column."""


class Values:
    """The distinct values of a column, numbered in the order in which they appear."""

    def __init__(self, normal: Callable[[str, Column], Column]) -> None:
        self._normal = normal  # the form in which values are compared: labels, or unchanged values
        self._checked: Any = None
        self.known: Column = None

    def numbers(self, name: str, values: Column) -> Array:
        """Return the number of each value; new values get new numbers."""
        values = _whole(self._normal(name, values))
        if columns.is_missing(values).any():
            raise MissingValueError
        self._agree(name, values.type)
        values = columns.as_int64(name, values) if self.known.type == pa.int64() else values.cast(self.known.type)
        indices = pc.index_in(values, value_set=self.known)
        if indices.null_count:
            new = pc.unique(values.filter(indices.is_null()))
            self.known = pa.concat_arrays([self.known, new])
            if self.known.nbytes > MEMBER.size // OF_VALUES:
                raise ValueError(
                    f"column {quoted(name)}: expected distinct values of at most {share_in_words(OF_VALUES)}, got "
                    f"more: {len(self.known):,} so far"
                )
            indices = pc.index_in(values, value_set=self.known)
        return indices.to_numpy()

    def check(self, name: str, kind: Any) -> None:
        """Raise if values of this type cannot be numbered, or have another type than earlier values."""
        if kind != self._checked:
            self._agree(name, self._normal(name, pa.array([], kind)).type)
            self._checked = kind

    def _agree(self, name: str, kind: Any) -> None:
        """Convert the known values to a type that also has values of ``kind``; raise if there is no such type."""
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
    """Adds up batches of rows; ``texts`` are the group columns of text that become numbers or times if every row is."""

    def __init__(self, names: Names, texts: frozenset[str] = frozenset()) -> None:
        self.names, self.texts = names, texts
        self.rows = self.left_out = 0
        self.missing: dict[str, tuple[int, str]] = {}  # the number of missing values, and the row of the first
        self.order: Order | None = None  # of ordered categories
        self._labels = {name: Values(as_labels) for name in names.labels}
        self._cells = {name: Values(_as_groups) for name in names.cells}
        self._bins: dict[str, Array] | None = {}  # sums for each combination of values, if combinations are few
        self._parts: list[Any] = []  # otherwise tables of the numbers of values, and of sums
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
        batch, left_out = drop_missing_in_batch(batch, self.names)
        self.left_out += left_out
        for name, known in self._labels.items():
            known.check(name, _plain(batch.table.schema.field(name).type))
        if not self.missing and len(batch.table):
            try:
                self._count(batch)
            except MissingValueError:
                self._note_missing(batch)
        elif len(batch.table):  # the error at the end has the number of missing values
            self._note_missing(batch)
        self.rows += rows

    def learn_classes(self, classes: Column) -> None:
        """Add classes, which need not occur in any row."""
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
            rows = slice(start, start + SLICE_ROWS)
            self._add_to_bins([table[code[rows]] for code, table in zip(codes, tables, strict=True)], sums, rows)

    def _numbered(self, column: Column, name: str, known: Values) -> tuple[Array, Array]:
        """The codes of a column, and the number of the value of each code."""
        known.check(name, _plain(column.type))
        codes, values = _codes(column)
        used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
        numbers = np.zeros(len(values), np.int32)
        numbers[used] = known.numbers(name, values.take(pa.array(used)))
        return codes, numbers

    def _make_room(self, sizes: list[int], sums: dict[str, Array]) -> None:
        """Give each combination of values a bin; ``sizes`` has the number of values of each column."""
        bins = self._bins or {}
        old_shape = bins["rows"].shape if bins else (0,) * len(sizes)
        shape = tuple(
            max(size, old_size if size <= old_size else 2 * old_size)
            for size, old_size in zip(sizes, old_shape, strict=True)
        )
        shape = shape if math.prod(shape) <= MOST_BINS else tuple(map(max, sizes, old_shape))
        shape = shape if math.prod(shape) <= MOST_BINS else tuple(sizes)
        kinds = {"rows": np.dtype(np.int64)} | {name: values.dtype for name, values in sums.items()}
        for name, kind in kinds.items():
            old_bins = bins.get(name)
            if old_bins is None or old_bins.shape != shape or (kind == np.float64 and old_bins.dtype != kind):
                bins[name] = np.zeros(shape, kind if old_bins is None else np.promote_types(kind, old_bins.dtype))
                if old_bins is not None:
                    within = tuple(slice(min(pair)) for pair in zip(shape, old_bins.shape, strict=True))
                    bins[name][within] = old_bins[within]
        self._bins = bins

    def _add_to_bins(self, numbers: list[Array], sums: dict[str, Array], rows: slice) -> None:
        bins = self._bins or {}
        places = numbers[0].astype(np.int64)
        for number, size in zip(numbers[1:], bins["rows"].shape[1:], strict=True):
            places *= size
            places += number
        np.add.at(bins["rows"].reshape(-1), places, 1)
        for name, values in sums.items():
            with np.errstate(over="ignore"):  # sums of weights are checked after all rows
                np.add.at(bins[name].reshape(-1), places, values[rows])

    def _as_parts(self) -> list[Any]:
        """The tables of numbers and sums; the bins become such a table."""
        if not self._bins:
            return self._parts
        used = np.nonzero(self._bins["rows"])
        return [_table(used, {name: bins[used] for name, bins in self._bins.items()})]

    def _sums(self, batch: Batch) -> dict[str, Array]:
        """The columns of sums: counts, and sums of weights and of squared weights."""
        names, sums = self.names, {}
        for name in (names.counts, names.weight, names.squares):
            if name is not None and columns.is_missing(columns.decoded(batch.table[name])).any():
                raise MissingValueError
        if names.counts is not None:
            sums["count"] = columns.counts_of(names.counts, batch.table[names.counts], batch.row, batch.where)
            self._admit(sums["count"])
        if names.weight is not None:
            sums["weight"] = columns.weights_of(names.weight, batch.table[names.weight], batch.row, batch.where)
            squares = names.squares
            sums["squares"] = (
                sums["weight"] ** 2
                if squares is None
                else columns.weights_of(squares, batch.table[squares], batch.row, batch.where)
            )
        return sums

    def _admit(self, counts: Array) -> None:
        """Raise if the sum of the counts exceeds 64 bits."""
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
        for name in required_columns(self.names):
            missing = columns.is_missing(columns.decoded(batch.table[name]), nan=name in self._labels)
            if missing.any():
                number, first = self.missing.get(name, (0, f"row {batch.row + missing.argmax() + 1} of {batch.where}"))
                self.missing[name] = number + int(missing.sum()), first

    def counted(self) -> SortedCounts:
        """Return the counts of all batches, sorted."""
        for name in required_columns(self.names):
            if name in self.missing:
                number, first = self.missing[name]
                raise ValueError(
                    f"column {quoted(name)}: expected a value in every row, got {number} missing, the first in {first}"
                )
        if self.rows == self.left_out:
            reason = f": {left_out_text(self.left_out, self.names)}" if self.left_out else ""
            raise ValueError(f"expected at least one row of labels, got none{reason}")
        if self._bins is None:
            self._merge()
        (table,) = self._as_parts()
        labels = label_classes([(name, known.known) for name, known in self._labels.items()], self.names, self.order)
        cells = [
            columns.typed(pa.chunked_array([values.known])).combine_chunks() if name in self.texts else values.known
            for name, values in self._cells.items()
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
            kind = "counts" if infinite == ["count"] else "weights"
            raise ValueError(f"expected {kind} with a finite sum, got an infinite sum")
        parts = None if self.names.clusters is None else _starts(ranks[: by + 1], len(table))
        result = SortedCounts(
            groups, labels.classes, starts, ranks[-2], ranks[-1], parts=parts, ordered=labels.ordered, **sums
        )
        if self.names.counts is not None and self.names.weight is None:
            crosstab.refuse_totals(result.true, result.pred, result.count, result.classes.to_pylist())
        if n * n > most_cells():
            raise ValueError(f"expected labels of few classes, got {n:,} classes: too many to lay out a matrix")
        return result


@dataclass(frozen=True)
class SortedCounts:
    """Counts sorted by group, true and predicted class, with a row for each combination that occurs."""

    groups: dict[str, Column]  # by column, the value of each group
    classes: Column
    starts: Array  # the first row of each group
    true: Array  # the index of the class of each row
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
        """The terms of the sum in each cell of a matrix: weights if samples have weights, counts otherwise."""
        return self.count if self.weight is None else self.weight

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The classes of the true labels, and the classes of the predicted labels."""
        text = list(map(str, self.classes.to_pylist()))
        occurs = self.cells != 0
        present = [np.unique(side[occurs]).tolist() for side in (self.true, self.pred)]
        true, pred = ([text[k] for k in side if text[k] != MISSING_CLASS] for side in present)
        return true, pred

    @property
    def foreign(self) -> list[str]:
        """The predicted labels of the first group in which no predicted label is a true label."""
        text, present = list(map(str, self.classes.to_pylist())), self.cells != 0
        groups = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.true))))
        indices = foreign_predictions(self.true[present], self.pred[present], groups[present])
        return [text[k] for k in indices.tolist() if text[k] != MISSING_CLASS]

    def renamed(self, positive: str | None) -> SortedCounts:
        """The counts of two classes if ``positive`` names a true and a predicted label: ``yes=pos``."""
        text = list(map(str, self.classes.to_pylist()))
        true, pred = ([text[k] for k in np.unique(side).tolist()] for side in (self.true, self.pred))
        pair = two_names(true, pred, positive)
        if pair is None:
            return self
        of_true, of_pred = (
            np.asarray([places.get(label, -1) for label in text]) for places in (pair.of_true, pair.of_pred)
        )
        classes = pa.array(pair.classes, pa.large_string())
        return replace(self, classes=classes, true=of_true[self.true], pred=of_pred[self.pred])

    @property
    def apart(self) -> tuple[tuple[int, str], ...]:
        """The classes that must not count as negative if another class is positive, and a description of their rows."""
        text = list(map(str, self.classes.to_pylist()))
        of_true, of_pred = (np.bincount(side, self.count, self.n) for side in (self.true, self.pred))
        return apart(text, of_true, of_pred, MISSING_CLASS)

    def stack(self, cells: Array) -> CountedStack:
        """The matrices of all groups: ``(groups, n, n)``, or ``(n, n)`` without groups."""
        shape = (len(self.starts), self.n, self.n) if self.groups else (self.n, self.n)
        return CountedStack(shape, self.starts, self.true, self.pred, cells)

    @property
    def clusters(self) -> CountedStack:
        """The matrices of the clusters of all groups: ``(clusters, n, n)``."""
        return CountedStack((len(self.parts), self.n, self.n), self.parts, self.true, self.pred, self.cells)


@dataclass(frozen=True)
class CountedStack:
    """Matrices ``(*B, n, n)`` that are created when they are read."""

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
        matrices = np.zeros((stop - start, n, n), self.dtype)
        of_matrix = np.repeat(np.arange(stop - start), np.diff(ends[start : stop + 1]))
        np.add.at(matrices, (of_matrix, self.true[rows], self.pred[rows]), self.cells[rows])
        return matrices


def most_cells() -> int:
    """The largest number of cells of a matrix: a quarter of the memory, and too few for a column of sample IDs."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return sizes.most_cells()
    limit = CGROUP.read_text().strip() if CGROUP.is_file() else "max"
    if limit.isdigit():
        memory = min(memory, int(limit))
    return min(sizes.most_cells(), memory // (8 * OF_MEMORY))


def _codes(column: Column) -> tuple[Array, Column]:
    """The codes of a column, and the values of the codes; a value need not occur."""
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
    """A table of the numbers of values, in columns named 0, 1, ..., and of the sums."""
    columns_of = {str(place): number.astype(np.int32, copy=False) for place, number in enumerate(numbers)}
    return pa.table(columns_of | sums)


def _grouped(table: Any) -> Any:
    """One row for each combination of numbers."""
    keys = [name for name in table.column_names if name.isdigit()]
    sums = [(name, "sum") for name in table.column_names[len(keys) :]]
    return table.group_by(keys, use_threads=False).aggregate(sums).rename_columns(table.column_names)


def _order(ranks: list[Array], sizes: list[int]) -> Array:
    """The indices that sort rows by the first of these ranks, then by the second, and so on."""
    if math.prod(sizes) > MOST_COUNT:
        return np.lexsort(ranks[::-1])
    key = ranks[0].astype(np.int64)
    for rank, size in zip(ranks[1:], sizes[1:], strict=True):
        key *= size
        key += rank
    return np.argsort(key, kind="stable")


def _starts(ranks: list[Array], rows: int) -> Array:
    """The first row of each run of equal ranks; without ranks, all rows are a single run."""
    is_first = np.zeros(rows, bool)
    is_first[:1] = True
    for rank in ranks:
        is_first[1:] |= rank[1:] != rank[:-1]
    return np.flatnonzero(is_first)


def _as_groups(name: str, column: Column) -> Column:
    del name  # any values that can be sorted can be groups
    column = columns.decoded(column)
    return pc.cast(column, pa.large_string()) if columns.is_text(column.type) else column


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _whole(column: Column) -> Column:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _called(kind: Any) -> str:
    return "text" if columns.is_text(kind) else str(kind)


def _wider(kind: Any, other: Any) -> Any:
    """The common type of both types, or None."""
    for belongs, wide in ((pa.types.is_integer, pa.int64()), (pa.types.is_floating, pa.float64())):
        if belongs(kind) and belongs(other):
            return wide
    return None
