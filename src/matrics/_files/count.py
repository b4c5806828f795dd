"""Count all rows of an input."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from matrics._files.missing import left_out_text
from matrics._files.notices import say, warn_of_odd_labels
from matrics._files.rows import RowReader, ahead, named

if TYPE_CHECKING:
    from matrics._files.counts import SortedCounts
    from matrics._files.inputs import LabelRows


class Watched(Protocol):
    """The progress of a count."""

    rows: int
    read: float  # bytes


@dataclass
class _Unwatched:
    rows: int = 0
    read: float = 0.0


Watch = Callable[[RowReader], AbstractContextManager[Watched]]  # shows the progress of a count


def unwatched(rows: RowReader) -> AbstractContextManager[Watched]:
    """Show nothing."""
    del rows
    return contextlib.nullcontext(_Unwatched())


def count(labels: LabelRows, watch: Watch = unwatched, *, warns: bool = True) -> SortedCounts:
    """Count all rows.

    With ``warns``, a warning on stderr lists labels that are probably mistakes.
    """
    counts = labels.counts()
    with watch(labels.rows) as watched, contextlib.closing(ahead(labels.rows.batches())) as batches:
        for _, batch in batches:
            with named(batch.file):
                counts.add(batch)
            watched.rows, watched.read = counts.rows, batch.read
    with named(labels.file):
        result = counts.counted()
    if counts.left_out:
        say(f"{labels.file}: {left_out_text(counts.left_out, labels.names)}")
    if warns and not labels.is_log and labels.names.order is None:  # a user who lists all labels means each of them
        warn_of_odd_labels(labels.file, *result.sides)
    return result
