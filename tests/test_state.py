"""The running state: counts, merges, what is dropped, and exactness, on every backend."""

from __future__ import annotations

import operator
import pickle
from functools import reduce
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ConfusionState

RANDOM = np.random.default_rng(11)


def exact(state: ConfusionState) -> np.ndarray:
    """The whole counts of a state that need not be normalised, as Python's integers have them."""
    counts = np.asarray(state.counts).astype(object)
    return counts + np.asarray(state.carried).astype(object) * 2**16 if state.carried.shape[-1] else counts


def test_batches_are_the_whole(backend: Any) -> None:
    y_true, y_pred = RANDOM.integers(0, 4, (2, 90))
    state = ConfusionState.zeros(4, like=backend.asarray(0))
    for part in np.split(np.arange(90), [20, 20, 64]):  # ragged, and one with nothing
        state = state.update(backend.asarray(y_true[part]), backend.asarray(y_pred[part]))
    whole = matrics.confusion_matrix(y_true, y_pred, num_classes=4)
    np.testing.assert_array_equal(backend.numpy(state.matrix), whole)
    assert int(state.dropped) == 0
    assert isinstance(state, ConfusionState)
    wanted = matrics.score(whole, ["mcc", "recall:class"])
    for name, value in state.score(["mcc", "recall:class"]).items():
        assert type(value) is type(backend.asarray(np.zeros(3))[0]) or backend.name == "numpy"
        np.testing.assert_allclose(backend.numpy(value), wanted[name], **backend.tolerance)


def test_update_is_pure(backend: Any) -> None:
    labels = backend.asarray([0, 1])
    state = ConfusionState.zeros(2, like=labels)
    state.update(labels, labels)
    assert not backend.numpy(state.matrix).any()


@pytest.mark.parametrize("kind", ["labels", "scores"])
def test_what_is_dropped_and_what_is_ignored(backend: Any, kind: str) -> None:
    """On NumPy, too, nothing raises: labels out of range and NaN scores are counted, and ignored samples are not."""
    y_true = np.asarray([0, 1, 2, 3, -1, 9, 9, 2**31 - 1, -(2**31)])
    y_pred = np.asarray([0, 2, -5, 0, 1, 7, 1, 0, 0])
    kept = [(0, 0), (1, 2)]
    if kind == "scores":
        y_pred = np.eye(3)[np.clip(y_pred, 0, 2)]
        y_pred[2, 1] = np.nan
    arrays = backend.asarray(y_true), backend.asarray(y_pred)
    state = ConfusionState.zeros(3, like=arrays[0])
    wanted = np.zeros((3, 3))
    for cell in kept:
        wanted[cell] += 1
    for ignored, dropped in ((None, 7), (9, 5), (3, 6)):
        for start in (state, ConfusionState.zeros(3, like=arrays[0], dtype=_float32(arrays[0]))):
            after = start.update(*arrays, ignore_index=ignored)
            np.testing.assert_array_equal(backend.numpy(after.matrix), wanted)
            assert int(after.dropped) == dropped


def _float32(like: Any) -> Any:
    return matrics._backend.as_arrays(like=like)[0].float32


def test_sum_and_leaves(backend: Any) -> None:
    """``+``, ``sum`` and a sum leaf by leaf are the state of all data."""
    y_true, y_pred = RANDOM.integers(-1, 3, (2, 5, 40))
    parts = [
        ConfusionState.zeros(3, like=backend.asarray(0)).update(backend.asarray(t), backend.asarray(p))
        for t, p in zip(y_true, y_pred, strict=True)
    ]
    whole = ConfusionState.zeros(3, like=backend.asarray(0)).update(
        backend.asarray(y_true.ravel()), backend.asarray(y_pred.ravel())
    )
    leaves = ConfusionState(*(reduce(operator.add, leaf) for leaf in zip(*parts, strict=True)))
    for merged in (sum(parts), reduce(operator.add, parts), leaves):
        assert isinstance(merged, ConfusionState)
        assert exact(merged).tolist() == exact(whole).tolist()
        np.testing.assert_array_equal(backend.numpy(merged.matrix), backend.numpy(whole.matrix))
        assert int(merged.dropped) == int(whole.dropped)


def test_a_batch_of_models(backend: Any) -> None:
    """One truth against the labels, scores and thresholds of several models; images are pooled."""
    y_true, y_pred = RANDOM.integers(0, 3, (7, 5)), RANDOM.integers(0, 3, (2, 4, 7, 5))
    wanted = matrics.confusion_matrix(y_true, y_pred, num_classes=3, sample_ndim=2)
    state = ConfusionState.zeros(3, batch_shape=(2, 4), like=backend.asarray(0))
    arrays = backend.asarray(y_true), backend.asarray(y_pred)
    np.testing.assert_array_equal(backend.numpy(state.update(*arrays).matrix), wanted)
    scores = backend.asarray(np.moveaxis(np.eye(3)[y_pred], -1, 1))
    np.testing.assert_array_equal(backend.numpy(state.update(arrays[0], scores, class_axis=1).matrix), wanted)
    pooled = ConfusionState.zeros(3, like=backend.asarray(0))
    both = backend.asarray(np.broadcast_to(y_true, y_pred.shape)), arrays[1]
    np.testing.assert_array_equal(backend.numpy(pooled.update(*both).matrix), wanted.sum((0, 1)))


def test_pickle(backend: Any) -> None:
    labels = backend.asarray([0, 1, 1])
    state = ConfusionState.zeros(2, like=labels).update(labels, labels)
    if backend.name != "strict":
        assert exact(pickle.loads(pickle.dumps(state))).tolist() == exact(state).tolist()
