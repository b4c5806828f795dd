"""Limits from few labels and many judgements: coverage, the bootstrap, statuses, every library."""

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


def counts_of(n: int, number: int, labelled: int, **options: Any) -> matrics.results.JudgedCounts:
    known = np.arange(number) < labelled
    return matrics.judged.count(*labels(n, number, **options), labelled=known, num_classes=n)


@pytest.mark.parametrize("method", ["auto", "rogan_gladen"])
def test_beside_the_bootstrap(method: Any) -> None:
    """The standard errors of both, and limits of about the same width."""
    counts = counts_of(3, 6000, 900)
    ours = matrics.judged.interval(counts, SPECS, method=method)
    theirs = matrics.judged.interval(counts, SPECS, method=method, limits="bootstrap", num=4000, rng=0)
    for name in SPECS:
        np.testing.assert_allclose(ours[name].standard_error, theirs[name].standard_error, rtol=0.06)
        np.testing.assert_allclose(ours[name].high, theirs[name].high, atol=0.012)
        np.testing.assert_allclose(ours[name].low, theirs[name].low, atol=0.012)
        np.testing.assert_allclose(ours[name].effective_labels, theirs[name].effective_labels, rtol=0.12)


def test_all_labelled_is_the_plain_interval() -> None:
    counts = counts_of(3, 2000, 2000)
    ours = matrics.judged.interval(counts, SPECS)
    theirs = matrics.interval(counts.labelled.sum(-2), SPECS, method="delta")
    for name in SPECS:
        np.testing.assert_allclose(ours[name].estimate, theirs[name].estimate, rtol=1e-12)
        np.testing.assert_allclose(ours[name].standard_error, theirs[name].standard_error, rtol=0.02)
        assert (np.abs(ours[name].effective_labels / 2000 - 1) < 0.05).all()


def test_people_alone_and_the_judge_alone() -> None:
    counts = counts_of(3, 3000, 300)
    people, judge = (matrics.judged.interval(counts, SPECS, method=method) for method in ("labelled", "judge"))
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
    for name, one in matrics.judged.interval(counts, SPECS).items():
        assert one.effective_labels.mean() > 400, name
        assert one.effective_labels.max() < 4000


@pytest.mark.sampled(1)
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
    counts = matrics.judged.count(true, judge, pred, labelled=np.arange(3000) < labelled, num_classes=n)
    found = matrics.judged.interval(counts, SPECS[:4], method=method)
    # The measures of endless samples like these, to three digits.
    truth = matrics.score(matrics.confusion_matrix(true.reshape(-1), pred.reshape(-1), num_classes=n), SPECS[:4])
    for name, one in found.items():
        covered = np.mean((one.low <= truth[name]) & (truth[name] <= one.high))
        assert covered > 0.92, name  # 95 % less three standard errors of 600
        assert abs(np.mean(one.estimate) - truth[name]) < 0.25 * np.std(one.estimate)


def test_pass_or_fail() -> None:
    """Grades of answers: the accuracy is the pass rate, by hand and by prediction-powered inference."""
    people, judge = RANDOM.integers(0, 2, 2000), RANDOM.integers(0, 2, 2000)
    judge = np.where(RANDOM.random(2000) < 0.8, people, judge)
    known = np.arange(2000) < 200
    counts = matrics.judged.count(people, judge, labelled=known, num_classes=2)
    found = matrics.judged.interval(counts, "accuracy")["accuracy"]
    by_hand = sum(people[known & (judge == grade)].mean() * (judge == grade).mean() for grade in (0, 1))
    assert math.isclose(found.estimate, by_hand, rel_tol=1e-12)
    tuned = matrics.judged.interval(counts, "accuracy", method="tuned")["accuracy"]
    covariance = np.cov(people[known], judge[known], ddof=0)[0, 1]
    share = covariance / ((1 + 200 / 1800) * judge.var(ddof=1))
    assert math.isclose(tuned.estimate, people[known].mean() + share * (judge[~known].mean() - judge[known].mean()))
    texts = np.asarray(["fail", "pass"])
    named = matrics.judged.count(texts[people], texts[judge], labelled=known, labels=["fail", "pass"])
    assert named.labelled.tolist() == counts.labelled.tolist()
    with pytest.raises(ValueError, match="y_pred: expected predicted labels, or grades of fail and pass, got 1 class"):
        matrics.judged.count(people * 0, judge * 0, labelled=known, num_classes=1)
    assert matrics.judged.interval(counts, "mcc")["mcc"].status == IntervalStatus.UNDEFINED


def test_statuses() -> None:
    """Few labels, no labels, labels that agree, and invalid tables; each beside a good one."""
    good = counts_of(2, 3000, 300)
    cube = np.stack([good.labelled, good.labelled, np.zeros((2, 2, 2), int), good.labelled]).astype(float)
    plane = np.stack([good.unlabelled] * 4).astype(float)
    cube[1] = np.rint(cube[1] / 40)
    plane[3, 0, 0] = math.nan
    found = matrics.judged.interval(matrics.results.JudgedCounts(cube, plane), "accuracy,recall:class")
    status = [IntervalStatus(code) for code in found["accuracy"].status]
    assert status[0] == IntervalStatus.OK
    assert status[1] == IntervalStatus.FEW_LABELS
    assert status[2] == IntervalStatus.UNDEFINED  # nobody labelled anything
    assert status[3] == IntervalStatus.INVALID
    alone = matrics.judged.interval(good, "accuracy")["accuracy"]
    assert found["accuracy"].low[0] == alone.low
    assert found["recall:class"].status.shape == (4, 2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["auto", "tuned", "rogan_gladen"])
def test_every_library(method: Any, backend: Any) -> None:
    counts = counts_of(3, 3000, 400, batch=(3,))
    expected = matrics.judged.interval(counts, ["accuracy", "mcc", "recall:class"], method=method)
    arrays = [backend.asarray(x, np.float64 if backend.float64 else np.float32) for x in counts[:2]]

    def limits(cube: Any, plane: Any) -> Any:
        found = matrics.judged.interval(
            matrics.results.JudgedCounts(cube, plane), ["accuracy", "mcc", "recall:class"], method=method
        )
        return {name: tuple(one) for name, one in found.items()}

    found = backend.call(limits, *arrays)
    for name, one in expected.items():
        for ours, theirs in zip(found[name], one, strict=True):
            np.testing.assert_allclose(backend.numpy(ours), theirs, rtol=2e-3 if not backend.float64 else 1e-6)


@pytest.mark.exhaustive
def test_under_jit_and_vmap() -> None:
    """Tracers, where nothing can be looked at: intervals, comparisons and quality."""
    jax = pytest.importorskip("jax")
    counts = counts_of(3, 3000, 400, batch=(3,))
    arrays = matrics.results.JudgedCounts(*(jax.numpy.asarray(x) for x in counts[:2]))
    expected = matrics.judged.interval(counts, "mcc")["mcc"]
    found = jax.jit(jax.vmap(lambda c: matrics.judged.interval(c, "mcc")["mcc"]))(arrays)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3)
    quality = jax.jit(lambda c: matrics.judged.quality(c, "accuracy"))(arrays)
    np.testing.assert_allclose(quality.p_value, matrics.judged.quality(counts).p_value, rtol=1e-3)
    true, judge, a = labels(2, 500)
    b, known = labels(2, 500)[2], np.arange(500) < 100
    expected = matrics.judged.compare(a, b, "mcc", y_true=true, y_judge=judge, labelled=known, num_classes=2)["mcc"]
    found = jax.jit(
        lambda a, b, t, j, k: matrics.judged.compare(a, b, "mcc", y_true=t, y_judge=j, labelled=k, num_classes=2)["mcc"]
    )(*(jax.numpy.asarray(x) for x in (a, b, true, judge, known)))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=5e-3, atol=1e-4)


def test_weights_of_one_change_nothing_and_repeats_count() -> None:
    true, judge, pred = labels(2, 2000)
    known = np.arange(2000) < 300
    plain = matrics.judged.count(true, judge, pred, labelled=known, num_classes=2)
    ones = matrics.judged.count(true, judge, pred, labelled=known, num_classes=2, sample_weight=np.ones(2000))
    halves = matrics.judged.count(true, judge, pred, labelled=known, num_classes=2, sample_weight=np.full(2000, 0.5))
    for method in ("auto", "tuned", "rogan_gladen", "labelled"):
        a, b, c = (matrics.judged.interval(x, "mcc", method=method)["mcc"] for x in (plain, ones, halves))
        np.testing.assert_allclose(a[:4], b[:4], rtol=1e-9)
        if method == "labelled":  # whose limits are those of a matrix with one more sample, of a weight of 1
            continue
        np.testing.assert_allclose(a[:3], c[:3], rtol=0.02)
    uneven = np.where(np.random.default_rng(0).random(2000) < 0.2, 4.0, 0.25)
    weighted = matrics.judged.count(true, judge, pred, labelled=known, num_classes=2, sample_weight=uneven)
    assert (
        matrics.judged.interval(weighted, "mcc")["mcc"].standard_error
        > matrics.judged.interval(plain, "mcc")["mcc"].standard_error
    )
    with pytest.raises(ValueError, match="expected 'delta' for weighted samples"):
        matrics.judged.interval(weighted, "mcc", limits="bootstrap")


def test_labels_without_an_error_are_not_certain() -> None:
    """A hundred labels that all agree: Wilson's limits of 50 to 100 labels, and twice as far from 1 for MCC."""
    counts = matrics.judged.count([0, 1] * 50 + [-1] * 200, [0, 1] * 150, [0, 1] * 150, num_classes=2)
    found = matrics.judged.interval(counts, "accuracy,mcc")
    z2 = 1.96**2
    for name, times in (("accuracy", 1), ("mcc", 2)):
        one = found[name]
        assert (one.estimate, one.high, one.status) == (1, 1, IntervalStatus.FEW_LABELS)
        assert times * z2 / (100 + z2) < 1 - one.low < times * z2 / (50 + z2)


def test_names_of_classes() -> None:
    counts = counts_of(2, 2000, 300)
    found = matrics.judged.interval(counts, "recall:class,sensitivity", class_names=["ok", "fraud"], positive="fraud")
    assert set(found) == {"recall/ok", "recall/fraud", "sensitivity"}
    assert found["sensitivity"].low == found["recall/fraud"].low
    quality = matrics.judged.quality(counts, "recall[fraud]", class_names=["ok", "fraud"])
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
        matrics.judged.interval(counts_of(2, 200, 100), "mcc", **options)


def test_wrong_input_of_the_others() -> None:
    counts = counts_of(2, 200, 100)
    true, judge, pred = labels(2, 200)
    with pytest.raises(TypeError, match="which do not contain the samples on which the models differ"):
        matrics.judged.compare(counts, counts, "mcc", y_true=true, y_judge=judge, num_classes=2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected exactly one of half_width= and difference=, got neither"):
        matrics.judged.labels_needed(counts, "mcc")
    with pytest.raises(ValueError, match="half_width: expected a positive number, got 0"):
        matrics.judged.labels_needed(counts, "mcc", half_width=0)
    with pytest.raises(ValueError, match="metric: expected a measure with a single value"):
        matrics.judged.labels_needed(counts, "recall:class", half_width=0.1)
    with pytest.raises(ValueError, match=r"allocation: expected finite numbers \(n, n\)"):
        matrics.judged.choose_samples([[math.nan]], judge, pred)
    with pytest.raises(ValueError, match="y_pred: expected integers"):
        matrics.judged.choose_samples([[1, 0], [0, 1]], judge, pred[:50])
