"""The metrics for training loops with each kind of batch that they take; processes of tests import this file."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RANDOM = np.random.default_rng(32)


class Case(NamedTuple):
    """A metric or a state, and its batches."""

    make: Callable[[Any], Any]  # of the module of the metric, or of a tensor that the state is like
    classes: int | None  # of scores
    given: str = "scores"  # or labels, or sets of labels
    options: Callable[[Any], dict[str, Any]] = lambda _: {}  # of update, by the true labels


def weights(labels: Any) -> dict[str, Any]:
    return {"sample_weight": labels / 4 + 0.5}


def mask(labels: Any) -> dict[str, Any]:
    return {"mask": labels != 1}


def real(of: Any) -> Any:
    """The dtype of weighted counts in the library of the metric."""
    return importlib.import_module("jax.numpy" if of.__name__.endswith("flax") else "torch").float32


METRICS = {
    "labels": Case(lambda of: of.ConfusionMetric(3), 3, "labels"),
    "numbered": Case(lambda of: of.ConfusionMetric(labels=[0, 2]), 3, "labels"),
    "class scores": Case(lambda of: of.ConfusionMetric(3, ignore_index=0), 3, options=mask),
    "threshold": Case(lambda of: of.ConfusionMetric(2, threshold=0.4), None),
    "weights": Case(lambda of: of.ConfusionMetric(3, dtype=real(of)), 3, options=weights),
    "bins": Case(lambda of: of.ScoreMetric(bits=6, positive=0), None),
    "class bins": Case(lambda of: of.ScoreMetric(3, "roc_auc", bits=6), 3),
    "logits": Case(lambda of: of.ScoreMetric(3, bits=6, from_logits=True, ignore_index=0), 3, options=mask),
    "weighted bins": Case(lambda of: of.ScoreMetric(3, bits=6, dtype=real(of)), 3, options=weights),
    "margins": Case(lambda of: of.MarginMetric(3, "f1", ignore_index=0), 3, options=mask),
    "several labels": Case(
        lambda of: of.MultilabelMetric(
            3, "f1, roc_auc:label, subset_accuracy, ranking_loss", threshold=[0.3, 0.5, 0.6]
        ),
        3,
        "sets",
    ),
    "decay": Case(lambda of: of.ConfusionMetric(3, decay=0.5), 3),
    "any measures": Case(
        lambda of: of.Metrics(3, "f1, roc_auc, log_loss, mcc, top_k_accuracy(k=2)", bits=6, from_logits=True),
        3,
        options=mask,
    ),
    "losses": Case(lambda of: of.ScoreMetric(3, "log_loss, top_k_recall(k=[1,2])", from_logits=True), 3, options=mask),
}


def count(metric: Any, case: Case, labels: Any, made: Any) -> None:
    """Update a metric by a batch; torchmetrics has predictions first."""
    is_torchmetric = type(metric).__module__.startswith("matrics._integrations.torchmetrics")
    batch = (made, labels) if is_torchmetric else (labels, made)
    metric.update(*batch, **case.options(labels))


def draw(case: Case, size: int, random: np.random.Generator = RANDOM) -> list[np.ndarray]:
    """True labels, and predictions: numbers with few digits, so that their sums are exact in any order."""
    n = case.classes
    shape = (size, n) if n and case.given != "labels" else (size,)
    labels = random.integers(0, 2, shape) if case.given == "sets" else random.integers(0, n or 2, size)
    made = random.integers(0, n, size) if case.given == "labels" else random.integers(0, 64, shape) / 64
    return [labels, made.astype(np.float32) if made.dtype.kind == "f" else made]
