"""A result as JSON, CSV or Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._cli.markdown import escape, table
from matrics._cli.result import STATUSES, versions
from matrics._files.outputs.texts import csv_text, json_text
from matrics._tables import latex
from matrics._wording import number, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matrics import IntervalStatus
    from matrics._cli.result import Column, Result, Rows

SCHEMA = 1  # raised when a name of the JSON changes its meaning or is no longer there


def as_json(found: Result) -> str:
    """All of it. JSON has no NaN and no infinite numbers: these are null, and ``nulls`` has the reason of each."""
    document = {
        "schema": SCHEMA,
        "command": found.command,
        **found.facts,
        "measures": found.measures,
        "columns": list(found.rows),
        "rows": _records(found.rows),
        "nulls": [one for name, rows in {"rows": found.rows, **found.tables}.items() for one in _nulls(name, rows)],
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
    parts = [_cell(title) for title in found.titles]
    parts += [f"{_cell(name)}:\n\n{_table(rows)}" for name, rows in found.tables.items()]
    parts.append(_table(found.rows))
    parts += [_cell(remark) for remark in found.remarks]
    lines = [f"- {_cell(_word(status))}: {_cell(status.sentence)}" for status in found.statuses if status]
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
    return table([_cell(name) for name in rows], body)


def _written(column: Column, value: Any) -> str:
    return _cell(for_people(column, value))


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


def _cell(text: str) -> str:
    """Text of a file that is no markup: two backticks would begin code, and a line break would end the cell."""
    return escape(plain(text).replace("`", "'"))


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
