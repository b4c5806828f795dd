"""Metrics for training loops whose counts decay: PyTorch, torchmetrics and Flax, and sums by hand of single batches."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import roads

import matrics

RANDOM = np.random.default_rng(3)
N = 3
DECAY = 0.75
KINDS = {
    "ConfusionMetric": {"num_classes": N, "metrics": "mcc, recall:class"},
    "MarginMetric": {"num_classes": N, "metrics": "mcc, recall:class"},
    "ScoreMetric": {"num_classes": N, "metrics": "roc_auc, log_loss, top_k_accuracy(k=2)", "bits": 6},
}
SIZES = (30, 0, 30, 30)


@pytest.fixture(params=["torch", "torchmetrics", "flax"])
def door(request: pytest.FixtureRequest, torch: Any) -> Any:  # noqa: ARG001 (skips without PyTorch)
    if request.param != "torch":
        pytest.importorskip(request.param)
    return Door(request.param)


class Door:
    """A library, and how its metrics are updated."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = importlib.import_module(f"matrics.{name}")

    def arrays(self, batch: Any) -> Any:
        if self.name == "flax":
            return [importlib.import_module("jax.numpy").asarray(x) for x in batch]
        found = [importlib.import_module("torch").from_numpy(x) for x in batch]
        return found[::-1] if self.name == "torchmetrics" else found

    def update(self, metric: Any, batch: Any, **options: Any) -> None:
        if self.name == "flax":
            roads.nnx_update(metric, *self.arrays(batch), **options)
        else:
            metric.update(*self.arrays(batch), **options)


def draw(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, one of which may be out of range, and probabilities."""
    return RANDOM.integers(-1, N, size), RANDOM.dirichlet(np.ones(N), size).astype(np.float32)


def weighed(batches: list[Any], age: int = 0) -> dict[str, np.ndarray | float]:
    """By hand: the matrix, the log loss and dropped samples, where the last batch was counted so many updates ago."""
    cm, dropped, losses, hits, total = np.zeros((N, N)), 0, 0.0, 0.0, 0.0
    for t, (labels, scores) in enumerate(reversed(batches), age):
        for label, row in zip(labels.tolist(), scores.astype(float), strict=True):
            if label < 0:
                dropped += 1
                continue
            cm[label, row.argmax()] += DECAY**t
            losses += DECAY**t * -np.log(row[label] / row.sum())
            hits += DECAY**t * bool(label in np.argsort(row)[-2:])
            total += DECAY**t
    return {"matrix": cm, "dropped": dropped, "log_loss": losses / total, "top_k_accuracy(k=2)": hits / total}


def assert_is(kind: str, metric: Any, wanted: dict[str, Any], rtol: float = 2e-5) -> None:
    found = metric.log_dict()
    assert int(metric.state.dropped) == wanted["dropped"] > 0
    if kind == "ScoreMetric":
        for name in ("log_loss", "top_k_accuracy(k=2)"):
            assert found[name] == pytest.approx(wanted[name], rel=rtol)
        # Class 0 against the rest.
        top = np.asarray(metric.state.counts)[0].sum(axis=0)
        np.testing.assert_allclose(top, [wanted["matrix"][1:].sum(), wanted["matrix"][0].sum()], rtol=rtol)
        return
    expected = matrics.score(wanted["matrix"], "mcc, recall:class")
    assert found["mcc"] == pytest.approx(expected["mcc"], rel=rtol)
    assert [found[f"recall/{k}"] for k in range(N)] == pytest.approx(expected["recall:class"], rel=rtol)
    if kind == "ConfusionMetric":
        np.testing.assert_allclose(np.asarray(metric.matrix), wanted["matrix"], rtol=rtol)
    else:
        np.testing.assert_allclose(np.asarray(metric.state.counts)[0], np.diag(wanted["matrix"]), rtol=rtol)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_each_update_makes_less_of_what_was_before(door: Door, kind: str) -> None:
    """Without a dtype given; and the counts of an update that is refused stay."""
    metric = getattr(door.module, kind)(**KINDS[kind], decay=DECAY)
    batches = [draw(size) for size in SIZES]
    for batch in batches:
        door.update(metric, batch)
    assert_is(kind, metric, weighed(batches))
    with pytest.raises((TypeError, ValueError)):
        door.update(metric, (batches[0][0][:-1], batches[0][1]))
    assert_is(kind, metric, weighed(batches))
    metric.reset()
    door.update(metric, batches[0])
    assert_is(kind, metric, weighed(batches[:1]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_an_exact_dtype(door: Door, kind: str) -> None:
    """Weights of 2 for each sample make every count twice as large, also in float32."""
    numpy = importlib.import_module("jax.numpy" if door.name == "flax" else "torch")
    metric = getattr(door.module, kind)(**KINDS[kind], decay=DECAY, dtype=numpy.float32)
    batches = [draw(size) for size in SIZES]
    for batch in batches:
        weight = door.arrays([np.full(len(batch[0]), 2.0, np.float32)])[0]
        door.update(metric, batch, sample_weight=weight)
    plain = getattr(door.module, kind)(**KINDS[kind], decay=DECAY, dtype=numpy.float32)
    for batch in batches:
        door.update(plain, batch)
    np.testing.assert_array_equal(np.asarray(metric.state.counts), 2 * np.asarray(plain.state.counts))
    assert metric.state.counts.dtype == numpy.float32


def test_what_rounding_has_lost_decays_as_well() -> None:
    """By 0.5 thirty times, 2**26 + 1 is 2**-4 and little more; float32 keeps the 1 apart."""
    jnp = pytest.importorskip("jax.numpy")
    metric = importlib.import_module("matrics.flax").ConfusionMetric(2, "accuracy", decay=0.5)
    for weight in (2.0**27, 1.0, *[0.0] * 30):
        metric.update(jnp.asarray([1]), jnp.asarray([1]), sample_weight=jnp.asarray([weight], jnp.float32))
    assert float(metric.matrix[1, 1]) == pytest.approx((2.0**26 + 1) / 2.0**30)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("decay", [0, 1.5, -0.5, float("nan"), "0.9", True])
def test_refused(door: Door, kind: str, decay: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="decay: expected a number above 0 and at most 1, got"):
        getattr(door.module, kind)(**KINDS[kind], decay=decay)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_a_killed_run_goes_on(torch: Any, kind: str) -> None:
    """From the checkpoint: the same bits as a run that was not killed."""
    make = getattr(importlib.import_module("matrics.torch"), kind)
    whole, first, second = (make(**KINDS[kind], decay=DECAY) for _ in range(3))
    batches = [[torch.from_numpy(x) for x in draw(size)] for size in SIZES]
    for batch in batches:
        whole.update(*batch)
    for batch in batches[:2]:
        first.update(*batch)
    second.load_state_dict({name: value.clone() for name, value in first.state_dict().items()})
    for batch in batches[2:]:
        second.update(*batch)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, second.state_dict()[name])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_what_was_synced_decays_as_well(torch: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes, of which the other has counted the same: everything is there twice, with the same weights."""
    distributed = importlib.import_module("torch.distributed")
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_rank", lambda _: 0)
    monkeypatch.setattr(distributed, "all_reduce", lambda found, **_: found.mul_(2))
    metric = getattr(importlib.import_module("matrics.torch"), kind)(**KINDS[kind], decay=DECAY)
    batches = [draw(size) for size in SIZES]
    for number, batch in enumerate(batches):
        metric.update(*map(torch.from_numpy, batch))
        if number % 2:
            metric.sync()
    wanted = weighed(batches)
    assert_is(kind, metric, wanted | {"matrix": 2 * wanted["matrix"], "dropped": 2 * wanted["dropped"]})


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.exhaustive(kind=["MarginMetric", "ScoreMetric"])
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_one_graph(torch: Any, kind: str) -> None:
    metric = getattr(importlib.import_module("matrics.torch"), kind)(**KINDS[kind], decay=DECAY)
    step = torch.compile(metric.update, fullgraph=True, backend="aot_eager")
    batches = [draw(size) for size in (30, 30, 7)]
    for batch in batches:
        step(*map(torch.from_numpy, batch))
    assert_is(kind, metric, weighed(batches))


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_under_jit(kind: str) -> None:
    flax, jnp = pytest.importorskip("flax"), pytest.importorskip("jax.numpy")
    make = getattr(importlib.import_module("matrics.flax"), kind)
    metric = make(**KINDS[kind], decay=DECAY)
    step = flax.nnx.jit(lambda metric, *batch: metric.update(*batch))
    batches = [draw(30) for _ in range(3)]
    for batch in batches:
        step(metric, *map(jnp.asarray, batch))
    assert_is(kind, metric, weighed(batches), rtol=1e-4)
    other = metric.clone(prefix="b/")
    other.update(*map(jnp.asarray, batches[0]))
    assert float(other.state.dropped) == weighed([*batches, batches[0]])["dropped"]


# torchmetrics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("on_step", [False, True])
@pytest.mark.filterwarnings("ignore:.* not counted")
def test_torchmetrics_forward(torch: Any, kind: str, on_step: Any) -> None:
    """It counts the batch from zero and adds what was before, or counts twice: all of it has to decay once."""
    pytest.importorskip("torchmetrics")
    make = getattr(importlib.import_module("matrics.torchmetrics"), kind)
    metric = make(**KINDS[kind], decay=DECAY, dist_sync_on_step=on_step)
    batches = [draw(size) for size in (30, 7, 30)]
    for batch in batches:
        values = metric(*[torch.from_numpy(x) for x in batch[::-1]])
        alone = make(**KINDS[kind])
        alone.update(*[torch.from_numpy(x) for x in batch[::-1]])
        assert {k: v.item() for k, v in values.items()} == pytest.approx(alone.log_dict(), rel=1e-6)
    assert_is(kind, metric, weighed(batches))
    metric.update(*[torch.from_numpy(x) for x in batches[0][::-1]])
    assert_is(kind, metric, weighed([*batches, batches[0]]))


@pytest.mark.parametrize("groups", [True, False])
def test_torchmetrics_collections(torch: Any, groups: Any) -> None:
    """Metrics of a group share their state, which decays once for each batch; those of other decays are in others."""
    torchmetrics = pytest.importorskip("torchmetrics")
    make = importlib.import_module("matrics.torchmetrics").ConfusionMetric
    collection = torchmetrics.MetricCollection(
        {"a": make(N, "mcc", decay=DECAY), "b": make(N, "kappa", decay=DECAY), "c": make(N, "f1", decay=0.5)},
        compute_groups=groups,
    )
    batches = [(RANDOM.integers(0, N, 30), draw(30)[1]) for _ in range(5)]
    for number, batch in enumerate(batches):
        arrays = [torch.from_numpy(x) for x in batch[::-1]]
        if number in (1, 3):
            collection(*arrays)
        else:
            collection.update(*arrays)
    cm = weighed(batches)["matrix"]
    found = collection.compute()
    assert found["mcc"].item() == pytest.approx(matrics.mcc(cm))
    assert found["kappa"].item() == pytest.approx(matrics.cohen_kappa(cm))
    alone = make(N, "f1", decay=0.5)
    for batch in batches:
        alone.update(*[torch.from_numpy(x) for x in batch[::-1]])
    assert found["f1"].item() == pytest.approx(alone.log_dict()["f1"])
    if groups:
        assert sorted(map(sorted, collection.compute_groups.values())) == [["a", "b"], ["c"]]
