"""Metrics of margins for training loops: the values of all cells, on every road, and which metrics keep margins."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
import roads

import matrics

pytestmark = pytest.mark.filterwarnings("ignore:.*samples are not counted")

LIBRARIES = ["torch", "torchmetrics", "flax"]
PANEL = "accuracy, balanced_accuracy, f1, f1:weighted, recall:class, mcc, cohen_kappa, jaccard:micro, true_positives"
CLASSES, SAMPLES = 7, 60


def made(library: str, kind: str, *arguments: Any, **options: Any) -> Any:
    pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
    return getattr(importlib.import_module(f"matrics.{library}"), kind)(*arguments, **options)


def as_array(library: str, x: Any) -> Any:
    return (
        importlib.import_module("jax.numpy").asarray(x)
        if library == "flax"
        else importlib.import_module("torch").as_tensor(x)
    )


def updated(library: str, metric: Any, y_true: Any, y_pred: Any, **options: Any) -> Any:
    """The metric after a batch."""
    arrays = [as_array(library, x) for x in (y_true, y_pred)]
    options = {name: as_array(library, value) for name, value in options.items()}
    if library == "flax":
        roads.nnx_update(metric, *arrays, **options)
    else:
        metric.update(*(arrays[::-1] if library == "torchmetrics" else arrays), **options)
    return metric


def numbers(metric: Any) -> dict[str, float]:
    return {str(name): float(value) for name, value in metric.compute().items()}


def batch(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels with some out of range, predicted labels likewise, and scores with a row of NaN."""
    random = np.random.default_rng(seed)
    y_true, y_pred = random.integers(-1, CLASSES + 1, (2, SAMPLES))
    y_true[::4] = y_pred[::4]
    scores = random.normal(size=(SAMPLES, CLASSES)).astype(np.float32)
    scores[3] = math.nan
    return y_true, y_pred, scores


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(library=["flax"], what=["ignored", "masked", "relabelled", "many"])
@pytest.mark.parametrize("what", ["labels", "scores", "ignored", "masked", "weighted", "relabelled", "many"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_values_are_those_of_all_cells(library: str, what: str) -> None:
    options: dict[str, Any] = {"prefix": "val/"}
    arguments: dict[str, Any] = {}
    y_true, y_pred, scores = batch()
    if what == "ignored":
        options["ignore_index"] = [-1, 2]
    if what == "masked":
        arguments["mask"] = np.arange(SAMPLES) % 3 > 0
    if what == "weighted":
        options["dtype"] = importlib.import_module("jax.numpy" if library == "flax" else "torch").float32
        arguments["sample_weight"] = np.random.default_rng(1).random(SAMPLES).astype(np.float32)
    if what == "relabelled":
        options["labels"] = range(1, CLASSES + 1)
    if what == "many":  # more than PyTorch's tensors are counted by NumPy
        y_true, y_pred = np.tile(y_true, 100), np.tile(y_pred, 100)
    given = scores if what == "scores" else y_pred
    number = None if what == "relabelled" else CLASSES
    metrics = [made(library, kind, number, PANEL, **options) for kind in ("MarginMetric", "ConfusionMetric")]
    for metric in metrics:
        updated(library, metric, y_true, given, **arguments)
        updated(library, metric, y_true[:1], given[:1], **{name: value[:1] for name, value in arguments.items()})
    margins, cells = metrics
    found, wanted = numbers(margins), numbers(cells)
    assert list(found) == list(wanted)
    np.testing.assert_allclose(list(found.values()), list(wanted.values()), rtol=3e-6 if what == "weighted" else 1e-6)
    assert int(margins.dropped if library != "flax" else margins.state.dropped) == int(cells.state.dropped) > 0
    matrix = np.asarray(cells.matrix)
    for name, sums in (("true_positives", matrix.diagonal()), ("true", matrix.sum(1)), ("pred", matrix.sum(0))):
        np.testing.assert_allclose(np.asarray(getattr(margins.state, name)), sums, rtol=1e-5)
    with pytest.raises(ValueError, match=r"matrix: expected a metric of all cells, got a metric .* of 7 classes"):
        _ = margins.matrix


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", LIBRARIES)
def test_many_classes_need_little_memory(library: str) -> None:
    """A metric of measures that need no cells keeps margins by itself where cells would take more than 1 GiB."""
    y_true, y_pred = np.array([7, 7, 40_000, 3]), np.array([7, 9, 40_000, 3])
    values = []
    for kind in ("ConfusionMetric", "MarginMetric"):
        metric = updated(library, made(library, kind, 50_257, "accuracy, f1, mcc"), y_true, y_pred)
        assert isinstance(metric.state, matrics.MarginState)
        values.append(numbers(metric))
    # Three hits of four; F1 is 1, 1, 2/3 and 0 of four classes; MCC is 8 / sqrt(10 * 12).
    wanted = {"accuracy": 3 / 4, "f1": 8 / 12, "mcc": 8 / math.sqrt(120)}
    assert values[0] == values[1] == pytest.approx(wanted, rel=1e-6)
    assert isinstance(made(library, "ConfusionMetric", 100, "accuracy").state, matrics.ConfusionState)


@pytest.mark.parametrize("library", LIBRARIES)
def test_measures_of_cells_are_refused_at_once_with_their_memory(library: str) -> None:
    size = "20.2 GB" if library == "flax" else "40.4 GB"
    with pytest.raises(ValueError, match=f"MarginMetric .*: cen, eve need all cells of the matrix, which take {size}"):
        made(library, "MarginMetric", 50_257, "accuracy, cen, eve")
    with pytest.raises(ValueError, match=f"got {size}; allow_large=True .*; cen needs all cells"):
        made(library, "ConfusionMetric", 50_257, "accuracy, cen")
    with pytest.raises(ValueError, match=r"got others: expected_cost.* needs all cells .*, which take (72|144) bytes"):
        made(library, "MarginMetric", 3, [matrics.metrics.cost(np.ones((3, 3)) - np.eye(3))])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_measure_that_needs_no_cells(library: str) -> None:
    names = matrics.MarginState.list_metrics()
    assert len(names) >= 140
    random = np.random.default_rng(4)
    y_true, y_pred = random.integers(0, CLASSES, (2, 200))
    values = [
        numbers(updated(library, made(library, kind, CLASSES, names, fill_undefined=None), y_true, y_pred))
        for kind in ("MarginMetric", "ConfusionMetric")
    ]
    np.testing.assert_allclose(
        list(values[0].values()), list(values[1].values()), rtol=2e-4 if library == "flax" else 1e-9
    )


# PyTorch ------------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("has_scores", [False, True])
def test_compiled_in_one_graph(*, has_scores: bool) -> None:
    torch = pytest.importorskip("torch")
    y_true, y_pred, scores = batch()
    given = scores if has_scores else y_pred
    eager, compiled = made("torch", "MarginMetric", CLASSES, PANEL), made("torch", "MarginMetric", CLASSES, PANEL)
    update = torch.compile(compiled.update, fullgraph=True, backend="aot_eager")
    compute = torch.compile(compiled.compute, fullgraph=True, backend="aot_eager")
    for size in (SAMPLES, SAMPLES):  # test_batch_sizes.py has several
        updated("torch", eager, y_true[:size], given[:size])
        update(torch.as_tensor(y_true[:size]), torch.as_tensor(given[:size]))
    assert torch.equal(eager.counts, compiled.counts)
    found, wanted = compute(), eager.state.score(PANEL.split(", "))
    for name in ("mcc", "f1", "accuracy"):
        torch.testing.assert_close(found[name], wanted[name], rtol=1e-12, atol=0)


def test_checkpoints_and_sums() -> None:
    torch = pytest.importorskip("torch")
    y_true, y_pred, _ = batch()
    first, second = (updated("torch", made("torch", "MarginMetric", CLASSES, "mcc"), y_true, y_pred) for _ in range(2))
    resumed = made("torch", "MarginMetric", CLASSES, "mcc")
    resumed.load_state_dict(first.state_dict())
    assert torch.equal(resumed.counts, first.counts)
    resumed.merge_state(second)
    assert torch.equal(resumed.counts, 2 * first.counts)
    cells = made("torch", "ConfusionMetric", CLASSES, "mcc")
    with pytest.raises(ValueError, match=r"expected metrics that count margins, got a metric .* all cells"):
        resumed.merge_state(cells)
    with pytest.raises(ValueError, match="checkpoint: expected counts of the shape"):
        resumed.load_state_dict(cells.state_dict())
    wrong = {"counts": first.counts.clone()}
    wrong["counts"][CLASSES + 2] = -3
    with pytest.raises(ValueError, match="got -3 among the false negatives of class 2 of 'counts'"):
        resumed.load_state_dict(wrong)


def test_a_collection_does_not_confuse_cells_and_margins() -> None:
    torchmetrics = pytest.importorskip("torchmetrics")
    y_true, y_pred, _ = batch()
    kinds = ("MarginMetric", "ConfusionMetric")
    collection = torchmetrics.MetricCollection(
        {kind: made("torchmetrics", kind, CLASSES, "mcc", prefix=f"{kind}/") for kind in kinds}
    )
    for _ in range(2):
        updated("torchmetrics", collection, y_true, y_pred)
    found = collection.compute()
    alone = numbers(updated("torchmetrics", made("torchmetrics", "MarginMetric", CLASSES, "mcc"), y_true, y_pred))
    assert [float(found[f"{kind}/mcc"]) for kind in kinds] == pytest.approx([alone["mcc"]] * 2)


# Flax ---------------------------------------------------------------------------------------------------------------


def test_under_nnx_jit() -> None:
    nnx = pytest.importorskip("flax.nnx")
    y_true, y_pred, _ = batch()
    eager, compiled = (made("flax", "MarginMetric", CLASSES, PANEL) for _ in range(2))
    step = nnx.jit(lambda metric, *labels: metric.update(*labels))
    for _ in range(3):
        updated("flax", eager, y_true, y_pred)
        step(compiled, as_array("flax", y_true), as_array("flax", y_pred))
    found = nnx.jit(lambda metric: metric.compute())(compiled)
    np.testing.assert_allclose(found["mcc"], numbers(eager)["mcc"], rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(eager.state.true), np.asarray(compiled.state.true))
