"""The result of a command, and what its tables for people have: rounded numbers with their limits in a cell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from matrics import IntervalStatus
from matrics._errors import ArgumentError
from matrics._files.keys import text_of
from matrics._quoting import first_twice, quoted
from matrics._wording import UNDEFINED as DASH
from matrics._wording import error_text, number, plain, with_limits

Array = Any

STATUSES = {int(status): status for status in IntervalStatus}
UNDEFINED = "the value is undefined"
ERROR = "/standard_error"


@dataclass(frozen=True)
class Measured:
    """What a column of scores is called, its range in words, and which end is better."""

    label: str
    range: str
    higher_is_better: bool | None

    def order(self, values: Iterable[float]) -> list[int]:
        """The positions of the values, the best first; undefined values are last, as NaN is in NumPy."""
        key = np.asarray(list(values))
        return np.argsort(-key if self.higher_is_better else key, stable=True).tolist()  # type: ignore[no-any-return]

    @property
    def sorting(self) -> str:
        """The remark on rows in this order."""
        return f"sorted by {plain(self.label)}, {'lowest' if self.higher_is_better is None else 'best'} first"


@dataclass(frozen=True)
class Column:
    """The values of a column, and the meaning of values that are no numbers."""

    values: list[Any]
    undefined: str = UNDEFINED  # why a value may be NaN
    status: str = ""  # the column with the status of each value
    is_status: bool = False  # whether the values are codes of IntervalStatus
    is_short: bool = False  # whether people need four significant digits, and not three decimals
    digits: int | None = None  # the decimals that people read, if they are the same for all values
    is_key: bool = False  # whether the values name the rows
    splits: bool = False  # whether people read a table for each value
    is_hidden: bool = False  # from people, who read the same elsewhere
    title: str = ""  # for people, if the name is for programs
    measured: Measured | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)  # of single rows, in place of ``undefined``
    styles: Mapping[str, str] = field(default_factory=dict)  # the colours of single texts on a terminal


Rows = dict[str, Column]


@dataclass(frozen=True)
class View:
    """A table for people in place of the rows, with lines above and below it."""

    rows: Rows  # in the order in which people read them
    title: str = ""
    above: Sequence[str] = ()
    below: Sequence[str] = ()


@dataclass(frozen=True)
class Result:
    """What a command computes."""

    command: str
    titles: list[str]  # what it is about, in sentences
    facts: dict[str, Any]  # the same as plain values
    rows: Rows
    measures: list[dict[str, Any]] = field(default_factory=list)
    tables: dict[str, Rows] = field(default_factory=dict)  # further tables, by name
    remarks: list[str] = field(default_factory=list)
    libraries: tuple[str, ...] = ()  # whose versions matter, apart from NumPy's
    ordered: bool = False  # whether people read the rows in this order, and not the best first
    notes: list[str] = field(default_factory=list)  # on the tables for people
    leads: bool = False  # whether people read the further tables first
    totals: Counter[int] = field(default_factory=Counter)  # of statuses that are in no row
    views: Sequence[View] = ()
    conclusion: str = ""  # the first line of a document, and the last line on the screen
    style: str = ""  # the colour of the conclusion on a terminal

    @property
    def statuses(self) -> list[IntervalStatus]:
        """The statuses that occur, in order."""
        return [STATUSES[code] for code in sorted(_counts_of_statuses([self.rows, *self.tables.values()]))]

    @property
    def signs(self) -> Counter[int]:
        """How often each status occurs in the tables for people, where it is a sign after the value."""
        tables = [view.rows for view in self.views] or [self.rows, *self.tables.values()]
        return self.totals or _counts_of_statuses(tables)


def _counts_of_statuses(tables: Iterable[Rows]) -> Counter[int]:
    columns = [part for rows in tables for part in rows.values() if part.is_status]
    return Counter(code for part in columns for code in part.values if code is not None)


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
    return {name: column(values, undefined="the file has no value", is_key=True) for name, values in columns.items()}


def plain_size(size: float) -> float:
    """A number of samples, as an integer if it is a whole number."""
    return int(size) if float(size).is_integer() else float(size)


def refuse_same(option: str, columns: Iterable[str]) -> None:
    """Raise if two columns have the same name."""
    twice = first_twice(columns)
    if twice is not None:
        raise ArgumentError(option, f"expected different names, got two columns of the name {quoted(twice)}")


# Tables for people ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """A column of a table for people: texts, or values with their limits."""

    heading: str
    texts: list[tuple[str, ...]]  # a value alone, or with its lower and upper limit
    is_number: bool = True
    best: tuple[bool, ...] = ()  # where values are the best of their column
    statuses: tuple[int, ...] = ()
    is_even: bool = True  # whether values have their decimal points in line
    styles: Mapping[str, str] = field(default_factory=dict)

    @property
    def written(self) -> list[str]:
        """Each value, with its limits in brackets."""
        return [text[0] + (f" [{text[1]}, {text[2]}]" if len(text) > 1 else "") for text in self.texts]


@dataclass(frozen=True)
class Layout:
    """A table for people: columns of names, and the others."""

    title: str
    names: list[Cells]
    cells: list[Cells]
    sorting: str = ""
    above: Sequence[str] = ()
    below: Sequence[str] = ()

    @property
    def columns(self) -> list[Cells]:
        """All columns."""
        return [*self.names, *self.cells]


def layouts(rows: Rows, *, ordered: bool) -> list[Layout]:
    """The tables of some rows: all in a single table, or a table for each value of the columns that split them."""
    every = list(range(len(next(iter(rows.values())).values)))
    if len(every) == 1 and any(part.measured for part in rows.values()):
        return [_upright(rows)]
    apart = [part for part in rows.values() if part.splits]
    if not apart:
        order, sorting = (every, "") if ordered else sorted_rows(rows)
        return [_layout(rows, "", order, sorting)] if every else []
    titles = [", ".join(for_people(part, part.values[row]) for part in apart) for row in every]
    return [_layout(rows, title, list(same)) for title, same in groupby(every, titles.__getitem__)]


def _layout(rows: Rows, title: str, order: list[int], sorting: str = "") -> Layout:
    """The table of some rows. Limits stand in the cell of their value; statuses and standard errors in none."""
    names = [_cells(rows, name, order) for name, part in rows.items() if part.is_key and not part.splits]
    return Layout(title, names, [_cells(rows, name, order) for name in _shown(rows)], sorting)


def _upright(rows: Rows) -> Layout:
    """The table of a single row: a line for each measure."""
    shown = _shown(rows)
    cells = [_cells(rows, name, [0]) for name in shown]
    statuses = tuple(code for part in cells for code in part.statuses or (0,))
    columns = [Cells("value", [part.texts[0] for part in cells], statuses=statuses)]
    errors = [rows.get(name + ERROR) for name in shown]
    if any(part is not None and not math.isnan(part.values[0]) for part in errors):
        texts = ["" if part is None else error_text(part.values[0]) for part in errors]
        columns.append(Cells("standard error", [(text,) for text in texts]))
    ranges = ["" if (part := rows[name].measured) is None else part.range for name in shown]
    columns.append(Cells("range", [(text,) for text in ranges], is_number=False))
    return Layout("", [Cells("measure", [(part.heading,) for part in cells], is_number=False)], columns)


def _shown(rows: Rows) -> list[str]:
    ends = {end for name in rows for end in _ends(name, rows)}
    hidden = {name for name, part in rows.items() if part.is_key or part.is_status or part.is_hidden}
    return [name for name in rows if name not in ends | hidden and not name.endswith(ERROR)]


def _ends(name: str, rows: Rows) -> tuple[str, ...]:
    """The columns of the limits of a column, if it has any."""
    pairs = [(f"{name}/low", f"{name}/high"), (f"{name}_low", f"{name}_high")]
    pairs += [("low", "high")] if name == "estimate" else []
    return next((pair for pair in pairs if all(end in rows for end in pair)), ())


def _cells(rows: Rows, name: str, order: list[int]) -> Cells:
    column, ends = rows[name], _ends(name, rows)
    heading = column.title or name
    values = [column.values[row] for row in order]
    # A text in place of a number is shown as it is, without limits.
    if ends and all(value is None or isinstance(value, (float, str)) for value in values):
        limits = [[_float(rows[end].values[row]) for end in ends] for row in order]
        texts = [
            (value,) if isinstance(value, str) else _limited(column, _float(value), *pair)
            for value, pair in zip(values, limits, strict=True)
        ]
        # Columns may share a status, whose sign is in the last of them.
        is_last = name == [other for other in _shown(rows) if rows[other].status == column.status][-1]
        codes = rows[column.status].values if column.status and is_last else ()
        signs = tuple(codes[row] or 0 for row in order) if codes else ()
        return Cells(heading, texts, statuses=signs, is_even=not column.is_short)
    numeric = any(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    if column.is_short:
        texts = [(text,) for text in _distinct(list(map(_float, values)))]
    else:
        texts = [(for_people(column, value),) for value in values]
    best = _best(column.measured, list(map(_float, values))) if column.measured and len(values) > 1 else ()
    return Cells(heading, texts, numeric and not column.is_key, best, styles=column.styles)


def _float(value: float | None) -> float:
    return math.nan if value is None else value


def _limited(column: Column, value: float, low: float, high: float) -> tuple[str, ...]:
    if column.is_short:
        texts = tuple(DASH if math.isnan(x) else f"{x:.4g}" for x in (value, low, high))
    else:
        texts = with_limits(value, low, high)
    return texts[:1] if math.isnan(low) or math.isnan(high) else texts


def for_people(column: Column, value: Any) -> str:
    """A value in words, or rounded."""
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and not column.is_key:
        return f"{value:,}"
    return number(value, column.digits) if isinstance(value, float) else plain(str(value))


def _distinct(values: list[float]) -> list[str]:
    """Numbers with four digits, or as many as distinguish them from their neighbours."""
    texts = [DASH if math.isnan(x) else f"{x:.4g}" for x in values]
    for digits in range(5, 18):
        same = {k for k in range(1, len(texts)) if texts[k] == texts[k - 1] and values[k] != values[k - 1]}
        for k in same | {k - 1 for k in same}:
            texts[k] = f"{values[k]:.{digits}g}"
    return texts


def _best(measured: Measured, values: list[float]) -> tuple[bool, ...]:
    """Which values are the best: none without a direction, or of equal values."""
    higher, defined = measured.higher_is_better, {value for value in values if not math.isnan(value)}
    best = None if higher is None or len(defined) < 2 else (max if higher else min)(defined)
    return tuple(value == best for value in values)


def sorted_rows(rows: Rows) -> tuple[list[int], str]:
    """The order of the rows by the first measure, best first, and a remark."""
    name, part = next(((name, part) for name, part in rows.items() if part.measured is not None), ("", None))
    if part is None or part.measured is None or part.measured.higher_is_better is None:
        return list(range(len(next(iter(rows.values())).values))), ""
    return part.measured.order(map(_float, part.values)), f"sorted by {plain(part.title or name)}, best first"
