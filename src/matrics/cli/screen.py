"""Runs on the screen, as a table or a summary, or in a file."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from matrics.cli import report
from matrics.cli.disparity_report import show_disparity
from matrics.cli.interval import IntervalRun
from matrics.cli.interval_report import count_statuses, show_intervals, show_statuses, widths
from matrics.cli.report import counted
from matrics.cli.run import Run
from matrics.cli.write import open_output


def deliver(run: Run, output: Path | None, *, disparity: bool = False) -> None:
    """Write all that is found to a file, or show it as a table or, where there are many matrices, as a summary."""
    if output is not None:
        _write(run, output, disparity=disparity)
    elif run.source.count > report.MOST_ROWS:
        _summarise_intervals(run) if isinstance(run, IntervalRun) else _summarise(run, disparity=disparity)
    elif isinstance(run, IntervalRun):
        _tabulate_intervals(run)
    else:
        _tabulate(run, disparity=disparity)


def _write(run: Run, output: Path, *, disparity: bool) -> None:
    both = sorted({key.name for key in run.source.keys} & set(run.labels))
    if both:
        raise ValueError(
            f"--output: expected different names, got a measure and a column of the file both named {both[0]!r}"
        )
    with open_output(output) as append:
        statuses: Counter[int] = Counter()
        summary = report.Summary(len(run.columns))
        for start, found in run.blocks():
            append({**run.source.columns(start, start + len(found)), **run.outputs(found)})
            if isinstance(run, IntervalRun):
                statuses += count_statuses(found)
            elif disparity:
                summary.add(start, found)
    written = f"{output}: {counted(run.source.count, 'row')} of {counted(len(run.columns), run.unit)}"
    console = open_console()
    report.show(console, *_title(run), Text(report.plain(written)))
    show_statuses(console, statuses, signs=False)
    if disparity:
        show_disparity(console, run.columns, summary, run.source.name)


def _summarise(run: Run, *, disparity: bool) -> None:
    summary = report.Summary(len(run.columns))
    for start, scores in run.blocks():
        summary.add(start, scores)
    console = open_console()
    report.show(console, *_title(run), Text())
    report.show_summary(console, run.columns, summary, run.source.count, run.source.name)
    if disparity:
        show_disparity(console, run.columns, summary, run.source.name)


def _tabulate(run: Run, *, disparity: bool) -> None:
    scores = np.concatenate([scores for _, scores in run.blocks()])
    names = [run.source.name(position) for position in range(run.source.count)]
    console = open_console()
    report.show(console, *_title(run), Text())
    report.show_scores(console, run.columns, scores, names, run.source.heading, ordered=run.source.in_order)
    if disparity:
        summary = report.Summary(len(run.columns))
        summary.add(0, scores)
        show_disparity(console, run.columns, summary, run.source.name)


def _summarise_intervals(run: IntervalRun) -> None:
    summary, statuses = report.Summary(len(run.columns)), Counter[int]()
    for start, found in run.blocks():
        summary.add(start, widths(found))
        statuses += count_statuses(found)
    console = open_console()
    report.show(console, *_title(run), Text("how wide they are, from the lower to the upper limit:"), Text())
    columns = [report.Column(column.label, column.range, None) for column in run.columns]  # no width is the best
    report.show_summary(console, columns, summary, run.source.count, run.source.name, missing="no limits")
    show_statuses(console, statuses, signs=False)


def _tabulate_intervals(run: IntervalRun) -> None:
    found = np.concatenate([found for _, found in run.blocks()])
    names = [run.source.name(position) for position in range(run.source.count)]
    console = open_console()
    report.show(console, *_title(run), Text())
    show_intervals(console, run.columns, found, names, run.source.heading, ordered=run.source.in_order)
    show_statuses(console, count_statuses(found), signs=True)


def _title(run: Run) -> list[Text]:
    lines = [f"{run.source.file}: {run.counts}, {counted(run.samples, 'sample')}"]
    if isinstance(run, IntervalRun):
        lines.append(run.title)
    return [Text(report.plain(line)) for line in lines]


def open_console() -> Console:
    """A console on standard output."""
    # A pipe has no width: do not split lines.
    return Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
