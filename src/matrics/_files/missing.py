"""Rows without a value where one is expected: an error, left out, or of a class of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics._files.columns import decoded, is_missing, is_text
from matrics._files.labels import FALSE, MISSING_CLASS, TRUE, as_labels
from matrics._files.names import wanted_columns
from matrics._quoting import quoted

if TYPE_CHECKING:
    from matrics._files.names import Names
    from matrics._files.rows import Batch


def settled(table: Any, names: Names) -> tuple[Any, int]:
    """A table, or a batch, without the rows that are left out, and their number."""
    if names.na:
        for name in wanted_columns(names):
            column = table[name]
            if is_text(getattr(column.type, "value_type", column.type)):
                table = table.set_column(table.schema.names.index(name), name, _without(column, names.na))
    if names.missing == "drop":
        expected = [name for name in wanted_columns(names) if name not in names.texts]
        if names.keeps_unlabelled:
            expected = [name for name in expected if name not in names.labels]
        holes = [is_missing(decoded(table[name]), nan=True) for name in expected]
        wrong = np.logical_or.reduce(holes) if holes else np.zeros(len(table), bool)
        left_out = int(wrong.sum())
        table = table.filter(pa.array(~wrong)) if left_out else table
    else:
        left_out = 0
    if names.keeps_unlabelled:
        for name in names.labels:
            place = table.schema.names.index(name)
            table = table.set_column(place, name, _filled(name, table[name]))
    return table, left_out


def _without(column: Any, na: tuple[str, ...]) -> Any:
    """A column of text without those that are missing values."""
    if isinstance(column, pa.DictionaryArray):  # whose values are few
        return pa.DictionaryArray.from_arrays(column.indices, _without(column.dictionary, na))
    column = decoded(column)
    missing = pc.is_in(column, value_set=pa.array(na, column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def _filled(name: str, column: Any) -> Any:
    """Labels as text, which all batches must have alike."""
    labels = as_labels(name, column)
    text = pc.if_else(labels, TRUE, FALSE) if pa.types.is_boolean(labels.type) else labels
    text = pc.cast(text, pa.large_string())
    if pc.any(pc.equal(text, MISSING_CLASS)).as_py():
        raise ValueError(
            f"column {quoted(name)}: with missing=class, rows without a label become the class {MISSING_CLASS!r}, "
            "and the file has a label of this name: rename it, or name it as a missing value by na="
        )
    return pc.if_else(pc.equal(pc.fill_null(text, ""), ""), pa.scalar(MISSING_CLASS, pa.large_string()), text)


def settled_batch(batch: Batch, names: Names) -> tuple[Batch, int]:
    """The same for a batch of a file."""
    table, left_out = settled(batch.table, names)
    return replace(batch, table=table), left_out


def said(left_out: int, names: Names) -> str:
    """How many rows are left out, in words."""
    rows = f"{left_out:,} row{'' if left_out == 1 else 's'}"
    return f"left out {rows} without a value in {', '.join(wanted_columns(names))}"
