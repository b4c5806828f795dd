"""Which class limits are of: positive, names of classes, classes in specs; and what is given in place of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matrics
from matrics._catalogue.naming import title_of

stats = pytest.importorskip("scipy.stats")
optimize = pytest.importorskip("scipy.optimize")

TWO = [[90, 10], [1, 9]]
THREE = np.asarray([[45, 5, 1], [10, 30, 3], [1, 2, 14]])
NAMES = ["ok", "odd", "fraud"]
RANDOM = np.random.default_rng(3)
SAMPLES = 400
TRUE = RANDOM.integers(0, 3, SAMPLES)
MODELS = np.stack([np.where(RANDOM.random(SAMPLES) < p, TRUE, RANDOM.integers(0, 3, SAMPLES)) for p in (0.8, 0.7)])
WEIGHTS = RANDOM.exponential(2.0, SAMPLES)


def wilson(hits: int, trials: int) -> tuple[float, float]:
    found = stats.binomtest(hits, trials).proportion_ci(0.95, method="wilson")
    return found.low, found.high


def test_the_words_of_two_classes(backend: Any) -> None:
    """Those of class 1, or of the positive one: each of another share, with Wilson's limits."""
    shares = {"sensitivity": (9, 10), "specificity": (90, 100), "ppv": (9, 19), "npv": (90, 91)}
    found = matrics.interval(backend.asarray(np.asarray(TWO)), list(shares))
    for name, share in shares.items():
        low, high = (float(backend.numpy(limit)) for limit in (found[name].low, found[name].high))
        assert (low, high) == pytest.approx(wilson(*share), rel=1e-5)
        assert title_of(next(key for key in found if key == name)) == f"{name} of class 1"
    turned = matrics.interval(TWO, list(shares), positive=0)
    assert turned["sensitivity"].low == pytest.approx(wilson(*shares["specificity"])[0])
    assert turned["ppv"].high == pytest.approx(wilson(*shares["npv"])[1])


@pytest.mark.parametrize(
    ("spec", "options", "share"),
    [
        ("recall[2]", {}, (14, 17)),
        ("precision[fraud]", {"class_names": NAMES}, (14, 18)),
        ("recall", {"positive": "odd", "class_names": NAMES}, (30, 43)),
        ("recall:binary", {"positive": 0}, (45, 51)),
        ("fpr[0]", {}, (11, 60)),
    ],
)
def test_one_class(spec: str, options: dict[str, Any], share: tuple[int, int]) -> None:
    found = matrics.interval(THREE, spec, **options)[spec]
    assert (found.low, found.high) == pytest.approx(wilson(*share))
    against = matrics.compare(THREE, 2 * THREE, spec, **options)[spec]
    assert against.difference == 0
    assert against.low == pytest.approx(-against.high, rel=0.5)
    # A proportion of a part of the samples takes as many of all as hold that part.
    needed = matrics.stats.samples_needed(THREE, spec, half_width=0.05, **options)
    p, z = share[0] / share[1], stats.norm.ppf(0.975)

    def too_wide(trials: float) -> float:
        """Half the width of Wilson's interval, beyond that which is wanted."""
        return z * math.sqrt(p * (1 - p) / trials + (z / trials / 2) ** 2) / (1 + z**2 / trials) - 0.05

    assert needed == math.ceil(optimize.brentq(too_wide, 10, 1e4) * THREE.sum() / share[1])


@pytest.mark.parametrize("method", ["auto", "delta", "bootstrap", "posterior"])
def test_every_average_has_limits(method: str) -> None:
    """That contain the estimate, within the range; of one class as of all of them."""
    specs = [
        "recall:min",
        "recall:max",
        "f1:geometric",
        "f1:macro[0,1]",
        "f1:min[0,2]",
        "mcc[1]",
        "precision:weighted[1,2]",
    ]
    options: dict[str, Any] = {"num": 500, "rng": 0} if method in ("bootstrap", "posterior") else {}
    found = matrics.interval(THREE, specs, method=method, **options)
    for spec, one in found.items():
        assert one.low < one.estimate < one.high, spec
        assert 0 < one.standard_error < 0.2, spec
    if method == "auto":
        alone = matrics.interval(THREE, ["recall:class", "f1[0]", "f1:macro[0]"])
        assert found["recall:min"].low == min(alone["recall:class"].low)
        assert found["recall:max"].high == max(alone["recall:class"].high)
        assert found["recall:min"].high > min(alone["recall:class"].high)
        one, other = (tuple(map(float, alone[key])) for key in ("f1[0]", "f1:macro[0]"))
        assert one == pytest.approx(other)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("spec", ["recall:min", "f1:min", "f1:max", "precision:max"])
def test_the_lowest_of_classes_that_are_alike(spec: str) -> None:
    """A share of the level holds it, although the estimate is too low; the delta method holds it in four of five."""
    shares = (np.eye(8) * 0.8 + (1 - np.eye(8)) * 0.2 / 7) / 8
    stack = RANDOM.multinomial(800, shares.ravel(), 1000).reshape(-1, 8, 8)
    truth = float(matrics.score(shares, spec)[spec])
    held = {}
    for method in ("auto", "delta"):
        found = matrics.interval(stack, spec, method=method)[spec]
        held[method] = np.mean((found.low <= truth) & (truth <= found.high))
    assert 0.94 <= held["auto"] <= 1
    assert held["delta"] < 0.9


def test_the_lowest_of_classes_without_samples() -> None:
    """These are left out; a class with a value and without limits leaves the extreme without them."""
    some = matrics.interval([[45, 5, 0], [10, 30, 0], [0, 0, 0]], ["recall:min", "recall:min[0,1]"])
    one, other = (tuple(map(float, part)) for part in some.values())
    assert one[0] == other[0]
    assert one[1] == other[1] < one[0] < other[2] <= one[2]
    empty = matrics.interval(np.zeros((3, 3)), "recall:min")["recall:min"]
    assert np.isnan(empty.low)
    assert empty.status == matrics.IntervalStatus.UNDEFINED
    clusters = RANDOM.poisson(2.0, (30, 4, 3, 3)) + np.eye(3, dtype=int) * 5
    found = matrics.interval(clusters, ["recall:min", "recall:class"], cluster_axis=0)
    np.testing.assert_array_equal(found["recall:min"].low, found["recall:class"].low.min(axis=-1))


@pytest.mark.exhaustive
def test_classes_under_jit(jax_backend: Any) -> None:
    import jax

    metrics = ["sensitivity", "recall:min", "f1[ok]", "mcc:one_vs_rest"]
    options: dict[str, Any] = {"positive": "ok", "class_names": ["ok", "fraud"], "invalid": "nan"}
    cm = jax_backend.asarray(np.asarray(TWO))
    traced = jax.jit(lambda cm: matrics.interval(cm, metrics, **options))(cm)
    wanted = matrics.interval(TWO, metrics, **options)
    assert sorted(traced) == sorted(wanted) == ["f1[ok]", "mcc/fraud", "mcc/ok", "recall:min", "sensitivity"]
    for key, one in wanted.items():
        np.testing.assert_allclose(jax_backend.numpy(traced[key].low), one.low, rtol=2e-3)
        np.testing.assert_allclose(jax_backend.numpy(traced[key].high), one.high, rtol=2e-3)
    with pytest.raises(TypeError, match="inspect values"):
        jax.jit(lambda cm: matrics.interval(cm, "mcc", invalid="raise"))(cm)


def test_one_class_of_an_overall_measure() -> None:
    whole = matrics.interval(THREE, "mcc:one_vs_rest")["mcc:one_vs_rest"]
    one = matrics.interval(THREE, "mcc[2]")["mcc[2]"]
    assert tuple(float(part) for part in one) == pytest.approx(tuple(float(part[2]) for part in whole))


def of_interval(**options: Any) -> Any:
    return matrics.interval(THREE, ["recall:class", "mcc:one_vs_rest", "f1"], **options)


def of_compare(**options: Any) -> Any:
    return matrics.compare(THREE, THREE.T, ["recall:class", "mcc:one_vs_rest", "f1"], **options)


def of_pair(**options: Any) -> Any:
    joint = matrics.stats.joint_confusion_matrix(TRUE, *MODELS, num_classes=3)
    return matrics.compare_paired(joint, ["recall:class", "mcc:one_vs_rest", "f1"], **options)


def of_models(**options: Any) -> Any:
    return matrics.compare_models(
        TRUE, MODELS, ["recall:class", "mcc:one_vs_rest", "f1"], num_classes=3, num=200, rng=0, **options
    )


@pytest.mark.parametrize("call", [of_interval, of_compare, of_pair, of_models])
def test_a_key_for_each_class(call: Callable[..., Any]) -> None:
    whole, named = call(), call(class_names=NAMES)
    assert list(named) == [*(f"{m}/{name}" for m in ("recall", "mcc") for name in NAMES), "f1"]
    assert [title_of(key) for key in named][2:] == [
        "recall of fraud",
        *(f"mcc of {name} against the rest" for name in NAMES),
        "f1, macro",
    ]

    def same(one: Any, other: Any, k: int) -> None:
        for part, field in zip(one, other, strict=True):
            if isinstance(part, tuple):
                same(part, field, k)
            elif part is not None:
                np.testing.assert_array_equal(part, np.asarray(field)[..., k])

    for k, name in enumerate(NAMES):
        same(named[f"recall/{name}"], whole["recall:class"], k)
        same(named[f"mcc/{name}"], whole["mcc:one_vs_rest"], k)


def test_models_have_labels() -> None:
    """The positive class is one of the labels; the display names are of other words."""
    labels = np.asarray(["a", "b", "c"])
    options: dict[str, Any] = {"num": 200, "rng": 0}
    plain = matrics.compare_models(TRUE, MODELS, ["recall", "recall[1]"], num_classes=3, positive=2, **options)
    found = matrics.compare_models(
        labels[TRUE], labels[MODELS], ["recall", "recall[b]"], labels=labels, positive="c", **options
    )
    assert [title_of(key) for key in found] == ["recall of c", "recall of b"]
    for one, other in zip(plain.values(), found.values(), strict=True):
        np.testing.assert_array_equal(one.differences.low, other.differences.low)
    with pytest.raises(ValueError, match=r"^positive: expected one of the classes 'a', 'b', 'c', got 2"):
        matrics.compare_models(labels[TRUE], labels[MODELS], "recall", labels=labels, positive=2)


def test_score_blocks_of_a_class() -> None:
    stack = np.stack([THREE, THREE.T])
    metrics = ["recall", "recall[ok]", "recall:class"]
    options: dict[str, Any] = {"class_names": NAMES, "positive": "fraud"}
    found, wanted = (
        matrics.score_blocks(stack, metrics, device=None, **options),
        matrics.score(stack, metrics, **options),
    )
    assert [*map(title_of, found)] == [*map(title_of, wanted)]
    for key, values in wanted.items():
        np.testing.assert_array_equal(found[key], values)


# Weights and samples that are left out --------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_weights_of_models() -> None:
    """Beside the linearised variance of a weighted mean (Särndal et al. 1992, eq. 5.7.1)."""
    found = matrics.compare_models(TRUE, MODELS, "accuracy", num_classes=3, sample_weight=WEIGHTS, num=20_000, rng=0)[
        "accuracy"
    ]
    right = MODELS == TRUE
    mean = (right * WEIGHTS).sum(1) / WEIGHTS.sum()
    np.testing.assert_allclose(found.intervals.estimate, mean, rtol=1e-12)
    error = np.sqrt((WEIGHTS**2 * (right - mean[:, None]) ** 2).sum(1)) / WEIGHTS.sum()
    np.testing.assert_allclose(found.intervals.standard_error, error, rtol=1e-9)
    trials, z = mean * (1 - mean) / error**2, 1.959964  # Wilson's interval of as many independent samples
    reach = z / (1 + z**2 / trials) * np.sqrt(mean * (1 - mean) / trials + z**2 / (4 * trials**2))
    np.testing.assert_allclose((found.intervals.high - found.intervals.low) / 2, reach, rtol=1e-6)
    gap = right[0] * 1.0 - right[1]
    apart = np.sqrt((WEIGHTS**2 * (gap - (mean[0] - mean[1])) ** 2).sum()) / WEIGHTS.sum()
    assert found.differences.standard_error[0, 1] == pytest.approx(apart, rel=0.02)
    again = matrics.compare_models(
        TRUE, MODELS, "accuracy", num_classes=3, sample_weight=1000 * WEIGHTS, num=20_000, rng=0
    )["accuracy"]
    np.testing.assert_allclose(again.intervals.low, found.intervals.low, rtol=1e-9)


def test_intervals_of_weighted_models_are_those_of_squared_weights() -> None:
    """Except those of measures of the number of samples, which have none; and equal weights are as no weights."""
    metrics = ["accuracy", "recall:class", "mcc", "f1", "tp:class"]
    options: dict[str, Any] = {"num_classes": 3, "num": 300, "rng": 0}
    found = matrics.compare_models(TRUE, MODELS, metrics, sample_weight=WEIGHTS, **options)
    tables = [
        np.stack([matrics.confusion_matrix(TRUE, model, num_classes=3, sample_weight=one) for model in MODELS])
        for one in (WEIGHTS, WEIGHTS**2)
    ]
    wanted = matrics.interval(tables[0], metrics[:-1], squared_weights=tables[1])
    for name, one in wanted.items():
        np.testing.assert_allclose(found[name].intervals.low, one.low, rtol=1e-9)
        np.testing.assert_allclose(found[name].intervals.high, one.high, rtol=1e-9)
        np.testing.assert_array_equal(found[name].intervals.status, one.status)
    assert np.isfinite(found["tp:class"].intervals.high).all()
    without = matrics.compare_models(TRUE, MODELS, metrics, **options)
    for weight in (1.0, 0.1, 7):
        equal = matrics.compare_models(TRUE, MODELS, metrics, sample_weight=np.full(SAMPLES, weight), **options)
        for name, one in without.items():
            for part, other in zip(
                (*one.intervals, *one.differences), (*equal[name].intervals, *equal[name].differences), strict=True
            ):
                np.testing.assert_array_equal(part, other)
            np.testing.assert_array_equal(one.probability_best, equal[name].probability_best)


def test_weights_of_clusters() -> None:
    """Each sample as a cluster of its own is the sample alone."""
    options: dict[str, Any] = {"num_classes": 3, "sample_weight": WEIGHTS, "num": 4000, "rng": 0}
    alone = matrics.compare_models(TRUE, MODELS, ["accuracy", "recall:class"], **options)
    by_cluster = matrics.compare_models(TRUE, MODELS, ["accuracy", "recall:class"], clusters=range(SAMPLES), **options)
    for key, one in alone.items():
        np.testing.assert_allclose(one.intervals.estimate, by_cluster[key].intervals.estimate, rtol=1e-12)
        np.testing.assert_allclose(one.intervals.low, by_cluster[key].intervals.low, atol=0.03)  # Wilson's
        np.testing.assert_allclose(
            one.differences.high, by_cluster[key].differences.high, atol=0.012
        )  # Student's quantile


def test_models_without_some_samples() -> None:
    """A class whose samples are left out takes no part in averages."""
    options: dict[str, Any] = {"num": 200, "rng": 0}
    kept = TRUE != 1
    clusters = np.arange(SAMPLES) // 4
    wanted = matrics.compare_models(
        TRUE[kept],
        MODELS[:, kept],
        "f1:macro[0,2]",
        num_classes=3,
        clusters=clusters[kept],
        sample_weight=WEIGHTS[kept],
        **options,
    )
    found = matrics.compare_models(
        TRUE, MODELS, "f1", num_classes=3, clusters=clusters, sample_weight=WEIGHTS, ignore_index=1, **options
    )
    np.testing.assert_array_equal(found["f1"].intervals.low, wanted["f1:macro[0,2]"].intervals.low)
    labels = np.asarray(["a", "b", "c"])
    named = matrics.compare_models(labels[TRUE], labels[MODELS], "f1", labels=labels, ignore_index="b", **options)
    plain = matrics.compare_models(TRUE, MODELS, "f1", num_classes=3, ignore_index=1, **options)
    np.testing.assert_array_equal(named["f1"].tied, plain["f1"].tied)
    outside = np.where(kept, TRUE, -1)
    left = matrics.compare_models(outside, MODELS, "f1:macro[0,2]", num_classes=3, ignore_index=-1, **options)
    np.testing.assert_array_equal(left["f1:macro[0,2]"].differences.low, plain["f1"].differences.low)


def test_joint_tables_of_groups_and_weights(backend: Any) -> None:
    groups = np.arange(SAMPLES) % 5
    wanted = np.zeros((5, 3, 3, 3))
    np.add.at(wanted, (groups, TRUE, *MODELS), WEIGHTS)
    samples = [backend.asarray(values) for values in (TRUE, *MODELS)]
    options: dict[str, Any] = {"groups": backend.asarray(groups), "num_groups": 5}
    weighted = matrics.stats.joint_confusion_matrix(
        *samples, num_classes=3, sample_weight=backend.asarray(WEIGHTS), **options
    )
    np.testing.assert_allclose(backend.numpy(weighted), wanted, rtol=1e-5, atol=1e-6)
    counted = backend.numpy(matrics.stats.joint_confusion_matrix(*samples, num_classes=3, **options))
    np.testing.assert_array_equal(counted.sum(0), matrics.stats.joint_confusion_matrix(TRUE, *MODELS, num_classes=3))
    found = matrics.compare_paired(counted, "accuracy", cluster_axis=0)["accuracy"]
    assert found.difference == pytest.approx((MODELS[0] == TRUE).mean() - (MODELS[1] == TRUE).mean())


def test_joint_weights_and_groups_are_checked() -> None:
    samples = ([0, 1], [0, 1], [1, 1])
    with pytest.raises(ValueError, match=r"^sample_weight: expected finite weights of at least 0, got -1"):
        matrics.stats.joint_confusion_matrix(*samples, num_classes=2, sample_weight=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"^groups: expected groups in \[0, 2\), got 2 at \(1,\)"):
        matrics.stats.joint_confusion_matrix(*samples, num_classes=2, groups=[0, 2], num_groups=2)
    with pytest.raises(TypeError, match=r"got groups alone"):
        matrics.stats.joint_confusion_matrix(*samples, num_classes=2, groups=[0, 1])


# What is refused ------------------------------------------------------------------------------------------------------


def test_labels_in_place_of_a_matrix() -> None:
    true, pred = [0, 1, 1], [0, 1, 0]
    for metrics in ((pred,), (np.asarray(pred),), ()):
        with pytest.raises(
            TypeError, match=r"got labels; .* matrics.interval\(matrics.confusion_matrix\(y_true, y_pred"
        ):
            matrics.interval(true, *metrics)
    with pytest.raises(TypeError, match=r"matrics.compare takes confusion matrices"):
        matrics.compare(true, pred)
    with pytest.raises(
        TypeError, match=r"matrics.compare_paired\(matrics.stats.joint_confusion_matrix\(y_true, y_a, y_b"
    ):
        matrics.compare_paired(np.asarray(true), np.asarray(pred))


def test_clusters_of_samples_beside_a_matrix() -> None:
    joint = np.ones((2, 2, 2))
    calls = [
        ("interval", lambda **o: matrics.interval(TWO, **o)),
        ("compare", lambda **o: matrics.compare(TWO, TWO, **o)),
        ("compare_paired", lambda **o: matrics.compare_paired(joint, **o)),
    ]
    for name, call in calls:
        with pytest.raises(TypeError, match=rf"matrics.{name}\(.*groups=clusters, num_groups=K\), cluster_axis=0\)$"):
            call(clusters=[0, 1])


def test_invalid_matrices() -> None:
    stack = np.asarray([TWO, [[1, -1], [2, 3]]])
    joint = np.ones((2, 2, 2, 2)) * [[[[1.0]]], [[[-1.0]]]]
    calls: list[Callable[..., Any]] = [
        lambda **o: matrics.interval(stack, "mcc", **o)["mcc"].status.tolist() == [1, 7],
        lambda **o: matrics.interval(stack, "mcc", cluster_axis=0, **o)["mcc"].status == 7,
        lambda **o: matrics.compare(stack, TWO, "mcc", **o)["mcc"].status.tolist() == [1, 7],
        lambda **o: matrics.compare_paired(joint, "mcc", **o)["mcc"].status.tolist() == [1, 7],
        lambda **o: np.isnan(matrics.stats.samples_needed(stack, "mcc", half_width=0.1, **o)[1]),
    ]
    for k, call in enumerate(calls):
        assert call(invalid="nan"), k
        with pytest.raises(matrics.InvalidConfusionMatrix):
            call(invalid="raise")
        with pytest.raises(ValueError, match=r"^invalid: expected 'warn', 'raise'"):
            call(invalid="ignore")
        if k != 1:  # the sum of clusters hides which was invalid
            with pytest.warns(RuntimeWarning, match="invalid"):
                assert call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1.0, 2.0]}, r"sample_weight: expected a value for each sample, \(400,\), got shape \(2,\)"),
        ({"sample_weight": np.zeros(SAMPLES)}, "sample_weight: expected a weight above 0, got none"),
        ({"sample_weight": -WEIGHTS}, "sample_weight: expected finite weights of at least 0"),
        ({"ignore_index": [0, 1, 2]}, "ignore_index: expected some samples to be left"),
        ({"clusters": [1, 2]}, r"clusters: expected a value for each sample, \(400,\)"),
        ({"class_names": ["a", "b"]}, "class_names: expected 3 different names"),
        ({"positive": 3}, "positive: expected the index of a class, from 0 to 2, got 3"),
    ],
)
def test_what_models_refuse(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        matrics.compare_models(TRUE, MODELS, "f1", num_classes=3, **options)
