"""What the other tests leave to the host: whole programs on a device, and that nothing waits for it.

MATRICS_BACKEND=torch-cuda and jax-cuda need a GPU; torch-device runs the same on tensors of the CPU.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import roads
import test_eigenvalues

import matrics

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",  # PyTorch's to itself
    "ignore:`torch:FutureWarning",
    "ignore:.* samples are not counted:RuntimeWarning",  # on the CPU
)
RANDOM = np.random.default_rng(57)
SPECS = ["core", "eve", "recall:class"]


@pytest.fixture
def device(on_device: Any) -> Any:
    """The device of PyTorch's backends."""
    if not on_device.name.startswith("torch"):
        pytest.skip("of PyTorch")
    return importlib.import_module("torch").device("cuda" if on_device.name.startswith("torch-cuda") else "cpu")


@pytest.fixture
def gpu(device: Any) -> Any:
    if device.type != "cuda":
        pytest.skip("needs a GPU")
    return device


@contextlib.contextmanager
def without_waiting(device: Any) -> Iterator[None]:
    """Whatever makes the host wait for the device raises."""
    import torch

    if device.type != "cuda":
        yield
        return
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def stack_of(n: int, count: int, dtype: Any = np.float64) -> np.ndarray:
    stack = RANDOM.poisson(10.0 ** RANDOM.uniform(0, 3, (count, 1, 1)), (count, n, n))
    stack[0, 0] = 0
    return stack.astype(dtype)


def close(found: dict[str, Any], wanted: dict[str, Any], backend: Any, **tolerance: float) -> None:
    assert set(found) == set(wanted)  # jit sorts them
    for name, values in wanted.items():
        np.testing.assert_allclose(
            backend.numpy(found[name]), values, **(tolerance or backend.tolerance), err_msg=str(name)
        )


# Stacks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 20, 33])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_scores(on_device: Any, n: int, dtype: type) -> None:
    stack = stack_of(n, 50, dtype)
    close(on_device.score(on_device.asarray(stack), SPECS, invalid="nan"), matrics.score(stack, SPECS), on_device)


def test_single_precision_and_bad_matrices(on_device: Any) -> None:
    stack = stack_of(5, 40, np.float32)
    stack[3, 1, 2], stack[5, 0, 0], stack[7, 2, 2] = np.nan, -1, np.inf
    wanted = matrics.score(stack.astype(np.float64), SPECS, invalid="nan")
    found = on_device.score(on_device.asarray(stack), SPECS, invalid="nan")
    close(found, wanted, on_device, rtol=3e-4, atol=3e-5)


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 4, 4), (3, 3), (2, 3, 4, 4)])
def test_shapes(on_device: Any, shape: tuple[int, ...]) -> None:
    stack = RANDOM.integers(1, 50, shape).astype(float)
    close(on_device.score(on_device.asarray(stack), SPECS), matrics.score(stack, SPECS), on_device)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [4, 5, 10, 20, 32, 40])
def test_eigenvalues_of_hard_matrices(on_device: Any, device: Any, n: int, dtype: type) -> None:
    """To some units of rounding of the largest eigenvalue."""
    import torch

    from matrics._engine.eigenvalues import operator

    for name, matrices in test_eigenvalues.hard_matrices(n, 40):
        cells = test_eigenvalues.scaled(matrices, dtype)
        expected = np.linalg.eigvalsh(cells.astype(np.float64))
        tensor = torch.from_numpy(cells).to(device).permute(1, 2, 0)
        for given in (tensor, tensor.contiguous()):
            found = on_device.numpy(operator.eigenvalues(given)).T
            assert (np.diff(found, axis=1) >= 0).all(), name
            precision = np.finfo(dtype).eps
            allowed = test_eigenvalues.MOST * n * precision * np.abs(expected).max(1, keepdims=True) + 20 * precision**2
            assert (np.abs(found - expected) <= allowed).all(), (name, np.abs(found - expected).max())


@pytest.mark.parametrize("n", [3, 10])
def test_compiled(on_device: Any, device: Any, n: int) -> None:
    import torch

    stack = stack_of(n, 30)
    compiled = torch.compile(lambda cm: matrics.score(cm, ["mcc", "accuracy", "f1", "eve"]), fullgraph=True)
    tensor = torch.from_numpy(stack).to(device)
    close(compiled(tensor), matrics.score(stack, ["mcc", "accuracy", "f1", "eve"]), on_device)


@pytest.mark.parametrize("n", [3, 6])
def test_derivatives(on_device: Any, device: Any, n: int) -> None:
    """By autograd, by torch.func, and through compiled code."""
    import torch

    stack = stack_of(n, 12) + 1 + 100 * np.eye(n)

    def total(cm: Any) -> Any:
        return sum(value.sum() for value in matrics.score(cm, ["eve", "mcc", "f1"]).values())

    on_host = torch.from_numpy(stack).requires_grad_()
    (wanted,) = torch.autograd.grad(total(on_host), on_host)
    tensor = torch.from_numpy(stack).to(device).requires_grad_()
    (found,) = torch.autograd.grad(total(tensor), tensor)
    np.testing.assert_allclose(on_device.numpy(found), wanted, rtol=1e-9, atol=1e-12)
    (found,) = torch.autograd.grad(torch.compile(total, fullgraph=True)(tensor), tensor)
    np.testing.assert_allclose(on_device.numpy(found), wanted, rtol=1e-9, atol=1e-12)
    found = torch.func.vmap(torch.func.grad(total))(tensor.detach())
    np.testing.assert_allclose(on_device.numpy(found), wanted, rtol=1e-9, atol=1e-12)


# Counting -------------------------------------------------------------------------------------------------------------


def labels_of(n: int, size: Any = 3000, dtype: Any = np.int64, *, bad: bool = True) -> list[np.ndarray]:
    low = -2 if bad and np.dtype(dtype).kind == "i" else 0
    return [RANDOM.integers(low, n + 2 * bad, size).astype(dtype) for _ in range(2)]


def by_hand(true: np.ndarray, pred: np.ndarray, n: int, kept: Any = ...) -> np.ndarray:
    true, pred = true.astype(np.int64), pred.astype(np.int64)
    kept = (kept is ... or kept) & (true >= 0) & (true < n) & (pred >= 0) & (pred < n)
    return np.bincount(n * true[kept] + pred[kept], minlength=n * n).reshape(n, n)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8, np.uint16, np.bool_])
@pytest.mark.parametrize("n", [2, 10, 50])
def test_counts(on_device: Any, n: int, dtype: type) -> None:
    """Labels out of range are left out, and are never counted elsewhere."""
    if dtype is np.bool_ and n > 2:
        pytest.skip("of two classes")
    true, pred = labels_of(n, dtype=dtype)
    found = matrics.confusion_matrix(on_device.asarray(true), on_device.asarray(pred), num_classes=n)
    np.testing.assert_array_equal(on_device.numpy(found), by_hand(true, pred, n))
    state = matrics.ConfusionState.zeros(n, like=on_device.asarray(true))
    for part in np.array_split(np.arange(len(true)), 3):
        state = state.update(on_device.asarray(true[part]), on_device.asarray(pred[part]), ignore_index=1)
    np.testing.assert_array_equal(on_device.numpy(state.matrix), by_hand(true, pred, n, true != 1))
    kept = true.astype(np.int64) != 1
    assert int(state.dropped) == kept.sum() - by_hand(true, pred, n, kept).sum()


def test_counts_of_views_and_nothing(on_device: Any) -> None:
    true, pred = labels_of(4, (60, 50))
    of = [on_device.asarray(x) for x in (true, pred)]
    counted = matrics.ConfusionState.zeros(4, like=of[0]).update(of[0][::2, ::3], of[1][::2, ::3])
    np.testing.assert_array_equal(on_device.numpy(counted.matrix), by_hand(true[::2, ::3], pred[::2, ::3], 4))
    nothing = matrics.confusion_matrix(of[0][:0, 0], of[1][:0, 0], num_classes=4)
    assert on_device.numpy(nothing).tolist() == np.zeros((4, 4)).tolist()


def test_counts_of_scores_weights_groups_and_batches(on_device: Any) -> None:
    true, pred = labels_of(5, (3, 400), bad=False)
    groups, weights = RANDOM.integers(0, 4, (3, 400)), RANDOM.random((3, 400))
    scores = RANDOM.standard_normal((3, 400, 5))
    of = {name: on_device.asarray(x) for name, x in (("groups", groups), ("weights", weights), ("scores", scores))}
    arrays = [on_device.asarray(x) for x in (true, pred)]
    for options in ({}, {"groups": groups, "num_groups": 4}, {"sample_weight": weights}, {"ignore_index": [0, 3]}):
        there = {
            name: of["groups" if value is groups else "weights"] if isinstance(value, np.ndarray) else value
            for name, value in options.items()
        }
        wanted = matrics.confusion_matrix(true, pred, num_classes=5, **options)
        found = matrics.confusion_matrix(*arrays, num_classes=5, **there)
        np.testing.assert_allclose(on_device.numpy(found), wanted, rtol=1e-12)
    wanted = matrics.confusion_matrix(true, scores, num_classes=5, class_axis=-1)
    found = matrics.confusion_matrix(arrays[0], of["scores"], num_classes=5, class_axis=-1)
    np.testing.assert_array_equal(on_device.numpy(found), wanted)


def test_counts_are_deterministic(device: Any) -> None:
    """Where PyTorch is asked for algorithms that give the same result twice, and raises for any other."""
    import torch

    labels = torch.randint(-1, 3, (2, 5000), generator=torch.Generator().manual_seed(1)).to(device)
    scores = torch.randn((5000, 2), generator=torch.Generator().manual_seed(2)).to(device)

    def counted() -> list[Any]:
        of_scores = matrics.ScoreState.zeros(num_classes=2, like=scores).update(labels[0], scores)
        return [
            matrics.confusion_matrix(*labels, num_classes=2),
            matrics.ConfusionState.zeros(2, like=labels).update(*labels).matrix,
            matrics.MarginState.zeros(2, like=labels).update(*labels).counts,
            of_scores.counts,
        ]

    wanted = counted()
    torch.use_deterministic_algorithms(True)
    try:
        for _ in range(2):
            for found, once in zip(counted(), wanted, strict=True):
                assert torch.equal(found, once)
    finally:
        torch.use_deterministic_algorithms(False)


# Metrics --------------------------------------------------------------------------------------------------------------

Make = Callable[..., Any]
METRICS = {
    "confusion": ("ConfusionMetric", {"num_classes": 4, "metrics": SPECS, "ignore_index": 3}),
    "margins": ("MarginMetric", {"num_classes": 4, "metrics": ["f1", "accuracy", "mcc"]}),
    "weighted": ("ConfusionMetric", {"num_classes": 4, "metrics": ["mcc"], "dtype": "float64"}),
    "scores": (
        "ScoreMetric",
        {"num_classes": 4, "metrics": "roc_auc, average_precision, ece, recall@0.5, log_loss", "from_logits": True},
    ),
    "scores of class 1": ("ScoreMetric", {"metrics": "roc_auc, ece, recall@0.37, brier_score", "bounds": True}),
    "any measures": ("Metrics", {"num_classes": 4, "metrics": "mcc, roc_auc, ece, log_loss", "from_logits": True}),
    "multilabel": ("MultilabelMetric", {"num_labels": 4, "metrics": ["f1", "roc_auc", "hamming_loss"]}),
}


def made(kind: str, **more: Any) -> Any:
    import torch

    from matrics import torch as integration

    name, options = METRICS[kind]
    options = options | more
    if "dtype" in options:
        options["dtype"] = getattr(torch, options["dtype"])
    return getattr(integration, name)(**options)


def batch(kind: str, samples: int = 500) -> tuple[Any, Any]:
    import torch

    draw = torch.Generator().manual_seed(samples)
    if kind == "multilabel":
        return torch.randint(0, 2, (samples, 4), generator=draw), torch.rand((samples, 4), generator=draw)
    if kind == "scores of class 1":
        return torch.randint(0, 2, (samples,), generator=draw), torch.rand((samples,), generator=draw)
    return torch.randint(-1, 5, (samples,), generator=draw), torch.randn((samples, 4), generator=draw)


@pytest.mark.parametrize("kind", METRICS)
def test_metrics(on_device: Any, device: Any, kind: str) -> None:
    """As in host memory: updates, values of a batch, reset, merge, checkpoints; and nothing waits."""
    batches = [batch(kind, samples) for samples in (500, 20, 300)]
    wanted = reference(kind, batches)
    metric, other = made(kind).to(device), made(kind).to(device)
    there = [[x.to(device) for x in arrays] for arrays in batches]
    for arrays in there:  # whatever is prepared once
        other.update(*arrays)
        other(*arrays)
    other.reset()
    with without_waiting(device):
        metric.update(*there[0])
        of_batch = metric(*there[1])
        other.update(*there[2])
        metric.compute()
    values = metric.merge_state(other).compute()
    close({str(name): value for name, value in values.items()}, wanted, on_device)
    close({str(name): value for name, value in of_batch.items()}, reference(kind, batches[1:2]), on_device)
    loaded = made(kind).to(device)
    loaded.load_state_dict(metric.state_dict())
    close({str(name): value for name, value in loaded.compute().items()}, wanted, on_device)
    assert metric.log_dict() == pytest.approx(
        {name: float(value) for name, value in wanted.items()}, rel=1e-9, abs=1e-12, nan_ok=True
    )


def reference(kind: str, batches: list[Any]) -> dict[str, np.ndarray]:
    """The values of a metric in the memory of the host, without the number of dropped samples."""
    with roads.on_host():
        metric = made(kind)
        for one in batches:
            metric.update(*one)
        return {str(name): value.numpy() for name, value in metric.compute().items() if not name.endswith("dropped")}


@pytest.mark.parametrize("kind", ["confusion", "scores"])
def test_compiled_update(on_device: Any, device: Any, kind: str) -> None:
    """In one graph with the step around it."""
    import torch

    metric, arrays = made(kind).to(device), [x.to(device) for x in batch(kind)]

    @torch.compile(fullgraph=True)
    def step(labels: Any, scores: Any) -> Any:
        metric.update(labels, scores * 2)
        return (scores * 2).sum()

    for _ in range(2):
        step(*arrays)
    wanted = reference(kind, [(batch(kind)[0], batch(kind)[1] * 2)] * 2)
    close({str(name): value for name, value in metric.compute().items()}, wanted, on_device)


@pytest.mark.parametrize("kind", METRICS)
def test_values_from_one_graph(on_device: Any, gpu: Any, kind: str) -> None:
    """``cuda_graph=True``: equal values, of a copy and after other counts as well."""
    plain, metric = made(kind).to(gpu), made(kind, cuda_graph=True).to(gpu)
    arrays = [x.to(gpu) for x in batch(kind)]
    for samples in (500, 300):
        arrays = [x.to(gpu) for x in batch(kind, samples)]
        plain.update(*arrays)
        metric.update(*arrays)
        first, wanted = metric.compute(), plain.compute()
        close(first, {name: on_device.numpy(value) for name, value in wanted.items()}, on_device)
    metric.reset()
    close(first, {name: on_device.numpy(value) for name, value in wanted.items()}, on_device)
    copied = metric.clone()
    copied.update(*arrays)
    alone = made(kind).to(gpu)
    alone.update(*arrays)
    close(copied.compute(), {name: on_device.numpy(value) for name, value in alone.compute().items()}, on_device)
    with without_waiting(gpu):
        metric.compute()


def test_scoring_does_not_wait(gpu: Any) -> None:
    """All measures of a stack, of few and of many classes."""
    import torch

    for n in (2, 3, 5, 12, 33, 100):
        for dtype in (torch.float32, torch.float64, torch.int64):
            cm = torch.randint(1, 50, (20, n, n), device=gpu).to(dtype)
            matrics.score(cm, "all" if n < 12 else "core")
            with without_waiting(gpu):
                matrics.score(cm, "all" if n < 12 else "core")
                matrics.study.eigenvalues(cm)
                matrics.confusion_matrix(cm[:, 0, 0].long() % 3, cm[:, 1, 1].long() % 3, num_classes=3)


# JAX ------------------------------------------------------------------------------------------------------------------


def test_jax_counts_and_scores_in_one_program(on_device: Any) -> None:
    if not on_device.name.startswith("jax"):
        pytest.skip("of JAX")
    import jax

    true, pred = labels_of(6)

    @jax.jit
    def program(true: Any, pred: Any) -> Any:
        state = matrics.ConfusionState.zeros(6, like=true).update(true, pred)
        return state.matrix, matrics.score(state.matrix, SPECS)

    matrix, scores = program(on_device.asarray(true), on_device.asarray(pred))
    wanted = by_hand(true, pred, 6)
    np.testing.assert_array_equal(matrix, wanted)
    close(scores, matrics.score(wanted, SPECS), on_device)
    gradient = jax.jit(jax.grad(lambda cm: matrics.eve(cm).sum()))(on_device.asarray(stack_of(5, 9) + 1.0))
    assert np.isfinite(gradient).all()
