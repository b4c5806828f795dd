"""Memory that is used again for every block of a stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import Array

# Freed memory up to this size is kept for the next block, if the C library is glibc (whose limit is 32 MiB).
KEPT_BYTES = 31 * 1024 * 1024


class Scratch:
    """Memory that a thread reuses for every block, because fresh pages cost more than the computation."""

    def __init__(self, size: int, look: int, dtype: Any) -> None:
        self.cells = np.empty(size, dtype)
        self._look = max(1, min(size, look))
        self._rounded: Array | None = None
        self._equal: Array | None = None

    def copy(self, x: Array) -> Array:
        """The same numbers, contiguous and floating."""
        cells = self.cells[: x.size].reshape(x.shape)
        np.copyto(cells, x, casting="unsafe")
        return cells

    def floats(self, x: Array) -> Array:
        """The same numbers in the dtype in which they are scored: ``x`` itself if it has it."""
        return x if x.dtype == self.cells.dtype else self.copy(x)

    def all_integers(self, cells: Array) -> bool:
        """Whether all cells are integer-valued."""
        if self._rounded is None or self._equal is None:  # integers never need it
            self._rounded, self._equal = np.empty(self._look, cells.dtype), np.empty(self._look, np.bool_)
        # In the order of their memory, whichever of the two it is.
        flat = (cells if cells.flags.c_contiguous else cells.transpose(2, 0, 1)).reshape(-1)
        for start in range(0, flat.size, self._look):
            some = flat[start : start + self._look]
            rounded, equal = self._rounded[: some.size], self._equal[: some.size]
            if not np.equal(some, np.rint(some, out=rounded), out=equal).all():
                return False
        return True


def keep_freed_memory() -> None:
    """Make glibc keep freed memory; otherwise fresh pages for intermediate results take up to half of the time.

    It gives back freed memory from twice the size of the largest piece on that it has seen freed: one is shown to it.
    """
    np.empty(KEPT_BYTES, np.uint8)
