"""From columns ``y_true`` and ``y_pred`` to one confusion matrix per group, in one count over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from matrics._backend import NUMPY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Column = Any

LABELS = ("y_true", "y_pred")
MOST_CELLS = 2**30  # 8 GiB of counts: with more, the labels are probably not classes but IDs of samples


@dataclass(frozen=True)
class GroupCounts:
    """One matrix per group: ``(groups, n, n)``, or ``(n, n)`` without groups."""

    stack: Any
    groups: dict[str, Column]
    classes: tuple[str, ...]


def count_csv(path: Path, header: Sequence[str], by: Sequence[str]) -> GroupCounts:
    """Count a CSV file."""
    wanted = _check_columns(header, by)
    table = pyarrow.csv.read_csv(
        path,
        # One thread: only then can pyarrow report the row of an error.
        read_options=pyarrow.csv.ReadOptions(use_threads=False),
        # Read labels as text, as pyarrow would guess a type for each column separately. Only an empty cell is a missing
        # value: a class may be named "null" or "NA".
        convert_options=pyarrow.csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(LABELS, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    for name in LABELS:
        position = table.column_names.index(name)
        table = table.set_column(position, name, pc.utf8_trim_whitespace(table[name]))
    for name, column in zip(LABELS, _numbers([table[name] for name in LABELS]), strict=True):
        table = table.set_column(table.column_names.index(name), name, column)
    return _count(table, by)


def _numbers(columns: list[Column]) -> list[Column]:
    """Convert text to integers if all of it is written like str(int); 01 and 0x10 are names, and stay text."""
    both = pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.string())
    if _all_match(both, "0|-?[1-9][0-9]*"):
        try:
            return [pc.cast(column, pa.int64()) for column in columns]
        except pa.ArrowInvalid:  # longer than 64 bits: treat as names
            return columns
    points = pc.match_substring(both, ".")
    if pc.any(points).as_py() and _all_match(both, r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"):
        decimal = both.filter(points)[0].as_py()
        raise ValueError(f"expected labels, integers or text, got decimal numbers such as {decimal!r}")
    return columns


def _all_match(column: Column, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, f"^({pattern})$")).as_py())


def count_parquet(path: Path, by: Sequence[str]) -> GroupCounts:
    """Count a Parquet file."""
    with pq.ParquetFile(path) as file:
        wanted = _check_columns(file.schema_arrow.names, by)
        return _count(file.read(columns=wanted), by)


def _check_columns(header: Sequence[str], by: Sequence[str]) -> list[str]:
    wanted = list(dict.fromkeys([*LABELS, *by]))
    there = ", ".join(repr(name) for name in header)
    for name in wanted:
        if name not in header:
            raise ValueError(f"expected the columns {', '.join(wanted)}, got no {name!r}; the columns are {there}")
        if list(header).count(name) > 1:
            raise ValueError(f"expected one column {name!r}, got several; the columns are {there}")
    return wanted


def _count(table: Any, by: Sequence[str]) -> GroupCounts:
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in table.column_names:
        _refuse_missing(name, table[name])
    true, pred = (_labels(name, table[name]) for name in LABELS)
    if true.type != pred.type:
        raise ValueError(f"expected y_true and y_pred to hold labels of one type, got {true.type} and {pred.type}")
    classes = _sorted_values(pa.chunked_array([*true.chunks, *pred.chunks]))
    n = len(classes)
    row_groups, groups = _group(table, by)
    number = int(row_groups.max()) + 1
    if number * n * n > MOST_CELLS:
        raise ValueError(f"expected labels of few classes, got {n:,} classes in {number:,} groups: too many to count")
    bins = (row_groups * n + _codes(true, classes)) * n + _codes(pred, classes)
    stack = NUMPY.count(bins, 1, number * n * n, None, dtype=np.int64).reshape(number, n, n)
    return GroupCounts(stack if by else stack[0], groups, tuple(map(str, classes.to_pylist())))


def _refuse_missing(name: str, column: Column) -> None:
    if column.null_count:
        row = int(np.flatnonzero(pc.is_null(column).to_numpy())[0]) + 1
        raise ValueError(
            f"column {name!r}: expected a value in every row, got {column.null_count} missing, the first in row {row} "
            "of the data"
        )


def _labels(name: str, column: Column) -> Column:
    """Labels as 64-bit integers or text."""
    column = _decoded(column)
    if pa.types.is_integer(column.type):
        return pc.cast(column, pa.int64())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) or pa.types.is_boolean(column.type):
        return pc.cast(column, pa.large_string())
    raise ValueError(f"column {name!r}: expected labels, integers or text, got {column.type}")


def _decoded(column: Column) -> Column:
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    # The type string_view of newer writers is the same text.
    return pc.cast(column, pa.large_string()) if str(column.type) == "string_view" else column


def _sorted_values(column: Column) -> Column:
    values = pc.unique(column)
    return values.take(pc.sort_indices(values))


def _codes(column: Column, values: Column) -> Any:
    """The index in ``values`` of each row's value."""
    return pc.index_in(column, value_set=values).to_numpy().astype(np.int64)


def _group(table: Any, by: Sequence[str]) -> tuple[Any, dict[str, Column]]:
    """The group of every row, with sorted groups, and for each column the value of every group."""
    found = np.zeros(table.num_rows, np.int64)
    groups: dict[str, Column] = {}
    for name in by:
        column = _decoded(table[name])
        try:
            values = _sorted_values(column)
        except pa.ArrowNotImplementedError as error:  # pyarrow cannot sort lists, structs or 16-bit floats
            raise ValueError(f"column {name!r}: expected numbers, text or times, got {column.type}") from error
        # Renumbered after each column, so that group numbers stay below the number of rows.
        pairs, found = np.unique(found * len(values) + _codes(column, values), return_inverse=True)
        before, here = np.divmod(pairs, len(values))
        groups = {known: column.take(pa.array(before)) for known, column in groups.items()}
        groups[name] = values.take(pa.array(here))
    return found, groups
