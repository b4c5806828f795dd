"""From a run to its output: tables are encoded in threads while the next blocks are found, and written in order."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from matrics._cli.block_results import BlockResult
from matrics._cli.in_order import in_order
from matrics._files.outputs.whole import table_of

if TYPE_CHECKING:
    from matrics._cli.printing import Summary
    from matrics._cli.run import Run
    from matrics._files.outputs.whole import Output


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
