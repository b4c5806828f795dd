"""Blocks that are copied to a real device and back, and counts of several processes on it.

MATRICS_BACKEND=torch-cuda and jax-cuda run these; without a GPU test_score_blocks_torch.py simulates streams.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)
METRICS = ["core", "eve", "recall:class", "mcc:one_vs_rest"]
CLASSES = 4


@pytest.fixture
def place(on_device: Any) -> Any:
    """The GPU, for its library."""
    if "cuda" not in on_device.name:
        pytest.skip("needs a GPU")
    if on_device.name == "jax-cuda":
        return importlib.import_module("jax").devices()[0]
    return importlib.import_module("torch").device("cuda:0")


@pytest.fixture
def cuda(place: Any, on_device: Any) -> Any:
    """The GPU, for PyTorch."""
    if not on_device.name.startswith("torch"):
        pytest.skip("of PyTorch")
    return place


def same(found: dict[str, Any], wanted: dict[str, Any], **tolerance: float) -> None:
    assert set(found) == set(wanted)
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, err_msg=str(name), **tolerance)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u2", "u1", ">f8"])
def test_each_block_has_its_own_results(place: Any, on_device: Any, dtype: str) -> None:
    """A hundred blocks, which are copied while others are scored, and a last one that is shorter."""
    stack = RANDOM.integers(0, 200, (10_007, CLASSES, CLASSES)).astype(dtype)
    bytes_of_block = 100 * stack[0].nbytes
    single = dtype in ("f4", "f2")  # the results are then float32
    found = matrics.score_blocks(stack, METRICS, device=place, block_bytes=bytes_of_block)
    same(
        found,
        matrics.score(stack.astype("f8"), METRICS),
        **({"rtol": 3e-4, "atol": 3e-5} if single else on_device.tolerance),
    )


def test_a_file_and_views(place: Any, on_device: Any, tmp_path: Path) -> None:
    stack = RANDOM.integers(0, 50, (3_000, 2, CLASSES, CLASSES))
    np.save(tmp_path / "stack.npy", stack)
    mapped = np.load(tmp_path / "stack.npy", mmap_mode="r")
    for given in (mapped, mapped[::-2], stack.swapaxes(-1, -2), stack[:0], stack[:1]):
        found = matrics.score_blocks(given, METRICS, device=place, block_bytes=50_000)
        same(found, matrics.score(np.array(given), METRICS), **on_device.tolerance)


def test_bad_matrices(place: Any, on_device: Any) -> None:
    """They are NaN and named, and change no other result."""
    stack = RANDOM.integers(0, 50, (2_000, CLASSES, CLASSES)).astype(float)
    wanted = matrics.score(stack, METRICS)
    stack[1_234, 0, 1], stack[1_999, 2, 2] = np.nan, -1
    with pytest.warns(RuntimeWarning, match=r"^2 of 2000 confusion matrices are invalid: \[1234\] has"):
        found = matrics.score_blocks(stack, METRICS, device=place, block_bytes=10_000)
    for values in wanted.values():
        values[[1_234, 1_999]] = np.nan
    same(found, wanted, **on_device.tolerance)
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"1234"):
        matrics.score_blocks(stack, METRICS, device=place, block_bytes=10_000, invalid="raise")


def test_a_stream_of_the_caller(cuda: Any, on_device: Any) -> None:
    """The stack is scored in the stream that the caller has chosen, behind work that is queued there."""
    torch = importlib.import_module("torch")
    stack = RANDOM.integers(0, 50, (5_000, CLASSES, CLASSES))
    with torch.cuda.stream(torch.cuda.Stream(cuda)):
        torch.cuda._sleep(20_000_000)
        found = matrics.score_blocks(stack, METRICS, device=cuda, block_bytes=20_000)
    same(found, matrics.score(stack, METRICS), **on_device.tolerance)


def test_an_array_on_the_device_is_refused(place: Any, on_device: Any) -> None:
    stack = on_device.asarray(np.ones((2, 3, 3)))
    if on_device.name.startswith("torch"):
        with pytest.raises(TypeError, match=r"stack: expected an array on the host, got a tensor on cuda:0"):
            matrics.score_blocks(stack, device=place)
    else:
        with pytest.raises(TypeError, match=r"stack: expected an array on the host, got an array of JAX on cuda:0"):
            matrics.score_blocks(stack, device=place)


# Labels that no device has --------------------------------------------------------------------------------------------


def test_texts_beside_tensors(cuda: Any) -> None:
    torch = importlib.import_module("torch")
    texts, scores = ["ok", "fraud", "ok", "fraud"], torch.tensor([0.1, 0.9, 0.8, 0.7], device=cuda)
    columns = torch.stack([1 - scores, scores], -1)
    names = ["ok", "fraud"]
    state = matrics.ConfusionState.zeros(2, like=columns)
    of_scores = matrics.ScoreState.zeros(like=scores)
    counted = [
        matrics.confusion_matrix(texts, columns, labels=names),
        state.update(texts, columns, labels=names).matrix,
        state.update(texts, ["ok", "fraud", "fraud", "fraud"], labels=names).matrix,
    ]
    for matrix in counted:
        assert matrix.device == cuda
        assert matrix.tolist() == [[1, 1], [0, 2]]
    soft = matrics.soft_confusion_matrix(texts, columns, labels=names)
    np.testing.assert_allclose(soft.cpu(), [[1.1, 0.9], [0.4, 1.6]], rtol=1e-6)
    assert float(matrics.ranking.roc_auc(texts, scores, positive="fraud")) == 0.75
    assert float(of_scores.update(texts, scores, positive="fraud").roc_auc().value) == 0.75
    numbers = torch.tensor([0, 1, 1, 1], device=cuda)
    by_name = matrics.compare_models(
        numbers, {"a": numbers, "b": 1 - numbers}, "accuracy", num_classes=2, num=50, rng=0
    )
    assert by_name["accuracy"].intervals.estimate.tolist() == [1, 0]


# Several processes ----------------------------------------------------------------------------------------------------


def test_the_counts_of_a_process_of_nccl(cuda: Any) -> None:
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    if not distributed.is_nccl_available():
        pytest.skip("PyTorch without NCCL")
    metric = importlib.import_module("matrics.torch").ConfusionMetric(CLASSES).to(cuda)
    labels = torch.randint(0, CLASSES, (2, 1_000), device=cuda)
    distributed.init_process_group("nccl", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        for times in (1, 2, 3):
            metric.update(*labels)
            wanted = times * matrics.confusion_matrix(*labels.cpu(), num_classes=CLASSES)
            assert torch.equal(metric.sync().sync().matrix.cpu(), wanted)
    finally:
        distributed.destroy_process_group()


@pytest.mark.xdist_group("torch processes")
def test_the_counts_of_processes_that_share_a_gpu(cuda: Any, on_device: Any, ranks: Any, tmp_path: Path) -> None:
    folders = {device: tmp_path / device for device in ("cpu", cuda.type)}
    for folder in folders.values():
        folder.mkdir()
    host, there = (ranks.run("count_on", 2, folder, device) for device, folder in folders.items())
    for result, wanted in zip(there, host, strict=True):
        assert wanted.pop("dropped")  # a device would have to be waited for
        same(result, wanted, **on_device.tolerance)
