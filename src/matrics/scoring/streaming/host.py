"""The host itself, where blocks of files and of others' arrays are scored by NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matrics.catalogue.record import Metric
from matrics.engine.execution.blocks import score_blocks
from matrics.scoring.streaming.lane import Lane
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    import numpy as np


class HostLane(Lane):
    """Nothing is sent, and nothing waits."""

    block_bytes = 16 * 2**20  # it is scored in smaller ones, and read in one

    def __init__(self, metrics: tuple[Metric, ...], zero_division: float, workers: int) -> None:
        self._functions = [metric.bind() for metric in metrics]
        self._zero_division, self._workers = zero_division, workers

    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Any."""
        return dtype

    def start(self, block: NumPyArray) -> tuple[list[NumPyArray], NumPyArray]:
        """Score it."""
        return score_blocks(block, self._functions, self._zero_division, self._workers)

    def finish(self, ticket: tuple[list[NumPyArray], NumPyArray]) -> tuple[list[NumPyArray], NumPyArray]:
        """It is done."""
        return ticket
