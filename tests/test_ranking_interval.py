"""Limits of measures of scores: beside pROC, scikit-learn's weights, and formulas written out."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_names import of_scores
from scipy import optimize, stats

import matrics
from matrics import IntervalStatus

metrics = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(0)
# Turck and others 2010: outcome after a subarachnoid haemorrhage (1 is poor) and three markers. The numbers below are
# of pROC 1.18.0 with these data, in R 4.2.2.
WITH = Path(__file__).parent / "data" / "asah.csv"
ECE = "expected_calibration_error"
MEASURES = ("roc_auc", "average_precision", "log_loss", "brier_score")


def markers() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Outcomes, and the values of each marker."""
    with WITH.open() as file:
        rows = list(csv.DictReader(file))
    return np.asarray([int(row["outcome"]) for row in rows]), {
        name: np.asarray([float(row[name]) for row in rows]) for name in ("s100b", "ndka", "wfns")
    }


def drawn(size: int = 60, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and probabilities with ties."""
    y_true = RANDOM.integers(0, 2, size)
    logits = 1.2 * y_true + RANDOM.normal(size=(*shape, size)) - 0.6
    return y_true, np.round(1 / (1 + np.exp(-logits)), 2).clip(0.01, 0.99)


def by_weights(function: Any, y_true: Any, y_score: Any) -> np.ndarray:
    """The influence of each sample: the derivative of scikit-learn's measure by its weight."""
    found = []
    for k in range(len(y_true)):
        up, down = np.ones(len(y_true)), np.ones(len(y_true))
        up[k], down[k] = 1 + 1e-5, 1 - 1e-5
        found.append((function(y_true, y_score, up) - function(y_true, y_score, down)) / 2e-5)
    return np.asarray(found)


REFERENCES = {
    "roc_auc": lambda y, s, w: metrics.roc_auc_score(y, s, sample_weight=w),
    "average_precision": lambda y, s, w: metrics.average_precision_score(y, s, sample_weight=w),
    "log_loss": lambda y, s, w: metrics.log_loss(y, s, sample_weight=w),
    "brier_score": lambda y, s, w: metrics.brier_score_loss(y, s, sample_weight=w),
}


@pytest.mark.parametrize(
    ("name", "area", "variance", "low", "high"),
    [
        ("s100b", 0.73136856368563685, 0.0026686824571724378, 0.63011821176162264, 0.83261891560965107),
        ("ndka", 0.61195799457994582, 0.0031908105493913021, 0.50124499927170263, 0.72267098988818901),
        ("wfns", 0.82367886178861793, 0.0014699147088236264, 0.74853488781945288, 0.89882283575778299),
    ],
)
def test_delongs_limits_are_those_of_proc(name: str, area: float, variance: float, low: float, high: float) -> None:
    y_true, scores = markers()
    found = matrics.ranking.interval(y_true, scores[name], "roc_auc", method="delong")["roc_auc"]
    assert found.estimate == pytest.approx(area, rel=1e-13)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert (found.low, found.high) == (pytest.approx(low, rel=1e-12), pytest.approx(high, rel=1e-12))
    assert found.standard_error**2 == pytest.approx(matrics.ranking.roc_auc_variance(y_true, scores[name]), rel=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", MEASURES)
def test_variances_are_those_of_influences(name: str) -> None:
    y_true, y_score = drawn()
    found = matrics.ranking.interval(y_true, y_score, name)[name]
    influence = by_weights(REFERENCES[name], y_true, y_score)
    if name in {"roc_auc", "average_precision"}:
        parts = [influence[y_true == k] for k in (0, 1)]
        variance = sum(np.sum(part**2) * len(part) / (len(part) - 1) for part in parts)
    else:
        variance = np.sum(influence**2) * len(y_true) / (len(y_true) - 1)
    assert found.estimate == pytest.approx(REFERENCES[name](y_true, y_score, None), rel=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-5)
    assert found.low < found.estimate < found.high
    assert found.status == 0


def test_estimates_are_those_of_the_functions() -> None:
    y_true, y_score = RANDOM.integers(0, 3, 50), RANDOM.dirichlet(np.ones(3), 50)
    found = matrics.ranking.interval(y_true, y_score, (*MEASURES, "expected_calibration_error"), rng=0)
    for name, one in found.items():
        assert one.estimate == pytest.approx(of_scores(name)(y_true, y_score), rel=1e-13)
    by_class = matrics.ranking.interval(y_true, y_score, ("roc_auc", "average_precision"), average="class")
    for name, one in by_class.items():
        np.testing.assert_allclose(one.estimate, of_scores(name)(y_true, y_score, average="class"), rtol=1e-13)
    for k in range(3):
        alone = matrics.ranking.interval(y_true, y_score, "roc_auc", positive=k)["roc_auc"]
        for field, of_class in zip(alone, by_class["roc_auc"], strict=True):
            assert field == pytest.approx(of_class[k], rel=1e-12)


@pytest.mark.exhaustive
def test_the_mean_over_classes_adds_up_influences() -> None:
    y_true, y_score = RANDOM.integers(0, 3, 50), RANDOM.dirichlet(np.ones(3), 50)
    found = matrics.ranking.interval(y_true, y_score, "roc_auc")["roc_auc"]
    whole = np.zeros(50)
    for k in range(3):
        is_class = (y_true == k).astype(int)
        influence, size = by_weights(REFERENCES["roc_auc"], is_class, y_score[:, k]), is_class.sum()
        whole += influence * np.where(is_class, math.sqrt(size / (size - 1)), math.sqrt((50 - size) / (49 - size))) / 3
    assert found.standard_error == pytest.approx(math.sqrt(np.sum(whole**2)), rel=1e-5)


@pytest.mark.parametrize("positives", [5, 40])
def test_a_perfect_area_has_the_limit_of_its_equation(positives: int) -> None:
    y_true = np.repeat([0, 1], [30, positives])
    found = matrics.ranking.interval(y_true, np.linspace(0, 1, y_true.size), "roc_auc")["roc_auc"]

    def variance(t: float) -> list[float]:
        most = max(t * (1 - t) ** 2 / (2 - t), t**2 * (1 - t) / (1 + t))
        return [most / positives, most / 30]

    def reach(t: float, factor: float) -> float:
        return 1 - t - factor * math.sqrt(sum(variance(t)) + t * (1 - t) / positives / 30)

    first = optimize.brentq(reach, 0.01, 0.9999, args=(stats.norm.ppf(0.975),))
    a, b = variance(first)
    degrees = (a + b) ** 2 / (a**2 / (positives + 1) + b**2 / 31)
    assert found.low == pytest.approx(
        optimize.brentq(reach, 0.01, 0.9999, args=(stats.t.ppf(0.975, degrees),)), abs=1e-5
    )
    assert (found.high, found.status, found.standard_error) == (1, IntervalStatus.FEW_SAMPLES, 0)


def obuchowski(y_true: Any, y_score: Any, clusters: Any) -> float:
    """The variance of Obuchowski 1997, by its sums over clusters."""
    positive, negative = y_score[y_true == 1], y_score[y_true == 0]
    wins = (positive[:, None] > negative) + (positive[:, None] == negative) / 2
    area, names = wins.mean(), np.unique(clusters)
    x, y = (
        np.asarray([values[clusters[y_true == side] == name].sum() for name in names])
        for side, values in ((1, wins.mean(1) - area), (0, wins.mean(0) - area))
    )
    m, n, k = len(positive), len(negative), len(names)
    k1, k0 = (len(np.unique(clusters[y_true == side])) for side in (1, 0))
    s1, s0, both = k1 / ((k1 - 1) * m) * x @ x, k0 / ((k0 - 1) * n) * y @ y, k / (k - 1) * x @ y
    return float(s1 / m + s0 / n + 2 * both / (m * n))


def test_clusters_have_obuchowskis_variance() -> None:
    y_true, y_score = drawn(80)
    clusters = RANDOM.integers(0, 25, 80)
    found = matrics.ranking.interval(y_true, y_score, "roc_auc", clusters=clusters)["roc_auc"]
    assert found.standard_error**2 == pytest.approx(obuchowski(y_true, y_score, clusters), rel=1e-10)
    alone = matrics.ranking.interval(y_true, y_score, MEASURES, clusters=np.arange(80))
    for name, one in matrics.ranking.interval(y_true, y_score, MEASURES).items():
        for field, of_clusters in zip(one, alone[name], strict=True):
            assert field == pytest.approx(of_clusters, rel=1e-12)


def test_copies_of_samples_add_nothing() -> None:
    """Each sample three times, as a cluster, has the limits of the samples alone, but for fewer pairs."""
    y_true, y_score = drawn(120)
    once = matrics.ranking.interval(y_true, y_score, MEASURES)
    thrice = matrics.ranking.interval(
        np.tile(y_true, 3), np.tile(y_score, 3), MEASURES, clusters=np.tile(range(120), 3)
    )
    for name, one in once.items():
        assert thrice[name].standard_error == pytest.approx(one.standard_error, rel=2e-2)
        assert thrice[name].low == pytest.approx(one.low, abs=2e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MEASURES)
def test_the_bootstrap_agrees(name: str) -> None:
    y_true, y_score = drawn(300)
    found = matrics.ranking.interval(y_true, y_score, name)[name]
    many = matrics.ranking.interval(y_true, y_score, name, method="bootstrap", num=4000, rng=0)[name]
    assert many.estimate == pytest.approx(found.estimate, rel=1e-12)
    assert many.standard_error == pytest.approx(found.standard_error, rel=0.06)
    assert many.low == pytest.approx(found.low, abs=0.25 * (found.high - found.low))
    again = matrics.ranking.interval(y_true, y_score, name, method="bootstrap", num=4000, rng=0)[name]
    assert (again.low, again.high) == (many.low, many.high)


def test_recall_at_a_specificity_is_a_point_of_the_curve() -> None:
    y_true, y_score = drawn(200)
    fpr, tpr, _ = metrics.roc_curve(y_true, y_score, drop_intermediate=False)
    for specificity in (0.0, 0.5, 0.9, 0.95, 1.0):
        expected = tpr[fpr <= 1 - specificity + 1e-12].max()
        assert matrics.ranking.recall_at_specificity(y_true, y_score, specificity) == pytest.approx(expected, rel=1e-12)
        name = f"recall_at_specificity(specificity={specificity})"
        found = matrics.ranking.interval(y_true, y_score, name, rng=0, num=200)[name]
        assert found.estimate == pytest.approx(expected, rel=1e-12)
        assert found.low <= expected <= found.high


@pytest.mark.parametrize(("share", "size"), [(0.005, 400), (0.01, 400), (0.05, 400)])
def test_losses_of_a_confident_model_are_covered_by_enumeration(share: float, size: int) -> None:
    # All probabilities are 0.99 of one class: the losses have two values, by a binomial number of wrong labels.
    wrong = np.arange(int(stats.binom(size, share).ppf(1 - 1e-6)) + 1)
    y_true = (np.arange(size) % 2) ^ (np.arange(size) < wrong[:, None])
    y_prob = np.broadcast_to(np.where(np.arange(size) % 2, 0.99, 0.01), y_true.shape)
    truths = {
        "log_loss": -(1 - share) * math.log(0.99) - share * math.log(0.01),
        "brier_score": (1 - share) * 0.01**2 + share * 0.99**2,
    }
    probability = stats.binom(size, share).pmf(wrong)
    for name, one in matrics.ranking.interval(y_true, y_prob, list(truths)).items():
        covered = (one.low <= truths[name]) & (truths[name] <= one.high)
        assert probability[~covered & (one.status == 0)].sum() <= 0.07, name
        assert one.status[0] == IntervalStatus.NO_VARIATION  # without a wrong label all losses are equal
        assert np.isnan(one.low[0])
        assert (one.status[1:5] == IntervalStatus.FEW_SAMPLES).all()
        assert (one.status[5:] == 0).all()


def test_the_bootstrap_of_few_errors_has_their_status() -> None:
    y_true = np.arange(100) % 2
    y_prob = np.where(y_true, 0.9, 0.1)
    y_prob[:3] = 1 - y_prob[:3]
    one = matrics.ranking.interval(y_true, y_prob, "log_loss", method="bootstrap", num=200, rng=0)["log_loss"]
    assert one.status == IntervalStatus.FEW_SAMPLES


def test_a_calibrated_model_may_have_no_error() -> None:
    y_prob = RANDOM.random(2000)
    y_true = (RANDOM.random(2000) < y_prob).astype(int)
    found = matrics.ranking.interval(y_true, y_prob, "expected_calibration_error", rng=0)["expected_calibration_error"]
    assert found.estimate == pytest.approx(matrics.probabilities.expected_calibration_error(y_true, y_prob), rel=1e-12)
    assert (found.low, found.status) == (0, 0)
    bad = matrics.ranking.interval(y_true, y_prob**3, "expected_calibration_error", rng=0)["expected_calibration_error"]
    assert bad.low > 0.1


@pytest.mark.sampled(3)
def test_batches_are_one_by_one(backend: Any) -> None:
    y_true, y_score = drawn(40, 2, 3)
    names = (*MEASURES, "recall_at_specificity(specificity=0.8)")
    found = matrics.ranking.interval(backend.asarray(y_true), backend.asarray(y_score), names, rng=0, num=50)
    for name, one in found.items():
        assert tuple(one.estimate.shape) == (2, 3)
        assert type(one.low) is type(backend.asarray(y_score))
        if name in MEASURES:
            alone = matrics.ranking.interval(y_true, y_score[1, 2], name)[name]
            for field, of_batch in zip(alone, one, strict=True):
                np.testing.assert_allclose(backend.numpy(of_batch)[1, 2], field, **backend.tolerance)


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_bad_samples_stay_alone() -> None:
    y_true, y_score = drawn(80, 3)
    y_score[1, 4] = math.nan
    found = matrics.ranking.interval(y_true, y_score, "roc_auc")["roc_auc"]
    assert found.status.tolist() == [0, IntervalStatus.INVALID, 0]
    assert np.isnan(found.low).tolist() == np.isnan(found.estimate).tolist() == [False, True, False]
    kept = matrics.ranking.interval(y_true, y_score[::2], "roc_auc")["roc_auc"]
    np.testing.assert_array_equal(found.low[::2], kept.low)


def test_samples_that_are_left_out_are_not_there() -> None:
    y_true, y_score = drawn(40)
    wider, beside = np.append(y_true, [7, 7]), np.append(y_score, [0.5, math.nan])
    found = matrics.ranking.interval(wider, beside, MEASURES, ignore_index=7)
    for name, one in matrics.ranking.interval(y_true, y_score, MEASURES).items():
        assert tuple(found[name]) == pytest.approx(tuple(one), rel=1e-12)


@pytest.mark.parametrize(("y_true", "status"), [([1, 1, 1], 6), ([0, 0, 0], 6), ([0, 1, 1], 1), ([0, 0, 1], 1)])
def test_few_samples_have_a_status(y_true: list[int], status: int) -> None:
    found = matrics.ranking.interval(y_true, [0.2, 0.5, 0.4], "roc_auc")["roc_auc"]
    assert found.status == status
    assert np.isnan(found.low) == (status == 6)


def test_no_samples_are_undefined() -> None:
    for name, one in matrics.ranking.interval([], np.zeros(0), MEASURES).items():
        assert (np.isnan(one.estimate), one.status) == (True, IntervalStatus.UNDEFINED), name
    empty = matrics.ranking.interval(np.zeros((0, 5), int), np.zeros((0, 5)), "roc_auc")["roc_auc"]
    assert empty.low.shape == (0,)
    labels, scores = np.zeros((0, 5), int), np.zeros((0, 5, 3))
    assert matrics.ranking.interval(labels, scores, "roc_auc", average="class")["roc_auc"].low.shape == (0, 3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "recall"}, r"expected roc_auc, .*matrics\.interval"),
        ({"metrics": "recall_at_specificity"}, "specificity=0.9"),
        ({"metrics": "recall_at_specificity(specificity=2)"}, "from 0 to 1"),
        ({"metrics": "roc_auc(a=1)"}, "without options"),
        ({"metrics": []}, "names of measures, got none"),
        ({"metrics": "log_loss", "method": "delong"}, "expected 'auto' for log_loss"),
        ({"metrics": "expected_calibration_error", "method": "bootstrap"}, "above the true error"),
        ({"method": "exact"}, "expected 'auto', 'delong'"),
        ({"rng": 1}, "nothing is drawn"),
        ({"level": 95}, "between 0 and 1"),
        ({"clusters": [1, 2]}, "a cluster for each sample"),
        ({"clusters": [1] * 40}, "at least two"),
        ({"average": "class", "positive": 1}, 'expected "auto" with positive=1'),
        ({"average": "micro"}, "average: expected one of 'auto', 'macro', 'class', None, got 'micro'"),
        ({"average": ["macro"]}, "average: expected one of 'auto', 'macro', 'class', None, got .'macro'"),
        ({"average": np.asarray(["macro", "class"])}, "average: expected one of 'auto', 'macro', 'class', None"),
    ],
)
def test_bad_options_raise(options: dict[str, Any], message: str) -> None:
    y_true, y_score = drawn(40)
    with pytest.raises(ValueError, match=message):
        matrics.ranking.interval(y_true, y_score, **options)


def test_losses_need_probabilities() -> None:
    y_true, y_score = drawn(40)
    assert list(matrics.ranking.interval(y_true, y_score)) == list(MEASURES)
    assert list(matrics.ranking.interval(y_true, 5 * y_score)) == ["roc_auc", "average_precision"]
    with pytest.raises(ValueError, match=r"scores in \[0, 1\] for log_loss"):
        matrics.ranking.interval(y_true, 5 * y_score, "log_loss")


def test_a_class_without_samples_is_left_out() -> None:
    y_true, y_score = RANDOM.integers(0, 2, 60), RANDOM.dirichlet(np.ones(3), 60)
    mean = matrics.ranking.interval(y_true, y_score, "roc_auc")["roc_auc"]
    two = matrics.ranking.interval(y_true, y_score, "roc_auc", average="class")["roc_auc"]
    assert mean.status == IntervalStatus.EMPTY_CLASS
    assert mean.estimate == pytest.approx(two.estimate[:2].mean())
    assert np.isnan(two.low).tolist() == [False, False, True]
    drawn = matrics.ranking.interval(y_true, y_score, "roc_auc", average="class", method="bootstrap", num=50, rng=0)
    assert np.isnan(drawn["roc_auc"].low).tolist() == [False, False, True]


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_the_bootstrap_says_that_a_class_is_left_out(name: str) -> None:
    y_true, y_score = RANDOM.integers(0, 2, 90), RANDOM.dirichlet(np.ones(3), 90)
    options: dict[str, Any] = {"method": "bootstrap", "num": 100, "rng": 0}
    found = matrics.ranking.interval(y_true, y_score, [name, "log_loss"], **options)
    assert found[name].status == IntervalStatus.EMPTY_CLASS
    assert found["log_loss"].status == IntervalStatus.FEW_SAMPLES  # is of all classes
    every = RANDOM.permutation(np.arange(90) % 3)
    assert matrics.ranking.interval(every, y_score, name, **options)[name].status == IntervalStatus.OK


def test_clusters_are_known_and_of_one_kind() -> None:
    y_true, y_score = drawn(60)
    mixed = np.asarray([1, "a"] * 30, object)
    with pytest.raises(TypeError, match="clusters: expected values of a single kind, such as texts, got int, str"):
        matrics.ranking.interval(y_true, y_score, "roc_auc", clusters=mixed)
    with pytest.raises(TypeError, match="clusters: expected values of a single kind"):
        matrics.compare_models(y_true, [y_true, 1 - y_true], "mcc", num_classes=2, clusters=mixed)
    jax = pytest.importorskip("jax")
    codes = np.arange(60) // 3
    found = matrics.ranking.interval(y_true, y_score, "roc_auc", clusters=jax.numpy.asarray(codes))["roc_auc"]
    assert found == matrics.ranking.interval(y_true, y_score, "roc_auc", clusters=codes)["roc_auc"]
    with pytest.raises(TypeError, match="clusters: expected known values, outside jit"):
        jax.jit(lambda given: matrics.ranking.interval(y_true, y_score, "roc_auc", clusters=given))(codes)


@pytest.mark.parametrize(("share", "size"), [(0.5, 20), (0.2, 20), (0.3, 200)])
def test_a_lucky_calibration_error_has_an_upper_limit(share: float, size: int) -> None:
    """An error of exactly 0 says no more than that as many successes are likely: at least as far as Wilson's limits."""
    y_true = (np.arange(size) < share * size).astype(int)
    found = matrics.ranking.interval(y_true, np.full(size, share), ECE, rng=0)[ECE]
    cm = [[0, 0], [size * (1 - share), size * share]]
    limits = matrics.interval(cm, "recall:binary")["recall:binary"]
    assert (found.estimate, found.low) == (pytest.approx(0, abs=1e-12), 0)
    assert share - limits.low < found.high < 2 * (limits.high - share)


def test_a_calibration_error_is_at_most_1() -> None:
    for wrong in (0.01, 0.0):
        found = matrics.ranking.interval([0, 1] * 15, [1 - wrong, wrong] * 15, ECE, rng=0)[ECE]
        assert found.estimate == pytest.approx(1 - wrong)
        assert 0.8 < found.low < found.estimate <= found.high == 1


def test_clusters_vary_as_their_sums_do() -> None:
    """The standard error of samples as clusters of themselves is that of samples."""
    random = np.random.default_rng(3)
    y_prob = random.random(2000) * 0.5
    y_true = (random.random(2000) < 2 * y_prob).astype(int)
    alone = matrics.ranking.interval(y_true, y_prob, ECE, rng=0)[ECE]
    clusters = matrics.ranking.interval(y_true, y_prob, ECE, rng=0, clusters=np.arange(2000))[ECE]
    assert clusters.standard_error == pytest.approx(float(alone.standard_error), rel=0.1)
    assert (clusters.low, clusters.high) == (
        pytest.approx(float(alone.low), abs=0.01), pytest.approx(float(alone.high), abs=0.01),
    )  # fmt: skip


def test_a_single_cluster_that_is_left_has_no_limits() -> None:
    random = np.random.default_rng(5)
    y_true, y_prob, clusters = random.integers(0, 2, 60), random.random(60), np.arange(60) // 30
    y_true[30:] = -1
    options: dict[str, Any] = {"clusters": clusters, "ignore_index": -1, "rng": 0}
    found = matrics.ranking.interval(y_true, y_prob, ECE, **options) | matrics.probabilities.interval(
        y_true, y_prob, ["slope", "ici", "observed_expected_ratio"], **options
    )
    for one in found.values():
        assert math.isnan(one.low)
        assert math.isnan(one.high)
        assert one.status in (IntervalStatus.NO_VARIATION, IntervalStatus.UNDEFINED)
