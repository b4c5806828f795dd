"""Batches of any size in compiled code: the counts of eager code, and no graph after that of the second size."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from training_cases import METRICS, RANDOM, Case, count, draw, weights

from matrics import ConfusionState, MarginState, MultilabelState, ScoreState

SIZES = [24, 24, 13, 40, 8]  # 13 may be the last of an epoch


def with_ways(names: Iterable[str]) -> list[tuple[str, str]]:
    """Each name with two ways of compiling a step.

    "dynamic" makes a symbol of every number; the other is, in turn, the default, a symbol for the axis of the samples,
    and half precision.
    """
    return [
        (name, way) for k, name in enumerate(names) for way in ("dynamic", ("default", "marked", "autocast")[k % 3])
    ]


THRESHOLD = 0.4  # a symbol with dynamic=True, as all numbers that are not written where they are used


STATES = {
    "labels": Case(lambda like: ConfusionState.zeros(3, like=like), 3, "labels", lambda _: {"ignore_index": 0}),
    "class scores": Case(lambda like: ConfusionState.zeros(3, like=like), 3),
    "threshold": Case(
        lambda like: ConfusionState.zeros(2, like=like), None, options=lambda _: {"threshold": THRESHOLD}
    ),
    "weights": Case(lambda like: ConfusionState.zeros(3, like=like, dtype=like.dtype), 3, options=weights),
    "groups": Case(
        lambda like: ConfusionState.zeros(3, num_groups=2, like=like), 3, options=lambda y: {"groups": y % 2}
    ),
    "margins": Case(lambda like: MarginState.zeros(3, like=like), 3),
    "weighted margins": Case(lambda like: MarginState.zeros(3, like=like, dtype=like.dtype), 3, options=weights),
    "bins": Case(lambda like: ScoreState.zeros(bits=6, like=like), None),
    "class bins": Case(lambda like: ScoreState.zeros(bits=6, num_classes=3, like=like), 3),
    "weighted bins": Case(lambda like: ScoreState.zeros(bits=6, like=like, dtype=like.dtype), None, options=weights),
    "losses": Case(
        lambda like: ScoreState.zeros(num_classes=3, bits=0, num_bins=0, losses=True, top_k=[1, 2], like=like), 3
    ),
    "sets": Case(
        lambda like: MultilabelState.zeros(3, like=like),
        3,
        "sets",
        lambda _: {"threshold": THRESHOLD, "ignore_index": -1},
    ),
}
# One for each operation that symbols once did not pass.
OFTEN = {"threshold", "losses", "sets"}


@contextlib.contextmanager
def compiled(torch: Any, way: str, step: Callable[..., Any], backend: str) -> Iterator[Callable[..., Any]]:
    """The step, compiled as one graph; at a third one it raises."""
    steps = 0

    def run(*arguments: Any) -> Any:
        nonlocal steps
        if way == "marked":
            for tensor in arguments[-2:]:
                torch._dynamo.mark_dynamic(tensor, 0)
        is_second_size = way in ("default", "autocast") and steps == SIZES.index(13)
        autocast = torch.autocast("cpu", torch.bfloat16, enabled=way == "autocast")
        with autocast, torch._dynamo.config.patch(error_on_recompile=steps > 0 and not is_second_size):
            steps += 1
            return function(*arguments)

    torch._dynamo.reset()
    function = torch.compile(step, fullgraph=True, backend=backend, dynamic=True if way == "dynamic" else None)
    yield run
    torch._dynamo.reset()


def leaves(state: Any) -> list[Any]:
    """All arrays of a state."""
    if state is None:  # no measure needs it
        return []
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else [state]


def assert_equal(torch: Any, found: Any, wanted: Any) -> None:
    for one, other in zip(leaves(found), leaves(wanted), strict=True):
        torch.testing.assert_close(one, torch.as_tensor(other), rtol=1e-12, atol=1e-12, check_dtype=False)


def library(name: str) -> Any:
    if name == "torchmetrics":
        pytest.importorskip("torchmetrics")
    return importlib.import_module(f"matrics.{name}")


def counted(torch: Any, of: str, name: str, way: str, backend: str = "aot_eager") -> tuple[Any, list[list[Any]]]:
    """A metric that has counted batches of all sizes in compiled code, as eager code has, and the batches."""
    case = METRICS[name]
    metric, plain = case.make(library(of)), case.make(library(of))

    batches = [[torch.from_numpy(x) for x in draw(case, size)] for size in SIZES]
    with compiled(torch, way, lambda *batch: count(metric, case, *batch), backend) as step:
        for batch in batches:
            step(*batch)
            count(plain, case, *batch)
            assert_equal(torch, metric.state, plain.state)
    return metric, batches


@pytest.mark.exhaustive
@pytest.mark.exhaustive(way=["default", "marked", "autocast"])
@pytest.mark.exhaustive(of=["torchmetrics"])
@pytest.mark.exhaustive(name=[name for name in METRICS if name not in OFTEN - {"sets"}])
@pytest.mark.parametrize(("name", "way"), with_ways(METRICS))
@pytest.mark.parametrize("of", ["torch", "torchmetrics"])
def test_metrics(torch: Any, of: str, name: str, way: str) -> None:
    counted(torch, of, name, way)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(way=["default", "marked", "autocast"])
@pytest.mark.exhaustive(name=[name for name in STATES if name != "sets"])
@pytest.mark.parametrize(("name", "way"), with_ways(STATES))
def test_states(torch: Any, name: str, way: str) -> None:
    """As the same state of NumPy."""
    case = STATES[name]
    like = torch.zeros(())
    state, of_numpy = case.make(like), case.make(np.zeros((), np.float32))
    with compiled(torch, way, lambda state, y, made: state.update(y, made, **case.options(y)), "aot_eager") as step:
        for size in SIZES:
            y_true, made = draw(case, size)
            state = step(state, torch.from_numpy(y_true), torch.from_numpy(made))
            of_numpy = of_numpy.update(y_true, made, **case.options(y_true))
    assert_equal(torch, state, of_numpy)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")
@pytest.mark.exhaustive(way=["default"])
@pytest.mark.parametrize("way", ["default", "dynamic"])
def test_inductor(torch: Any, way: str) -> None:
    """It once ordered the graph of a symbolic size in a circle; scikit-learn's areas are within the bounds."""
    sk = pytest.importorskip("sklearn.metrics")
    metric, batches = counted(torch, "torch", "class bins", way, "inductor")
    labels, scores = (np.concatenate([batch[k].numpy() for batch in batches]) for k in (0, 1))
    areas = metric.state.roc_auc(average="class")
    for k in range(3):
        exact = sk.roc_auc_score(labels == k, scores[:, k])
        assert areas.low[k] <= exact <= areas.high[k]


def test_labels_as_scikit_learn_counts_them(torch: Any) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    metric, batches = counted(torch, "torch", "labels", "default")
    labels, predicted = (np.concatenate([batch[k].numpy() for batch in batches]) for k in (0, 1))
    np.testing.assert_array_equal(metric.matrix, sk.confusion_matrix(labels, predicted, labels=range(3)))


@pytest.mark.exhaustive(method=["forward"])
@pytest.mark.parametrize("method", ["update", "forward"])
def test_torchmetrics_counts_more_batches_than_graphs_are_kept(torch: Any, method: str) -> None:
    """torchmetrics counts updates in an integer, which once was a constant of the graph: the ninth update failed."""
    metric = library("torchmetrics").ConfusionMetric(3, "accuracy")
    labels, predicted = (torch.from_numpy(RANDOM.integers(0, 3, 50)) for _ in range(2))
    with compiled(torch, "dynamic", getattr(metric, method), "aot_eager") as step:
        for _ in range(10):
            step(predicted, labels)
    assert metric.update_called
    assert metric.matrix.sum() == 500
    assert metric.log_dict()["accuracy"] == pytest.approx((labels == predicted).double().mean().item(), abs=1e-12)
    metric.reset()
    assert not metric.update_called
    metric.update(predicted, labels)
    metric.update(predicted, labels)
    assert metric.update_count == 2


# Values ---------------------------------------------------------------------------------------------------------------

VALUES = {
    "measures": lambda of: of.ConfusionMetric(3, "balanced_accuracy", zero_division=0.0),
    "areas": lambda of: of.ScoreMetric(3, "roc_auc", bits=6, bounds=True, zero_division=0.0),
    "calibration": lambda of: of.ScoreMetric(3, "ece, recall@0.5, average_precision:micro", bits=6, num_bins=4),
}


@pytest.mark.exhaustive
@pytest.mark.exhaustive(of=["torchmetrics"])
@pytest.mark.exhaustive(name=["calibration", "measures"])
@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("of", ["torch", "torchmetrics"])
def test_values(torch: Any, of: str, name: str) -> None:
    """With ``dynamic=True`` numbers of classes, of bins and for 0/0 are symbols, too."""
    metric = VALUES[name](library(of))
    batch = [torch.from_numpy(x) for x in draw(Case(VALUES[name], 3), 40)]
    metric.update(*(batch if of == "torch" else batch[::-1]))
    with compiled(torch, "dynamic", metric.compute, "aot_eager") as compute:
        found = compute()
    assert list(found) == list(metric.compute())
    assert_equal(torch, tuple(found.values()), tuple(metric.compute().values()))


@pytest.mark.exhaustive
def test_values_of_sets(torch: Any) -> None:
    state = MultilabelState.zeros(3).update(*draw(STATES["sets"], 40), threshold=0.5)
    tensors = MultilabelState(*map(torch.from_numpy, map(np.asarray, state)))
    with compiled(torch, "dynamic", lambda state: state.score("recall"), "aot_eager") as score:
        assert_equal(torch, score(tensors)["recall"], state.score("recall")["recall"])


# JAX ------------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(name=["weighted margins", "bins", "weighted bins", "class bins"])
@pytest.mark.parametrize("name", STATES)
def test_jax_traces_once_a_size(jax_backend: Any, name: str) -> None:
    import jax

    case, traced = STATES[name], []

    @jax.jit
    def step(state: Any, y_true: Any, made: Any) -> Any:
        traced.append(y_true.shape[0])
        return state.update(y_true, made, **case.options(y_true))

    state, of_numpy = case.make(jax_backend.asarray(np.zeros((), np.float32))), case.make(np.zeros((), np.float32))
    for size in (24, 24, 13, 24, 13):
        y_true, made = draw(case, size)
        y_true = y_true.astype(np.int32)
        state = step(state, jax_backend.asarray(y_true), jax_backend.asarray(made))
        of_numpy = of_numpy.update(y_true, made, **case.options(y_true))
    assert traced == [24, 13]
    np.testing.assert_array_equal(leaves(state)[0], leaves(of_numpy)[0])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["ConfusionMetric", "ScoreMetric"])
def test_flax_traces_once_a_size(jax_backend: Any, name: str) -> None:
    nnx = pytest.importorskip("flax.nnx")
    metric = getattr(library("flax"), name)(3)
    traced = []

    @nnx.jit
    def step(metric: Any, labels: Any, logits: Any) -> None:
        traced.append(labels.shape[0])
        metric.update(labels=labels, logits=logits)

    case = METRICS["class scores"]
    for size in (24, 24, 13, 24, 13):
        labels, logits = draw(case, size)
        step(metric, jax_backend.asarray(labels.astype(np.int32)), jax_backend.asarray(logits))
    assert traced == [24, 13]
