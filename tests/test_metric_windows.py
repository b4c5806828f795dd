"""Metrics for training loops that remember the last batches, and metrics of several labels whose counts decay."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from several import Metric, by_hand
from test_decay import SIZES, Door, N

RANDOM = np.random.default_rng(17)
WINDOW = 3
KINDS: dict[str, dict[str, Any]] = {
    "ConfusionMetric": {"num_classes": N, "metrics": "mcc, recall:class, true_positives:class"},
    "MarginMetric": {"num_classes": N, "metrics": "mcc, recall:class"},
    "ScoreMetric": {"num_classes": N, "metrics": "roc_auc, ece, log_loss, top_k_accuracy(k=2), f1@0.4", "bits": 6},
    "Metrics": {"num_classes": N, "metrics": "mcc, roc_auc, recall:class, log_loss", "bits": 6},
    "MultilabelMetric": {"num_labels": N, "metrics": "f1, roc_auc, subset_accuracy, ranking_loss", "bits": 6},
}
LIBRARIES = ("torch", "torchmetrics", "flax")
every_kind = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.filterwarnings("ignore:.* not counted", "ignore:.* treats scores in the same bucket")


@pytest.fixture(params=LIBRARIES)
def door(request: pytest.FixtureRequest, torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    if request.param != "torch":
        pytest.importorskip(request.param)
    return Door(request.param)


def batches_of(kind: str, sizes: tuple[int, ...] = (*SIZES, 9, 30)) -> list[Any]:
    """Labels, or sets of labels, and scores that are exact in binary, so that sums are the same in any order."""
    found = []
    for size in sizes:
        labels = RANDOM.integers(-1, N, size)  # one of which may be out of range
        scores = (RANDOM.integers(1, 63, (size, N)) / 64).astype(np.float32)
        found.append((RANDOM.integers(0, 2, (size, N)) if kind == "MultilabelMetric" else labels, scores))
    return found


def make(door: Door, kind: str, **options: Any) -> Any:
    return getattr(door.module, kind)(**KINDS[kind] | options)


def of_last(door: Door, kind: str, batches: list[Any], **options: Any) -> dict[str, float]:
    """The values of a metric without a window that has counted the last batches alone."""
    metric = make(door, kind, **options)
    for batch in batches[-WINDOW:]:
        door.update(metric, batch)
    values: dict[str, float] = metric.log_dict()
    return values


@every_kind
@pytest.mark.sampled(1)
@pytest.mark.exhaustive(door=["flax"], kind=["MultilabelMetric"])  # whose programs take seconds
def test_values_are_those_of_the_last_batches(door: Door, kind: str) -> None:
    """After each batch; a batch that is refused changes nothing, and a reset metric begins anew."""
    metric, batches = make(door, kind, window=WINDOW), batches_of(kind)
    for number, batch in enumerate(batches, 1):
        door.update(metric, batch)
        assert metric.log_dict() == pytest.approx(of_last(door, kind, batches[:number]), abs=1e-6, nan_ok=True)
    with pytest.raises((TypeError, ValueError)):
        door.update(metric, (batches[0][0][:-1], batches[0][1]))
    assert metric.log_dict() == pytest.approx(of_last(door, kind, batches), abs=1e-6)
    metric.reset()
    door.update(metric, batches[0])
    assert metric.log_dict() == pytest.approx(of_last(door, kind, batches[:1]), abs=1e-6)


def test_sums_by_hand(door: Door) -> None:
    """The matrix of the last batches, and how many of their samples were dropped."""
    metric, batches = make(door, "ConfusionMetric", window=WINDOW), batches_of("ConfusionMetric")
    for batch in batches:
        door.update(metric, batch)
    wanted, dropped = np.zeros((N, N)), 0
    for labels, scores in batches[-WINDOW:]:
        dropped += int((labels < 0).sum())
        np.add.at(wanted, (labels[labels >= 0], scores.argmax(axis=1)[labels >= 0]), 1)
    np.testing.assert_array_equal(np.asarray(metric.matrix), wanted)
    assert int(metric.state.dropped) == dropped > 0


@every_kind
@pytest.mark.sampled(2)
@pytest.mark.exhaustive(door=["flax"], kind=["MultilabelMetric"])  # whose programs take seconds
def test_windows_are_merged_by_age(door: Door, kind: str) -> None:
    """The newest batches of both are added up; the next batch replaces the oldest of both."""
    one, other = (make(door, kind, window=WINDOW) for _ in range(2))
    first, second, last = batches_of(kind), batches_of(kind, (30, 9, 30, 8)), batches_of(kind, (20,))
    for metric, batches in ((one, first), (other, second)):
        for batch in batches:
            door.update(metric, batch)
    one.merge_state(other)
    both = make(door, kind)
    for batch in (*first[-WINDOW:], *second[-WINDOW:]):
        door.update(both, batch)
    assert one.log_dict() == pytest.approx(both.log_dict(), abs=1e-6)
    door.update(one, last[0])
    after = make(door, kind)
    for batch in (*first[1 - WINDOW :], *second[1 - WINDOW :], *last):
        door.update(after, batch)
    assert one.log_dict() == pytest.approx(after.log_dict(), abs=1e-6)
    with pytest.raises(ValueError, match="expected a metric with window=3, got window=None"):
        one.merge_state(make(door, kind))
    if door.name == "flax":
        with pytest.raises(TypeError, match="expected a metric with window=3, as a state does not have the order"):
            one.merge_state(other.state)


@every_kind
@pytest.mark.sampled(1)
def test_a_checkpoint_has_the_window(door: Door, kind: str) -> None:
    batches = batches_of(kind)
    whole, first, second = (make(door, kind, window=WINDOW) for _ in range(3))
    for batch in batches:
        door.update(whole, batch)
    for batch in batches[:4]:
        door.update(first, batch)
    if door.name == "flax":
        nnx = importlib.import_module("flax.nnx")
        nnx.update(second, nnx.state(first))
    else:
        saved = {name: values.clone() for name, values in first.state_dict().items()}
        second.load_state_dict(saved)
        place = next(name for name in saved if name.startswith("place"))
        with pytest.raises(ValueError, match=rf"expected a slot from 0 to 2 in '{place}', got 3"):
            second.load_state_dict(saved | {place: saved[place] * 0 + 3})
    for batch in batches[4:]:
        door.update(second, batch)
    assert second.log_dict() == whole.log_dict()


@pytest.mark.sampled(2)
@every_kind
def test_what_was_synced_leaves_the_window(torch: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes, of which the other has counted the same: everything is there twice, and goes as it came."""
    distributed = importlib.import_module("torch.distributed")
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_rank", lambda _: 0)
    monkeypatch.setattr(distributed, "all_reduce", lambda found, **_: found.mul_(2))
    door, batches = Door("torch"), batches_of(kind)
    metric = make(door, kind, window=WINDOW)
    for number, batch in enumerate(batches, 1):
        metric.update(*map(torch.from_numpy, batch))
        if number in (2, 4, 5, 6):
            metric.sync()
        if number in (2, 5, 6):
            twice = make(door, kind)
            for each in batches[max(0, number - WINDOW) : number] * 2:
                twice.update(*map(torch.from_numpy, each))
            assert metric.log_dict() == pytest.approx(twice.log_dict(), abs=1e-6)


@pytest.mark.exhaustive
@every_kind
def test_one_graph(torch: Any, kind: str) -> None:
    door, batches = Door("torch"), batches_of(kind, (30, 30, 7, 30, 12))
    metric = make(door, kind, window=WINDOW)
    torch._dynamo.reset()
    step = torch.compile(metric.update, fullgraph=True, backend="aot_eager")
    for batch in batches:
        step(*map(torch.from_numpy, batch))
    found = torch.compile(metric.compute, fullgraph=True, backend="aot_eager")()
    wanted = of_last(door, kind, batches)
    assert len(found) > 1
    assert {name: value.item() for name, value in found.items()} == pytest.approx(
        {name: wanted[name] for name in found}, abs=1e-6
    )


@pytest.mark.sampled(1)
@every_kind
@pytest.mark.exhaustive(kind=["MarginMetric", "ScoreMetric", "Metrics"])
def test_under_jit_and_scan(kind: str) -> None:
    nnx, jax = pytest.importorskip("flax.nnx"), pytest.importorskip("jax")
    door, batches = Door("flax"), batches_of(kind, (30,) * 5)
    stepped, scanned = (make(door, kind, window=WINDOW) for _ in range(2))
    step = nnx.jit(lambda metric, *batch: metric.update(*batch))
    for batch in batches:
        step(stepped, *map(jax.numpy.asarray, batch))
    graph, state = nnx.split(scanned)

    def body(state: Any, batch: Any) -> Any:
        metric = nnx.merge(graph, state)
        metric.update(*batch)
        return nnx.state(metric), None

    state, _ = jax.lax.scan(body, state, tuple(jax.numpy.stack(parts) for parts in zip(*batches, strict=True)))
    nnx.update(scanned, state)
    wanted = of_last(door, kind, batches)
    assert stepped.log_dict() == pytest.approx(wanted, abs=1e-6)
    assert scanned.log_dict() == pytest.approx(wanted, abs=1e-6)


@every_kind
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.sampled(2)
def test_a_call_returns_the_values_of_the_batch(torch: Any, kind: str, library: str) -> None:
    pytest.importorskip(library)
    door, batches = Door(library), batches_of(kind, (30, 7, 30, 9, 30))
    metric = make(door, kind, window=WINDOW)
    for batch in batches:
        values = {name: value.item() for name, value in metric(*door.arrays(batch)).items()}
        assert values == pytest.approx(of_last(door, kind, [batch]), abs=1e-6, nan_ok=True)
    assert metric.log_dict() == pytest.approx(of_last(door, kind, batches), abs=1e-6)
    del torch


def test_collections_of_torchmetrics(torch: Any) -> None:
    """Metrics of a group share their states; those of another window have others."""
    torchmetrics = pytest.importorskip("torchmetrics")
    door = Door("torchmetrics")
    batches = [(np.abs(labels), scores) for labels, scores in batches_of("ConfusionMetric", (30,) * 5)]
    options = {"a": ("mcc", 3), "b": ("kappa", 3), "c": ("f1", 2)}
    metrics = {key: make(door, "ConfusionMetric", metrics=name, window=k) for key, (name, k) in options.items()}
    collection = torchmetrics.MetricCollection(metrics)
    for number, batch in enumerate(batches):
        arrays = [torch.from_numpy(x) for x in batch[::-1]]
        if number in (1, 3):
            collection(*arrays)
        else:
            collection.update(*arrays)
    found = collection.compute()
    for name, window in options.values():
        alone = make(door, "ConfusionMetric", metrics=name)
        for batch in batches[-window:]:
            door.update(alone, batch)
        assert found[name].item() == pytest.approx(alone.log_dict()[name])
    assert sorted(map(sorted, collection.compute_groups.values())) == [["a", "b"], ["c"]]


@every_kind
def test_refused_windows(door: Door, kind: str) -> None:
    for window in (0, -1, 2.5, "3", True):
        with pytest.raises((TypeError, ValueError), match="window: expected"):
            make(door, kind, window=window)
    with pytest.raises(ValueError, match=r"window: expected None with decay=, .* got 3; pass either window= or decay="):
        make(door, kind, window=3, decay=0.5)
    with pytest.raises(ValueError, match="window"):  # more than the limit of memory
        make(door, "ConfusionMetric", num_classes=1000, metrics="mcc", window=10_000)


# Several labels whose counts decay ------------------------------------------------------------------------------------


@pytest.mark.exhaustive(library=["flax"])  # whose programs take seconds
@pytest.mark.parametrize("library", LIBRARIES)
def test_several_labels_decay(library: str) -> None:
    """Matrices, whole samples and ranking losses by hand, with the weight of its age for each sample."""
    decay, batches = 0.5, batches_of("MultilabelMetric")
    metric = Metric(library, N, "f1, subset_accuracy, ranking_loss, roc_auc:label", decay=decay, ignore_index=-1)
    plain = Metric(library, N, "roc_auc:label", dtype=wide(library), ignore_index=-1)
    ages = list(range(len(batches)))[::-1]
    for (y_true, scores), age in zip(batches, ages, strict=True):
        metric.update(y_true, scores)
        plain.update(y_true, scores, sample_weight=np.full(len(y_true), decay**age, np.float32))
    labels, scores = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    weights = np.concatenate([np.full(len(batch[0]), decay**age) for batch, age in zip(batches, ages, strict=True)])
    hand, found = by_hand(labels, scores, weights=weights), metric.values()
    np.testing.assert_allclose(np.asarray(metric.own.matrix), hand["matrix"], rtol=1e-6)
    wrong, right = hand["whole"]
    assert found["subset_accuracy"] == pytest.approx(right / (wrong + right), abs=1e-6)
    losses, by = zip(*hand["losses"], strict=True)
    assert found["ranking_loss"] == pytest.approx(np.average(losses, weights=by), abs=1e-6)
    for name, value in plain.values().items():
        assert found[name] == pytest.approx(value, abs=1e-6)


@pytest.mark.exhaustive(library=["flax"])  # whose programs take seconds
@pytest.mark.parametrize("library", LIBRARIES)
def test_areas_of_several_labels_in_a_window(library: str) -> None:
    """Without a matrix: those of the last batches."""
    door, batches = Door(library), batches_of("MultilabelMetric")
    metric = make(door, "MultilabelMetric", metrics="roc_auc", window=WINDOW)
    for batch in batches:
        door.update(metric, batch)
    expected = of_last(door, "MultilabelMetric", batches, metrics="roc_auc")
    assert metric.log_dict() == pytest.approx(expected, abs=1e-6)


def wide(library: str) -> Any:
    """The dtype of weighted counts in a library."""
    return (
        importlib.import_module("jax.numpy").float32 if library == "flax" else importlib.import_module("torch").float64
    )


# One signature --------------------------------------------------------------------------------------------------------


@every_kind
def test_constructors_are_the_same_in_every_library(kind: str) -> None:
    """Names, order, defaults and kinds; PyTorch has one option in addition, and torchmetrics those of its own."""
    found = {}
    for library in LIBRARIES:
        pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
        metric = getattr(importlib.import_module(f"matrics.{library}"), kind)
        assert inspect.signature(metric) == inspect.signature(metric.__init__).replace(
            parameters=list(inspect.signature(metric.__init__).parameters.values())[1:]
        )
        parameters = inspect.signature(metric).parameters
        found[library] = [(x.name, x.default, x.kind) for x in parameters.values()]
        documented = inspect.getdoc(metric)
        for name in parameters:
            assert f"\n{name} : " in documented or f"\n**{name} : " in documented, name
        assert "As in :" not in documented
        assert "As for :" not in documented
    (graph,) = found["torch"][len(found["flax"]) :]
    (keywords,) = found["torchmetrics"][len(found["flax"]) :]
    assert (graph[0], keywords[0]) == ("cuda_graph", "keywords")
    assert found["torch"][:-1] == found["torchmetrics"][:-1] == found["flax"]


@every_kind
def test_options_that_there_are_not(door: Door, kind: str) -> None:
    with pytest.raises((TypeError, ValueError), match="windwo"):
        make(door, kind, windwo=3)


def test_the_libraries_have_the_same_files() -> None:
    folder = Path(inspect.getfile(importlib.import_module("matrics"))).parent / "_integrations"
    files = {library: sorted(path.name for path in (folder / library).glob("*.py")) for library in LIBRARIES}
    assert files["torch"] == files["torchmetrics"] == files["flax"] == ["__init__.py", "adapter.py", "metrics.py"]
