"""Columns and data frames of pandas, Polars and pyarrow as arrays of NumPy."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from matrics._quoting import quoted_list

Array = Any


def is_frame(value: Any) -> bool:
    """Whether a value is a data frame of pandas or Polars, or a table or a record batch of pyarrow."""
    if isinstance(value, (np.ndarray, list, tuple)):
        return False
    # A lazy frame of Polars warns if its columns are read; it has neither of these methods.
    if hasattr(value, "to_numpy"):
        return hasattr(value, "columns")
    return hasattr(value, "to_pydict") and hasattr(value, "schema")


def column_names(frame: Any) -> list[Any]:
    """The names of the columns of a data frame."""
    return list(frame.columns if hasattr(frame, "to_numpy") else frame.schema.names)


def cells(frame: Any) -> Array:
    """The cells of a data frame, (rows, columns); columns of different types are converted separately."""
    if hasattr(frame, "iloc") and all(isinstance(dtype, np.dtype) and not dtype.hasobject for dtype in frame.dtypes):
        array: Array = frame.to_numpy()
        return array
    columns = [column(values) for values in columns_of(frame)]
    return np.stack(columns, axis=1) if columns else np.empty(tuple(frame.shape))


def columns_of(frame: Any) -> list[Any]:
    """The columns of a data frame, as columns of its library."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, k] for k in range(frame.shape[1])]
    return list(frame.get_columns() if hasattr(frame, "to_numpy") else frame.columns)


def column(values: Any) -> Array:
    """A column as an array; numbers that are objects, such as decimals, become an array of numbers."""
    return numbers(np.asarray(values))


def numbers(array: Array) -> Array:
    """An array of objects as numbers if all are booleans, integers or decimals; any other array unchanged.

    Whole decimals become integers: warehouses export integers so, with more digits than a floating number has.
    """
    if not array.dtype.hasobject or not array.size or not isinstance(array.flat[0], (bool, int, Decimal, np.integer)):
        return array
    kinds = {type(value) for value in array.flat}
    if kinds <= {bool, np.bool}:
        return array.astype(bool)
    if not all(issubclass(kind, (int, Decimal, np.integer)) for kind in kinds):
        return array
    is_whole = all(value.is_finite() and value == int(value) for value in array.flat if isinstance(value, Decimal))
    if not is_whole:
        return array.astype(np.float64)
    try:
        return np.asarray([int(value) for value in array.flat], np.int64).reshape(array.shape)
    except OverflowError:
        return array


def by_columns(frame: Any) -> Array:
    """A data frame of samples: the columns in sequence if they are labels, rows if they are class scores.

    A single column has no axis of columns.
    """
    array = cells(frame)
    if array.shape[1] == 1:
        return array[:, 0]
    return array if array.dtype.kind == "f" else array.T


def check_columns(**frames: Any) -> None:
    """Raise an error unless the data frames among the values, given by name, have equal columns in the same order."""
    names = {name: column_names(frame) for name, frame in frames.items() if is_frame(frame)}
    (first, columns), *others = names.items() if names else ((None, None),)
    for name, other in others:
        if other != columns:
            raise ValueError(
                "expected data frames with the same columns in the same order, got "
                f"{first} [{quoted_list(columns or [], 5)}] and {name} [{quoted_list(other, 5)}]; select the columns "
                f"of {name} in the order of {first}"
            )


def refuse_ambiguous(name: str, array: Array) -> None:
    """Raise an error for cells of a data frame that are whole floating numbers: labels of models, or class scores.

    Rows with equal sums are class scores: one-hot rows, or the votes of the trees of a forest.
    """
    if array.ndim != 2 or array.dtype.kind != "f" or array.size == 0 or np.any(array != np.round(array)):
        return
    sums = array.sum(axis=1)
    if np.any(sums != sums[0]):
        raise ValueError(
            f"{name}: expected labels as integers or class scores, got a data frame of whole floating numbers, which "
            f"could be the labels of {array.shape[1]} models or the scores of {array.shape[1]} classes: make labels "
            "integers (.astype(int)), or pass class scores as an array (.to_numpy())"
        )
