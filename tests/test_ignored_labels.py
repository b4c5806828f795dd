"""Several labels to leave out, everywhere."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest
from counted import counted

import matrics
from matrics import ConfusionState

RANDOM = np.random.default_rng(18)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ignored", [[], [1], (1, 255), range(1, 3), np.asarray([255, 1]), [1, 1, -100]])
def test_ignored_labels(backend: Any, ignored: Any) -> None:
    y_true, y_pred = RANDOM.integers(0, 3, (2, 30))
    y_true[:4] = [255, 255, -100, -100]
    keep = ~np.isin(y_true, list(ignored)) & np.isin(y_true, range(3))
    plain = matrics.confusion_matrix(y_true[keep], y_pred[keep], num_classes=3)
    call = functools.partial(counted, num_classes=3, ignore_index=ignored)
    cm, dropped = backend.call(call, backend.asarray(y_true), backend.asarray(y_pred))
    np.testing.assert_array_equal(backend.numpy(cm), plain)
    assert int(dropped) == sum(label not in ignored for label in y_true[:4])


def test_ignored_labels_of_any_kind() -> None:
    """Of classes, too, or of none; a tuple is one label where labels are tuples."""
    true, pred = ["a", "b", "x", "c", "y"], ["a", "q", "q", "a", "b"]
    cm = matrics.confusion_matrix(true, pred, labels=["a", "b", "c"], ignore_index=["x", "b", "y"])
    assert cm.tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 0]]
    pairs = [(0, 1), (1, 2), (0, 1)]
    cm = matrics.confusion_matrix(pairs, pairs, labels=[(0, 1), (1, 2)], ignore_index=(0, 1))
    assert cm.tolist() == [[0, 0], [0, 1]]
    cm = matrics.confusion_matrix(pairs, pairs, labels=[(0, 1), (1, 2)], ignore_index=[(0, 1), (1, 2)])
    assert not cm.any()
    state = ConfusionState.zeros(labels=["a", "b"]).update(
        ["a", "x", "y"], ["a"] * 3, labels=["a", "b"], ignore_index="x"
    )
    assert (int(state.dropped), state.matrix.tolist()) == (1, [[1, 0], [0, 0]])
    joint = matrics.stats.joint_confusion_matrix(
        true, pred, ["a"] * 5, labels=["a", "b", "c"], ignore_index=["x", "b", "y"]
    )
    assert joint.sum() == 2
    assert (
        matrics.stats.joint_confusion_matrix([0, 1, 7, 9], [0] * 4, [1] * 4, num_classes=2, ignore_index=(7, 9)).sum()
        == 2
    )


def test_ignored_labels_are_looked_up_off_the_host(torch: Any) -> None:
    """Integer labels under a map: those of classes and others."""
    y_true, y_pred = torch.tensor([[1, 2, 5, 9, 8]]), torch.tensor([[1, 5, 5, 1, 1]])
    options = {"labels": [1, 2, 5], "ignore_index": [9, 2]}
    call = functools.partial(counted, **options)
    cm, dropped = torch.func.vmap(call)(y_true, y_pred)
    assert cm.tolist() == [[[1, 0, 0], [0, 0, 0], [0, 0, 1]]]
    assert dropped.tolist() == [1]


@pytest.mark.parametrize("ignored", [{0, 1}, "ab", [0.5], [0, [1]], [2**40], [True]])
def test_labels_that_cannot_be_ignored(ignored: Any) -> None:
    calls = [
        lambda: matrics.confusion_matrix([0], [0], num_classes=2, ignore_index=ignored),
        lambda: matrics.soft_confusion_matrix([0], [[0.5, 0.5]], ignore_index=ignored),
        lambda: ConfusionState.zeros(2).update([0], [0], ignore_index=ignored),
        lambda: matrics.stats.joint_confusion_matrix([0], [0], [0], num_classes=2, ignore_index=ignored),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"ignore_index: expected a 32-bit integer, .* or a list of such labels"):
            call()


@pytest.mark.sampled(2)
def test_no_unsigned_label_is_ignored_for_being_negative(backend: Any) -> None:
    labels = backend.asarray([2**32 - 1, 0, 7], np.uint32)
    state = ConfusionState.zeros(2, like=backend.asarray(0)).update(labels, labels, ignore_index=[-1, 7])
    assert (int(state.dropped), int(backend.numpy(state.matrix).sum())) == (1, 1)


def test_ignored_labels_of_torch_modules(torch: Any) -> None:
    metrics = pytest.importorskip("matrics.torchmetrics")
    from matrics.torch import ConfusionMetric

    y_true, y_pred = torch.from_numpy(RANDOM.integers(0, 5, (2, 60)))
    wanted = matrics.confusion_matrix(y_true, y_pred.clamp(max=2), num_classes=3, ignore_index=[3, 4])
    plain, metric = ConfusionMetric(3, ignore_index=[4, 3]), metrics.ConfusionMetric(3, ignore_index=(3, 4))
    plain.update(y_true, y_pred.clamp(max=2))
    metric.update(y_pred.clamp(max=2), y_true)
    for one in (plain, metric):
        assert torch.equal(one.matrix, wanted)
        assert int(one.dropped) == 0
    collection = importlib.import_module("torchmetrics").MetricCollection(
        {"one": metrics.ConfusionMetric(3, ignore_index=3), "both": metrics.ConfusionMetric(3, ignore_index=[3, 4])}
    )
    collection.update(y_pred.clamp(max=2), y_true)
    collection.update(y_pred.clamp(max=2), y_true)
    assert [int(metric.dropped) for metric in collection.values()] == [0, 2 * int((y_true == 4).sum())]


def test_ignored_labels_of_the_flax_metric(jax_backend: Any) -> None:
    flax = pytest.importorskip("matrics.flax")
    y_true, y_pred = RANDOM.integers(0, 5, 60), RANDOM.integers(0, 3, 60)
    mask = RANDOM.random(60) < 0.7
    for kept, options in ((y_true < 3, {}), ((y_true < 3) & mask, {"mask": jax_backend.asarray(mask)})):
        metric = flax.ConfusionMetric(3, ignore_index=[3, 4])
        metric.update(labels=jax_backend.asarray(y_true), logits=jax_backend.asarray(y_pred), **options)
        wanted = matrics.confusion_matrix(y_true[kept], y_pred[kept], num_classes=3)
        np.testing.assert_array_equal(metric.matrix, wanted)
        assert int(metric.state.dropped) == 0
