"""The k samples with the highest scores: beside averages over all orders of ties, scikit-learn, and their limits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import ranking
from matrics._ranking.inference.names import read_measures
from matrics._ranking.inference.replicates import curves_of, values_of
from matrics._ranking.inference.samples import Samples

RANDOM = np.random.default_rng(0)
NAMES = ("precision_at_k", "recall_at_k", "lift_at_k")


def over_all_orders(y_true: np.ndarray, y_score: np.ndarray, k: int) -> dict[str, float]:
    """The means over all orders of the samples in which no score is below a higher one."""
    hits = [
        y_true[list(order)][:k].sum()
        for order in itertools.permutations(range(len(y_true)))
        if (np.diff(y_score[list(order)]) <= 0).all()
    ]
    mean, number = np.mean(hits), y_true.sum()
    return {
        "precision_at_k": mean / k,
        "recall_at_k": mean / number,
        "lift_at_k": mean / k / (number / len(y_true)),
    }


@pytest.mark.sampled(6)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 6])
def test_ties_count_as_the_mean_over_their_orders(backend: Any, k: int) -> None:
    y_true = np.asarray([0, 1, 1, 0, 1, 0])
    for scores in ([3, 2, 2, 2, 1, 1], [1, 1, 1, 1, 1, 1], [5, 4, 3, 2, 1, 0], [1, 2, 2, 3, 3, 3]):
        y_score = np.asarray(scores, float)
        for name, expected in over_all_orders(y_true, y_score, k).items():
            found = getattr(ranking, name)(backend.asarray(y_true), backend.asarray(y_score), k)
            np.testing.assert_allclose(backend.numpy(found), expected, rtol=1e-6, err_msg=name)


def test_without_ties_they_are_those_of_a_threshold() -> None:
    """scikit-learn's precision and recall of the k highest scores."""
    metrics = pytest.importorskip("sklearn.metrics")
    y_true, y_score = RANDOM.integers(0, 2, 200), RANDOM.random(200)
    for k in (1, 17, 200):
        y_pred = y_score >= np.sort(y_score)[-k]
        assert ranking.precision_at_k(y_true, y_score, k) == pytest.approx(metrics.precision_score(y_true, y_pred))
        assert ranking.recall_at_k(y_true, y_score, k) == pytest.approx(metrics.recall_score(y_true, y_pred))
        lift = metrics.precision_score(y_true, y_pred) / y_true.mean()
        assert ranking.lift_at_k(y_true, y_score, k) == pytest.approx(lift)


def test_k_is_a_number_of_rows_of_weighted_samples() -> None:
    y_true, y_score = np.asarray([1, 0, 1, 1, 0]), np.asarray([0.9, 0.8, 0.7, 0.2, 0.1])
    weight = np.asarray([1.0, 10.0, 2.0, 3.0, 5.0])
    assert ranking.precision_at_k(y_true, y_score, 3, sample_weight=weight) == pytest.approx(3 / 13)
    assert ranking.recall_at_k(y_true, y_score, 3, sample_weight=weight) == pytest.approx(3 / 6)
    assert ranking.lift_at_k(y_true, y_score, 3, sample_weight=weight) == pytest.approx(3 / 13 / (6 / 21))
    tied = np.asarray([0.9, 0.9, 0.7, 0.2, 0.1])  # the mean of the sums of weights over both orders
    assert ranking.precision_at_k(y_true, tied, 1, sample_weight=weight) == pytest.approx(0.5 / 5.5)


def test_samples_that_are_left_out_have_no_place() -> None:
    y_true, y_score = np.asarray([2, 1, 0, 1, 0]), np.asarray([0.9, 0.8, 0.7, 0.2, 0.1])
    assert ranking.precision_at_k(y_true, y_score, 3, ignore_index=2) == pytest.approx(2 / 3)
    assert math.isnan(ranking.precision_at_k(y_true, y_score, 5, ignore_index=2))
    assert ranking.precision_at_k(y_true, y_score, 5, ignore_index=2, zero_division=0.0) == 0
    assert math.isnan(ranking.recall_at_k([0, 0], [0.1, 0.2], 1))
    assert ranking.precision_at_k([0, 0], [0.1, 0.2], 1) == 0


def test_batches_classes_and_labels() -> None:
    y_true, y_score = RANDOM.integers(0, 2, (4, 50)), RANDOM.random((4, 50)).round(1)
    for name in NAMES:
        function = getattr(ranking, name)
        expected = [function(a, b, 7) for a, b in zip(y_true, y_score, strict=True)]
        np.testing.assert_allclose(function(y_true, y_score, 7), expected)
    many, scores = RANDOM.integers(0, 3, 60), RANDOM.random((60, 3))
    each = [ranking.recall_at_k(many == k, scores[:, k], 10) for k in range(3)]
    np.testing.assert_allclose(ranking.recall_at_k(many, scores, 10, average=None), each)
    assert ranking.recall_at_k(many, scores, 10) == pytest.approx(np.mean(each))
    words = np.asarray(["ok", "fraud"])[y_true[0]]
    assert ranking.lift_at_k(words, y_score[0], 7, positive="fraud") == ranking.lift_at_k(y_true[0], y_score[0], 7)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "k: expected an integer of at least 1"),
        (2.5, "k: expected an integer"),
        (4, "k: expected at most the number of samples, 3, got 4"),
    ],
)
def test_bad_numbers_raise(k: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking.precision_at_k([0, 1, 1], [0.1, 0.2, 0.3], k)


# Limits and comparisons -----------------------------------------------------------------------------------------------

SPECS = (
    *("precision_at_k(k=60)", "recall_at_k(k=60)", "lift_at_k(k=60)"),
    *("precision_at_recall(recall=0.6)", "recall_at_precision(precision=0.4)"),
)


def samples(number: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """A tenth is positive, and scores are normal and rounded, with ties."""
    y_true = (RANDOM.random(number) < 0.1).astype(int)
    return y_true, (1.5 * y_true + RANDOM.normal(size=number)).round(2)


def test_estimates_are_those_of_the_functions() -> None:
    y_true, y_score = samples()
    found = ranking.interval(y_true, y_score, SPECS, rng=0, num=200)
    values = {
        SPECS[0]: ranking.precision_at_k(y_true, y_score, 60),
        SPECS[1]: ranking.recall_at_k(y_true, y_score, 60),
        SPECS[2]: ranking.lift_at_k(y_true, y_score, 60),
        SPECS[3]: ranking.precision_at_recall(y_true, y_score, 0.6),
        SPECS[4]: ranking.recall_at_precision(y_true, y_score, 0.4),
    }
    for name, value in values.items():
        assert found[name].estimate == pytest.approx(value, rel=1e-12), name
        assert found[name].low < value < found[name].high
        assert found[name].status == 0


@pytest.mark.parametrize("name", ["precision_at_k", "recall_at_k", "lift_at_k"])
@pytest.mark.parametrize("ties", [False, True])
def test_replicates_are_values_of_repeated_samples(name: str, *, ties: bool) -> None:
    """Of the first part of a large set, and of the whole set where that part is drawn too rarely."""
    rng = np.random.default_rng(0)
    number, k = 2000, 40
    y_true = (rng.random(number) < 0.3).astype(int)
    y_score = rng.integers(0, 500, number) / 500 if ties else rng.random(number)
    weights = rng.poisson(1, (8, number)).astype(float)
    (only,) = Samples.of(y_true, y_score, None, None, None, "interval").elements()
    (measure,) = read_measures(f"{name}(k={k})", are_probabilities=True).values()
    curves = curves_of(only, [measure])
    for row in (slice(0, 7), slice(7, 8)):
        if row.start == 7:
            weights[7, np.argsort(-y_score)[:300]] = 0
        (values,) = values_of(curves, [measure], [None], weights[row], is_mean=False)
        expected = [
            getattr(ranking, name)(np.repeat(y_true, times), np.repeat(y_score, times), k)
            for times in weights[row].astype(int)
        ]
        assert values[:, 0, 0] == pytest.approx(expected, rel=1e-12)


def test_precision_at_k_has_about_wilsons_limits() -> None:
    """Of k samples with given scores it is a proportion."""
    y_true, y_score = samples()
    found = ranking.interval(y_true, y_score, SPECS[0], rng=0)[SPECS[0]]
    hits = round(60 * float(found.estimate))
    wilson = matrics.interval([[0, 0], [60 - hits, hits]], "recall[1]")["recall[1]"]
    assert found.low == pytest.approx(wilson.low, abs=0.03)
    assert found.high == pytest.approx(wilson.high, abs=0.03)


def test_few_places_are_few_samples() -> None:
    y_true, y_score = samples()
    for k, status in ((10, 1), (30, 0)):
        name = f"precision_at_k(k={k})"
        assert ranking.interval(y_true, y_score, name, rng=0, num=100)[name].status == status


@pytest.mark.exhaustive
def test_limits_hold() -> None:
    """Scores of two normal distributions, whose values are known: at least 92 of 100 limits, where 95 are the aim."""
    stats, optimize = pytest.importorskip("scipy.stats"), pytest.importorskip("scipy.optimize")
    share, shift, k, number = 0.1, 1.5, 60, 1000

    def chosen(t: float) -> float:
        return float(share * stats.norm.sf(t - shift) + (1 - share) * stats.norm.sf(t))

    threshold = optimize.brentq(lambda t: chosen(t) - k / number, -10, 10)
    recall = stats.norm.sf(threshold - shift)
    at = stats.norm.isf(0.6) + shift
    thresholds = np.linspace(-5, 8, 10_001)
    precision = share * stats.norm.sf(thresholds - shift) / chosen_at(thresholds, share, shift, stats)
    truths = (
        recall * share / (k / number),
        recall,
        recall / (k / number),
        0.6 * share / chosen(at),
        stats.norm.sf(thresholds[precision >= 0.4] - shift).max(),
    )
    y_true = (RANDOM.random((200, number)) < share).astype(int)
    y_score = shift * y_true + RANDOM.normal(size=y_true.shape)
    found = ranking.interval(y_true, y_score, SPECS, rng=0, num=300)
    for name, truth in zip(SPECS, truths, strict=True):
        held = (found[name].low <= truth) & (truth <= found[name].high)
        assert held.mean() >= 0.92, (name, held.mean())


def chosen_at(thresholds: np.ndarray, share: float, shift: float, stats: Any) -> np.ndarray:
    """The share of samples above thresholds."""
    return share * stats.norm.sf(thresholds - shift) + (1 - share) * stats.norm.sf(thresholds)


def test_models_are_compared_on_the_same_samples() -> None:
    y_true, y_score = samples(2000)
    noisy = y_score + RANDOM.normal(size=2000)
    found = ranking.compare(y_true, {"a": y_score, "b": noisy, "same": y_score + 1}, SPECS, rng=0, num=500)
    for name in SPECS:
        one = found[name]
        gap = one.intervals.estimate[0] - one.intervals.estimate[1]
        assert one.differences.difference[0, 1] == pytest.approx(gap)
        assert one.p_value[0, 1] < 0.05
        assert one.p_value[0, 2] == 1  # the same order of all samples
        assert one.tied.tolist() == [True, False, True]


def test_scorers_of_scikit_learn() -> None:
    """One value for each fold, as the functions have it."""
    linear = pytest.importorskip("sklearn.linear_model")
    selection = pytest.importorskip("sklearn.model_selection")
    from matrics.sklearn import scorer

    x = RANDOM.normal(size=(400, 3))
    y = (x[:, 0] + RANDOM.normal(size=400) > 1).astype(int)
    specs = {"k": "precision_at_k(k=10)", "lift": "lift_at_k(k=10)", "at": "precision_at_recall(recall=0.5)"}
    model = linear.LogisticRegression()
    found = selection.cross_validate(
        model, x, y, cv=selection.KFold(2), scoring={name: scorer(spec) for name, spec in specs.items()}
    )
    for k, (train, test) in enumerate(selection.KFold(2).split(x)):
        scores = model.fit(x[train], y[train]).decision_function(x[test])
        assert found["test_k"][k] == pytest.approx(ranking.precision_at_k(y[test], scores, 10))
        assert found["test_lift"][k] == pytest.approx(ranking.lift_at_k(y[test], scores, 10))
        assert found["test_at"][k] == pytest.approx(ranking.precision_at_recall(y[test], scores, 0.5))
    with pytest.raises(TypeError, match="precision_at_k: expected the option k"):
        scorer("precision_at_k")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("precision_at_k", r"precision_at_k\(k=100\) with a number of samples of 1 or more"),
        ("recall_at_k(k=0)", r"recall_at_k\(k=100\) with a number of samples"),
        ("lift_at_k(k=2.5)", r"lift_at_k\(k=100\)"),
        ("precision_at_recall(precision=0.5)", r"precision_at_recall\(recall=0.9\) with a number from 0 to 1"),
        ("recall_at_precision(precision=2)", "from 0 to 1"),
    ],
)
def test_bad_specs_raise(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking.interval([0, 1, 1], [0.1, 0.2, 0.3], spec)


@pytest.mark.parametrize("name", NAMES)
def test_k_is_at_most_the_number_of_samples(name: str) -> None:
    """Also in limits, comparisons and gates; pooled scores of three classes are three times as many."""
    y_true, y_score = np.arange(30) % 3, RANDOM.random((30, 3))
    is_class, spec = y_true == 1, f"{name}(k=31)"
    with pytest.raises(ValueError, match="k: expected at most the number of samples, 30, got 31"):
        getattr(ranking, name)(y_true, y_score, 31)
    got = rf"expected k of at most the number of samples, 30, got {name}\(k=31\)"
    calls: list[Any] = [
        lambda: ranking.interval(y_true, y_score, f"roc_auc,{spec}"),
        lambda: ranking.compare(is_class, y_score.T, spec, rng=0),
        lambda: matrics.gate(is_class, f"{spec} >= 0.1", y_score=y_score[:, 1]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=got):
            call()
    groups = ["a"] * 20 + ["b"] * 10
    with pytest.raises(ValueError, match=r"requirements: expected k of at most .* of group 'b', 10, got"):
        matrics.gate(is_class, f"{name}(k=20) >= 0.1", y_score=y_score[:, 1], groups=groups)
    matrics.gate(is_class, f"{name}(k=30) >= 0.1", y_score=y_score[:, 1])
    with pytest.raises(ValueError, match="k: expected at most the number of pooled scores, 90, got 91"):
        getattr(ranking, name)(y_true, y_score, 91, average="micro")
    state = matrics.ScoreState.zeros(num_classes=3, bits=16).update(y_true, y_score)
    for k in (30, 31, 90):
        of_state = getattr(state, name)(k, average="micro").value
        assert getattr(ranking, name)(y_true, y_score, k, average="micro") == pytest.approx(of_state, rel=1e-3)
