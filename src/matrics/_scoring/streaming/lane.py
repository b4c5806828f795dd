"""Lanes: the transfer of a block to the device, its scoring, and the transfer of its results back."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from matrics._catalogue.record import Metric
from matrics._engine.execution.blocks import in_threads, number_of_threads, score_blocks
from matrics.typing import NumPyArray

# A thread starts in the time in which a core copies so many bytes.
BYTES_OF_A_THREAD = 2**20


class Lane(ABC):
    """The transfers to a device and back; blocks are started in order, and finished in that order."""

    ahead: ClassVar[int] = 0
    """The number of blocks in transfer while another block is started."""

    block_bytes: int = 64 * 2**20
    """The size of a block, large enough that starting it takes less time than scoring it."""

    workers: int = 1
    """The number of threads of the host."""

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
        self._zero_division, self.workers = zero_division, workers

    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype itself."""
        return dtype

    def start(self, block: NumPyArray) -> tuple[list[NumPyArray], NumPyArray]:
        """Score the block."""
        return score_blocks(block, self._functions, self._zero_division, self.workers)

    def finish(self, ticket: tuple[list[NumPyArray], NumPyArray]) -> tuple[list[NumPyArray], NumPyArray]:
        """The results, which are complete."""
        return ticket


def copy_rows(target: NumPyArray, source: NumPyArray, workers: int) -> None:
    """Copy an array into another, which may have another dtype, in threads: a single core cannot keep a bus busy."""

    def copy(parts: Iterable[slice]) -> None:
        with np.errstate(all="ignore"):  # too large numbers become infinite; the state is that of a thread
            for part in parts:
                np.copyto(target[part], source[part], casting="unsafe")

    threads = max(1, min(number_of_threads(workers), len(source), source.nbytes // BYTES_OF_A_THREAD))
    if threads == 1:
        copy([slice(None)])
        return
    bounds = [len(source) * k // threads for k in range(threads + 1)]
    in_threads(copy, [[slice(start, stop)] for start, stop in itertools.pairwise(bounds)])
