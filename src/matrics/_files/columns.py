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


def counts_of(name: str, column: Column, row: int = 0, where: str = "the data") -> Any:
    """The number of samples of each row: 64-bit integers, or else floating-point numbers.

    ``row`` is the place of the first row in the file, for messages, and ``where`` the file.
    """
    column = decoded(column)
    try:
        if is_text(column.type):
            column = pc.cast(column, pa.int64() if all_match(column, "[0-9]+") else pa.float64())
        elif pa.types.is_decimal(column.type) and column.type.scale == 0:  # as SQL adds up integers
            column = pc.cast(column, pa.int64())
        if not (pa.types.is_integer(column.type) or _is_real(column.type)):
            raise ValueError(f"column {quoted(name)}: expected counts, which are numbers, got {column.type}")
        kind = pa.int64() if pa.types.is_integer(column.type) else pa.float64()
        counts = pc.cast(column, kind, safe=kind == pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {quoted(name)}: expected counts, which are numbers, got {_odd(column)}") from error
    return _not_negative(name, counts, "counts", row, where)


def weights_of(name: str, column: Column, row: int = 0, where: str = "the data") -> Any:
    """How much each row matters, as floating numbers."""
    column = decoded(column)
    try:
        weights = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"column {quoted(name)}: expected weights, which are numbers, got {_odd(column)}") from error
    return _not_negative(name, weights, "weights", row, where)


def _odd(column: Column) -> str:
    """The first text that is no number, or the type of a column that is no text."""
    if not is_text(column.type):
        return str(column.type)
    texts = pc.unique(column)
    return quoted(next((text for text in texts.to_pylist() if text is not None and not is_number(text)), None))


def is_number(text: str) -> bool:
    """Whether a text is a number for pyarrow, which accepts less than Python: neither blanks nor 1_0."""
    try:
        pc.cast(pa.scalar(text), pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _not_negative(name: str, numbers: Any, what: str, row: int, where: str) -> Any:
    wrong = ~((numbers >= 0) & np.isfinite(numbers))
    if wrong.any():
        place = int(wrong.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected finite {what} of at least 0, got {numbers[place]:.10g} in row "
            f"{row + place + 1} of {where}"
        )
    return numbers


def _is_real(kind: Any) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def refuse_missing(name: str, column: Column) -> None:
    """Raise where a row has no value."""
    missing = is_missing(column)
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {missing.sum()} missing, the first in row "
            f"{missing.argmax() + 1} of the data"
        )


def is_missing(column: Column, *, nan: bool = False) -> Any:
    """Whether each row has no value; empty text is missing as in a text file, and NaN if that is wanted."""
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
        raise ValueError(f"column {quoted(name)}: expected integers below 2**63, got one of at least that") from error


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
