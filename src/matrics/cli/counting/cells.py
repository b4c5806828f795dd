"""A stack of counts that grows with its groups and classes, up to what memory holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from matrics.tables.counts import MOST_CELLS

Array = Any

CHUNK_ROWS = 2**15  # rows whose bins are computed at a time: within the cache of a core
MOST_COUNT = 2**63 - 1
OF_MEMORY = 4  # the counts may take this part of it: they are copied when they grow, and when they are sorted
CGROUP = Path("/sys/fs/cgroup/memory.max")  # the limit of a container


class Cells:
    """Counts ``(groups, n, n)``: 64-bit integers, exact, or sums of weights."""

    def __init__(self, stack: Array | None = None) -> None:
        self._stack: Array = np.zeros((0, 0, 0), np.int64) if stack is None else stack
        self.groups, self.n = self._stack.shape[:2]
        self._total = 0 if self._stack.dtype != np.int64 else sum(map(int, self._stack.sum(axis=(1, 2))))

    @property
    def stack(self) -> Array:
        """The counts of the groups and classes so far."""
        return self._stack[: self.groups, : self.n, : self.n]

    def reserve(self, groups: int, n: int) -> None:
        """Make room, or raise before memory runs out."""
        if (groups, n) == (self.groups, self.n):
            return
        if groups * n * n > most_cells():
            raise ValueError(
                f"expected labels of few classes, got {n:,} classes in {groups:,} group{'' if groups == 1 else 's'}: "
                "too many to count"
            )
        capacity, width = self._stack.shape[:2]
        self.groups, self.n = groups, n
        if groups <= capacity and n <= width:
            return
        width = width if n <= width else max(n, min(width + width // 8, n * 2))
        capacity = capacity if groups <= capacity else max(groups, min(2 * capacity, 2 * groups))
        if capacity * width**2 > most_cells():
            capacity, width = groups, n
        old = self._stack
        # Zeros take no memory until they are written to.
        self._stack = np.zeros((capacity, width, width), old.dtype)
        kept = min(len(old), capacity), min(old.shape[1], width)
        self._stack[: kept[0], : kept[1], : kept[1]] = old[: kept[0], : kept[1], : kept[1]]

    def add(self, groups: Array | None, true: Array, pred: Array, counts: Array | None) -> None:
        """Add one sample a row, or ``counts``, to the cells of these groups and classes."""
        if counts is not None:
            self._admit(counts)
        width, flat = self._stack.shape[1], self._stack.reshape(-1)
        for start in range(0, len(true), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            if groups is None:
                bins = true[rows] * width
            else:
                bins = groups[rows] * width
                bins += true[rows]
                bins *= width
            bins += pred[rows]
            # In the order of the rows: sums of weights do not depend on where a batch ends.
            with np.errstate(over="ignore"):  # of weights, whose sum is looked at when all are added
                np.add.at(flat, bins, 1 if counts is None else counts[rows])

    def _admit(self, counts: Array) -> None:
        """Take weights from now on, or refuse counts that 64 bits cannot add up."""
        if counts.dtype == np.float64:
            self._stack = self._stack.astype(np.float64, copy=False)
            return
        self._total += (int((counts >> 32).sum()) << 32) + int((counts & (2**32 - 1)).sum())
        if self._stack.dtype == np.int64 and self._total > MOST_COUNT:
            raise ValueError(f"expected counts whose sum is below 2**63, got {self._total:,} so far")

    def ordered(self, groups: Array, classes: Array) -> Array:
        """The counts in another order of groups and classes; raises where their sum is beyond all numbers."""
        with np.errstate(over="ignore"):
            if not np.isfinite(self._stack.sum(dtype=np.float64)):
                raise ValueError("expected counts with a finite sum, got some whose sum is infinite")
        found = np.empty((len(groups), len(classes), len(classes)), self._stack.dtype)
        some = max(1, CHUNK_ROWS // len(classes) ** 2)
        for start in range(0, len(groups), some):
            block = self._stack[groups[start : start + some]]
            found[start : start + some] = block[:, classes[:, None], classes]
        return found


def most_cells() -> int:
    """How many counts a stack may have: as many as memory holds, and no more than a file of samples' IDs needs."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return MOST_CELLS
    limit = CGROUP.read_text().strip() if CGROUP.is_file() else "max"
    if limit.isdigit():
        memory = min(memory, int(limit))
    return min(MOST_CELLS, memory // (8 * OF_MEMORY))
