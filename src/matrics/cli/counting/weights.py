"""A column that says how many samples a row stands for, as ``GROUP BY`` writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics.cli import labels
from matrics.cli.counting.codes import MissingValueError
from matrics.quoting import cut, quoted

if TYPE_CHECKING:
    from matrics.cli.counting.batches import Batch

Array = Any


def weights(name: str, batch: Batch) -> Array:
    """How many samples every row stands for: 64-bit integers, or else floating numbers."""
    column = labels.decoded(batch.table[name])
    if labels.is_missing(column).any():
        raise MissingValueError
    try:
        if labels.is_text(column.type):
            column = pc.cast(column, pa.int64() if labels.all_match(column, "[0-9]+") else pa.float64())
        elif pa.types.is_decimal(column.type) and column.type.scale == 0:  # as SQL adds up integers
            column = pc.cast(column, pa.int64())
        is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not (is_number or pa.types.is_decimal(column.type)):
            raise ValueError(f"column {quoted(name)}: expected counts, which are numbers, got {column.type}")
        kind = pa.int64() if pa.types.is_integer(column.type) else pa.float64()
        counts = pc.cast(column, kind, safe=kind == pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid as error:
        raise ValueError(f"column {quoted(name)}: expected counts, which are numbers: {cut(error)}") from error
    wrong = ~((counts >= 0) & np.isfinite(counts))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected finite counts of at least 0, got {counts[row]} in row "
            f"{batch.row + row + 1} of {batch.where}"
        )
    return counts
