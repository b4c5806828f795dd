"""Logits and a threshold of a probability: from_logits=True says which is meant, and a warning asks for it."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest

sk = pytest.importorskip("sklearn.metrics")
special = pytest.importorskip("scipy.special")

RANDOM = np.random.default_rng(48)
WORDS = "some scores are not in .0, 1., and are compared with a threshold between 0 and 1"
every_library = pytest.mark.parametrize("library", ["torch", "torchmetrics", "flax"])


def counted(library: str, kind: str, given: tuple[Any, ...], *batches: Any, **options: Any) -> dict[str, float]:
    """The values of a metric of these batches of labels, scores and perhaps a mask."""
    pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
    metric = getattr(importlib.import_module(f"matrics.{library}"), kind)(*given, **options)
    asarray = importlib.import_module("jax.numpy" if library == "flax" else "torch").asarray
    for batch in batches:
        y_true, y_score, *mask = map(asarray, batch)
        more = {"mask": mask[0]} if mask else {}
        metric.update(*((y_score, y_true) if library == "torchmetrics" else (y_true, y_score)), **more)
    return dict(metric.log_dict())


def draw(shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and logits that are too high: thresholds of them and of their probabilities differ."""
    y_true = RANDOM.integers(0, 2, shape)
    return y_true, (RANDOM.normal(size=shape) + 2 * y_true - 0.5).astype(np.float32)


@pytest.mark.sampled(2)
@every_library
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_the_threshold_is_one_of_the_probability(library: str, threshold: float) -> None:
    y_true, logits = draw(300)
    found = counted(library, "ConfusionMetric", (2, "f1"), (y_true, logits), threshold=threshold, from_logits=True)
    expected = sk.f1_score(y_true, special.expit(logits.astype(float)) >= threshold)
    assert found["f1"] == pytest.approx(expected, abs=1e-6)
    with pytest.warns(RuntimeWarning, match=WORDS):
        found = counted(library, "ConfusionMetric", (2, "f1"), (y_true, logits), threshold=threshold)
    assert found["f1"] == pytest.approx(sk.f1_score(y_true, logits >= threshold), abs=1e-6)
    assert abs(found["f1"] - expected) > 0.01


@pytest.mark.sampled(1)
@pytest.mark.exhaustive(library=["flax"])  # whose operations are compiled one by one
@every_library
def test_several_labels(library: str) -> None:
    y_true, logits = draw((200, 3))
    with warnings.catch_warnings(action="error"):
        found = counted(library, "MultilabelMetric", (3, "f1"), (y_true, logits), from_logits=True)
    expected = sk.f1_score(y_true, special.expit(logits.astype(float)) >= 0.5, average="macro")
    assert found["f1"] == pytest.approx(expected, abs=1e-6)
    with pytest.warns(RuntimeWarning, match=WORDS):
        counted(library, "MultilabelMetric", (3, "f1"), (y_true, logits))
    with warnings.catch_warnings(action="error"):
        counted(library, "MultilabelMetric", (3, "f1"), (y_true, logits), threshold=[0, 0, 0])
        counted(library, "MultilabelMetric", (3, "hamming_loss"), (y_true, logits > 0))
        counted(library, "MultilabelMetric", (3, "roc_auc"), (y_true, logits), bits=12)


@pytest.mark.sampled(1)
@every_library
def test_measures_at_a_threshold(library: str) -> None:
    """Where calibration is kept, or a loss, these give the warning."""
    y_true, logits = draw(300)
    with pytest.warns(RuntimeWarning, match=WORDS):
        counted(library, "ScoreMetric", (None, "recall@0.5"), (y_true, logits))
    with pytest.warns(RuntimeWarning, match="not in .0, 1., as calibration and losses expect"):
        counted(library, "ScoreMetric", (None, "recall@0.5, ece"), (y_true, logits))
    with warnings.catch_warnings(action="error"):
        counted(library, "ScoreMetric", (None, "recall@0"), (y_true, logits))
        found = counted(library, "ScoreMetric", (None, "recall@0.5"), (y_true, logits), from_logits=True)
    assert found["recall@0.5"] == pytest.approx(sk.recall_score(y_true, logits >= 0), abs=1e-6)
    y_true, logits = RANDOM.integers(0, 3, 50), RANDOM.normal(size=(50, 3)).astype(np.float32)
    with pytest.warns(RuntimeWarning, match=WORDS):
        counted(library, "ScoreMetric", (3, "recall@0.5"), (y_true, logits))


@pytest.mark.sampled(2)
@every_library
def test_when_there_is_a_warning(library: str) -> None:
    """Once for each metric, and only of samples that count."""
    y_true, scores = np.array([0, 1, 1, -100]), np.array([0.2, 0.7, 0.9, 17.0], np.float32)
    options = {"threshold": 0.5, "ignore_index": -100}
    with warnings.catch_warnings(action="error"):
        counted(library, "ConfusionMetric", (2, "f1"), (y_true, scores), **options)
        masked = np.array([1, 1, 1]), np.array([0.2, np.nan, -3], np.float32), np.array([True, False, False])
        counted(library, "ConfusionMetric", (2, "recall[0]"), masked, threshold=0.5, fill_undefined=None)
        counted(library, "ConfusionMetric", (2, "f1"), (y_true, scores - 0.5), ignore_index=-100, threshold=0.0)
    with pytest.warns(RuntimeWarning, match=WORDS) as told:
        counted(library, "ConfusionMetric", (2, "f1"), *[(y_true[:3], scores[:3] - 0.5)] * 3, threshold=0.5)
    assert len(told) == 1
    with pytest.raises(ValueError, match=r"threshold: expected a probability, from 0 to 1, .* got 2.5"):
        counted(library, "ConfusionMetric", (2, "f1"), threshold=2.5, from_logits=True)
    with pytest.raises(ValueError, match=r"threshold: expected a probability, from 0 to 1, .* got -1.0"):
        counted(library, "MultilabelMetric", (2, "f1"), threshold=[0.5, -1], from_logits=True)
