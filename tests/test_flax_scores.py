"""The Flax metric of scores: its values against scikit-learn, under nnx.jit, in a MultiMetric, saved and merged."""

from __future__ import annotations

import csv
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matrics import ScoreState

RANDOM = np.random.default_rng(23)
LABELS = RANDOM.integers(0, 3, (4, 40))
LOGITS = (RANDOM.normal(size=(4, 40, 3)) + np.eye(3)[LABELS]).astype(np.float32)
SPECS = ["roc_auc", "roc_auc:class", "ece", "recall@0.5"]
NAMES = ["cat", "dog", "cow"]


@pytest.fixture
def nnx(jax_backend: Any) -> Any:
    del jax_backend  # its settings hold in the test
    return pytest.importorskip("flax.nnx")


def make(*args: Any, **options: Any) -> Any:
    from matrics.flax import ScoreMetric

    return ScoreMetric(*args, **options)


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(np.asarray(logits, np.float64))
    return powers / powers.sum(-1, keepdims=True)


def test_any_nan_is_the_same_option(nnx: Any) -> None:
    traced = []

    @nnx.jit
    def step(metric: Any) -> None:
        traced.append(1)
        metric.update(labels=np.asarray([0, 1]), y_score=np.asarray([0.2, 0.7], np.float32))

    for _ in range(3):
        step(make(zero_division=float("nan"), fill_undefined=float("nan")))
    assert len(traced) == 1


@pytest.mark.exhaustive
def test_batches_under_jit(nnx: Any) -> None:
    """One trace for all batches, in place; scikit-learn's areas are within the bounds; names for a logger."""
    sk = pytest.importorskip("sklearn.metrics")
    traced = []

    @nnx.jit
    def step(metric: Any, labels: Any, logits: Any, mask: Any) -> None:
        traced.append(1)
        metric.update(labels=labels, logits=logits, mask=mask)

    metric = make(3, SPECS, prefix="val/", class_names=NAMES, bounds=True, num_bins=10)
    mask = RANDOM.random(LABELS.shape) < 0.9
    for batch in zip(LABELS, LOGITS, mask, strict=True):
        step(metric, *batch)
    assert len(traced) == 1
    y, p = LABELS[mask], softmax(LOGITS[mask])
    assert metric.state.counts.shape == (3, 120197, 2)
    assert int(np.asarray(metric.state.matrix)[0, 0].sum()) == mask.sum()
    areas = [sk.roc_auc_score(y == k, p[:, k]) for k in range(3)]
    compiled = nnx.jit(lambda metric: metric.compute())(metric)
    values = metric.log_dict()
    assert list(values) == list(metric.compute())
    assert compiled.keys() == values.keys()
    for name, value in compiled.items():
        assert value.shape == ()
        np.testing.assert_allclose(value, values[name], rtol=1e-4, atol=1e-6)
    for name, exact in zip(["", *(f"/{name}" for name in NAMES)], [np.mean(areas), *areas], strict=True):
        assert values[f"val/roc_auc_low{name}"] <= exact <= values[f"val/roc_auc_high{name}"]
    right, top = p.argmax(1) == y, p.max(1)
    place = np.minimum((top * 10).astype(int), 9)
    gaps = [abs(top[place == k].sum() - right[place == k].sum()) for k in range(10)]
    assert values["val/ece"] == pytest.approx(sum(gaps) / len(y), abs=1e-5)
    for k, name in enumerate(NAMES):
        assert values[f"val/recall@0.5/{name}"] == pytest.approx(np.mean(p[y == k, k] >= 0.5), abs=1e-6)
    metric.reset()
    metric.update(labels=np.asarray([1]), logits=np.asarray([[0.0, 9.0, 0.0]]))
    assert metric.log_dict()["val/roc_auc"] == 0  # undefined, and no end of a run
    np.testing.assert_array_equal(metric.state.thresholds, make(3, SPECS).state.thresholds)


def test_two_classes(nnx: Any, jax_backend: Any) -> None:
    """Scores, or logits of them; in a MultiMetric with others, whose keywords are ignored."""
    sk = pytest.importorskip("sklearn.metrics")
    labels, logits = LABELS.ravel() % 2, LOGITS[..., 0].ravel()
    p = 1 / (1 + np.exp(-logits.astype(np.float64)))
    exact = sk.roc_auc_score(labels, p)
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), scores=make(metrics="roc_auc, ece", bounds=True))
    for part in np.split(np.arange(160), 4):
        batch = {"labels": labels[part], "logits": logits[part], "loss": logits[part]}
        metrics.update(**{name: jax_backend.asarray(value) for name, value in batch.items()})
    others = [make(metrics="roc_auc, ece", bounds=True, **o) for o in ({}, {"from_logits": True})]
    others[0].update(labels, p.astype(np.float32))
    others[1].update(y_true=labels, y_score=logits)
    for metric in (metrics.scores, *others):
        values = metric.log_dict()
        assert values["roc_auc_low"] <= exact <= values["roc_auc_high"] <= values["roc_auc_low"] + 1e-3
        assert values["ece"] == pytest.approx(others[0].log_dict()["ece"], abs=1e-5)


@pytest.mark.exhaustive
def test_merge_checkpoint_and_clone(nnx: Any) -> None:
    """Metrics and states add up; what is split from a metric and put into another is bit-equal."""
    parts = [make(3, SPECS, prefix="train/"), make(3, SPECS)]
    whole = make(3, SPECS)
    for i, (labels, logits) in enumerate(zip(LABELS, LOGITS, strict=True)):
        parts[i % 2].update(labels=labels, logits=logits)
        whole.update(labels=labels, logits=logits)
    merged = parts[0].clone(prefix="")
    merged.merge_state(parts[1].state)
    assert merged.log_dict() == pytest.approx(whole.log_dict(), abs=1e-6)
    assert list(parts[0].log_dict()) == [f"train/{name}" for name in whole.log_dict()]
    resumed = make(3, SPECS)
    assert not nnx.update(resumed, nnx.state(whole))
    for ours, theirs in zip(resumed.state, whole.state, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    resumed.merge_state(parts[0])
    assert isinstance(resumed.state, ScoreState)


@pytest.mark.exhaustive
def test_what_is_left_out_and_weights(nnx: Any, jax_backend: Any) -> None:
    del nnx
    labels, scores = np.asarray([0, 1, 1, 9, 0]), np.asarray([0.1, 0.9, 0.3, 0.2, np.nan], np.float32)
    metric = make(metrics="roc_auc, f1@0.5", ignore_index=9, prefix="val/")
    metric.update(labels, scores, mask=[True, True, False, True, True])
    assert np.asarray(metric.state.matrix)[-1].tolist() == [[0, 1], [0, 1]]
    with pytest.warns(RuntimeWarning, match="1 samples are not counted"):
        assert int(metric.compute()["val/dropped"]) == 1
    weighted = make(dtype=jax_backend.asarray(np.float32(0)).dtype.type, fill_undefined=None)
    weighted.update(labels[:3], scores[:3], sample_weight=np.asarray([0.5, 1.0, 2.0], np.float32))
    assert float(weighted.state.counts.sum()) == 3.5
    lone = make(fill_undefined=None)
    lone.update(labels[1:2], scores[1:2])
    assert math.isnan(lone.log_dict()["roc_auc"])
    with pytest.raises(TypeError, match=r"sample_weight: expected None, .*dtype=jax.numpy.float32"):
        metric.update(labels, scores, sample_weight=scores)
    with pytest.raises(TypeError, match="expected one of y_score and logits, got 2"):
        metric.update(labels, scores, logits=scores)
    with pytest.raises(ValueError, match="3 classes along class_axis=-1"):
        make(3).update(labels, scores)
    with pytest.raises(ValueError, match="expected roc_auc"):
        make(3, "auc_roc")
    logits = make(metrics="roc_auc, ece")
    logits.update(labels[:3], scores[:3] * 9)
    with pytest.warns(RuntimeWarning, match="from_logits=True"):
        logits.compute()
    axis = make(3, "roc_auc, f1@0.5", class_axis=1)
    axis.update(LABELS, logits=np.moveaxis(LOGITS, -1, 1))
    assert int(np.asarray(axis.state.matrix)[0, 0].sum()) == LABELS.size


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_run_goes_on(nnx: Any, tmp_path: Path) -> None:
    """In the middle of an epoch; its log is that of a run that nobody killed, digit by digit."""
    del nnx
    for library in ("optax", "sklearn"):
        pytest.importorskip(library)
    example = str(Path(__file__).parents[1] / "examples" / "flax_run.py")

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, example, "--folder", *options]
        environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(str(whole)).returncode == 0
    assert run(str(killed), "--kill-at", "41").returncode == -signal.SIGKILL
    resumed = run(str(killed))
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.startswith("goes on at step 40, with 128 samples counted in this epoch")
    first, second = ((folder / "metrics.csv").read_text() for folder in (whole, killed))
    assert first == second
    *_, last = csv.DictReader(first.splitlines())
    assert last["step"] == "72"
    assert min(float(last[f"val/{name}"]) for name in ("mcc", "accuracy", "recall/malignant", "recall/benign")) > 0.9
    assert float(last["val/roc_auc_low"]) <= float(last["val/roc_auc"]) <= float(last["val/roc_auc_high"])
    assert float(last["val/ece"]) < 0.1
