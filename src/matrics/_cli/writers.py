"""The result of a command, and how it is written: on the screen, as JSON, CSV, Markdown or LaTeX, here or in a file."""

from __future__ import annotations

import io
import math
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.text import Text

import matrics
from matrics import IntervalStatus
from matrics._cli.screen import show, text_table
from matrics._errors import ArgumentError
from matrics._files.keys import text_of
from matrics._files.outputs.destination import free_file
from matrics._files.outputs.texts import csv_text, json_text
from matrics._files.outputs.whole import write_whole
from matrics._files.text import STDIN
from matrics._quoting import first_twice, quoted
from matrics._tables import latex
from matrics._tables.markdown import cell, table
from matrics._wording import number, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


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


SCHEMA = 1  # raised when a name of the JSON changes its meaning or is no longer there


def as_json(found: Result) -> str:
    """All of it. JSON has no NaN and no infinite numbers: these are null, and ``nulls`` has the reason of each."""
    document = {
        "schema": SCHEMA,
        "command": found.command,
        "version": matrics.__version__,
        **found.facts,
        "measures": found.measures,
        "columns": list(found.rows),
        "rows": _records(found.rows),
        "nulls": [one for name, rows in {"rows": found.rows, **found.tables}.items() for one in _nulls(name, rows)]
        + list(_nulls_of_facts(found.facts)),
        **{name: _records(rows) for name, rows in found.tables.items()},
        "statuses": {_word(status): status.sentence for status in found.statuses},
        "remarks": found.remarks,
        "versions": versions(*found.libraries),
    }
    return json_text(_finite(document)) + "\n"


def as_csv(found: Result) -> str:
    """The rows, in full precision; an undefined value is an empty cell, and a status its code."""
    return csv_text([found.rows, *(map(_exact, row) for row in _across(found.rows))])


def as_markdown(found: Result) -> str:
    """The tables for people: numbers are rounded, and statuses explained."""
    parts = [cell(title) for title in found.titles]
    parts += [f"{cell(name)}:\n\n{_table(rows)}" for name, rows in found.tables.items()]
    parts.append(_table(found.rows))
    parts += [cell(remark) for remark in found.remarks]
    lines = [f"- {cell(_word(status))}: {cell(status.sentence)}" for status in found.statuses if status]
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])]) + "\n"


def as_latex(found: Result) -> str:
    """The tables for papers: limits in brackets; titles, remarks and statuses as comments."""
    parts = [latex.comment(title) for title in found.titles]
    for name, rows in found.tables.items():
        parts += [latex.comment(name), _tabular(rows)]
    parts.append(_tabular(found.rows))
    parts += [latex.comment(remark) for remark in found.remarks]
    parts += [latex.comment(f"{_word(status)}: {status.sentence}") for status in found.statuses if status]
    return "\n".join(parts) + "\n"


def _tabular(rows: Rows) -> str:
    """Columns of limits stand in brackets behind their measure; columns of statuses are for programs."""
    shown = [name for name in rows if not rows[name].is_status and not name.endswith(("/low", "/high"))]
    has_numbers = [any(isinstance(value, float) for value in rows[name].values) for name in shown]
    texts = has_numbers.index(True) if any(has_numbers) else len(shown)
    cells = [_latex_cells(name, rows) for name in shown]
    return latex.tabular([*map(latex.escape, shown)], list(zip(*cells, strict=True)), texts=texts)


def _latex_cells(name: str, rows: Rows) -> list[str]:
    column, ends = rows[name], [rows.get(f"{name}/{end}") for end in ("low", "high")]
    if None in ends or not all(value is None or isinstance(value, float) for value in column.values):
        return [latex.escape(for_people(column, value)) for value in column.values]
    parts = [[math.nan if x is None else x for x in one.values] for one in (column, *ends) if one is not None]
    return [latex.with_limits(*values) for values in zip(*parts, strict=True)]


WRITERS = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}


def _across(rows: Rows) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.values for column in rows.values()), strict=True)


def _records(rows: Rows) -> list[dict[str, Any]]:
    worded = [
        [None if code is None else _word(STATUSES[code]) for code in one.values] if one.is_status else one.values
        for one in rows.values()
    ]
    return [dict(zip(rows, values, strict=True)) for values in zip(*worded, strict=True)]


def _nulls(table_name: str, rows: Rows) -> Iterator[dict[str, Any]]:
    """Which values are null, and why."""
    for row, values in enumerate(_across(rows)):
        for (name, column), value in zip(rows.items(), values, strict=True):
            if value is None or (isinstance(value, float) and not math.isfinite(value)):
                yield {
                    "table": table_name,
                    "row": row,
                    "column": name,
                    "value": _text(value),
                    "status": _why(rows, column, row),
                }


def _nulls_of_facts(facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The same of the values of options, which may be infinite."""
    for name, value in facts.items():
        for row, number_or_text in enumerate(value if isinstance(value, (list, tuple)) else [value]):
            if isinstance(number_or_text, float) and not math.isfinite(number_or_text):
                status = "the value is infinite" if math.isinf(number_or_text) else UNDEFINED
                yield {"table": "", "row": row, "column": name, "value": _text(number_or_text), "status": status}


def _text(value: float | None) -> str:
    return "none" if value is None else str(float(value))


def _why(rows: Rows, column: Column, row: int) -> str:
    value = column.values[row]
    if value is not None and math.isinf(value):
        return "the value is infinite"
    code = rows[column.status].values[row] if column.status else None
    return STATUSES[code].sentence if code else column.reasons.get(row, column.undefined)


def _word(status: IntervalStatus) -> str:
    return status.name.lower()


def _table(rows: Rows) -> str:
    body = [
        [_written(column, value) for column, value in zip(rows.values(), values, strict=True)]
        for values in _across(rows)
    ]
    return table([cell(name) for name in rows], body)


def _written(column: Column, value: Any) -> str:
    return cell(for_people(column, value))


def for_people(column: Column, value: Any) -> str:
    """A value in words, or rounded."""
    if value is None:
        return "–"
    if column.is_status:
        return _word(STATUSES[value])
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    if column.is_short and not math.isnan(value):
        return f"{value:.4g}"
    return number(value)


def _exact(value: Any) -> Any:
    """A cell for programs."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if isinstance(value, float) and math.isnan(value) else value


def _finite(value: Any) -> Any:
    """Plain values without NaN and infinite numbers."""
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if isinstance(value, np.generic):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show_result(console: Console, found: Result) -> None:
    """Print the rows as a table."""
    columns = list(found.rows.values())
    table = text_table(*found.rows)
    for shown, column in zip(table.columns, columns, strict=True):
        if column.values and isinstance(column.values[0], (int, float)):
            shown.justify = "right"
    for row in _across(found.rows):
        cells = (for_people(column, value) for column, value in zip(columns, row, strict=True))
        table.add_row(*(Text(plain(cell)) for cell in cells))
    show(console, *found.titles, "", table)


FORMATS = ("table", "json", "csv", "markdown", "latex")
ENDS = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex", ".txt": "table"}
SCREEN_WIDTH = 10_000  # a pipe and a file have no width: do not split lines


@dataclass(frozen=True)
class Delivery:
    """The format of a result, and its file; None is standard output."""

    format: str = "table"
    output: Path | None = None
    blocks: str | None = None  # the file or folder that is written block by block, if it is

    @property
    def is_table(self) -> bool:
        """Whether the result is shown as on the screen."""
        return self.format == "table"

    def write(
        self,
        result: Callable[[], Result],
        show: Callable[[Console], None] | None = None,
        writers: Mapping[str, Callable[[Result], str]] = WRITERS,
    ) -> None:
        """Write a result; in the table what ``show`` prints on a console, if it is given."""
        if self.is_table:
            self.print(show or (lambda console: show_result(console, result())))
            return
        written = writers[self.format](result())
        if self.output is not None:
            self._write(written)
            return
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # as a file has it, on every machine
        sys.stdout.write(written)

    def print(self, show: Callable[[Console], None]) -> None:
        """Write what ``show`` prints on a console."""
        if self.output is None:
            show(open_console())
            return
        text = io.StringIO()
        show(Console(file=text, highlight=False, width=SCREEN_WIDTH))
        self._write(text.getvalue())

    def _write(self, text: str) -> None:
        assert self.output is not None  # noqa: S101 (for mypy: only then)
        write_whole(self.output, text.encode())


def open_console() -> Console:
    """A console on standard output."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else SCREEN_WIDTH)


def read_delivery(
    format_: str | None,
    output: str | None,
    sources: Sequence[Path],
    *,
    blocks: Sequence[str] = (),
    others: Mapping[str, str] = MappingProxyType({}),
) -> Delivery:
    """Check both options; the ends of names in ``blocks``, and folders, are written block by block.

    ``others`` are further formats by the ends of their names.
    """
    ends = {**ENDS, **others}
    formats = (*FORMATS, *others.values())
    if format_ is not None and format_ not in formats:
        raise ArgumentError("format", f"expected {', '.join(formats[:-1])} or {formats[-1]}, got {quoted(format_)}")
    if output in (None, "-"):
        return Delivery(format_ or "table")
    path = Path(str(output))
    end = path.suffix.lower()
    is_folder = str(output).endswith(("/", os.sep)) or path.is_dir()
    if blocks and (is_folder or end in blocks or (format_ is None and end not in ends)):
        if format_ not in (None, ends.get(end)) or (format_ is not None and is_folder):
            what = "a folder" if is_folder else f"a name that ends in {end}"
            raise ArgumentError("format", f"expected no such option with {what} as --output, got {quoted(format_)}")
        return Delivery(blocks=output)
    if is_folder or not output:
        raise ArgumentError("output", f"expected the name of a file, or -, got {quoted(str(output))}")
    if format_ is None and end not in ends:
        raise ArgumentError(
            "output", f"expected a name that ends in {', '.join(ends)}, or --format with it, got {quoted(str(output))}"
        )
    if format_ is not None and ends.get(end, format_) != format_:
        raise ArgumentError("format", f"expected {ends[end]}, as --output ends in {end}, got {quoted(format_)}")
    free_file(path, [source for source in sources if source != STDIN])
    return Delivery(format_ or ends[end], path)
