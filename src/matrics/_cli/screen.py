"""Runs on the screen, as a table or a summary, or in a file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from matrics._cli import printing
from matrics._cli.block_results import BlockResult, joined
from matrics._cli.delivery import open_console
from matrics._cli.interval import IntervalRun
from matrics._cli.run import Run, ScoreRun
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._wording import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.console import Console

    from matrics._cli.matrix_results import Wanted
    from matrics._files.outputs.whole import Output

Array = Any


def open_work(path: Path, output: str | None) -> AbstractContextManager[Output | None]:
    """Open the output of a command that reads this input; None is the screen."""
    if output is None:
        return contextlib.nullcontext()
    from matrics._files.outputs.destination import check_output
    from matrics._files.outputs.whole import whole_output

    return whole_output(check_output(output, path), [path])


def deliver(run: Run, work: Output | None, wanted: Wanted) -> None:
    """Write all results to a file, or show them as a table or, for many matrices, as a summary."""
    if work is not None or wanted.delivery is None:
        assert work is not None  # noqa: S101 (for mypy: one of them is there)
        _write(run, work, disparity=wanted.disparity)
        return
    delivery = wanted.delivery
    if delivery.is_table and run.source.count > printing.MOST_ROWS:
        summary = _summary_of(run)
        delivery.show(lambda console: _summarise(console, run, summary, disparity=wanted.disparity))
        return
    found, rows = _all_found(run)
    if delivery.is_table:
        delivery.show(lambda console: _tabulate(console, run, found, rows, disparity=wanted.disparity))
        return
    from matrics._cli.matrix_results import result_of

    delivery.write(result_of(run, found, rows, [line.plain for line in _title(run)], wanted))


def _write(run: Run, work: Output, *, disparity: bool) -> None:
    from matrics._cli.interval_report import show_statuses
    from matrics._cli.write_blocks import write_blocks

    both = sorted({key.name for key in run.source.keys} & set(run.labels))
    if both:
        raise ArgumentError(
            "output", f"expected different names, got a measure and a column of the file both named {quoted(both[0])}"
        )
    summary = printing.Summary(len(run.columns)) if disparity else None
    write_blocks(run, work, summary)
    rows = counted(_rows(run), "row")
    console = open_console()
    written = f"{work.destination.path}: {rows} of {counted(len(run.columns), run.unit)}"
    printing.show(console, *_title(run), Text(plain(written)))
    show_statuses(console, run.totals.statuses, signs=False)
    if summary is not None:
        from matrics._cli.disparity_report import show_disparity

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


def _all_found(run: Run) -> tuple[Array, Array]:
    """The results of all valid matrices, and their positions."""
    found = joined(list(_found(run)))
    rows = np.arange(run.source.count)
    if run.manner.on_invalid == "skip":
        rows = rows[found.valid]
    return found.values[rows], rows


def _summary_of(run: Run) -> printing.Summary:
    """Of the scores, or of the widths of the intervals."""
    from matrics._cli.interval_report import widths

    summary = printing.Summary(len(run.columns))
    for found in _found(run):
        summary.add(found.start, widths(found.values) if isinstance(run, IntervalRun) else found.values)
    return summary


def _summarise(console: Console, run: Run, summary: printing.Summary, *, disparity: bool) -> None:
    if isinstance(run, IntervalRun):
        _summarise_intervals(console, run, summary)
        return
    printing.show(console, *_title(run), Text())
    printing.show_summary(console, run.columns, summary, _rows(run), run.source.name)
    if disparity:
        from matrics._cli.disparity_report import show_disparity

        show_disparity(console, run.columns, summary, run.source.name)


def _summarise_intervals(console: Console, run: IntervalRun, summary: printing.Summary) -> None:
    from matrics._cli.interval_report import show_statuses

    printing.show(console, *_title(run), Text("how wide they are, from the lower to the upper limit:"), Text())
    columns = [printing.Column(column.label, column.range, None) for column in run.columns]  # no width is the best
    printing.show_summary(console, columns, summary, _rows(run), run.source.name, missing="no limits")
    show_statuses(console, run.totals.statuses, signs=False)


def _tabulate(console: Console, run: Run, found: Array, rows: Array, *, disparity: bool) -> None:
    from matrics._cli.interval_report import show_intervals, show_statuses

    names = [run.source.name(position) for position in rows.tolist()]
    heading, ordered = run.source.heading, run.source.in_order
    printing.show(console, *_title(run), Text())
    if isinstance(run, IntervalRun):
        show_intervals(console, run.columns, found, names, heading, ordered=ordered)
        show_statuses(console, run.totals.statuses, signs=True)
        return
    printing.show_scores(console, run.columns, found, names, heading, ordered=ordered)
    if disparity:
        from matrics._cli.disparity_report import show_disparity

        summary = printing.Summary(len(run.columns))
        summary.add(0, found)
        show_disparity(console, run.columns, summary, names.__getitem__)


def _title(run: Run) -> list[Text]:
    weighted = getattr(run.source, "squares", None) is not None
    total = f"weights of {run.totals.samples:,.7g} in all" if weighted else counted(run.totals.samples, "sample")
    lines = [f"{run.source.file}: {run.counts}, {total}"]
    if isinstance(run, IntervalRun):
        lines.append(run.title)
    if isinstance(run, ScoreRun) and run.target is not None:
        lines.append(run.target.title)
    if run.totals.invalid:
        lines.append(_invalid(run))
    return [Text(plain(line)) for line in lines]


def _invalid(run: Run) -> str:
    """How many matrices are invalid, which are the first of them, and what became of them."""
    totals = run.totals
    names = ", ".join(run.source.name(position) for position in totals.first_invalid)
    more = totals.invalid - len(totals.first_invalid)
    what = "left out" if run.manner.on_invalid == "skip" else "undefined"
    named = f": {names}" + (f" and {more:,} more" if more else "") if run.source.keys else ""
    return f"{counted(totals.invalid, 'invalid matrix')}, {what}{named}"
