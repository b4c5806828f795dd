"""Count all rows of an input."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from matrics._files.missing import said
from matrics._files.notices import say, warn_of_odd_labels
from matrics._files.rows import RowReader, ahead, named

if TYPE_CHECKING:
    from matrics._files.counts import SortedCounts
    from matrics._files.inputs import LabelRows


class Watched(Protocol):
    """How far a count is."""

    rows: int
    read: float  # bytes


@dataclass
class _Unwatched:
    rows: int = 0
    read: float = 0.0


Watch = Callable[[RowReader], AbstractContextManager[Watched]]  # shows how far a count is


def unwatched(given: RowReader) -> AbstractContextManager[Watched]:
    """Show nothing."""
    del given
    return contextlib.nullcontext(_Unwatched())


def count(given: LabelRows, watch: Watch = unwatched, *, warns: bool = True) -> SortedCounts:
    """Count all rows.

    With ``warns``, labels that are probably mistakes are named on stderr.
    """
    counts = given.counts()
    with watch(given.rows) as watched, contextlib.closing(ahead(given.rows.batches())) as found:
        for _, batch in found:
            with named(batch.file):
                counts.add(batch)
            watched.rows, watched.read = counts.rows, batch.read
    with named(given.file):
        made = counts.counted()
    if counts.left_out:
        say(f"{given.file}: {said(counts.left_out, given.names)}")
    if warns and not given.is_log and given.names.order is None:  # with labels in an order, these are meant
        warn_of_odd_labels(given.file, *made.sides)
    return made
