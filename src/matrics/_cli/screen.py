"""Tables on the screen, their signs, and what these mean."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from matrics import IntervalStatus
from matrics._wording import UNDEFINED, listed, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from matrics._cli.results import Cells, Layout

BEST = "bold green"
PIPE_WIDTH = 100


def show(console: Console, *parts: Table | Text | str) -> None:
    """Print tables and lines; to a pipe, without trailing blanks."""
    shown = [Text(plain(part)) if isinstance(part, str) else part for part in parts]
    if console.is_terminal:
        console.print(*shown, sep="\n")
        return
    with console.capture() as captured:
        console.print(*shown, sep="\n")
    console.out("\n".join(line.rstrip() for line in captured.get().splitlines()), highlight=False)


def show_tables(console: Console, tables: Sequence[Layout]) -> None:
    """Print tables; columns that do not fit the width go into further tables below."""
    for k, table in enumerate(tables):
        if k:
            show(console, "")
        if table.title:
            show(console, Text(plain(table.title), "bold"))
        if table.above:
            show(console, *table.above, "")
        # A value and two limits are long: to a pipe, such tables are as wide as on a usual terminal.
        has_limits = any(len(text) > 1 for part in table.cells for text in part.texts)
        width = PIPE_WIDTH if has_limits and not console.is_terminal else console.width
        rest = table.cells
        if not rest:
            show(console, _table(table.names, []))
        while rest:
            taken = 1
            while taken < len(rest) and _width(console, table.names, rest[: taken + 1]) <= width:
                taken += 1
            show(console, _table(table.names, rest[:taken]))
            rest = rest[taken:]
            if rest:
                show(console, "")
        if table.below:
            show(console, *[""] * (len(table.below) > 1), *(Text(plain(line), "dim") for line in table.below))


def text_table(*headers: str, right: slice = slice(0)) -> Table:
    """Make an empty table with these headers; the columns ``right`` have numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for header in headers:
        table.add_column(Text(plain(header, keep="\n")), overflow="fold")
    for column in table.columns[right]:
        column.justify = "right"
    return table


def _table(names: Sequence[Cells], cells: Sequence[Cells]) -> Table:
    has_limits = [any(len(text) > 1 for text in part.texts) for part in cells]
    headings = [fold(part.heading, WIDE if limits else NARROW) for part, limits in zip(cells, has_limits, strict=True)]
    table = text_table(*(part.heading for part in names), *headings)
    for column, part in zip(table.columns, [*names, *cells], strict=True):
        column.justify = "right" if part.is_number else "left"
        column.no_wrap = part.is_number
    for row in zip(*map(_marked, [*names, *cells]), strict=True):
        table.add_row(*row)
    return table


def _marked(column: Cells) -> list[Text]:
    """Texts on the screen: limits stand below each other, and values that are the best have a star and a colour."""
    wide = [max((len(text[k]) for text in column.texts if len(text) > k), default=0) for k in range(3)]
    cells = []
    for k, (value, *limits) in enumerate(column.texts):
        is_best = bool(column.best) and column.best[k]
        shown = column.written[k]
        if limits and column.is_even:
            shown = f"{value} [{limits[0]:>{wide[1]}}, {limits[1]:>{wide[2]}}]"
        shown += ("*" if is_best else " ") if column.best else ""
        shown += sign_of(column.statuses[k]) if column.statuses else ""
        cells.append(Text(plain(shown), BEST if is_best else column.styles.get(value, "")))
    return cells


def _width(console: Console, names: Sequence[Cells], cells: Sequence[Cells]) -> int:
    """The width of a table whose long texts, which are no names, are broken into lines."""
    table = _table(names, cells)
    for column in table.columns[len(names) :]:
        column.max_width = None if column.no_wrap else PROSE
    return console.measure(table, options=console.options.update(max_width=10**6)).maximum


PROSE = 25  # letters of a line of a long text
NARROW = 10  # letters of a header above numbers
WIDE = 20  # above numbers with limits


def fold(label: str, width: int = NARROW) -> str:
    """Break a label into lines after ``_``, ``:``, ``,``, ``(`` or a blank; above numbers an average has its own."""
    lines = [""]
    for part in re.split(r"(?<=[_:( ])(?<! of )|(?<=,)(?! )", label):
        is_average = width == NARROW and lines[-1].endswith(", ")
        if lines[-1] and (is_average or len(lines[-1]) + len(part.rstrip()) > width):
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def show_notes(console: Console, tables: Sequence[Layout], notes: Sequence[str], prefix: str | None) -> None:
    """Print the meaning of signs and, unless the prefix of its name is None, which row is most often the best."""
    cells = [part for table in tables for part in table.cells]
    signs = ["* best of its measure"] * any(any(part.best) for part in cells)
    signs += ["– undefined"] * any(text[0] == UNDEFINED for part in cells for text in part.texts)
    signs += [table.sorting for table in tables[:1] if table.sorting]
    lines = [Text("; ".join([*signs, *notes]), "dim")] if signs or notes else []
    marked = [table for table in tables if any(any(part.best) for part in table.cells)]
    if prefix is not None and len(marked) == 1:
        judged = sum(any(part.best) for part in marked[0].cells)
        wins: Counter[str] = Counter()
        rows = [", ".join(texts) for texts in zip(*(part.written for part in marked[0].names), strict=True)]
        for part in marked[0].cells:
            wins.update(name for name, is_best in zip(rows, part.best, strict=False) if is_best)
        most = max(wins.values())
        best = listed((prefix + name for name, count in wins.items() if count == most), 3)
        if 2 * most > judged:
            lines.append(Text(f"best in {most} of {judged} measures: {best}", BEST))
        else:
            lines.append(Text(f"most often best, in {most} of {judged} measures: {best}"))
    if lines:
        show(console, "", *lines)


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
