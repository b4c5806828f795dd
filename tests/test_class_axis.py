"""Where class scores have their classes: last in functions, and nothing else is counted in silence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(28)

# Logits that can be read in two ways: 4 classes of 4x4 pixels, and 5 classes of 5 tokens.
PIXELS = RANDOM.integers(0, 4, (2, 4, 4)), RANDOM.random((2, 4, 4, 4))
TOKENS = RANDOM.integers(0, 5, (8, 5)), RANDOM.random((8, 5, 5))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("labels", "scores"), [PIXELS, TOKENS])
def test_two_readings_are_a_warning_that_names_both(backend: Any, labels: Any, scores: Any) -> None:
    """And either of them, once it is said, is counted without one."""
    n = scores.shape[-1]
    y_true, y_pred = backend.asarray(labels), backend.asarray(scores)
    said = rf"y_pred: axis 1 and the last axis of the shape .* have {n} .*class_axis=-1.*class_axis=1.*pass class_axis="
    with pytest.warns(UserWarning, match=said):
        found = matrics.confusion_matrix(y_true, y_pred, num_classes=n)
    for axis in (-1, 1):
        counted = matrics.confusion_matrix(y_true, y_pred, num_classes=n, class_axis=axis)
        wanted = matrics.confusion_matrix(labels, scores.argmax(axis), num_classes=n)
        np.testing.assert_array_equal(backend.numpy(counted), wanted)
        if axis == -1:
            np.testing.assert_array_equal(backend.numpy(found), wanted)
    with pytest.warns(UserWarning, match="y_prob: axis 1 and the last axis"):
        soft = matrics.soft_confusion_matrix(y_true, y_pred)
    last = matrics.soft_confusion_matrix(y_true, y_pred, class_axis=-1)
    np.testing.assert_array_equal(backend.numpy(soft), backend.numpy(last))


@pytest.mark.sampled(1)
def test_one_reading_is_no_warning(backend: Any) -> None:
    """As many samples as classes, as many models as classes, a threshold, and labels, which have no classes."""
    few = backend.asarray([0, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrics.confusion_matrix(few, backend.asarray(np.eye(3)), num_classes=3)
        matrics.confusion_matrix(backend.asarray([0, 1]), backend.asarray(RANDOM.random((3, 2, 3))), num_classes=3)
        matrics.soft_confusion_matrix(few, backend.asarray(np.eye(3)))
        scores = backend.asarray(RANDOM.random((2, 2, 2)))
        matrics.confusion_matrix(backend.asarray([0, 1]), scores, num_classes=2, threshold=0.5)
        matrics.confusion_matrix(few, backend.asarray(RANDOM.integers(0, 3, (3, 3, 3))), num_classes=3)


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(UserWarning, match="class_axis=") as caught:
        matrics.confusion_matrix(*TOKENS, num_classes=5)
    assert caught[0].filename == __file__


def test_metrics_take_axis_1_and_say_so() -> None:
    """The helper for metrics of training loops, which say the opposite."""
    from matrics._counting.labels import warn_if_ambiguous

    with pytest.warns(UserWarning, match=r"taken to be on axis 1 .*, and could be on the last axis"):
        warn_if_ambiguous((8, 5, 5), 5, 1)


@pytest.mark.exhaustive
def test_torch_compiles_without_a_warning(torch: Any) -> None:
    """A warning would break the graph."""
    labels, scores = map(torch.from_numpy, TOKENS)
    count = torch.compile(matrics.confusion_matrix, fullgraph=True, backend="aot_eager")
    wanted = matrics.confusion_matrix(*TOKENS, num_classes=5, class_axis=-1)
    np.testing.assert_array_equal(count(labels, scores, num_classes=5).numpy(), wanted)
    assert matrics.soft_confusion_matrix(labels, scores, class_axis=1).shape == (8, 5, 5)
    soft = torch.compile(matrics.soft_confusion_matrix, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(soft(labels, scores), matrics.soft_confusion_matrix(labels, scores, class_axis=-1))


def test_jax_warns_while_it_traces(jax_backend: Any) -> None:
    import jax

    program = jax.jit(lambda y, s: matrics.confusion_matrix(y, s, num_classes=5))
    with pytest.warns(UserWarning, match="class_axis="):
        found = program(*map(jax_backend.asarray, TOKENS))
    np.testing.assert_array_equal(found, matrics.confusion_matrix(*TOKENS, num_classes=5, class_axis=-1))


@pytest.mark.parametrize(
    ("shape", "axis", "other"), [((2, 3, 4, 4), None, 1), ((2, 3, 7), None, 1), ((2, 7, 3), 1, -1)]
)
def test_an_axis_that_does_not_fit_beside_one_that_does(shape: Any, axis: Any, other: int) -> None:
    labels = np.zeros([size for place, size in enumerate(shape) if place != other % len(shape)], int)
    with pytest.raises(ValueError, match=rf"along class_axis={axis or -1}, got . in .*; axis {other} has this length"):
        matrics.confusion_matrix(labels, np.zeros(shape), num_classes=3, class_axis=axis)


def test_log_loss_warns_as_counting_does(backend: Any) -> None:
    """The losses of PyTorch have classes on axis 1."""
    labels, logits = np.arange(40).reshape(8, 5) % 5, np.random.default_rng(0).normal(size=(8, 5, 5))
    given = backend.asarray(labels), backend.asarray(logits)
    with pytest.warns(UserWarning, match=r"logits: axis 1 and the last axis of the shape \(8, 5, 5\)"):
        loss = matrics.probabilities.log_loss(given[0], logits=given[1])
    last = matrics.probabilities.log_loss(given[0], logits=given[1], class_axis=-1)  # no warning
    np.testing.assert_array_equal(backend.numpy(loss), backend.numpy(last))
    matrics.probabilities.log_loss(backend.asarray(labels[0]), logits=given[1])  # one row of labels fits one reading
