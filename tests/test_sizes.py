"""Numbers from outside that ask for too much memory: a sentence that names them, before any library is asked for it."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._arrays.sizes import check_state_size

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


@pytest.mark.sampled(4)
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
        advice = r"allow_large=True .*cen, eve need all cells .*MarginMetric"
        with pytest.raises(ValueError, match=rf"num_classes=50257: {LIMIT} {size} GB; {advice}"):
            make(50_257)
    else:
        with pytest.raises(ValueError, match=r"num_classes=500000: .* at most 1,024 MiB, .*, got 17.8"):
            make(500_000)
    with pytest.raises(TypeError, match="allow_large: expected True or False, got 'yes'"):
        make(3, allow_large="yes")
    assert make(3, allow_large=True).state.counts.shape[-1] in (2, 3)


@pytest.mark.parametrize("what", DRAWN)
def test_draws_that_no_memory_has_room_for(what: str) -> None:
    """The sentence has the memory that they would take, or that one value of each would."""
    size = {"resample": "32,000", "random": "72,000"}.get(what, "8,000")
    with pytest.raises(
        ValueError, match=rf"num={10**12}\b.*: expected an array of at most 1,024 MiB, .* got {size} GB"
    ):
        DRAWN[what](10**12)


def test_a_large_state_is_made_where_somebody_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered for this: 1 GiB would be too much for a test."""
    monkeypatch.setenv("MATRICS_MAX_ARRAY_MIB", "1")
    with pytest.raises(ValueError, match=r"num_classes=400: .*; allow_large=True .*MarginState"):
        matrics.ConfusionState.zeros(400)
    state = matrics.ConfusionState.zeros(400, allow_large=True).update([399], [0])
    assert state.matrix[399, 0] == 1
    with pytest.raises(ValueError, match="num_classes=400"):  # sums in float32 keep what rounding loses
        matrics.ConfusionState.zeros(400, dtype=np.float32)
    for make in (
        lambda **options: matrics.MarginState.zeros(400, batch_shape=(150,), **options),
        lambda **options: matrics.MultilabelState.zeros(400, batch_shape=(100,), **options),
        lambda **options: matrics.ScoreState.zeros(num_classes=400, **options),
    ):
        with pytest.raises(ValueError, match=r"^(?!.*MarginState).*allow_large=True"):
            make()
        make(allow_large=True)
    torch = pytest.importorskip("torch")
    metric = importlib.import_module("matrics.torch").ConfusionMetric(400, "accuracy", allow_large=True)
    metric.update(torch.tensor([1, 1]), torch.tensor([1, 0]))
    assert metric.state.score("accuracy")["accuracy"] == metric.clone().compute()["accuracy"] == 0.5


LIMIT = "expected an? .* of at most 1,024 MiB, the limit of the environment variable MATRICS_MAX_ARRAY_MIB, got"
MARGINS = "MarginState, or MarginMetric in a training loop"


def test_the_limit_is_a_gibibyte() -> None:
    check_state_size(8 * 11_585**2, {}, allow_large=False)
    with pytest.raises(ValueError, match=rf"{LIMIT} 1\.1 GB"):
        check_state_size(8 * 11_586**2, {}, allow_large=False)
    with pytest.raises(ValueError, match=rf"num=2, num_classes=50257: {LIMIT} 40\.4 GB"):
        matrics.simulate.random_matrices(2, 50_257)
    with pytest.raises(ValueError, match=rf"num=100000000, num_classes=2: {LIMIT} 3\.2 GB"):
        matrics.simulate.resample([[1, 2], [3, 4]], 10**8, rng=0)
    with pytest.raises(ValueError, match=rf"num_classes=600: {LIMIT} 1\.7 GB"):
        matrics.stats.joint_confusion_matrix(LABELS, LABELS, LABELS, num_classes=600)
    with pytest.raises(ValueError, match=rf"num_classes=3000, num_groups=20: {LIMIT} 1\.4 GB"):
        matrics.confusion_matrix(LABELS, LABELS, num_classes=3000, groups=LABELS, num_groups=20)
    with pytest.raises(ValueError, match=rf"num_classes=3000, batch=\(20,\): {LIMIT} 1\.4 GB"):
        matrics.confusion_matrix(np.zeros((20, 3), int), np.zeros((20, 3), int), num_classes=3000)
    with pytest.raises(ValueError, match=rf"num_classes=3000, batch=\(20,\): {LIMIT} 1\.4 GB"):
        matrics.soft_confusion_matrix(np.zeros((20, 1), int), np.zeros((20, 1, 3000)))
    with pytest.raises(ValueError, match=rf"num_classes=3000, batch=\(20,\): {LIMIT} 1\.4 GB"):
        matrics.soft_confusion_matrix(np.zeros((20, 1, 3000)), np.zeros((20, 1, 3000)))
    with pytest.raises(ValueError, match=r"num_classes=400000: .* at most 1,100 GB, got 1,280 GB"):
        matrics.ConfusionState.zeros(400_000, allow_large=True)


def test_the_limit_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=rf"num_classes=50257: {LIMIT} 20\.2 GB.*{MARGINS}"):
        matrics.confusion_matrix(LABELS, LABELS, num_classes=50_257)
    monkeypatch.setenv("MATRICS_MAX_ARRAY_MIB", "30000")
    check_state_size(8 * 50_257**2, {}, allow_large=False)
    monkeypatch.setenv("MATRICS_MAX_ARRAY_MIB", "1")
    assert matrics.confusion_matrix(LABELS, LABELS, num_classes=362).shape == (362, 362)
    with pytest.raises(ValueError, match=r"num_classes=363: expected an array of at most 1 MiB"):
        matrics.confusion_matrix(LABELS, LABELS, num_classes=363)
    for wrong in ("1e3", "-1", "2 GiB", "9" * 20):
        monkeypatch.setenv("MATRICS_MAX_ARRAY_MIB", wrong)
        with pytest.raises(ValueError, match=r"MATRICS_MAX_ARRAY_MIB: expected a whole number of MiB, got '"):
            matrics.confusion_matrix(LABELS, LABELS, num_classes=3)


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_many_classes_in_compiled_code(library: str) -> None:
    """Nothing is allocated while a function is traced either."""
    module = pytest.importorskip(library)
    labels = module.asarray([0, 1]) if library == "torch" else module.numpy.asarray([0, 1])

    def count(labels: Any) -> Any:
        return matrics.confusion_matrix(labels, labels, num_classes=50_257)

    def state(labels: Any) -> Any:
        return matrics.ConfusionState.zeros(50_257, like=labels).update(labels, labels)

    compiled = module.jit if library == "jax" else lambda one: one
    for function in (count, state):
        with pytest.raises(ValueError, match=rf"num_classes=50257: {LIMIT} (20\.2|40\.4) GB.*{MARGINS}"):
            compiled(function)(labels)
