"""Numbers from outside that ask for too much memory: a sentence that names them, before any library is asked for it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._arrays.sizes import LARGE_BYTES, check_state_size

LABELS = [0, 1]
HALVES = np.full((2, 2), 0.5)
HUGE = 2**62

# What is made of a number of classes, labels, groups or bins, by the name of the argument.
MADE: dict[str, tuple[str, Any]] = {
    "state": ("num_classes", matrics.ConfusionState.zeros),
    "margins": ("num_classes", matrics.MarginState.zeros),
    "several labels": ("num_labels", matrics.MultilabelState.zeros),
    "histograms": ("num_classes", lambda n: matrics.ScoreState.zeros(num_classes=n)),
    "groups of a state": ("num_groups", lambda n: matrics.ConfusionState.zeros(2, num_groups=n)),
    "matrix": ("num_classes", lambda n: matrics.confusion_matrix(LABELS, LABELS, num_classes=n)),
    "groups": (
        "num_groups",
        lambda n: matrics.confusion_matrix(LABELS, LABELS, num_classes=2, groups=[0, 0], num_groups=n),
    ),
    "joint": ("num_classes", lambda n: matrics.stats.joint_confusion_matrix(LABELS, LABELS, LABELS, num_classes=n)),
    "soft": ("num_groups", lambda n: matrics.soft_confusion_matrix(LABELS, HALVES, groups=[0, 0], num_groups=n)),
    "models": ("num_classes", lambda n: matrics.compare_models(LABELS, [LABELS, LABELS], num_classes=n)),
    "random": ("num_classes", lambda n: matrics.simulate.random_matrices(2, n)),
    "batch": ("batch_shape", lambda n: matrics.ConfusionState.zeros(2, batch_shape=(3, n))),
    "bins of a state": ("num_bins", lambda n: matrics.ScoreState.zeros(num_bins=n)),
    "classes of a state": ("num_classes", lambda n: matrics.ScoreState.zeros(num_classes=n)),
    "bins": ("num_bins", lambda n: matrics.probabilities.expected_calibration_error(LABELS, [0.2, 0.3], num_bins=n)),
    "bins of equal mass": (
        "num_bins",
        lambda n: matrics.probabilities.reliability_curve(LABELS, [0.2, 0.3], num_bins=n, bins="mass"),
    ),
    "top k": ("k", lambda n: matrics.ranking.top_k_accuracy(LABELS, HALVES, k=n)),
}
# What is drawn so many times.
DRAWN: dict[str, Any] = {
    "resample": lambda num: matrics.simulate.resample([[1, 2], [3, 4]], num, rng=0),
    "random": lambda num: matrics.simulate.random_matrices(num, 3, rng=0),
    "interval": lambda num: matrics.interval([[1, 2], [3, 4]], "mcc", method="bootstrap", num=num, rng=0),
    "compare": lambda num: matrics.compare([[1, 2], [3, 4]], [[1, 2], [3, 4]], "mcc", method="bootstrap", num=num),
    "models": lambda num: matrics.compare_models(LABELS, [LABELS, LABELS], num_classes=2, num=num),
    "threshold": lambda num: matrics.ranking.best_threshold(
        [0, 1, 1], [0.1, 0.3, 0.2], "f1", num=num, rng=0, level=0.95
    ),
    "report": lambda num: matrics.report({"a": (LABELS, LABELS)}, num=num),
}
KINDS = ("ConfusionMetric", "ScoreMetric")
METRICS = [(library, kind) for library in ("torch", "torchmetrics", "flax") for kind in KINDS]


@pytest.mark.parametrize("number", [HUGE, 10**12])
@pytest.mark.parametrize("what", MADE)
def test_numbers_that_no_memory_has_room_for(what: str, number: int) -> None:
    name, make = MADE[what]
    with pytest.raises(ValueError, match=rf"^(num_classes=2, )?{name}\b.*{number}"):
        make(number)


@pytest.mark.parametrize(("library", "kind"), METRICS)
def test_metrics_of_training_loops(library: str, kind: str) -> None:
    pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
    make = getattr(importlib.import_module(f"matrics.{library}"), kind)
    with pytest.raises(ValueError, match=f"num_classes: expected an integer of at most .*, got {HUGE}"):
        make(HUGE)
    if kind == "ConfusionMetric":
        size = "20.2" if library == "flax" else "40.4"  # with the counts of other processes, or the zeros of reset()
        advice = r"allow_large=True .*cen, eve need all cells .*MarginState\.list_metrics"
        with pytest.raises(ValueError, match=rf"num_classes=50257: .* at most 8.6 GB, got one of {size} GB; {advice}"):
            make(50_257)
    else:
        with pytest.raises(ValueError, match=r"num_classes=500000: .* at most 8.6 GB, got one of 17.8"):
            make(500_000)
    with pytest.raises(TypeError, match="allow_large: expected True or False, got 'yes'"):
        make(3, allow_large="yes")
    assert make(3, allow_large=True).state.counts.shape[-1] in (2, 3)


@pytest.mark.parametrize("what", DRAWN)
def test_draws_that_no_memory_has_room_for(what: str) -> None:
    """The sentence has the memory that they would take, or that one value of each would."""
    size = {"resample": "32,000", "random": "72,000"}.get(what, "8,000")
    with pytest.raises(
        ValueError, match=rf"num={10**12}\b.*: expected an array of at most 1,100 GB, got one of {size} GB"
    ):
        DRAWN[what](10**12)


def test_a_large_state_is_made_where_somebody_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered for this: 8 GiB would be too much for a test."""
    monkeypatch.setattr("matrics._arrays.sizes.LARGE_BYTES", 8 * 200**2 - 1)
    with pytest.raises(ValueError, match=r"num_classes=200: .*; allow_large=True .*MarginState"):
        matrics.ConfusionState.zeros(200)
    state = matrics.ConfusionState.zeros(200, allow_large=True).update([199], [0])
    assert state.matrix[199, 0] == 1
    with pytest.raises(ValueError, match="num_classes=200"):  # sums in float32 keep what rounding loses
        matrics.ConfusionState.zeros(200, dtype=np.float32)
    for make in (
        lambda **options: matrics.MarginState.zeros(200, batch_shape=(100,), **options),
        lambda **options: matrics.MultilabelState.zeros(200, batch_shape=(60,), **options),
        lambda **options: matrics.ScoreState.zeros(num_classes=200, **options),
    ):
        with pytest.raises(ValueError, match=r"^(?!.*MarginState).*allow_large=True"):
            make()
        make(allow_large=True)
    torch = pytest.importorskip("torch")
    metric = importlib.import_module("matrics.torch").ConfusionMetric(200, "accuracy", allow_large=True)
    metric.update(torch.tensor([1, 1]), torch.tensor([1, 0]))
    assert metric.state.score("accuracy")["accuracy"] == metric.clone().compute()["accuracy"] == 0.5


def test_the_limit_is_a_matrix_of_32768_classes() -> None:
    check_state_size(8 * 32_768**2, {}, allow_large=False)
    assert LARGE_BYTES == 8 * 32_768**2
    with pytest.raises(ValueError, match=r"at most 8\.6 GB"):
        check_state_size(8 * 32_769**2, {}, allow_large=False)
    with pytest.raises(ValueError, match=r"num=2, num_classes=400000: expected an array of at most 1,100 GB"):
        matrics.simulate.random_matrices(2, 400_000)
    with pytest.raises(
        ValueError, match=r"num_classes=400000: expected an array of at most 1,100 GB, got one of 1,280 GB"
    ):
        matrics.confusion_matrix(LABELS, LABELS, num_classes=400_000)
    with pytest.raises(ValueError, match=r"num_classes=6000: .* at most 1,100 GB, got one of 1,728 GB"):
        matrics.stats.joint_confusion_matrix(LABELS, LABELS, LABELS, num_classes=6000)
    with pytest.raises(ValueError, match=r"num_classes=30000, num_groups=2000: .* got one of 14,400 GB"):
        matrics.confusion_matrix(LABELS, LABELS, num_classes=30_000, groups=LABELS, num_groups=2000)
    with pytest.raises(ValueError, match=r"num_classes=400000: .* at most 1,100 GB, got one of 1,280 GB"):
        matrics.ConfusionState.zeros(400_000, allow_large=True)
