"""Checkpoints: counts that no metric can have are refused by name, and others are taken as they are."""

from __future__ import annotations

import copy
import importlib
import math
import pickle
from typing import Any

import numpy as np
import pytest
from lazily import lazily
from several import leaves

import matrics

torch = lazily("torch")
WRONG = {"negative": -3.0, "fractional": 2.5, "not a number": math.nan, "infinite": math.inf, "too large": 1e19}


def saved(library: str, kind: str, dtype: Any = None) -> tuple[Any, dict[str, Any], str]:
    """A metric, its checkpoint, and the name of the counts in it."""
    pytest.importorskip(library)
    module = importlib.import_module(f"matrics.{library}")
    metric = getattr(module, kind)(3, dtype=dtype)
    state = dict(metric.state_dict())
    return metric, state, next(name for name in state if name.startswith(("counts", "score_counts")))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize("name", [None, "float64"])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_have_been_counted(library: str, name: str | None, wrong: str) -> None:
    dtype = None if name is None else getattr(torch, name)
    metric, state, key = saved(library, "ConfusionMetric", dtype)
    loaded = state[key].to(torch.float64, copy=True)
    loaded[2 * 5 + 3] = WRONG[wrong]  # row 1, column 2, behind a border
    if dtype is not None and wrong in ("fractional", "too large"):
        metric.load_state_dict({key: loaded})
        assert metric.matrix[1, 2] == WRONG[wrong]
        return
    kind = "whole" if dtype is None else "finite"
    with pytest.raises(ValueError, match=rf"checkpoint: expected {kind} counts .* got .* at \[1, 2\] of '{key}'"):
        metric.load_state_dict({key: loaded})
    assert not metric.matrix.any()
    loaded[[13, 9]] = torch.tensor([0.0, -1.0]).double()
    with pytest.raises(ValueError, match=r"got -1\.0 among the dropped samples of"):
        metric.load_state_dict({key: loaded})


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_hits_that_are_no_true_positives(library: str) -> None:
    """Metrics of margins count hits by class and together; dropped samples and errors are no hits."""
    pytest.importorskip(library)
    metric = importlib.import_module(f"matrics.{library}").MarginMetric(3, "accuracy")
    labels = torch.tensor([0, 1, 2, 2, -1]), torch.tensor([0, 1, 1, 2, 0])
    metric.update(*(labels if library == "torch" else labels[::-1]))
    state = copy.deepcopy(dict(metric.state_dict()))
    (key,) = (name for name in state if name.startswith("counts") and not name.endswith("_of_all"))
    assert state[key].tolist() == [1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 4]
    metric.reset()
    metric.load_state_dict(state)
    with pytest.warns(RuntimeWarning, match="1 samples are not counted"):
        assert metric.compute()["accuracy"] == 0.75
    state[key][-1] += 2
    with pytest.raises(ValueError, match=rf"checkpoint: expected as many hits .* got 5 hits and 3 .*'{key}'"):
        metric.load_state_dict(state)


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_histograms_of_scores(library: str) -> None:
    metric, state, key = saved(library, "ScoreMetric")
    dropped = key.replace("counts", "dropped") if library == "torchmetrics" else "dropped_counts"
    for name in (key, dropped):
        loaded = state[name].clone()
        loaded.view(-1)[-1] = -3
        with pytest.raises(ValueError, match=rf"checkpoint: expected whole counts .* got -3 at \[.*\] of '{name}'"):
            metric.load_state_dict(state | {name: loaded})


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_whole_numbers_of_another_dtype_are_counts(library: str) -> None:
    """The metric keeps its own dtype, and goes on counting."""
    metric, state, key = saved(library, "ConfusionMetric")
    loaded = state[key].float()
    loaded[6] = 7
    metric.load_state_dict({key: loaded})
    assert metric.matrix.dtype == torch.int64
    metric.update(torch.tensor([0]), torch.tensor([0]))
    assert metric.matrix[0, 0] == 8


def test_as_a_part_of_a_model() -> None:
    """The name is that in the checkpoint; what has no values yet is not looked at."""
    metric, state, key = saved("torch", "ConfusionMetric")
    model = torch.nn.ModuleDict({"val": metric})
    wrong = {f"val.{key}": state[key] - 3}
    with pytest.raises(ValueError, match=r"got -3 among the dropped samples of 'val.counts'; .*strict=False"):
        model.load_state_dict(wrong)
    model.to("meta").load_state_dict({name: value.to("meta") for name, value in wrong.items()})
    with pytest.raises(ValueError, match=r"expected counts of the shape \(25,\) in 'val.counts', got \(5, 5\)"):
        model.load_state_dict({f"val.{key}": state[key].reshape(5, 5)})


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_what_no_check_sees_is_nan(library: str) -> None:
    """A pickle is the metric as it was; with a negative count its values are NaN, and not the number for undefined."""
    metric, _, key = saved(library, "ConfusionMetric")
    getattr(metric, key)[6:9] = torch.tensor([-3, 1, 2])
    if library == "torchmetrics":
        metric._update_count = 1  # or it would warn of nothing counted
    values = pickle.loads(pickle.dumps(metric)).log_dict()
    assert np.isnan(list(values.values())).all()


def scores(library: str, **options: Any) -> Any:
    """A metric of scores that has counted some."""
    pytest.importorskip(library)
    metric = importlib.import_module(f"matrics.{library}").ScoreMetric(
        3, "ece, roc_auc, brier_score, top_k_accuracy(k=2)", bits=4, **options
    )
    batch = torch.tensor([0, 2, 1, 1]), torch.tensor([[7, 2, 1], [1, 4, 5], [2, 5, 3], [6, 3, 1]]) / 10
    metric.update(*(batch[::-1] if library == "torchmetrics" else batch))
    return metric


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize(
    ("name", "column", "wrong"),
    [
        *(("calibration", 2, wrong) for wrong in (math.nan, -1e6, 1e9)),
        ("calibration", 0, -1),
        ("calibration", 1, 9),
        *(("sums", column, wrong) for column in (0, 2, 3) for wrong in (-1e6, math.inf, 1e9)),
        ("sums", 3, math.nan),
        ("rounded", None, -1),
        ("dropped", None, 2**63 - 1),
    ],
)
def test_sums_that_no_samples_have(library: str, name: str, column: int | None, wrong: float) -> None:
    """NaN among distances was a calibration error of 0, and -1,000,000 one of 250,000."""
    metric = scores(library)
    state = dict(metric.state_dict())
    key = next(k for k in state if k.removeprefix("score_").startswith(name))
    loaded = state[key].clone()
    cell = loaded.view(-1) if column is None else loaded[..., column].reshape(-1)
    place = int(cell.argmax())
    if column is None:
        cell[place] = wrong
        cell[-1] = wrong
    else:
        view = loaded[..., column]
        view[tuple(int(i) for i in (view == view.max()).nonzero()[0])] = wrong
    if name == "sums" and column == 0 and wrong == 1e9:  # there may be so many
        metric.load_state_dict(state | {key: loaded})
        return
    before = metric.log_dict()
    with pytest.raises(ValueError, match=rf"^checkpoint: expected .* '{key}'; .*strict=False"):
        metric.load_state_dict(state | {key: loaded})
    assert metric.log_dict() == before


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_numbers_that_are_no_counts(library: str) -> None:
    """Complex counts, and so many that their sum has no 64-bit integer; unsigned ones are counts."""
    metric, state, key = saved(library, "ConfusionMetric")
    with pytest.raises(ValueError, match=rf"expected real numbers in '{key}', got dtype torch\.complex64"):
        metric.load_state_dict({key: state[key].to(torch.complex64)})
    with pytest.raises(ValueError, match=rf"whole counts whose sum is below 9\.22e\+18, got .* in '{key}'"):
        metric.load_state_dict({key: torch.full_like(state[key], 2**62)})
    unsigned = (state[key] + 3).to(torch.uint64)
    metric.load_state_dict({key: unsigned})
    assert metric.matrix[1, 2] in (3, 6)  # with the counts before a sync
    unsigned = torch.from_numpy(np.full(state[key].shape, 2**64 - 1, np.uint64))
    with pytest.raises(ValueError, match=r"whole counts of at least 0, got 1\.8446744073709552e"):
        metric.load_state_dict({key: unsigned})
    metric, state, key = saved(library, "ConfusionMetric", torch.float64)
    with pytest.raises(ValueError, match=r"finite counts whose sum is below 1\.8e\+308, got inf"):
        metric.load_state_dict({key: torch.full_like(state[key], 1e308)})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("options", [{}, {"num_bins": 1000}, {"from_logits": True}, {"decay": 0.9, "dtype": "float32"}])
def test_what_was_counted_is_loaded(library: str, name: str, options: dict[str, Any]) -> None:
    """Of any precision, of weights, and of scores that are no probabilities, whose losses are NaN."""
    dtype = getattr(torch, name)
    options = options | ({"dtype": torch.float32} if "dtype" in options else {})
    metric, other = scores(library, **options), scores(library, **options)
    generator = torch.Generator().manual_seed(12)
    for scale in (1, 3):
        labels = torch.randint(0, 3, (400,), generator=generator)
        values = (scale * torch.rand(400, 3, generator=generator)).to(dtype)
        weights = {"sample_weight": torch.rand(400, generator=generator)} if "dtype" in options else {}
        metric.update(*((values, labels) if library == "torchmetrics" else (labels, values)), **weights)
        other.load_state_dict(metric.state_dict())
        for own, leaf in zip(other.state, metric.state, strict=True):
            np.testing.assert_array_equal(own.numpy(), leaf.numpy())


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(library=["flax"], kind=["ConfusionMetric", "MultilabelMetric"])
@pytest.mark.parametrize("library", ["torch", "torchmetrics", "flax"])
@pytest.mark.parametrize("kind", ["ConfusionMetric", "MarginMetric", "ScoreMetric", "MultilabelMetric"])
def test_a_copy_counts_alone(library: str, kind: str) -> None:
    """The copy of the copy module, too, has counts of its own."""
    pytest.importorskip(library)
    make = getattr(importlib.import_module(f"matrics.{library}"), kind)
    metric = make(3, "roc_auc" if kind == "ScoreMetric" else "f1")
    other = copy.copy(metric)
    before = [leaf.copy() for leaf in leaves(other.state)]
    labels = torch.tensor([0, 2, 1]) if kind != "MultilabelMetric" else torch.eye(3, dtype=torch.int64)
    values = torch.eye(3)[[0, 2, 2]]
    if library == "flax":
        metric.update(np.asarray(labels), np.asarray(values))
    else:
        metric.update(*((values, labels) if library == "torchmetrics" else (labels, values)))
    assert type(other) is type(metric)
    for own, leaf in zip(leaves(other.state), before, strict=True):
        np.testing.assert_array_equal(own, leaf)
    changed = [not np.array_equal(own, leaf) for own, leaf in zip(leaves(metric.state), before, strict=True)]
    assert any(changed)


@pytest.mark.parametrize("wrong", [math.nan, -1e6, 1e9])
def test_states_that_are_made_of_arrays(wrong: float) -> None:
    """Nothing checks them, and what is read from sums that no samples have is NaN: never a number."""
    state = matrics.ScoreState.zeros(num_classes=3, bits=0, losses=True, top_k=2)
    state = state.update([0, 2, 1], np.asarray([[0.7, 0.2, 0.1], [0.1, 0.4, 0.5], [0.2, 0.5, 0.3]]))
    calibration, sums = state.calibration.copy(), state.sums.copy()
    calibration[..., 8, 2] = wrong
    sums[1, 1:] = wrong
    made = state._replace(calibration=calibration, sums=sums)
    assert not np.isnan(state.expected_calibration_error())
    assert np.isnan(made.expected_calibration_error())
    assert np.isnan([made.brier_score(), *made.top_k_accuracy()]).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("wrong", [math.nan, -1e6, 1e9])
def test_variables_of_flax(wrong: float) -> None:
    """Flax sets variables without a call, so these are NaN as well, and not the number for undefined."""
    pytest.importorskip("flax")
    metric = importlib.import_module("matrics.flax").ScoreMetric(metrics="ece")
    metric.update(np.asarray([0, 1]), np.asarray([0.2, 0.9]))
    assert metric.log_dict()["ece"] == pytest.approx(0.15)
    metric.calibration[...] = metric.calibration[...].at[0, 4, 2].set(wrong)
    assert np.isnan(metric.log_dict()["ece"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize("kind", ["ConfusionMetric", "MarginMetric", "ScoreMetric", "MultilabelMetric", "Metrics"])
def test_both_forms_save_and_load_alike(library: str, kind: str) -> None:
    """The counts are in the checkpoint, a value that was computed before is not kept, and a lack of counts is told."""
    pytest.importorskip(library)
    make = getattr(importlib.import_module(f"matrics.{library}"), kind)
    names = {"ScoreMetric": "roc_auc, ece", "Metrics": "f1, roc_auc, ece"}.get(kind, "f1")
    metric, other = (make(3, names) for _ in range(2))
    shape = (20, 3) if kind == "MultilabelMetric" else (20,)
    batch = torch.arange(20 * shape[-1]).reshape(-1)[: math.prod(shape)].reshape(shape) % 2, torch.rand(20, 3)
    for one, turned in ((metric, batch), (other, (1 - batch[0], batch[1]))):
        one.update(*(turned[::-1] if library == "torchmetrics" else turned))
    before = other.log_dict()
    other.load_state_dict(metric.state_dict())
    assert other.log_dict() == metric.log_dict() != before
    if library == "torchmetrics":
        assert other.update_called
        alone = metric[metric._measures()[0]]
        assert not alone.state_dict()
        alone.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict"):
        other.load_state_dict({})
    other.load_state_dict({}, strict=False)


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_counts_of_one_of_several_processes(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process that loads them would count them again, which is told once."""
    metric, *_ = saved(library, "ConfusionMetric")
    distributed = torch.distributed
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda *_: 2)
    metric.state_dict()
    metric.update(torch.tensor([0, 1]), torch.tensor([0, 2]))
    with pytest.warns(RuntimeWarning, match="state_dict: expected counts that are added up over the processes"):
        metric.state_dict()
    metric.state_dict()
