"""Runs on the screen, as a table or a summary, or in a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from matrics.cli import printing
from matrics.cli.block_results import BlockResult, joined
from matrics.cli.interval import IntervalRun
from matrics.cli.printing import counted
from matrics.cli.run import Run
from matrics.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matrics.files.outputs.unfinished import Unfinished

Array = Any


def deliver(run: Run, work: Unfinished | None, *, disparity: bool = False) -> None:
    """Write all results to a file, or show them as a table or, for many matrices, as a summary."""
    if work is not None:
        _write(run, work, disparity=disparity)
    elif run.source.count > printing.MOST_ROWS:
        _summarise_intervals(run) if isinstance(run, IntervalRun) else _summarise(run, disparity=disparity)
    elif isinstance(run, IntervalRun):
        _tabulate_intervals(run)
    else:
        _tabulate(run, disparity=disparity)


def _write(run: Run, work: Unfinished, *, disparity: bool) -> None:
    from matrics.cli.interval_report import show_statuses
    from matrics.cli.write_blocks import write_blocks

    both = sorted({key.name for key in run.source.keys} & set(run.labels))
    if both:
        raise ValueError(
            f"--output: expected different names, got a measure and a column of the file both named {quoted(both[0])}"
        )
    summary = printing.Summary(len(run.columns)) if disparity else None
    write_blocks(run, work, summary)
    rows = counted(_rows(run), "row")
    console = open_console()
    written = f"{work.destination.path}: {rows} of {counted(len(run.columns), run.unit)}"
    printing.show(console, *_title(run), Text(printing.plain(written)))
    show_statuses(console, run.totals.statuses, signs=False)
    if summary is not None:
        from matrics.cli.disparity_report import show_disparity

        show_disparity(console, run.columns, summary, run.source.name)


def _rows(run: Run) -> int:
    """The number of matrices, without those that are left out."""
    return run.source.count - (run.totals.invalid if run.manner.on_invalid == "skip" else 0)


def _found(run: Run) -> Iterator[BlockResult]:
    """All that is found, while it is shown how far the run is."""
    with run.shown():
        for found in run.found():
            run.totals.add(found)
            yield found
    _refuse_none(run)


def _refuse_none(run: Run) -> None:
    """Raise if all matrices are left out."""
    if not _rows(run):
        raise ValueError(f"{run.source.file}: expected at least one valid matrix, got none")


def _all_found(run: Run) -> tuple[Array, list[str]]:
    """The results of a few matrices, and their names."""
    found = joined(list(_found(run)))
    rows = np.arange(run.source.count)
    if run.manner.on_invalid == "skip":
        rows = rows[found.valid]
    return found.values[rows], [run.source.name(position) for position in rows.tolist()]


def _summarise(run: Run, *, disparity: bool) -> None:
    summary = printing.Summary(len(run.columns))
    for found in _found(run):
        summary.add(found.start, found.values)
    console = open_console()
    printing.show(console, *_title(run), Text())
    printing.show_summary(console, run.columns, summary, _rows(run), run.source.name)
    if disparity:
        from matrics.cli.disparity_report import show_disparity

        show_disparity(console, run.columns, summary, run.source.name)


def _tabulate(run: Run, *, disparity: bool) -> None:
    scores, names = _all_found(run)
    console = open_console()
    printing.show(console, *_title(run), Text())
    printing.show_scores(console, run.columns, scores, names, run.source.heading, ordered=run.source.in_order)
    if disparity:
        from matrics.cli.disparity_report import show_disparity

        summary = printing.Summary(len(run.columns))
        summary.add(0, scores)
        show_disparity(console, run.columns, summary, names.__getitem__)


def _summarise_intervals(run: IntervalRun) -> None:
    from matrics.cli.interval_report import show_statuses, widths

    summary = printing.Summary(len(run.columns))
    for found in _found(run):
        summary.add(found.start, widths(found.values))
    console = open_console()
    printing.show(console, *_title(run), Text("how wide they are, from the lower to the upper limit:"), Text())
    columns = [printing.Column(column.label, column.range, None) for column in run.columns]  # no width is the best
    printing.show_summary(console, columns, summary, _rows(run), run.source.name, missing="no limits")
    show_statuses(console, run.totals.statuses, signs=False)


def _tabulate_intervals(run: IntervalRun) -> None:
    from matrics.cli.interval_report import show_intervals, show_statuses

    found, names = _all_found(run)
    console = open_console()
    printing.show(console, *_title(run), Text())
    show_intervals(console, run.columns, found, names, run.source.heading, ordered=run.source.in_order)
    show_statuses(console, run.totals.statuses, signs=True)


def _title(run: Run) -> list[Text]:
    weighted = getattr(run.source, "squares", None) is not None
    total = f"weights of {run.totals.samples:,.7g} in all" if weighted else counted(run.totals.samples, "sample")
    lines = [f"{run.source.file}: {run.counts}, {total}"]
    if isinstance(run, IntervalRun):
        lines.append(run.title)
    if run.totals.invalid:
        lines.append(_invalid(run))
    return [Text(printing.plain(line)) for line in lines]


def _invalid(run: Run) -> str:
    """How many matrices are invalid, which are the first of them, and what became of them."""
    totals = run.totals
    names = ", ".join(run.source.name(position) for position in totals.first_invalid)
    more = totals.invalid - len(totals.first_invalid)
    what = "left out" if run.manner.on_invalid == "skip" else "undefined"
    named = f": {names}" + (f" and {more:,} more" if more else "") if run.source.keys else ""
    return f"{counted(totals.invalid, 'invalid matrix', 'invalid matrices')}, {what}{named}"


def open_console() -> Console:
    """A console on standard output."""
    # A pipe has no width: do not split lines.
    return Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
