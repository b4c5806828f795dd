"""Tables on the screen, their signs, and what these mean."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from matrics import IntervalStatus
from matrics._wording import listed, number, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

Array = Any


BEST = "bold green"
LEFT = ("min", "max", "range")  # columns that contain words


@dataclass(frozen=True)
class Column:
    """One column of scores: its label, its range in words, and which end is better."""

    label: str
    range: str
    higher_is_better: bool | None


def show_scores(
    console: Console, columns: list[Column], scores: Array, names: list[str], heading: str, *, ordered: bool
) -> None:
    """Print one row per matrix, or one row per measure if there is one matrix."""
    missing = "undefined" if np.isnan(scores).any() else ""
    if len(names) == 1:
        values = [marked(value) for value in scores[0]]
        ranges = [Text(column.range) for column in columns]
        show_blocks(console, "measure", [column.label for column in columns], [("value", values), ("range", ranges)])
        show_notes(console, Counter(), 0, missing=missing)
        return
    best = best_of_columns(columns, scores)
    order, sorting = sort(columns, scores, ordered=ordered)
    cells = [[marked(scores[row, k], best=bool(best[row, k])) for row in order] for k in range(len(columns))]
    headers = [fold(column.label) for column in columns]
    show_blocks(console, heading, [names[row] for row in order], list(zip(headers, cells, strict=True)))
    what = f"{heading} " if ordered and "," not in heading else ""  # a bare number would be ambiguous
    wins = Counter({what + name: int(won) for name, won in zip(names, best.sum(axis=1), strict=True) if won})
    judged = int(best.any(axis=0).sum())
    show_notes(console, wins, judged, missing=missing, remark=sorting)


def sort(columns: list[Column], scores: Array, *, ordered: bool) -> tuple[list[int], str]:
    """Return the order of the rows by the first measure, best first, and a remark; ordered rows keep their order."""
    if ordered or columns[0].higher_is_better is None:
        return list(range(len(scores))), ""
    # Undefined values come last, as NaN does in NumPy.
    order = np.argsort(-scores[:, 0] if columns[0].higher_is_better else scores[:, 0], stable=True)
    return order.tolist(), f"sorted by {plain(columns[0].label)}, best first"


def best_of_columns(columns: list[Column], scores: Array) -> Array:
    """Mark the best values of each column; none in a column without a direction, or with equal values only."""
    best = np.zeros(scores.shape, bool)
    for index, column in enumerate(columns):
        values = scores[:, index]
        defined = values[~np.isnan(values)]
        if column.higher_is_better is not None and len(defined) and defined.min() < defined.max():
            best[:, index] = values == (defined.max() if column.higher_is_better else defined.min())
    return best


def show(console: Console, *parts: Table | Text | str) -> None:
    """Print tables and lines; to a pipe, without trailing blanks."""
    shown = [Text(plain(part)) if isinstance(part, str) else part for part in parts]
    if console.is_terminal:
        console.print(*shown, sep="\n")
        return
    with console.capture() as captured:
        console.print(*shown, sep="\n")
    console.out("\n".join(line.rstrip() for line in captured.get().splitlines()), highlight=False)


def show_blocks(
    console: Console,
    heading: str,
    names: Sequence[str],
    columns: Sequence[tuple[str, list[Text]]],
    width: int | None = None,
) -> None:
    """Print a table of named rows; columns that do not fit the width go into further tables below it.

    The default is the width of the terminal.
    """
    rest, head = columns, [Text(plain(name)) for name in names]
    while rest:
        taken = 1
        while taken < len(rest) and _fits(console, _table(heading, head, rest[: taken + 1]), width):
            taken += 1
        show(console, _table(heading, head, rest[:taken]))
        rest = rest[taken:]
        if rest:
            show(console, "")


def text_table(*headers: str, right: slice = slice(0)) -> Table:
    """Make an empty table with these headers; the columns ``right`` have numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for header in headers:
        table.add_column(Text(plain(header, keep="\n")), overflow="fold")
    for column in table.columns[right]:
        column.justify = "right"
    return table


def _table(heading: str, head: list[Text], columns: Sequence[tuple[str, list[Text]]]) -> Table:
    table = text_table(heading, *(header for header, _ in columns))
    for column in table.columns:
        column.vertical = "bottom"
    for (header, _), column in zip(columns, table.columns[1:], strict=True):
        column.justify = "left" if header in LEFT else "right"
    for name, *values in zip(head, *(cells for _, cells in columns), strict=True):
        table.add_row(name, *values)
    return table


def _fits(console: Console, table: Table, width: int | None) -> bool:
    unlimited = console.options.update(max_width=10**6)
    return console.measure(table, options=unlimited).maximum <= (width or console.width)


NARROW = 10  # letters of a header above numbers


def fold(label: str, width: int = NARROW) -> str:
    """Break a label into lines after ``_``, ``:``, ``,``, ``(`` or a blank; above numbers an average has its own."""
    lines = [""]
    for part in re.split(r"(?<=[_:( ])(?<! of )|(?<=,)(?! )", label):
        is_average = width == NARROW and lines[-1].endswith(", ")
        if lines[-1] and (is_average or len(lines[-1]) + len(part.rstrip()) > width):
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def marked(value: float, *, best: bool = False) -> Text:
    """A score; a star and a colour mark the best value of a column."""
    return star(number(value), best=best)


def star(text: str, *, best: bool) -> Text:
    """A cell, with the star and the colour of the best value of a column."""
    return Text(text + ("*" if best else " "), BEST if best else "")


def show_notes(console: Console, wins: Counter[str], judged: int, *, missing: str, remark: str = "") -> None:
    """Print the meaning of the signs, and which row is best most often."""
    signs = ["* best of its measure" if judged else "", f"– {missing}" if missing else "", remark]
    notes = [Text("; ".join(filter(None, signs)), "dim")] if any(signs) else []
    if judged:
        most = max(wins.values())
        names = listed((name for name, count in wins.items() if count == most), 3)
        if 2 * most > judged:
            notes.append(Text(f"best in {most} of {judged} measures: {names}", BEST))
        else:
            notes.append(Text(f"most often best, in {most} of {judged} measures: {names}"))
    if notes:
        show(console, "", *notes)


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sign_of(status: int) -> str:
    """The number of a status, small and raised; a space for 0."""
    return str(int(status)).translate(RAISED) if status else " "


def show_statuses(console: Console, counts: Counter[int], *, signs: bool) -> None:
    """Print what every status that is not 0 means, and how many values it concerns."""
    total = sum(counts.values())
    lines = [
        f"{sign_of(code) if signs else f'status {code:d}:'} {code.sentence} ({counts[code]:,} of {total:,})"
        for code in IntervalStatus
        if code and counts[code]
    ]
    if lines:
        show(console, "", *lines)
