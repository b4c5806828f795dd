"""Columns of files: their types, missing values, and texts that are numbers or times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics._quoting import quoted

Column = Any


def typed(column: Column) -> Column:
    """Convert text to numbers or times if each text is a number or a time and different texts are different values."""
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
    """Whether every text matches this regular expression."""
    return bool(pc.all(pc.match_substring_regex(column, f"^({pattern})$")).as_py())


def counts_of(name: str, column: Column, row: int = 0, where: str = "the data") -> Any:
    """The number of samples of each row: 64-bit integers if possible, otherwise floating-point numbers.

    Error messages have the row number in ``where``, the name of a file, of which ``row`` is the index of the first row.
    """
    column = decoded(column)
    try:
        if is_text(column.type):
            column = pc.cast(column, pa.int64() if all_match(column, "[0-9]+") else pa.float64())
        elif pa.types.is_decimal(column.type) and column.type.scale == 0:  # the type of sums of integers in SQL
            column = pc.cast(column, pa.int64())
        if not (pa.types.is_integer(column.type) or _is_real(column.type)):
            raise ValueError(f"column {quoted(name)}: expected counts, which are numbers, got {column.type}")
        kind = pa.int64() if pa.types.is_integer(column.type) else pa.float64()
        counts = pc.cast(column, kind, safe=kind == pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {quoted(name)}: expected counts, which are numbers, got {_odd(column)}") from error
    return _checked(name, counts, "counts", row, where)


def weights_of(name: str, column: Column, row: int = 0, where: str = "the data") -> Any:
    """The weight of each row, as floating-point numbers."""
    column = decoded(column)
    try:
        weights = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"column {quoted(name)}: expected weights, which are numbers, got {_odd(column)}") from error
    return _checked(name, weights, "weights", row, where)


def _odd(column: Column) -> str:
    """The first text that is not a number, or the type of a column of other values."""
    if not is_text(column.type):
        return str(column.type)
    texts = pc.unique(column)
    return quoted(next((text for text in texts.to_pylist() if text is not None and not is_number(text)), None))


def is_number(text: str) -> bool:
    """Whether a text is a number for pyarrow, which, unlike Python, accepts neither blanks nor 1_0."""
    try:
        pc.cast(pa.scalar(text), pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _checked(name: str, numbers: Any, kind: str, row: int, where: str) -> Any:
    is_invalid = ~((numbers >= 0) & np.isfinite(numbers))
    if is_invalid.any():
        index = int(is_invalid.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected finite {kind} of at least 0, got {numbers[index]:.10g} in row "
            f"{row + index + 1} of {where}"
        )
    return numbers


def _is_real(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def refuse_missing(name: str, column: Column) -> None:
    """Raise if a row has no value."""
    missing = is_missing(column)
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {missing.sum()} missing, the first in row "
            f"{missing.argmax() + 1} of the data"
        )


def is_missing(column: Column, *, nan: bool = False) -> Any:
    """Whether each row has no value; empty text is missing as in a text file, and with ``nan`` also NaN."""
    if is_text(column.type):
        empty = pc.fill_null(pc.equal(column, ""), fill_value=True)
    else:
        empty = pc.is_null(column, nan_is_null=nan and pa.types.is_floating(column.type))
    return empty.to_numpy(zero_copy_only=False)


def as_int64(name: str, column: Column) -> Column:
    """Convert integers of any width to int64."""
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {quoted(name)}: expected integers below 2**63, got a larger integer") from error


def is_text(kind: Any) -> bool:
    """Whether this type of a column is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def decoded(column: Column) -> Column:
    """Return a column without a dictionary, and with text of the type string or large_string."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    # Newer writers of Parquet files use the type string_view for text.
    return pc.cast(column, pa.large_string()) if str(column.type) == "string_view" else column


def sorted_values(column: Column) -> Column:
    """Return the distinct values of a column, sorted."""
    values = pc.unique(column)
    return values.take(pc.sort_indices(values))


def codes(column: Column, values: Column) -> Any:
    """The index in ``values`` of each row's value."""
    return pc.index_in(column, value_set=values).to_numpy().astype(np.int64)


def group_rows(table: Any, by: Sequence[str]) -> tuple[Any, dict[str, Column]]:
    """The group of each row, numbered in sorted order, and by column the value of each group."""
    row_groups = np.zeros(table.num_rows, np.int64)
    groups: dict[str, Column] = {}
    for name in by:
        column = decoded(table[name])
        try:
            values = sorted_values(column)
        except pa.ArrowNotImplementedError as error:  # pyarrow cannot sort lists, structs or 16-bit floats
            raise ValueError(f"column {quoted(name)}: expected numbers, text or times, got {column.type}") from error
        # Groups are renumbered after each column so that their numbers stay below the number of rows.
        pairs, row_groups = np.unique(row_groups * len(values) + codes(column, values), return_inverse=True)
        previous, current = np.divmod(pairs, len(values))
        groups = {known: column.take(pa.array(previous)) for known, column in groups.items()}
        groups[name] = values.take(pa.array(current))
    return row_groups, groups
