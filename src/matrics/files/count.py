"""All rows of an input counted, while it is shown how far that is, and kept what is counted for a run that goes on."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matrics.files.rows import OpenRows, TextRows, ahead, named
from matrics.files.counts import Counter
from matrics.cli.progress import RowProgress, shown

if TYPE_CHECKING:
    from matrics.files.counts import Counted
    from matrics.files.inputs import Input
    from matrics.files.outputs.unfinished import Unfinished

SAVE_EVERY = 1.0  # seconds
SAVING = 0.05  # the part of the time that saving may take


@dataclass(frozen=True)
class Beside:
    """What is done beside counting."""

    work: Unfinished | None = None  # keeps what is counted
    progress: bool = False  # whether lines say how far it is


COUNT_ALONE = Beside()


@dataclass
class Keeper:
    """Saves a counter now and then."""

    work: Unfinished | None
    due: float = 0.0

    def __post_init__(self) -> None:
        if self.work is not None and not self.work.can_be_repeated:
            self.work = None
        self.due = time.monotonic() + SAVE_EVERY

    def begin(self, given: Input) -> Counter:
        """What an earlier run has saved, or nothing counted yet."""
        if self.work is None or not self.work.rows:
            return given.counter()
        with self.work.counted.open("rb") as file:
            return Counter.load(file)

    def tell(self, counter: Counter) -> None:
        """Save what is counted, if it is time."""
        begin = time.monotonic()
        if self.work is None or begin < self.due:
            return
        self.work.save_counted(counter.rows, counter.save)
        end = time.monotonic()
        self.due = end + max(SAVE_EVERY, (end - begin) / SAVING)


def count(given: Input, beside: Beside = COUNT_ALONE) -> Counted:
    """Count all rows, or those that follow the ones that an earlier run has counted."""
    keeper = Keeper(beside.work)
    counter = keeper.begin(given)
    batches = given.rows.batches(counter.rows)
    # Text is parsed by Python itself, which does one thing at a time.
    is_text = isinstance(given.rows, (TextRows, OpenRows))
    progress = RowProgress(given.rows, counter.rows)
    with shown(progress, lines=beside.progress), contextlib.closing(batches if is_text else ahead(batches)) as found:
        for _, batch in found:
            with named(batch.file):
                counter.add(batch)
            progress.rows, progress.read = counter.rows, batch.read
            keeper.tell(counter)
    with named(given.file):
        return counter.counted()
