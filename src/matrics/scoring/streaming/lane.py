"""What a lane is: the way of a block to where it is scored, and of its results back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

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
        """The dtype in which cells of this one are sent."""

    @abstractmethod
    def start(self, block: NumPyArray) -> Any:
        """Send a block (k, n, n) and have it scored; what this gives is for ``finish``.

        No block is larger than the first.
        """

    @abstractmethod
    def finish(self, ticket: Any) -> tuple[list[NumPyArray], NumPyArray]:
        """Wait for a block: values (k,) or (k, n), which may be overwritten later, and positions of invalid matrices.

        Where a block was filled up there may be more than k.
        """

    def close(self) -> None:  # noqa: B027 (most have nothing to do)
        """Wait for what is still on its way, as after an error: its memory is about to be used for something else."""
