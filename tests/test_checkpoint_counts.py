"""Checkpoints: counts that no metric can have are refused by name, and others are taken as they are."""

from __future__ import annotations

import importlib
import math
import pickle
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
WRONG = {"negative": -3.0, "fractional": 2.5, "not a number": math.nan, "infinite": math.inf, "too large": 1e19}


def saved(library: str, kind: str, dtype: Any = None) -> tuple[Any, dict[str, Any], str]:
    """A metric, its checkpoint, and the name of the counts in it."""
    pytest.importorskip(library)
    module = importlib.import_module(f"matrics.{library}")
    metric = getattr(module, kind)(3, dtype=dtype)
    state = dict(metric.state_dict())
    return metric, state, next(name for name in state if name.startswith(("counts", "score_counts")))


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize("dtype", [None, torch.float64])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_have_been_counted(library: str, dtype: Any, wrong: str) -> None:
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
    with pytest.raises(ValueError, match=r"expected counts of the shape \(50,\) in 'val.counts', got \(2, 25\)"):
        model.load_state_dict({f"val.{key}": state[key].reshape(2, 25)})


@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
def test_what_no_check_sees_is_nan(library: str) -> None:
    """A pickle is the metric as it was; with a negative count its values are NaN, and not the number for undefined."""
    metric, _, key = saved(library, "ConfusionMetric")
    getattr(metric, key)[6:9] = torch.tensor([-3, 1, 2])
    if library == "torchmetrics":
        metric._update_count = 1  # or it would warn of nothing counted
    values = pickle.loads(pickle.dumps(metric)).log_dict()
    assert np.isnan(list(values.values())).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", ["torch", "torchmetrics"])
@pytest.mark.parametrize("kind", ["ConfusionMetric", "MarginMetric", "ScoreMetric", "MultilabelMetric"])
def test_both_forms_save_and_load_alike(library: str, kind: str) -> None:
    """The counts are in the checkpoint, a value that was computed before is not kept, and a lack of counts is told."""
    pytest.importorskip(library)
    make = getattr(importlib.import_module(f"matrics.{library}"), kind)
    metric, other = (make(3, "roc_auc, ece" if kind == "ScoreMetric" else "f1") for _ in range(2))
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
