"""The result of a command: facts, measures, and rows by columns, from which every format is written."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import matrics
from matrics import IntervalStatus
from matrics._catalogue.description import range_of
from matrics._errors import ArgumentError
from matrics._files.keys import text_of
from matrics._quoting import first_twice, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matrics._catalogue.classes import Classes
    from matrics._catalogue.record import Metric

Array = Any

STATUSES = {int(status): status for status in IntervalStatus}
UNDEFINED = "the value is undefined"


@dataclass(frozen=True)
class Column:
    """The values of a column, and what those that are no numbers mean."""

    values: list[Any]
    undefined: str = UNDEFINED  # why a value may be NaN
    status: str = ""  # the column with the status of each value
    is_status: bool = False  # whether the values are codes of IntervalStatus
    is_short: bool = False  # whether people need four significant digits, and not three decimals
    reasons: Mapping[int, str] = field(default_factory=dict)  # of single rows, in place of ``undefined``


Rows = dict[str, Column]


@dataclass(frozen=True)
class Result:
    """What a command has found."""

    command: str
    titles: list[str]  # what it is about, in sentences
    facts: dict[str, Any]  # the same as plain values
    rows: Rows
    measures: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, Rows] = field(default_factory=dict)  # further ones, by name
    remarks: list[str] = field(default_factory=list)
    libraries: tuple[str, ...] = ()  # whose versions matter, beside NumPy's

    @property
    def statuses(self) -> list[IntervalStatus]:
        """Those that occur, in order."""
        columns = [column for rows in (self.rows, *self.tables.values()) for column in rows.values()]
        codes = {code for column in columns if column.is_status for code in column.values if code is not None}
        return [STATUSES[code] for code in sorted(codes)]


def column(values: Any, **about: Any) -> Column:
    """A column of an array of NumPy or pyarrow, or of a list."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return Column([_plain(value) for value in values], **about)
    return Column(values.tolist() if isinstance(values, np.ndarray) else list(values), **about)


def _plain(value: Any) -> Any:
    """A value of a file: a number, a truth value, or text, as which times are written."""
    kind = value.type
    if pa.types.is_dictionary(kind):
        return _plain(value.value) if value.is_valid and isinstance(value.value, pa.Scalar) else value.as_py()
    is_simple = any(is_kind(kind) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean))
    return value.as_py() if is_simple or not value.is_valid else text_of(value)


def keys_of(columns: Mapping[str, Array]) -> Rows:
    """The columns that name the rows."""
    return {name: column(values, undefined="the file has no value") for name, values in columns.items()}


def about_measure(title: str, metric: Metric, columns: Sequence[str] | None = None) -> dict[str, Any]:
    """A measure as it was resolved for the classes of a file, and its columns."""
    better = {True: "higher", False: "lower", None: None}[metric.higher_is_better]
    return {
        "measure": title,
        "name": metric.name,
        "spec": metric.spec,
        **({} if columns is None else {"columns": list(columns)}),
        "range": range_of(metric),
        "better": better,
        "undefined": metric.undefined,
    }


def about_classes(classes: Classes) -> dict[str, Any]:
    """The labels of the classes, and which is positive."""
    labels = list(classes.labels) if classes.labels is not None else list(range(classes.number))
    positive = 1 if classes.positive is None and classes.by_construction else classes.positive
    return {"classes": labels, "positive": None if positive is None else labels[positive]}


def versions(*others: str) -> dict[str, str]:
    """The versions that a result may depend on."""
    from importlib.metadata import version

    found = {"matrics": matrics.__version__, "numpy": np.__version__, "pyarrow": pa.__version__}
    return {**found, **{name: version(name) for name in others}, "python": platform.python_version()}


def plain_size(size: float) -> float:
    """A number of samples, as an integer if it is a whole number."""
    return int(size) if float(size).is_integer() else float(size)


def refuse_same(option: str, columns: Iterable[str]) -> None:
    """Raise if two columns have the same name."""
    twice = first_twice(columns)
    if twice is not None:
        raise ArgumentError(option, f"expected different names, got two columns of the name {quoted(twice)}")
