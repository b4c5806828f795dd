"""The limits of binned areas hold what they should, and are no wider than they must be."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from matrics import ScoreState

RANDOM = np.random.default_rng(31)


def equal(bins: int) -> np.ndarray:
    """The edges of bins of equal width."""
    return np.arange(bins + 1) / bins


def areas(state: ScoreState) -> Any:
    return state.roc_auc(), state.average_precision()


# Every order of a few samples ---------------------------------------------------------------------------------------


def rankings(labels: tuple[int, ...]) -> Any:
    """All orders of labels, with all ties of neighbours: groups of equal scores, the highest first."""
    for order in set(itertools.permutations(labels)):
        for cuts in itertools.product([False, True], repeat=max(len(order) - 1, 0)):
            groups: list[list[int]] = [[]]
            for label, cut in zip(order, (*cuts, False)[: len(order)], strict=True):
                groups[-1].append(label)
                if cut:
                    groups.append([])
            yield [group for group in groups if group]


def exact(groups: list[list[int]]) -> tuple[float, float]:
    """The area under the ROC curve and the average precision, as they are defined."""
    positives, negatives = sum(map(sum, groups)), sum(len(group) - sum(group) for group in groups)
    tp = seen = pairs = precision = 0.0
    for group in groups:
        p, q = sum(group), len(group) - sum(group)
        pairs += q * (tp + p / 2)
        tp, seen = tp + p, seen + len(group)
        precision += p * tp / seen
    return (pairs / positives / negatives if negatives else math.nan), precision / positives


@cache
def extremes(bins: tuple[tuple[int, int], ...]) -> np.ndarray:
    """The least and the largest of both areas, over all orders in bins of so many negatives and positives."""
    inside = [list(rankings((0,) * q + (1,) * p)) for q, p in bins]
    found = np.asarray([exact(list(itertools.chain(*parts))) for parts in itertools.product(*inside)])
    return np.stack([found.min(0), found.max(0)])


CASES = [
    ((1, 1), (0, 1)),
    ((3, 2), (0, 0)),
    ((2, 3), (1, 0)),
    ((0, 3), (2, 0)),
    ((0, 1), (2, 2), (1, 0)),
    ((1, 0), (2, 1), (1, 2)),
    ((1, 2), (1, 1), (2, 1)),
    ((0, 2), (3, 1), (0, 2)),
    ((0, 3), (0, 2), (0, 0)),
]


@pytest.mark.parametrize("bins", CASES)
def test_limits_are_the_extremes_of_all_orders(bins: tuple[tuple[int, int], ...]) -> None:
    """Negatives first and positives first are the extremes, ties included; the logarithm is below by little."""
    centres = [0.75 - k / 4 for k in range(len(bins))]  # the highest bin first; not at its edge, which would be a tie
    labels = [label for q, p in bins for label in (0,) * q + (1,) * p]
    scores = [centre + 0.1 for centre, (q, p) in zip(centres, bins, strict=True) for _ in range(q + p)]
    roc, ap = areas(ScoreState.zeros(edges=equal(4)).update(labels, scores))
    least, largest = extremes(bins)
    np.testing.assert_allclose([roc.low, roc.high], [least[0], largest[0]], rtol=1e-13)
    assert ap.high == pytest.approx(largest[1], rel=1e-13)
    assert least[1] - 0.01 <= ap.low <= least[1] + 1e-13


def test_the_lower_limit_of_large_bins() -> None:
    """One bin of thousands, negatives first: the sum itself, term by term, is above by less than 1e-6."""
    for positives, negatives in ((10_000, 300), (300, 10_000), (2, 10**6), (5_000, 5_000)):
        state = ScoreState.zeros(edges=equal(1))
        state = state.update(np.ones(positives, int), np.full(positives, 0.5))
        state = state.update(np.zeros(negatives, int), np.full(negatives, 0.5))
        rank = np.arange(1, positives + 1)
        wanted = math.fsum(rank / (rank + negatives)) / positives
        assert wanted - 1e-6 < float(state.average_precision().low) <= wanted + 1e-14


# Random cases -------------------------------------------------------------------------------------------------------

SIZE, AT_ONCE = 64, 160


@cache
def random_cases(number: int) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Labels, scores and areas: calibrated, saturated, tied, beyond the edges, and in the worst order of each bin."""
    random = np.random.default_rng(number)
    scores = random.random((number, SIZE))
    labels = (random.random((number, SIZE)) < random.choice([0.05, 0.3, 0.5, 0.9], (number, 1))).astype(int)
    kind = np.arange(number) % 8
    labels[kind == 1] = scores[kind == 1] > random.random((np.sum(kind == 1), SIZE))
    scores[kind == 2] = (scores[kind == 2] > 0.5) * 1.0
    scores[kind == 3] = np.clip(3 * scores[kind == 3] - 1, 0, 1)
    scores[kind == 4] = np.round(scores[kind == 4], 1)
    scores[kind == 5] = 8 * scores[kind == 5] - 4
    # Within the bins of 5 and of 20, those of one class are above those of the other by a hundredth of a bin.
    for which, sign in ((6, 1), (7, -1)):
        middle = (np.floor(20 * scores[kind == which]) + 0.5) / 20
        scores[kind == which] = middle + sign * (labels[kind == which] - 0.5) * 1e-3
    scores[kind == 5, :2] = [-np.inf, np.inf]
    labels[:, 0], labels[:, 1] = 0, 1
    labels[random.random((number, SIZE)) < 0.1] = -100  # of other sizes
    labels[:, 2], labels[:, 3] = 1, 0
    scores = scores.astype(np.float32)
    return labels, scores, peers(labels, scores)


def peers(labels: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    metrics = pytest.importorskip("sklearn.metrics")
    both = []
    for row, kept in enumerate(labels >= 0):
        one = labels[row, kept], np.clip(scores[row, kept].astype(np.float64), -1e9, 1e9)
        both.append((metrics.roc_auc_score(*one), metrics.average_precision_score(*one)))
    return tuple(np.asarray(both).T)


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [160, pytest.param(1600, marks=pytest.mark.exhaustive)])
def test_limits_hold_the_areas_of_the_scores(backend: Any, number: int) -> None:
    """On NumPy in float64 and, under jit, in default JAX in float32: no rounding brings a limit past the area."""
    if number > AT_ONCE and backend.name in ("strict", "torch", "jax-x64"):
        pytest.skip("NumPy, PyTorch and default JAX have tried it")
    labels, scores, wanted = random_cases(number)
    scores = scores.astype(np.float64 if backend.float64 else np.float32)
    jitted = backend.jit(lambda state, *batch: areas(state.update(*batch, ignore_index=-100)))
    for kept in ({"edges": equal(1)}, {"edges": equal(20)}, {"bits": 4}, {"bits": 6}):
        state = ScoreState.zeros(**kept, num_bins=0, batch_shape=(AT_ONCE,), like=backend.asarray(0))
        for start in range(0, number, AT_ONCE):
            part = slice(start, start + AT_ONCE)
            batch = backend.asarray(labels[part]), backend.asarray(scores[part])
            for found, areas_of in zip(jitted(state, *batch), wanted, strict=True):
                value, low, high = (backend.numpy(x).astype(np.float64) for x in found)
                assert (low <= areas_of[part]).all()
                assert (areas_of[part] <= high).all()
                assert ((low <= value) & (value <= high)).all()
                if "bits" in kept:  # scores of 0 and 1 alone are known to be equal
                    assert (high - low)[2::8].max() < (1e-12 if backend.float64 else 1e-5)


def test_the_gap_is_the_share_of_pairs_within_a_bin() -> None:
    labels, scores = RANDOM.integers(0, 2, 500), RANDOM.random(500) * 0.999 + 0.0001
    state = ScoreState.zeros(edges=equal(25)).update(labels, scores)
    same = np.floor(25 * scores[labels == 1])[:, None] == np.floor(25 * scores[labels == 0])
    value, low, high = state.roc_auc()
    assert high - low == pytest.approx(same.mean(), rel=1e-12)
    assert value == pytest.approx((low + high) / 2, rel=1e-12)


@pytest.mark.sampled(2)
def test_bins_of_one_sample_leave_nothing_open(backend: Any) -> None:
    labels, scores = np.arange(50) % 3 % 2, RANDOM.permutation(50) / 50 + 0.01
    state = ScoreState.zeros(edges=equal(100), like=backend.asarray(0))
    state = backend.jit(ScoreState.update)(state, backend.asarray(labels), backend.asarray(scores))
    wanted = [part[0] for part in peers(labels[None], scores[None])]
    for found, exact in zip(areas(state), wanted, strict=True):
        for part in found:
            assert float(part) == pytest.approx(exact, rel=1e-12 if backend.float64 else 1e-5)


def test_averages_over_classes() -> None:
    """Those of scikit-learn, with bins so narrow that no two scores share one."""
    metrics = pytest.importorskip("sklearn.metrics")
    y_true, scores = np.arange(90) % 4, RANDOM.permutation(360).reshape(90, 4) / 360 + 1e-3
    state = ScoreState.zeros(edges=equal(3600), num_classes=4).update(y_true, scores)
    hot = np.eye(4, dtype=int)[y_true]
    for average in ("macro", "weighted", "micro", "class"):
        for found, peer in zip((state.roc_auc, state.average_precision), ("roc_auc", "average_precision"), strict=True):
            wanted = getattr(metrics, f"{peer}_score")(hot, scores, average=None if average == "class" else average)
            for part in found(average=average):
                np.testing.assert_allclose(part, wanted, rtol=1e-12)


@pytest.mark.sampled(1)
def test_undefined_areas(backend: Any) -> None:
    """One class alone has no area under the ROC curve; negatives alone have no precision; others are as they were."""
    labels = backend.asarray([[0, 0, 0], [1, 1, 1], [0, 1, 1], [-1, -1, -1]])
    scores = backend.asarray(np.broadcast_to([0.1, 0.5, 0.9], (4, 3)))
    state = ScoreState.zeros(batch_shape=(4,), bits=8, like=labels)
    state = backend.jit(ScoreState.update)(state, labels, scores)
    for zero_division in (math.nan, 0.25):
        roc, ap = state.roc_auc(zero_division=zero_division), state.average_precision(zero_division=zero_division)
        for part in (*roc, *ap):
            assert tuple(part.shape) == (4,)
        wanted = [zero_division, zero_division, 1, zero_division]
        np.testing.assert_allclose([backend.numpy(part) for part in roc], [wanted] * 3, rtol=1e-5)
        wanted = [zero_division, 1, 1, zero_division]
        np.testing.assert_allclose([backend.numpy(part) for part in ap], [wanted] * 3, rtol=1e-5)


def test_undefined_classes_are_left_out_of_means() -> None:
    scores = RANDOM.random((40, 3))
    state = ScoreState.zeros(num_classes=3).update(np.arange(40) % 2, scores)  # class 2 never occurs
    each = state.roc_auc(average="class")
    assert np.isnan(each.value).tolist() == [False, False, True]
    assert state.roc_auc().value == pytest.approx(each.value[:2].mean())
    assert state.roc_auc(zero_division=0).value == pytest.approx(each.value[:2].sum() / 3)
    assert np.isnan(ScoreState.zeros(num_classes=3).roc_auc().value)


def test_bad_weights_spoil_their_own_batch_element() -> None:
    state = ScoreState.zeros(batch_shape=(4,), dtype=np.float64)
    weights = [[1, 1, 1], [1, np.nan, 1], [1, -1, 1], [np.inf, 1, 1]]
    state = state.update(np.asarray([0, 1, 1]), np.full((4, 3), [0.2, 0.8, 0.9]), sample_weight=weights)
    for found in areas(state):
        for part in found:
            np.testing.assert_allclose(part, [1, np.nan, np.nan, np.nan])


@pytest.mark.sampled(2)
def test_weighted_areas_are_those_of_scikit_learn(backend: Any) -> None:
    """Weights of quarters have exact sums; the limits hold for them as well."""
    metrics = pytest.importorskip("sklearn.metrics")
    labels, scores = RANDOM.integers(0, 2, 200), RANDOM.random(200).astype(np.float32)
    weights = RANDOM.integers(0, 9, 200) / 4
    xp = backend.asarray(np.zeros(1, np.float32))
    state = ScoreState.zeros(edges=equal(50), like=xp, dtype=xp.dtype)
    batch = [backend.asarray(x) for x in (labels, scores, weights)]
    state = backend.jit(lambda state, y, s, w: state.update(y, s, sample_weight=w))(state, *batch)
    for found, peer in zip(areas(state), ("roc_auc", "average_precision"), strict=True):
        value, low, high = (float(part) for part in found)
        wanted = getattr(metrics, f"{peer}_score")(labels, scores, sample_weight=weights)
        assert low <= wanted <= high
        assert high - low < 0.1
        assert low < value < high
