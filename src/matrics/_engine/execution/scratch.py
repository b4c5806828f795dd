"""Memory that is reused for every block of a stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import Array

# glibc keeps freed memory up to this size for the next block; its limit is 32 MiB.
KEPT_BYTES = 31 * 1024 * 1024


class Scratch:
    """Memory that a thread reuses for every block, because fresh pages cost more than the computation."""

    def __init__(self, size: int, step: int, dtype: Any) -> None:
        self.cells = np.empty(size, dtype)
        self._step = max(1, min(size, step))
        self._rounded: Array | None = None
        self._equal: Array | None = None

    def copy(self, x: Array) -> Array:
        """A contiguous copy of the numbers as floats."""
        cells = self.cells[: x.size].reshape(x.shape)
        np.copyto(cells, x, casting="unsafe")
        return cells

    def floats(self, x: Array) -> Array:
        """The numbers in the dtype of the computation: ``x`` itself if it has this dtype."""
        return x if x.dtype == self.cells.dtype else self.copy(x)

    def all_integers(self, cells: Array) -> bool:
        """Whether all cells are integer-valued."""
        if self._rounded is None or self._equal is None:  # not allocated for stacks of integers
            self._rounded, self._equal = np.empty(self._step, cells.dtype), np.empty(self._step, np.bool_)
        # In the order of the memory, which is class-first or class-last.
        flat = (cells if cells.flags.c_contiguous else cells.transpose(2, 0, 1)).reshape(-1)
        for start in range(0, flat.size, self._step):
            part = flat[start : start + self._step]
            rounded, equal = self._rounded[: part.size], self._equal[: part.size]
            if not np.equal(part, np.rint(part, out=rounded), out=equal).all():
                return False
        return True


def keep_freed_memory() -> None:
    """Make glibc keep freed memory, as new pages for intermediate results take up to half of the time.

    glibc returns freed memory above twice the size of the largest freed block, so a large block is freed here.
    """
    np.empty(KEPT_BYTES, np.uint8)
