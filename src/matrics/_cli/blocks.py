"""Blocks of results: joined, and made in threads but in order."""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Future


Array = Any


MOST_NAMED = 10  # invalid matrices


@dataclass(frozen=True)
class Piece:
    """Some matrices of a source, from ``start`` to ``stop``."""

    start: int
    stop: int
    block: Array = None  # the matrices and their keys are read here if only one thread may read the source
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
    """Pieces that follow each other, as one."""
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

    def add(self, found: BlockResult) -> None:
        """Add the results of the next block."""
        self.matrices = found.stop
        self.samples += found.samples
        self.undefined += found.undefined
        self.invalid += len(found.invalid)
        self.first_invalid += found.invalid[: MOST_NAMED - len(self.first_invalid)]
        self.statuses += found.statuses


Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def in_order(function: Callable[[Given], Made], given: Iterable[Given], workers: int) -> Generator[Made]:
    """What ``function`` makes of each, in order; few more than ``workers`` are under way or waiting at any time."""
    if workers == 1:
        yield from map(function, given)
        return
    from concurrent.futures import ThreadPoolExecutor

    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for one in given:
                waiting.append(pool.submit(function, one))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
