"""Judges with few errors, or none, among the labels: limits, gates, comparisons and the labels that are needed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
SPECS = ["accuracy", "recall[0]", "recall[1]", "f1:macro", "mcc"]


def shares_of(recalls: tuple[float, float], positive: float, judge: float, found: float = 1.0) -> np.ndarray:
    """Shares [true, judge, predicted]: the judge is right on ``judge``, and on ``found`` of the model's errors."""
    shares = np.zeros((2, 2, 2))
    for true, pred in itertools.product(range(2), repeat=2):
        hit = judge * (1 if pred == true else found)
        of_class = (positive if true else 1 - positive) * (recalls[true] if pred == true else 1 - recalls[true])
        shares[true, true, pred], shares[true, 1 - true, pred] = of_class * hit, of_class * (1 - hit)
    return shares


def drawn(shares: np.ndarray, labels: int, number: int, sets: int) -> matrics.results.JudgedCounts:
    cube = RANDOM.multinomial(labels, shares.ravel(), sets).reshape(sets, 2, 2, 2)
    plane = RANDOM.multinomial(number - labels, shares.sum(0).ravel(), sets).reshape(sets, 2, 2)
    return matrics.results.JudgedCounts(cube, plane)


def truths(shares: np.ndarray) -> dict[str, float]:
    """By hand, of the matrix [true, predicted]."""
    (tn, fp), (fn, tp) = shares.sum(1)
    f1 = [2 * right / (2 * right + fp + fn) for right in (tn, tp)]
    mcc = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return dict(zip(SPECS, (tn + tp, tn / (tn + fp), tp / (tp + fn), np.mean(f1), mcc), strict=True))


def covered(shares: np.ndarray, labels: int, number: int, sets: int, **options: Any) -> dict[str, float]:
    """The share of data sets with status 0 whose limits contain the truth."""
    found = matrics.judged.interval(drawn(shares, labels, number, sets), SPECS, class_names=["0", "1"], **options)
    shares_covered = {}
    for name, truth in truths(shares).items():
        one = found[name]
        fine = one.status == IntervalStatus.OK
        shares_covered[name] = np.mean(((one.low <= truth) & (truth <= one.high))[fine]) if fine.any() else 1.0
    return shares_covered


@pytest.mark.parametrize(
    ("recalls", "positive", "judge", "labels", "number"),
    [
        ((0.8, 0.8), 0.4, 0.97, 100, 50_000),
        ((0.8, 0.8), 0.4, 0.99, 100, 200_000),
        ((0.95, 0.9), 0.3, 0.99, 300, 50_000),
        ((0.95, 0.9), 0.3, 0.995, 300, 50_000),
    ],
)
def test_limits_hold(recalls: Any, positive: float, judge: float, labels: int, number: int) -> None:
    """Without the errors that labels do not show, 65 to 90 %."""
    for name, share in covered(shares_of(recalls, positive, judge), labels, number, 1000).items():
        assert share > 0.93, name


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", ["auto", "tuned"])
@pytest.mark.parametrize("labels", [100, 300, 1000])
@pytest.mark.parametrize("judge", [0.95, 0.97, 0.98, 0.99, 0.995, 0.998])
def test_limits_hold_for_many_judges(judge: float, labels: int, method: Any) -> None:
    """93 % less three standard errors of 2,000 data sets, and two points less for PPI++."""
    least = 0.93 - 3 * np.sqrt(0.93 * 0.07 / 2000)
    for recalls, positive in (((0.8, 0.8), 0.4), ((0.95, 0.9), 0.3)):
        if labels == 100 and positive == 0.3:  # status 0 only with many errors of the model
            continue
        for name, share in covered(shares_of(recalls, positive, judge), labels, 50_000, 2000, method=method).items():
            assert share > least - 0.02 * (method == "tuned"), (name, recalls)


def test_no_error_among_the_labels() -> None:
    """The exact bound of Clopper and Pearson: no error in 300 labels, and an error of the judge in 82 may be one."""
    stats = pytest.importorskip("scipy.stats")
    bound = stats.beta.ppf(0.975, 1, 300)
    shares = shares_of((0.95, 0.92), 0.3, 1.0)
    cube, plane = np.rint(300 * shares), np.rint(49_700 * shares.sum(0))
    found = matrics.judged.interval(matrics.results.JudgedCounts(cube, plane), "accuracy")["accuracy"]
    assert found.status == IntervalStatus.OK
    assert 0.9 * bound < found.estimate - found.low < 1.5 * bound
    assert found.effective_labels < 2000  # and not most of the 50,000
    redrawn = matrics.judged.interval(
        matrics.results.JudgedCounts(cube, plane), "accuracy", limits="bootstrap", num=200, rng=0
    )
    assert redrawn["accuracy"].status == IntervalStatus.FEW_LABELS  # no replicate has an error of the judge


def test_all_samples_labelled() -> None:
    """Nothing is unseen, however good the judge is: the limits are those of the plain matrix."""
    cube = np.zeros((2, 2, 2))
    cube[[0, 1], [0, 1]] = [[40, 10], [8, 42]]
    found = matrics.judged.interval(matrics.results.JudgedCounts(cube, np.zeros((2, 2))), "accuracy")["accuracy"]
    assert np.isclose(found.standard_error, np.sqrt(0.82 * 0.18 / 100), rtol=0.01)


def test_gates_do_not_pass() -> None:
    """A judge that accepts 5 % of the model's errors: the accuracy is 0.8, and at least 0.805 was found in 21 %."""
    shares = shares_of((0.8, 0.8), 0.4, 1.0, found=0.95)
    for labels in (100, 300):
        counts = drawn(shares, labels, 50_000, 60)
        sets = [matrics.results.JudgedCounts(*one) for one in zip(counts.labelled, counts.unlabelled, strict=True)]
        passed = np.mean([matrics.gate(one, "accuracy >= 0.805").verdict == "pass" for one in sets])
        assert passed <= 0.05


def test_labels_needed_are_enough() -> None:
    """The limits of as many labels as are needed are as narrow as was asked, and labels without an error need some."""
    shares = shares_of((0.8, 0.8), 0.4, 0.97)
    needed = matrics.judged.labels_needed(drawn(shares, 300, 50_000, 100), "accuracy", half_width=0.015).labels
    found = matrics.judged.interval(drawn(shares, int(np.median(needed)), 50_000, 100), "accuracy")["accuracy"]
    assert 0.8 < np.median(found.high - found.low) / 2 / 0.015 < 1.05
    perfect = shares_of((0.8, 0.8), 0.4, 1.0)
    needed = matrics.judged.labels_needed(drawn(perfect, 100, 50_000, 50), "accuracy", half_width=0.01)
    assert (needed.labels > 380).all()  # the rate of errors is known to 0.01 with 3.8 / 0.01 labels


def test_two_models() -> None:
    """A judge that accepts 5 % of the errors of one model, and knows all of the other's: 87 % before."""
    true, other = RANDOM.integers(0, 2, (2, 200, 10_000), dtype=np.int8)
    a = np.where(RANDOM.random(true.shape) < 0.8, true, 1 - true)
    b = np.where(RANDOM.random(true.shape) < 0.7, a, other)
    judge = np.where(RANDOM.random(true.shape) < 0.05, a, true)
    found = matrics.judged.compare(
        a, b, "accuracy", y_true=true, y_judge=judge, labelled=np.arange(10_000) < 300, num_classes=2
    )["accuracy"]
    truth = 0.8 - (0.7 * 0.8 + 0.3 * 0.5)
    assert np.mean((found.low <= truth) & (truth <= found.high)) > 0.93
    one = {"y_true": true[0], "y_judge": true[0], "labelled": np.arange(10_000) < 300, "num_classes": 2}
    redrawn = matrics.judged.compare(a[0], b[0], "accuracy", **one, limits="bootstrap", num=100, rng=0)
    assert redrawn["accuracy"].status == IntervalStatus.FEW_LABELS  # the judge makes no errors


def test_the_inverse_of_a_good_judge() -> None:
    """Rogan and Gladen's method needs errors of the judge in each class: fewer than five are a status."""
    cube = np.zeros((2, 2, 2))
    cube[0], cube[1] = [[130, 20], [6, 6]], [[2, 2], [40, 120]]
    plane = 100 * cube.sum(0)
    for errors, status in ((4, IntervalStatus.FEW_LABELS), (12, IntervalStatus.OK)):
        cube[1, 0] = errors / 2
        found = matrics.judged.interval(matrics.results.JudgedCounts(cube, plane), "accuracy", method="rogan_gladen")
        assert found["accuracy"].status == status
