"""The metrics of several labels in a run: checkpoints, merges, copies, compiled steps, Lightning and processes."""

from __future__ import annotations

import copy
import importlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from several import LIBRARIES, Metric, leaves

RANDOM = np.random.default_rng(33)
NAMES = ["f1", "mcc:label", "roc_auc", "average_precision:micro", "subset_accuracy", "ranking_loss"]

every_library = pytest.mark.parametrize("library", LIBRARIES)


def batches(number: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(RANDOM.integers(0, 2, (16, 3)), RANDOM.random((16, 3)).astype(np.float32)) for _ in range(number)]


def fed(metric: Metric, given: Any) -> Metric:
    for batch in given:
        metric.update(*batch)
    return metric


@pytest.mark.sampled(2)
@pytest.mark.parametrize("metrics", [*NAMES, ", ".join(NAMES)])
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_a_run_goes_on_from_its_checkpoint(library: str, metrics: str, tmp_path: Path) -> None:
    """The sums are then those of a run that nobody stopped, bit by bit; only what is needed is in the file."""
    torch = pytest.importorskip("torch")
    given = batches()
    whole = fed(
        Metric(library, 3, metrics, threshold=[0.2, 0.4, 0.6]) if "f1" in metrics else Metric(library, 3, metrics),
        given,
    )
    options = {"threshold": [0.2, 0.4, 0.6]} if "f1" in metrics else {}
    killed, resumed = (Metric(library, 3, metrics, **options) for _ in range(2))
    if library == "torchmetrics":
        killed.own.persistent(mode=True)
    torch.save(fed(killed, given[:2]).own.state_dict(), tmp_path / "run.pt")
    resumed.own.load_state_dict(torch.load(tmp_path / "run.pt"))
    fed(resumed, given[2:])
    assert resumed.values() == whole.values()
    for own, expected in zip(leaves(resumed.own.state), leaves(whole.own.state), strict=True):
        np.testing.assert_array_equal(own, expected)
    labels, scores, losses = whole.own.state
    assert (labels is not None) == any(name in metrics for name in ("f1", "mcc", "subset"))
    assert (scores is not None) == ("roc" in metrics or "precision" in metrics)
    assert (losses is not None) == ("ranking" in metrics)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_other_checkpoints_are_refused(library: str) -> None:
    def saved(**options: Any) -> dict[str, Any]:
        metric = Metric(library, 3, "f1, roc_auc", **options)
        if library == "torchmetrics":
            metric.own.persistent(mode=True)
        return metric.own.state_dict()

    metric = Metric(library, 3, "f1, roc_auc").own
    metric.load_state_dict(saved())
    for options, message in (
        ({"threshold": 0.4}, "thresholds.*: expected predictions at the thresholds of this metric"),
        ({"bits": 6}, "expected counts of bits=10 in .*, got some of bits=6"),
    ):
        with pytest.raises(ValueError, match=message):
            metric.load_state_dict(saved(**options))
    wrong = saved()
    key = next(name for name in wrong if "counts" in name and "dropped" not in name)
    wrong[key].view(-1)[3] = -1
    with pytest.raises(ValueError, match="counts of at least 0, got -1"):
        metric.load_state_dict(wrong)


@pytest.mark.sampled(1)
@every_library
@pytest.mark.exhaustive(library=["flax"])
@pytest.mark.parametrize("metrics", ["f1, subset_accuracy", ", ".join(NAMES)])
def test_merges_copies_and_resets(library: str, metrics: str) -> None:
    given = batches()
    a, b = (fed(Metric(library, 3, metrics, prefix="val/"), part) for part in (given[:1], given[1:]))
    whole = fed(Metric(library, 3, metrics, prefix="val/"), given)
    before = b.values()
    a.own.merge_state(b.own)
    if library == "torchmetrics":
        a.own._computed = None  # torchmetrics keeps the values that it has
    other = a.own.clone(prefix="test/")
    assert list(other.log_dict()) == [f"test/{key.removeprefix('val/')}" for key in whole.values()]
    other.reset()
    assert not np.asarray(other.state.labels.counts).any()
    assert a.values() == pytest.approx(whole.values(), abs=1e-6)
    assert b.values() == before
    if library != "flax":
        for twin in (copy.deepcopy(b.own), pickle.loads(pickle.dumps(b.own))):
            assert twin.log_dict() == before
            twin.reset()
        assert b.values() == before
        assert "val/" in repr(b.own)


@pytest.mark.sampled(1)
@every_library
def test_other_metrics_are_not_merged(library: str) -> None:
    """Their counts would mean nothing: other thresholds, bins, labels or measures."""
    metric = fed(Metric(library, 3, "f1, roc_auc"), batches(1))
    counts = np.asarray(metric.own.state.labels.counts).copy()
    for number, metrics, options in (
        (3, "f1, roc_auc", {"threshold": [0.5, 0.5, 0.4]}),
        (3, "f1, roc_auc", {"bits": 6}),
        (3, "f1, roc_auc", {"edges": [0, 0.5, 1]}),
        (4, "f1, roc_auc", {}),
        (3, "f1", {}),
        (3, "f1, roc_auc, ranking_loss", {}),
    ):
        other = Metric(library, number, metrics, **options)
        if library == "torchmetrics":  # which merges only what has counted
            other.update(np.zeros((2, number), int), np.zeros((2, number), np.float32))
        with pytest.raises(ValueError, match="expected"):
            metric.own.merge_state(other.own)
        np.testing.assert_array_equal(np.asarray(metric.own.state.labels.counts), counts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:`torch:FutureWarning")
def test_one_graph_for_a_training_step(library: str, backend: str) -> None:
    """The model, its loss and the counting: nothing is compiled again after the second size of a batch."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Linear(6, 3)
    options: Any = {"from_logits": True, "ignore_index": -1, "bits": 6, "threshold": [0.4, 0.5, 0.6]}
    names = NAMES if backend == "inductor" else ["f1", "ranking_loss"]
    metric, plain = (Metric(library, 3, names, **options).own for _ in range(2))

    def counted(metric: Any, labels: Any, logits: Any) -> None:
        metric.update(*((logits, labels) if library == "torchmetrics" else (labels, logits)))

    def step(features: Any, labels: Any) -> Any:
        logits = model(features)
        counted(metric, labels, logits)
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels.clamp(0).float())

    torch._dynamo.reset()
    compiled = torch.compile(step, fullgraph=True, backend=backend)
    for number, size in enumerate((16, 12, 16, 9, 30)):
        features, labels = torch.randn(size, 6), torch.randint(-1, 2, (size, 3))
        with torch._dynamo.config.patch(error_on_recompile=number > 1):
            compiled(features, labels).backward()
        with torch.no_grad():
            counted(plain, labels, model(features))
    for own, expected in zip(leaves(metric.state), leaves(plain.state), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9)
    if library == "torch" and backend == "inductor":
        values = torch.compile(metric.compute, fullgraph=True, backend="aot_eager")()
        assert {name: float(x) for name, x in values.items()} == pytest.approx(plain.log_dict(), abs=1e-9)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.* treats scores in the same bucket")  # the same batch many times
def test_under_jit(jax_backend: Any) -> None:
    """Updates and values in one program, in the sums of eager code; a sum of states in two words."""
    nnx = pytest.importorskip("flax.nnx")
    metric, plain = (Metric("flax", 3, NAMES, bits=6, ignore_index=-1) for _ in range(2))
    step = nnx.jit(lambda metric, y_true, y_score: metric.update(y_true, y_score))
    for y_true, scores in batches(2):
        step(metric.own, metric.array(y_true), metric.array(scores))
        plain.update(y_true, scores)
    found = nnx.jit(lambda metric: metric.compute())(metric.own)
    assert {name: float(x) for name, x in found.items()} == pytest.approx(plain.values(), abs=1e-6)
    for _ in range(14):
        plain.own.merge_state(plain.own.state)
    assert plain.values() == pytest.approx({name: float(x) for name, x in found.items()}, abs=1e-6)
    graph, state = nnx.split(metric.own)
    assert nnx.merge(graph, state).log_dict() == metric.values()
    del jax_backend


@pytest.mark.exhaustive
def test_processes_count_as_one(tmp_path: Path) -> None:
    """Of two, of which one has no batch: after one all_reduce, and with torchmetrics."""
    pytest.importorskip("torchmetrics")
    ranks = importlib.import_module("ranks")
    whole = Metric("torch", 3, NAMES)
    for y_true, scores in ranks.several_labels(0):
        whole.own.update(y_true, scores)
    for result in ranks.run("labelled", 2, tmp_path):
        assert result["first"] == result["again"] == result["together"] == pytest.approx(whole.values(), abs=1e-9)
        assert result["later"] == pytest.approx(whole.values(), abs=1e-9)
        assert result["counts"] == 2 * int(whole.own.state.labels.counts.sum())


def test_lightning_and_collections() -> None:
    """A value is a metric of its own for log_dict; a collection shares the counts of equal metrics alone."""
    torch = pytest.importorskip("torch")
    peer = pytest.importorskip("torchmetrics")
    first, second, third = (
        Metric("torchmetrics", 3, "f1", **x).own for x in ({}, {"prefix": "b/"}, {"threshold": 0.3})
    )
    for name, value in first.items():
        assert (name, isinstance(value, peer.Metric)) == ("f1", True)
    collection = peer.MetricCollection({"a": first, "b": second, "c": third})
    alone = first.clone()
    for y_true, scores in batches():
        values = alone(torch.as_tensor(scores), torch.as_tensor(y_true))
        collection.update(torch.as_tensor(scores), torch.as_tensor(y_true))
    assert set(values) == {"f1"}
    assert sorted(map(len, collection.compute_groups.values())) == [1, 2]
    assert not torch.equal(second.matrix, third.matrix)
