"""Numbers that other libraries get wrong, and exact arithmetic as the referee."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import hypothesis
import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from roads import Comparison, Graph, Road

import matrics

# Exact references ---------------------------------------------------------------------------------------------------


def fraction_or_nan(a: Fraction, b: Fraction) -> float:
    return float(a / b) if b else math.nan


def exact(cm: list[list[int]]) -> dict[str, Any]:
    """Measures by the textbook's own formulas, in fractions; roots and logarithms to 50 digits."""
    n, cells = len(cm), [[Fraction(c) for c in row] for row in cm]
    true = [sum(row) for row in cells]
    pred = [sum(row[j] for row in cells) for j in range(n)]
    m, hits = sum(true), sum(cells[k][k] for k in range(n))
    chance = sum(t * k for t, k in zip(true, pred, strict=True))
    covariance = m * hits - chance
    true_spread, pred_spread = m * m - sum(t * t for t in true), m * m - sum(k * k for k in pred)
    tp = [cells[k][k] for k in range(n)]
    fn, fp = [t - c for t, c in zip(true, tp, strict=True)], [k - c for k, c in zip(pred, tp, strict=True)]
    tn = [m - t - k + c for t, k, c in zip(true, pred, tp, strict=True)]
    classes = range(n)
    found: dict[str, Any] = {
        "accuracy": fraction_or_nan(hits, m),
        "cohen_kappa": fraction_or_nan(covariance, m * m - chance),
        "mcc": math.nan,
        "recall:class": [fraction_or_nan(tp[k], true[k]) for k in classes],
        "specificity:class": [fraction_or_nan(tn[k], tn[k] + fp[k]) for k in classes],
        "precision:class": [fraction_or_nan(tp[k], pred[k]) for k in classes],
        "npv:class": [fraction_or_nan(tn[k], tn[k] + fn[k]) for k in classes],
        "fpr:class": [fraction_or_nan(fp[k], tn[k] + fp[k]) for k in classes],
        "fnr:class": [fraction_or_nan(fn[k], true[k]) for k in classes],
        "fdr:class": [fraction_or_nan(fp[k], pred[k]) for k in classes],
        "false_omission_rate:class": [fraction_or_nan(fn[k], tn[k] + fn[k]) for k in classes],
        "f1:class": [fraction_or_nan(2 * tp[k], true[k] + pred[k]) for k in classes],
        "fbeta(beta=2):class": [fraction_or_nan(5 * tp[k], 4 * true[k] + pred[k]) for k in classes],
        "jaccard:class": [fraction_or_nan(tp[k], tp[k] + fp[k] + fn[k]) for k in classes],
        "informedness:class": [
            fraction_or_nan(tp[k] * tn[k] - fp[k] * fn[k], true[k] * (m - true[k])) for k in classes
        ],
        "markedness:class": [fraction_or_nan(tp[k] * tn[k] - fp[k] * fn[k], pred[k] * (m - pred[k])) for k in classes],
        "f1:micro": fraction_or_nan(hits, m),
        "specificity:micro": fraction_or_nan(sum(tn), sum(tn) + sum(fp)),
    }
    with mpmath.workdps(50):
        if true_spread and pred_spread:
            found["mcc"] = float(_mpf(covariance) / mpmath.sqrt(_mpf(true_spread * pred_spread)))
        if m:

            def entropy(counts: list[Fraction]) -> Any:
                return -sum(_mpf(c / m) * mpmath.log(_mpf(c / m)) for c in counts if c)

            joint, of_true, of_pred = entropy([c for row in cells for c in row]), entropy(true), entropy(pred)
            found |= {"joint_entropy": float(joint), "true_entropy": float(of_true), "pred_entropy": float(of_pred)}
            if joint:
                found["nmi(normalizer=joint)"] = float((of_true + of_pred - joint) / joint)
    return found


def _mpf(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def slack(spec: str, digits: float) -> float:
    """What signed measures, which may cancel, may be off in absolute terms; all others keep their relative digits."""
    return (
        digits if spec.partition(":")[0] in ("mcc", "cohen_kappa", "informedness", "markedness") or "nmi" in spec else 0
    )


counts = st.one_of(st.integers(0, 3), st.integers(0, 300), st.integers(0, 10**9), st.sampled_from([10**15, 10**17]))
matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(counts, min_size=n, max_size=n), min_size=n, max_size=n)
)


@hypothesis.settings(deadline=None, max_examples=100, derandomize=True)
@hypothesis.given(cm=matrices)
def test_integers_of_any_size_are_scored_exactly(cm: list[list[int]]) -> None:
    """To the last digits, relatively: a rate of 3 in 10**17 too, which a subtraction of counts would lose."""
    wanted = exact(cm)
    scores = matrics.score(np.asarray(cm, dtype=np.int64), list(wanted))
    for spec, reference in wanted.items():
        np.testing.assert_allclose(
            scores[spec], reference, rtol=1e-13, atol=slack(spec, 1e-14), err_msg=f"{spec} of {cm}"
        )


# What others get wrong, each a matrix or its cells as they are rounded: {name: cells}.
OF_OTHERS = {
    "imbalanced counts (torchmetrics: an MCC of 1.0)": [[10**8, 3], [2, 5]],
    "1e17 (scikit-learn: an MCC of 0.0, by cancellation)": [[10**17, 3], [2, 5]],
    "tens of billions (torchmetrics: an MCC of 0.0, as the fourth power of the total leaves float32)": [
        [9 * 10**10, 7 * 10**9, 10**9],
        [4 * 10**9, 3 * 10**10, 2 * 10**9],
        [5 * 10**8, 3 * 10**9, 8 * 10**9],
    ],
    "more than a byte holds (PyCM: a kappa of 14.33)": [[200, 50], [30, 220]],
    "one class, all hits": [[7, 0], [0, 0]],
    "one class, all errors": [[0, 7], [0, 0]],
    "nothing": [[0, 0], [0, 0]],
}
SIZES_OF_COUNTS = [0, 1, 2, 5, 300, 10**6, 10**8, 10**10]  # of all of them float32 knows how large they are


def hold_exact(graph: Graph, comparison: Comparison, stack: np.ndarray, *, digits: dict[str, float]) -> None:
    """Compare every measure of ``exact`` with fractions; signed ones may cancel, and have absolute digits."""
    stack = np.asarray(stack, dtype=graph.dtype)
    scores = graph.scores(stack)
    for place, cm in enumerate(stack.tolist()):
        for spec, reference in exact(cm).items():
            value = scores[spec][place]
            comparison.hold(spec, cm, value, reference, rtol=digits["rtol"], atol=slack(spec, digits["atol"]))
            undefined = np.isnan(np.asarray(reference, dtype=float))
            comparison.hold(f"{spec} undefined", cm, np.isnan(value), undefined, rtol=0, atol=0)


def digits_of(dtype: type) -> dict[str, float]:
    return {"rtol": 5e-6, "atol": 3e-6} if dtype is np.float32 else {"rtol": 1e-13, "atol": 1e-14}


def hold_numbers_of_others(graph: Graph, comparison: Comparison) -> None:
    """Compare what others get wrong, and random counts of all sizes side by side."""
    random = np.random.default_rng(graph.n)
    named = [cells for cells in OF_OTHERS.values() if len(cells) == graph.n]
    mixed = random.choice(SIZES_OF_COUNTS, (60, graph.n, graph.n))
    plain = random.integers(0, 300, (4, graph.n, graph.n))
    hold_exact(graph, comparison, np.asarray([*named, *mixed, *plain], dtype=float), digits=digits_of(graph.dtype))


def stacks(n: int, dtype: type, count: int) -> st.SearchStrategy[np.ndarray]:
    """Stacks of one shape, for which a graph is compiled once."""
    cells = st.sampled_from(SIZES_OF_COUNTS) if dtype is np.float32 else counts
    return arrays(np.float64, (count, n, n), elements=cells.map(float), fill=st.nothing())


def hold_true_negatives(graph: Graph, comparison: Comparison) -> None:
    """Also with one or two classes whose row and column hold nearly everything."""
    n, random = graph.n, np.random.default_rng(graph.n)
    stack = random.random((24, n, n)) * 10.0 ** random.integers(-9, 9, (24, n, n))
    stack[12:] = random.random((12, n, n))
    for matrix in stack[6:]:
        a, b = random.choice(n, 2, replace=False)
        places = [[(a, a)], [(a, b)], [(a, b), (b, a)], [(a, a), (b, b)], [(a, slice(None))], [(slice(None), b)]]
        for place in places[random.integers(len(places))]:
            matrix[place] = 10.0 ** random.integers(6, 17)
    stack = stack.astype(graph.dtype)
    scores = graph.scores(stack)
    digits = 1e-13 if graph.dtype is np.float64 else 2e-5
    for place, matrix in enumerate(stack.tolist()):
        cells = [[Fraction(c) for c in row] for row in matrix]
        for k in range(n):
            tn = sum(c for i, row in enumerate(cells) if i != k for j, c in enumerate(row) if j != k)
            fp = sum(row[k] for i, row in enumerate(cells) if i != k)
            fn = sum(c for j, c in enumerate(cells[k]) if j != k)
            for spec, errors in (("specificity:class", fp), ("npv:class", fn)):
                value, reference = scores[spec][place, k], float(tn / (tn + errors))
                comparison.hold(spec, matrix, value, reference, rtol=digits, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(n=[4])
@pytest.mark.exhaustive(eager=["strict", "torch-vmap"], n=[2])
@pytest.mark.exhaustive(eager=["strict", "torch-grad", "torch-vmap"], n=[3], dtype=[np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_exact_fractions(eager: Road, n: int, dtype: type, record_property: Any) -> None:
    """On the roads that compile nothing; test_roads.py takes the others, here and below."""
    comparison = Comparison(eager.name)
    graph = Graph(eager, n, dtype, tuple(exact([[1, 2], [3, 4]])))
    hold_numbers_of_others(graph, comparison)

    @hypothesis.settings(deadline=None, max_examples=3, derandomize=True)
    @hypothesis.given(stack=stacks(n, dtype, 8))
    def draw(stack: np.ndarray) -> None:
        drawn = Comparison(eager.name)
        hold_exact(graph, drawn, stack, digits=digits_of(dtype))
        comparison.compared += drawn.compared
        drawn.settle(1, lambda *_: None)

    draw()
    comparison.settle(2 * 64 * 18, record_property)


@pytest.mark.sampled(2)
@pytest.mark.exhaustive(eager=["strict", "torch-grad", "torch-vmap"], n=[20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("n", [3, 7, 20])
def test_true_negatives_keep_their_digits(eager: Road, n: int, dtype: type, record_property: Any) -> None:
    comparison = Comparison(eager.name)
    hold_true_negatives(Graph(eager, n, dtype, ("specificity:class", "npv:class")), comparison)
    comparison.settle(24 * n * 2, record_property)


# The table of what today's libraries get wrong ----------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32])
def test_mcc_of_imbalanced_counts(backend: Any, dtype: type) -> None:
    """torchmetrics: 1.0."""
    cm = [[10**8, 3], [2, 5]]
    value = backend.numpy(matrics.mcc(backend.asarray(cm, dtype)))
    assert round(exact(cm)["mcc"], 8) == 0.66815308
    assert value == pytest.approx(exact(cm)["mcc"], rel=1e-6 if value.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mcc_of_ten_billion(backend: Any, dtype: type) -> None:
    """torchmetrics: 0.0, as the fourth power of the total leaves float32."""
    cm = np.asarray([[9e10, 7e9, 1e9], [4e9, 3e10, 2e9], [5e8, 3e9, 8e9]])
    value = backend.numpy(matrics.mcc(backend.asarray(cm, dtype)))
    reference = exact(cm.astype(np.int64).tolist())["mcc"]
    assert value == pytest.approx(reference, rel=2e-6 if value.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32])
def test_mcc_at_1e17(backend: Any, dtype: type) -> None:
    """scikit-learn: 0.0, by cancellation. Default JAX has no integers of this size."""
    if dtype is np.int64 and not backend.float64:
        pytest.skip("no int64 in default JAX")
    cm = [[10**17, 3], [2, 5]]
    value = backend.numpy(matrics.mcc(backend.asarray(cm, dtype)))
    assert value == pytest.approx(exact(cm)["mcc"], rel=1e-6 if value.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_entropies_beside_a_dominant_class(backend: Any, dtype: type) -> None:
    """A share that is nearly 1 has no digits left for its logarithm, which is that of the rest."""
    if dtype is np.int64 and not backend.float64:
        pytest.skip("no int64 in default JAX")
    cm = [[10**17, 3], [2, 5]] if dtype is np.int64 else [[10**8, 3], [2, 5]]
    wanted = exact(cm)
    for spec in ("joint_entropy", "true_entropy", "pred_entropy", "nmi(normalizer=joint)"):
        value = backend.numpy(matrics.score(backend.asarray(cm, dtype), spec)[spec])
        assert value == pytest.approx(wanted[spec], rel=1e-5 if value.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize(("beta", "limit"), [(1e200, "recall"), (1e-200, "precision")])
def test_fbeta_at_its_ends(beta: float, limit: str) -> None:
    cm = [[8, 2], [1, 9]]
    np.testing.assert_allclose(matrics.metrics.fbeta(cm, beta=beta), matrics.get_metric(limit)(cm), rtol=1e-15)


def test_f1_of_the_largest_floats() -> None:
    cm = np.asarray([[2e38, 1e37], [1e37, 4e37]], np.float32)
    np.testing.assert_allclose(matrics.f1(cm, average="class"), [20 / 21, 0.8], rtol=1e-6)


def test_kappa_of_bytes(backend: Any) -> None:
    """PyCM: 14.33, as sums of bytes wrap."""
    value = backend.numpy(matrics.cohen_kappa(backend.asarray([[200, 50], [30, 220]], np.uint8)))
    assert value == pytest.approx(0.68, rel=1e-6)


def test_three_hundred_labels_of_a_byte(backend: Any) -> None:
    """torcheval: wraps at 44."""
    labels = backend.asarray(np.zeros(300), np.uint8)
    assert backend.numpy(matrics.confusion_matrix(labels, labels, num_classes=2)).tolist() == [[300, 0], [0, 0]]


def test_one_negative_cell(backend: Any) -> None:
    """torchmetrics: 0.956."""
    assert np.isnan(backend.numpy(matrics.mcc(backend.asarray([[50, -1], [2, 40]]), invalid="nan")))


def test_a_stack_is_not_pooled(backend: Any) -> None:
    """torchmetrics pools (5, 3, 3) into one value."""
    stack = np.random.default_rng(0).integers(1, 9, (5, 3, 3))
    values = backend.numpy(matrics.mcc(backend.asarray(stack)))
    np.testing.assert_allclose(values, [exact(cm.tolist())["mcc"] for cm in stack], **backend.tolerance)


# scikit-learn as the referee, from labels ---------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")
@pytest.mark.exhaustive(n=[2])
@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, np.nan])
def test_scikit_learn(n: int, zero_division: float) -> None:
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(n)
    labels = list(range(n))
    for _ in range(10):
        y_true, y_pred = random.integers(0, random.integers(1, n + 1), (2, 25))
        cm = matrics.confusion_matrix(y_true, y_pred, num_classes=n)
        np.testing.assert_array_equal(cm, sklearn_metrics.confusion_matrix(y_true, y_pred, labels=labels))
        for average in ("macro", "micro", "weighted", None):
            keywords = {"average": average, "labels": labels, "zero_division": zero_division}
            for name, theirs in {
                "recall": sklearn_metrics.recall_score(y_true, y_pred, **keywords),
                "precision": sklearn_metrics.precision_score(y_true, y_pred, **keywords),
                "f1": sklearn_metrics.f1_score(y_true, y_pred, **keywords),
                "fbeta(beta=0.5)": sklearn_metrics.fbeta_score(y_true, y_pred, beta=0.5, **keywords),
            }.items():
                ours = matrics.get_metric(name)(cm, average=average or "class", zero_division=zero_division)
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, err_msg=f"{name} {average}")
        if np.isnan(zero_division):
            for name, theirs in {
                "nmi": sklearn_metrics.normalized_mutual_info_score,
                "mutual_information": sklearn_metrics.mutual_info_score,
            }.items():
                ours = matrics.get_metric(name)(cm)
                assert np.isnan(ours) or ours == pytest.approx(theirs(y_true, y_pred), abs=1e-12)
            ours = matrics.cohen_kappa(cm)
            assert np.isnan(ours) or ours == pytest.approx(
                sklearn_metrics.cohen_kappa_score(y_true, y_pred, labels=labels)
            )
            assert matrics.mcc(cm, zero_division=0) == pytest.approx(
                sklearn_metrics.matthews_corrcoef(y_true, y_pred), abs=1e-12
            )
            pairs = matrics.transform.pair_counts(cm)
            theirs = sklearn_metrics.cluster.pair_confusion_matrix(y_true, y_pred) / 2
            np.testing.assert_allclose(pairs, theirs, rtol=1e-12)
