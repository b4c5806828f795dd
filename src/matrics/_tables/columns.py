"""Columns of a table as numbers, as codes of their values, or as classes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from matrics._arrays import Array
from matrics._arrays.inputs import library
from matrics._catalogue.classes import Categories, Sorted
from matrics._counting.codes import check_classes
from matrics._quoting import quoted, quoted_list
from matrics._tables import arrow

__all__ = [
    "Coded",
    "Where",
    "as_column",
    "at_position",
    "class_codes",
    "coded",
    "combined",
    "common_order",
    "filtered",
    "given_labels",
    "in_their_order",
    "listed",
    "numbers_of",
    "sorted_labels",
    "taken",
    "weights_of",
]


#: A function from the position of a row to its name in messages: "at position 3", or "in row 4 of labels.csv".
Where: TypeAlias = Callable[[int], str]

Parts: TypeAlias = tuple[Array, Any, tuple[Any, ...] | None]  # codes, values and categories


def at_position(row: int) -> str:
    """The name of a row of a table in memory, for messages."""
    return f"at position {row}"


class Coded(NamedTuple):
    """A column as codes: the position of each row's value among the sorted values.

    Parameters
    ----------
    codes : array of int, shape (rows,)
        The position of each row's value in ``values``.
    values : column
        The distinct values as a column of the same library and type. They are sorted, or in the order of
        ``categories``.
    categories : tuple or None
        All categories in their order, for a categorical column of pandas, an Enum of Polars or an ordered dictionary of
        pyarrow.
    """

    codes: Array
    values: Any
    categories: tuple[Any, ...] | None

    def listed(self) -> list[Any]:
        """The values as Python objects."""
        return listed(self.values)


def as_column(name: Any, column: Any) -> Any:
    """Any column as a series of pandas or Polars, or as an array of pyarrow."""
    kind = library(column)
    if kind == "pandas":
        import pandas as pd

        return column if isinstance(column, pd.Series) else pd.Series(column)
    return column if kind == "polars" else arrow.as_array(name, column)


def coded(name: Any, column: Any, where: Where = at_position) -> Coded:
    """Any column as codes.

    Parameters
    ----------
    name : column name
        The name of the column in messages.
    column : column
        A series of pandas or Polars, an array of pyarrow, chunked or not, or with a dictionary, an array of NumPy, or a
        sequence.
    where : function of an int, optional
        The name of the row at a position, for messages.

    Returns
    -------
    Coded
        The code of each row, and the sorted values.

    Raises
    ------
    ImportError
        The column needs pyarrow, which is not installed.
    TypeError
        The values have different kinds, or no order.
    ValueError
        A value is missing: None, NaN or empty text.
    """
    column = as_column(name, column)
    _refuse(name, _is_missing(column), where)
    try:
        codes, values, categories = _CODED.get(library(column), arrow.coded)(column)
    except Exception as error:  # each library has other errors for values that cannot be compared
        reason = str(error).partition("\n")[0]
        raise TypeError(
            f"column {quoted(name)}: expected values of the same kind, such as numbers, text or times, got "
            f"{_type_of(column)} ({reason})"
        ) from error
    # Empty text is the first of sorted values, but not of categories.
    first = listed(values[:1] if categories is None else values)
    if "" in first:
        _refuse(name, codes == first.index(""), where)
    return Coded(codes, values, categories)


def _coded_by_pandas(column: Any) -> Parts:
    import pandas as pd

    codes, values = pd.factorize(column, sort=True)
    is_categorical = isinstance(column.dtype, pd.CategoricalDtype)
    categories = in_their_order(column.dtype) if is_categorical else None
    return np.asarray(codes, np.int64), pd.Series(values, name=column.name), categories


def in_their_order(dtype: Any) -> tuple[Any, ...]:
    """The categories of a pandas type; a Sorted tuple if they only have the alphabetical order of the default."""
    categories = tuple(dtype.categories.tolist())
    is_alphabetical = not dtype.ordered and all(isinstance(label, str) for label in categories)
    if is_alphabetical and categories == tuple(sorted(categories)):
        return Sorted.of(categories)
    return categories if dtype.ordered else Categories(categories)


def _coded_by_polars(column: Any) -> Parts:
    import polars as pl

    if column.dtype.is_nested():  # replace_strict does not support lists and structs
        raise TypeError("its values have parts")
    values = column.unique().sort()
    # The physical numbers of categories in Polars are not always in the order of their names.
    if column.dtype in (pl.Categorical, pl.Enum):
        column, table = column.to_physical(), values.to_physical()
    else:
        table = values
    codes = column.replace_strict(table, pl.int_range(len(values), eager=True), return_dtype=pl.Int64)
    categories = tuple(values.dtype.categories) if values.dtype == pl.Enum else None
    return np.asarray(codes.to_numpy(), np.int64), values, categories


_CODED: dict[str, Callable[[Any], Parts]] = {"pandas": _coded_by_pandas, "polars": _coded_by_polars}


def combined(columns: Sequence[Coded], rows: int) -> tuple[Array, list[Array]]:
    """The combinations of values that occur in several columns, sorted by the first column, then by the second.

    Returns
    -------
    tuple
        The combination of each row (rows,), and for each column the code of its value in each combination. Without
        columns there is a single combination.
    """
    combinations, places, number = np.zeros(rows, np.int64), list[Array](), 1
    for column in columns:
        size = len(column.values)
        # Combinations are renumbered after each column, so that their number does not exceed that of rows.
        keys, combinations = _numbered(combinations * size + column.codes, number * size)
        before, here = np.divmod(keys, max(size, 1))
        places = [*(codes[before] for codes in places), here]
        number = len(keys)
    return combinations, places


def _numbered(keys: Array, limit: int) -> tuple[Array, Array]:
    """The keys in [0, limit) that occur, sorted, and the number of each key among them."""
    if limit > 4 * len(keys) + 2**16:
        distinct, numbers = np.unique(keys, return_inverse=True)
        return distinct, numbers
    present = np.zeros(limit, bool)  # faster than sorting
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def taken(values: Any, positions: Array) -> Any:
    """The values at these positions, as a column of the same library and type."""
    if library(values) == "pandas":
        return values.take(positions).reset_index(drop=True)
    return values.gather(positions) if library(values) == "polars" else values.take(positions)


def filtered(column: Any, kept: Array) -> Any:
    """The rows of a column where ``kept`` is true."""
    if library(column) == "pandas":
        return column[kept]
    return column.filter(kept) if library(column) == "polars" else arrow.filtered(column, kept)


def listed(values: Any) -> list[Any]:
    """The values of a column as Python objects."""
    return list(values.to_pylist() if library(values) == "pyarrow" else values.to_list())


def numbers_of(name: Any, column: Any, what: str = "scores", where: Where = at_position) -> Array:
    """A column of numbers as 64-bit floating numbers; raises if a value is missing. ``what`` is for messages."""
    return _numbers(name, column, what, where).astype(np.float64, copy=False)


def weights_of(name: Any, column: Any, what: str = "weights", where: Where = at_position) -> Array:
    """A column of finite numbers of at least 0, such as weights or counts; ``what`` is their name in messages.

    The result has 64-bit integers for integers, else 64-bit floating numbers.
    """
    weights = _numbers(name, column, what, where)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected finite {what} of at least 0, got {weights[row]:g} {where(row)}"
        )
    return weights


def _numbers(name: Any, column: Any, what: str, where: Where) -> Array:
    """A column of numbers as 64-bit integers or floating numbers."""
    column = as_column(name, column)
    _refuse(name, _is_missing(column), where)
    array = np.asarray(arrow.numbers(column) if library(column) == "pyarrow" else column.to_numpy())
    # Nullable columns and decimals become arrays of objects.
    if array.dtype.hasobject and all(isinstance(value, (Real, Decimal)) for value in array):
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"column {quoted(name)}: expected {what}, which are numbers, got {_type_of(column)}")
    is_wide = array.dtype.kind == "f" or (array.dtype == np.uint64 and (array >= 2**63).any())
    numbers = array.astype(np.float64 if is_wide else np.int64, copy=False)
    _refuse(name, np.isnan(numbers), where)  # nullable floating numbers of pandas may contain NaN
    return numbers


def _is_missing(column: Any) -> Array:
    """Whether each row is None or NaN."""
    if library(column) == "pandas":
        return np.asarray(column.isna(), bool)
    if library(column) == "pyarrow":
        return arrow.is_missing(column)
    missing = column.is_null().to_numpy()
    return missing | column.fill_null(0).is_nan().to_numpy() if column.dtype.is_float() else missing


def _refuse(name: Any, missing: Array, where: Where) -> None:
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {np.count_nonzero(missing):,} missing, the "
            f"first {where(int(missing.argmax()))}"
        )


def _type_of(column: Any) -> Any:
    return column.type if library(column) == "pyarrow" else column.dtype


def given_labels(num_classes: int | None, labels: Iterable[Hashable] | None) -> tuple[Hashable, ...] | None:
    """The labels of the classes from the arguments of a call; None if both are None."""
    if num_classes is None and labels is None:
        return None
    classes = check_classes(num_classes, labels)
    return tuple(range(classes.number)) if classes.labels is None else classes.labels


def sorted_labels(columns: Sequence[tuple[Any, Coded]], hint: str = "") -> tuple[Hashable, ...]:
    """The sorted labels that occur in named columns; ``hint`` ends messages with advice for the caller."""
    labels = {_whole(label) for _, column in columns for label in column.listed()}
    names = " and ".join(quoted(name) for name, _ in columns)
    named = f"columns {names}" if len(columns) > 1 else f"column {names}"
    floating = [label for label in labels if isinstance(label, (float, Decimal))]
    if floating:
        raise ValueError(f"{named}: expected labels, whole numbers or text, got {floating[0]}, which is not whole")
    if not labels:
        raise ValueError(f"{named}: expected at least one row, got none{hint}")
    try:
        return Sorted.of(labels)
    except TypeError as error:
        kinds = quoted_list({type(label): label for label in labels}.values())
        raise TypeError(f"{named}: expected labels that have an order, got {kinds}{hint}") from error


def common_order(sides: Iterable[tuple[tuple[Any, ...] | None, Iterable[Hashable]]]) -> tuple[Any, ...] | None:
    """The common categories of all sides, or the only ordered categories if they contain all labels; else None."""
    sides = list(sides)
    distinct = {categories for categories, _ in sides}
    if len(distinct) == 1:
        common = distinct.pop()
        return tuple(common) if isinstance(common, Categories) else common
    ordered = {categories for categories in distinct if categories and not isinstance(categories, (Categories, Sorted))}
    if len(ordered) != 1:
        return None
    (order,) = ordered
    return order if all(label in order for _, labels in sides for label in labels) else None


def _whole(label: Hashable) -> Hashable:
    """The integer for a floating or decimal number without a fraction; any other label unchanged."""
    return int(label) if isinstance(label, (float, Decimal)) and label % 1 == 0 else label


def class_codes(name: Any, column: Coded, labels: Sequence[Hashable], where: Where = at_position) -> Array:
    """The class of each row; raises a ValueError for an unknown label."""
    places = {label: place for place, label in enumerate(labels)}
    values = column.listed()
    numbers = np.asarray([places.get(value, -1) for value in values], np.int64)
    unknown = np.flatnonzero(numbers < 0)
    if unknown.size:
        rows = np.isin(column.codes, unknown)
        first = int(rows.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected one of the labels {quoted_list(labels)}, got "
            f"{quoted(values[column.codes[first]])} {where(first)} ({np.count_nonzero(rows):,} of {rows.size:,} are "
            "unknown)"
        )
    return numbers[column.codes]
