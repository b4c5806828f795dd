"""Blocks of results: joined, made in threads but in order, and how far a run is."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from matrics._cli.progress import shown
from matrics._progress import share_done
from matrics._progress.bar import time_text
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future
    from contextlib import AbstractContextManager


Array = Any


MOST_NAMED = 10  # invalid matrices


@dataclass(frozen=True)
class Piece:
    """Some matrices of a source, from ``start`` to ``stop``."""

    start: int
    stop: int
    block: Array = None  # the matrices, which have been read if a single thread has to read the source
    keys: dict[str, Array] | None = None


@dataclass(frozen=True)
class BlockResult:
    """The scores or intervals of the matrices from ``start`` to ``stop``; those of invalid matrices are undefined."""

    start: int
    stop: int
    values: Array  # (rows, columns, ...)
    samples: float = 0.0
    undefined: int = 0  # values of valid matrices
    invalid: tuple[int, ...] = ()  # positions in the file, in order
    statuses: Counter[int] = field(default_factory=Counter)  # of intervals: how many have each
    keys: dict[str, Array] | None = None  # the columns that name the matrices, if they were read with the matrices

    @property
    def valid(self) -> Array:
        """Which rows are valid."""
        rows = np.ones(self.stop - self.start, bool)
        rows[np.asarray(self.invalid, int) - self.start] = False
        return rows


def joined(pieces: list[BlockResult]) -> BlockResult:
    """Successive pieces, concatenated."""
    if len(pieces) == 1:
        return pieces[0]
    keys = pieces[0].keys
    return BlockResult(
        pieces[0].start,
        pieces[-1].stop,
        np.concatenate([piece.values for piece in pieces]),
        sum(piece.samples for piece in pieces),
        sum(piece.undefined for piece in pieces),
        tuple(position for piece in pieces for position in piece.invalid),
        sum((piece.statuses for piece in pieces), Counter()),
        keys and {name: pa.concat_arrays([piece.keys[name] for piece in pieces if piece.keys]) for name in keys},
    )


@dataclass
class Totals:
    """Totals of the blocks so far."""

    matrices: int = 0
    samples: float = 0.0
    undefined: int = 0
    invalid: int = 0
    first_invalid: list[int] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    current: tuple[int, int] = (0, 0)  # start and stop of the piece in the main thread

    def add(self, block: BlockResult) -> None:
        """Add the results of the next block."""
        self.matrices = block.stop
        self.samples += block.samples
        self.undefined += block.undefined
        self.invalid += len(block.invalid)
        self.first_invalid += block.invalid[: MOST_NAMED - len(self.first_invalid)]
        self.statuses += block.statuses


Item = TypeVar("Item")
Made = TypeVar("Made")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def in_order(function: Callable[[Item], Made], items: Iterable[Item], workers: int) -> Generator[Made]:
    """The result of ``function`` for each item, in order; few more than ``workers`` are computed or wait at a time."""
    if workers == 1:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@dataclass
class Progress:
    """The progress of a run over ``total`` matrices, and its speed."""

    total: int
    bytes_each: float  # the bytes of a matrix in the input; 0 if matrices were counted before
    totals: Totals
    begin: float = field(default_factory=time.monotonic)
    most: int = 0  # the largest ``done`` so far, as a piece may run several loops in sequence

    def words(self) -> str:
        """Format the progress, the speed, the time left, and the numbers of undefined scores and invalid matrices."""
        done, seconds = self.done, time.monotonic() - self.begin
        rate = done / seconds if seconds > 0 else 0.0
        parts = [f"{done:,} of {counted(self.total, 'matrix')}", f"{_short(rate)} matrices/s"]
        if self.bytes_each:
            parts.append(f"{rate * self.bytes_each / 1e6:,.0f} MB/s")
        if rate:
            parts.append(f"{time_text((self.total - done) / rate)} left")
        numbers = (("undefined", self.totals.undefined), ("invalid", self.totals.invalid))
        return ", ".join([*parts, *(f"{number:,} {what}" for what, number in numbers if number)])

    @property
    def percent(self) -> int | None:
        """The share that is done, rounded down."""
        return 100 * self.done // max(1, self.total)

    @property
    def done(self) -> int:
        """The number of completed matrices, including the completed share of the current piece."""
        start, stop = self.totals.current
        self.most = max(self.most, self.totals.matrices, start + int((share_done() or 0.0) * (stop - start)))
        return self.most


class RowsToCount(Protocol):
    """Rows that are counted."""

    @property
    def count(self) -> int | None:
        """The number of all rows, if it is known before they are read."""

    @property
    def size(self) -> int:
        """The bytes of all files; 0 if that is not known."""


@dataclass
class RowProgress:
    """How many rows of labels are counted, and how fast."""

    given: RowsToCount
    rows: int = 0
    read: float = 0.0  # in bytes
    begin: float = field(default_factory=time.monotonic)

    @functools.cached_property
    def total(self) -> int | None:
        """The number of all rows, if it is known; computed only when it is shown."""
        with contextlib.suppress(ValueError, OSError, pa.ArrowException):  # which the run itself meets, and reports
            return self.given.count
        return None

    @functools.cached_property
    def size(self) -> int:
        """The bytes of all files; 0 if that is not known."""
        with contextlib.suppress(OSError):
            return self.given.size
        return 0

    def words(self) -> str:
        """How far the count is, how fast, and for how long still."""
        rows, read, seconds = self.rows, self.read, time.monotonic() - self.begin
        rate = rows / seconds if seconds > 0 else 0.0
        of = f" of {self.total:,}" if self.total else ""
        parts = [f"{rows:,}{of} rows counted", f"{_short(rate)} rows/s"]
        bytes_rate = rate * read / rows if rows else 0.0
        if self.size and bytes_rate:
            parts += [f"{bytes_rate / 1e6:,.0f} MB/s", f"{time_text(max(0.0, self.size - read) / bytes_rate)} left"]
        return ", ".join(parts)

    @property
    def percent(self) -> int | None:
        """The share that is done, rounded down, by rows or else by bytes, if either is known."""
        if self.total:
            return 100 * self.rows // self.total
        return min(100, int(100 * self.read / self.size)) if self.size else None


def watching(*, lines: bool) -> Callable[[RowsToCount], AbstractContextManager[RowProgress]]:
    """Show how far counts of rows are: with a bar on a terminal, and elsewhere in lines if they are requested."""

    @contextlib.contextmanager
    def watch(given: RowsToCount) -> Iterator[RowProgress]:
        progress = RowProgress(given)
        with shown(progress, lines=lines):
            yield progress

    return watch


def _short(rate: float) -> str:
    """A rate in three digits."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= unit:
            return f"{rate / unit:.3g}{name}"
    return f"{rate:.3g}"
