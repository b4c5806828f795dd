"""The result of a command, and how it is written: on the screen, as JSON, CSV, Markdown or LaTeX, here or in a file."""

from __future__ import annotations

import io
import math
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.text import Text

import matrics
from matrics import IntervalStatus
from matrics._cli.progress import end_working
from matrics._cli.results import STATUSES, UNDEFINED, Cells, Column, Layout, Result, Rows, layouts
from matrics._cli.screen import show, show_notes, show_statuses, show_tables, sign_of
from matrics._errors import ArgumentError
from matrics._files.notices import BROKEN_PIPE, Stopped
from matrics._files.outputs.destination import free_file
from matrics._files.outputs.texts import csv_text, json_text
from matrics._files.outputs.whole import write_whole
from matrics._files.text import STDIN
from matrics._quoting import quoted
from matrics._tables import latex
from matrics._tables.markdown import cell, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def versions(*others: str) -> dict[str, str]:
    """The versions that a result may depend on."""
    from importlib.metadata import version

    libraries = {"matrics": matrics.__version__, "numpy": np.__version__, "pyarrow": pa.__version__}
    return {**libraries, **{name: version(name) for name in others}, "python": platform.python_version()}


SCHEMA = 1  # raised when a name of the JSON changes its meaning or is no longer there


def as_json(result: Result) -> str:
    """The whole result. JSON has no NaN and no infinite numbers: these are null, and ``nulls`` gives the reasons."""
    document = {
        "schema": SCHEMA,
        "command": result.command,
        "version": matrics.__version__,
        **result.facts,
        "measures": result.measures,
        "columns": list(result.rows),
        "rows": _records(result.rows),
        "nulls": [null for name, rows in {"rows": result.rows, **result.tables}.items() for null in _nulls(name, rows)]
        + list(_nulls_of_facts(result.facts)),
        **{name: _records(rows) for name, rows in result.tables.items()},
        "statuses": {_word(status): status.sentence for status in result.statuses},
        "remarks": result.remarks,
        "versions": versions(*result.libraries),
    }
    return json_text(_finite(document)) + "\n"


def as_csv(result: Result) -> str:
    """The rows, in full precision; an undefined value is an empty cell, and a status its code."""
    return csv_text([result.rows, *(map(_exact, row) for row in _across(result.rows))])


def _tables(result: Result) -> list[Layout]:
    """The tables for people, in their order."""
    if result.views:
        return [
            replace(part, title=view.title, above=view.above, below=view.below)
            for view in result.views
            for part in layouts(view.rows, ordered=True)
        ]
    own = layouts(result.rows, ordered=result.ordered)
    others = [
        replace(part, title="" if result.leads else name)
        for name, rows in result.tables.items()
        for part in layouts(rows, ordered=result.ordered)
    ]
    return [*others, *own] if result.leads else [*own, *others]


def _opening(result: Result) -> list[str]:
    """The lines above the tables of a document."""
    return [*filter(None, [result.conclusion]), *result.titles]


def _explained(result: Result) -> list[IntervalStatus]:
    """The statuses that a document explains below its tables; remarks may explain those without a sign."""
    return [status for status in result.statuses if status and (not result.views or result.signs[status])]


def as_markdown(result: Result) -> str:
    """The tables for people: numbers are rounded, and statuses explained."""
    parts = [*map(cell, _opening(result)), *chain(*map(_table, _tables(result))), *map(cell, result.remarks)]
    lines = [f"- {sign_of(status)} {cell(status.sentence)}" for status in _explained(result)]
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])]) + "\n"


def as_latex(result: Result) -> str:
    """The tables for papers: limits in brackets; titles, remarks and statuses as comments."""
    parts = [latex.comment(line) for line in _opening(result)]
    for part in _tables(result):
        parts += [latex.comment(line) for line in (part.title, *part.above) if line]
        parts += [_tabular(part), *map(latex.comment, part.below)]
    parts += [latex.comment(remark) for remark in result.remarks]
    parts += [latex.comment(f"{status:d}: {status.sentence}") for status in _explained(result)]
    return "\n".join(parts) + "\n"


def _tabular(layout: Layout) -> str:
    columns = layout.columns
    texts = next((k for k, part in enumerate(columns) if part.is_number), len(columns))
    cells = [
        [
            (latex.number(text) if part.is_number else latex.escape(text))
            + (rf"\textsuperscript{{{code}}}" if code else "")
            for text, code in zip(part.written, part.statuses or (0,) * len(part.texts), strict=True)
        ]
        for part in columns
    ]
    return latex.tabular([latex.escape(part.heading) for part in columns], list(zip(*cells, strict=True)), texts=texts)


WRITERS = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}


def _across(rows: Rows) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.values for column in rows.values()), strict=True)


def _records(rows: Rows) -> list[dict[str, Any]]:
    worded = [
        [None if code is None else _word(STATUSES[code]) for code in part.values] if part.is_status else part.values
        for part in rows.values()
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


def _table(layout: Layout) -> list[str]:
    """The paragraphs of a table."""
    columns = layout.columns
    texts = [[cell(text) + sign for text, sign in zip(part.written, _signs(part), strict=True)] for part in columns]
    body = list(zip(*texts, strict=True))
    above = [f"**{cell(layout.title)}**"] * bool(layout.title) + list(map(cell, layout.above))
    return [*above, table([cell(part.heading) for part in columns], body), *map(cell, layout.below)]


def _signs(column: Cells) -> list[str]:
    return [sign_of(code).strip() for code in column.statuses] or [""] * len(column.texts)


def _exact(value: Any) -> Any:
    """A cell for programs."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if isinstance(value, float) and math.isnan(value) else value


def _finite(value: Any) -> Any:
    """Plain values without NaN and infinite numbers."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show_result(console: Console, result: Result) -> None:
    """Print the tables, what their signs mean, and remarks."""
    if result.titles:
        show(console, *result.titles, "")
    tables = _tables(result)
    show_tables(console, tables)
    keys = [name for name, part in result.rows.items() if part.is_key]
    what = f"{keys[0]} " if result.ordered and len(keys) == 1 else ""  # a bare number would be ambiguous
    show_notes(console, tables, result.notes, None if result.leads else what)
    show_statuses(console, result.signs, signs=not result.totals)
    if result.remarks:
        show(console, "", *result.remarks)
    if result.conclusion:
        show(console, "", Text(result.conclusion, result.style))


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

    @property
    def is_for_people(self) -> bool:
        """Whether numbers are rounded."""
        return self.format not in ("json", "csv")

    def write(self, result: Callable[[], Result], writers: Mapping[str, Callable[[Result], str]] = WRITERS) -> None:
        """Write a result; ``result`` makes it, while the command is shown as working."""
        computed = result()
        if self.output is None and self.is_table:
            show_result(open_console(), computed)
        elif self.output is None:
            end_working()
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # as a file has it, on every machine
            sys.stdout.write(writers[self.format](computed))
        elif self.is_table:
            text = io.StringIO()
            show_result(Console(file=text, highlight=False, width=SCREEN_WIDTH), computed)
            write_whole(self.output, text.getvalue().encode())
        else:
            write_whole(self.output, writers[self.format](computed).encode())


class _Console(Console):
    """A console that exits with 141 if its reader closes the pipe. Rich would exit with 1, as a failed gate does."""

    def on_broken_pipe(self) -> NoReturn:
        raise Stopped(BROKEN_PIPE)


def open_console() -> Console:
    """A console on standard output, for a command that prints now."""
    end_working()
    return _Console(highlight=False, width=None if sys.stdout.isatty() else SCREEN_WIDTH)


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
