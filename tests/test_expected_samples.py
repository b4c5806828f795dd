"""compute(expected=): a warning where another number of samples was counted."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from matrics.torch import ConfusionMetric, MarginMetric, MultilabelMetric, ScoreMetric  # noqa: E402

RANDOM = np.random.default_rng(16)
NUMBER, PROCESSES, BATCH = 797, 2, 64
TRUE = torch.from_numpy(RANDOM.integers(0, 3, NUMBER))
SCORES = torch.from_numpy(RANDOM.dirichlet(np.ones(3), NUMBER))
MANY = torch.from_numpy(RANDOM.integers(0, 2, (NUMBER, 4)))
OF_MANY = torch.from_numpy(RANDOM.random((NUMBER, 4)))

METRICS: dict[str, Any] = {
    "cells": lambda: ConfusionMetric(3, "mcc"),
    "margins": lambda: MarginMetric(3, "f1"),
    "areas": lambda: ScoreMetric(3, "roc_auc", bits=12),
    "calibration": lambda: ScoreMetric(3, "ece:class_wise"),
    "losses": lambda: ScoreMetric(3, "log_loss, roc_auc", bits=12),
    "thresholds": lambda: ScoreMetric(3, "recall@0.5"),
    "labels": lambda: MultilabelMetric(4, "f1"),
    "whole samples": lambda: MultilabelMetric(4, "subset_accuracy"),
    "areas of labels": lambda: MultilabelMetric(4, "roc_auc", bits=12),
}


def batch(metric: Any, places: Any) -> tuple[Any, Any]:
    return (MANY[places], OF_MANY[places]) if isinstance(metric, MultilabelMetric) else (TRUE[places], SCORES[places])


def counted_by_processes(make: Any, *, masked: bool) -> Any:
    """What the processes have counted, whose samples PyTorch's sampler has drawn, one of them twice."""
    metrics = [make() for _ in range(PROCESSES)]
    for rank, metric in enumerate(metrics):
        places = list(
            torch.utils.data.DistributedSampler(TRUE, num_replicas=PROCESSES, rank=rank, shuffle=False)  # type: ignore[arg-type]
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
    metric = ConfusionMetric(3, "accuracy")
    metric.update(torch.tensor([0, 1, 7]), torch.tensor([0, 1, 1]))
    with pytest.warns(RuntimeWarning) as found:
        metric.compute(expected=4)
    assert any("expected 4 samples, got 3, of which 1 were dropped" in str(one.message) for one in found)
    with pytest.raises(ValueError, match="expected: expected an integer of at least 1, got 0"):
        metric.compute(expected=0)


@pytest.mark.parametrize("metrics", ["f1", "f1, subset_accuracy", "subset_accuracy", "roc_auc", "ranking_loss"])
def test_dropped_entries_belong_to_the_number(metrics: str) -> None:
    """The label with the most samples counts, with its own dropped entries."""
    metric, scores = MultilabelMetric(4, metrics), OF_MANY.clone()
    scores[5, 1] = scores[7, 2] = torch.nan
    metric.update(MANY, scores)
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
                metric(SCORES[start : start + BATCH], TRUE[start : start + BATCH])  # of a batch nothing is said
            found = metric.compute()
            assert metric.compute(expected=NUMBER) == found
        with pytest.warns(RuntimeWarning, match="expected 796 samples, got 797"):  # also of values that are kept
            metric.compute(expected=NUMBER - 1)
        metric.update(SCORES[:1], TRUE[:1])
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
            metric.update(TRUE[start : start + 400].numpy(), SCORES[start : start + 400].numpy())
        metric.update(TRUE[:1].numpy(), SCORES[:1].numpy())
        with pytest.warns(RuntimeWarning, match="expected 797 samples, got 798"):
            metric.compute(expected=NUMBER)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            metric.log_dict(expected=NUMBER + 1)
    nnx.jit(lambda one: one.compute(expected=NUMBER))(flax.ConfusionMetric(3, "accuracy"))  # where it is unknown
    assert jax is not None
