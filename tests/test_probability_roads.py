"""Measures of probabilities and of class scores along every road: compiled, mapped, differentiated, without a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import roads

import matrics
from matrics._arrays import as_arrays

# Of eighths and the like, which add up to 1 only nearly.
pytestmark = pytest.mark.filterwarnings("ignore:.*add up to 1", "ignore:.*got NaN")
RANDOM = np.random.default_rng(0)
N, CLASSES = 24, 4


def _labels(stack: Any) -> Any:
    xp = as_arrays(stack=stack)[0].xp
    return xp.astype(stack[..., -2], xp.int32)


def everything(stack: Any) -> dict[str, Any]:
    """All results of samples (*B, N, 2 n + 2): probabilities, scores, label and weight of each."""
    probs, scores, weight = stack[..., :CLASSES], stack[..., CLASSES:-2], stack[..., -1]
    xp, y_true = as_arrays(stack=stack)[0].xp, _labels(stack)
    of_1, is_1 = probs[..., 1], y_true == 1
    found = {
        "top_k_accuracy": matrics.ranking.top_k_accuracy(y_true, scores, [1, 2], sample_weight=weight),
        "top_k_recall": matrics.ranking.top_k_recall(y_true, scores, 2, average="class"),
        "macro": matrics.ranking.top_k_recall(y_true, scores, 2, sample_weight=weight),
        "log_loss": matrics.probabilities.log_loss(y_true, probs, sample_weight=weight),
        "of logits": matrics.probabilities.log_loss(y_true, logits=scores),
        "soft": matrics.probabilities.log_loss(probs, logits=scores, class_axis=-1),
        "binary": matrics.probabilities.log_loss(is_1, of_1),
        "binary of logits": xp.mean(matrics.probabilities.log_loss(of_1[..., None], logits=scores[..., 1:2]), axis=-1),
        "brier_score": matrics.probabilities.brier_score(y_true, probs, sample_weight=weight),
        "parts": xp.stack(tuple(matrics.probabilities.brier_decomposition(y_true, probs, num_bins=3)), axis=-1),
        "ece": matrics.probabilities.expected_calibration_error(y_true, probs, num_bins=5, sample_weight=weight),
        "ece of classes": matrics.probabilities.expected_calibration_error(
            y_true, probs, num_bins=3, of="class_wise", bins="mass", norm="l2"
        ),
        "mce": matrics.probabilities.expected_calibration_error(
            is_1, of_1, norm="max", bins="mass", sample_weight=weight
        ),
    }
    curve = matrics.probabilities.reliability_curve(is_1, of_1, num_bins=3, bins="mass", sample_weight=weight)
    return found | {f"curve {name}": values for name, values in curve._asdict().items()}


def some(stack: Any) -> dict[str, Any]:
    """One result of each kind, for compilers that take seconds for each."""
    probs, scores, weight = stack[..., :CLASSES], stack[..., CLASSES:-2], stack[..., -1]
    xp, y_true = as_arrays(stack=stack)[0].xp, _labels(stack)
    return {
        "macro": matrics.ranking.top_k_recall(y_true, scores, 2, sample_weight=weight),
        "of logits": matrics.probabilities.log_loss(y_true, logits=scores),
        "binary of logits": xp.mean(matrics.probabilities.log_loss(probs[..., 1:2], logits=scores[..., 1:2]), axis=-1),
        "mce": matrics.probabilities.expected_calibration_error(
            y_true == 1, probs[..., 1], norm="max", bins="mass", sample_weight=weight
        ),
    }


def samples(batch: int) -> np.ndarray:
    """Multiples of 1/64, so that float32 has the same ties and quantiles."""
    probs = np.floor(RANDOM.dirichlet(np.ones(CLASSES), (batch, N)) * 60) / 64 + 1 / 64
    scores = RANDOM.integers(-8, 9, (batch, N, CLASSES)) / 4
    labels, weights = RANDOM.integers(0, CLASSES, (batch, N, 1)), RANDOM.integers(0, 4, (batch, N, 1))
    return np.concatenate([probs, scores, labels, weights], axis=-1)


# Results that do not depend on the probabilities, on the scores, and on whether a label that is not 1 is a class.
NOT_OF_PROBS = {"top_k_accuracy", "top_k_recall", "macro", "of logits"}
OF_SCORES = NOT_OF_PROBS | {"soft", "binary of logits"}
OF_CLASS_1 = {"binary", "binary of logits", "mce"} | {f"curve {name}" for name in matrics.results.Reliability._fields}
OF_PYTORCH = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")  # to itself


def cases() -> Iterator[Any]:
    """By default everything where little is compiled, and some of it on the other roads."""
    for name in roads.installed():
        if name != "torch-inductor":  # which takes minutes
            marks = () if name in roads.EAGER else pytest.mark.exhaustive
            yield pytest.param(name, everything, marks=marks, id=f"{name}-everything")
        if name in ("torch-compile", "torch-inductor", "jax-vmap"):
            marks = () if name == "torch-compile" else pytest.mark.exhaustive
            yield pytest.param(name, some, marks=marks, id=f"{name}-some")


@pytest.mark.sampled(2)
@OF_PYTORCH
@pytest.mark.parametrize(("name", "function"), list(cases()))
def test_every_road(name: str, function: Callable[[Any], dict[str, Any]]) -> None:
    """All agree with NumPy; a bad probability, score or label makes NaN of its own batch element."""
    road, stack = roads.make(name), samples(5)
    wanted = function(stack)
    stack[1, 5, 1] = stack[2, 5, CLASSES + 1] = np.nan
    for key, values in wanted.items():
        values[1] = values[1] if key in NOT_OF_PROBS else np.nan
        values[2] = np.nan if key in OF_SCORES else values[2]
    if name not in ("numpy", "torch-grad"):  # where they raise
        stack[3, 3, 1], stack[4, np.argmin(stack[4, :, -2]), -2] = 1.5, CLASSES
        for key, values in wanted.items():
            values[3] = values[3] if key in NOT_OF_PROBS else np.nan
            values[4] = values[4] if key in OF_CLASS_1 | {"soft"} else np.nan
    found = road.apply(function, stack)
    assert set(found) == set(wanted)
    for key, values in wanted.items():
        assert found[key].dtype == (np.float64 if road.float64 else np.float32), key
        np.testing.assert_allclose(found[key], values, err_msg=key, **road.tolerance)


def test_torch_looks_at_no_value(torch: Any) -> None:
    """Under FakeTensorMode, and on the device "meta", there are none."""
    from torch._subclasses import FakeTensorMode

    def shapes(device: str) -> dict[str, tuple[int, ...]]:
        found = everything(torch.zeros((3, N, 2 * CLASSES + 2), dtype=torch.float64, device=device))
        return {name: tuple(values.shape) for name, values in found.items()}

    wanted = {name: values.shape for name, values in everything(samples(3)).items()}
    with FakeTensorMode():
        assert shapes("cpu") == wanted
    assert shapes("meta") == wanted


@pytest.mark.sampled(2)
def test_batches_of_any_shape(backend: Any) -> None:
    """None, several axes, and an empty one."""
    stack = samples(6)
    wanted = everything(stack)
    for shape in ((2, 3), (0,), (2, 0)):
        part = stack.reshape(*shape, *stack.shape[1:]) if 0 not in shape else np.zeros((*shape, *stack.shape[1:]))
        found = backend.call(some, backend.asarray(part))
        for name, values in found.items():
            assert tuple(values.shape) == (*shape, *wanted[name].shape[1:])
            if 0 not in shape:
                np.testing.assert_allclose(
                    backend.numpy(values).reshape(wanted[name].shape), wanted[name], **backend.tolerance
                )


@pytest.mark.exhaustive
def test_batches_of_any_size_share_a_graph() -> None:
    """The last batch of an epoch is smaller, and torch.compile then takes sizes for unknown."""
    torch = pytest.importorskip("torch")

    def everything(y: Any, x: Any, w: Any) -> tuple[Any, ...]:
        return (
            matrics.ranking.roc_auc(y, x, multi_class="one_vs_one"),
            matrics.probabilities.log_loss(y, logits=x, sample_weight=w),
            matrics.ranking.top_k_recall(y, x, 2),
            matrics.probabilities.expected_calibration_error(y, x.softmax(-1), bins="mass", sample_weight=w),
            matrics.multilabel.score(x > 0, x > 0.5, "f1", sample_weight=w)["f1"],
            matrics.multilabel.subset_accuracy(x > 0, x > 0.5),
        )

    compiled = torch.compile(everything, fullgraph=True, dynamic=True, backend="aot_eager")
    for size in (7, 12):
        y, x, w = (
            torch.from_numpy(a) for a in (np.arange(size) % 3, RANDOM.normal(size=(size, 3)), RANDOM.random(size))
        )
        for got, want in zip(compiled(y, x, w), everything(y, x, w), strict=True):
            torch.testing.assert_close(got, want)
