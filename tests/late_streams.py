"""A device of PyTorch that does everything as late as it may, for the tests of score_blocks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from matrics._scoring.streaming.torch import StreamLane

WAITS: list[int] = []


class Late:
    """A stream that does what is queued only when something waits for it."""

    def __init__(self, device: Any = None) -> None:
        assert device is None or str(device) == "cpu"
        self.queue: list[Callable[[], None]] = []
        self.done = 0

    def run(self, until: int) -> None:
        while self.done < until:
            self.done += 1
            self.queue[self.done - 1]()

    def wait_stream(self, other: Late) -> None:
        until = len(other.queue)
        self.queue.append(lambda: other.run(until))

    def synchronize(self) -> None:
        self.run(len(self.queue))


class LateEvent:
    def record(self, stream: Late) -> None:
        self.stream, self.until = stream, len(stream.queue)

    def synchronize(self) -> None:
        WAITS.append(self.until)
        self.stream.run(self.until)


class LateDevice:
    """What ``torch.get_device_module`` gives: a device as lazy as can be."""

    Stream, Event = Late, LateEvent

    def __init__(self) -> None:
        self.now = Late()

    def current_stream(self, _device: Any) -> Late:
        return self.now

    @contextlib.contextmanager
    def stream(self, stream: Late) -> Iterator[None]:
        before, self.now = self.now, stream
        yield
        self.now = before


class LateCopies(TorchDispatchMode):
    """Copies that need not be waited for are done when their stream is."""

    def __init__(self, device: LateDevice) -> None:
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.ops.aten.copy_.default and (args[2:] or (kwargs or {}).get("non_blocking")):
            self.device.now.queue.append(lambda: function(*args[:2]))
            return args[0]
        return function(*args, **(kwargs or {}))


class LateLane(StreamLane):
    """Scores are late, too; what they will be made of is not known yet."""

    def _scored(self, cells: Any) -> Any:
        rooms = [torch.full_like(value, 7) for value in super()._scored(torch.zeros_like(cells))]

        def score() -> None:
            for room, value in zip(rooms, super(LateLane, self)._scored(cells), strict=True):
                room.copy_(value)

        self._module.now.queue.append(score)
        return rooms
