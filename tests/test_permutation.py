"""The p-value of a measure under shuffles: by all shuffles, and beside scikit-learn."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._folds.permutation import shuffled

RANDOM = np.random.default_rng(0)
Y, PREDICTED = np.asarray([0, 0, 0, 0, 1, 1, 2, 2]), np.asarray([0, 0, 0, 1, 1, 1, 2, 0])


@pytest.mark.parametrize("metric", ["accuracy", "mcc", "zero_one_loss", "f1:macro"])
def test_it_is_the_share_of_all_shuffles(metric: str) -> None:
    own = float(matrics.score(matrics.confusion_matrix(Y, PREDICTED, num_classes=3), metric)[metric])
    every = np.asarray(sorted(set(itertools.permutations(PREDICTED.tolist()))))
    values = np.asarray(matrics.score(matrics.confusion_matrix(Y, every, num_classes=3), metric)[metric])
    side = 1 if matrics.get_metric(metric).higher_is_better else -1
    exact = np.mean(side * values >= side * own - 1e-12)
    found = matrics.stats.permutation_test(Y, PREDICTED, metric, num_classes=3, num=40_000, rng=0)
    assert found.score == pytest.approx(own)
    assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))
    assert found.mean == pytest.approx(values.mean(), abs=0.01)
    assert found.deviation == pytest.approx(values.std(), abs=0.01)


def test_shuffles_keep_the_sums() -> None:
    cm = RANDOM.integers(0, 9, (4, 4))
    drawn = shuffled(cm, 500, RANDOM)
    assert (drawn >= 0).all()
    np.testing.assert_array_equal(drawn.sum(1), np.broadcast_to(cm.sum(0), (500, 4)))
    np.testing.assert_array_equal(drawn.sum(2), np.broadcast_to(cm.sum(1), (500, 4)))
    expected = np.outer(cm.sum(1), cm.sum(0)) / cm.sum()
    np.testing.assert_allclose(drawn.mean(0), expected, atol=0.5)


def test_beside_shuffled_labels() -> None:
    """The same as shuffling the labels one by one."""
    y_true, y_pred = RANDOM.integers(0, 2, 60), RANDOM.integers(0, 2, 60)
    y_pred = np.where(RANDOM.random(60) < 0.25, y_true, y_pred)
    own = matrics.mcc(matrics.confusion_matrix(y_true, y_pred, num_classes=2))
    drawn = np.stack([RANDOM.permutation(y_pred) for _ in range(20_000)])
    values = matrics.mcc(matrics.confusion_matrix(y_true, drawn, num_classes=2))
    expected = (1 + np.count_nonzero(values >= own - 1e-12)) / 20_001
    found = matrics.stats.permutation_test(y_true, y_pred, "mcc", num_classes=2, num=20_000, rng=1)
    assert found.p_value == pytest.approx(expected, abs=5 * math.sqrt(expected / 20_000))


def test_models_and_labels_of_any_kind() -> None:
    names = np.asarray(["cat", "dog", "eel"])
    found = matrics.stats.permutation_test(
        names[Y], names[np.stack([PREDICTED, Y])], "accuracy", labels=list(names), rng=0
    )
    assert found.p_value.shape == (2,)
    assert found.p_value[1] < 0.01 < found.p_value[0]
    again = matrics.stats.permutation_test(
        names[Y], names[np.stack([PREDICTED, Y])], "accuracy", labels=list(names), rng=0
    )
    np.testing.assert_array_equal(found.p_value, again.p_value)
    assert len(found.to_frame()) == 2
    polars = pytest.importorskip("polars")
    one = matrics.stats.permutation_test(
        polars.Series(names[Y]), polars.Series(names[Y]), "mcc", labels=list(names), rng=0
    )
    assert one.score == 1


def test_the_smallest_p_value_is_not_0() -> None:
    y = np.arange(200) % 2
    assert matrics.stats.permutation_test(y, y, "accuracy", num_classes=2, num=99, rng=0).p_value == 0.01
    nothing = matrics.stats.permutation_test([0, 0], [0, 0], "mcc", num_classes=2, num=99, rng=0)
    assert np.isnan(nothing.p_value)  # the measure is undefined
    assert nothing.undefined == 99


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        ("recall:class", {}, "a single value"),
        ("accuracy,mcc", {}, "expected a single measure, got 2"),
        ("prevalence:macro", {}, "better direction"),
        ("accuracy", {"num": 0}, "num"),
        ("accuracy", {"num_classes": 2}, "y_true"),
    ],
)
def test_bad_input_raises(metric: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.stats.permutation_test(Y, PREDICTED, metric, **{"num_classes": 3, **options})


def test_labels_that_are_traced_are_refused() -> None:
    jax = pytest.importorskip("jax")
    y = np.arange(60) % 3
    with pytest.raises(TypeError, match="y_true: expected known values, outside jit"):
        jax.jit(lambda labels: matrics.stats.permutation_test(labels, y, "mcc", num_classes=3))(y)
    for predicted in (y, np.stack([y, y])):
        with pytest.raises(TypeError, match="y_pred: expected known values, outside jit"):
            jax.jit(lambda labels: matrics.stats.permutation_test(y, labels, "mcc", num_classes=3))(predicted)
    with pytest.raises(TypeError, match="y_pred: expected known values"):  # by this name, as one model has none
        jax.jit(lambda labels: matrics.stats.permutation_test(y, labels, "mcc", num_classes=3))(y)


@pytest.mark.parametrize(
    ("metric", "y_true", "y_pred"),
    [
        ("diagnostic_odds_ratio", [0, 1], [0, 1]),
        ("positive_likelihood_ratio", [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]),
    ],
)
def test_an_infinite_score_is_one_of_several(metric: str, y_true: list[int], y_pred: list[int]) -> None:
    """The shuffles with an infinite score are as good; all orders of the labels are counted."""
    options: dict[str, Any] = {"num_classes": 2, "positive": 1}
    orders = np.asarray(list(itertools.permutations(y_true)))
    cm = matrics.confusion_matrix(orders, np.broadcast_to(y_pred, orders.shape), num_classes=2)
    exact = np.mean([not value < math.inf for value in matrics.score(cm, metric, positive=1)[metric]])
    found = matrics.stats.permutation_test(y_true, y_pred, metric, rng=0, **options)
    assert found.score == math.inf
    assert found.p_value == pytest.approx(exact, abs=0.02)
