"""``matrics reproduce``: the sources' numbers and figures, computed again."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from matrics._cli import options
from matrics._cli.results import Result, column
from matrics._cli.screen import show, text_table
from matrics._cli.writers import open_console, read_delivery
from matrics._errors import ArgumentError
from matrics._study import figures
from matrics._study.sources import reproduction
from matrics._study.sources.experiment import NUM
from matrics._study.sources.reproduction import SOURCES, VERDICTS, find_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from matrics._study.sources.recompute import Reproduced
    from matrics._study.sources.reproduction import Reproduction


def reproduce(
    *,
    source: Annotated[
        str | None, options.option("NUMBER|NAME", "A source: 000 or eve, 001 or review, ...", default="all")
    ] = None,
    figures: Annotated[Path | None, options.option("FOLDER", "Draw the figures of the sources here, as PNG.")] = None,
    num: Annotated[
        str | None, options.option("INTEGER", "Matrices in the random experiment of 002.", default="200000")
    ] = None,
    verbose: Annotated[
        bool, options.flag("Show every number next to the printed number.", "--verbose", "--all")
    ] = False,
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """Compute every number that the sources print again, and compare it with the print."""
    delivery = read_delivery(format_, output, [])
    chosen, drawn = None if source is None else find_source(source), options.read_integer("num", num)
    if figures is not None:
        check_folder(figures)
    reproduced = reproduction.reproduce(chosen, num=NUM if drawn is None else drawn)
    delivery.write(
        lambda: reproduction_result(reproduced), lambda console: show_reproduction(console, reproduced, verbose=verbose)
    )
    if figures is not None:
        files = list(map(str, draw(figures, chosen)))
        if delivery.is_table:
            show(open_console(), "", *files)
    if reproduced.of("unexplained"):
        raise typer.Exit(1)


def reproduction_result(reproduced: Reproduction) -> Result:
    """A row for each number."""
    numbers = reproduced.numbers
    rows = {
        name: column([getattr(number.record, name) for number in numbers])
        for name in ("source", "table", "matrix_name", "measure", "printed")
    }
    rows |= {name: column([getattr(number, name) for number in numbers]) for name in ("value", "error")}
    rows["verdict"] = column([number.verdict for number in numbers])
    rows["reason"] = column([_reason(number) for number in numbers])
    totals: Counter[str] = Counter(number.verdict for number in numbers)
    facts = {"totals": {verdict: totals[verdict] for verdict in VERDICTS}, "seed": None}
    return Result("reproduce", [repr(reproduced)], facts, rows, remarks=list(reproduced.remarks))


def check_folder(folder: Path) -> None:
    """Make the folder of the figures, before anything is computed that takes time."""
    if find_spec("matplotlib") is None:
        raise ImportError('--figures: needs matplotlib: python -m pip install "matrics[plot]"')
    if folder.exists() and not folder.is_dir():
        raise ArgumentError("figures", f"expected a folder, got the file {folder}")
    folder.mkdir(parents=True, exist_ok=True)


def draw(folder: Path, source: str | None) -> list[Path]:
    """Draw the figures of a source, or of all, into PNG files."""
    written = []
    for record in SOURCES.values():
        if source in (None, record.number):
            for name, figure in _figures(record.figures).items():
                path = folder / f"{name}.png"
                figure().savefig(path, dpi=150)
                written.append(path)
    return written


def _figures(module: str) -> dict[str, Callable[[], Figure]]:
    if module not in {file.name for file in pkgutil.iter_modules(figures.__path__)}:
        return {}  # its source has none
    return dict(importlib.import_module(f"matrics._study.figures.{module}").FIGURES)


TITLES = {
    "unexplained": "unexplained: neither as printed nor a known erratum, or not the true value",
    "erratum": "errata: the printed number is wrong",
    "ambiguous": "ambiguous: the printed text can be read in two ways",
}
STYLES = {"unexplained": "bold red", "erratum": "yellow", "ambiguous": "yellow", "match": ""}


def show_reproduction(console: Console, reproduced: Reproduction, *, verbose: bool) -> None:
    """Print the totals of each source, and what does not simply match; with ``verbose`` every number."""
    if verbose:
        for (source, table), numbers in groupby(
            reproduced.numbers, lambda number: (number.record.source, number.record.table)
        ):
            _show_table(console, f"{source} {table}", list(numbers))
    else:
        for verdict, title in TITLES.items():
            _show_reasons(console, title, reproduced.of(verdict))
    _show_totals(console, reproduced)
    if reproduced.remarks:
        show(console, "", *(Text(remark, "dim") for remark in reproduced.remarks))


def _show_totals(console: Console, reproduced: Reproduction) -> None:
    totals = reproduced.totals()
    lines = {f"{source} {SOURCES[source].title}": counts for source, counts in totals.items()}
    if len(totals) > 1:
        lines["all"] = {key: sum(counts[key] for counts in totals.values()) for key in next(iter(totals.values()))}
    table = text_table("source", *next(iter(lines.values())), right=slice(1, None))
    for name, counts in lines.items():
        cells = [Text(f"{count:,}", STYLES.get(key, "") if count else "") for key, count in counts.items()]
        table.add_row(Text(name), *cells)
    show(console, table)


def _show_reasons(console: Console, title: str, numbers: tuple[Reproduced, ...]) -> None:
    """A line for each number; below numbers with the same reason, the reason."""
    if not numbers:
        return
    table = Table.grid()
    for reason, same in groupby(numbers, _reason):
        for number in same:
            record = number.record
            what = f"{record.source} {record.table}, {record.matrix_name}: {record.measure}  "
            table.add_row(Text(what).append(f"{record.printed} / {_value(number)}", "bold"))
        table.add_row(Padding(Text(reason, "dim"), (0, 0, 0, 4)))
    show(console, Text(f"{title} (paper / true)", "bold"), "", table, "")


def _show_table(console: Console, title: str, numbers: list[Reproduced]) -> None:
    table = text_table("matrix", "measure", "paper", "here", "", "reason")
    for number in numbers:
        verdict = "" if number.verdict == "match" else number.verdict
        names = (number.record.matrix_name, number.record.measure, number.record.printed, _value(number))
        table.add_row(*(Text(name) for name in names), Text(verdict, STYLES[number.verdict]), Text(_reason(number)))
    show(console, Text(title, "bold"), table, "")


def _value(number: Reproduced) -> str:
    value = "undefined" if math.isnan(number.value) else f"{number.value:.6g}"
    return f"{value} ± {number.error:.1g}" if number.error else value


def _reason(number: Reproduced) -> str:
    """The reason, and the values under other readings."""
    others = "; ".join(f"{label}: {value:.6g}" for label, value in number.readings.items() if not math.isnan(value))
    parts = [part for part in (number.reason, others) if part]
    return ". ".join(parts) if number.verdict != "match" else others or number.reason
