"""Areas and curves of scores: scikit-learn, SciPy and exact fractions as referees, on every road."""

from __future__ import annotations

import functools
import math
import warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import conftest
import numpy as np
import pytest

import matrics

if TYPE_CHECKING:
    from conftest import Backend

scipy = pytest.importorskip("scipy")
pytest.importorskip("scipy.stats")
sk = pytest.importorskip("sklearn.metrics")

RANDOM = np.random.default_rng(0)

SAMPLES = 30


def number_of_cases() -> int:
    return 1000 if conftest.EXHAUSTIVE else 80


@functools.cache
def cases(dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and weights: without ties, with many, constant, of one class only, with weights of zero."""
    random, number = np.random.default_rng(0), number_of_cases()
    labels = random.random((number, SAMPLES)) < random.uniform(0.05, 0.95, (number, 1))
    labels = labels.astype(np.int64)
    scores = random.normal(size=(number, SAMPLES)) + labels * random.normal(size=(number, 1))
    scores[number // 4 :] = np.round(scores[number // 4 :], 1)
    scores[number // 2 :] = np.round(scores[number // 2 :])
    scores[-5:] = 1.5
    labels[:3], labels[3:6] = 0, 1
    weights = random.random(labels.shape) * (random.random(labels.shape) < 0.7)
    weights[6] = 0
    return labels, scores.astype(dtype), weights.astype(dtype)


@functools.cache
def areas_of_cases(dtype: Any, *, weighted: bool) -> list[np.ndarray]:
    """What scikit-learn says of them."""
    arrays = cases(dtype)[: 3 if weighted else 2]
    return [
        each(sk.roc_auc_score, *arrays),
        each(sk.average_precision_score, *arrays),
        each(sk.roc_auc_score, *arrays, max_fpr=0.35),
    ]


def each(function: Any, *arrays: np.ndarray, **options: Any) -> np.ndarray:
    """What scikit-learn says case by case; NaN where it says that there is nothing to say."""
    found = []
    for case in zip(*arrays, strict=True):
        named = dict(zip(("y", "x", "sample_weight"), case, strict=False))
        y, x = named.pop("y"), named.pop("x")
        weight = named.get("sample_weight", np.ones(len(y)))
        defined = weight[y == 1].sum() > 0 and (function is sk.average_precision_score or weight[y == 0].sum() > 0)
        found.append(function(y, x, **named, **options) if defined else np.nan)
    return np.array(found)


def matches(backend: Backend, got: Any, want: np.ndarray) -> None:
    np.testing.assert_allclose(backend.numpy(got), want, **backend.tolerance, equal_nan=True)


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def weighted(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.mark.exhaustive
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], weighted=[False])
def test_two_classes(backend: Backend, *, weighted: bool) -> None:
    """A thousand cases: of JAX under jit, of PyTorch under vmap as well."""
    arrays = cases(np.float64 if backend.float64 else np.float32)[: 3 if weighted else 2]

    def areas(y: Any, x: Any, *weight: Any) -> list[Any]:
        options = {"sample_weight": weight[0]} if weight else {}
        return [
            matrics.ranking.roc_auc(y, x, **options),
            matrics.ranking.average_precision(y, x, **options),
            matrics.ranking.partial_roc_auc(y, x, max_fpr=0.35, **options),
        ]

    given = [backend.asarray(x) for x in arrays]
    if backend.name == "torch-grad":  # which differentiates nothing here, but must not be in the way
        given[1] = given[1].requires_grad_()
    wants = areas_of_cases(np.float64 if backend.float64 else np.float32, weighted=weighted)
    for got, want in zip(backend.jit(areas)(*given), wants, strict=True):
        matches(backend, got, want)
    if backend.name == "torch":
        import torch

        for got, want in zip(torch.func.vmap(areas)(*given), wants, strict=True):
            matches(backend, got, want)


def areas_of(y: Any, x: Any, w: Any) -> tuple[Any, ...]:
    return matrics.ranking.roc_auc(y, x), matrics.ranking.average_precision(y, x, sample_weight=w)


def curves_of(y: Any, x: Any, w: Any) -> tuple[Any, ...]:
    curve = matrics.ranking.threshold_curve(y, x, ["f1", "mcc"], sample_weight=w)
    best = matrics.ranking.best_threshold(y, x, "f1", subject_to="recall>=0.5", sample_weight=w)
    found = (matrics.ranking.roc_auc(y, x, sample_weight=w), matrics.ranking.roc_auc_variance(y, x))
    return (*found, *curve.values.values(), *matrics.ranking.roc_curve(y, x, sample_weight=w), *best)


@pytest.mark.exhaustive
@pytest.mark.parametrize("function", [areas_of, pytest.param(curves_of, marks=pytest.mark.exhaustive)])
def test_torch_compile(function: Any) -> None:
    torch = pytest.importorskip("torch")
    labels, scores, weights = (torch.as_tensor(x[::20]) for x in cases())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of curves on which no recall is high enough, on the host
        plain = function(labels, scores, weights)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")(labels, scores, weights)
    for got, want in zip(compiled, plain, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-12, equal_nan=True)


def test_nothing_waits_for_values() -> None:
    torch = pytest.importorskip("torch")
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        y, x = torch.zeros((3, 8), dtype=torch.int64), torch.rand((3, 8))
        assert matrics.ranking.roc_auc(y, x).shape == (3,)
        assert matrics.ranking.roc_auc(y, torch.rand((3, 8, 4)), multi_class="one_vs_one").shape == (3,)
        assert matrics.ranking.threshold_curve(y, x, "mcc")["mcc"].shape == (3, 9)
        assert matrics.ranking.best_threshold(y, x, "f1", subject_to="recall>=0.9").value.shape == (3,)
        assert matrics.ranking.precision_at_recall(y, x, 0.9).shape == (3,)


@functools.cache
def areas_of_classes(n: int) -> tuple[tuple[np.ndarray, ...], list[list[float]]]:
    """Cases of n classes, with ties among dyadic scores that sum to 1, and what scikit-learn says of them."""
    random = np.random.default_rng(n)
    y = np.stack([random.permuted(np.arange(SAMPLES) % n) for _ in range(number_of_cases() // 10)])
    x = random.multinomial(16, np.full(n, 1 / n), size=y.shape) / 16
    w = random.random(y.shape) + 0.01
    want: list[list[float]] = []
    for how in ("macro", "weighted", "micro", None):  # None is every class there
        for function in (sk.roc_auc_score, sk.average_precision_score):
            one_hot = np.eye(n)[y]
            want += [[function(a, b, average=how, sample_weight=c) for a, b, c in zip(one_hot, x, w, strict=True)]]
    for how in ("macro", "weighted"):
        want += [[_hand_and_till(a, b, how) for a, b in zip(y, x, strict=True)]]
    return (y, x, w), want


@pytest.mark.exhaustive
@pytest.mark.exhaustive(backend=["jax", "jax-x64"], n=[2, 6])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_many_classes(backend: Backend, n: int) -> None:
    """One against the rest and one against one, with every average."""
    (y, x, w), want = areas_of_classes(n)
    dtype = np.float64 if backend.float64 else np.float32

    def found(y: Any, x: Any, w: Any) -> list[Any]:
        results = []
        for how in ("macro", "weighted", "micro", "class"):
            results += [matrics.ranking.roc_auc(y, x, average=how, sample_weight=w)]
            results += [matrics.ranking.average_precision(y, x, average=how, sample_weight=w)]
        for how in ("macro", "weighted"):
            results += [matrics.ranking.roc_auc(y, x, average=how, multi_class="one_vs_one")]
        return results

    arrays = [backend.asarray(y), backend.asarray(x.astype(dtype)), backend.asarray(w.astype(dtype))]
    for got, expected in zip(backend.jit(found)(*arrays), want, strict=True):
        matches(backend, got, np.array(expected))


def _hand_and_till(y: np.ndarray, x: np.ndarray, average: str) -> float:
    if x.shape[1] > 2:
        return float(sk.roc_auc_score(y, x, multi_class="ovo", average=average))
    return float(sk.roc_auc_score(y, x[:, 1]) + sk.roc_auc_score(1 - y, x[:, 0])) / 2


@pytest.mark.sampled(2)
def test_ties_in_exact_fractions(backend: Backend) -> None:
    """Every pair of a positive and a negative sample, one by one."""
    y, x = RANDOM.integers(0, 2, (20, 25)), RANDOM.integers(-3, 3, (20, 25)) / 4
    y[:, :2] = [0, 1]
    for labels, scores, got in zip(
        y,
        x,
        backend.numpy(backend.call(matrics.ranking.roc_auc, backend.asarray(y), backend.asarray(x.astype(np.float32)))),
        strict=True,
    ):
        positive, negative = scores[labels == 1], scores[labels == 0]
        won = sum(Fraction(int(np.sign(p - q)) + 1, 2) for p in positive for q in negative)
        assert got == pytest.approx(
            float(won / (len(positive) * len(negative))), rel=1e-15 if backend.float64 else 1e-6
        )


def test_it_is_the_statistic_of_mann_and_whitney() -> None:
    y, x, _ = cases()
    defined = (y.sum(-1) > 0) & (y.sum(-1) < SAMPLES)
    for labels, scores in zip(y[defined][::10], x[defined][::10], strict=True):
        positive, negative = scores[labels == 1], scores[labels == 0]
        statistic = scipy.stats.mannwhitneyu(positive, negative).statistic
        assert matrics.ranking.roc_auc(labels, scores) == pytest.approx(
            statistic / (len(positive) * len(negative)), rel=1e-14
        )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_any_size_keep_their_order(dtype: Any) -> None:
    """The host sorts bits: subnormal, huge, infinite and negative numbers, and both zeros, are in their order."""
    info = np.finfo(dtype)
    values = np.array(
        [0, -0.0, 1, -1, 2, 3.5, info.tiny, info.smallest_subnormal, info.max, -info.max, np.inf, -np.inf]
    )
    for size in (7, len(values)):  # without and with those that leave no bit to spare
        x = RANDOM.choice(values[:size].astype(dtype), (50, 30))
        y = RANDOM.integers(0, 2, x.shape)
        y[:, :2] = [0, 1]
        finite = np.unique(x, return_inverse=True)[1].reshape(x.shape).astype(float)
        np.testing.assert_allclose(matrics.ranking.roc_auc(y, x), each(sk.roc_auc_score, y, finite), rtol=1e-14)
        thresholds = matrics.ranking.roc_curve(y, x).thresholds
        np.testing.assert_array_equal(thresholds[:, 1:], -np.sort(-x))


@pytest.mark.sampled(2)
def test_the_variance_is_that_of_delong(backend: Backend) -> None:
    """Of the placements of each sample, pair by pair."""
    y, x, _ = cases(np.float64 if backend.float64 else np.float32)
    y, x = y[::20], x[::20]
    want = []
    for labels, scores in zip(y, x, strict=True):
        positive, negative = scores[labels == 1], scores[labels == 0]
        wins = (np.sign(positive[:, None] - negative[None, :]) + 1) / 2
        enough = min(wins.shape) > 1
        parts = [np.var(wins.mean(axis), ddof=1) / wins.shape[1 - axis] for axis in (0, 1)] if enough else [np.nan]
        want.append(sum(parts))
    matches(
        backend, backend.call(matrics.ranking.roc_auc_variance, backend.asarray(y), backend.asarray(x)), np.array(want)
    )


@pytest.mark.sampled(2)
def test_precision_at_recall_and_the_reverse(backend: Backend, *, weighted: bool) -> None:
    arrays = cases(np.float64 if backend.float64 else np.float32)[: 3 if weighted else 2]
    arrays = tuple(x[::8] for x in arrays)
    want: list[list[float]] = [[], []]
    for case in zip(*arrays, strict=True):
        weight = case[2] if weighted else np.ones(SAMPLES)
        if not weight[case[0] == 1].sum() > 0:
            want[0], want[1] = [*want[0], np.nan], [*want[1], np.nan]
            continue
        precision, recall, _ = sk.precision_recall_curve(case[0], case[1], sample_weight=weight)
        precision, recall = precision[:-1], recall[:-1]  # the last point is not one of a threshold
        want[0].append(precision[recall >= 0.6 - 1e-9].max())
        want[1].append(recall[precision >= 0.6 + 1e-9].max(initial=0))

    def found(y: Any, x: Any, *weight: Any) -> list[Any]:
        options = {"sample_weight": weight[0]} if weight else {}
        # Between two shares of samples, so that rounding does not decide.
        return [
            matrics.ranking.precision_at_recall(y, x, 0.6 - 1e-6, **options),
            matrics.ranking.recall_at_precision(y, x, 0.6 + 1e-6, **options),
        ]

    for got, expected in zip(backend.jit(found)(*map(backend.asarray, arrays)), want, strict=True):
        matches(backend, got, np.array(expected))


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:.*got NaN")
def test_a_bad_batch_element_spoils_only_itself(backend: Backend) -> None:
    y, x = RANDOM.integers(0, 2, (3, 20)), RANDOM.random((3, 20)).astype(np.float32)
    good = matrics.ranking.roc_auc(y, x)
    x[1, 4] = np.nan
    for function in (matrics.ranking.roc_auc, matrics.ranking.average_precision, matrics.ranking.roc_auc_variance):
        got = backend.numpy(backend.call(function, backend.asarray(y), backend.asarray(x)))
        assert np.isnan(got).tolist() == [False, True, False]
    got = backend.numpy(backend.call(matrics.ranking.roc_auc, backend.asarray(y), backend.asarray(x)))
    np.testing.assert_allclose(got[[0, 2]], good[[0, 2]], rtol=1e-6)
    curve = backend.call(matrics.ranking.roc_curve, backend.asarray(y), backend.asarray(x))
    assert all(np.isnan(backend.numpy(part)[1]).all() and not np.isnan(backend.numpy(part)[0]).any() for part in curve)
    cm = backend.call(
        lambda y, x: matrics.ranking.confusion_matrix(y, x, x[0, :3]), backend.asarray(y), backend.asarray(x)
    )
    assert (backend.numpy(cm)[1] == -1).all()
    assert (backend.numpy(cm)[[0, 2]].sum((-2, -1)) == 20).all()


@pytest.mark.parametrize("jax_backend", ["jax", "jax-x64"], indirect=True)
def test_off_the_host_bad_labels_and_weights_make_nan(jax_backend: Backend) -> None:
    import jax

    y = jax_backend.asarray(np.array([[0, 1, 1], [0, 1, 2], [0, 1, 1], [0, 1, 1]]))
    x = jax_backend.asarray(np.tile(np.float32([0.1, 0.4, 0.3]), (4, 1)))
    w = jax_backend.asarray(np.float32([[1, 1, 1], [1, 1, 1], [1, -1, 1], [1, 1, np.inf]]))
    got = jax.jit(lambda y, x, w: matrics.ranking.roc_auc(y, x, sample_weight=w))(y, x, w)
    assert np.isnan(got).tolist() == [False, True, True, True]


def test_averages_leave_out_undefined_classes() -> None:
    """Class 2 has no samples."""
    y, x = [0, 1, 1, 0], [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.5, 0.4, 0.1], [0.5, 0.4, 0.1]]
    of_classes = matrics.ranking.roc_auc(y, x, average="class")
    assert of_classes.tolist() == pytest.approx([0.875, 0.5, np.nan], nan_ok=True)
    for how in ("one_vs_rest", "one_vs_one"):
        assert matrics.ranking.roc_auc(y, x, multi_class=how) == pytest.approx(0.6875)
    assert matrics.ranking.roc_auc(y, x, zero_division=0) == pytest.approx(1.375 / 3)
    assert matrics.ranking.roc_auc(y, x, multi_class="one_vs_one", zero_division=0) == pytest.approx(0.6875 / 3)


@pytest.mark.sampled(2)
def test_shapes(backend: Backend) -> None:
    """Models of the same samples, no samples, no models, several batch axes."""
    y, x = np.array([0, 1, 1, 0, 1]), RANDOM.random((2, 7, 5)).astype(np.float32)
    make = backend.asarray
    got = backend.call(matrics.ranking.roc_auc, make(y), make(x))
    assert tuple(got.shape) == (2, 7)
    one = matrics.ranking.roc_auc(y, x[1, 3])
    assert backend.numpy(got)[1, 3] == pytest.approx(one, rel=1e-6)
    assert tuple(matrics.ranking.roc_auc(make(y[:0]), make(x[0, :, :0])).shape) == (7,)
    assert np.isnan(backend.numpy(matrics.ranking.roc_auc(make(y[:0]), make(x[0, 0, :0]))))
    assert tuple(matrics.ranking.roc_auc(make(y), make(x[0, :0])).shape) == (0,)
    assert tuple(matrics.ranking.threshold_curve(make(y), make(x), "f1")["f1"].shape) == (2, 7, 6)
    of_classes = make(np.moveaxis(x[0], 0, 1).copy())  # (N, n)
    assert tuple(matrics.ranking.roc_auc(make(y), of_classes, average="class").shape) == (7,)
    assert tuple(matrics.ranking.roc_curve(make(y), of_classes).tpr.shape) == (7, 6)


def test_models_or_classes_is_told_by_the_axes() -> None:
    y = np.array([0, 1, 2, 1])
    with pytest.raises(ValueError, match="expected labels in \\[0, 2\\)"):
        matrics.ranking.roc_auc(y, RANDOM.random((3, 4)))
    assert matrics.ranking.roc_auc(y, RANDOM.random((4, 3)), average="class").shape == (3,)
    assert matrics.ranking.roc_auc(y[None], RANDOM.random((5, 4, 3)), average="class").shape == (5, 3)
    with pytest.raises(ValueError, match="same samples"):
        matrics.ranking.roc_auc(y, RANDOM.random((3, 5)))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0, 1]), {}, "y_score: expected floating scores, got dtype int64"),
        (([0.0, 0.5], [0.5, 0.1]), {}, "y_true: expected labels, which are whole numbers"),
        (
            ([0, 2], [0.5, 0.1]),
            {},
            r"y_true: expected labels in \[0, 2\), got 2 .*; ignore_index= .*; for other labels .* positive=",
        ),
        ((["a", "b"], [0.5, 0.1]), {}, "got the labels 'a', 'b': pass the class .*, positive='a' or positive='b'"),
        (
            ([0, 1], [0.5, 0.1]),
            {"average": "binary"},
            "average: expected one of 'auto', 'macro', 'weighted', 'micro', 'class', None",
        ),
        (([0, 1], [0.5, 0.1]), {"multi_class": "raise"}, "multi_class: expected"),
        (([0, 1], [0.5, 0.1]), {"sample_weight": [1, -1]}, "sample_weight: expected finite weights"),
        (([0, 1], [[0.5, 0.1]] * 2), {"multi_class": "one_vs_one", "average": "class"}, "average: expected one of"),
        (([0, 1], [0.5, 0.1, 0.2]), {}, "expected the same samples"),
        ((1, 0.5), {}, "at least one axis of samples"),
        (([0, 0], np.zeros((2, 0))), {}, r"y_score: expected at least one class .* got shape \(2, 0\)"),
    ],
)
def test_errors(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        matrics.ranking.roc_auc(*arguments, **options)


def test_the_variance_is_not_for_weights() -> None:
    with pytest.raises(
        TypeError, match="sample_weight: expected None, because DeLong's variance is for samples of equal weight"
    ):
        matrics.ranking.roc_auc_variance([0, 1], [0.5, 0.1], sample_weight=[1, 2])  # type: ignore[arg-type]


def test_more_errors() -> None:
    y, x = [0, 1], [0.5, 0.1]
    for most in (0, 1.5, True, "a"):
        with pytest.raises(ValueError, match="max_fpr: expected a number above 0"):
            matrics.ranking.partial_roc_auc(y, x, max_fpr=most)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="recall: expected a number from 0 to 1"):
        matrics.ranking.precision_at_recall(y, x, 2)
    with pytest.raises(ValueError, match="zero_division"):
        matrics.ranking.roc_auc(y, x, zero_division=float("inf"))


@pytest.mark.parametrize("standardized", [True, False])
def test_an_undefined_partial_area_is_zero_division(*, standardized: bool) -> None:
    """And no scale is applied to that."""
    options = {"max_fpr": 0.5, "standardized": standardized}
    for y in ([0, 0, 0], [1, 1, 1]):
        assert math.isnan(matrics.ranking.partial_roc_auc(y, [0.1, 0.2, 0.3], **options))
        assert matrics.ranking.partial_roc_auc(y, [0.1, 0.2, 0.3], zero_division=0.25, **options) == 0.25


def test_numbers_of_numpy_are_numbers() -> None:
    y, x = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    assert matrics.ranking.partial_roc_auc(y, x, max_fpr=np.float32(0.5)) == matrics.ranking.partial_roc_auc(
        y, x, max_fpr=0.5
    )
    assert matrics.ranking.partial_roc_auc(y, x, max_fpr=np.int64(1)) == matrics.ranking.roc_auc(y, x)
    assert matrics.ranking.precision_at_recall(y, x, np.float32(0.75)) == matrics.ranking.precision_at_recall(
        y, x, 0.75
    )


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_unit_of_weights_does_not_matter(size: float) -> None:
    y, x = [0, 1, 2, 2, 0], np.float64([[3, 1, 2], [1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 2, 2]])
    for how in ("one_vs_rest", "one_vs_one"):
        found = matrics.ranking.roc_auc(y, x, multi_class=how, sample_weight=[size] * 5)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, matrics.ranking.roc_auc(y, x, multi_class=how))  # type: ignore[arg-type]
    probs = np.float32([0.1, 0.4, 0.35, 0.8, 0.5])
    for measure in (matrics.probabilities.log_loss, matrics.probabilities.brier_score):
        found = measure([0, 0, 1, 1, 0], probs, sample_weight=[size] * 5)
        np.testing.assert_allclose(found, measure([0, 0, 1, 1, 0], probs), rtol=1e-6)
        assert found.dtype == np.float32
