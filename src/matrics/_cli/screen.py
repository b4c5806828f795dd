"""Runs on the screen, as a table or a summary, or in a file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.text import Text

from matrics import IntervalStatus
from matrics._cli import printing
from matrics._cli.blocks import BlockResult, in_order, joined
from matrics._cli.interval_run import ERROR, ESTIMATE, HIGH, LOW, STATUS, IntervalRun
from matrics._cli.matrix_results import Wanted, disparities, result_of
from matrics._cli.printing import Column, Names, Summary, fold, marked, show, show_blocks, sort
from matrics._cli.run import Run, ScoreRun
from matrics._cli.writers import open_console
from matrics._errors import ArgumentError
from matrics._files.outputs.whole import table_of
from matrics._quoting import quoted
from matrics._wording import counted, plain, with_limits

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from rich.console import Console

    from matrics._files.outputs.whole import Output

Array = Any


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
PIPE_WIDTH = 100  # a value and two limits are long: to a pipe, tables are as wide as on a usual terminal


def show_intervals(
    console: Console, columns: list[Column], found: Array, names: list[str], heading: str, *, ordered: bool
) -> None:
    """Print one row per matrix, or one row per measure if there is one matrix."""
    width = None if console.is_terminal else PIPE_WIDTH
    if len(names) == 1:
        cells = {
            "value": _cells(found[0]),
            "standard error": [marked(error) for error in found[0, :, ERROR]],
            "range": [Text(column.range) for column in columns],
        }
        show_blocks(console, "measure", [Text(plain(column.label)) for column in columns], list(cells.items()), width)
        return
    order, sorting = sort(columns, found[..., ESTIMATE], ordered=ordered)
    head = [Text(plain(names[row])) for row in order]
    blocks = [(fold(column.label, 20), _cells(found[order, k])) for k, column in enumerate(columns)]
    show_blocks(console, heading, head, blocks, width)
    if sorting:
        show(console, Text(), Text(sorting, "dim"))


def _cells(found: Array) -> list[Text]:
    """Values with their limits, one below the other, and the sign of a status that is not 0."""
    texts = [with_limits(*row[[ESTIMATE, LOW, HIGH]].tolist()) for row in found]
    wide = [max(map(len, column)) for column in zip(*texts, strict=True)]
    cells = []
    for (estimate, low, high), status in zip(texts, found[:, STATUS].astype(int), strict=True):
        limits = f"[{low:>{wide[1]}}, {high:>{wide[2]}}]"
        cells.append(Text(f"{estimate:>{wide[0]}} {limits}{sign_of(status)}"))
    return cells


def sign_of(status: int) -> str:
    """The number of a status, small and raised; a space for 0."""
    return str(int(status)).translate(RAISED) if status else " "


def widths(found: Array) -> Array:
    """How wide each interval is: (rows, columns)."""
    with np.errstate(invalid="ignore"):  # between two infinite limits
        return found[..., HIGH] - found[..., LOW]


def show_statuses(console: Console, counts: Counter[int], *, signs: bool) -> None:
    """Print what every status that is not 0 means, and how many values it concerns."""
    total = sum(counts.values())
    lines = [
        Text(f"{sign_of(code) if signs else f'status {code:d}:'} {code.sentence} ({counts[code]:,} of {total:,})")
        for code in IntervalStatus
        if code and counts[code]
    ]
    if lines:
        show(console, Text(), *lines)


def show_disparity(console: Console, columns: list[Column], summary: Summary, names: Names) -> None:
    """Print the smallest and the largest value of each measure over the groups, their difference and their ratio."""
    found = disparities(summary)
    cells = {}
    for heading, values in zip(("min", "max"), found[:2], strict=True):
        where = [names(int(row)) if row >= 0 else "" for row in summary.where[heading == "max"]]
        texts = [marked(value) for value in values]
        width = max(map(len, texts))
        for text, name in zip(texts, where, strict=True):
            text.pad_left(width - len(text))
            text.append(plain(name))
        cells[heading] = texts
    for heading, values in (("difference", found.difference), ("ratio", found.ratio)):
        cells[heading] = [marked(value) for value in values]
    show(console, Text(), Text("differences between the groups:"), Text())
    show_blocks(console, "measure", [Text(plain(column.label)) for column in columns], list(cells.items()))


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
    delivery.write(result_of(run, found, rows, [line.plain for line in _title(run)], wanted))


def _write(run: Run, work: Output, *, disparity: bool) -> None:
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
        show_disparity(console, run.columns, summary, run.source.name)


def _summarise_intervals(console: Console, run: IntervalRun, summary: printing.Summary) -> None:

    printing.show(console, *_title(run), Text("how wide they are, from the lower to the upper limit:"), Text())
    columns = [printing.Column(column.label, column.range, None) for column in run.columns]  # no width is the best
    printing.show_summary(console, columns, summary, _rows(run), run.source.name, missing="no limits")
    show_statuses(console, run.totals.statuses, signs=False)


def _tabulate(console: Console, run: Run, found: Array, rows: Array, *, disparity: bool) -> None:

    names = [run.source.name(position) for position in rows.tolist()]
    heading, ordered = run.source.heading, run.source.in_order
    printing.show(console, *_title(run), Text())
    if isinstance(run, IntervalRun):
        show_intervals(console, run.columns, found, names, heading, ordered=ordered)
        show_statuses(console, run.totals.statuses, signs=True)
        return
    printing.show_scores(console, run.columns, found, names, heading, ordered=ordered)
    if disparity:
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


def write_blocks(run: Run, output: Output, summary: Summary | None) -> None:
    """Write all blocks, give the output its name, and add the values to a summary."""
    output.begin(_schema(run))

    def encode(found: BlockResult) -> tuple[BlockResult, Any]:
        return found, output.encode(_table(run, found))

    blocks = run.blocks()
    # Closed explicitly after an error, and not by garbage collection, because they have threads.
    with (
        run.shown(),
        contextlib.closing(blocks),
        contextlib.closing(in_order(encode, blocks, run.manner.workers)) as encoded,
    ):
        for found, block in encoded:
            run.totals.add(found)
            if summary is not None:
                summary.add(found.start, found.values)
            output.append(block)
    output.finish()


def _table(run: Run, found: BlockResult) -> Any:
    """The rows of a block."""
    keys = run.source.columns(found.start, found.stop) if found.keys is None else found.keys
    table = table_of({**keys, **run.outputs(found.values)})
    if found.invalid and run.manner.on_invalid == "skip":
        return table.filter(pa.array(found.valid))
    return table


def _schema(run: Run) -> Any:
    """The names and types of the columns, from a table without rows."""
    keys = {name: column[:0] for name, column in run.source.columns(0, 1).items()}
    return _table(run, BlockResult(0, 0, run.missing(0), keys=keys)).schema
