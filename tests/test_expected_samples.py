"""compute(expected=): a warning where another number of samples was counted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from lazily import LazyModule, lazily

torch = lazily("torch")
metrics_of = LazyModule("matrics.torch")
RANDOM = np.random.default_rng(16)
NUMBER, PROCESSES, BATCH = 797, 2, 64
ARRAYS = {
    "TRUE": RANDOM.integers(0, 3, NUMBER),
    "SCORES": RANDOM.dirichlet(np.ones(3), NUMBER),
    "MANY": RANDOM.integers(0, 2, (NUMBER, 4)),
    "OF_MANY": RANDOM.random((NUMBER, 4)),
}

METRICS: dict[str, Any] = {
    "cells": lambda: metrics_of.ConfusionMetric(3, "mcc"),
    "margins": lambda: metrics_of.MarginMetric(3, "f1"),
    "areas": lambda: metrics_of.ScoreMetric(3, "roc_auc", bits=12),
    "calibration": lambda: metrics_of.ScoreMetric(3, "ece:class_wise"),
    "losses": lambda: metrics_of.ScoreMetric(3, "log_loss, roc_auc", bits=12),
    "thresholds": lambda: metrics_of.ScoreMetric(3, "recall@0.5"),
    "labels": lambda: metrics_of.MultilabelMetric(4, "f1"),
    "whole samples": lambda: metrics_of.MultilabelMetric(4, "subset_accuracy"),
    "areas of labels": lambda: metrics_of.MultilabelMetric(4, "roc_auc", bits=12),
}


def tensor(name: str) -> Any:
    return torch.from_numpy(ARRAYS[name])


def batch(metric: Any, places: Any) -> tuple[Any, Any]:
    names = ("MANY", "OF_MANY") if isinstance(metric, metrics_of.MultilabelMetric) else ("TRUE", "SCORES")
    y_true, values = map(tensor, names)
    return y_true[places], values[places]


def counted_by_processes(make: Any, *, masked: bool) -> Any:
    """What the processes have counted, whose samples PyTorch's sampler has drawn, one of them twice."""
    metrics = [make() for _ in range(PROCESSES)]
    for rank, metric in enumerate(metrics):
        places = list(
            torch.utils.data.DistributedSampler(tensor("TRUE"), num_replicas=PROCESSES, rank=rank, shuffle=False)  # type: ignore[arg-type]
        )
        for start in range(0, len(places), BATCH):
            here = places[start : start + BATCH]
            # The page's rule: sample j of a process is sample j * PROCESSES + rank of all.
            own = (torch.arange(len(here)) + start) * PROCESSES + rank < NUMBER
            metric.update(*batch(metric, here), **({"mask": own} if masked else {}))
    return metrics[0].merge_state(*metrics[1:])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", METRICS)
def test_a_sample_that_a_sampler_repeats_is_seen(name: str) -> None:
    metric = counted_by_processes(METRICS[name], masked=False)
    with pytest.warns(RuntimeWarning, match="expected 797 samples, got 798: a sampler"):
        metric.compute(expected=NUMBER)
    with pytest.warns(RuntimeWarning, match="expected 797 samples, got 798"):
        metric.log_dict(expected=NUMBER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric.compute(expected=NUMBER + 1) == metric.compute()


@pytest.mark.parametrize("name", ["cells", "areas", "labels"])
def test_a_mask_leaves_it_out(name: str) -> None:
    metric, alone = counted_by_processes(METRICS[name], masked=True), METRICS[name]()
    alone.update(*batch(alone, slice(None)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metric.compute(expected=NUMBER) == alone.compute(expected=NUMBER)


def test_dropped_samples_belong_to_the_number() -> None:
    metric = metrics_of.ConfusionMetric(3, "accuracy")
    metric.update(torch.tensor([0, 1, 7]), torch.tensor([0, 1, 1]))
    with pytest.warns(RuntimeWarning) as found:
        metric.compute(expected=4)
    assert any("expected 4 samples, got 3, of which 1 were dropped" in str(one.message) for one in found)
    with pytest.raises(ValueError, match="expected: expected an integer of at least 1, got 0"):
        metric.compute(expected=0)


@pytest.mark.parametrize("metrics", ["f1", "f1, subset_accuracy", "subset_accuracy", "roc_auc", "ranking_loss"])
def test_dropped_entries_belong_to_the_number(metrics: str) -> None:
    """The label with the most samples counts, with its own dropped entries."""
    metric, scores = metrics_of.MultilabelMetric(4, metrics), tensor("OF_MANY").clone()
    scores[5, 1] = scores[7, 2] = torch.nan
    metric.update(tensor("MANY"), scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".* not counted")
        metric.compute(expected=NUMBER)
    with pytest.warns(RuntimeWarning, match="expected 798 samples, got 797"):
        metric.compute(expected=NUMBER + 1)


def test_torchmetrics_check_the_attribute_at_the_end_of_an_epoch() -> None:
    pytest.importorskip("torchmetrics")
    from matrics import torchmetrics

    for make in (
        lambda: torchmetrics.ConfusionMetric(3, "mcc"),
        lambda: torchmetrics.ScoreMetric(3, "roc_auc", bits=12),
    ):
        metric = make()
        metric.expected = NUMBER
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for start in range(0, NUMBER, BATCH):
                metric(*batch(metric, slice(start, start + BATCH))[::-1])  # no warning about a batch
            found = metric.compute()
            assert metric.compute(expected=NUMBER) == found
        with pytest.warns(RuntimeWarning, match="expected 796 samples, got 797"):  # also of values that are kept
            metric.compute(expected=NUMBER - 1)
        metric.update(tensor("SCORES")[:1], tensor("TRUE")[:1])
        with pytest.warns(RuntimeWarning, match="expected 797 samples, got 798"):
            metric.items()[0][1].compute()  # as Lightning does
        with pytest.warns(RuntimeWarning, match="expected 797 samples, got 798"):
            metric.clone().log_dict(expected=NUMBER)


@pytest.mark.exhaustive  # JAX compiles for some seconds
def test_flax_checks_outside_of_jit() -> None:
    nnx, jax = pytest.importorskip("flax.nnx"), pytest.importorskip("jax")
    from matrics import flax

    for metric in (flax.ConfusionMetric(3, "accuracy"), flax.ScoreMetric(3, "log_loss")):
        for start in range(0, NUMBER, 400):
            metric.update(tensor("TRUE")[start : start + 400].numpy(), tensor("SCORES")[start : start + 400].numpy())
        metric.update(tensor("TRUE")[:1].numpy(), tensor("SCORES")[:1].numpy())
        with pytest.warns(RuntimeWarning, match="expected 797 samples, got 798"):
            metric.compute(expected=NUMBER)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            metric.log_dict(expected=NUMBER + 1)
    nnx.jit(lambda one: one.compute(expected=NUMBER))(flax.ConfusionMetric(3, "accuracy"))  # where it is unknown
    assert jax is not None
