"""Rows without a value where one is expected: an error, left out, or of a class of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics.files.columns import decoded, is_missing
from matrics.files.names import wanted_columns

if TYPE_CHECKING:
    from matrics.files.names import Names
    from matrics.files.rows import Batch

MISSING_CLASS = "(missing)"  # what the class of labels without a value is called


def settled(table: Any, names: Names) -> tuple[Any, int]:
    """A table, or a batch, without the rows that are left out, and their number."""
    if names.missing == "drop":
        expected = [name for name in wanted_columns(names) if name not in names.texts]
        holes = [is_missing(decoded(table[name])) for name in expected]
        wrong = np.logical_or.reduce(holes) if holes else np.zeros(len(table), bool)
        return (table.filter(pa.array(~wrong)), int(wrong.sum())) if wrong.any() else (table, 0)
    if names.missing == "class":
        for name in names.labels:
            place = table.schema.names.index(name)
            table = table.set_column(place, name, _filled(table[name]))
    return table, 0


def _filled(column: Any) -> Any:
    """Labels as text, which all batches must have alike."""
    text = pc.cast(decoded(column), pa.large_string())
    return pc.if_else(pc.equal(pc.fill_null(text, ""), ""), pa.scalar(MISSING_CLASS, pa.large_string()), text)


def settled_batch(batch: Batch, names: Names) -> tuple[Batch, int]:
    """The same for a batch of a file."""
    table, left_out = settled(batch.table, names)
    return replace(batch, table=table), left_out


def said(left_out: int, names: Names) -> str:
    """How many rows are left out, in words."""
    rows = f"{left_out:,} row{'' if left_out == 1 else 's'}"
    return f"left out {rows} without a value in {', '.join(wanted_columns(names))}"
