"""score_blocks on PyTorch's devices: nothing waits that need not, and no memory is used again too early."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._scoring import streaming

torch: Any = pytest.importorskip("torch")
from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from matrics._scoring.streaming.torch import PlainLane, StreamLane  # noqa: E402

RANDOM = np.random.default_rng(0)
METRICS = ["core", "recall:class", "mcc:one_vs_rest"]


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


WAITS: list[int] = []


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[LateDevice]:
    made = LateDevice()
    monkeypatch.setattr(torch, "get_device_module", lambda _: made)
    monkeypatch.setattr(streaming, "_lane", lambda _, metrics, *rest: LateLane(torch.device("cpu"), metrics, rest[0]))
    WAITS.clear()
    with LateCopies(made):
        yield made


@pytest.mark.sampled(1)
@pytest.mark.parametrize("blocks", [1, 2, 3, 8])
def test_nothing_is_used_before_it_is_there_nor_written_before_it_is_used(late: LateDevice, blocks: int) -> None:
    stack = RANDOM.integers(0, 50, (blocks * 10 - 3, 3, 3)).astype(np.float64)
    found = matrics.score_blocks(stack, METRICS, device="late", block_bytes=720)
    for name, values in matrics.score(stack, METRICS).items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
    assert len(WAITS) == blocks  # the one wait of each
    assert late.now.done == len(late.now.queue)


def test_an_error_waits_for_what_is_on_its_way(late: LateDevice) -> None:
    stack = np.ones((40, 3, 3))
    stack[0] = -1
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"^1 of the first 10 confusion"):
        matrics.score_blocks(stack, METRICS, device="late", block_bytes=720, invalid="raise")
    assert late.now.done == len(late.now.queue)


def test_scoring_waits_for_nothing_and_leaves_the_device_alone() -> None:
    """Fake tensors have no values, so that ``item()`` raises; and nothing is made anywhere else."""
    seen: set[str] = set()

    class Devices(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            seen.update(str(x.device) for x in torch.utils._pytree.tree_leaves(made) if isinstance(x, torch.Tensor))
            return made

    chosen = matrics._scoring.score.resolve(METRICS)
    elsewhere = "lazy"  # a build for the CPU cannot index fake tensors on "cuda"
    lane = PlainLane(torch.device(elsewhere), tuple(chosen.values()), 0.0)
    for dtype in (torch.float64, torch.float32, torch.int64):
        with FakeTensorMode():
            cells = torch.ones((20, 3, 3), dtype=dtype, device=elsewhere)
            with Devices():
                found = lane._scored(cells)
            shapes = [tuple(value.shape) for value in found]
        assert shapes == [(20, 3) if ":" in name else (20,) for name in chosen] + [(20,)]
    assert seen == {elsewhere}


def test_tensors_on_the_host() -> None:
    stack = torch.tensor(RANDOM.integers(0, 50, (30, 3, 3)), dtype=torch.float32)
    wanted = matrics.score(stack.numpy(), METRICS)
    for given in (stack, stack.requires_grad_(), stack.detach().to(torch.bfloat16)):
        for device in ("cpu", torch.device("cpu")):
            found = matrics.score_blocks(given, METRICS, device=device, block_bytes=400)
            for name, values in wanted.items():
                assert isinstance(found[name], np.ndarray)
                np.testing.assert_array_equal(found[name], values)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", r"device: expected a device of PyTorch such as 'cuda:0', got 'gpu'; devices of JAX"),
        ("meta", "device: expected a device that computes, got 'meta'"),
        pytest.param(
            "cuda:0",
            "device: expected an available device, got 'cuda:0', and PyTorch finds no cuda",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="it is there"),
        ),
    ],
)
def test_devices_that_are_not_there(device: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.score_blocks(np.ones((2, 2, 2)), device=device)


def test_a_tensor_elsewhere_is_refused() -> None:
    with pytest.raises(TypeError, match=r"stack: expected an array on the host, got a tensor on meta: matrics\.score"):
        matrics.score_blocks(torch.ones((2, 2, 2), device="meta"), device="cpu")


def test_the_lane_of_each_kind_of_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams where the device has them; 32 bits on Apple's GPUs, which have neither."""
    monkeypatch.setattr(torch, "get_device_module", lambda _: LateDevice())
    metrics = (matrics.mcc,)
    from matrics._scoring.streaming.torch import lane

    assert type(lane(torch.device("cpu"), metrics, 0.0)) is StreamLane
    monkeypatch.setattr(torch, "get_device_module", lambda _: object())
    apple = lane(torch.device("mps"), metrics, 0.0)
    assert type(apple) is PlainLane
    assert apple.dtype_for(np.dtype(np.float64)) == apple.dtype_for(np.dtype(np.uint64)) == np.float32
    assert apple.dtype_for(np.dtype(np.int64)) == np.int64


def test_distributed_tensors_are_scored_part_by_part() -> None:
    """A DTensor's own operations give wrong numbers or errors of PyTorch's; what a process has is a plain tensor."""
    from torch import distributed
    from torch.distributed import tensor
    from torch.distributed.tensor.experimental import local_map

    stack = torch.tensor(RANDOM.integers(1, 50, (6, 3, 3)), dtype=torch.float64)
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        mesh = distributed.init_device_mesh("cpu", (1,))
        spread = tensor.distribute_tensor(stack, mesh, [tensor.Shard(0)])
        with pytest.raises(TypeError, match=r"cm: expected .*, got a DTensor, .* \(\.to_local\(\)\)"):
            matrics.mcc(spread)
        mapped = local_map(matrics.mcc, out_placements=[tensor.Shard(0)])
        found = mapped(spread)
        assert found.placements == (tensor.Shard(0),)
        assert torch.equal(found.to_local(), matrics.mcc(stack))
    finally:
        distributed.destroy_process_group()
