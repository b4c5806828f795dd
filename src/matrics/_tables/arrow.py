"""Columns that pyarrow reads: its own, arrays of NumPy, sequences, and objects with Arrow's C interface."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._quoting import cut, quoted

__all__ = ["as_array", "coded", "filtered", "imported", "is_missing", "numbers"]


def imported() -> Any:
    """Import pyarrow; without it, raise an ImportError with the command to install it."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            "tables and columns that are of neither pandas nor Polars need pyarrow: python -m pip install pyarrow"
        ) from error


def as_array(name: Any, column: Any) -> Any:
    """An array of pyarrow, chunked or not, of a type that pyarrow can compute with; TypeError if it is no column."""
    pa = imported()
    try:
        found = _converted(column, pa)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"column {quoted(name)}: expected values of one kind, such as numbers, text or times, got {cut(error)}"
        ) from error
    if isinstance(found.type, pa.BaseExtensionType):
        found = found.cast(found.type.storage_type)
    # Types that pyarrow can neither sort nor look up.
    other = {"string_view": pa.large_string(), "binary_view": pa.large_binary(), "halffloat": pa.float32()}
    return found.cast(other.get(str(found.type), found.type))


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
    return pa.array(column, from_pandas=True)  # NaN among texts is a missing value


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

    A dictionary has categories if its type says that it is ordered. Other dictionaries are only a way of storage.
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
    # A dictionary may have values that no row has, and the same value twice.
    used = np.flatnonzero(np.bincount(indices, minlength=len(dictionary)))
    there = dictionary.take(pa.array(used))
    values = there.unique()
    if not column.type.ordered:
        values = values.take(pc.array_sort_indices(values))
    codes = np.zeros(len(dictionary), np.int64)
    codes[used] = np.asarray(pc.index_in(there, value_set=values))
    return codes[indices], values, tuple(dictionary.to_pylist()) if column.type.ordered else None


def filtered(column: Any, kept: Array) -> Any:
    """Select rows of a column."""
    import pyarrow as pa

    return column.filter(pa.array(kept))


def numbers(column: Any) -> Any:
    """The values of a column without missing values as an array of NumPy, decimals as numbers."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        try:
            column = column.cast(pa.int64())  # sums of integers are decimals in SQL
        except pa.ArrowInvalid:  # there are decimal places, or more digits than 64 bits have
            column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


def _chunks(column: Any) -> list[Any]:
    return list(getattr(column, "chunks", [column]))
