"""Counts of labels in dask arrays, against matrics on the same arrays in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from in_dask import of_unknown_sizes

import matrics

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
on_dask = pytest.importorskip("matrics.dask")

from dask.array.utils import assert_eq  # noqa: E402 (once it is known to be there)

RANDOM = np.random.default_rng(18)


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    """Tests are as quick without threads; those that are about threads ask for them."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("split_every", [None, 2])
def test_counts_of_any_chunks_are_those_in_memory(split_every: int | None, *, unknown: bool) -> None:
    true, pred = RANDOM.integers(0, 4, (2, 37))
    cut = [da.from_array(true, chunks=5), da.from_array(pred, chunks=5 if unknown else 7)]
    cut = [of_unknown_sizes(array) for array in cut] if unknown else cut
    found = on_dask.confusion_matrix(*cut, num_classes=4, split_every=split_every)
    assert_eq(found, matrics.confusion_matrix(true, pred, num_classes=4))
    assert found.chunks == ((4,), (4,))


@pytest.mark.parametrize(
    "shapes", [((37,), (5, 37)), ((5, 37), (37,)), ((1, 37), (5, 37)), ((2, 1, 37), (5, 37)), ((1, 3, 37), (2, 1, 37))]
)
def test_batches_broadcast(shapes: tuple[tuple[int, ...], ...]) -> None:
    arrays = [RANDOM.integers(0, 3, shape) for shape in shapes]
    cut = [da.from_array(array, chunks=size) for array, size in zip(arrays, (9, 4), strict=True)]
    found = on_dask.confusion_matrix(*cut, num_classes=3)
    assert_eq(found, matrics.confusion_matrix(*arrays, num_classes=3))


def test_everything_at_once() -> None:
    """Class scores on an inner axis, images, weights, groups and ignored labels."""
    true = RANDOM.integers(0, 5, (3, 6, 8))  # 4 is ignored
    true[0, 1, 1] = 4
    scores = RANDOM.random((3, 4, 6, 8))
    scores[0, 2, 1, 1] = math.nan
    groups, weight = RANDOM.integers(0, 2, (6, 8)), RANDOM.random((3, 6, 8)).astype(np.float32)
    options: dict[str, Any] = {"class_axis": 1, "sample_ndim": 2, "ignore_index": 4, "num_classes": 4, "num_groups": 2}
    wanted = matrics.confusion_matrix(true, scores, groups=groups, sample_weight=weight, **options)
    found = on_dask.confusion_matrix(
        da.from_array(true, chunks=(2, 3, 5)),
        da.from_array(scores, chunks=(1, 4, 4, 4)),
        groups=da.from_array(groups, chunks=2),
        sample_weight=weight,  # of NumPy
        **options,
    )
    assert found.shape == (3, 2, 4, 4)
    assert_eq(found, wanted, rtol=1e-6)


def test_thresholds_labels_and_normalised_counts() -> None:
    true, scores = RANDOM.integers(0, 2, 30), RANDOM.random((2, 30))
    found = on_dask.confusion_matrix(
        da.from_array(true, chunks=7),
        da.from_array(scores, chunks=(1, 11)),
        num_classes=2,
        threshold=0.4,
        normalize="true",
    )
    assert_eq(found, matrics.confusion_matrix(true, scores, num_classes=2, threshold=0.4, normalize="true"))
    words = np.array(["cat", "dog", "eel"])[RANDOM.integers(0, 3, (2, 30))]
    found = on_dask.confusion_matrix(da.from_array(words[0], chunks=8), list(words[1]), labels=["eel", "dog", "cat"])
    assert_eq(found, matrics.confusion_matrix(*words, labels=["eel", "dog", "cat"]))


def test_counts_are_integers_that_small_labels_cannot_overflow() -> None:
    ones = da.ones((2**10,), dtype=np.int8, chunks=2**9)
    assert_eq(on_dask.confusion_matrix(ones, ones, num_classes=2), np.array([[0, 0], [0, 2**10]], np.int64))


def test_partial_sums_of_float32_weights_are_float64() -> None:
    """In float32 a hundred million and one is a hundred million."""
    weight = da.from_array(np.array([1e8, *[1] * 64], np.float32), chunks=1)
    zeros = da.zeros(65, dtype=int, chunks=1)
    found = on_dask.confusion_matrix(zeros, zeros, num_classes=1, sample_weight=weight)
    assert_eq(found, np.array([[1e8 + 64]], np.float32), rtol=0)


def test_no_samples() -> None:
    none = da.zeros((0,), dtype=int)
    assert_eq(on_dask.confusion_matrix(none, none, num_classes=2), np.zeros((2, 2), np.int64))


def test_errors_of_labels_name_the_block_when_they_are_counted() -> None:
    true = da.from_array(np.array([0, 1, 2, 0, 1, 7]), chunks=2)
    found = on_dask.confusion_matrix(true, da.zeros(6, dtype=int, chunks=3), num_classes=3)
    with pytest.raises(ValueError, match=r"block \(3,\): y_true: expected labels in \[0, 3\), got 7 at \(1,\)"):
        found.compute()
    with pytest.raises(ValueError, match=r"block \(2,\): y_true: expected one of the labels 0, 1, 2, got 7 at \(1,\)"):
        on_dask.confusion_matrix(true, true, labels=[0, 1, 2]).compute()


def test_what_cannot_be_counted_is_refused_while_the_graph_is_built() -> None:
    labels = da.zeros(6, dtype=int, chunks=2)
    with pytest.raises(TypeError, match="expected at least one dask array or column of a dask data frame"):
        on_dask.confusion_matrix([0], [0], num_classes=2)
    with pytest.raises(ValueError, match=r"expected the same samples .* y_true \(6,\), y_pred \(5,\)"):
        on_dask.confusion_matrix(labels, labels[:5], num_classes=2)
    with pytest.raises(ValueError, match="broadcast"):
        on_dask.confusion_matrix(da.zeros((2, 6), dtype=int), da.zeros((3, 6), dtype=int), num_classes=2)
    with pytest.raises(
        ValueError, match=r"equal numbers of chunks in all arrays if their sizes are unknown.*y_true 3, y_pred 2"
    ):
        on_dask.confusion_matrix(of_unknown_sizes(labels), labels.rechunk(3), num_classes=2)
    with pytest.raises(TypeError, match=r"either num_classes=.* or labels=.* got neither"):
        on_dask.confusion_matrix(labels, labels)
    with pytest.raises(TypeError, match="y_true: expected labels, integers"):
        on_dask.confusion_matrix(labels * 1j, labels, num_classes=2)
    scores = da.zeros((6, 3), chunks=(2, 2))
    with pytest.raises(
        ValueError, match=r"y_pred: expected the axes of classes whole in a single chunk.*rechunk\({-1: -1}\)"
    ):
        on_dask.confusion_matrix(labels, scores, num_classes=3)
    with pytest.raises(ValueError, match="expected num_classes=2 entries along class_axis=-1, got 3"):
        on_dask.confusion_matrix(labels, scores, num_classes=2)
    with pytest.raises(ValueError, match="a class axis with a known length at class_axis=0"):
        on_dask.confusion_matrix(labels, of_unknown_sizes(da.zeros((3, 6))), num_classes=3, class_axis=0)
    with pytest.raises(ValueError, match="groups"):
        on_dask.confusion_matrix(labels, labels, num_classes=2, groups=labels, num_groups=0)


def test_blocks_of_unknown_sizes_that_do_not_fit_are_found_out() -> None:
    one, other = (of_unknown_sizes(da.zeros(6, dtype=int, chunks=chunks)) for chunks in ((2, 4), (3, 3)))
    with pytest.raises(ValueError, match=r"block \([01],\): expected the same samples"):
        on_dask.confusion_matrix(one, other, num_classes=2).compute()


def test_counted_then_scored_in_one_graph() -> None:
    true, pred = RANDOM.integers(0, 3, (2, 4, 50))
    cm = on_dask.confusion_matrix(
        da.from_array(true, chunks=(2, 20)), da.from_array(pred, chunks=(3, 30)), num_classes=3
    )
    wanted = matrics.mcc(matrics.confusion_matrix(true, pred, num_classes=3))
    assert_eq(on_dask.score(cm, "mcc")["mcc"], wanted)
