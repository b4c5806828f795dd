"""Count all rows of an input; the counts are saved from time to time, for ``--resume``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from matrics._files.counts import Counts
from matrics._files.missing import said
from matrics._files.notices import say, warn_of_odd_labels
from matrics._files.rows import RowReader, ahead, named

if TYPE_CHECKING:
    from matrics._files.counts import SortedCounts
    from matrics._files.inputs import LabelRows
    from matrics._files.outputs.unfinished import Unfinished

SAVE_EVERY = 1.0  # seconds
SAVING = 0.05  # the part of the time that saving may take


class Watched(Protocol):
    """How far a count is."""

    rows: int
    read: float  # bytes


@dataclass
class _Unwatched:
    rows: int = 0
    read: float = 0.0


def _unwatched(given: RowReader, before: int) -> AbstractContextManager[Watched]:
    del given, before
    return contextlib.nullcontext(_Unwatched())


@dataclass(frozen=True)
class During:
    """What happens during a count."""

    work: Unfinished | None = None  # saves the counts
    watch: Callable[[RowReader, int], AbstractContextManager[Watched]] = _unwatched  # shows how far it is


COUNT_ALONE = During()


@dataclass
class Keeper:
    """Saves counts from time to time."""

    work: Unfinished | None
    due: float = 0.0

    def __post_init__(self) -> None:
        if self.work is not None and not self.work.can_be_repeated:
            self.work = None
        self.due = time.monotonic() + SAVE_EVERY

    def begin(self, given: LabelRows) -> Counts:
        """The counts that an earlier run saved, or empty counts."""
        counts = given.counts()
        if self.work is not None and self.work.rows:
            with self.work.counted.open("rb") as file:
                counts.load(file)
        return counts

    def save(self, counts: Counts) -> None:
        """Save the counts, if it is time."""
        begin = time.monotonic()
        if self.work is None or begin < self.due:
            return
        self.work.save_counted(counts.rows, counts.save)
        end = time.monotonic()
        self.due = end + max(SAVE_EVERY, (end - begin) / SAVING)


def count(given: LabelRows, during: During = COUNT_ALONE, *, warns: bool = True) -> SortedCounts:
    """Count all rows, or the rows after those that an earlier run counted.

    With ``warns``, labels that are probably mistakes are named on stderr.
    """
    keeper = Keeper(during.work)
    counts = keeper.begin(given)
    batches = given.rows.batches(counts.rows)
    with during.watch(given.rows, counts.rows) as watched, contextlib.closing(ahead(batches)) as found:
        for _, batch in found:
            with named(batch.file):
                counts.add(batch)
            watched.rows, watched.read = counts.rows, batch.read
            keeper.save(counts)
    with named(given.file):
        made = counts.counted()
    if counts.left_out:
        say(f"{given.file}: {said(counts.left_out, given.names)}")
    if warns and not given.is_log and given.names.order is None:  # with --labels, these are meant
        warn_of_odd_labels(given.file, *made.sides)
    return made
