"""Top-k accuracy and recall: scikit-learn as referee, and all orders of tied classes."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics

sklearn = pytest.importorskip("sklearn")
pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(0)


@pytest.fixture
def many(request: pytest.FixtureRequest) -> int:
    """Of 1,000 cases in the exhaustive run, the default one takes some: scikit-learn takes a millisecond for each."""
    return 1000 if request.config.option.exhaustive else 200


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_as_scikit_learn(n: int, many: int) -> None:
    """A quarter of all cases with each number of classes, with weights, every k."""
    shape = (many // 4, 20)
    y_true, scores = RANDOM.integers(0, n, shape), RANDOM.normal(size=(*shape, n))
    weights = RANDOM.integers(0, 4, shape) + (np.arange(20) == 0)
    ks = range(1, n)
    found = matrics.ranking.top_k_accuracy(y_true, scores, ks, sample_weight=weights)
    recall = matrics.ranking.top_k_recall(y_true, scores, ks, average="class", sample_weight=weights)
    macro = matrics.ranking.top_k_recall(y_true, scores, ks, sample_weight=weights)
    for i, (y, s, w) in enumerate(zip(y_true, scores, weights, strict=True)):
        k = 1 + i % (n - 1)
        wanted = sklearn.metrics.top_k_accuracy_score(y, s, k=k, labels=range(n), sample_weight=w)
        np.testing.assert_allclose(found[i, k - 1], wanted, rtol=1e-12)
        is_hit = (np.argsort(s)[:, -k:] == y[:, None]).any(-1)
        own = [np.where(y == c, w, 0) for c in range(n)]
        by_class = [np.average(is_hit, weights=one) if one.any() else np.nan for one in own]
        np.testing.assert_allclose(recall[i, k - 1], by_class, rtol=1e-12)
        np.testing.assert_allclose(macro[i, k - 1], np.nanmean(by_class), rtol=1e-12)


def by_random_order(label: int, scores: np.ndarray, k: int) -> Fraction:
    """The share of all orders of the classes, descending by score, in which the label is among the first k."""
    orders = [
        order
        for order in itertools.permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    return Fraction(sum(label in order[:k] for order in orders), len(orders))


@pytest.mark.sampled(2)
def test_ties_are_the_mean_over_their_orders(backend: Any) -> None:
    y_true, scores = RANDOM.integers(0, 4, 40), RANDOM.integers(0, 3, (40, 4)) / 2
    found = backend.numpy(
        backend.call(
            lambda y, s: matrics.ranking.top_k_accuracy(y, s, [1, 2, 3, 4]),
            backend.asarray(y_true[:, None]),
            backend.asarray(scores[:, None]),
        )
    )
    wanted = [[by_random_order(y, s, k) for k in (1, 2, 3, 4)] for y, s in zip(y_true, scores, strict=True)]
    np.testing.assert_allclose(found, np.asarray(wanted, dtype=float), rtol=1e-6)
    assert set(np.ravel(wanted)) - {0, 1}


def test_infinite_scores() -> None:
    scores = [[np.inf, np.inf, 0.0], [-np.inf, 0.0, 1.0]]
    assert matrics.ranking.top_k_accuracy([0, 0], scores, 1) == 0.25
    assert matrics.ranking.top_k_accuracy([0, 0], scores, 2) == 0.5


def test_undefined_classes() -> None:
    y_true, scores = [0, 0, 1], [[0.5, 0.25, 0.0], [0.0, 0.5, 0.25], [0.5, 0.25, 0.0]]
    np.testing.assert_array_equal(matrics.ranking.top_k_recall(y_true, scores, 1, average="class"), [0.5, 0, np.nan])
    assert matrics.ranking.top_k_recall(y_true, scores, 1) == 0.25
    assert matrics.ranking.top_k_recall(y_true, scores, 1, zero_division=1) == 0.5
    assert matrics.ranking.top_k_recall(y_true, scores, 1, average="weighted") == matrics.ranking.top_k_accuracy(
        y_true, scores, 1
    )
    none = [], np.zeros((0, 3))
    assert np.isnan(matrics.ranking.top_k_accuracy(*none, 3))
    assert matrics.ranking.top_k_accuracy(*none, 3, zero_division=0) == 0
    assert np.isnan(matrics.ranking.top_k_recall(*none, 3))
    assert matrics.ranking.top_k_recall(*none, 3, average="class", zero_division=0).tolist() == [0, 0, 0]


def test_more_places_than_classes() -> None:
    """All samples would be hits, so that k is probably a mistake: of functions, states and metrics."""
    y_true, scores = [0, 1, 2], np.eye(3)
    assert matrics.ranking.top_k_accuracy(y_true, scores, 3) == 1
    for call in (
        lambda: matrics.ranking.top_k_accuracy(y_true, scores),
        lambda: matrics.ranking.top_k_accuracy(y_true, scores, [1, 5]),
        lambda: matrics.ranking.top_k_recall(y_true, scores, 5),
        lambda: matrics.ScoreState.zeros(num_classes=3, top_k=[1, 5]),
    ):
        with pytest.raises(ValueError, match=r"^(k|top_k): expected at most 3, the number of classes, .*, got 5$"):
            call()
    for name in ("torch", "torchmetrics", "flax"):
        if importlib.util.find_spec(name) is not None:
            metric = importlib.import_module(f"matrics.{name}").ScoreMetric
            with pytest.raises(ValueError, match="top_k: expected at most 3"):
                metric(3, "top_k_accuracy(k=5)")


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_one_truth_many_models(backend: Any) -> None:
    y_true, scores = RANDOM.integers(0, 5, 12), RANDOM.normal(size=(2, 3, 12, 5))
    scores[1, 2, 4, 0] = np.nan
    found = backend.numpy(
        matrics.ranking.top_k_recall(backend.asarray(y_true), backend.asarray(scores), 2, average="class")
    )
    wanted = [
        [[(np.argsort(s[y_true == c])[:, -2:] == c).any(-1).mean() for c in range(5)] for s in of_batch]
        for of_batch in scores
    ]
    wanted = np.asarray(wanted)
    wanted[1, 2] = np.nan
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0, 1], [0.5, 0.25], 1), {}, ValueError, r"y_score: expected scores of classes .*, got shape \(2,\)"),
        (([0], [[0.5, 0.25]], 0), {}, ValueError, "k: expected an integer of at least 1, got 0"),
        (([0], [[0.5, 0.25]], [1, 2.5]), {}, ValueError, "k: expected an integer of at least 1, got 2.5"),
        (([0], [[0.5, 0.25]], []), {}, ValueError, "k: expected .* or several of them, got none"),
        (([0], [[0.5, 0.25]], 1), {"zero_division": "warn"}, TypeError, "zero_division: expected a number"),
        (([2], [[0.5, 0.25]], 1), {}, ValueError, r"y_true: expected labels in \[0, 2\), got 2"),
        (([0], [[1, 2]], 1), {}, TypeError, "y_score: expected floating scores"),
        (
            ([0], [[0.5, 0.25]], 1),
            {"average": "micro"},
            ValueError,
            "average: expected one of 'auto', 'macro', 'weighted', 'class', None",
        ),
    ],
)
def test_what_is_refused(arguments: Any, options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.ranking.top_k_recall(*arguments, **options)


def test_several_k_of_numpy() -> None:
    y_true, scores = [0, 1, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2]]
    np.testing.assert_allclose(matrics.ranking.top_k_accuracy(y_true, scores, np.arange(1, 4)), [0.5, 1, 1])
