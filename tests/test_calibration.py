"""Brier score, its parts, calibration error, reliability: scikit-learn, torchmetrics and fractions as referees."""

from __future__ import annotations

import functools
import inspect
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import matrics

sklearn = pytest.importorskip("sklearn")
pytest.importorskip("sklearn.calibration")
pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(0)


@pytest.fixture
def many(request: pytest.FixtureRequest) -> int:
    """Of 1,000 cases in the exhaustive run, the default one takes some: scikit-learn takes a millisecond for each."""
    return 1000 if request.config.option.exhaustive else 200


def cases(count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities, in sixteenths for every second case, so that there are ties; and labels of both classes."""
    y_prob = RANDOM.random((count, size))
    y_prob[::2] = np.round(y_prob[::2] * 16) / 16
    y_true = (RANDOM.random((count, size)) < y_prob**2).astype(int)
    y_true[:, 0], y_true[:, 1] = 0, 1
    return y_true, y_prob


# Brier score --------------------------------------------------------------------------------------------------------


def test_brier_score_as_scikit_learn(many: int) -> None:
    y_true, y_prob = cases(many, 20)
    weights = RANDOM.integers(0, 3, y_prob.shape) + (np.arange(20) == 0)
    wanted = [
        sklearn.metrics.brier_score_loss(y, p, sample_weight=w) for y, p, w in zip(y_true, y_prob, weights, strict=True)
    ]
    np.testing.assert_allclose(
        matrics.probabilities.brier_score(y_true, y_prob, sample_weight=weights), wanted, rtol=1e-12
    )
    two_columns = matrics.probabilities.brier_score(y_true, np.stack([1 - y_prob, y_prob], -1), sample_weight=weights)
    np.testing.assert_allclose(two_columns, 2 * np.asarray(wanted), rtol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_brier_score_of_classes_as_scikit_learn(n: int, many: int) -> None:
    if "labels" not in inspect.signature(sklearn.metrics.brier_score_loss).parameters:
        pytest.skip("scikit-learn before 1.7 has no Brier score of more than two classes")
    shape = (many // 4, 15)
    y_true, y_prob = RANDOM.integers(0, n, shape), RANDOM.dirichlet(np.ones(n), shape)
    wanted = [sklearn.metrics.brier_score_loss(y, p, labels=range(n)) for y, p in zip(y_true, y_prob, strict=True)]
    np.testing.assert_allclose(matrics.probabilities.brier_score(y_true, y_prob), wanted, rtol=1e-12)


def test_brier_score_has_a_gradient(torch: Any) -> None:
    y_true, y_prob = torch.tensor([0, 1, 1]), torch.tensor([0.2, 0.5, 1.0], dtype=torch.float64, requires_grad=True)
    matrics.probabilities.brier_score(y_true, y_prob).backward()
    np.testing.assert_allclose(y_prob.grad, [0.4 / 3, -1 / 3, 0], atol=1e-16)


def parts_by_hand(y_true: np.ndarray, y_prob: np.ndarray, weights: np.ndarray, num_bins: int) -> list[Fraction]:
    """Murphy's three parts and the two within bins, in fractions, from their definition sample by sample."""
    samples = [
        (int(y), Fraction(float(p)), Fraction(float(w))) for y, p, w in zip(y_true, y_prob, weights, strict=True)
    ]
    total = sum(w for *_, w in samples)
    overall = sum(y * w for y, _, w in samples) / total
    parts = [Fraction(0)] * 5
    for k in range(num_bins):
        inside = [s for s in samples if min(int(s[1] * num_bins), num_bins - 1) == k and s[2]]
        if not inside:
            continue
        size = sum(w for *_, w in inside)
        f, o = sum(p * w for _, p, w in inside) / size, sum(y * w for y, _, w in inside) / size
        parts[0] += size * (f - o) ** 2 / total
        parts[1] += size * (o - overall) ** 2 / total
        parts[3] += sum(w * (p - f) ** 2 for _, p, w in inside) / total
        parts[4] += 2 * sum(w * (p - f) * (y - o) for y, p, w in inside) / total
    parts[2] = overall * (1 - overall)
    exact = sum(w * (p - y) ** 2 for y, p, w in samples) / total
    assert parts[0] - parts[1] + parts[2] + parts[3] - parts[4] == exact
    return parts


@pytest.mark.parametrize("num_bins", [1, 4, 16])
def test_the_parts_of_the_brier_score_in_fractions(num_bins: int) -> None:
    """With a bin for each sixteenth the parts within bins are 0."""
    y_true, y_prob = cases(40, 12)
    weights = RANDOM.integers(0, 3, y_prob.shape) + (np.arange(12) == 0)
    wanted = [parts_by_hand(*samples, num_bins) for samples in zip(y_true, y_prob, weights, strict=True)]
    found = matrics.probabilities.brier_decomposition(y_true, y_prob, num_bins=num_bins, sample_weight=weights)
    np.testing.assert_allclose(np.stack(found, axis=-1), np.asarray(wanted, dtype=float), rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(
        found.score, matrics.probabilities.brier_score(y_true, y_prob, sample_weight=weights), rtol=1e-13
    )
    if num_bins == 16:
        in_sixteenths = np.where(y_prob[::2] == 1, 0, y_prob[::2])  # 15/16 and 1 share the last bin
        murphy = matrics.probabilities.brier_decomposition(y_true[::2], in_sixteenths, num_bins=16)
        assert not murphy.within_bin_variance.any()
        assert not murphy.within_bin_covariance.any()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("bins", ["width", "mass"])
def test_the_parts_of_classes_add_up(backend: Any, bins: Any) -> None:
    y_true, y_prob = RANDOM.integers(0, 4, (2, 3, 30)), RANDOM.dirichlet(np.ones(4), (2, 3, 30))
    parts = functools.partial(matrics.probabilities.brier_decomposition, bins=bins, num_bins=3)
    found = backend.call(parts, backend.asarray(y_true), backend.asarray(y_prob))
    score = backend.numpy(matrics.probabilities.brier_score(backend.asarray(y_true), backend.asarray(y_prob)))
    np.testing.assert_allclose(backend.numpy(found.score), score, **backend.tolerance)
    assert (backend.numpy(found.within_bin_variance) > 0).all()


# Bins ---------------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("num_bins", [2, 3, 7, 10, 15, 49, 100, 1000])
def test_an_edge_belongs_to_the_bin_above_it(num_bins: int, dtype: type) -> None:
    """And the number next below it to the other; 1 to the last bin."""
    edges = (np.arange(num_bins + 1) / num_bins).astype(dtype)
    y_prob = np.concatenate([edges, np.nextafter(edges[1:], dtype(0))])
    curve = matrics.probabilities.reliability_curve(np.zeros(len(y_prob), int), y_prob, num_bins=num_bins)
    np.testing.assert_array_equal(curve.edges, edges)
    np.testing.assert_array_equal(curve.count, [2] * (num_bins - 1) + [3])
    wanted = [np.mean([low, np.nextafter(high, dtype(0))], dtype=dtype) for low, high in itertools.pairwise(edges)]
    np.testing.assert_allclose(curve.mean_probability[:-1], wanted[:-1], rtol=1e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("strategy", "bins"), [("uniform", "width"), ("quantile", "mass")])
def test_reliability_as_scikit_learn(strategy: str, bins: Any, many: int) -> None:
    """Whose bins are (a, b]: those of 1 - p for the other class, which has no rounding errors here.

    Its quantiles lie between samples, of whose numbers that of the bins has to be a divisor to mean the same.
    """
    for _ in range(10):
        y_true, y_prob = cases(many // 10, 5 * int(RANDOM.integers(2, 12)))
        y_prob = np.round(y_prob * 2**20) / 2**20
        curve = matrics.probabilities.reliability_curve(y_true, y_prob, num_bins=5, bins=bins)
        for y, p, *found in zip(y_true, y_prob, *curve, strict=True):
            shares, means = sklearn.calibration.calibration_curve(1 - y, 1 - p, n_bins=5, strategy=strategy)
            filled = found[2] > 0
            np.testing.assert_allclose(found[1][filled], 1 - shares[::-1], rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(found[0][filled], 1 - means[::-1], rtol=1e-12)
            assert np.isnan(found[0][~filled]).all()
            assert np.isnan(found[1][~filled]).all()
            assert found[2].sum() == len(p)


def test_bins_of_equal_mass() -> None:
    """With different numbers their sizes differ by at most one, and ties stay together."""
    for size in (1, 2, 14, 15, 16, 31, 100):
        y_prob = RANDOM.permutation(size) / size
        count = matrics.probabilities.reliability_curve(np.zeros(size, int), y_prob, bins="mass").count
        assert count.max() - count.min() <= 1
        assert count.sum() == size
    curve = matrics.probabilities.reliability_curve([0, 1, 1, 1], [0.5, 0.5, 0.5, 0.75], num_bins=2, bins="mass")
    assert curve.count.tolist() == [0, 4]
    assert curve.edges.tolist() == [0, 0.5, 1]


@pytest.mark.sampled(2)
def test_a_weight_is_a_number_of_samples(backend: Any) -> None:
    """In bins of either kind: weights 0 to 3 with repeated samples, with ties."""
    y_true, y_prob = RANDOM.integers(0, 2, 40), RANDOM.integers(0, 17, 40) / 16
    weights = RANDOM.integers(0, 4, 40)
    weights[0] += 60 - weights.sum() % 60
    many = [np.repeat(x, weights) for x in (y_true, y_prob)]
    for bins in ("width", "mass"):
        curve = functools.partial(matrics.probabilities.reliability_curve, num_bins=4, bins=bins)
        wanted = curve(*many)
        weighted = functools.partial(curve, sample_weight=backend.asarray(weights))
        found = backend.call(weighted, backend.asarray(y_true), backend.asarray(y_prob))
        for same, values in zip(found, wanted, strict=True):
            np.testing.assert_allclose(backend.numpy(same), values, rtol=1e-6)


# Calibration error --------------------------------------------------------------------------------------------------


def error_by_hand(outcome: np.ndarray, y_prob: np.ndarray, num_bins: int, norm: str) -> float:
    """The definition, bin by bin."""
    shares, gaps = [], []
    for k in range(num_bins):
        inside = (y_prob >= k / num_bins) & ((y_prob < (k + 1) / num_bins) | (k == num_bins - 1))
        if inside.any():
            shares.append(inside.mean())
            gaps.append(abs(outcome[inside].mean() - y_prob[inside].mean()))
    if norm == "max":
        return max(gaps)
    return float(np.dot(shares, gaps) if norm == "l1" else np.sqrt(np.dot(shares, np.square(gaps))))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_calibration_error_by_hand(norm: Any) -> None:
    y_true, y_prob = cases(300, 40)
    found = matrics.probabilities.expected_calibration_error(y_true, y_prob, num_bins=8, norm=norm)
    np.testing.assert_allclose(
        found, [error_by_hand(*s, 8, norm) for s in zip(y_true, y_prob, strict=True)], atol=1e-14
    )
    y_true, y_prob = RANDOM.integers(0, 4, (100, 40)), RANDOM.dirichlet(np.ones(4), (100, 40))
    found = matrics.probabilities.expected_calibration_error(y_true, y_prob, norm=norm)
    is_right = y_prob.argmax(-1) == y_true
    wanted = [error_by_hand(*s, 15, norm) for s in zip(is_right, y_prob.max(-1), strict=True)]
    np.testing.assert_allclose(found, wanted, atol=1e-14)
    found = matrics.probabilities.expected_calibration_error(y_true, y_prob, norm=norm, of="class_wise")
    wanted = [
        np.mean([error_by_hand(y == k, p[:, k], 15, norm) for k in range(4)])
        for y, p in zip(y_true, y_prob, strict=True)
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_calibration_error_as_torchmetrics(torch: Any, norm: Any) -> None:
    """Of class 1 and of the top label; it has a bin of its own for the probability 1, which none of these is."""
    from torchmetrics.functional import classification

    for _ in range(40):
        y_true, y_prob = RANDOM.integers(0, 2, 50), RANDOM.random(50)
        wanted = classification.binary_calibration_error(
            torch.from_numpy(y_prob), torch.from_numpy(y_true), n_bins=15, norm=norm
        )
        found = matrics.probabilities.expected_calibration_error(y_true, y_prob, norm=norm)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        y_true, y_prob = RANDOM.integers(0, 3, 50), RANDOM.dirichlet(np.ones(3), 50)
        wanted = classification.multiclass_calibration_error(
            torch.from_numpy(y_prob), torch.from_numpy(y_true), num_classes=3, n_bins=10, norm=norm
        )
        found = matrics.probabilities.expected_calibration_error(y_true, y_prob, num_bins=10, norm=norm)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_calibration_error_in_bins_of_equal_mass() -> None:
    """Of as many samples as bins times ten, in their order: the definition over tens."""
    y_true, y_prob = RANDOM.integers(0, 2, (200, 50)), RANDOM.random((200, 50))
    order = y_prob.argsort(-1)
    tens = [np.take_along_axis(x, order, -1).reshape(200, 5, 10).mean(-1) for x in (y_true, y_prob)]
    wanted = abs(tens[0] - tens[1]).mean(-1)
    found = matrics.probabilities.expected_calibration_error(y_true, y_prob, num_bins=5, bins="mass")
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_perfect_calibration_is_0() -> None:
    y_prob = np.repeat([0.0, 0.25, 0.5, 1.0], 4)
    y_true = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1]
    for bins in ("width", "mass"):
        for norm in ("l1", "l2", "max"):
            assert (
                matrics.probabilities.expected_calibration_error(y_true, y_prob, num_bins=4, bins=bins, norm=norm) == 0
            )


# What is undefined, and what is refused -----------------------------------------------------------------------------


def test_undefined() -> None:
    none = [], np.zeros(0)
    for function in (matrics.probabilities.brier_score, matrics.probabilities.expected_calibration_error):
        assert np.isnan(function(*none))
        assert function(*none, zero_division=0.5) == 0.5
        assert function([0], [0.5], sample_weight=[0], zero_division=0.5) == 0.5
        assert np.isnan(function([], np.zeros((0, 3))))
    for norm in ("l1", "l2", "max"):
        found = matrics.probabilities.expected_calibration_error(*none, norm=norm, bins="mass", zero_division=-1)
        assert found == -1
    curve = matrics.probabilities.reliability_curve(*none, num_bins=2, bins="mass")
    assert curve.count.tolist() == [0, 0]
    assert np.isnan(curve.mean_probability).all()
    assert all(np.isnan(part) for part in matrics.probabilities.brier_decomposition(*none)[:2])
    assert np.isnan(matrics.probabilities.brier_decomposition(*none).score)


@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_nan_spoils_its_own_batch_element() -> None:
    y_true, y_prob = [0, 1], [[0.5, 0.25], [np.nan, 0.25]]
    for function in (
        matrics.probabilities.brier_score,
        matrics.probabilities.expected_calibration_error,
        matrics.probabilities.log_loss,
    ):
        assert np.isnan(function([y_true] * 2, y_prob)).tolist() == [False, True]
    for found in (
        matrics.probabilities.brier_decomposition([y_true] * 2, y_prob),
        matrics.probabilities.reliability_curve([y_true] * 2, y_prob),
    ):
        for values in found:
            assert np.isnan(values[1]).all()
            assert not np.isnan(values[0]).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"bins": "rank"}, ValueError, "bins: expected 'width' or 'mass', got 'rank'"),
        ({"zero_division": "0.5"}, TypeError, "zero_division: expected a number"),
        ({"num_bins": 0}, ValueError, "num_bins: expected an integer of at least 1, got 0"),
        ({"of": "labels"}, ValueError, "of: expected 'top_label' or 'class_wise', got 'labels'"),
        ({"of": "top_label"}, ValueError, r"of='top_label': expected probabilities of classes .* stack 1 - y_prob"),
        ({"norm": "l3"}, ValueError, "norm: expected 'l1', 'l2' or 'max', got 'l3'"),
        (
            {"y_prob": [0.5, -0.25]},
            ValueError,
            r"y_prob: expected numbers in \[0, 1\], got -0.25 .*; convert logits with",
        ),
        ({"y_prob": [0, 1]}, TypeError, "y_prob: expected floating probabilities"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        matrics.probabilities.expected_calibration_error(**{"y_true": [0, 1], "y_prob": [0.5, 0.5], **options})


def test_results_of_numpy_may_be_written_to() -> None:
    for values in matrics.probabilities.reliability_curve([[0, 1]] * 2, [[0.5, 0.25]] * 2, num_bins=2):
        values[...] = 0
