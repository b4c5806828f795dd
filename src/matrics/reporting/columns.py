"""Columns of any table as numbers of their values: of pandas, Polars, pyarrow, or sequences in a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays.inputs import described, library
from matrics.quoting import cut, quoted
from matrics.tables.columns import coded
from matrics.typing import NumPyArray

__all__ = ["CodedColumn", "coded_column", "column_names", "numbers_of", "weights_of"]


class CodedColumn(NamedTuple):
    """A column as numbers of its values.

    Parameters
    ----------
    codes : array of int, shape (rows,)
        The number of the value of each row.
    values : tuple
        The values that occur, sorted.
    """

    codes: NumPyArray
    values: tuple[Any, ...]


def column_names(table: Any) -> list[Any]:
    """The names of the columns of a table.

    Raises
    ------
    TypeError
        It is no table, or one that has no values yet.
    """
    if library(table) == "pyarrow" and hasattr(table, "column_names"):
        return list(table.column_names)
    if library(table) in ("pandas", "polars") and type(table).__name__ == "DataFrame":
        return list(table.columns)
    if isinstance(table, Mapping):
        return list(table)
    hint = ": collect it first" if type(table).__name__ == "LazyFrame" else ""
    raise TypeError(
        "data: expected a data frame of pandas or Polars, a table of pyarrow, a mapping of columns or of confusion "
        f"matrices, or a path, got {described(table)}{hint}"
    )


def coded_column(table: Any, name: Any) -> CodedColumn:
    """One column of a table as numbers of its values.

    Raises
    ------
    TypeError
        The values are not of one kind, such as numbers, text or times.
    ValueError
        A value is missing.
    """
    column = table[name]
    if library(column) in ("pandas", "polars"):
        found = coded(name, column)
        return CodedColumn(found.codes, tuple(found.listed()))
    codes, values = _of_arrow(name, column) if library(column) == "pyarrow" else _of_sequence(name, column)
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError as error:
        raise TypeError(f"column {quoted(name)}: expected values of one kind, got {cut(error)}") from error
    place = np.empty(len(values), np.int64)
    place[order] = np.arange(len(values))
    return CodedColumn(place[codes], tuple(values[k] for k in order))


def _of_arrow(name: Any, column: Any) -> tuple[NumPyArray, list[Any]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # whose dictionary may have values that do not occur, or several times
        column = pc.cast(column, column.type.value_type)
    empty = pc.equal(column, "").to_numpy() if pa.types.is_string(column.type) else np.zeros(len(column), bool)
    missing = pc.is_null(column, nan_is_null=True).to_numpy() | np.equal(empty, True)
    _refuse_missing(name, missing)
    encoded = pc.dictionary_encode(column)
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    if isinstance(encoded, pa.ChunkedArray):  # of no rows, or of several dictionaries
        encoded = pa.concat_arrays(encoded.unify_dictionaries().chunks)
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_pylist()


def _of_sequence(name: Any, column: Any) -> tuple[NumPyArray, list[Any]]:
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    known: dict[Any, int] = {}
    try:
        codes = np.asarray([known.setdefault(value, len(known)) for value in values], np.int64)
    except TypeError as error:
        raise TypeError(f"column {quoted(name)}: expected numbers, text or times, got {cut(error)}") from error
    of_value = [value is None or value == "" or value != value for value in known]  # noqa: PLR0124 (NaN)
    _refuse_missing(name, np.asarray(of_value, bool)[codes])
    return codes, list(known)


def _refuse_missing(name: Any, missing: NumPyArray) -> None:
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {int(missing.sum()):,} missing, the first at "
            f"position {int(missing.argmax())}"
        )


def weights_of(table: Any, name: Any) -> NumPyArray:
    """One column of a table as weights: finite numbers from 0 on, not all 0.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        A value is missing, negative or infinite, or all are 0.
    """
    weights = numbers_of(table, name, "weights")
    wrong = ~((weights >= 0) & np.isfinite(weights))
    if wrong.any() or not weights.any():
        row = int(wrong.argmax())
        got = f"{weights[row]:g} at position {row}" if wrong.any() else "0 alone"
        raise ValueError(f"column {quoted(name)}: expected finite weights of at least 0, some of them above, got {got}")
    return weights


def numbers_of(table: Any, name: Any, what: str = "scores") -> NumPyArray:
    """One column of a table as floating numbers.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        A value is missing, or NaN.
    """
    column = table[name]
    try:
        found = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
        numbers = found.astype(np.float64, casting="unsafe" if found.dtype.hasobject else "same_kind")
    except (TypeError, ValueError) as error:
        raise TypeError(f"column {quoted(name)}: expected {what}, which are numbers, got {cut(error)}") from error
    _refuse_missing(name, np.isnan(numbers))
    return numbers
