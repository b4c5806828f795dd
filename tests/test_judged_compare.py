"""Two models whose samples a judge has labelled, and people in part."""

from __future__ import annotations

import math
from typing import Any

import judged_samples
import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
SPECS = ["accuracy", "f1:macro", "mcc", "cohen_kappa", "recall:class"]


def labels(n: int, number: int, **options: Any) -> tuple[Any, Any, Any]:
    return judged_samples.labels(RANDOM, n, number, **options)


def test_comparisons_cover_the_difference() -> None:
    n, batch, number = 3, (500,), 2000
    true, judge, a = labels(n, number, batch=batch)
    b = np.where(RANDOM.random(a.shape) < 0.1, RANDOM.integers(0, n, a.shape), a)
    known = np.arange(number) < 300
    specs = SPECS[:4]
    found = matrics.judged.compare(a, b, specs, y_true=true, y_judge=judge, labelled=known, num_classes=n)
    scores = [
        matrics.score(matrics.confusion_matrix(true.ravel(), pred.ravel(), num_classes=n), specs) for pred in (a, b)
    ]
    for name, one in found.items():
        gap = scores[0][name] - scores[1][name]
        assert np.mean((one.low <= gap) & (gap <= one.high)) > 0.92
        assert math.isclose(np.median(one.standard_error), np.std(one.difference), rel_tol=0.1)


def test_comparisons_beside_the_bootstrap() -> None:
    """On the same samples, and of models with grades of their own."""
    true, judge, a = labels(3, 3000)
    b = np.where(RANDOM.random(3000) < 0.2, RANDOM.integers(0, 3, 3000), a)
    known = np.arange(3000) < 500
    given = {"y_true": true, "y_judge": judge, "labelled": known, "num_classes": 3}
    grades = tuple((RANDOM.random(1000) < p).astype(int) for p in (0.8, 0.7))
    graded = tuple(np.where(RANDOM.random(1000) < 0.9, one, 1 - one) for one in grades)
    own = {"y_true": grades, "y_judge": graded, "labelled": np.arange(1000) < 200, "num_classes": 2}
    for pair, specs, options in (((a, b), SPECS, given), ((None, None), ["accuracy"], own)):
        ours = matrics.judged.compare(*pair, specs, **options)
        theirs = matrics.judged.compare(*pair, specs, limits="bootstrap", num=4000, rng=0, **options)
        for name in specs:
            np.testing.assert_allclose(ours[name].difference, theirs[name].difference, rtol=1e-12)
            np.testing.assert_allclose(ours[name].standard_error, theirs[name].standard_error, rtol=0.08)
            np.testing.assert_allclose(ours[name].low, theirs[name].low, atol=0.015)
            np.testing.assert_allclose(ours[name].high, theirs[name].high, atol=0.015)
            np.testing.assert_allclose(ours[name].effective_labels, theirs[name].effective_labels, rtol=0.17)
    with pytest.raises(ValueError, match="limits: expected 'delta' for labels that were drawn by strata"):
        matrics.judged.compare(a, b, "mcc", limits="bootstrap", design="strata", **given)


def test_a_model_beside_itself() -> None:
    true, judge, a = labels(2, 1000)
    known = np.arange(1000) < 100
    found = matrics.judged.compare(a, a, "accuracy", y_true=true, y_judge=judge, labelled=known, num_classes=2)
    assert found["accuracy"].difference == 0
    assert found["accuracy"].status == IntervalStatus.NO_VARIATION


@pytest.mark.sampled(1)
@pytest.mark.parametrize("known", [(100, 100), (100, 200)])
def test_models_with_grades_of_their_own_cover_the_difference(known: tuple[int, int]) -> None:
    """Hard questions are hard for both; people grade the answers of both, or more of one."""
    hard = RANDOM.random((600, 1500)) < 0.4
    people = tuple((RANDOM.random(hard.shape) < np.where(hard, p - 0.5, p)).astype(int) for p in (0.95, 0.9))
    judge = tuple(np.where(RANDOM.random(hard.shape) < 0.85, grades, 1 - grades) for grades in people)
    masks = tuple(np.arange(1500) < number for number in known)
    found = matrics.judged.compare(None, None, "accuracy", y_true=people, y_judge=judge, labelled=masks, num_classes=2)[
        "accuracy"
    ]
    assert np.mean((found.low <= 0.05) & (found.high >= 0.05)) > 0.92
    assert math.isclose(np.median(found.standard_error), np.std(found.difference), rel_tol=0.1)
    one = matrics.judged.compare(
        None, None, "accuracy", y_true=tuple(x[0] for x in people), y_judge=tuple(x[0] for x in judge),
        labelled=masks, num_classes=2,
    )["accuracy"]  # fmt: skip
    assert math.isclose(one.standard_error, found.standard_error[0], rel_tol=1e-9)
    with pytest.raises(ValueError, match="y_true: expected a pair, the labels of the answers of a and of b, got 3"):
        matrics.judged.compare(None, None, y_true=(1, 2, 3), y_judge=judge, num_classes=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["labelled", "judge"])
def test_comparisons_of_labels_alone(method: Any) -> None:
    true, judge, a = labels(3, 1000)
    b = labels(3, 1000)[2]
    known = np.arange(1000) < 300
    ours = matrics.judged.compare(a, b, SPECS, y_true=true, y_judge=judge, labelled=known, num_classes=3, method=method)
    some = known if method == "labelled" else slice(None)
    target = true if method == "labelled" else judge
    if method == "judge":
        joint = matrics.stats.joint_confusion_matrix(target, a, b, num_classes=3)
    else:
        joint = matrics.stats.joint_confusion_matrix(target[some], a[some], b[some], num_classes=3)
    for name, one in matrics.compare_paired(joint, SPECS).items():
        for mine, theirs in zip(ours[name], one[:6], strict=False):
            assert np.array_equal(mine, theirs, equal_nan=True)
