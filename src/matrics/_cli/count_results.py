"""Counts as a result: a row for each combination of a group, a true and a predicted label that occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from matrics._cli.formats import for_people
from matrics._cli.printing import show, text_table
from matrics._cli.result import Result, keys_of
from matrics._files.counts_file import About, rows_of
from matrics._wording import plain

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._files.counts import SortedCounts
    from matrics._files.names import Names


def count_result(counted: SortedCounts, names: Names, file: str, titles: list[str]) -> Result:
    """The rows of a file of counts."""
    rows = rows_of(counted, About.of(counted, names).names, 0, len(counted.true))
    facts = {
        "file": file,
        "matrices": len(counted.starts),
        "classes": counted.classes.to_pylist(),
        "positive": None,
        "samples": counted.samples,
        "weighted": counted.weight is not None,
        "seed": None,
    }
    return Result("count", titles, facts, keys_of({name: rows[name] for name in rows.column_names}))


def show_counts(console: Console, found: Result) -> None:
    """Print the rows as a table."""
    table = text_table(*found.rows)
    for shown, column in zip(table.columns, found.rows.values(), strict=True):
        if column.values and isinstance(column.values[0], (int, float)):
            shown.justify = "right"
    for row in zip(*(column.values for column in found.rows.values()), strict=True):
        table.add_row(
            *(Text(plain(for_people(column, value))) for column, value in zip(found.rows.values(), row, strict=True))
        )
    show(console, *(Text(plain(title)) for title in found.titles), Text(), table)
