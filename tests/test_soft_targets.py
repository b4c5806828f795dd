"""Soft targets in soft_confusion_matrix: with sums written out, and hard labels as one-hot targets."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(23)


def pair(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets and probabilities, which add up to 1."""
    return RANDOM.dirichlet(np.ones(shape[-1]), shape[:-1]), RANDOM.dirichlet(np.ones(shape[-1]), shape[:-1])


def by_hand(targets: np.ndarray, y_prob: np.ndarray, weights: np.ndarray | float = 1.0) -> np.ndarray:
    return ((np.ones(y_prob.shape[:-1]) * weights)[..., None, None] * targets[..., :, None] * y_prob[..., None, :]).sum(
        -3
    )


def soft(backend: Any, *arrays: Any, **options: Any) -> np.ndarray:
    function = functools.partial(matrics.soft_confusion_matrix, **options)
    found = backend.call(function, *arrays)
    assert type(found) is type(arrays[0]) or backend.name == "numpy"
    return backend.numpy(found)


def test_beside_sums_written_out(backend: Any) -> None:
    targets, y_prob = pair(3, 40, 4)
    arrays = backend.asarray(targets), backend.asarray(y_prob)
    np.testing.assert_allclose(soft(backend, *arrays), by_hand(targets, y_prob), **backend.tolerance)
    one = backend.asarray(targets[0])  # one truth, and three models
    np.testing.assert_allclose(soft(backend, one, arrays[1]), by_hand(targets[0], y_prob), **backend.tolerance)


@pytest.mark.sampled(2)
def test_images_with_their_classes_in_front(backend: Any) -> None:
    targets, y_prob = pair(2, 5, 6, 3)
    weights = RANDOM.random((2, 5, 6))
    front = [backend.asarray(np.moveaxis(x, -1, 1)) for x in (targets, y_prob)]
    found = backend.call(
        lambda t, p, w: matrics.soft_confusion_matrix(t, p, class_axis=1, sample_ndim=2, sample_weight=w),
        *front,
        backend.asarray(weights),
    )
    flat = (x.reshape(2, 30, -1) for x in (targets, y_prob))
    np.testing.assert_allclose(backend.numpy(found), by_hand(*flat, weights.reshape(2, 30)), **backend.tolerance)


def test_one_hot_targets_are_labels(backend: Any) -> None:
    labels, (_, y_prob) = RANDOM.integers(0, 3, (2, 30)), pair(2, 30, 3)
    hard = soft(backend, backend.asarray(labels), backend.asarray(y_prob))
    as_targets = soft(backend, backend.asarray(np.eye(3)[labels]), backend.asarray(y_prob))
    np.testing.assert_allclose(as_targets, hard, **backend.tolerance)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("targets", "y_prob"), [("float64", "float32"), ("float32", "float64"), ("float16", "float16")]
)
def test_the_dtype_is_that_of_the_probabilities(backend: Any, targets: str, y_prob: str) -> None:
    if "float64" in (targets, y_prob) and not backend.float64:
        pytest.skip("no float64")
    if backend.name == "strict" and "float16" in (targets, y_prob):
        pytest.skip("no half")
    both = pair(20, 2)
    arrays = backend.asarray(both[0], targets), backend.asarray(both[1], y_prob)
    found = soft(backend, *arrays)
    assert found.dtype == (y_prob if y_prob != "float16" else "float32")
    np.testing.assert_allclose(found, by_hand(*both), rtol=1e-5 if y_prob != "float16" else 1e-2)


def test_a_bad_sample_stays_in_its_matrix_and_weight_0_leaves_it_out(backend: Any) -> None:
    targets, y_prob = pair(3, 10, 2)
    targets[0, 4, 1], y_prob[1, 2, 0] = np.nan, np.nan
    arrays = backend.asarray(targets), backend.asarray(y_prob)
    found = soft(backend, *arrays)
    assert np.isnan(found[:2]).any((1, 2)).all()
    np.testing.assert_allclose(found[2], by_hand(targets[2], y_prob[2]), **backend.tolerance)
    weights = np.ones((3, 10))
    weights[0, 4] = weights[1, 2] = 0
    found = backend.call(
        lambda t, p, w: matrics.soft_confusion_matrix(t, p, sample_weight=w), *arrays, backend.asarray(weights)
    )
    wanted = by_hand(np.nan_to_num(targets), np.nan_to_num(y_prob), weights)
    np.testing.assert_allclose(backend.numpy(found), wanted, **backend.tolerance)


def test_of_no_samples() -> None:
    assert matrics.soft_confusion_matrix(np.zeros((0, 2)), np.zeros((0, 2))).tolist() == [[0, 0], [0, 0]]


def test_where_there_is_no_float64() -> None:
    """As on Apple's GPUs: class by class."""
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("no_float64") if "no_float64" in _devices(strict) else pytest.skip("an older version")
    both = pair(3, 10, 4)
    arrays = [strict.asarray(x.astype(np.float32), device=device) for x in both]
    found = matrics.soft_confusion_matrix(*arrays)
    assert found.dtype == strict.float32
    np.testing.assert_allclose(np.asarray(found.to_device(strict.Device("CPU_DEVICE"))), by_hand(*both), rtol=1e-5)


def _devices(strict: Any) -> list[str]:
    return [str(device).partition("'")[2].strip("')") for device in strict.__array_namespace_info__().devices()]


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("targets", "options", "error", "message"),
    [
        (
            [0.0, 1.0, 2.0],
            {},
            ValueError,
            r"numbers are soft targets: .* got y_true \(3,\) .*labels, make them integers",
        ),
        (EYE[:, :2], {}, ValueError, r"y_true \(3, 2\) and y_prob \(3, 3\)"),
        (
            EYE[:2],
            {},
            ValueError,
            r"\(the last axis before the axis of the classes\), got y_true \(2, 3\)",
        ),
        (EYE, {"ignore_index": 1}, TypeError, "ignore_index: expected None.*sample_weight=0 leaves samples out"),
        (EYE, {"sample_weight": [1, 1, -1]}, ValueError, r"finite weights of at least 0, got -1.0 at \(2,\)"),
        (EYE, {"class_axis": 5}, ValueError, "y_true: expected an axis of classes at class_axis=5"),
        (EYE.astype(complex), {}, TypeError, "y_true: expected labels"),
    ],
)
def test_errors_say_what_was_expected(targets: Any, options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.soft_confusion_matrix(targets, EYE, **options)


# Under transformations ----------------------------------------------------------------------------------------------


def test_torch(torch: Any) -> None:
    """In one graph, mapped, differentiable in both, without a look at values, and whatever autocast does."""
    from torch._subclasses import FakeTensorMode

    both = pair(3, 50, 4)
    arrays = [torch.from_numpy(x.astype(np.float32)) for x in both]
    wanted = torch.from_numpy(by_hand(*both))
    count = matrics.soft_confusion_matrix
    compiled = torch.compile(count, fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        live = [x.clone().requires_grad_() for x in arrays]
        for found in (count(*live), compiled(*arrays), torch.func.vmap(count)(*arrays)):
            assert found.dtype == torch.float32
            torch.testing.assert_close(found.double(), wanted, rtol=1e-6, atol=1e-6)
    tiny = [torch.rand(5, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    weights = torch.rand(5, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda t, p: count(t, p, sample_weight=weights), tiny)
    with FakeTensorMode():
        assert count(torch.zeros(2, 5, 3), torch.zeros(2, 5, 3)).shape == (2, 3, 3)


def test_jax(jax_backend: Any) -> None:
    import jax

    both = pair(3, 50, 4)
    arrays = [jax_backend.asarray(x) for x in both]
    count = matrics.soft_confusion_matrix
    found = jax.jit(jax.vmap(count))(*arrays)
    np.testing.assert_allclose(found, by_hand(*both), **jax_backend.tolerance)
    slopes = jax.jit(jax.grad(lambda t, p: count(t, p)[:, 0, 1].sum(), (0, 1)))(*arrays)
    np.testing.assert_allclose(slopes[0][..., 0], both[1][..., 1], rtol=1e-5)
    np.testing.assert_allclose(slopes[1][..., 1], both[0][..., 0], rtol=1e-5)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_samples_of_tensors_are_matrices_of_zeros(torch: Any, batch: tuple[int, ...], dtype: str) -> None:
    """Float32 is added in parts, of which there are none without samples."""
    y_true = torch.zeros((*batch, 0), dtype=torch.long)
    y_prob = torch.zeros((*batch, 0, 3), dtype=getattr(torch, dtype))
    assert matrics.soft_confusion_matrix(y_true, y_prob).tolist() == np.zeros((*batch, 3, 3)).tolist()
    if not batch:
        groups = matrics.soft_confusion_matrix(y_true, y_prob, groups=y_true, num_groups=2)
        assert groups.tolist() == np.zeros((2, 3, 3)).tolist()


def test_a_plain_batch_of_tensors_is_checked_like_any_other(torch: Any) -> None:
    """Its sums are formed early, as the checks take longer."""
    y_true, y_prob = torch.tensor([0, 1]), torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    for wrong in (True, 1.0, 0):
        with pytest.raises((TypeError, ValueError), match="sample_ndim: expected an integer"):
            matrics.soft_confusion_matrix(y_true, y_prob, sample_ndim=wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype
        nested = torch.nested.nested_tensor([torch.tensor([0, 1]), torch.tensor([1])])
    with pytest.raises(TypeError, match="y_true"):
        matrics.soft_confusion_matrix(nested, torch.rand(2, 2, 3))
    with pytest.raises(ValueError, match="y_true"):
        matrics.soft_confusion_matrix(torch.tensor([0, 1, 0]), y_prob)
