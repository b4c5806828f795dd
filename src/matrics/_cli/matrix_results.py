"""Results of many matrices: in files, as tables or summaries on the screen, and in other formats."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from matrics._cli.blocks import BlockResult, in_order, joined
from matrics._cli.results import Result, keys_of, layouts, refuse_same
from matrics._cli.screen import show, show_statuses, show_tables
from matrics._cli.summary import MOST_ROWS, Summary, disparity_rows, summary_result
from matrics._cli.writers import open_console
from matrics._files.outputs.destination import check_output
from matrics._files.outputs.whole import table_of, whole_output
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from matrics._cli.run import Run
    from matrics._cli.writers import Delivery
    from matrics._files.outputs.whole import Output


Array = Any


def open_work(path: Path, output: str | None) -> AbstractContextManager[Output | None]:
    """Open the output of a command that reads this input; None is the screen."""
    return contextlib.nullcontext() if output is None else whole_output(check_output(output, path), [path])


def deliver(
    run: Run,
    work: Output | None,
    delivery: Delivery,
    *,
    disparity: bool = False,
    positive: str | None = None,
    library: str | None = None,
) -> None:
    """Write all results to a file, or show them as a table or, for many matrices, as a summary.

    ``library`` is the array library whose version matters besides that of NumPy.
    """
    if work is not None:
        _write(run, work, disparity=disparity)
        return
    summary = Summary(len(run.columns))
    if delivery.is_table and run.source.count > MOST_ROWS:
        for block in _computed(run):
            summary.add(block.start, run.summarised(block.values))
        delivery.write(lambda: _summarised(run, summary, disparity=disparity))
        return
    every = joined(list(_computed(run)))
    rows = np.arange(run.source.count)
    if run.manner.on_invalid == "skip":
        rows = rows[every.valid]
    values = every.values[rows]
    if disparity:
        summary.add(0, values)

    def result() -> Result:
        keys = {name: of_all.take(rows) for name, of_all in run.source.columns(0, run.source.count).items()}
        refuse_same("format", [*keys, *run.labels])
        names = [run.source.name(position) for position in rows.tolist()]
        tables = {"disparity": disparity_rows(summary, run.columns, names.__getitem__)} if disparity else {}
        cells, facts = keys_of(keys) | run.rows_of(values), run.facts(positive)
        libraries = () if library is None else (library,)
        return Result(
            *(run.command, run.titles, facts, cells, run.measures, tables),
            libraries=libraries,
            ordered=run.source.in_order,
        )

    delivery.write(result)


def _summarised(run: Run, summary: Summary, *, disparity: bool) -> Result:
    names = run.source.name
    found = summary_result(summary, run.columns, run.titles, total=run.remaining, names=names, of_widths=run.summarises)
    tables = {"disparity": disparity_rows(summary, run.columns, names)} if disparity else {}
    return replace(found, tables=tables, totals=run.totals.statuses)


def _write(run: Run, work: Output, *, disparity: bool) -> None:
    refuse_same("output", [*(key.name for key in run.source.keys), *run.labels])
    summary = Summary(len(run.columns)) if disparity else None
    write_blocks(run, work, summary)
    console = open_console()
    written = f"{counted(run.remaining, 'row')} of {counted(len(run.columns), run.unit)}"
    show(console, *run.titles, f"{work.destination.path}: {written}")
    show_statuses(console, run.totals.statuses, signs=False)
    if summary is not None:
        show_tables(console, layouts(disparity_rows(summary, run.columns, run.source.name), ordered=True))


def _computed(run: Run) -> Iterator[BlockResult]:
    """The results of all pieces, while it is shown how far the run is."""
    with run.shown():
        for block in run.found():
            run.totals.add(block)
            yield block
    if not run.remaining:
        raise ValueError(f"{run.source.file}: expected at least one valid matrix, got none")


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
