"""Every threshold, and the best one: samples counted one by one as the referee."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import matrics
from matrics._ranking import best_interval

if TYPE_CHECKING:
    from conftest import Backend

sk = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(0)


def samples(batch: int = 12, number: int = 25, dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores with ties and without, and weights, some of them 0."""
    y = RANDOM.integers(0, 2, (batch, number))
    x = (RANDOM.normal(size=y.shape) + y).astype(dtype)
    x[: batch // 2] = np.round(x[: batch // 2] * 2) / 2
    return y, x, (RANDOM.integers(0, 4, y.shape) / 4).astype(dtype)


def counted(y: np.ndarray, x: np.ndarray, thresholds: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """Each threshold by itself, (B, T, 2, 2)."""
    w = np.ones(y.shape) if w is None else w.astype(np.float64)
    limits = np.broadcast_to(thresholds, (len(y), np.shape(thresholds)[-1]))
    return np.array(
        [
            [[[w[b][(y[b] == i) & ((x[b] >= t) == j)].sum() for j in (0, 1)] for i in (0, 1)] for t in limits[b]]
            for b in range(len(y))
        ]
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_matrices_at_given_thresholds(backend: Backend, *, weighted: bool) -> None:
    """In any order, some twice, some equal to scores, some beyond all."""
    y, x, w = samples()
    thresholds = np.float32([0.5, -9, 0, 9, 0.5, x[-1, 3], np.inf, -np.inf])

    def found(y: Any, x: Any, t: Any, *weight: Any) -> Any:
        return matrics.ranking.confusion_matrix(y, x, t, sample_weight=weight[0] if weight else None)

    arrays = [backend.asarray(a) for a in (y, x, thresholds, *([w] if weighted else []))]
    got = backend.numpy(backend.call(found, *arrays))
    assert got.dtype.kind == ("f" if weighted else "i")
    np.testing.assert_array_equal(got, counted(y, x, thresholds, w if weighted else None))  # quarters are exact


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_any_measure_at_every_score(backend: Backend, *, weighted: bool) -> None:
    y, x, w = samples(6)
    specs = ["recall", "precision:macro", "mcc", "fbeta(beta=2)", "recall:class", "cen"]

    def found(y: Any, x: Any, *weight: Any) -> Any:
        return matrics.ranking.threshold_curve(y, x, specs, sample_weight=weight[0] if weight else None)

    thresholds, values = backend.call(found, *(backend.asarray(a) for a in (y, x, *([w] if weighted else []))))
    thresholds = backend.numpy(thresholds)
    np.testing.assert_array_equal(thresholds[:, 0], np.inf)
    np.testing.assert_array_equal(thresholds[:, 1:], -np.sort(-x, axis=-1))
    assert sorted(values) == sorted(specs)  # jit sorts the keys
    if not backend.name.startswith("jax"):
        assert list(values) == specs
    cm = counted(y, x, thresholds, w if weighted else None)
    asked = ["recall:binary", "precision:macro", "mcc", "fbeta(beta=2):binary", "recall:class", "cen"]
    for spec, want in zip(specs, matrics.score(cm, asked).values(), strict=True):
        got = backend.numpy(values[spec])
        assert got.shape == (6, 26, 2)[: 2 + (spec == "recall:class")]
        np.testing.assert_allclose(got, want, **backend.tolerance)


def test_curves_are_those_of_scikit_learn() -> None:
    y, x, w = samples(40, 30, np.float64)
    for labels, scores, weights in zip(y, x, w, strict=True):
        fpr, tpr, thresholds = sk.roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
        ours = matrics.ranking.roc_curve(labels, scores, sample_weight=weights)
        kept = np.unique(-ours.thresholds, return_index=True)[1]
        # scikit-learn leaves out samples of weight 0, whose scores are thresholds here.
        kept = kept[np.isin(ours.thresholds[kept], thresholds)]
        for got, want in zip(ours, (fpr, tpr, thresholds), strict=True):
            np.testing.assert_allclose(got[kept], want, rtol=1e-14)
        precision, recall, thresholds = sk.precision_recall_curve(labels, scores, sample_weight=weights)
        curve = matrics.ranking.precision_recall_curve(labels, scores, sample_weight=weights)
        places = [np.flatnonzero(curve.thresholds == threshold)[-1] for threshold in thresholds]
        np.testing.assert_allclose(curve.precision[places], precision[:-1], rtol=1e-14)
        np.testing.assert_allclose(curve.recall[places], recall[:-1], rtol=1e-14)


def test_unique_leaves_out_repeats() -> None:
    y, x = [0, 1, 1, 0, 1], [0.5, 0.5, 0.25, 0.5, 1.0]
    curve = matrics.ranking.threshold_curve(y, x, "recall", unique=True)
    assert curve.thresholds.tolist() == [math.inf, 1, 0.5, 0.25]
    assert curve["recall"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    whole = matrics.ranking.threshold_curve(y, x, "recall")
    assert whole.thresholds.tolist() == [math.inf, 1, 0.5, 0.5, 0.5, 0.25]
    assert whole["recall"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 1])
    assert matrics.ranking.threshold_curve(y, [0.1, 0.2, 0.3, 0.4, 0.5], "recall", unique=True).thresholds.shape == (6,)
    with pytest.raises(ValueError, match="expected the scores of a single curve"):
        matrics.ranking.threshold_curve([y, y], [x, x], "recall", unique=True)
    with pytest.raises(ValueError, match="expected thresholds=None"):
        matrics.ranking.threshold_curve(y, x, "recall", unique=True, thresholds=[0.5])


def test_a_threshold_means_what_it_means_in_confusion_matrix() -> None:
    """Float32 scores are compared in float32: 0.7 is at least 0.7."""
    x, y = np.float32([0.1, 0.7, 0.3]), [0, 1, 1]
    for threshold in (0.1, 0.7, 0.3, 0.5):
        one = matrics.confusion_matrix(y, x, num_classes=2, threshold=threshold)
        np.testing.assert_array_equal(matrics.ranking.confusion_matrix(y, x, [threshold])[0], one)


@pytest.mark.sampled(1)
def test_classes_against_the_rest(backend: Backend) -> None:
    y, x = RANDOM.integers(0, 3, (2, 15)), (RANDOM.integers(0, 8, (2, 15, 3)) / 8).astype(np.float32)
    given = np.float32([0.25, 0.5])

    def found(y: Any, x: Any, t: Any) -> Any:
        return matrics.ranking.confusion_matrix(y, x, t), matrics.ranking.threshold_curve(y, x, "f1")["f1"]

    cm, f1 = (backend.numpy(part) for part in backend.call(found, *map(backend.asarray, (y, x, given))))
    assert cm.shape == (2, 3, 2, 2, 2)
    for k in range(3):
        np.testing.assert_array_equal(cm[:, k], counted((y == k).astype(int), x[:, :, k], given))
        want = matrics.ranking.threshold_curve((y == k).astype(int), x[:, :, k], "f1")["f1"]
        np.testing.assert_allclose(f1[:, k], want, **backend.tolerance)


def best_by_hand(y: np.ndarray, x: np.ndarray, metric: str, least_recall: float, sign: int) -> tuple[float, float]:
    """Try every threshold, the highest first."""
    best = (math.nan, math.nan)
    for threshold in [math.inf, *sorted(set(x.tolist()), reverse=True)]:
        scores = matrics.score(counted(y[None], x[None], np.array([threshold]))[0, 0], [metric, "recall:binary"])
        value, recall = (float(one) for one in scores.values())
        if recall >= least_recall and not math.isnan(value) and not sign * value <= sign * best[1]:
            best = (threshold, value)
    return best


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("metric", "sign"), [("f1", 1), ("mcc", 1), ("cen", -1)])
def test_the_best_threshold(backend: Backend, metric: str, sign: int) -> None:
    y, x, _ = samples(8)
    y[0] = 0

    def found(y: Any, x: Any) -> Any:
        return matrics.ranking.best_threshold(y, x, metric, subject_to="recall >= 0.6")

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # on the host it says that a curve without positive samples has none
        got = backend.call(found, backend.asarray(y), backend.asarray(x))
    spec = metric if metric != "f1" else "f1:binary"
    for b in range(8):
        threshold, value = best_by_hand(y[b], x[b], spec, 0.6, sign)
        assert backend.numpy(got.value)[b] == pytest.approx(value, rel=1e-5, nan_ok=True)
        if backend.float64:  # in float32 two thresholds may have equal values that rounding tells apart
            assert backend.numpy(got.threshold)[b] == pytest.approx(threshold, nan_ok=True)


def test_undefined_values_never_win() -> None:
    """Precision is undefined where no sample is predicted as positive, and recall without positive samples."""
    assert matrics.ranking.best_threshold([1, 0], [0.1, 0.9], "precision") == (0.1, 0.5)
    found = matrics.ranking.best_threshold([0, 0], [0.1, 0.9], "recall")
    assert math.isnan(found.threshold)
    assert math.isnan(found.value)
    assert matrics.ranking.best_threshold([0, 0], [0.1, 0.9], "recall", zero_division=0) == (math.inf, 0)


def test_constraints() -> None:
    y, x = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.6, 0.9]
    best = matrics.ranking.best_threshold
    assert best(y, x, "recall", subject_to="fpr<=0.2").threshold == 0.6
    assert best(y, x, "recall", subject_to="fpr<0.34,precision>0.7").threshold == 0.3
    assert best(y, x, "recall", subject_to=["fbeta(beta=2)>=0.5", "precision >= 0.9"]).threshold == 0.6
    assert best(y, x, "fpr", subject_to="recall>=0.9") == (0.3, pytest.approx(1 / 3))  # lower is better
    # Of class 1, not the mean over both classes, which "recall:macro" is.
    assert best(y, x, "precision", subject_to="recall>=1").threshold == 0.3
    assert best(y, x, "precision", subject_to="recall:macro>=0.83").threshold == 0.6


def test_an_impossible_constraint_names_the_best_attainable() -> None:
    y, x = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.9, 0.6]
    with pytest.raises(ValueError, match=r"no threshold has mcc>=0.9; the best attainable mcc is 0.707107"):
        matrics.ranking.best_threshold(y, x, "recall", subject_to="mcc>=0.9")
    message = r"no threshold has recall>=1 and fpr<=0.1; .* recall is 1, .* fpr is 0 \(each alone\)"
    with pytest.raises(ValueError, match=message):
        matrics.ranking.best_threshold(y, x, "f1", subject_to="recall>=1, fpr<=0.1")
    with pytest.warns(RuntimeWarning, match=r"\(curve \[1\]; 1 of 2 have none\)"):
        found = matrics.ranking.best_threshold(
            [y, y], [[0.1, 0.2, 0.6, 0.3, 0.7, 0.8], x], "f1", subject_to="mcc>=0.75"
        )
    assert np.isnan(found.threshold).tolist() == [False, True]


def test_a_goal_that_is_undefined_wherever_the_constraint_holds() -> None:
    """The constraint is not to blame: at the threshold infinity the specificity is 1, and precision 0/0."""
    y, x, goal = [0, 1, 0], [0.9, 0.5, 0.5], ("precision", "specificity>=0.9")
    message = r"^metric: precision is undefined \(0/0\) at the only threshold with specificity>=0.9: "
    for level in (None, 0.95):
        with pytest.raises(ValueError, match=message):
            matrics.ranking.best_threshold(y, x, goal[0], subject_to=goal[1], level=level)
    with pytest.raises(ValueError, match=r"mcc is undefined .* at all 3 thresholds with accuracy>=0 and fpr<=1"):
        matrics.ranking.best_threshold([0, 0], x[:2], "mcc", subject_to=["accuracy>=0", "fpr<=1"])
    found = matrics.ranking.best_threshold(y, x, goal[0], subject_to=goal[1], zero_division=0)
    assert found == (math.inf, 0)
    with pytest.warns(RuntimeWarning, match=r"precision is undefined .* \(curve \[0\]; 1 of 2 have none\)"):
        found = matrics.ranking.best_threshold([y, [1, 0, 0]], [x, x], goal[0], subject_to=goal[1])
    assert np.isnan(found.value).tolist() == [True, False]
    with pytest.raises(ValueError, match=r"no threshold has recall>=0.5; recall is undefined"):
        matrics.ranking.best_threshold([0, 0], x[:2], "fpr", subject_to="recall>=0.5")


def test_an_infinite_value_is_the_worst_but_no_nan() -> None:
    """NLR is infinite at the only threshold with this recall; a smaller one is better, and none is there."""
    y, x = [0, 1, 1], [0.9, 0.5, 0.5]
    found = matrics.ranking.best_threshold(y, x, "nlr", subject_to="fpr>=1, recall<=0.5")
    assert found == (0.9, math.inf)


@pytest.mark.parametrize(
    ("metric", "subject_to", "message"),
    [
        ("f1", "recall", "expected a measure, >=, <=, > or <, and a number, such as 'recall>=0.9', got 'recall'"),
        ("f1", "recall>=x", "expected a number after >= in 'recall>=x', got 'x'"),
        ("f1", "rekall>=1", "unknown metric 'rekall'; did you mean recall"),
        ("f1", "core>=1", "expected a single measure before >="),
        ("f1", 3, "subject_to: expected text such as"),
        ("f1", {"recall": 0.9}, "subject_to: expected text such as"),
        ("f1", "recall>=nan", "expected a number after >= in 'recall>=nan', got 'nan'"),
        ("f1", " ", "subject_to: expected constraints such as 'recall>=0.9', got an empty text"),
        ("core", None, "metric: expected a single measure, got 9"),
        ("recall:class", None, "expected a measure with a single value for each matrix"),
        ("f1", "recall:class>=0.5", "expected a measure with a single value for each matrix"),
        ("imbalance_ratio", None, "higher or lower values are better"),
    ],
)
def test_errors(metric: str, subject_to: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        matrics.ranking.best_threshold([0, 1], [0.2, 0.3], metric, subject_to=subject_to)


def test_bad_thresholds() -> None:
    with pytest.raises(ValueError, match=r"thresholds: expected numbers of shape \(T,\), got shape \(1, 1\)"):
        matrics.ranking.confusion_matrix([0, 1], [0.2, 0.3], [[0.5]])
    with pytest.raises(ValueError, match="thresholds: expected numbers, got NaN at 1"):
        matrics.ranking.confusion_matrix([0, 1], [0.2, 0.3], [0.5, math.nan])
    assert matrics.ranking.confusion_matrix([0, 1], [0.2, 0.3], [1, 0])[:, 1, 1].tolist() == [0, 1]


def test_the_bootstrap_is_that_of_samples_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same draws, but each replicate is made of its samples, and its threshold found by the public function."""
    monkeypatch.setattr(best_interval, "is_best_at_positives", lambda *_: False)  # or only counts are drawn
    y, x, _ = samples(1, 60)
    y, x = y[0], x[0].astype(np.float64)
    found = matrics.ranking.best_threshold(y, x, "f1", subject_to="precision>=0.5", num=200, rng=3, level=0.8)
    order = np.lexsort((1 - y, -x))
    draws = drawn_times(np.random.default_rng(3), 60, 200)
    chosen = []
    for draw in draws:
        index = np.repeat(order, draw)
        threshold, value = matrics.ranking.best_threshold(y[index], x[index], "f1", subject_to="precision>=0.5")
        there = matrics.score(matrics.confusion_matrix(y, x, num_classes=2, threshold=threshold), "f1:binary")
        chosen.append((threshold, value, float(there["f1:binary"])))
    thresholds, values, others = np.array(chosen).T
    assert found.optimism == pytest.approx(np.mean(values - others), rel=1e-12)
    assert found.optimism > 0
    best = matrics.ranking.best_threshold(y, x, "f1", subject_to="precision>=0.5")
    assert found.threshold_interval.estimate == best.threshold
    assert found.value_interval.estimate == pytest.approx(best.value - found.optimism)
    low, high = np.quantile(thresholds, [0.1, 0.9], method="inverted_cdf")
    assert (found.threshold_interval.low, found.threshold_interval.high) == (low, high)
    assert found.value_interval.low == pytest.approx(np.quantile(values, 0.1) - 3 * found.optimism)
    assert found.value_interval.high == pytest.approx(np.quantile(values, 0.9) - 1.25 * found.optimism)
    assert found.value_interval.status == matrics.IntervalStatus.OK


@pytest.mark.exhaustive
@pytest.mark.parametrize(("metric", "size", "share"), [("mcc", 60, 0.5), ("accuracy", 100, 0.3)])
def test_limits_contain_the_value_on_new_samples(metric: str, size: int, share: float) -> None:
    """Of normal scores, whose rates at a threshold are known; quantiles without the extra room held in 86 to 87 %."""
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(size)
    y = random.permuted(np.arange(size)[None, :] < np.full((600, 1), round(size * share)), axis=1).astype(int)
    x = random.normal(size=y.shape) + 1.5 * y
    found = matrics.ranking.best_threshold(y, x, metric, num=100, rng=0, level=0.95)
    hits, alarms = (
        stats.norm.sf(found.threshold_interval.estimate - 1.5),
        stats.norm.sf(found.threshold_interval.estimate),
    )
    cells = [(1 - share) * (1 - alarms), (1 - share) * alarms, share * (1 - hits), share * hits]
    exact = matrics.score(np.stack(cells, axis=-1).reshape(-1, 2, 2), metric)[metric]
    held = (found.value_interval.low <= exact) & (exact <= found.value_interval.high)
    assert held.mean() > 0.93
    assert (found.value_interval.status == matrics.IntervalStatus.OK).mean() > 0.95


def drawn_times(random: np.random.Generator, units: int, number: int) -> np.ndarray:
    """How often each unit is drawn in so many replicates."""
    return np.array([np.bincount(random.integers(0, units, units), minlength=units) for _ in range(number)])


def drawn_by_hand(y: np.ndarray, x: np.ndarray, w: np.ndarray, unit: np.ndarray, rng: int) -> np.ndarray:
    """The choice of each of 50 replicates: threshold, its value there, and on all samples."""
    units, code = np.unique(unit, return_inverse=True)
    times = drawn_times(np.random.default_rng(rng), len(units), 50)
    chosen = []
    for draw in times:
        index = np.repeat(np.arange(len(y)), draw[code])
        threshold, value = matrics.ranking.best_threshold(y[index], x[index], "f1", sample_weight=w[index])
        cm = matrics.ranking.confusion_matrix(y, x, [threshold], sample_weight=w)[0]
        chosen.append((threshold, value, float(matrics.score(cm, "f1:binary")["f1:binary"])))
    return np.array(chosen).T


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_bootstrap_of_clusters(*, is_weighted: bool) -> None:
    """Whole patients are drawn, with all of their samples and the weights of these."""
    y, x = RANDOM.integers(0, 2, 80), RANDOM.random(80)
    w = RANDOM.random(80) if is_weighted else np.ones(80)
    patients = np.array([f"patient {k}" for k in RANDOM.permutation(np.arange(80) % 25)])
    options = {"sample_weight": w} if is_weighted else {}
    found = matrics.ranking.best_threshold(y, x, "f1", clusters=patients, num=50, rng=2, level=0.8, **options)
    thresholds, values, others = drawn_by_hand(y, x, w, patients, 2)
    assert found.optimism == pytest.approx(np.mean(values - others), rel=1e-9)
    low, high = np.quantile(thresholds, [0.1, 0.9], method="inverted_cdf")
    estimate = matrics.ranking.best_threshold(y, x, "f1", sample_weight=w).threshold
    assert (found.threshold_interval.low, found.threshold_interval.high) == (min(low, estimate), max(high, estimate))
    assert found.threshold_interval.estimate == estimate
    few = matrics.ranking.best_threshold(y, x, "f1", clusters=np.arange(80) % 5, num=50, rng=2, level=0.95)
    assert few.value_interval.status == matrics.IntervalStatus.FEW_SAMPLES


def test_the_bootstrap_of_weighted_samples_and_of_some() -> None:
    """Samples that are left out are as if they were not there."""
    y, x, w = RANDOM.integers(0, 2, 60), np.sort(RANDOM.random(60))[::-1], RANDOM.random(60)
    found = matrics.ranking.best_threshold(y, x, "f1", sample_weight=w, num=50, rng=4, level=0.95)
    _, values, others = drawn_by_hand(y, x, w, np.arange(60), 4)  # scores descend, as the samples that are drawn
    assert found.optimism == pytest.approx(np.mean(values - others), rel=1e-9)
    more = np.r_[y, 7, 9], np.r_[x, 0.4, 0.6]
    for options in ({"ignore_index": [7, 9]}, {"ignore_index": [7, 9], "sample_weight": np.r_[w, 1, 2]}):
        weights = {"sample_weight": w} if "sample_weight" in options else {}
        got = matrics.ranking.best_threshold(*more, "f1", num=50, rng=4, **options, level=0.95)  # type: ignore[arg-type]
        want = matrics.ranking.best_threshold(y, x, "f1", num=50, rng=4, **weights, level=0.95)  # type: ignore[arg-type]
        np.testing.assert_allclose(
            np.r_[got.threshold_interval, got.value_interval, got.optimism],
            np.r_[want.threshold_interval, want.value_interval, want.optimism],
        )
    named = np.where(y == 1, "sick", "well")
    got = matrics.ranking.best_threshold(named, x, "f1[well]", positive="sick", num=50, rng=4, level=0.95)
    want = matrics.ranking.best_threshold(y, x, "f1[0]", num=50, rng=4, level=0.95)
    np.testing.assert_array_equal(
        np.r_[got.threshold_interval, got.value_interval], np.r_[want.threshold_interval, want.value_interval]
    )


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([1, 2], r"clusters: expected a cluster for each sample, \(4,\), got shape \(2,\)"),
        ([1, 1, 1, 1], "clusters: expected at least two, got 1"),
        (["a", None, "b", "b"], "clusters: expected a value for each sample, got None at 1"),
    ],
)
def test_clusters_that_are_none(clusters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrics.ranking.best_threshold([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], "f1", clusters=clusters, level=0.95)


def test_an_interval_holds_its_estimate() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 50)
    x = random.normal(size=50) + y
    for part in matrics.ranking.best_threshold(y, x, "recall", subject_to="precision>=.6", rng=0, num=50, level=0.95)[
        2:4
    ]:
        assert part.low <= part.estimate <= part.high


def test_infinite_values_have_intervals_without_limits() -> None:
    """The odds ratio of perfect scores is infinite everywhere."""
    found = matrics.ranking.best_threshold(
        [0, 0, 1, 1] * 10, [0.1, 0.2, 0.8, 0.9] * 10, "odds_ratio", num=9, rng=0, level=0.9
    )
    assert found.value_interval.estimate == math.inf
    assert math.isnan(found.value_interval.low)
    assert found.value_interval.status == matrics.IntervalStatus.NO_VARIATION
    assert found.threshold_interval.estimate == 0.9


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_intervals_of_several_curves_and_of_too_few_samples() -> None:
    y, x, _ = samples(3, 30)
    x[2, 0] = np.nan
    found = matrics.ranking.best_threshold(y, x, "mcc", num=50, rng=0, level=0.95)
    assert found.value_interval.low.shape == found.optimism.shape == (3,)
    assert found.threshold_interval.status.tolist() == [1, 1, 6]
    assert np.isnan(found.value_interval.low).tolist() == [False, False, True]


def test_intervals_count_replicates_without_a_choice() -> None:
    """A constraint that is just kept on the samples is not on many replicates."""
    y = np.array([0, 1] * 20)
    x = np.where(RANDOM.random(40) < 0.9, y, 1 - y) + RANDOM.random(40) / 100
    best = matrics.ranking.best_threshold(y, x, "mcc").value
    found = matrics.ranking.best_threshold(y, x, "f1", subject_to=f"mcc>={best}", num=100, rng=0, level=0.95)
    assert found.value_interval.undefined > 5
    assert found.value_interval.status == matrics.IntervalStatus.UNDEFINED_REPLICATES


@pytest.mark.parametrize("option", [{"clusters": [1, 2]}, {"num": 10}, {"rng": 0}])
def test_what_only_intervals_need(option: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"{next(iter(option))}: expected None without level=, as only limits need it"):
        matrics.ranking.best_threshold([0, 1], [0.5, 0.2], "f1", **option)


def test_intervals_need_samples() -> None:
    with pytest.raises(ValueError, match="expected samples to draw from, got none"):
        matrics.ranking.best_threshold([], [], "f1", level=0.95)


def test_intervals_are_for_the_host() -> None:
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="expected arrays in the memory of the CPU"):
        jax.jit(lambda y, x: matrics.ranking.best_threshold(y, x, "f1", level=0.95).optimism)(
            jax.numpy.asarray([0, 1]), jax.numpy.asarray([0.5, 0.2])
        )


@pytest.mark.exhaustive
def test_lists_of_thresholds_in_compiled_code_and_on_devices() -> None:
    torch = pytest.importorskip("torch")
    y, x, _ = samples(2, 9)
    labels, scores, limits = torch.from_numpy(y), torch.from_numpy(x), [0.5, 0, -0.1]

    def everything(y: Any, x: Any) -> tuple[Any, ...]:
        curve = matrics.ranking.threshold_curve(y, x, "f1", thresholds=limits)
        return matrics.ranking.confusion_matrix(y, x, limits), curve.thresholds, curve["f1"]

    got, at, f1 = torch.compile(everything, fullgraph=True, backend="aot_eager")(labels, scores)
    np.testing.assert_array_equal(got, counted(y, x, np.float32(limits)))
    np.testing.assert_array_equal(at, np.float32([limits] * 2))
    np.testing.assert_allclose(f1, matrics.ranking.threshold_curve(y, x, "f1", thresholds=limits)["f1"])
    assert matrics.ranking.confusion_matrix(labels.to("meta"), scores.to("meta"), limits).shape == (2, 3, 2, 2)
    with pytest.raises(ValueError, match="thresholds: expected numbers, got NaN at 1"):
        matrics.ranking.confusion_matrix(labels.to("meta"), scores.to("meta"), [0.5, math.nan])


def test_small_weights_beside_large_ones() -> None:
    """Their errors are counted, not lost in a difference of sums."""
    y, x = np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.2, 0.1])
    w = np.array([1e8, 1e8, 1e-9, 1e-9])
    curve = matrics.ranking.threshold_curve(y, x, ["fnr", "npv"], sample_weight=w)
    np.testing.assert_allclose(curve["fnr"][1:3], 1e-17, rtol=1e-9)
    assert curve["npv"][2] == 0.5


@pytest.mark.filterwarnings("ignore:torch.searchsorted")  # under vmap PyTorch copies what it calls non-contiguous
def test_thresholds_of_a_library_beside_constants() -> None:
    """The thresholds alone may be of PyTorch or JAX, and be traced."""
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    y, x, w = samples(2, 9)
    limits = np.float32([0.5, 0, -0.1])
    want = counted(y, x, limits, w)

    def found(t: Any) -> Any:
        return matrics.ranking.confusion_matrix(y, x, t, sample_weight=w)

    for asarray in (torch.from_numpy, jax.numpy.asarray):
        got = found(asarray(limits))
        assert type(got) is type(asarray(limits))
        np.testing.assert_array_equal(got, want)
        curve = matrics.ranking.threshold_curve(y.tolist(), x.tolist(), "f1", thresholds=asarray(limits))
        assert type(curve["f1"]) is type(curve.thresholds) is type(asarray(limits))
    np.testing.assert_array_equal(jax.jit(found)(limits), want)
    one = jax.jit(jax.vmap(lambda t: found(t[None])[:, 0]))(jax.numpy.asarray(limits))
    np.testing.assert_array_equal(np.moveaxis(np.asarray(one), 0, 1), want)
    mapped = torch.func.vmap(lambda t: found(t[None])[:, 0], out_dims=1)(torch.from_numpy(limits))
    np.testing.assert_array_equal(mapped, want)
