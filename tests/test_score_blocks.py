"""score_blocks: the numbers of score, from blocks that go to a device and back, one behind the other."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._scoring import streaming
from matrics._scoring.streaming.lane import Lane
from matrics._scoring.streaming.source import parts

RANDOM = np.random.default_rng(0)
METRICS = ["accuracy", "mcc", "recall:class", "mcc:one_vs_rest", "eve", "f1"]
DTYPES = [
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int16",
    "int64",
    "float16",
    "float32",
    "float64",
    "longdouble",
]
SMALL = 1000  # bytes: a dozen matrices or so


def counts(*batch: int, n: int = 3) -> np.ndarray:
    return RANDOM.integers(0, 50, (*batch, n, n)).astype(np.float64)


class DataSet:
    """Like one in a file: it has slices along the first axis, and notes how much is read at once."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __getitem__(self, index: slice) -> Any:
        assert isinstance(index, slice)
        self.read.append(self.array[index].nbytes)
        return memoryview(np.ascontiguousarray(self.array[index]))


def same(found: dict[str, Any], wanted: dict[str, Any], **tolerance: float) -> None:
    assert list(found) == list(wanted)
    for name, values in wanted.items():
        assert isinstance(found[name], (np.ndarray, np.generic))
        assert np.shape(found[name]) == np.shape(values)
        np.testing.assert_allclose(found[name], values, err_msg=name, **(tolerance or {"rtol": 1e-13}))


# The host -----------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("block_bytes", [1, SMALL, 10**6])
@pytest.mark.parametrize("batch", [(), (0,), (1,), (101,), (7, 5), (2, 60), (3, 0), (2, 1, 45)])
def test_any_batch_in_blocks_of_any_size(batch: tuple[int, ...], block_bytes: int) -> None:
    stack = counts(*batch)
    wanted = matrics.score(stack, METRICS)
    same(matrics.score_blocks(stack, METRICS, device=None, block_bytes=block_bytes), wanted)
    apart = np.broadcast_to(stack.swapaxes(-1, -2), stack.shape).swapaxes(-1, -2)  # other strides, the same cells
    same(matrics.score_blocks(apart, METRICS, device="cpu", block_bytes=block_bytes), wanted)


def test_whatever_can_be_sliced(tmp_path: Path) -> None:
    stack = counts(120)
    wanted = matrics.score(stack, METRICS)
    np.save(tmp_path / "stack.npy", stack)
    swapped = stack.astype(">f8")
    data = DataSet(stack)
    for given in (np.load(tmp_path / "stack.npy", mmap_mode="r"), stack.tolist(), swapped, data):
        same(matrics.score_blocks(given, METRICS, device=None, block_bytes=SMALL), wanted)
    assert 0 < max(data.read) <= SMALL
    assert len(data.read) == len(list(parts((120,), SMALL // 72))) + 1  # and once for the dtype


def test_a_data_set_of_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    stack = counts(40, 3).astype(np.uint16)
    with h5py.File(tmp_path / "stacks.h5", "w") as file:
        folds = file.create_dataset("folds", data=stack)
        found = matrics.score_blocks(folds, METRICS, device=None, block_bytes=np.int64(SMALL))
    same(found, matrics.score(stack, METRICS))
    with pytest.raises(ValueError, match="stack: expected an array that can be read, got an array of a closed file"):
        matrics.score_blocks(folds, METRICS, device=None)


def test_arrays_of_any_library(backend: Any) -> None:
    if "cuda" in backend.name:
        pytest.skip("not on the host")
    stack = counts(9, 7)
    found = matrics.score_blocks(backend.asarray(stack), METRICS, device=None, block_bytes=SMALL)
    same(found, matrics.score(stack, METRICS), **backend.tolerance)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_on_the_host(dtype: str) -> None:
    stack = RANDOM.integers(0, 2, (40, 3, 3)).astype(dtype)
    found = matrics.score_blocks(stack, METRICS, device=None, block_bytes=SMALL)
    wanted = matrics.score(stack, METRICS)
    same(found, wanted)
    assert {name: values.dtype for name, values in found.items()} == {n: values.dtype for n, values in wanted.items()}


@pytest.mark.parametrize("batch", [(1,), (10,), (3, 4), (2, 3, 5), (4, 1, 1)])
def test_parts_cover_a_batch_in_order(batch: tuple[int, ...]) -> None:
    """Each element once, and the first part is the largest, which is what lanes make room for."""
    numbers = np.arange(np.prod(batch)).reshape(batch)
    for size in range(1, numbers.size + 2):
        found = [numbers[index].ravel() for index in parts(batch, size)]
        np.testing.assert_array_equal(np.concatenate(found), numbers.ravel())
        assert size >= len(found[0]) == max(map(len, found))


def test_memory_does_not_grow_with_the_stack() -> None:
    class Made(DataSet):
        def __getitem__(self, index: slice) -> Any:
            return np.ascontiguousarray(self.array[index])

    count = 800_000
    stack = Made(np.broadcast_to(np.ones((2, 2)), (count, 2, 2)))  # of 26 megabytes
    tracemalloc.start()
    matrics.score_blocks(stack, "accuracy", device=None, block_bytes=2**20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - count * 8 < 2**22  # besides the results


def test_classes_with_names_and_numbers_of_one_matrix() -> None:
    cm = [[8, 2], [3, 7]]
    found = matrics.score_blocks(cm, "mcc, recall:class", device=None, class_names=["cat", "dog"])
    assert found == matrics.score(cm, "mcc, recall:class", class_names=["cat", "dog"])
    assert type(found["mcc"]) is np.float64
    undefined = matrics.score_blocks(np.zeros((3, 2, 2)), "mcc", device=None, zero_division=0.5, workers=2)
    assert undefined["mcc"].tolist() == [0.5] * 3


# One behind the other -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_block_is_fetched_when_the_next_is_under_way(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []

    class Told(Lane):
        def dtype_for(self, dtype: Any) -> Any:
            return dtype

        def start(self, block: Any) -> Any:
            told.append(("start", int(block[0, 0, 0])))
            return block

        def finish(self, ticket: Any) -> Any:
            told.append(("finish", int(ticket[0, 0, 0])))
            return [ticket[:, 0, 0]], np.asarray([], np.intp)

        def close(self) -> None:
            told.append(("close", -1))

    lane = Told()
    monkeypatch.setattr(Told, "ahead", ahead)
    monkeypatch.setattr(streaming, "_lane", lambda *_: lane)
    stack = np.arange(4.0).repeat(4).reshape(4, 2, 2)
    assert matrics.score_blocks(stack, "mcc", device="anything", block_bytes=32)["mcc"].tolist() == [0, 1, 2, 3]
    if ahead:
        steps = [("start", 0)]
        steps += itertools.chain.from_iterable((("start", k + 1), ("finish", k)) for k in range(3))
        steps += [("finish", 3), ("close", -1)]
    else:
        steps = [*itertools.chain.from_iterable((("start", k), ("finish", k)) for k in range(4)), ("close", -1)]
    assert told == steps


# Every lane ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["host", "jax", "torch PlainLane", "torch StreamLane"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One of each lane. Those of PyTorch for other devices run on the CPU, which has streams in name."""
    if request.param == "host":
        return None
    if request.param == "jax":
        return pytest.importorskip("jax").devices()[0]
    torch = pytest.importorskip("torch")
    from matrics._scoring.streaming import torch as lanes

    class Stream(torch.cpu.Stream):
        def __init__(self, device: Any) -> None:
            assert str(device) == "cpu"

        def synchronize(self) -> None:
            """Nothing is on its way."""

    lane = getattr(lanes, request.param.removeprefix("torch "))
    monkeypatch.setattr(torch.cpu, "Stream", Stream)
    monkeypatch.setattr(streaming, "_lane", lambda _device, *options: lane(torch.device("cpu"), *options[:2]))
    return "as patched"


@pytest.mark.sampled(3)
@pytest.mark.exhaustive(device=["jax"], dtype=["bool", "uint8", "uint16", "uint64", "int16", "float16", "longdouble"])
@pytest.mark.parametrize("dtype", [*DTYPES, ">f4"])
def test_each_lane_has_the_numbers_of_score(device: Any, dtype: str) -> None:
    stack = RANDOM.integers(0, 50, (50, 3, 3)).astype(dtype)
    wanted = matrics.score(stack.astype(np.float64), METRICS)
    found = matrics.score_blocks(stack, METRICS, device=device, block_bytes=SMALL)
    exact = found["mcc"].dtype == np.float64
    same(found, wanted, **({"rtol": 1e-9, "atol": 1e-12} if exact else {"rtol": 3e-4, "atol": 3e-5}))


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(device=["jax"], batch=[()])
@pytest.mark.parametrize("batch", [(), (0,), (7, 5)])
def test_each_lane_takes_any_batch(device: Any, batch: tuple[int, ...]) -> None:
    stack = counts(*batch)
    same(
        matrics.score_blocks(stack, METRICS, device=device, block_bytes=SMALL),
        matrics.score(stack, METRICS),
        rtol=3e-4,
        atol=3e-5,
    )


@pytest.mark.sampled(1)
def test_each_lane_says_which_matrices_are_invalid(device: Any) -> None:
    stack = counts(10, 9)
    stack[3, 4, 1, 0], stack[9, 8, 0, 0], stack[3, 5, 2, 2] = -2, np.inf, np.nan
    wanted = matrics.score(stack, METRICS, invalid="nan")
    with pytest.warns(RuntimeWarning) as noted:
        found = matrics.score_blocks(stack, METRICS, device=device, block_bytes=SMALL)
    (note,) = noted
    assert str(note.message) == (
        "3 of 90 confusion matrices are invalid: [3][4] has the cell -2.0 at [1, 0]; "
        "[3][5] has the cell nan at [2, 2]; [9][8] has the cell inf at [0, 0]"
    )
    assert note.filename == __file__
    same(found, wanted, rtol=3e-4, atol=3e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrics.score_blocks(stack, METRICS, device=device, block_bytes=SMALL, invalid="nan")
    with pytest.raises(matrics.InvalidConfusionMatrix, match=r"^2 of the first \d\d confusion matrices are invalid"):
        matrics.score_blocks(stack, METRICS, device=device, block_bytes=SMALL, invalid="raise")


# Refused ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        (np.zeros((4, 3, 2)), r"stack: expected a confusion matrix \(n, n\) or a stack of them"),
        (DataSet(np.zeros((4, 3, 2))), r"stack: expected a confusion matrix .* got shape \(4, 3, 2\)"),
        (DataSet(np.zeros((2, 2), complex)), "stack: expected counts .* got dtype complex128"),
        ([["a"]], "stack: expected"),
        ("stack.npy", r"stack: expected an array of counts \(\*B, n, n\), got the text 'stack.npy'"),
    ],
)
def test_what_is_no_stack_is_refused(stack: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        matrics.score_blocks(stack, device=None)


@pytest.mark.parametrize("options", [{"block_bytes": 0}, {"block_bytes": 1.5}, {"workers": 0}, {"invalid": "ignore"}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"^{next(iter(options))}: expected"):
        matrics.score_blocks(np.ones((2, 2, 2)), device=None, **options)


def test_slices_that_are_not_as_the_shape_says_are_refused() -> None:
    """Results of matrices that are not there would be whatever the memory held before."""
    data = DataSet(counts(40))
    data.array = data.array[:33]
    with pytest.raises(
        ValueError, match=r"^stack: expected \(10, 3, 3\) as the shape of the slice .*, got \(3, 3, 3\)"
    ):
        matrics.score_blocks(data, METRICS, device=None, block_bytes=SMALL)


@pytest.mark.parametrize("shape", [None, (None, 3, 3), (np.nan, 3, 3)])
def test_shapes_that_are_not_known_are_refused(shape: Any) -> None:
    data = DataSet(counts(4))
    data.shape = shape
    with pytest.raises(ValueError, match="stack: expected a shape of known lengths, got"):
        matrics.score_blocks(data, METRICS, device=None)


def test_what_is_no_device_is_refused() -> None:
    with pytest.raises(TypeError, match=r"device: expected a device of PyTorch .* got int: 0"):
        matrics.score_blocks(np.ones((2, 2, 2)), device=0)
