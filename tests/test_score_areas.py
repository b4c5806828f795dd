"""Areas of running states and metrics are right at any scale of the scores; exact for half precision."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrics
from matrics import ScoreState

sk = pytest.importorskip("sklearn.metrics")

# The scale of logits, what is common to all, and the share of positives.
CASES = [(1, -4, 0.01), (4, -16, 0.01), (10, -40, 0.01), (1e-3, 0, 0.5), (0.5, 98, 0.5), (1, -12, 0.001), (30, 0, 0.3)]
SCALES = (1e-3, 1, 8, 30, 300)


def two_classes(scale: float, shift: float, share: float, number: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y_true = (random.random(number) < share).astype(int)
    return y_true, ((random.normal(size=number) + 2 * y_true) * scale + shift).astype(np.float32)


def ten_classes(scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, logits, and log-odds of each class against the rest, from sums without the class itself."""
    random = np.random.default_rng(1)
    y_true = random.integers(0, 10, 5000)
    logits = (random.normal(size=(5000, 10)) + 2 * np.eye(10)[y_true]).astype(np.float32) * np.float32(scale)
    wide, odds = logits.astype(np.float64), np.empty((5000, 10))
    for k in range(10):
        others = np.delete(wide, k, axis=1)
        largest = others.max(1)
        odds[:, k] = wide[:, k] - largest - np.log(np.exp(others - largest[:, None]).sum(1))
    return y_true, logits, odds


@pytest.mark.parametrize(("scale", "shift", "share"), CASES)
def test_logits_of_any_scale(scale: float, shift: float, share: float) -> None:
    y_true, logits = two_classes(scale, shift, share)
    empty = ScoreState.zeros()
    state = sum((empty.update(y, logits=z) for y, z in zip(*map(split, (y_true, logits)), strict=True)), start=empty)
    check(state, sk.roc_auc_score(y_true, logits), sk.average_precision_score(y_true, logits))
    assert state.roc_auc().high - state.roc_auc().low < 1e-3


def split(x: np.ndarray) -> list[np.ndarray]:
    return np.array_split(x, 7)


def check(state: ScoreState, roc_auc: float, average_precision: float) -> None:
    """Within 1e-4 and 1e-3, and within the bounds."""
    for area, exact, near in ((state.roc_auc(), roc_auc, 1e-4), (state.average_precision(), average_precision, 1e-3)):
        assert float(area.value) == pytest.approx(exact, abs=near)
        assert area.low <= exact <= area.high


@pytest.mark.parametrize("scale", SCALES)
def test_ten_classes(scale: float) -> None:
    """Against log-odds; at the larger scales the softmax itself is 0 and 1, and its area wrong."""
    y_true, logits, odds = ten_classes(scale)
    state = ScoreState.zeros(num_classes=10).update(y_true, logits=logits)
    exact = [sk.roc_auc_score(y_true == k, odds[:, k]) for k in range(10)]
    np.testing.assert_allclose(state.roc_auc(average="class").value, exact, atol=1e-5)
    precisions = [sk.average_precision_score(y_true == k, odds[:, k]) for k in range(10)]
    np.testing.assert_allclose(state.average_precision(average="class").value, precisions, atol=1e-3)
    micro = sk.roc_auc_score(np.eye(10)[y_true].ravel(), odds.ravel())
    assert state.roc_auc(average="micro").value == pytest.approx(micro, abs=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_has_no_error(dtype: str) -> None:
    """Values and bounds, with many ties; of logits, of probabilities, and of class scores."""
    torch = pytest.importorskip("torch")
    y_true, logits = two_classes(3, 1, 0.3)
    half = torch.from_numpy(logits).to(getattr(torch, dtype))
    for given_, values in (("logits", half), ("y_score", half.sigmoid()), ("y_score", (half.float() - 900).to(half))):
        state = ScoreState.zeros(like=half).update(torch.from_numpy(y_true), **{given_: values})
        for area, peer in ((state.roc_auc(), "roc_auc"), (state.average_precision(), "average_precision")):
            exact = getattr(sk, f"{peer}_score")(y_true, values.float())
            assert [float(x) for x in area] == pytest.approx([exact] * 3, abs=1e-12)
    labels, class_logits, _ = ten_classes(1)
    probabilities = torch.from_numpy(class_logits).softmax(1).to(half)
    state = ScoreState.zeros(num_classes=10, like=half).update(torch.from_numpy(labels), probabilities)
    exact = [sk.roc_auc_score(labels == k, probabilities[:, k].float()) for k in range(10)]
    for part in state.roc_auc(average="class"):
        np.testing.assert_allclose(part, exact, atol=1e-12)


def test_scores_of_any_range() -> None:
    """Log-likelihoods, distances, probabilities at both ends: no range has to be known."""
    random = np.random.default_rng(2)
    y_true = random.integers(0, 2, 20_000)
    kinds = {
        "log-likelihoods": random.normal(-500 + 50 * y_true, 50),
        "distances": random.normal(1e6 + 1e5 * y_true, 1e5),
        "near 0": np.exp(random.normal(-30 + 2 * y_true, 2)),
        "near 1": 1 - np.exp(random.normal(-15 - 2 * y_true, 2)),
        "of float32 near 1": (1 - np.exp(random.normal(-10 - 2 * y_true, 2))).astype(np.float32),
        "saturated": np.clip(random.normal(0.5 + 0.3 * y_true, 0.5), 0, 1),
        "tiny": random.normal(y_true, 1) * 1e-12,
    }
    for scores in kinds.values():
        state = ScoreState.zeros().update(y_true, scores)
        check(state, sk.roc_auc_score(y_true, scores), sk.average_precision_score(y_true, scores))


@given(
    scores=st.lists(st.sampled_from([0.0, 0.25, 0.3, 0.31, 1.0, -2.0, 5.0, 1e-9, 1 - 1e-9]), min_size=2, max_size=40),
    seed=st.integers(0, 99),
    bits=st.sampled_from([4, 10, 15]),
)
def test_bounds_hold_with_ties(scores: list[float], seed: int, bits: int) -> None:
    y_true = np.random.default_rng(seed).integers(0, 2, len(scores))
    y_true[:2] = 0, 1
    state = ScoreState.zeros(bits=bits, num_bins=0).update(y_true, np.asarray(scores))
    for area, exact in (
        (state.roc_auc(), sk.roc_auc_score(y_true, scores)),
        (state.average_precision(), sk.average_precision_score(y_true, scores)),
    ):
        assert area.low <= exact <= area.high
        assert area.low <= area.value <= area.high


def test_one_batch_element_does_not_change_another() -> None:
    """A NaN, an inexact score or a bad weight in one leaves the bounds of the other exact."""
    y_true, scores = np.asarray([[0, 1, 1]] * 3), np.asarray([[0.25, 0.75, 0.5], [0.3, np.nan, 0.7], [0.5, 0.25, 0.75]])
    state = ScoreState.zeros(batch_shape=(3,)).update(y_true, scores)
    assert state.dropped.tolist() == [0, 1, 0]
    assert state.rounded.tolist() == [0, 1, 0]
    area = state.roc_auc()
    np.testing.assert_allclose(np.asarray(area)[:, 0], 1, atol=1e-12)
    np.testing.assert_allclose(np.asarray(area)[:, 2], 0.5, atol=1e-12)


def test_masked_and_infinite_logits() -> None:
    """A logit of -inf is a class that cannot be; one of inf, and rows of -inf alone, have no probabilities."""
    y_true = [0, 1, 2, 0, 1, 0]
    logits = np.float32([[2, 1, -np.inf], [0, 3, -np.inf], [0, 1, 5], [np.inf, 0, 0], [-np.inf] * 3, [1, np.nan, 0]])
    state = ScoreState.zeros(num_classes=3, losses=True).update(y_true, logits=logits)
    assert state.dropped == 3
    assert state.roc_auc(average="class").value.tolist() == [1, 1, 1]
    assert np.isfinite(state.log_loss())
    assert state.log_loss() == pytest.approx(matrics.log_loss(y_true[:3], logits=logits[:3].astype(float)))


@pytest.mark.parametrize("library", ["torch", "torchmetrics", "flax"])
@pytest.mark.filterwarnings("error")
def test_metrics_of_training_loops(library: str) -> None:
    """As the state: each metric counts logits, and not the probabilities that are 0 and 1."""
    jax_or_torch = pytest.importorskip({"flax": "jax.numpy"}.get(library, "torch"))
    for name in {"flax": ("flax",), "torchmetrics": ("torchmetrics",)}.get(library, ()):
        pytest.importorskip(name)
    make = importlib.import_module(f"matrics.integrations.{library}").ScoreMetric

    def value(metric: Any, y_true: np.ndarray, logits: np.ndarray) -> float:
        batch = [jax_or_torch.asarray(x) for x in (y_true, logits)]
        metric.update(*(batch[::-1] if library == "torchmetrics" else batch))
        return metric.log_dict()["roc_auc"]

    for case in CASES:
        y_true, logits = two_classes(*case)
        found = value(make(metrics="roc_auc", from_logits=True), y_true, logits)
        assert found == pytest.approx(sk.roc_auc_score(y_true, logits), abs=1e-4)
    for scale in (1, 30):
        y_true, logits, odds = ten_classes(scale)
        exact = np.mean([sk.roc_auc_score(y_true == k, odds[:, k]) for k in range(10)])
        assert value(make(10, "roc_auc", from_logits=True), y_true, logits) == pytest.approx(exact, abs=1e-5)


def test_a_warning_of_wide_bounds() -> None:
    """Once, with what to do; not of few samples, nor of half precision, whose ties are known."""
    torch = pytest.importorskip("torch")
    make = importlib.import_module("matrics.integrations.torch").ScoreMetric
    y_true, logits = map(torch.from_numpy, two_classes(0.5, 98, 0.5))
    metric = make(metrics="average_precision, roc_auc", from_logits=True, bits=8)
    metric.update(y_true, logits)
    with pytest.warns(RuntimeWarning, match=r"may\s+be anything from 0\.\d+ to 0\.\d+\. .* more bits=") as said:
        value = metric.log_dict()["roc_auc"]
    assert said[0].filename == __file__
    assert 0.8 < value < 0.95
    with warnings.catch_warnings(action="error"):
        metric.compute()
        for scores, number in ((logits, 50), (logits.bfloat16(), 20_000)):
            fine = make(metrics="roc_auc", from_logits=True, bits=10)
            fine.update(y_true[:number], scores[:number])
            fine.compute()


def test_syncs_and_checkpoints_of_large_counts(tmp_path: Any) -> None:
    """The part of all processes is made at the first sync; checkpoints of before and after load into each other."""
    torch = pytest.importorskip("torch")
    distributed = pytest.importorskip("torch.distributed")
    make = importlib.import_module("matrics.integrations.torch").ScoreMetric
    y_true, logits = map(torch.from_numpy, two_classes(1, 0, 0.5, 300))
    before, after = make(from_logits=True, bits=8), make(from_logits=True, bits=8)
    before.update(y_true, logits)
    after.update(y_true, logits)
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        after.sync()
    finally:
        distributed.destroy_process_group()
    assert (len(before.counts), len(after.counts)) == (1, 2)
    wanted = before.log_dict()
    assert after.log_dict() == pytest.approx(wanted, abs=1e-12)
    for source in (before, after):
        for target in (make(from_logits=True, bits=8), after.clone(), before.clone()):
            target.load_state_dict(source.state_dict())
            assert target.counts.shape == source.counts.shape
            assert target.log_dict() == pytest.approx(wanted, abs=1e-12)
    twice = before.clone().merge_state(after)
    assert torch.equal(twice.state.counts, 2 * before.state.counts)


def test_memory_of_the_counts() -> None:
    torch = pytest.importorskip("torch")
    del torch
    make = importlib.import_module("matrics.integrations.torch").ScoreMetric
    for n, most in ((None, 17), (2, 4), (10, 19), (100, 64), (1000, 64)):
        metric = make(n, from_logits=True)
        assert sum(buffer.nbytes for buffer in metric.buffers()) < most * 2**20 + 2**16


def test_a_failed_update_changes_nothing() -> None:
    torch = pytest.importorskip("torch")
    make = importlib.import_module("matrics.integrations.torch").ScoreMetric
    metric = make(from_logits=True, decay=0.5, bits=8)
    y_true, logits = map(torch.from_numpy, two_classes(1, 0, 0.5, 300))
    metric.update(y_true, logits)
    counts = {name: buffer.clone() for name, buffer in metric.named_buffers()}
    for batch in ((y_true, logits[:9]), (y_true.float(), logits), (y_true, y_true)):
        with pytest.raises((TypeError, ValueError)):
            metric.update(*batch)
    for name, buffer in metric.named_buffers():
        assert torch.equal(buffer, counts[name])
    metric.update(y_true, logits)
    assert metric.state.counts.sum() == 450
