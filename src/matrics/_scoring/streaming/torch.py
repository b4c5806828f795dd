"""PyTorch's devices: those with streams copy and compute at the same time."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
import torch

from matrics._arrays.torch import TORCH
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import scored
from matrics._quoting import quoted
from matrics._scoring.streaming.lane import Lane, copy_rows
from matrics.typing import NumPyArray

# Integers for which PyTorch's devices have hardly any operations.
_WIDER: dict[Any, Any] = {np.uint16: np.int32, np.uint32: np.int64}


def device_of(device: Any) -> torch.device:
    """The device; ValueError if no device has this name, or if it cannot compute."""
    try:
        place = torch.device(device)
        module = torch.get_device_module("cpu" if place.type == "meta" else place)
    except RuntimeError as error:
        raise ValueError(
            f"device: expected a device of PyTorch such as 'cuda:0', got {quoted(device)}; devices of JAX have no "
            "names, and are passed themselves (jax.devices()[0])"
        ) from error
    if place.type == "meta":
        raise ValueError("device: expected a device that computes, got 'meta', which has no values")
    if not module.is_available():
        raise ValueError(
            f"device: expected an available device, got {quoted(str(place))}, and PyTorch finds no {place.type}"
        )
    return place


def lane(device: torch.device, metrics: tuple[Metric, ...], zero_division: float, workers: int = 1) -> Lane:
    """The lane of a device; Apple's GPUs have no streams that PyTorch shows."""
    kind = StreamLane if hasattr(torch.get_device_module(device), "Stream") else PlainLane
    made = kind(device, metrics, zero_division)
    made.workers = workers
    return made


class TorchLane(Lane):
    """The common part of all devices: dtypes and scores."""

    def __init__(self, device: torch.device, metrics: tuple[Metric, ...], zero_division: float) -> None:
        self._device, self._zero_division = device, zero_division
        self._functions = [metric.bind() for metric in metrics]
        self._float = np.dtype(np.float32 if device.type == "mps" else np.float64)

    def dtype_for(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype of the cells, if PyTorch has it and the device supports it."""
        native: np.dtype[Any] = dtype.newbyteorder("=")
        if native.itemsize > 8 or native in (np.uint64, np.float64):
            return self._float
        wider: np.dtype[Any] = np.dtype(_WIDER.get(native.type, native))
        return wider

    def _scored(self, cells: torch.Tensor) -> list[torch.Tensor]:
        """The values, followed by the mask of valid matrices."""
        values, valid = scored(cells, TORCH, self._functions, self._zero_division)
        return [*values, valid]


class PlainLane(TorchLane):
    """A lane that sends, scores and returns a block before the next block."""

    def start(self, block: NumPyArray) -> list[torch.Tensor]:
        """Send and score the block."""
        with np.errstate(all="ignore"):  # too large numbers become infinite, and so invalid
            cells = torch.from_numpy(block.astype(self.dtype_for(block.dtype)))
        return self._scored(cells.to(self._device))

    def finish(self, ticket: list[torch.Tensor]) -> tuple[list[NumPyArray], NumPyArray]:
        """Fetch the results."""
        return _split([value.cpu() for value in ticket])


def _split(tensors: list[torch.Tensor]) -> tuple[list[NumPyArray], NumPyArray]:
    *values, valid = (value.numpy() for value in tensors)
    return values, np.flatnonzero(~valid)


class _Slot:
    """Memory for a block between the host and the device.

    Copies run with Python only from and to memory that the system does not move, which is slow to get: two slots are
    made for the first block, and used in turn.
    """

    def __init__(self, lane: StreamLane, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        self.sent = lane.pinned(shape, dtype)
        self.cells = torch.empty(shape, dtype=dtype, device=lane._device)
        self.scores: list[torch.Tensor] = []  # on the device; kept until they are copied
        self.fetched: list[torch.Tensor] = []
        self.count = 0
        self.done = lane._module.Event()


class StreamLane(TorchLane):
    """Streams for copies to the device, copies back, and the scoring of blocks.

    Python waits once a block: for the event behind the copy of its results, when the next block is already under way.
    After that the memory of its slot is free for the block after the next.
    """

    ahead: ClassVar[int] = 1

    def __init__(self, device: torch.device, metrics: tuple[Metric, ...], zero_division: float) -> None:
        super().__init__(device, metrics, zero_division)
        self._module = torch.get_device_module(device)
        self._there, self._back = self._module.Stream(device), self._module.Stream(device)
        self._slots: Any = None

    def pinned(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Pinned memory of the host, which a device can read and write directly."""
        return torch.empty(shape, dtype=dtype, device="cpu", pin_memory=self._device.type != "cpu")

    def start(self, block: NumPyArray) -> _Slot:
        """Queue the copy to the device, the scoring and the copy back, each after the previous step."""
        scoring = self._module.current_stream(self._device)
        if self._slots is None:
            dtype = torch.from_numpy(np.empty(0, self.dtype_for(block.dtype))).dtype
            self._slots = itertools.cycle([_Slot(self, block.shape, dtype) for _ in range(self.ahead + 1)])
            self._there.wait_stream(scoring)  # which may still use the memory of the slots
        slot: _Slot = next(self._slots)
        slot.count = len(block)
        sent, cells = slot.sent[: slot.count], slot.cells[: slot.count]
        copy_rows(sent.numpy(), block, self.workers)
        with self._module.stream(self._there):
            cells.copy_(sent, non_blocking=True)
        scoring.wait_stream(self._there)
        slot.scores = self._scored(cells)
        self._back.wait_stream(scoring)
        slot.fetched = slot.fetched or [
            self.pinned((len(slot.cells), *value.shape[1:]), value.dtype) for value in slot.scores
        ]
        with self._module.stream(self._back):
            for score, fetched in zip(slot.scores, slot.fetched, strict=True):
                fetched[: slot.count].copy_(score, non_blocking=True)
            slot.done.record(self._back)
        return slot

    def finish(self, ticket: _Slot) -> tuple[list[NumPyArray], NumPyArray]:
        """Wait for the copy of the results."""
        ticket.done.synchronize()
        ticket.scores = []
        return _split([value[: ticket.count] for value in ticket.fetched])

    def close(self) -> None:
        """Both streams for copies."""
        self._there.synchronize()
        self._back.synchronize()
