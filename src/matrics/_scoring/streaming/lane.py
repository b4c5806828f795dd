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
    """A way to a device and back; blocks are started in order, and finished in that order."""

    ahead: ClassVar[int] = 0
    """How many blocks may be on their way while another is started."""

    block_bytes: int = 64 * 2**20
    """How large a block should be: not so small that starting it takes longer than scoring it."""

    @abstractmethod
    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype in which cells of this dtype are sent."""

    @abstractmethod
    def start(self, block: NumPyArray) -> Any:
        """Send a block (k, n, n) and have it scored; what this gives is for ``finish``.

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
        """Any."""
        return dtype

    def start(self, block: NumPyArray) -> tuple[list[NumPyArray], NumPyArray]:
        """Score it."""
        return score_blocks(block, self._functions, self._zero_division, self._workers)

    def finish(self, ticket: tuple[list[NumPyArray], NumPyArray]) -> tuple[list[NumPyArray], NumPyArray]:
        """It is done."""
        return ticket
