"""Limits from few labels and many judgements: coverage, the bootstrap, peers, and what to label next."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics
from matrics import IntervalStatus

RANDOM = np.random.default_rng(0)
SPECS = ["accuracy", "f1:macro", "mcc", "cohen_kappa", "recall:class"]
CASES = json.loads((Path(__file__).parent / "data" / "judged.json").read_text())["cases"]


def labels(n: int, number: int, *, judge: float = 0.85, batch: tuple[int, ...] = ()) -> tuple[Any, Any, Any]:
    """True labels, those of a judge and of a model, whose errors are more frequent on hard samples for both."""
    shape = (*batch, number)
    true, hard = RANDOM.integers(0, n, shape), RANDOM.random(shape) < 0.4

    def noisy(right: float) -> Any:
        share = np.where(hard, right - 0.1, np.minimum(right + 0.1, 1))
        return np.where(RANDOM.random(shape) < share, true, (true + RANDOM.integers(1, n, shape)) % n)

    return true, noisy(judge), noisy(0.8)


def counts_of(n: int, number: int, labelled: int, **options: Any) -> matrics.JudgedCounts:
    known = np.arange(number) < labelled
    return matrics.judged_counts(*labels(n, number, **options), labelled=known, num_classes=n)


@pytest.mark.parametrize("method", ["auto", "rogan_gladen"])
def test_beside_the_bootstrap(method: Any) -> None:
    """The standard errors of both, and limits of about the same width."""
    counts = counts_of(3, 6000, 900)
    ours = matrics.judged_interval(counts, SPECS, method=method)
    theirs = matrics.judged_interval(counts, SPECS, method=method, limits="bootstrap", num=4000, rng=0)
    for name in SPECS:
        np.testing.assert_allclose(ours[name].standard_error, theirs[name].standard_error, rtol=0.06)
        np.testing.assert_allclose(ours[name].high, theirs[name].high, atol=0.012)
        np.testing.assert_allclose(ours[name].low, theirs[name].low, atol=0.012)
        np.testing.assert_allclose(ours[name].effective_labels, theirs[name].effective_labels, rtol=0.12)


def test_all_labelled_is_the_plain_interval() -> None:
    counts = counts_of(3, 2000, 2000)
    ours = matrics.judged_interval(counts, SPECS)
    theirs = matrics.interval(counts.labelled.sum(-2), SPECS, method="delta")
    for name in SPECS:
        np.testing.assert_allclose(ours[name].estimate, theirs[name].estimate, rtol=1e-12)
        np.testing.assert_allclose(ours[name].standard_error, theirs[name].standard_error, rtol=0.02)
        assert (np.abs(ours[name].effective_labels / 2000 - 1) < 0.05).all()


def test_people_alone_and_the_judge_alone() -> None:
    counts = counts_of(3, 3000, 300)
    people, judge = (matrics.judged_interval(counts, SPECS, method=method) for method in ("labelled", "judge"))
    for found, matrix in (
        (people, counts.labelled.sum(-2)),
        (judge, counts.labelled.sum(-3) + counts.unlabelled),
    ):
        for name, one in matrics.interval(matrix, SPECS).items():
            for ours, theirs in zip(found[name], one, strict=False):
                assert np.array_equal(ours, theirs)
    assert people["mcc"].effective_labels == 300
    assert np.isnan(judge["mcc"].effective_labels)


def test_more_than_people_alone_and_less_than_all() -> None:
    """With a good judge, the labels are worth more than they are, and never more than all samples."""
    counts = counts_of(3, 4000, 300, judge=0.89, batch=(20,))
    for name, one in matrics.judged_interval(counts, SPECS).items():
        assert one.effective_labels.mean() > 400, name
        assert one.effective_labels.max() < 4000


@pytest.mark.exhaustive(n=[10], method=["rogan_gladen"])
@pytest.mark.parametrize("method", ["auto", "tuned", "rogan_gladen"])
@pytest.mark.parametrize(("n", "labelled"), [(2, 100), (3, 300), (10, 1000)])
def test_coverage(n: int, labelled: int, method: Any) -> None:
    """Of 600 data sets each, whose errors of the judge and of the model meet in hard samples (not for Rogan's)."""
    batch = (600,)
    if method == "rogan_gladen":
        true = RANDOM.integers(0, n, (*batch, 3000))
        judge, pred = (
            np.where(RANDOM.random(true.shape) < p, true, (true + RANDOM.integers(1, n, true.shape)) % n)
            for p in (0.85, 0.8)
        )
    else:
        true, judge, pred = labels(n, 3000, batch=batch)
    counts = matrics.judged_counts(true, judge, pred, labelled=np.arange(3000) < labelled, num_classes=n)
    found = matrics.judged_interval(counts, SPECS[:4], method=method)
    # The measures of endless samples like these, to three digits.
    truth = matrics.score(matrics.confusion_matrix(true.reshape(-1), pred.reshape(-1), num_classes=n), SPECS[:4])
    for name, one in found.items():
        covered = np.mean((one.low <= truth[name]) & (truth[name] <= one.high))
        assert covered > 0.92, name  # 95 % less three standard errors of 600
        assert abs(np.mean(one.estimate) - truth[name]) < 0.25 * np.std(one.estimate)


def test_comparisons_cover_the_difference() -> None:
    n, batch, number = 3, (500,), 2000
    true, judge, a = labels(n, number, batch=batch)
    b = np.where(RANDOM.random(a.shape) < 0.1, RANDOM.integers(0, n, a.shape), a)
    known = np.arange(number) < 300
    specs = SPECS[:4]
    found = matrics.judged_compare(a, b, specs, y_true=true, y_judge=judge, labelled=known, num_classes=n)
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
        ours = matrics.judged_compare(*pair, specs, **options)
        theirs = matrics.judged_compare(*pair, specs, limits="bootstrap", num=4000, rng=0, **options)
        for name in specs:
            np.testing.assert_allclose(ours[name].difference, theirs[name].difference, rtol=1e-12)
            np.testing.assert_allclose(ours[name].standard_error, theirs[name].standard_error, rtol=0.08)
            np.testing.assert_allclose(ours[name].low, theirs[name].low, atol=0.015)
            np.testing.assert_allclose(ours[name].high, theirs[name].high, atol=0.015)
            np.testing.assert_allclose(ours[name].effective_labels, theirs[name].effective_labels, rtol=0.17)
    with pytest.raises(ValueError, match="limits: expected 'delta' for labels that were drawn by strata"):
        matrics.judged_compare(a, b, "mcc", limits="bootstrap", design="strata", **given)


def test_a_model_beside_itself() -> None:
    true, judge, a = labels(2, 1000)
    known = np.arange(1000) < 100
    found = matrics.judged_compare(a, a, "accuracy", y_true=true, y_judge=judge, labelled=known, num_classes=2)
    assert found["accuracy"].difference == 0
    assert found["accuracy"].status == IntervalStatus.NO_VARIATION


def test_pass_or_fail() -> None:
    """Grades of answers: the accuracy is the pass rate, by hand and by prediction-powered inference."""
    people, judge = RANDOM.integers(0, 2, 2000), RANDOM.integers(0, 2, 2000)
    judge = np.where(RANDOM.random(2000) < 0.8, people, judge)
    known = np.arange(2000) < 200
    counts = matrics.judged_counts(people, judge, labelled=known, num_classes=2)
    found = matrics.judged_interval(counts, "accuracy")["accuracy"]
    by_hand = sum(people[known & (judge == grade)].mean() * (judge == grade).mean() for grade in (0, 1))
    assert math.isclose(found.estimate, by_hand, rel_tol=1e-12)
    tuned = matrics.judged_interval(counts, "accuracy", method="tuned")["accuracy"]
    covariance = np.cov(people[known], judge[known], ddof=0)[0, 1]
    share = covariance / ((1 + 200 / 1800) * judge.var(ddof=1))
    assert math.isclose(tuned.estimate, people[known].mean() + share * (judge[~known].mean() - judge[known].mean()))
    texts = np.asarray(["fail", "pass"])
    named = matrics.judged_counts(texts[people], texts[judge], labelled=known, labels=["fail", "pass"])
    assert named.labelled.tolist() == counts.labelled.tolist()
    with pytest.raises(
        ValueError, match="y_pred: expected predicted labels, which only grades of two classes have not"
    ):
        matrics.judged_counts(people, judge, labelled=known, num_classes=3)
    assert matrics.judged_interval(counts, "mcc")["mcc"].status == IntervalStatus.UNDEFINED


@pytest.mark.parametrize("known", [(100, 100), (100, 200)])
def test_models_with_grades_of_their_own_cover_the_difference(known: tuple[int, int]) -> None:
    """Hard questions are hard for both; people grade the answers of both, or more of one."""
    hard = RANDOM.random((600, 1500)) < 0.4
    people = tuple((RANDOM.random(hard.shape) < np.where(hard, p - 0.5, p)).astype(int) for p in (0.95, 0.9))
    judge = tuple(np.where(RANDOM.random(hard.shape) < 0.85, grades, 1 - grades) for grades in people)
    masks = tuple(np.arange(1500) < number for number in known)
    found = matrics.judged_compare(None, None, "accuracy", y_true=people, y_judge=judge, labelled=masks, num_classes=2)[
        "accuracy"
    ]
    assert np.mean((found.low <= 0.05) & (found.high >= 0.05)) > 0.92
    assert math.isclose(np.median(found.standard_error), np.std(found.difference), rel_tol=0.1)
    one = matrics.judged_compare(
        None, None, "accuracy", y_true=tuple(x[0] for x in people), y_judge=tuple(x[0] for x in judge),
        labelled=masks, num_classes=2,
    )["accuracy"]  # fmt: skip
    assert math.isclose(one.standard_error, found.standard_error[0], rel_tol=1e-9)
    with pytest.raises(ValueError, match="y_true: expected a pair, the labels of the answers of a and of b, got 3"):
        matrics.judged_compare(None, None, y_true=(1, 2, 3), y_judge=judge, num_classes=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["labelled", "judge"])
def test_comparisons_of_labels_alone(method: Any) -> None:
    true, judge, a = labels(3, 1000)
    b = labels(3, 1000)[2]
    known = np.arange(1000) < 300
    ours = matrics.judged_compare(a, b, SPECS, y_true=true, y_judge=judge, labelled=known, num_classes=3, method=method)
    some = known if method == "labelled" else slice(None)
    target = true if method == "labelled" else judge
    if method == "judge":
        joint = matrics.joint_confusion_matrix(target, a, b, num_classes=3)
    else:
        joint = matrics.joint_confusion_matrix(target[some], a[some], b[some], num_classes=3)
    for name, one in matrics.compare_paired(joint, SPECS).items():
        for mine, theirs in zip(ours[name], one[:6], strict=False):
            assert np.array_equal(mine, theirs, equal_nan=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(np.shape(case["unlabelled"])))
def test_quality_beside_statsmodels(case: dict[str, Any]) -> None:
    counts = matrics.JudgedCounts(np.asarray(case["labelled"]), np.asarray(case["unlabelled"]))
    found = matrics.judge_quality(counts)
    np.testing.assert_allclose(
        [found.odds_ratio, found.statistic, found.p_value], case["errors"], rtol=1e-9, atol=1e-15
    )
    assert found.matrix.tolist() == np.asarray(case["labelled"]).sum(-1).tolist()
    assert found.scores["accuracy"] == matrics.interval(found.matrix, "accuracy")["accuracy"]


def test_labels_by_strata() -> None:
    """Half of the strata are labelled ten times as often: only design="strata" has no bias then."""
    true, judge, pred = labels(2, 400_000)
    odd = judge != pred
    known = np.random.default_rng(0).random(400_000) < np.where(odd, 0.2, 0.02)
    counts = matrics.judged_counts(true, judge, pred, labelled=known, num_classes=2)
    truth = (true == pred).mean()
    right = matrics.judged_interval(counts, "accuracy", design="strata")["accuracy"]
    assert right.low < truth < right.high
    drawn = matrics.judged_interval(counts, "accuracy", design="strata", limits="bootstrap", num=2000, rng=0)[
        "accuracy"
    ]
    assert math.isclose(drawn.standard_error, right.standard_error, rel_tol=0.08)
    for method in ("labelled", "tuned"):
        wrong = matrics.judged_interval(counts, "accuracy", method=method)["accuracy"]
        assert not wrong.low < truth < wrong.high


def test_labels_that_are_bought() -> None:
    """The half-width that was asked for comes out, with labels at random and in strata; those are fewer."""
    true, judge, pred = labels(3, 30_000)
    known = np.arange(30_000) < 600
    counts = matrics.judged_counts(true, judge, pred, labelled=known, num_classes=3)
    for metric, half_width in (("accuracy", 0.012), ("mcc", 0.02)):
        needed = matrics.labels_needed(counts, metric, half_width=half_width)
        assert needed.more == needed.labels - 600
        assert needed.in_strata < needed.labels
        assert needed.allocation.sum() == needed.in_strata - 600
        more = matrics.judged_counts(true, judge, pred, labelled=np.arange(30_000) < int(needed.labels), num_classes=3)
        found = matrics.judged_interval(more, metric)[metric]
        assert math.isclose((found.high - found.low) / 2, half_width, rel_tol=0.08)
        drawn = matrics.draw_for_labelling(needed.allocation, judge, pred, labelled=known, rng=0)
        assert len(drawn) == needed.allocation.sum()
        assert not known[drawn].any()
        both = known.copy()
        both[drawn] = True
        more = matrics.judged_counts(true, judge, pred, labelled=both, num_classes=3)
        found = matrics.judged_interval(more, metric, design="strata")[metric]
        assert math.isclose((found.high - found.low) / 2, half_width, rel_tol=0.08)


def test_labels_that_cannot_be_bought() -> None:
    counts = counts_of(2, 1000, 200)
    needed = matrics.labels_needed(counts, "accuracy", half_width=0.001)
    assert needed.labels == needed.in_strata == math.inf
    assert np.isnan(needed.allocation).all()
    enough = matrics.labels_needed(counts, "accuracy", half_width=0.2)
    assert enough.more == 0
    assert enough.allocation.sum() == 0
    ends = matrics.labels_needed(counts, "accuracy", difference=0.2, power=0.8)
    assert ends.labels > enough.labels


def test_statuses() -> None:
    """Few labels, no labels, labels that agree, and invalid tables; each beside a good one."""
    good = counts_of(2, 3000, 300)
    cube = np.stack([good.labelled, good.labelled, np.zeros((2, 2, 2), int), good.labelled]).astype(float)
    plane = np.stack([good.unlabelled] * 4).astype(float)
    cube[1] = np.rint(cube[1] / 40)
    plane[3, 0, 0] = math.nan
    found = matrics.judged_interval(matrics.JudgedCounts(cube, plane), "accuracy,recall:class")
    status = [IntervalStatus(code) for code in found["accuracy"].status]
    assert status[0] == IntervalStatus.OK
    assert status[1] == IntervalStatus.FEW_LABELS
    assert status[2] == IntervalStatus.UNDEFINED  # nobody labelled anything
    assert status[3] == IntervalStatus.INVALID
    alone = matrics.judged_interval(good, "accuracy")["accuracy"]
    assert found["accuracy"].low[0] == alone.low
    assert found["recall:class"].status.shape == (4, 2)


@pytest.mark.parametrize("method", ["auto", "tuned", "rogan_gladen"])
def test_every_library(method: Any, backend: Any) -> None:
    counts = counts_of(3, 3000, 400, batch=(3,))
    expected = matrics.judged_interval(counts, ["accuracy", "mcc", "recall:class"], method=method)
    arrays = [backend.asarray(x, np.float64 if backend.float64 else np.float32) for x in counts[:2]]

    def limits(cube: Any, plane: Any) -> Any:
        found = matrics.judged_interval(
            matrics.JudgedCounts(cube, plane), ["accuracy", "mcc", "recall:class"], method=method
        )
        return {name: tuple(one) for name, one in found.items()}

    found = backend.call(limits, *arrays)
    for name, one in expected.items():
        for ours, theirs in zip(found[name], one, strict=True):
            np.testing.assert_allclose(backend.numpy(ours), theirs, rtol=2e-3 if not backend.float64 else 1e-6)


def test_under_jit_and_vmap() -> None:
    """Tracers, where nothing can be looked at: intervals, comparisons and quality."""
    jax = pytest.importorskip("jax")
    counts = counts_of(3, 3000, 400, batch=(3,))
    arrays = matrics.JudgedCounts(*(jax.numpy.asarray(x) for x in counts[:2]))
    expected = matrics.judged_interval(counts, "mcc")["mcc"]
    found = jax.jit(jax.vmap(lambda c: matrics.judged_interval(c, "mcc")["mcc"]))(arrays)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3)
    quality = jax.jit(lambda c: matrics.judge_quality(c, "accuracy"))(arrays)
    np.testing.assert_allclose(quality.p_value, matrics.judge_quality(counts).p_value, rtol=1e-3)
    true, judge, a = labels(2, 500)
    b, known = labels(2, 500)[2], np.arange(500) < 100
    expected = matrics.judged_compare(a, b, "mcc", y_true=true, y_judge=judge, labelled=known, num_classes=2)["mcc"]
    found = jax.jit(
        lambda a, b, t, j, k: matrics.judged_compare(a, b, "mcc", y_true=t, y_judge=j, labelled=k, num_classes=2)["mcc"]
    )(*(jax.numpy.asarray(x) for x in (a, b, true, judge, known)))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=5e-3, atol=1e-4)


def test_weights_of_one_change_nothing_and_repeats_count() -> None:
    true, judge, pred = labels(2, 2000)
    known = np.arange(2000) < 300
    plain = matrics.judged_counts(true, judge, pred, labelled=known, num_classes=2)
    ones = matrics.judged_counts(true, judge, pred, labelled=known, num_classes=2, sample_weight=np.ones(2000))
    halves = matrics.judged_counts(true, judge, pred, labelled=known, num_classes=2, sample_weight=np.full(2000, 0.5))
    for method in ("auto", "tuned", "rogan_gladen", "labelled"):
        a, b, c = (matrics.judged_interval(x, "mcc", method=method)["mcc"] for x in (plain, ones, halves))
        np.testing.assert_allclose(a[:4], b[:4], rtol=1e-9)
        if method == "labelled":  # whose limits are those of a matrix with one more sample, of a weight of 1
            continue
        np.testing.assert_allclose(a[:3], c[:3], rtol=0.02)
    uneven = np.where(np.random.default_rng(0).random(2000) < 0.2, 4.0, 0.25)
    weighted = matrics.judged_counts(true, judge, pred, labelled=known, num_classes=2, sample_weight=uneven)
    assert (
        matrics.judged_interval(weighted, "mcc")["mcc"].standard_error
        > matrics.judged_interval(plain, "mcc")["mcc"].standard_error
    )
    with pytest.raises(ValueError, match="expected 'delta' for weighted samples"):
        matrics.judged_interval(weighted, "mcc", limits="bootstrap")


def test_labels_without_an_error_are_not_certain() -> None:
    """A hundred labels that all agree: an accuracy of about 0.96 (Wilson) and an MCC of twice that distance from 1."""
    counts = matrics.judged_counts([0, 1] * 50 + [-1] * 200, [0, 1] * 150, [0, 1] * 150, num_classes=2)
    found = matrics.judged_interval(counts, "accuracy,mcc")
    for name, distance in (("accuracy", 0.04), ("mcc", 0.08)):
        one = found[name]
        assert (one.estimate, one.high, one.status) == (1, 1, IntervalStatus.FEW_LABELS)
        assert math.isclose(1 - one.low, distance, rel_tol=0.1)


def test_names_of_classes() -> None:
    counts = counts_of(2, 2000, 300)
    found = matrics.judged_interval(counts, "recall:class,sensitivity", class_names=["ok", "fraud"], positive="fraud")
    assert set(found) == {"recall/ok", "recall/fraud", "sensitivity"}
    assert found["sensitivity"].low == found["recall/fraud"].low
    quality = matrics.judge_quality(counts, "recall[fraud]", class_names=["ok", "fraud"])
    assert list(quality.scores) == ["recall[fraud]"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limits": "wald"}, "limits: expected one of 'auto', 'delta', 'bootstrap', got 'wald'"),
        ({"limits": "bootstrap", "method": "tuned"}, "expected 'delta' with method='tuned'"),
        ({"num": 100}, "num: expected None, because limits='auto' does not resample"),
        ({"level": 95}, "level: expected a number between 0 and 1"),
        ({"method": "tuned", "design": "strata"}, "expected 'post_stratified' with design='strata'"),
    ],
)
def test_wrong_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        matrics.judged_interval(counts_of(2, 200, 100), "mcc", **options)


def test_wrong_input_of_the_others() -> None:
    counts = counts_of(2, 200, 100)
    true, judge, pred = labels(2, 200)
    with pytest.raises(TypeError, match="which do not say on which samples the models differ"):
        matrics.judged_compare(counts, counts, "mcc", y_true=true, y_judge=judge, num_classes=2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected exactly one of half_width= and difference=, got neither"):
        matrics.labels_needed(counts, "mcc")
    with pytest.raises(ValueError, match="half_width: expected a positive number, got 0"):
        matrics.labels_needed(counts, "mcc", half_width=0)
    with pytest.raises(ValueError, match="metric: expected one measure with one value"):
        matrics.labels_needed(counts, "recall:class", half_width=0.1)
    with pytest.raises(ValueError, match=r"allocation: expected finite numbers \(n, n\)"):
        matrics.draw_for_labelling([[math.nan]], judge, pred)
    with pytest.raises(ValueError, match="y_pred: expected integers"):
        matrics.draw_for_labelling([[1, 0], [0, 1]], judge, pred[:50])
