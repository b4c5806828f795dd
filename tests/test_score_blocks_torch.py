"""score_blocks on PyTorch's devices: nothing waits that need not, and no memory is used again too early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lazily import LazyModule, lazily

import matrics
from matrics._scoring import streaming

torch = lazily("torch")
late_streams = LazyModule("late_streams")
lanes = LazyModule("matrics._scoring.streaming.torch")
RANDOM = np.random.default_rng(0)
METRICS = ["core", "recall:class", "mcc:one_vs_rest"]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = late_streams.LateDevice()
    monkeypatch.setattr("torch.get_device_module", lambda _: made)
    host, lane = torch.device("cpu"), late_streams.LateLane
    monkeypatch.setattr(streaming, "_lane", lambda _, metrics, *rest: lane(host, metrics, rest[0]))
    late_streams.WAITS.clear()
    with late_streams.LateCopies(made):
        yield made


@pytest.mark.sampled(1)
@pytest.mark.parametrize("blocks", [1, 2, 3, 8])
def test_nothing_is_used_before_it_is_there_nor_written_before_it_is_used(late: Any, blocks: int) -> None:
    stack = RANDOM.integers(0, 50, (blocks * 10 - 3, 3, 3)).astype(np.float64)
    found = matrics.score_blocks(stack, METRICS, device="late", block_bytes=720)
    for name, values in matrics.score(stack, METRICS).items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
    assert len(late_streams.WAITS) == blocks  # the one wait of each
    assert late.now.done == len(late.now.queue)


def test_copies_in_threads(late: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of blocks and results, to another dtype as well."""
    monkeypatch.setattr(late_streams.LateLane, "workers", 3)
    for dtype in (np.float64, np.uint16):
        stack = RANDOM.integers(0, 50, (100_000, 3, 3)).astype(dtype)
        found = matrics.score_blocks(stack, ["accuracy", "recall:class"], device="late", block_bytes=3 * 2**20 + 999)
        for name, values in matrics.score(stack, ["accuracy", "recall:class"]).items():
            np.testing.assert_allclose(found[name], values, rtol=1e-12, err_msg=name)
    assert late.now.done == len(late.now.queue)


def test_an_error_waits_for_what_is_on_its_way(late: Any) -> None:
    stack = np.ones((40, 3, 3))
    stack[0] = -1
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"^1 of the first 10 confusion"):
        matrics.score_blocks(stack, METRICS, device="late", block_bytes=720, invalid="raise")
    assert late.now.done == len(late.now.queue)


def test_scoring_waits_for_nothing_and_leaves_the_device_alone() -> None:
    """Fake tensors have no values, so that ``item()`` raises; and nothing is made anywhere else."""
    from torch._subclasses import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: set[str] = set()

    class Devices(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            seen.update(str(x.device) for x in torch.utils._pytree.tree_leaves(made) if isinstance(x, torch.Tensor))
            return made

    chosen = matrics._scoring.score.resolve(METRICS)
    elsewhere = "lazy"  # a build for the CPU cannot index fake tensors on "cuda"
    lane = lanes.PlainLane(torch.device(elsewhere), tuple(chosen.values()), 0.0)
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
        ("cuda:0", "device: expected an available device, got 'cuda:0', and PyTorch finds no cuda"),
    ],
)
def test_devices_that_are_not_there(device: str, message: str) -> None:
    if device == "cuda:0" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=message):
        matrics.score_blocks(np.ones((2, 2, 2)), device=device)


def test_a_tensor_elsewhere_is_refused() -> None:
    with pytest.raises(TypeError, match=r"stack: expected an array on the host, got a tensor on meta: matrics\.score"):
        matrics.score_blocks(torch.ones((2, 2, 2), device="meta"), device="cpu")


def test_the_lane_of_each_kind_of_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams where the device has them; 32 bits on Apple's GPUs, which have neither."""
    monkeypatch.setattr("torch.get_device_module", lambda _: late_streams.LateDevice())
    metrics = (matrics.mcc,)
    assert type(lanes.lane(torch.device("cpu"), metrics, 0.0)) is lanes.StreamLane
    monkeypatch.setattr("torch.get_device_module", lambda _: object())
    apple = lanes.lane(torch.device("mps"), metrics, 0.0)
    assert type(apple) is lanes.PlainLane
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
