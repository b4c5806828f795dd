"""Scores in order on the host: exact whatever the scores are and however many, and the same in threads."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._arrays import NUMPY, Standard
from matrics._arrays.spare_bit import BLOCK, SpareBit
from matrics._ranking import rows

RANDOM = np.random.default_rng(0)

AREAS = [
    matrics.ranking.roc_auc,
    matrics.ranking.average_precision,
    matrics.ranking.roc_auc_variance,
    functools.partial(matrics.ranking.partial_roc_auc, max_fpr=0.3),
    functools.partial(matrics.ranking.precision_at_recall, recall=0.6),
    functools.partial(matrics.ranking.recall_at_precision, precision=0.6),
]


def drawn(kind: str, size: int, dtype: Any) -> np.ndarray:
    """Scores of a kind that takes a way of its own."""
    normal = RANDOM.normal(size=size)
    tiny = np.finfo(dtype).tiny
    made = {
        "below 2": lambda: np.tanh(normal),
        "any size": lambda: 50 * normal,
        "few values": lambda: np.round(normal),
        "some ties": lambda: np.where(RANDOM.random(size) < 0.05, 0.25, normal),
        "one value": lambda: np.full(size, -3.0),
        "both zeros": lambda: RANDOM.choice([0.0, -0.0, 1.0], size),
        "infinities": lambda: RANDOM.choice([np.inf, -np.inf, 0.5, -7.0, 3.9999], size),
        "nothing but infinities": lambda: RANDOM.choice([np.inf, -np.inf], size),
        "infinities and the largest": lambda: RANDOM.choice([np.inf, -np.inf, np.finfo(dtype).max, 1.0], size),
        "subnormal": lambda: RANDOM.choice([tiny / 8, tiny / 4, -tiny / 2, 0.0], size),
        "subnormal and large": lambda: RANDOM.choice([tiny / 8, tiny / 4, -tiny / 2, 1e9], size),
    }
    return made[kind]().astype(dtype)


KINDS = ["below 2", "any size", "few values", "some ties", "one value", "both zeros", "infinities"]
KINDS += ["nothing but infinities", "infinities and the largest", "subnormal", "subnormal and large"]


def area_by_pairs(y: np.ndarray, x: np.ndarray) -> float:
    """The share of pairs of a positive and a negative sample in order, one half for ties."""
    positive, negative = x[y == 1], x[y == 0]
    twice = int((positive[:, None] > negative).sum()) * 2 + int((positive[:, None] == negative).sum())
    return float(Fraction(twice, 2 * len(positive) * len(negative)))


def precision_by_samples(y: np.ndarray, x: np.ndarray) -> float:
    """The mean over positive samples of the precision at their scores."""
    found = [Fraction(int(y[x >= one].sum()), int((x >= one).sum())) for one in x[y == 1]]
    return float(sum(found) / len(found))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_areas_in_fractions(kind: str, dtype: Any) -> None:
    y = RANDOM.integers(0, 2, (5, 60))
    y[:, :2] = [0, 1]
    x = np.stack([drawn(kind, 60, dtype) for _ in y])
    # The count of pairs is exact, and divided once; of precisions 60 are added up.
    assert matrics.ranking.roc_auc(y, x).tolist() == [area_by_pairs(*row) for row in zip(y, x, strict=True)]
    want = [precision_by_samples(*row) for row in zip(y, x, strict=True)]
    np.testing.assert_allclose(matrics.ranking.average_precision(y, x), want, rtol=1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_long_vectors(kind: str, dtype: Any) -> None:
    """More than a block of scores: areas as ranks have them, and the points of the curve at each score."""
    size = BLOCK + 1001
    y, x = RANDOM.integers(0, 2, size), drawn(kind, size, dtype)
    values, places, numbers = np.unique(x, return_inverse=True, return_counts=True)
    positives, negatives = int(y.sum()), int((1 - y).sum())
    twice_ranks = (2 * np.cumsum(numbers) - numbers + 1)[places]  # mid-ranks
    twice = int(twice_ranks[y == 1].sum()) - positives * (positives + 1)
    assert matrics.ranking.roc_auc(y, x) == float(Fraction(twice, 2 * positives * negatives))
    above = np.cumsum(np.bincount(places, weights=y)[::-1])[::-1]
    predicted = np.cumsum(numbers[::-1])[::-1]
    want = (above / predicted)[places][y == 1].mean()
    np.testing.assert_allclose(matrics.ranking.average_precision(y, x), want, rtol=1e-12)
    curve = matrics.ranking.roc_curve(y, x)
    np.testing.assert_array_equal(curve.thresholds, [np.inf, *-np.sort(-x)])
    np.testing.assert_array_equal(curve.tpr[1:], (above / positives)[np.searchsorted(values, curve.thresholds[1:])])
    fpr = ((predicted - above) / negatives)[np.searchsorted(values, curve.thresholds[1:])]
    np.testing.assert_array_equal(curve.fpr[1:], fpr)


@pytest.mark.parametrize("kind", ["below 2", "any size", "some ties", "few values"])
def test_float32_beside_scikit_learn(kind: str) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    y, x = RANDOM.integers(0, 2, 5000), drawn(kind, 5000, np.float32)
    np.testing.assert_allclose(matrics.ranking.roc_auc(y, x), sk.roc_auc_score(y, x), rtol=1e-13)
    np.testing.assert_allclose(matrics.ranking.average_precision(y, x), sk.average_precision_score(y, x), rtol=1e-13)


def test_without_one_of_the_classes() -> None:
    y, x = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]]), np.array([0.5, 0.25, 0.75])
    np.testing.assert_array_equal(matrics.ranking.roc_auc(y, x), [np.nan, np.nan, 0])
    np.testing.assert_array_equal(matrics.ranking.roc_auc(y, x, zero_division=0.5), [0.5, 0.5, 0])
    np.testing.assert_array_equal(matrics.ranking.average_precision(y, x, zero_division=0.5), [0.5, 1, 1 / 3])
    curve = matrics.ranking.roc_curve(y, x, zero_division=-1)
    np.testing.assert_array_equal(curve.tpr[0], [-1] * 4)
    np.testing.assert_array_equal(curve.fpr[1], [-1] * 4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_keys_are_ordered_as_scores_and_become_them_again(kind: str, dtype: Any) -> None:
    x, labels = drawn(kind, 500, dtype), RANDOM.random(500) < 0.5
    way = SpareBit.of(x)
    keys = None if way is None else way.encode(x, labels)
    # Infinity has no place above the largest number, and what makes room for large ones leaves nothing of the smallest.
    has_room = (kind, dtype) != ("subnormal and large", np.float32) and kind != "infinities and the largest"
    assert (keys is not None) == has_room
    if way is None or keys is None:
        return
    np.testing.assert_array_equal(np.argsort(keys, kind="stable"), np.lexsort((~labels, -x)))
    np.testing.assert_array_equal(way.decode(keys, x.dtype), x)


@pytest.mark.parametrize("share", [0, 0.02, 0.5, 0.98, 1])
def test_the_next_end_is_the_same_by_either_way(share: float) -> None:
    is_end = RANDOM.random((4, 200)) >= share
    is_end[:, -1] = True
    arrays = RANDOM.integers(0, 9, (4, 200)), RANDOM.random((4, 200))
    kept = [x.copy() for x in arrays]
    for got, want, x, before in zip(
        NUMPY.at_ends(is_end, *arrays), Standard(np).at_ends(is_end, *arrays), arrays, kept, strict=True
    ):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(x, before)  # which it leaves alone


@pytest.mark.filterwarnings("ignore:.*got NaN")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("shape", [(9, 20_000), (3, 3, 30_000), (3000, 50)])
def test_threads_change_no_bit(area: Any, shape: tuple[int, ...]) -> None:
    y, x = RANDOM.integers(0, 2, shape), np.round(RANDOM.normal(size=shape), 2)
    x[0, ..., 3], x[1, ..., 4] = np.nan, np.inf
    for dtype in (np.float32, np.float64):
        alone = area(y, x.astype(dtype))
        for workers in (2, 3, -1):
            np.testing.assert_array_equal(area(y, x.astype(dtype), workers=workers), alone)


@pytest.mark.parametrize("options", [{}, {"average": "class"}, {"average": "weighted"}, {"multi_class": "one_vs_one"}])
def test_threads_of_classes(options: Any) -> None:
    y, x = RANDOM.integers(0, 5, 40_000), np.round(RANDOM.random((40_000, 5)), 2)
    weight = RANDOM.random(y.shape)
    for sample_weight in (None, weight):
        alone = matrics.ranking.roc_auc(y, x, sample_weight=sample_weight, **options)
        np.testing.assert_array_equal(
            matrics.ranking.roc_auc(y, x, sample_weight=sample_weight, workers=2, **options), alone
        )


def test_there_are_so_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[int] = []
    in_threads = rows.in_threads

    def counted(work: Any, parts: Any) -> None:
        shares.append(len(parts))
        in_threads(work, parts)

    monkeypatch.setattr(rows, "in_threads", counted)
    y, x = RANDOM.integers(0, 2, (9, 20_000)), RANDOM.normal(size=(9, 20_000))
    for workers in (1, 2, 100):
        matrics.ranking.roc_auc(y, x, workers=workers)
    assert shares == [1, 2, 3]  # of three rows each


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_bad_numbers_of_threads(multi_class: Any) -> None:
    for workers in (0, -2, 1.5):
        with pytest.raises(ValueError, match="workers: expected a number of threads"):
            matrics.ranking.roc_auc([0, 1, 2], np.eye(3), multi_class=multi_class, workers=workers)


@pytest.mark.parametrize("area", AREAS)
def test_an_infinite_score_changes_no_other_row(area: Any) -> None:
    y, x = RANDOM.integers(0, 2, (4, 3000)), np.round(RANDOM.normal(size=(4, 3000)), 1)
    alone = area(y, x)
    x[2, :5] = [np.inf, -np.inf, np.inf, 1e300, 0]
    np.testing.assert_array_equal(area(y, x)[[0, 1, 3]], alone[[0, 1, 3]])
