"""Columns of data frames of pandas and Polars as numbers of their values; neither library is imported, nor pyarrow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import Array
from matrics.arrays.inputs import described, library
from matrics.catalogue.classes import Sorted
from matrics.quoting import quoted, quoted_list

LIBRARIES = ("pandas", "polars")


class Coded(NamedTuple):
    """A column as numbers of its values."""

    codes: Array  # (rows,)
    values: Any  # the values that occur, sorted, each once: a column of the same library and type
    categories: tuple[Any, ...] | None  # the categories of a categorical column, or those of an Enum, in their order

    def listed(self) -> list[Any]:
        """The values as objects of Python."""
        return list(self.values.to_list())


def group_names(by: Hashable | Iterable[Hashable]) -> tuple[Hashable, ...]:
    """The columns of the groups, of which one may be given by itself; ValueError if one is there twice."""
    names = tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
    if len(set(names)) != len(names):
        raise ValueError(f"by: expected different columns, got [{quoted_list(names)}]")
    return names


def check_frame(frame: Any, wanted: Sequence[Any]) -> None:
    """Raise unless it is a data frame with these columns, each once."""
    kind = type(frame).__name__
    if kind == "LazyFrame":  # which has columns and no values yet
        hint = f"collect it first, frame.select([{', '.join(map(repr, dict.fromkeys(wanted)))}]).collect()"
        raise TypeError(f"frame: expected a data frame of pandas or Polars, got a LazyFrame: {hint}")
    if library(frame) not in LIBRARIES or not hasattr(frame, "columns"):
        got = f"a {kind} of {library(frame)}" if library(frame) in LIBRARIES else described(frame)
        if library(frame) == "dask":
            got = f"a {kind} of dask, which matrics.integrations.dask.count_frame counts"
        raise TypeError(f"frame: expected a data frame of pandas or Polars, got {got}")
    check_columns(list(frame.columns), wanted)


def check_columns(there: list[Any], wanted: Iterable[Any]) -> None:
    """Raise unless all these columns are there, each once."""
    for name in wanted:
        if there.count(name) != 1:
            got = "several" if name in there else f"the columns {quoted_list(there, 20)}"
            raise ValueError(f"frame: expected a column {quoted(name)}, got {got}")


def refuse_missing(name: Any, column: Any) -> None:
    """Raise where a row has no value, or NaN."""
    if library(column) == "pandas":
        missing = np.asarray(column.isna(), bool)
    else:
        missing = column.is_null().to_numpy()
        if column.dtype.is_float():
            missing = missing | column.fill_null(0).is_nan().to_numpy()
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {missing.sum():,} missing, the first at "
            f"position {missing.argmax()}"
        )


def coded(name: Any, column: Any) -> Coded:
    """A column as numbers of its values; missing values raise an error."""
    refuse_missing(name, column)
    try:
        return _coded_by_pandas(column) if library(column) == "pandas" else _coded_by_polars(column)
    except Exception as error:  # of values that cannot be hashed or compared each library has errors of its own
        reason = str(error).partition("\n")[0]
        raise TypeError(
            f"column {quoted(name)}: expected values of one kind, such as numbers, text or times, got {column.dtype} "
            f"({reason})"
        ) from error


def _coded_by_pandas(column: Any) -> Coded:
    import pandas as pd

    codes, found = pd.factorize(column, sort=True)
    is_categorical = isinstance(column.dtype, pd.CategoricalDtype)
    categories = in_their_order(column.dtype) if is_categorical else None
    return Coded(np.asarray(codes, np.int64), pd.Series(found, name=column.name), categories)


def in_their_order(dtype: Any) -> tuple[Any, ...]:
    """The categories of a type of pandas, which are in alphabetical order where nobody has given another."""
    given = tuple(dtype.categories.tolist())
    is_alphabetical = not dtype.ordered and all(isinstance(label, str) for label in given)
    return Sorted.of(given) if is_alphabetical and given == tuple(sorted(given)) else given


def _coded_by_polars(column: Any) -> Coded:
    import polars as pl

    if column.dtype.is_nested():  # whose values are lists or dicts, which cannot be looked up
        raise TypeError("its values have parts")
    values = column.unique().sort()
    # Categories have numbers already, which are not always in the order of their names.
    if column.dtype in (pl.Categorical, pl.Enum):
        column, table = column.to_physical(), values.to_physical()
    else:
        table = values
    codes = column.replace_strict(table, pl.int_range(len(values), eager=True), return_dtype=pl.Int64)
    categories = tuple(values.dtype.categories) if values.dtype == pl.Enum else None
    return Coded(np.asarray(codes.to_numpy(), np.int64), values, categories)


def taken(values: Any, codes: Array) -> Any:
    """The values with these numbers, as a column of the same library and type."""
    if library(values) == "pandas":
        return values.take(codes).reset_index(drop=True)
    return values.gather(codes)


def numbered(keys: Array, limit: int) -> tuple[Array, Array]:
    """The keys in [0, limit) that occur, sorted, and the number of each key among them."""
    if limit > 4 * len(keys) + 2**16:
        found, numbers = np.unique(keys, return_inverse=True)
        return found, numbers
    present = np.zeros(limit, bool)  # which sorts nothing
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def weights_of(name: Any, column: Any) -> Array:
    """A column of weights as numbers."""
    refuse_missing(name, column)
    found = np.asarray(column.to_numpy())
    try:
        if found.dtype.kind in "biuf":
            return found
        # Nullable columns of pandas are objects, which may be numbers; times are none.
        return found.astype(np.float64, casting="unsafe" if found.dtype.hasobject else "same_kind")
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"column {quoted(name)}: expected weights, numbers of at least 0, got {column.dtype}"
        ) from error
