"""Reproduced numbers on the screen: totals, errata and ambiguous numbers, and on request every number."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from matrics._cli.printing import show, text_table
from matrics._study.sources.reproduction import SOURCES

if TYPE_CHECKING:
    from rich.console import Console

    from matrics._study.sources.recompute import Reproduced
    from matrics._study.sources.reproduction import Reproduction

TITLES = {
    "unexplained": "unexplained: neither as printed nor a known erratum, or not the true value",
    "erratum": "errata: the printed number is wrong",
    "ambiguous": "ambiguous: the printed text can be read in two ways",
}
STYLES = {"unexplained": "bold red", "erratum": "yellow", "ambiguous": "yellow", "match": ""}


def show_reproduction(console: Console, found: Reproduction, *, verbose: bool) -> None:
    """Print the totals of each source, and what does not simply match; with ``verbose`` every number."""
    if verbose:
        for (source, table), numbers in groupby(found.numbers, lambda one: (one.record.source, one.record.table)):
            _show_table(console, f"{source} {table}", list(numbers))
    else:
        for verdict, title in TITLES.items():
            _show_reasons(console, title, found.of(verdict))
    _show_totals(console, found)
    if found.remarks:
        show(console, Text(), *(Text(remark, "dim") for remark in found.remarks))


def _show_totals(console: Console, found: Reproduction) -> None:
    totals = found.totals()
    lines = {f"{source} {SOURCES[source].title}": counts for source, counts in totals.items()}
    if len(totals) > 1:
        lines["all"] = {key: sum(counts[key] for counts in totals.values()) for key in next(iter(totals.values()))}
    table = text_table("source", *next(iter(lines.values())))
    for column in table.columns[1:]:
        column.justify = "right"
    for name, counts in lines.items():
        cells = [Text(f"{count:,}", STYLES.get(key, "") if count else "") for key, count in counts.items()]
        table.add_row(Text(name), *cells)
    show(console, table)


def _show_reasons(console: Console, title: str, numbers: tuple[Reproduced, ...]) -> None:
    """One line per number; below numbers with the same reason, the reason."""
    if not numbers:
        return
    table = Table.grid()
    for reason, same in groupby(numbers, _reason):
        for one in same:
            record = one.record
            what = f"{record.source} {record.table}, {record.matrix_name}: {record.measure}  "
            table.add_row(Text(what).append(f"{record.printed} / {_value(one)}", "bold"))
        table.add_row(Padding(Text(reason, "dim"), (0, 0, 0, 4)))
    show(console, Text(f"{title} (paper / true)", "bold"), Text(), table, Text())


def _show_table(console: Console, title: str, numbers: list[Reproduced]) -> None:
    table = text_table("matrix", "measure", "paper", "here", "", "reason")
    for one in numbers:
        verdict = "" if one.verdict == "match" else one.verdict
        names = (one.record.matrix_name, one.record.measure, one.record.printed, _value(one))
        table.add_row(*(Text(name) for name in names), Text(verdict, STYLES[one.verdict]), Text(_reason(one)))
    show(console, Text(title, "bold"), table, Text())


def _value(one: Reproduced) -> str:
    value = "undefined" if math.isnan(one.value) else f"{one.value:.6g}"
    return f"{value} ± {one.error:.1g}" if one.error else value


def _reason(one: Reproduced) -> str:
    """The reason, and the values under other readings."""
    others = "; ".join(f"{label}: {value:.6g}" for label, value in one.readings.items() if not math.isnan(value))
    parts = [part for part in (one.reason, others) if part]
    return ". ".join(parts) if one.verdict != "match" else others or one.reason
