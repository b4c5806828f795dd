"""Judges that do not label every sample, and grades of more than pass and fail."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
NONE = 2  # in the arrays below, where the judge has given no label


def graded(random: np.random.Generator, number: int = 2000, known: int = 400) -> tuple[Any, Any, Any]:
    """Grades of people and of a judge that answers less often where the answer is wrong, and which are labelled."""
    people = (random.random(number) < 0.6).astype(int)
    judge = np.where(random.random(number) < 0.85, people, 1 - people)
    judge = np.where(random.random(number) < np.where(people == 1, 0.05, 0.3), NONE, judge)
    return people, judge, np.arange(number) < known


def counted(people: Any, judge: Any, known: Any, **options: Any) -> Any:
    return matrics.judged.count(people, np.where(judge == NONE, -1, judge), labelled=known, num_classes=2, **options)


def test_counts_by_hand(backend: Any) -> None:
    """-1 in integers and NaN in floating numbers are counted in every library, and under jit, if the call says so."""
    people, judge, known = graded(RANDOM, 60, 20)
    pred = RANDOM.integers(0, 2, 60)
    cube, plane = np.zeros((2, 3, 2)), np.zeros((3, 2))
    for t, j, p, has_label in zip(people, judge, pred, known, strict=True):
        if has_label:
            cube[t, j, p] += 1
        else:
            plane[j, p] += 1
    integers = np.where(judge == NONE, -1, judge)
    floats = np.where(judge == NONE, np.nan, judge).astype(np.float32)
    for given in (integers, floats):
        arrays = [backend.asarray(x) for x in (people, given, pred, known)]

        def count(t: Any, j: Any, p: Any, mask: Any) -> tuple[Any, ...]:
            return tuple(matrics.judged.count(t, j, p, labelled=mask, num_classes=2, unanswered=True)[:2])

        for ours, theirs in zip(backend.call(count, *arrays), (cube, plane), strict=True):
            assert backend.numpy(ours).tolist() == theirs.tolist()


@pytest.mark.parametrize("missing", [None, math.nan])
def test_lists_and_texts(missing: Any) -> None:
    counts = matrics.judged.count(
        ["pass", None, "fail"], ["pass", missing, missing], labels=["fail", "pass"], y_pred=["pass"] * 3
    )
    assert counts.labelled[1].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert counts.labelled[0].tolist() == [[0, 0], [0, 0], [0, 1]]
    assert counts.unlabelled.tolist() == [[0, 0], [0, 0], [0, 1]]
    with pytest.raises(
        ValueError,
        match=r"y_judge: expected a label of each sample, got 2 samples without a label, the first at \(1,\)",
    ):
        matrics.judged.count([1, None, 0], [1, missing, missing], num_classes=2, unanswered=False)


def test_batches_add_up() -> None:
    """Also if only one of them has samples without a judge's label."""
    people, judge, known = graded(RANDOM)
    full = judge != NONE
    parts = [counted(people[rows], judge[rows], known[rows]) for rows in (full, ~full)]
    whole = counted(people, judge, known)
    for total in (parts[0] + parts[1], parts[1] + parts[0]):
        assert all(a.tolist() == b.tolist() for a, b in zip(total[:2], whole[:2], strict=True))
    assert parts[0].unlabelled.shape == (2, 2)


def test_estimates_by_hand() -> None:
    """Each grade of the judge, and none, is a stratum; prediction-powered inference counts none as half a pass."""
    people, judge, known = graded(RANDOM)
    counts = counted(people, judge, known)
    result = matrics.judged.interval(counts, "accuracy")["accuracy"]
    by_hand = sum(people[known & (judge == grade)].mean() * (judge == grade).mean() for grade in (0, 1, NONE))
    assert math.isclose(result.estimate, by_hand, rel_tol=1e-12)
    assert matrics.judged.confusion_matrix(counts).sum() == pytest.approx(2000)
    said = np.where(judge == NONE, 0.5, judge)
    share = np.cov(people[known], said[known], ddof=0)[0, 1] / ((1 + 400 / 1600) * said.var(ddof=1))
    tuned = matrics.judged.interval(counts, "accuracy", method="tuned")["accuracy"]
    by_ppi = people[known].mean() + share * (said[~known].mean() - said[known].mean())
    assert math.isclose(tuned.estimate, by_ppi, rel_tol=1e-12)
    cells = matrics.judged.confusion_matrix(counts, method="tuned")
    assert cells.sum() == pytest.approx(2000)
    assert cells[1, 1] / 2000 == pytest.approx(by_ppi)
    alone = matrics.judged.interval(counts, "accuracy", method="judge")["accuracy"]
    assert alone.estimate == judge[judge != NONE].mean()
    assert matrics.judged.confusion_matrix(counts, method="judge").sum() == (judge != NONE).sum()


def test_a_stratum_that_people_have_not_seen() -> None:
    """It has the shares of all true labels, not those of a class, and the limits have a status."""
    people, judge, _ = graded(RANDOM)
    known = (np.arange(2000) < 400) & (judge != NONE)
    result = matrics.judged.confusion_matrix(counted(people, judge, known))
    assert np.isfinite(result).all()
    assert result.sum() == pytest.approx(2000)


@pytest.mark.parametrize("function", [matrics.judged.confusion_matrix, matrics.judged.interval])
def test_the_inverse_needs_all_labels(function: Any) -> None:
    people, judge, known = graded(RANDOM)
    counts = counted(people, judge, known)
    with pytest.raises(ValueError, match="method: expected 'post_stratified' if the judge has not labelled all"):
        function(counts, method="rogan_gladen")
    full = np.where(judge == NONE, 0, judge)
    same = [counted(people, full, known, unanswered=wide) for wide in (False, True)]
    weighted = counted(people, full, known, unanswered=True, sample_weight=RANDOM.random(2000))
    assert np.isfinite(matrics.judged.confusion_matrix(weighted, method="rogan_gladen")).all()
    results = [matrics.judged.interval(one, "mcc,accuracy", method="rogan_gladen") for one in same]
    assert results[0]["accuracy"].low == pytest.approx(results[1]["accuracy"].low, rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "tuned", "labelled", "judge"])
@pytest.mark.parametrize("limits", ["auto", "bootstrap"])
def test_no_sample_without_a_label_changes_nothing(method: Any, limits: Any) -> None:
    """A judge that could be silent and never was is a judge that labels all samples."""
    if (method, limits) == ("tuned", "bootstrap"):
        pytest.skip("the bootstrap has no tuned λ")
    people, judge, known = graded(RANDOM)
    full, pred = np.where(judge == NONE, 0, judge), RANDOM.integers(0, 2, 2000)
    options: dict[str, Any] = {"labelled": known, "num_classes": 2}
    more = {"num": 50, "rng": 0} if limits == "bootstrap" else {}
    results = [
        matrics.judged.interval(
            matrics.judged.count(people, full, pred, unanswered=wide, **options),
            "accuracy,f1,recall:class",
            method=method,
            limits=limits,
            **more,
        )
        for wide in (False, True)
    ]
    for name, narrow in results[0].items():
        wide = results[1][name]
        assert narrow.estimate == pytest.approx(wide.estimate, rel=1e-12)
        if limits == "auto":
            assert narrow.low == pytest.approx(wide.low, rel=1e-9)
            assert narrow.high == pytest.approx(wide.high, rel=1e-9)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["auto", "tuned"])
def test_coverage(method: Any) -> None:
    """Limits of 90 % contain the pass rate as often, with a judge that is silent on bad answers."""
    random, hits = np.random.default_rng(5), 0
    for _ in range(300):
        people, judge, known = graded(random, 2000, 200)
        result = matrics.judged.interval(counted(people, judge, known), "accuracy", method=method, level=0.9)[
            "accuracy"
        ]
        hits += result.low <= 0.6 <= result.high
    assert 0.85 <= hits / 300 <= 0.97


def test_three_grades() -> None:
    """A refusal is a grade as any other; the accuracy is the share of passes."""
    grades = ["fail", "pass", "refused"]
    true = RANDOM.choice(3, 600, p=[0.3, 0.5, 0.2])
    judge = np.where(RANDOM.random(600) < 0.9, true, RANDOM.integers(0, 3, 600))
    known = np.arange(600) < 200
    texts = [grades[k] if has_label else None for k, has_label in zip(true, known, strict=True)]
    counts = matrics.judged.count(texts, [grades[k] for k in judge], labels=grades)
    by_hand = sum((true[known & (judge == g)] == 1).mean() * (judge == g).mean() for g in range(3))
    result = matrics.judged.interval(counts, "accuracy")["accuracy"]
    assert math.isclose(result.estimate, by_hand, rel_tol=1e-12)
    assert result.status == IntervalStatus.OK
    with pytest.raises(ValueError, match="y_pred: expected predicted labels, or grades of fail and pass, got 1 class"):
        matrics.judged.count([0], [0], num_classes=1)


@pytest.mark.parametrize("method", ["auto", "tuned", "labelled", "judge"])
def test_comparisons(method: Any) -> None:
    """The difference of two models is that of their estimates."""
    people, judge, known = graded(RANDOM)
    missing = np.where(judge == NONE, -1, judge)
    a, b = RANDOM.integers(0, 2, (2, 2000))
    options: dict[str, Any] = {"labelled": known, "num_classes": 2}
    gap = matrics.judged.compare(a, b, "accuracy", y_true=people, y_judge=missing, method=method, **options)
    each = [
        matrics.judged.interval(matrics.judged.count(people, missing, pred, **options), "accuracy", method=method)[
            "accuracy"
        ].estimate
        for pred in (a, b)
    ]
    assert gap["accuracy"].difference == pytest.approx(each[0] - each[1], rel=1e-9)
    assert gap["accuracy"].low < gap["accuracy"].difference < gap["accuracy"].high
    with pytest.raises(ValueError, match="method: expected 'post_stratified' if the judge has not labelled all"):
        matrics.judged.compare(a, b, "accuracy", y_true=people, y_judge=missing, method="rogan_gladen", **options)


def test_grades_of_two_models() -> None:
    """Answers of two models with grades of their own, of which only those of one are complete."""
    people, judge, known = graded(RANDOM)
    others = np.where(RANDOM.random(2000) < 0.9, people, 1 - people)
    missing = np.where(judge == NONE, -1, judge)
    result = matrics.judged.compare(
        None, None, "accuracy", y_true=(people, people), y_judge=(missing, others), labelled=known, num_classes=2
    )["accuracy"]
    estimates = [
        sum(people[known & (one == g)].mean() * (one == g).mean() for g in (0, 1, NONE) if (one == g).any())
        for one in (judge, others)
    ]
    assert result.difference == pytest.approx(estimates[0] - estimates[1], rel=1e-9)


def test_plans_and_quality() -> None:
    people, judge, known = graded(RANDOM)
    counts = counted(people, judge, known)
    quality = matrics.judged.quality(counts)
    assert quality.answered == (judge != NONE).mean()
    both = known & (judge != NONE)
    table = [[(both & (people == t) & (judge == j)).sum() for j in (0, 1)] for t in (0, 1)]
    assert quality.matrix.tolist() == table
    needed = matrics.judged.labels_needed(counts, "accuracy", half_width=0.03)
    assert needed.allocation.shape == (3, 2)
    chosen = matrics.judged.choose_samples(
        needed.allocation, np.where(judge == NONE, -1, judge), np.ones(2000, int), labelled=known, rng=0
    )
    drawn = [(judge[chosen] == grade).sum() for grade in (0, 1, NONE)]
    assert drawn == np.minimum(needed.allocation[:, 1], [((judge == g) & ~known).sum() for g in (0, 1, NONE)]).tolist()
    assert not known[chosen].any()
