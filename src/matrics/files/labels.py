"""From two columns of labels to one confusion matrix per group, in one count over all rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics.arrays import NUMPY
from matrics.quoting import cut, quoted, quoted_list
from matrics.tables.counts import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matrics.files.text import Row

Column = Any

CHUNK_ROWS = 2**10

# What booleans are called, and 0 and 1 as text: as those of Parquet, and as those that Python writes. The last is true.
BOOLEANS = (("0", "1"), ("false", "true"), ("False", "True"))


@dataclass(frozen=True)
class Names:
    """The columns of the labels and of the groups."""

    true: str = "y_true"
    pred: str = "y_pred"
    by: tuple[str, ...] = ()
    clusters: str | None = None  # whose values tell which rows are not independent of each other
    counts: str | None = field(default=None, kw_only=True)  # how many samples each row stands for
    weight: str | None = field(default=None, kw_only=True)  # how much each sample matters

    def check(self) -> None:
        """Raise if one column is named twice."""
        if self.true == self.pred:
            raise ValueError(
                f"--pred: expected another column than that of the true labels, got {quoted(self.pred)} for both"
            )
        if self.clusters in {*self.by, *self.labels}:
            raise ValueError(
                f"--clusters: expected another column than those of the labels and of --by, got {quoted(self.clusters)}"
            )
        if self.counts in {*self.by, *self.labels}:
            raise ValueError(
                f"--counts: expected another column than those of the labels and of --by, got {quoted(self.counts)}"
            )
        if self.weight in {*self.by, *self.labels, self.clusters} - {None}:
            raise ValueError(
                f"--weight: expected another column than those of labels, groups and samples, got {quoted(self.weight)}"
            )
        if None not in (self.counts, self.weight):
            raise ValueError(f"--counts: expected nothing beside --weight, got {quoted(self.counts)}")
        if None not in (self.counts, self.clusters):
            raise ValueError(f"--counts: expected nothing beside --clusters, got {quoted(self.counts)}")

    @property
    def in_pieces(self) -> bool:
        """Whether rows can be counted as they come; those of clusters, and with weights, are all read first."""
        return self.clusters is None and self.weight is None

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of groups, and of clusters."""
        return self.by if self.clusters is None else (*self.by, self.clusters)

    @property
    def labels(self) -> tuple[str, ...]:
        """Both columns of labels."""
        return self.true, self.pred

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers."""
        return () if self.weight is None else (self.weight,)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of text that may be empty, and is never a number."""
        return ()


@dataclass(frozen=True)
class GroupCounts:
    """One matrix per group: ``(groups, n, n)``, or ``(n, n)`` without groups."""

    stack: Any
    groups: dict[str, Column]
    classes: tuple[str, ...]
    ordered: bool  # whether the classes have an order of their own, as numbers have
    clusters: Any = None  # (clusters of all groups, n, n), group by group
    starts: Any = None  # the first cluster of each group
    squares: Any = None  # of the shape of the stack: squared weights, where it is one of weights

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The classes that occur among the true, and those among the predicted labels."""
        n = len(self.classes)
        cells = (self.stack != 0).reshape(-1, n, n).any(axis=0)
        true, pred = ([self.classes[k] for k in np.flatnonzero(cells.any(axis=axis)).tolist()] for axis in (1, 0))
        return true, pred


@dataclass(frozen=True)
class Labelled:
    """The rows of a file of labels as numbers: of classes, of the group and of the sample of each row."""

    true: Any
    pred: Any
    groups: Any
    samples: Any
    classes: tuple[str, ...]
    ordered: bool  # whether the classes have an order of their own, as numbers have
    names: list[str]  # of the groups
    sample_names: list[str]
    weights: Any = None  # of each row, or none


def rows_table(rows: Iterator[Row], header: Sequence[str], names: Names) -> Any:
    """The columns of the rows of a text file that follow its header."""
    wanted = check_columns(header, names)
    kinds = {name: pa.float64() if name in names.numbers else pa.large_string() for name in wanted}
    table = pa.Table.from_batches(row_chunks(rows, header, names), pa.schema(kinds))
    columns = dict(zip(wanted, table.columns, strict=True))
    others = [name for name in names.cells if name not in names.labels]
    columns.update({name: typed(columns[name]) for name in others})
    if names.labels:
        columns.update(zip(names.labels, as_numbers([columns[name] for name in names.labels]), strict=True))
    return pa.table(columns)


def row_chunks(rows: Iterator[Row], header: Sequence[str], names: Names) -> Iterator[Any]:
    """Some rows of a text file at a time, as batches of text, and of numbers where only those are expected."""
    wanted = check_columns(header, names)
    # In chunks, as pyarrow takes a tenth of the memory of texts in Python.
    for chunk in iter(lambda: list(itertools.islice(rows, CHUNK_ROWS)), []):
        columns = {}
        for name in wanted:
            position = list(header).index(name)
            texts = [row[position] for _, row in chunk]
            columns[name] = pa.array(texts, pa.large_string())
            refused = r"[\r\n]" if name in names.texts else r"^$|[\r\n]"
            wrong = pc.index(pc.match_substring_regex(columns[name], refused), value=True).as_py()
            if wrong >= 0:
                # Two quotes that are left open enclose all rows between them.
                got = f"the line break in {texts[wrong][:40]!r}" if texts[wrong] else "an empty cell"
                raise ValueError(f"line {chunk[wrong][0]}: expected a value in column {quoted(name)}, got {got}")
            if name in names.numbers:
                columns[name] = _parsed(name, columns[name], chunk)
            elif name == names.counts:
                _parsed(name, columns[name], chunk)  # which stay text, as a floating number is not every integer
        yield pa.record_batch(columns)


def _parsed(name: str, column: Column, rows: list[Row]) -> Column:
    """Text as floating numbers."""
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        for (line, _), text in zip(rows, column, strict=True):
            try:
                pc.cast(text, pa.float64())
            except pa.ArrowInvalid as error:
                raise ValueError(
                    f"line {line}: expected a number in column {quoted(name)}, got {text.as_py()[:40]!r}"
                ) from error
        raise


def as_numbers(columns: list[Column]) -> list[Column]:
    """Convert text to integers if all of it is written like str(int); 01 and 0x10 are names, and stay text."""
    both = pc.unique(pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.large_string()))
    if all_match(both, "0|-?[1-9][0-9]*"):
        try:
            return [pc.cast(column, pa.int64()) for column in columns]
        except pa.ArrowInvalid:  # longer than 64 bits: treat as names
            return columns
    points = pc.match_substring(both, ".")
    if pc.any(points).as_py() and all_match(both, r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"):
        decimal = both.filter(points)[0].as_py()
        raise ValueError(f"expected labels, integers or text, got decimal numbers such as {quoted(decimal)}")
    return columns


def typed(column: Column) -> Column:
    """Convert text to numbers or times if all of it is such, and no two texts are the same number or time."""
    texts = pc.unique(column)
    for kind in (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
        try:
            values = pc.cast(texts, kind)
        except pa.ArrowInvalid:
            continue
        if len(pc.unique(values)) == len(texts):
            return pc.cast(column, kind)
    return column


def all_match(column: Column, pattern: str) -> bool:
    """Whether every text is written like this."""
    return bool(pc.all(pc.match_substring_regex(column, f"^({pattern})$")).as_py())


def numbered(table: Any, names: Names) -> Labelled:
    """The rows of a table as numbers."""
    true, pred, classes = _coded(table, names)
    groups, values = group_rows(table, names.by)
    number = int(groups.max()) + 1
    titles = [", ".join(str(values[name][k].as_py()) for name in names.by) for k in range(number)]
    samples, known = group_rows(table, (names.clusters,)) if names.clusters else (groups, {})
    sample_names = [str(value) for column in known.values() for value in column.to_pylist()]
    text = tuple(map(str, classes.to_pylist()))
    weights = None if names.weight is None else weights_of(table, names.weight)
    return Labelled(true, pred, groups, samples, text, is_ordered(classes), titles, sample_names, weights)


def wanted_columns(names: Names) -> list[str]:
    """The columns that are read."""
    counts = [] if names.counts is None else [names.counts]
    return list(dict.fromkeys([*names.labels, *names.texts, *names.numbers, *counts, *names.cells]))


def check_columns(header: Sequence[str], names: Names) -> list[str]:
    """The columns that are read, all of which must be there, and once."""
    wanted = wanted_columns(names)
    there = quoted_list(header, 20)
    for name in wanted:
        if name not in header:
            raise ValueError(
                f"expected the columns {cut(', '.join(wanted))}, got no {quoted(name)}; the columns are {there}"
            )
        if list(header).count(name) > 1:
            raise ValueError(f"expected one column {quoted(name)}, got several; the columns are {there}")
    return wanted


def _coded(table: Any, names: Names) -> tuple[Any, Any, Column]:
    """True and predicted labels as numbers of classes, and the classes."""
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in table.column_names:
        refuse_missing(name, decoded(table[name]))
    true, pred = (as_labels(name, table[name]) for name in names.labels)
    if true.type != pred.type:
        raise ValueError(
            f"expected {names.true} and {names.pred} to hold labels of one type, got {true.type} and {pred.type}"
        )
    classes = sorted_values(pa.chunked_array([*true.chunks, *pred.chunks]))
    return codes(true, classes), codes(pred, classes), classes


def count_table(table: Any, names: Names) -> GroupCounts:
    """Count a whole table, group by group and, if there are any, cluster by cluster."""
    true, pred, classes = _coded(table, names)
    n = len(classes)
    row_groups, groups = group_rows(table, names.by)
    row_parts = row_groups if names.clusters is None else group_rows(table, names.cells)[0]
    number = int(row_parts.max()) + 1
    if number * n * n > MOST_CELLS:
        parts = "groups" if names.clusters is None else "clusters"
        raise ValueError(f"expected labels of few classes, got {n:,} classes in {number:,} {parts}: too many to count")
    bins = (row_parts * n + true) * n + pred
    clusters = starts = squares = None
    if names.weight is None:
        stack = NUMPY.count(bins, 1, number * n * n, None, dtype=np.int64).reshape(number, n, n)
    else:
        weights = weights_of(table, names.weight)
        stack, squares = (
            NUMPY.count(bins, 1, number * n * n, w, dtype=np.float64).reshape(number, n, n)
            for w in (weights, weights**2)
        )
    if names.clusters is not None:
        # Parts are sorted by group first, so the clusters of a group are neighbours.
        group_of_part = np.zeros(number, np.int64)
        group_of_part[row_parts] = row_groups
        starts = np.flatnonzero(np.diff(group_of_part, prepend=-1))
        clusters, stack = stack, np.add.reduceat(stack, starts, axis=0)
    text = tuple(map(str, classes.to_pylist()))
    stack, squares = (x if names.by or x is None else x[0] for x in (stack, squares))
    return GroupCounts(stack, groups, text, is_ordered(classes), clusters, starts, squares)


def weights_of(table: Any, name: str) -> Any:
    """The weights of all rows, as floating numbers."""
    column = decoded(table[name])
    try:
        weights = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"column {quoted(name)}: expected weights, which are numbers, got {column.type}") from error
    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected finite weights of at least 0, got {weights[row]:g} in row {row + 1} of "
            "the data"
        )
    return weights


def refuse_missing(name: str, column: Column) -> None:
    """Raise where a row has no value."""
    missing = is_missing(column)
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {missing.sum()} missing, the first in row "
            f"{missing.argmax() + 1} of the data"
        )


def is_missing(column: Column) -> Any:
    """Whether each row has no value; empty text is missing as an empty cell of a text file is."""
    empty = pc.fill_null(pc.equal(column, ""), fill_value=True) if is_text(column.type) else pc.is_null(column)
    return empty.to_numpy(zero_copy_only=False)


def as_labels(name: str, column: Column) -> Column:
    """Labels as 64-bit integers or text."""
    column = decoded(column)
    if pa.types.is_integer(column.type):
        return as_int64(name, column)
    if is_text(column.type) or pa.types.is_boolean(column.type):
        return pc.cast(column, pa.large_string())
    raise ValueError(f"column {quoted(name)}: expected labels, integers or text, got {column.type}")


def as_int64(name: str, column: Column) -> Column:
    """Integers of any width as those of 64 bits with a sign."""
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {quoted(name)}: expected integers below 2**63, got one of at least that") from error


def is_ordered(classes: Column) -> bool:
    """Whether sorted labels have an order of their own: numbers and booleans. Texts are in that of the alphabet."""
    return not is_text(classes.type) or any(set(classes.to_pylist()) <= set(pair) for pair in BOOLEANS)


def is_text(kind: Any) -> bool:
    """Whether this type of a column is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def decoded(column: Column) -> Column:
    """Return a column without a dictionary, and text as one of two types."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    # The type string_view of newer writers is the same text.
    return pc.cast(column, pa.large_string()) if str(column.type) == "string_view" else column


def sorted_values(column: Column) -> Column:
    """Return the different values of a column."""
    values = pc.unique(column)
    return values.take(pc.sort_indices(values))


def codes(column: Column, values: Column) -> Any:
    """The index in ``values`` of each row's value."""
    return pc.index_in(column, value_set=values).to_numpy().astype(np.int64)


def group_rows(table: Any, by: Sequence[str]) -> tuple[Any, dict[str, Column]]:
    """The group of every row, with sorted groups, and for each column the value of every group."""
    found = np.zeros(table.num_rows, np.int64)
    groups: dict[str, Column] = {}
    for name in by:
        column = decoded(table[name])
        try:
            values = sorted_values(column)
        except pa.ArrowNotImplementedError as error:  # pyarrow cannot sort lists, structs or 16-bit floats
            raise ValueError(f"column {quoted(name)}: expected numbers, text or times, got {column.type}") from error
        # Renumbered after each column, so that group numbers stay below the number of rows.
        pairs, found = np.unique(found * len(values) + codes(column, values), return_inverse=True)
        before, here = np.divmod(pairs, len(values))
        groups = {known: column.take(pa.array(before)) for known, column in groups.items()}
        groups[name] = values.take(pa.array(here))
    return found, groups
