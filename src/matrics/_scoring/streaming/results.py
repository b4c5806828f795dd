"""The results of all blocks, on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._engine.evaluation import SHOWN, InvalidConfusionMatrix, describe_first
from matrics._scoring.streaming.lane import copy_rows
from matrics._scoring.streaming.source import BlockSource
from matrics.typing import NumPyArray


class Results:
    """Arrays for the values of all blocks, allocated when the first block has shown their shapes.

    Parameters
    ----------
    source
        The stack.
    dtype
        That in which its cells are scored.
    workers
        The number of threads that copy the values.
    """

    def __init__(self, source: BlockSource, dtype: np.dtype[Any], workers: int) -> None:
        self._source, self._dtype, self._workers = source, dtype, workers
        self._arrays: list[NumPyArray] = []
        self._first: list[tuple[int, NumPyArray]] = []
        self.invalid = 0

    def write(self, start: int, block: NumPyArray, values: list[NumPyArray], bad: NumPyArray) -> None:
        """Write the values of the block that starts here, and record its invalid matrices."""
        count = len(block)
        if not self._arrays:
            self._arrays = [np.empty((self._source.count, *value.shape[1:]), value.dtype) for value in values]
        for array, value in zip(self._arrays, values, strict=True):
            copy_rows(array[start : start + count], value[:count], self._workers)
        bad = bad[bad < count]
        self.invalid += len(bad)
        with np.errstate(all="ignore"):  # invalid matrices may be too large for the dtype
            shown = [(start + int(k), block[k].astype(self._dtype)) for k in bad[: SHOWN - len(self._first)]]
        self._first += shown

    def described(self, scored: int) -> str:
        """A line about the invalid matrices among the scored matrices."""
        total = f"{scored}" if scored == self._source.count else f"the first {scored}"
        return describe_first(self._first, self._source.batch, self.invalid, total)

    def raise_if_invalid(self, scored: int) -> None:
        """Raise InvalidConfusionMatrix if any matrix so far is invalid."""
        if self.invalid:
            raise InvalidConfusionMatrix(self.described(scored))

    def values(self) -> list[Any]:
        """All values, (*B,) or (*B, n); for a single matrix NumPy's numbers, as from ``score``."""
        return [array.reshape(self._source.batch + array.shape[1:])[()] for array in self._arrays]
