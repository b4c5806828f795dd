"""Thresholds at another prevalence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(36)
SPECS = ["ppv", "npv", "recall", "f1", "mcc"]


def samples(number: int = 60) -> tuple[np.ndarray, np.ndarray]:
    y_true = np.arange(number) % 2
    return y_true, np.round((y_true + RANDOM.normal(size=number)) * 8) / 8


def by_hand(y_true: Any, y_score: Any, limit: float, share: float) -> dict[str, float]:
    positive, hit = y_true == 1, y_score >= limit
    se, fpr = hit[positive].mean(), hit[~positive].mean()
    tp, fp, fn, tn = share * se, (1 - share) * fpr, share * (1 - se), (1 - share) * (1 - fpr)
    with np.errstate(all="ignore"):
        return {
            "ppv": tp / (tp + fp),
            "npv": tn / (tn + fn),
            "recall": se,
            "f1": 2 * tp / (2 * tp + fp + fn),
            "mcc": (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        }


@pytest.mark.sampled(2)
def test_a_curve(backend: Any) -> None:
    y_true, y_score = samples()

    def curve(y_true: Any, y_score: Any) -> Any:
        found = matrics.ranking.threshold_curve(y_true, y_score, SPECS, prevalence=0.02)
        return found.thresholds, *found.values.values()

    limits, *found = backend.call(curve, backend.asarray(y_true, np.int64), backend.asarray(y_score))
    wanted = [by_hand(y_true, y_score, limit, 0.02) for limit in backend.numpy(limits)]
    for name, values in zip(SPECS, found, strict=True):
        tolerance = {"rtol": 1e-6, "atol": 1e-9} if backend.float64 else {"rtol": 1e-3, "atol": 1e-4}
        np.testing.assert_allclose(backend.numpy(values), [one[name] for one in wanted], **tolerance)


def test_given_thresholds_and_several_prevalences() -> None:
    y_true, y_score = samples()
    shares = np.asarray([0.01, 0.1, 0.5])
    found = matrics.ranking.threshold_curve(y_true, y_score, "ppv", thresholds=[0.5, 1.0], prevalence=shares[:, None])
    assert found["ppv"].shape == found.thresholds.shape == (3, 2)
    for i, share in enumerate(shares):
        for j, limit in enumerate((0.5, 1.0)):
            np.testing.assert_allclose(found["ppv"][i, j], by_hand(y_true, y_score, limit, share)["ppv"])
    best = matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=shares[:, None])
    alone = [matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=float(share)) for share in shares]
    np.testing.assert_allclose(best.threshold, [one.threshold for one in alone])
    np.testing.assert_allclose(best.value, [one.value for one in alone])


@pytest.mark.sampled(1)
def test_the_best_threshold_is_the_best_of_all(backend: Any) -> None:
    y_true, y_score = samples()
    wanted = {limit: by_hand(y_true, y_score, limit, 0.05) for limit in [np.inf, *y_score]}

    def best(y_true: Any, y_score: Any) -> Any:
        return tuple(matrics.ranking.best_threshold(y_true, y_score, "f1", subject_to="ppv>=0.2", prevalence=0.05))

    limit, value = backend.call(best, backend.asarray(y_true, np.int64), backend.asarray(y_score))
    highest = max(one["f1"] for one in wanted.values() if one["ppv"] >= 0.2)
    np.testing.assert_allclose(float(backend.numpy(value)), highest, rtol=1e-5)
    np.testing.assert_allclose(wanted[float(backend.numpy(limit))]["f1"], highest, rtol=1e-9)
    noisy = np.where(np.arange(60) < 4, 5.0, y_score)
    with pytest.raises(ValueError, match=r"subject_to: no threshold has ppv>=0.9999; the best attainable ppv is"):
        matrics.ranking.best_threshold(y_true, noisy, "f1", subject_to="ppv>=0.9999", prevalence=0.05)


def test_the_samples_own_prevalence_changes_nothing() -> None:
    y_true, y_score = samples()
    plain = matrics.ranking.threshold_curve(y_true, y_score, SPECS)
    found = matrics.ranking.threshold_curve(y_true, y_score, SPECS, prevalence=0.5)
    for name in SPECS:
        np.testing.assert_allclose(found[name], plain[name])
    weighted = matrics.ranking.threshold_curve(y_true, y_score, SPECS, sample_weight=np.where(y_true == 1, 2.0, 38.0))
    found = matrics.ranking.threshold_curve(y_true, y_score, SPECS, prevalence=0.05)
    for name in SPECS:
        np.testing.assert_allclose(found[name], weighted[name])


def test_how_sure_a_threshold_is() -> None:
    """Classes keep their sizes in each replicate, so a perfect separation has recall 1 in all of them."""
    y_true, y_score = samples(200)
    plain = matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=0.02, rng=1, num=300, level=0.95)
    best = matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=0.02)
    assert plain.threshold_interval.estimate == best.threshold
    np.testing.assert_allclose(plain.value_interval.estimate + plain.optimism, best.value)
    assert plain.value_interval.low < plain.value_interval.estimate < plain.value_interval.high
    clusters = np.arange(200) // 2
    grouped = matrics.ranking.best_threshold(
        y_true, y_score, "f1", prevalence=0.02, rng=1, num=9, clusters=clusters, level=0.9
    )
    assert grouped.threshold_interval.estimate == best.threshold
    few = np.r_[1, np.zeros(30, int)]
    drawn = matrics.ranking.best_threshold(few, few + 0.5, "f1", prevalence=0.02, rng=1, num=200, level=0.95)
    assert (
        drawn.value_interval.undefined == 0
    )  # without the classes a third of the replicates would have no positive sample
    with pytest.raises(ValueError, match="prevalence: expected the same for all curves"):
        matrics.ranking.best_threshold(y_true, y_score, "f1", prevalence=np.asarray([[0.1], [0.2]]), level=0.95)


def test_texts_and_estimates() -> None:
    y_true, y_score = samples()
    texts = np.where(y_true == 1, "ill", "healthy")
    wanted = matrics.ranking.threshold_curve(y_true, y_score, "ppv", prevalence=0.02)["ppv"]
    found = matrics.ranking.threshold_curve(texts, y_score, "ppv", positive="ill", prevalence=0.02)["ppv"]
    np.testing.assert_array_equal(found, wanted)
    estimate = matrics.results.PrevalenceEstimate(0.02, 0.001)
    np.testing.assert_array_equal(
        matrics.ranking.threshold_curve(y_true, y_score, "ppv", prevalence=estimate)["ppv"], wanted
    )
    classes = np.stack([-y_score, y_score], -1)
    found = matrics.ranking.threshold_curve(y_true, classes, "ppv", positive=1, prevalence=0.02)["ppv"]
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(ValueError, match=r"prevalence: expected scores of a single class, or positive="):
        matrics.ranking.threshold_curve(y_true, classes, "ppv", prevalence=0.02)


def test_a_traced_prevalence_beside_concrete_samples() -> None:
    jax = pytest.importorskip("jax")
    y_true, y_score = samples()
    wanted = matrics.ranking.threshold_curve(y_true, y_score, "ppv", prevalence=0.02)["ppv"]
    found = jax.jit(lambda share: matrics.ranking.threshold_curve(y_true, y_score, "ppv", prevalence=share)["ppv"])(
        0.02
    )
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4)


@pytest.mark.parametrize("prevalence", [-0.1, [0.5, 0.6], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("function", [matrics.ranking.threshold_curve, matrics.ranking.best_threshold])
def test_what_are_no_shares(function: Any, prevalence: Any) -> None:
    with pytest.raises(ValueError, match=r"^prevalence: expected"):
        function(*samples(), "f1", prevalence=prevalence)
