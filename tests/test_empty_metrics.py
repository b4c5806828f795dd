"""Metrics that have seen nothing: NaN but for counts, a warning where looking is free, and nothing compiled again."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np
import pytest
import roads

import matrics

BEFORE = r"compute\(\) before update\(\)|``compute`` method of metric"
OF_LABELS = ["mcc", "recall", "recall:class", "cen", "true_positives:class", "zero_one_loss_count"]
OF_SCORES = ["roc_auc", "average_precision", "ece", "recall@0.5", "true_positives@0.5"]
COUNTS = ("true_positives", "zero_one_loss_count")
KINDS = ("ConfusionMetric", "ScoreMetric")
DOORS = [(library, kind) for library in ("torch", "torchmetrics", "flax") for kind in KINDS]


def make(library: str, kind: str, **options: Any) -> Any:
    pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
    found = getattr(importlib.import_module(f"matrics.{library}"), kind)
    if kind == "ConfusionMetric":
        return found(2, OF_LABELS, **options)
    return found(metrics=OF_SCORES, bounds=True, **options)


def count(metric: Any, y_true: list[int], values: list[float]) -> None:
    """Count labels or scores, in the order of arguments of each library."""
    scored = "Score" in type(metric).__name__
    true, given = np.asarray(y_true), np.asarray(values if scored else np.asarray(values) >= 0.5, float)
    given = given.astype(np.float32) if scored else given.astype(np.int64)
    if "flax" in type(metric).__module__:
        roads.nnx_update(metric, true, given)
        return
    torch = importlib.import_module("torch")
    true, given = torch.from_numpy(true), torch.from_numpy(given)
    metric.update(*((given, true) if "torchmetrics" in type(metric).__module__ else (true, given)))


def check_of_nothing(values: dict[str, float]) -> None:
    for name, value in values.items():
        assert value == 0 if name.startswith(COUNTS) else math.isnan(value), name


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(library=["flax"], options=[{"zero_division": 0.0}])
@pytest.mark.parametrize(("library", "kind"), DOORS)
@pytest.mark.parametrize("options", [{}, {"zero_division": 0.0}, {"zero_division": 1.0, "fill_undefined": 0.5}])
def test_nothing_seen_is_nan_whatever_stands_for_undefined_values(library: str, kind: str, options: Any) -> None:
    """Before the first batch and after reset(); one batch later the numbers for undefined values are back."""
    metric = make(library, kind, **options)
    with pytest.warns((RuntimeWarning, UserWarning), match=BEFORE):
        check_of_nothing(metric.log_dict())
    count(metric, [1, 1], [0.9, 0.2])
    known = metric.log_dict()
    assert not any(map(math.isnan, known.values()))  # areas without negatives are undefined, and filled
    if kind == "ConfusionMetric":
        assert known["recall/0"] == options.get("zero_division", 0)
        assert known["recall/1"] == 0.5
    metric.reset()
    with pytest.warns((RuntimeWarning, UserWarning), match=BEFORE):
        check_of_nothing(metric.log_dict())


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("library", "kind"), [door for door in DOORS if door[0] != "torchmetrics"])
def test_the_warning_is_that_of_the_users_line(library: str, kind: str) -> None:
    metric = make(library, kind)
    with pytest.warns(RuntimeWarning, match=BEFORE) as caught:
        metric.compute()
    assert caught[0].filename == __file__
    count(metric, [7], [0.9])  # a class that there is not
    with pytest.warns(RuntimeWarning, match="1 samples are not counted") as caught:
        assert metric.compute()["dropped"] == 1
    assert len(caught) == 1  # which says enough


def test_a_state_without_samples_has_no_values_but_counts() -> None:
    """What a function of all zeros is: NaN for every measure of the catalogue, and numbers for those of counts."""
    for state in (matrics.ConfusionState.zeros(3), matrics.ConfusionState.zeros(2)):
        names = matrics.list_metrics()
        found = state.score(names)
        known = {name for name in names if not np.isnan(found[name]).any()}
        assert {name for name in names if np.isnan(found[name]).all()} == set(names) - known  # and none in between
        known.remove("chi_squared_degrees_of_freedom")  # (n - 1)², whatever the cells
        assert not [name for name in known if matrics.get_metric(name).scale_free]
    margins = matrics.MarginState.zeros(3).score("mcc, recall:class, true_positives:class")
    assert np.isnan(margins["mcc"])
    assert np.isnan(margins["recall:class"]).all()
    assert not margins["true_positives:class"].any()
    several = matrics.MultilabelState.zeros(3)
    assert np.isnan([several.score("f1")["f1"], several.subset_accuracy(), several.hamming_loss()]).all()
    assert np.isnan(matrics.ScoreState.zeros().roc_auc().value)


def test_a_cell_of_65536_in_two_words_is_not_nothing() -> None:
    """Its low word is 0 in default JAX; a count below 0 is not filled, and says so by NaN."""
    jax = pytest.importorskip("jax")
    if jax.config.jax_enable_x64:
        pytest.skip("counts have one word")
    metric = make("flax", "ConfusionMetric")
    cell = jax.numpy.zeros((2, 2), jax.numpy.int32).at[0, 0].set(1)
    metric.carried[...] = cell
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = metric.log_dict()
    assert values["recall/0"] == 1
    assert values["recall/1"] == values["mcc"] == 0
    metric.carried[...] = -cell
    assert math.isnan(metric.log_dict()["mcc"])


@pytest.mark.exhaustive
@pytest.mark.exhaustive(kind=["ScoreMetric"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_step_is_compiled_once_from_nothing_on(kind: str) -> None:
    """Update and compute in one graph: whether something was seen is a value on the device, no flag of the graph."""
    torch = pytest.importorskip("torch")
    from torch._dynamo.testing import CompileCounterWithBackend

    metric = make("torch", kind)
    counter = CompileCounterWithBackend("eager")
    torch._dynamo.reset()

    def step(y_true: Any, given: Any) -> Any:
        metric.update(y_true, given)
        return metric.compute()

    compiled = torch.compile(step, fullgraph=True, backend=counter)
    given = torch.tensor([0.9, 0.2]) if kind == "ScoreMetric" else torch.tensor([1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check_of_nothing({name: float(value) for name, value in compiled(torch.tensor([7, 7]), given).items()})
        compiled(torch.tensor([1, 1]), given)
        known = compiled(torch.tensor([1, 1]), given)
        metric.reset()
        check_of_nothing({name: float(value) for name, value in compiled(torch.tensor([7, 7]), given).items()})
    assert float(known["recall@0.5" if kind == "ScoreMetric" else "recall/1"]) == 0.5
    assert counter.frame_count == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
def test_after_a_sync_the_counts_of_all_decide(kind: str, tmp_path: Any) -> None:
    """A process that has seen nothing of its own has values once others have; a group of one stands for them."""
    torch = pytest.importorskip("torch")
    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        metric = make("torch", kind)
        with pytest.warns(RuntimeWarning, match=BEFORE):
            check_of_nothing({name: float(value) for name, value in metric.sync().compute().items()})
        count(metric, [1, 0], [0.9, 0.2])
        metric.sync()
        assert not metric.counts.reshape(2, -1)[0].any()  # nothing since the sync
        assert not any(map(math.isnan, metric.log_dict().values()))
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.exhaustive(kind=["ScoreMetric"])
@pytest.mark.parametrize("kind", KINDS)
def test_flax_under_jit(kind: str) -> None:
    nnx = pytest.importorskip("flax.nnx")
    traced = []

    @nnx.jit
    def compute(metric: Any) -> Any:
        traced.append(1)
        return metric.compute()

    metric = make("flax", kind)
    check_of_nothing({name: float(value) for name, value in compute(metric).items()})
    count(metric, [1, 0], [0.9, 0.2])
    assert not any(math.isnan(float(value)) for value in compute(metric).values())
    assert len(traced) == 1
