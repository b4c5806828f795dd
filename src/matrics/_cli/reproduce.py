"""``matrics reproduce``: computes the numbers and figures of the sources again."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from matrics._cli import options
from matrics._cli.results import Result, View, column
from matrics._cli.screen import show
from matrics._cli.writers import open_console, read_delivery
from matrics._errors import ArgumentError
from matrics._study import figures
from matrics._study.sources import reproduction
from matrics._study.sources.experiment import NUM
from matrics._study.sources.reproduction import SOURCES, VERDICTS, find_source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from matrics._study.sources.recompute import Reproduced
    from matrics._study.sources.reproduction import Reproduction


def reproduce(
    *,
    source: Annotated[
        str | None, options.option("NUMBER|NAME", "A source: 000 or eve, 001 or review, ...", default="all")
    ] = None,
    figures: Annotated[
        Path | None, options.option("FOLDER", "Draw the figures of the sources in this folder, as PNG.")
    ] = None,
    num: Annotated[
        str | None,
        options.option("INTEGER", "The number of matrices in the random experiment of 002.", default="200000"),
    ] = None,
    verbose: Annotated[
        bool, options.flag("Show every number next to the printed number.", "--verbose", "--all")
    ] = False,
    format_: options.Format = None,
    output: options.FileOutput = None,
) -> None:
    """Recompute every number that the sources print, and compare it with the printed number."""
    delivery = read_delivery(format_, output, [])
    chosen, drawn = None if source is None else find_source(source), options.read_integer("num", num)
    if figures is not None:
        check_folder(figures)
    reproduced = reproduction.reproduce(chosen, num=NUM if drawn is None else drawn)
    delivery.write(lambda: reproduction_result(reproduced, verbose=verbose))
    if figures is not None:
        files = list(map(str, draw(figures, chosen)))
        if delivery.is_table:
            show(open_console(), "", *files)
    if reproduced.of("unexplained"):
        raise typer.Exit(1)


def reproduction_result(reproduced: Reproduction, *, verbose: bool) -> Result:
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
    title = ", ".join(f"{totals[verdict]:,} {verdict}" for verdict in VERDICTS)
    return Result(
        "reproduce",
        [f"{len(numbers):,} numbers: {title}"],
        facts,
        rows,
        remarks=list(reproduced.remarks),
        views=views_of(reproduced, verbose=verbose),
    )


def check_folder(folder: Path) -> None:
    """Make the folder of the figures, before anything is computed that takes time."""
    if find_spec("matplotlib") is None:
        raise ImportError('figures need Matplotlib: python -m pip install "matrics[plot]"')
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


def views_of(reproduced: Reproduction, *, verbose: bool) -> list[View]:
    """The numbers that do not simply match, or every number, and the totals of each source."""
    if verbose:
        of_tables = groupby(reproduced.numbers, lambda number: (number.record.source, number.record.table))
        views = [_table(f"{source} {table}", list(numbers)) for (source, table), numbers in of_tables]
    else:
        views = [_reasons(title, numbers) for verdict, title in TITLES.items() if (numbers := reproduced.of(verdict))]
    return [*views, _totals(reproduced)]


def _totals(reproduced: Reproduction) -> View:
    """How many numbers of each source have each verdict."""
    totals = reproduced.totals()
    lines = {f"{source} {SOURCES[source].title}": counts for source, counts in totals.items()}
    if len(totals) > 1:
        lines["all"] = {key: sum(counts[key] for counts in totals.values()) for key in next(iter(totals.values()))}
    rows = {"source": column(list(lines), is_key=True)}
    for key in next(iter(lines.values())):
        counts = [of_source[key] for of_source in lines.values()]
        rows[key] = column(counts, styles={f"{count:,}": STYLES.get(key, "") for count in counts if count})
    return View(rows)


def _reasons(title: str, numbers: Iterable[Reproduced]) -> View:
    """A row for each number; below numbers with the same reason, the reason."""
    lines = []
    for reason, same in groupby(numbers, _reason):
        for number in same:
            record = number.record
            name = f"{record.source} {record.table}, {record.matrix_name}: {record.measure}"
            lines.append(f"{name}  {record.printed} / {_value(number)}")
        lines.append(f"    {reason}")
    return View({"number, paper / true": column(lines, is_key=True)}, title)


def _table(title: str, numbers: list[Reproduced]) -> View:
    """A row for each number of a table of a source."""
    verdicts = ["" if number.verdict == "match" else number.verdict for number in numbers]
    rows = {
        "matrix": column([number.record.matrix_name for number in numbers], is_key=True),
        "measure": column([number.record.measure for number in numbers], is_key=True),
        "paper": column([number.record.printed for number in numbers]),
        "here": column(list(map(_value, numbers))),
        "": column(verdicts, styles=STYLES),
        "reason": column(list(map(_reason, numbers))),
    }
    return View(rows, title)


def _value(number: Reproduced) -> str:
    value = "undefined" if math.isnan(number.value) else f"{number.value:.6g}"
    return f"{value} ± {number.error:.1g}" if number.error else value


def _reason(number: Reproduced) -> str:
    """The reason, and the values under other readings."""
    others = "; ".join(f"{label}: {value:.6g}" for label, value in number.readings.items() if not math.isnan(value))
    parts = [part for part in (number.reason, others) if part]
    return ". ".join(parts) if number.verdict != "match" else others or number.reason
