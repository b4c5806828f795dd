"""From a run to its output: blocks are encoded in threads while the next ones are found, and written in order."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from matrics._cli.block_results import BlockResult, Totals
from matrics._cli.in_order import in_order
from matrics._files.outputs.whole import table_of

if TYPE_CHECKING:
    from matrics._cli.printing import Summary
    from matrics._cli.run import Run
    from matrics._files.outputs.unfinished import Encoded, Unfinished


def write_blocks(run: Run, work: Unfinished, summary: Summary | None) -> None:
    """Write all unfinished blocks, and give the output its name; a summary also computes the finished blocks again."""
    output = work.begin(_schema(run), run.source.count)
    done = work.done
    if done and summary is None:
        run.restore(Totals.of_record(work.records[-1]["totals"]))

    def encode(found: BlockResult) -> tuple[BlockResult, Encoded | None]:
        return found, output.encode(_table(run, found)) if found.stop > finished else None

    finished = work.stop
    blocks = run.blocks(0 if summary is not None else done)
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
            if block is not None:
                output.append(block, {"stop": found.stop, "totals": run.totals.record()})
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
