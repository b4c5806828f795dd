"""Intervals and comparisons of weighted samples, with statsmodels and formulas over single samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

SHARES = ["accuracy", "recall:class", "f1", "mcc", "balanced_accuracy", "precision[1]"]


def samples(seed: int = 0, number: int = 1000, sigma: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True labels, predictions that are right more often where weights are large, and lognormal weights."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, number)
    logs = rng.normal(0, sigma, number)
    right = rng.random(number) < 0.8 + 0.08 * np.tanh(logs)
    return y_true, np.where(right, y_true, 1 - y_true), np.exp(logs)


def matrices(y_true: np.ndarray, y_pred: np.ndarray, weights: np.ndarray) -> tuple[Any, Any]:
    """The matrix of weights and that of their squares."""
    return tuple(
        matrics.confusion_matrix(y_true, y_pred, num_classes=2, sample_weight=w) for w in (weights, weights**2)
    )


def test_the_standard_error_of_weighted_shares_beside_statsmodels() -> None:
    """A share is the weighted mean of an indicator, with the variance of a regression on a constant that is robust."""
    regression = pytest.importorskip("statsmodels.api")
    y_true, y_pred, weights = samples()
    cm, squares = matrices(y_true, y_pred, weights)
    for metric, chosen in (("accuracy", y_true >= 0), ("recall[1]", y_true == 1), ("precision[0]", y_pred == 0)):
        found = matrics.interval(cm, metric, squared_weights=squares)[metric]
        right = (y_true == y_pred)[chosen].astype(float)
        fit = regression.WLS(right, np.ones(len(right)), weights=weights[chosen]).fit(cov_type="HC0")
        np.testing.assert_allclose(found.estimate, fit.params[0], rtol=1e-12)
        np.testing.assert_allclose(found.standard_error, fit.bse[0], rtol=1e-9)


@pytest.mark.parametrize("scheme", ["multinomial", "rows"])
def test_the_delta_method_over_single_samples(scheme: str) -> None:
    """The variance is the sum of what each sample adds: its weight times how its cell differs, squared."""
    y_true, y_pred, weights = samples(1)
    cm, squares = matrices(y_true, y_pred, weights)
    found = matrics.interval(cm, ["mcc", "f1"], method="delta", scheme=scheme, squared_weights=squares)
    for metric, one in found.items():
        influence = np.empty((2, 2))
        for cell in np.ndindex(2, 2):
            step = np.zeros((2, 2))
            step[cell] = 1e-4 * cm.sum()
            above, below = (matrics.score(cm + side * step, metric)[metric] for side in (1, -1))
            influence[cell] = (above - below) / (2 * step[cell])
        by_row = (cm * influence).sum(1) / cm.sum(1)
        center = by_row[y_true] if scheme == "rows" else (cm * influence).sum() / cm.sum()
        added = weights * (influence[y_true, y_pred] - center)
        np.testing.assert_allclose(one.standard_error, np.sqrt((added**2).sum()), rtol=1e-5)


def test_weights_of_one_are_counts() -> None:
    y_true, y_pred, _ = samples(2)
    cm, squares = matrices(y_true, y_pred, np.ones(1000))
    ours, plain = (matrics.interval(cm, SHARES, squared_weights=w) for w in (squares, None))
    for metric in SHARES:
        for one, other in zip(ours[metric], plain[metric], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("factor", [0.01, 10, 1e6])
def test_limits_do_not_depend_on_the_unit_of_weights(factor: float) -> None:
    y_true, y_pred, weights = samples(3)
    one, other = (
        matrics.interval(cm, SHARES, squared_weights=squares)
        for cm, squares in (matrices(y_true, y_pred, weights), matrices(y_true, y_pred, factor * weights))
    )
    for metric in SHARES:
        np.testing.assert_allclose(one[metric].low, other[metric].low, rtol=1e-9)
        np.testing.assert_allclose(one[metric].high, other[metric].high, rtol=1e-9)
        np.testing.assert_array_equal(one[metric].status, other[metric].status)


def test_without_errors_there_are_as_many_trials_as_effective_samples() -> None:
    confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
    weights = np.random.default_rng(4).lognormal(size=500)
    y = np.arange(500) % 2
    cm, squares = matrices(y, y, weights)
    found = matrics.interval(cm, "accuracy", squared_weights=squares)["accuracy"]
    number = weights.sum() ** 2 / (weights**2).sum()
    np.testing.assert_allclose([found.low, found.high], confint(number, number, method="wilson"), rtol=1e-9)


@pytest.mark.parametrize(("sets", "sigma"), [(400, 1.0), pytest.param(3000, 0.5, marks=pytest.mark.exhaustive)])
def test_they_hold_the_truth(sets: int, sigma: float) -> None:
    """Without the squares the default held it in 77 %, and with weights of 10 times that in 31 %."""
    rng = np.random.default_rng(5)
    y_true, logs = rng.integers(0, 2, (sets, 1000)), rng.normal(0, sigma, (sets, 1000))
    right = rng.random((sets, 1000)) < 0.8
    y_pred, weights = np.where(right, y_true, 1 - y_true), 10 * np.exp(logs)
    cm, squares = matrices(y_true, y_pred, weights)
    truth = matrics.score([[40, 10], [10, 40]], SHARES)
    found = matrics.interval(cm, SHARES, squared_weights=squares)
    for metric, one in found.items():
        held = np.mean((one.low <= truth[metric]) & (truth[metric] <= one.high))
        assert held > 0.93 - 2 * np.sqrt(0.93 * 0.07 / sets), metric
    naive = matrics.interval(cm, "mcc")["mcc"]
    assert np.mean((naive.low <= truth["mcc"]) & (truth["mcc"] <= naive.high)) < 0.5
    assert (naive.status == matrics.IntervalStatus.NOT_COUNTS).all()


def test_status() -> None:
    heavy = matrices(*samples(6, sigma=2.0))
    assert matrics.interval(heavy[0], "mcc", squared_weights=heavy[1])["mcc"].status == 1
    assert matrics.interval([[45.5, 5], [5, 45]], "mcc")["mcc"].status == 4
    assert matrics.interval([[45.0, 5], [5, 45]], "mcc")["mcc"].status == 0
    assert matrics.interval([[0.9, 0.1], [0, 0]], "mcc")["mcc"].status == 6  # undefined is graver
    thirds = np.full((2, 2), 100.0) * (1 / 3) * 3  # whole but for rounding
    assert matrics.interval(thirds, "accuracy")["accuracy"].status == 0
    assert "squared_weights" in matrics.IntervalStatus(4).sentence
    stack = np.stack([heavy[0], [[45, 5], [5, 45]]])
    assert matrics.interval(stack, "mcc")["mcc"].status.tolist() == [4, 0]
    clusters = np.random.default_rng(0).random((30, 2, 2)) * 20
    assert matrics.interval(clusters, "accuracy", cluster_axis=0)["accuracy"].status == 0


def test_two_test_sets() -> None:
    """The variance of a difference is the sum of both; limits are wider than those of so many counts."""
    a, b = (matrices(*samples(seed)) for seed in (7, 8))
    found = matrics.compare(a[0], b[0], SHARES, squared_weights=(a[1], b[1]))
    for metric, one in found.items():
        parts = [matrics.interval(cm, metric, squared_weights=w)[metric].standard_error for cm, w in (a, b)]
        np.testing.assert_allclose(one.standard_error, np.hypot(*parts), rtol=1e-12)
    assert found["mcc"].high > matrics.compare(a[0], b[0], "mcc")["mcc"].high


def test_the_same_samples_beside_single_ones() -> None:
    """The accuracies' difference is a weighted mean of -1, 0 and 1, whose variance is that of a ratio."""
    y_true, first, weights = samples(9)
    second = np.where(np.random.default_rng(10).random(1000) < 0.9, first, 1 - first)
    joint, squares = (
        matrics.stats.joint_confusion_matrix(y_true, first, second, num_classes=2, sample_weight=w)
        for w in (weights, weights**2)
    )
    found = matrics.compare_paired(joint, "accuracy", method="delta", squared_weights=squares)["accuracy"]
    gap = (first == y_true) * 1.0 - (second == y_true)
    mean = (weights * gap).sum() / weights.sum()
    error = np.sqrt((weights**2 * (gap - mean) ** 2).sum()) / weights.sum()
    np.testing.assert_allclose([found.difference, found.standard_error], [mean, error], rtol=1e-6)
    auto = matrics.compare_paired(joint, "accuracy", squared_weights=squares)["accuracy"]
    np.testing.assert_allclose([auto.low, auto.high], [mean - 1.96 * error, mean + 1.96 * error], atol=0.1 * error)
    assert auto.status == 0


@pytest.mark.exhaustive
def test_jax_under_jit(jax_backend: Any) -> None:
    import jax

    cm, squares = matrices(*samples(11))
    metrics = ["accuracy", "mcc", "f1:class"]
    wanted = matrics.interval(cm, metrics, squared_weights=squares)

    @jax.jit
    def found(cm: Any, squares: Any) -> Any:
        return {k: tuple(v) for k, v in matrics.interval(cm, metrics, squared_weights=squares).items()}

    for metric, parts in found(jax_backend.asarray(cm), jax_backend.asarray(squares)).items():
        for one, other in zip(parts, wanted[metric], strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-7 if jax_backend.float64 else 2e-4)


def test_torch_as_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors that NumPy does not see are worked on by PyTorch, and derived by autograd."""
    torch = pytest.importorskip("torch")
    from matrics._arrays.torch import TORCH

    cm, squares = matrices(*samples(12))
    metrics = ["mcc", "accuracy", "balanced_accuracy", "recall:class"]
    wanted = matrics.interval(cm, metrics, squared_weights=squares)
    found = matrics.interval(torch.tensor(cm), "accuracy", squared_weights=torch.tensor(squares))["accuracy"]
    assert isinstance(found.low, torch.Tensor)
    assert float(found.low) == wanted["accuracy"].low
    monkeypatch.setattr(type(TORCH), "host_view", lambda *_: None)
    for metric, one in matrics.interval(torch.tensor(cm), metrics, squared_weights=torch.tensor(squares)).items():
        for part, other in zip(one, wanted[metric], strict=True):
            np.testing.assert_allclose(part.numpy(), other, rtol=1e-6)


CM = np.asarray([[40.5, 10.0], [10.0, 40.0]])


@pytest.mark.parametrize(
    ("squares", "options", "message"),
    [
        (
            CM[:1],
            {},
            r"squared_weights: expected the shape of cm, \(2, 2\), as confusion_matrix\(.*\) counts them, got",
        ),
        (-CM, {}, r"above 0 where cm is and nowhere else, .* got -40.5 where cm has 40.5, at \[0, 0\]"),
        (CM * [[1, 0], [1, 1]], {}, r"got 0 where cm has 10, at \[0, 1\]"),
        (CM * np.nan, {}, "got nan where cm has 40.5"),
        (
            CM,
            {"method": "bootstrap"},
            "expected 'auto', 'delta' or a method of proportions with squared_weights, got 'bootstrap'",
        ),
        (CM, {"method": "posterior"}, r"compare_models\(\.\.\., sample_weight=\) draws weighted samples"),
        (
            CM,
            {"metrics": "tp"},
            "squared_weights: expected measures that depend only on proportions, got true_positives",
        ),
    ],
)
def test_errors(squares: Any, options: dict[str, Any], message: str) -> None:
    options = dict(options)
    metrics = options.pop("metrics", "mcc")
    with pytest.raises(ValueError, match=message):
        matrics.interval(CM, metrics, squared_weights=squares, **options)


def test_clusters_and_comparisons_say_what_they_take() -> None:
    clusters = np.stack([CM, CM, CM])
    with pytest.raises(ValueError, match="squared_weights: expected None with cluster_axis"):
        matrics.interval(clusters, "mcc", cluster_axis=0, squared_weights=clusters)
    with pytest.raises(ValueError, match=r"expected the matrices of a and of b, \(of_a, of_b\), got ndarray"):
        matrics.compare(CM, CM, "mcc", squared_weights=CM)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"squared_weights\[1\]: expected the shape of b"):
        matrics.compare(CM, CM, "mcc", squared_weights=(CM, CM[0]))
    with pytest.raises(ValueError, match="expected the shape of joint"):
        matrics.compare_paired(np.ones((2, 2, 2)), "mcc", squared_weights=CM)


def test_one_bad_matrix_spoils_no_other() -> None:
    cm, squares = matrices(*samples(13))
    stack, of_stack = np.stack([cm, cm, np.zeros((2, 2)), cm]), np.stack([squares, squares, np.zeros((2, 2)), squares])
    stack[1, 0, 0] = np.nan
    found = matrics.interval(stack, "mcc", squared_weights=of_stack, invalid="nan")["mcc"]
    assert found.status.tolist() == [0, 7, 6, 0]
    assert found.low[0] == found.low[3] == matrics.interval(cm, "mcc", squared_weights=squares)["mcc"].low
    empty = matrics.interval(np.zeros((0, 2, 2)), "mcc", squared_weights=np.zeros((0, 2, 2)))["mcc"]
    assert empty.low.shape == (0,)
