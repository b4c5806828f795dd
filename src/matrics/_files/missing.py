"""Rows with a missing value: an error, left out, or in a class for missing labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics._files.columns import decoded, is_missing, is_text
from matrics._files.labels import FALSE, MISSING_CLASS, TRUE, as_labels
from matrics._files.names import required_columns
from matrics._quoting import quoted

if TYPE_CHECKING:
    from matrics._files.names import Names
    from matrics._files.rows import Batch


def drop_missing(table: Any, names: Names) -> tuple[Any, int]:
    """A table, or a batch, without the rows that are left out, and the number of these rows."""
    if names.na:
        for name in required_columns(names):
            column = table[name]
            if is_text(getattr(column.type, "value_type", column.type)):
                table = table.set_column(table.schema.names.index(name), name, _with_nulls(column, names.na))
    if names.missing == "drop":
        expected = [name for name in required_columns(names) if name not in names.texts]
        if names.keeps_unlabelled:
            expected = [name for name in expected if name not in names.labels]
        is_missing_in = [is_missing(decoded(table[name]), nan=True) for name in expected]
        is_left_out = np.logical_or.reduce(is_missing_in) if is_missing_in else np.zeros(len(table), bool)
        left_out = int(is_left_out.sum())
        table = table.filter(pa.array(~is_left_out)) if left_out else table
    else:
        left_out = 0
    if names.keeps_unlabelled:
        for name in names.labels:
            place = table.schema.names.index(name)
            table = table.set_column(place, name, _filled(name, table[name]))
    return table, left_out


def _with_nulls(column: Any, na: tuple[str, ...]) -> Any:
    """A column of text in which the texts of ``na`` are null."""
    if isinstance(column, pa.DictionaryArray):  # the dictionary has few values
        return pa.DictionaryArray.from_arrays(column.indices, _with_nulls(column.dictionary, na))
    column = decoded(column)
    missing = pc.is_in(column, value_set=pa.array(na, column.type))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def _filled(name: str, column: Any) -> Any:
    """Labels as text, which is the same type in all batches, with the class of missing labels."""
    labels = as_labels(name, column)
    text = pc.if_else(labels, TRUE, FALSE) if pa.types.is_boolean(labels.type) else labels
    text = pc.cast(text, pa.large_string())
    if pc.any(pc.equal(text, MISSING_CLASS)).as_py():
        raise ValueError(
            f"column {quoted(name)}: expected no label {MISSING_CLASS!r}, which missing=class gives to rows without "
            "a label, got such a label: rename it, or list it as a missing value in na="
        )
    return pc.if_else(pc.equal(pc.fill_null(text, ""), ""), pa.scalar(MISSING_CLASS, pa.large_string()), text)


def drop_missing_in_batch(batch: Batch, names: Names) -> tuple[Batch, int]:
    """``drop_missing`` for a batch of a file."""
    table, left_out = drop_missing(batch.table, names)
    return replace(batch, table=table), left_out


def left_out_text(left_out: int, names: Names) -> str:
    """The message about rows that are left out."""
    rows = f"{left_out:,} row{'' if left_out == 1 else 's'}"
    return f"left out {rows} without a value in {', '.join(required_columns(names))}"
