"""Lanes: the transfer of a block to the device, its scoring, and the transfer of its results back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from matrics._catalogue.record import Metric
from matrics._engine.execution.blocks import score_blocks
from matrics.typing import NumPyArray

if TYPE_CHECKING:
    import numpy as np


class Lane(ABC):
    """The transfers to a device and back; blocks are started in order, and finished in that order."""

    ahead: ClassVar[int] = 0
    """The number of blocks in transfer while another block is started."""

    block_bytes: int = 64 * 2**20
    """The size of a block, large enough that starting it takes less time than scoring it."""

    @abstractmethod
    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype in which cells of this dtype are sent."""

    @abstractmethod
    def start(self, block: NumPyArray) -> Any:
        """Send a block (k, n, n) and start its scoring; the result is the argument of ``finish``.

        No block is larger than the first.
        """

    @abstractmethod
    def finish(self, ticket: Any) -> tuple[list[NumPyArray], NumPyArray]:
        """Wait for a block: values (k,) or (k, n), which may be overwritten later, and positions of invalid matrices.

        A padded block may have more than k.
        """

    def close(self) -> None:  # noqa: B027 (most have nothing to do)
        """Wait for pending transfers, for example after an error, before their memory is reused."""


class HostLane(Lane):
    """The host needs no transfers."""

    block_bytes = 16 * 2**20  # the block is read at once, and scored in smaller blocks

    def __init__(self, metrics: tuple[Metric, ...], zero_division: float, workers: int) -> None:
        self._functions = [metric.bind() for metric in metrics]
        self._zero_division, self._workers = zero_division, workers

    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype itself."""
        return dtype

    def start(self, block: NumPyArray) -> tuple[list[NumPyArray], NumPyArray]:
        """Score the block."""
        return score_blocks(block, self._functions, self._zero_division, self._workers)

    def finish(self, ticket: tuple[list[NumPyArray], NumPyArray]) -> tuple[list[NumPyArray], NumPyArray]:
        """The results, which are complete."""
        return ticket
