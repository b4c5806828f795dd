"""Columns as pyarrow arrays, from arrays of NumPy, sequences, and objects with Arrow's C interface."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._quoting import cut, quoted

__all__ = ["as_array", "coded", "filtered", "imported", "is_missing", "numbers"]


def imported() -> Any:
    """The module pyarrow; raises an ImportError with the command that installs it."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            "tables and columns need pyarrow unless they are of pandas or Polars: python -m pip install pyarrow"
        ) from error


def as_array(name: Any, column: Any) -> Any:
    """A pyarrow array, chunked or not, of a type that pyarrow can sort; raises a TypeError if it is not a column."""
    pa = imported()
    try:
        array = _converted(column, pa)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"column {quoted(name)}: expected values of the same kind, such as numbers, text or times, got {cut(error)}"
        ) from error
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    # pyarrow can neither sort nor look up these types.
    other = {"string_view": pa.large_string(), "binary_view": pa.large_binary(), "halffloat": pa.float32()}
    return array.cast(other.get(str(array.type), array.type))


def _converted(column: Any, pa: Any) -> Any:
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    if hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise TypeError(quoted(column))
    if not isinstance(column, (list, tuple, np.ndarray)):
        column = np.asarray(column) if hasattr(column, "__array__") else list(column)
    return pa.array(column, from_pandas=True)  # from_pandas reads NaN among texts as missing


def is_missing(column: Any) -> Array:
    """Whether each row is null or NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        if pa.types.is_floating(kind) or any(part.dictionary.null_count for part in _chunks(column)):
            column = column.cast(kind)
    if not column.null_count and not pa.types.is_floating(kind):
        return np.zeros(len(column), bool)
    return np.asarray(pc.is_null(column, nan_is_null=True))


def coded(column: Any) -> tuple[Array, Any, tuple[Any, ...] | None]:
    """The codes, the values and the categories of a column without missing values.

    A dictionary has categories if its type is ordered. Other dictionaries are only a compressed form of the column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries()
    parts = _chunks(column)
    indices = np.concatenate([np.empty(0, np.int64), *(np.asarray(part.indices) for part in parts)]).astype(np.int64)
    dictionary = parts[0].dictionary if parts else pa.array([], column.type.value_type)
    # A dictionary may contain unused values, and the same value twice.
    used = np.flatnonzero(np.bincount(indices, minlength=len(dictionary)))
    used_values = dictionary.take(pa.array(used))
    values = used_values.unique()
    if not column.type.ordered:
        values = values.take(pc.array_sort_indices(values))
    codes = np.zeros(len(dictionary), np.int64)
    codes[used] = np.asarray(pc.index_in(used_values, value_set=values))
    return codes[indices], values, tuple(dictionary.to_pylist()) if column.type.ordered else None


def filtered(column: Any, kept: Array) -> Any:
    """The rows of a column where ``kept`` is true."""
    import pyarrow as pa

    return column.filter(pa.array(kept))


def numbers(column: Any) -> Any:
    """The values of a column without missing values as an array of NumPy, decimals as numbers."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        try:
            column = column.cast(pa.int64())  # in SQL sums of integers are decimals
        except pa.ArrowInvalid:  # decimal places, or more digits than 64 bits
            column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


def _chunks(column: Any) -> list[Any]:
    return list(getattr(column, "chunks", [column]))
