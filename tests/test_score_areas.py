"""Areas of running states and metrics are right at any scale of the scores; exact for half precision."""

from __future__ import annotations

import importlib
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matrics
from matrics import ScoreState

sk = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(46)

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


@pytest.mark.sampled(1)
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


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scale", SCALES)
def test_ten_classes(scale: float) -> None:
    """Against log-odds; at the larger scales the softmax itself is 0 and 1, and its area wrong."""
    y_true, logits, odds = ten_classes(scale)
    state = ScoreState.zeros(num_classes=10).update(y_true, logits=logits)
    exact = [sk.roc_auc_score(y_true == k, odds[:, k]) for k in range(10)]
    np.testing.assert_allclose(state.roc_auc(average="class").value, exact, atol=1e-5)
    precisions = [sk.average_precision_score(y_true == k, odds[:, k]) for k in range(10)]
    np.testing.assert_allclose(state.average_precision(average="class").value, precisions, atol=1e-3)
    for area, peer in ((state.roc_auc, "roc_auc"), (state.average_precision, "average_precision")):
        wanted = [getattr(sk, f"{peer}_score")(y_true == k, odds[:, k]) for k in range(10)]
        bounds = area(average="class")
        assert (bounds.low <= wanted).all()
        assert (bounds.high >= wanted).all()
        assert (bounds.high - bounds.low < 1e-3).all()
    micro = sk.roc_auc_score(np.eye(10)[y_true].ravel(), odds.ravel())
    assert state.roc_auc(average="micro").value == pytest.approx(micro, abs=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", SCALES)
def test_ten_classes_on_every_backend(backend: Any, scale: float) -> None:
    """Log-odds in float32 may be in the bucket next to the right one: exp and log are rounded differently."""
    y_true, logits, odds = (x[:500] for x in ten_classes(scale))
    empty = ScoreState.zeros(num_classes=10, num_bins=0, like=backend.asarray(0))
    state = backend.jit(lambda state, y, z: state.update(y, logits=z))(
        empty, backend.asarray(y_true), backend.asarray(logits)
    )
    for area, peer in ((state.roc_auc, "roc_auc"), (state.average_precision, "average_precision")):
        wanted = [getattr(sk, f"{peer}_score")(y_true == k, odds[:, k]) for k in range(10)]
        value, low, high = map(backend.numpy, area(average="class"))
        np.testing.assert_allclose(value, wanted, atol=1e-3)
        # Of the 22,000 pairs of a class a float32 may order a few the other way.
        slack = 1e-12 if backend.float64 else 1e-4
        assert (low <= np.asarray(wanted) + slack).all()
        assert (high >= np.asarray(wanted) - slack).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("scale", "shift", "share"), CASES[:1] + CASES[3:])
def test_logits_on_every_backend(backend: Any, scale: float, shift: float, share: float) -> None:
    y_true, logits = two_classes(scale, shift, share, 4000)
    empty = ScoreState.zeros(num_bins=0, like=backend.asarray(0))
    state = backend.jit(lambda state, y, z: state.update(y, logits=z))(
        empty, backend.asarray(y_true), backend.asarray(logits)
    )
    for area, peer, near in (
        (state.roc_auc(), "roc_auc", 1e-4),
        (state.average_precision(), "average_precision", 1e-3),
    ):
        exact = getattr(sk, f"{peer}_score")(y_true, logits)
        value, low, high = (float(x) for x in area)
        assert value == pytest.approx(exact, abs=near)
        assert low - 1e-6 <= exact <= high + 1e-6


def test_probabilities_near_0_and_1_are_told_apart() -> None:
    """Of a logistic regression of digits, most probabilities are: 3e-3 of all pairs share one of 1,000 equal bins."""
    linear = pytest.importorskip("sklearn.linear_model")
    X, y = pytest.importorskip("sklearn.datasets").load_digits(return_X_y=True)
    unseen = np.arange(len(y)) % 3 > 0
    scores = linear.LogisticRegression(max_iter=3000).fit(X[~unseen], y[~unseen]).predict_proba(X[unseen])
    gaps = []
    for kept in ({"edges": np.arange(1001) / 1000}, {}):
        _, low, high = ScoreState.zeros(num_classes=10, **kept).update(y[unseen], scores).roc_auc()
        gaps.append(high - low)
    assert gaps[1] < 1e-3 < gaps[0]


@pytest.mark.sampled(1)
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


def exact_areas(y_true: Any, scores: Any) -> tuple[Fraction, Fraction]:
    """The areas in fractions, by comparing all pairs and by the precision at each positive."""
    y_true, scores = (np.asarray(x).tolist() for x in (y_true, scores))  # sums of NumPy's integers make no fractions
    positives = [s for y, s in zip(y_true, scores, strict=True) if y]
    negatives = [s for y, s in zip(y_true, scores, strict=True) if not y]
    wins = sum(2 * (p > n) + (p == n) for p in positives for n in negatives)
    above = ((sum(q >= p for q in positives), sum(s >= p for s in scores)) for p in positives)
    precision = sum((Fraction(right, all_) for right, all_ in above), start=Fraction(0))
    return Fraction(wins, 2 * len(positives) * len(negatives)), precision / len(positives)


@given(
    samples=st.lists(st.tuples(st.booleans(), st.floats(allow_nan=False)), min_size=1, max_size=30),
    bits=st.sampled_from([4, 10, 15]),
    dtype=st.sampled_from([np.float32, np.float64]),
    parts=st.integers(1, 3),
)
def test_bounds_hold_for_any_numbers(samples: list[tuple[bool, float]], bits: int, dtype: Any, parts: int) -> None:
    """Subnormal and infinite ones, and those beyond the range of float32, included; in several batches."""
    y_true = np.asarray([False, True, *(y for y, _ in samples)])
    with np.errstate(over="ignore", under="ignore"):
        scores = np.asarray([samples[0][1], samples[-1][1], *(s for _, s in samples)]).astype(dtype)
    empty = ScoreState.zeros(bits=bits, num_bins=0)
    batches = zip(np.array_split(y_true, parts), np.array_split(scores, parts), strict=True)
    state = sum((empty.update(*batch) for batch in batches), start=empty)
    for area, exact in zip((state.roc_auc(), state.average_precision()), exact_areas(y_true, scores), strict=True):
        # The bounds are sums in float64, and they hold up to its rounding.
        assert area.low - 1e-12 <= exact <= area.high + 1e-12
        assert area.low <= area.value <= area.high


@pytest.mark.sampled(1)
def test_scores_on_edges_have_no_error(backend: Any) -> None:
    """With ties, on edges and thresholds; one score that is on none of them leaves its bin open."""
    y_true = RANDOM.integers(0, 2, 200)
    scores = (RANDOM.integers(0, 9, 200) / 8).astype(np.float32)
    near = 1e-12 if backend.float64 else 1e-6
    kept: Any = {"edges": [0, 0.125, 0.25, 0.5, 0.625, 1], "thresholds": [0.375, 0.75, 0.875], "num_bins": 0}
    empty = ScoreState.zeros(**kept, like=backend.asarray(0))
    state = backend.jit(ScoreState.update)(empty, backend.asarray(y_true), backend.asarray(scores))
    exact = exact_areas(y_true, scores)
    for area, wanted in zip((state.roc_auc(), state.average_precision()), exact, strict=True):
        assert [float(x) for x in area] == pytest.approx([float(wanted)] * 3, abs=near)
    scores[0] = 0.9
    state = backend.jit(ScoreState.update)(empty, backend.asarray(y_true), backend.asarray(scores))
    area = state.roc_auc()
    assert float(area.low) <= exact_areas(y_true, scores)[0] <= float(area.high)
    assert float(area.high) - float(area.low) > 1e-4


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
    """A NaN or an inexact score in one leaves the bounds of the others exact."""
    y_true, scores = np.asarray([[0, 1, 1]] * 3), np.asarray([[0.25, 0.75, 0.5], [0.3, np.nan, 0.7], [0.5, 0.25, 0.75]])
    state = ScoreState.zeros(batch_shape=(3,)).update(y_true, scores)
    assert state.dropped.tolist() == [0, 1, 0]
    assert state.rounded.tolist() == [0, 1, 0]
    area = state.roc_auc()
    np.testing.assert_allclose(np.asarray(area)[:, 0], 1, atol=1e-12)
    np.testing.assert_allclose(np.asarray(area)[:, 2], 0.5, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("weight", [np.nan, np.inf, -1])
@pytest.mark.parametrize("kept", [{"bits": 8}, {"edges": [0.0, 0.5, 1.0]}, {"bits": 8, "num_classes": 3}])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_bad_weight_spoils_its_own_batch_element_alone(backend: Any, weight: float, kept: dict[str, Any]) -> None:
    y_true, weights = np.asarray([[0, 1, 1, 0]] * 3), np.ones((3, 4), np.float32)
    scores = RANDOM.random((3, 4) if "num_classes" not in kept else (3, 4, 3)).astype(np.float32)
    weights[1, 2] = weight
    like = backend.asarray(np.zeros(1, np.float32))

    def areas(weights: np.ndarray) -> list[np.ndarray]:
        state = ScoreState.zeros(**kept, batch_shape=(3,), like=like, dtype=like.dtype)
        batch = [backend.asarray(x) for x in (y_true, scores, weights)]
        update = backend.jit(lambda state, y, s, w: state.update(y, s, sample_weight=w))
        state, average = update(state, *batch), "micro" if "num_classes" in kept else None
        given_: Any = {} if average is None else {"average": average}
        return [backend.numpy(x) for x in (*state.roc_auc(**given_), *state.average_precision(**given_))]

    for found, wanted in zip(areas(weights), areas(np.ones((3, 4), np.float32)), strict=True):
        np.testing.assert_array_equal(found[[0, 2]], wanted[[0, 2]])
        assert np.isnan(found[1])
        assert np.isfinite(wanted[1])


@pytest.mark.parametrize("far", [1.5, 1.0, 1e-50])
def test_log_odds_that_float32_cannot_tell_apart(far: float) -> None:
    """They share a bucket, and the bounds say so; they are not taken for equal."""
    logits = np.asarray([[0, far], [0, far * (1 + 1e-9)]])
    area = ScoreState.zeros(num_classes=2).update([0, 1], logits=logits).roc_auc(average="class")
    assert ((area.low <= 1e-12) | (area.value == 1)).all()
    assert (area.high >= 1).all()


def test_masked_and_infinite_logits() -> None:
    """A logit of -inf is a class that cannot be; one of inf, and rows of -inf alone, have no probabilities."""
    y_true = [0, 1, 2, 0, 1, 0]
    logits = np.float32([[2, 1, -np.inf], [0, 3, -np.inf], [0, 1, 5], [np.inf, 0, 0], [-np.inf] * 3, [1, np.nan, 0]])
    state = ScoreState.zeros(num_classes=3, losses=True).update(y_true, logits=logits)
    assert state.dropped == 3
    assert state.roc_auc(average="class").value.tolist() == [1, 1, 1]
    assert np.isfinite(state.log_loss())
    assert state.log_loss() == pytest.approx(
        matrics.probabilities.log_loss(y_true[:3], logits=logits[:3].astype(float))
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("library", ["torch", "torchmetrics", "flax"])
@pytest.mark.filterwarnings("error")
def test_metrics_of_training_loops(library: str) -> None:
    """As the state: each metric counts logits, and not the probabilities that are 0 and 1."""
    jax_or_torch = pytest.importorskip({"flax": "jax.numpy"}.get(library, "torch"))
    for name in {"flax": ("flax",), "torchmetrics": ("torchmetrics",)}.get(library, ()):
        pytest.importorskip(name)
    make = importlib.import_module(f"matrics.{library}").ScoreMetric

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
    make = importlib.import_module("matrics.torch").ScoreMetric
    y_true, logits = map(torch.from_numpy, two_classes(0.5, 98, 0.5))
    metric = make(metrics="average_precision, roc_auc", from_logits=True, bits=8)
    metric.update(y_true, logits)
    with pytest.warns(RuntimeWarning, match=r"is between 0\.\d+ and 0\.\d+\. .* more bits=") as said:
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
    make = importlib.import_module("matrics.torch").ScoreMetric
    y_true, logits = map(torch.from_numpy, two_classes(1, 0, 0.5, 300))
    before, after = make(from_logits=True, bits=8), make(from_logits=True, bits=8)
    before.update(y_true, logits)
    after.update(y_true, logits)
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        after.sync()
    finally:
        distributed.destroy_process_group()
    assert before.counts_of_all is None
    assert after.counts_of_all is not None
    wanted = before.log_dict()
    assert after.log_dict() == pytest.approx(wanted, abs=1e-12)
    for source in (before, after):
        for target in (make(from_logits=True, bits=8), after.clone(), before.clone()):
            target.load_state_dict(source.state_dict())
            assert (target.counts_of_all is None) == (source is before)
            assert target.log_dict() == pytest.approx(wanted, abs=1e-12)
    twice = before.clone().merge_state(after)
    assert torch.equal(twice.state.counts, 2 * before.state.counts)


def test_memory_of_the_counts() -> None:
    torch = pytest.importorskip("torch")
    del torch
    make = importlib.import_module("matrics.torch").ScoreMetric
    for n, most in ((None, 17), (2, 4), (10, 19), (100, 64), (1000, 64)):
        metric = make(n, from_logits=True)
        assert sum(buffer.nbytes for buffer in metric.buffers()) < most * 2**20 + 2**16


def test_a_failed_update_changes_nothing() -> None:
    torch = pytest.importorskip("torch")
    make = importlib.import_module("matrics.torch").ScoreMetric
    metric = make(from_logits=True, decay=0.5, bits=8)
    y_true, logits = map(torch.from_numpy, two_classes(1, 0, 0.5, 300))
    metric.update(y_true, logits)
    counts = {name: buffer.clone() for name, buffer in metric.named_buffers()}
    for batch in ((y_true, logits[:9]), (y_true / 2, logits), (y_true, y_true)):
        with pytest.raises((TypeError, ValueError)):
            metric.update(*batch)
    for name, buffer in metric.named_buffers():
        assert torch.equal(buffer, counts[name])
    metric.update(y_true, logits)
    assert metric.state.counts.sum() == 450
