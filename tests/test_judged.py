"""Corrected matrices of judged samples: exact fractions, ppi-python, every library, and what must hold of each."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)
METHODS = ["post_stratified", "tuned", "rogan_gladen", "labelled", "judge"]
CASES = json.loads((Path(__file__).parent / "data" / "judged.json").read_text())["cases"]


def counts_of(cube: Any, plane: Any) -> matrics.results.JudgedCounts:
    return matrics.results.JudgedCounts(np.asarray(cube), np.asarray(plane))


def simulated(n: int, number: int, labelled: int, *, judge: float = 0.85, batch: tuple[int, ...] = ()) -> Any:
    """Counts of random labels, and the true matrix of all samples."""
    shape = (*batch, number)
    true = RANDOM.integers(0, n, shape)
    y_judge, pred = (np.where(RANDOM.random(shape) < p, true, RANDOM.integers(0, n, shape)) for p in (judge, 0.75))
    known = np.arange(number) < labelled
    counts = matrics.judged.count(true, y_judge, pred, labelled=known, num_classes=n)
    return counts, matrics.confusion_matrix(true, pred, num_classes=n)


def post_stratified(cube: Any, plane: Any) -> list[list[Fraction]]:
    """The formula, cell by cell; only for strata with labels enough."""
    n = len(plane)
    found = [[Fraction(0)] * n for _ in range(n)]
    for j, p in itertools.product(range(n), repeat=2):
        labels = [int(cube[t][j][p]) for t in range(n)]
        for t in range(n):
            found[t][p] += Fraction((int(plane[j][p]) + sum(labels)) * labels[t], sum(labels))
    return found


def test_post_stratified_by_fractions() -> None:
    for n in (2, 3):
        cube, plane = RANDOM.integers(5, 50, (n, n, n)), RANDOM.integers(20, 900, (n, n))
        plane = plane + cube.sum(0) * 4  # so that all strata have five expected labels
        found = matrics.judged.confusion_matrix(counts_of(cube, plane))
        np.testing.assert_allclose(found, np.asarray(post_stratified(cube, plane), float), rtol=1e-14)
        np.testing.assert_allclose(found.sum(0), (plane + cube.sum(0)).sum(0), rtol=1e-14)


def test_thin_strata_of_a_prediction_are_one() -> None:
    """Expected labels of the prediction 0: 40, 3 and 3, so that the last two are one stratum."""
    cube = np.zeros((3, 3, 3), int)
    cube[:, 0, 0], cube[:, 1, 0], cube[:, 2, 0] = (30, 6, 4), (1, 2, 0), (0, 1, 2)
    plane = cube.sum(0) * 9
    found = matrics.judged.confusion_matrix(counts_of(cube, plane))
    by_hand = np.asarray([30, 6, 4]) * 10 + np.asarray([1, 3, 2]) / 6 * 60
    np.testing.assert_allclose(found[:, 0], by_hand)
    assert (found[:, 1:] == 0).all()
    # Two thin strata of three expected labels together: they join the largest one.
    cube[:, 1, 0], cube[:, 2, 0] = (1, 0, 0), (0, 1, 1)
    plane = np.zeros((3, 3), int)
    plane[:, 0] = 9 * 40, 9, 9 * 2
    found = matrics.judged.confusion_matrix(counts_of(cube, plane))
    np.testing.assert_allclose(found[:, 0], np.asarray([31, 7, 5]) / 43 * 430)


def test_a_prediction_without_labels_takes_those_of_all() -> None:
    cube = np.zeros((2, 2, 2), int)
    cube[:, 0, 0], cube[:, 1, 0] = (18, 2), (5, 15)
    plane = cube.sum(0) * 9
    plane[:, 1] = 50, 70
    found = matrics.judged.confusion_matrix(counts_of(cube, plane))
    np.testing.assert_allclose(found[:, 1], [50 * 0.9 + 70 * 0.25, 50 * 0.1 + 70 * 0.75])
    assert np.isnan(matrics.judged.confusion_matrix(counts_of(cube, plane), design="strata")[:, 1]).all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(np.shape(case["unlabelled"])))
def test_prediction_powered_inference(case: dict[str, Any]) -> None:
    """The accuracy of ppi-python, with its λ; the matrix's own λ has the smallest trace of all."""
    counts = counts_of(case["labelled"], case["unlabelled"])
    found = matrics.judged.interval(counts, "accuracy", method="tuned")["accuracy"]
    value, low, high = case["accuracy"]
    assert math.isclose(found.estimate, value, rel_tol=1e-12)
    labelled = counts.labelled.sum()
    error = (high - low) / 2 / 1.959963984540054
    assert math.isclose(found.standard_error, error, rel_tol=1 / labelled)
    assert found.low < value < found.high


@matrics.metric(kind="overall", range=(0, 1), higher_is_better=True)
def cell_of_class_1_taken_for_0(t: Any) -> Any:
    """A share of all samples: prediction-powered inference of a proportion."""
    return t.share(t.cells[1, 0, ...])


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(np.shape(case["unlabelled"])))
def test_prediction_powered_proportions(case: dict[str, Any]) -> None:
    counts = counts_of(case["labelled"], case["unlabelled"])
    (found,) = matrics.judged.interval(counts, [cell_of_class_1_taken_for_0], method="tuned").values()
    assert math.isclose(found.estimate, case["cell_1_0"][0], rel_tol=1e-9)


def test_rogan_and_gladen() -> None:
    """Of two classes: (apparent prevalence + specificity - 1) / (sensitivity + specificity - 1), in each column."""
    cube = np.asarray([[[40, 30], [5, 7]], [[6, 4], [50, 60]]])
    plane = np.asarray([[500, 300], [400, 700]])
    found = matrics.judged.confusion_matrix(counts_of(cube, plane), method="rogan_gladen")
    sensitivity, specificity = Fraction(110, 120), Fraction(70, 82)
    for p in range(2):
        column = [int(x) for x in (plane + cube.sum(0))[:, p]]
        share = (Fraction(column[1], sum(column)) + specificity - 1) / (sensitivity + specificity - 1)
        assert math.isclose(found[1, p], share * sum(column), rel_tol=1e-12)
        assert math.isclose(found[:, p].sum(), sum(column), rel_tol=1e-12)


def test_a_judge_worse_than_its_errors_is_projected() -> None:
    """The judge finds fewer of class 1 than its false positives alone would be: none is left, and none is negative."""
    cube = np.asarray([[[70, 0], [30, 0]], [[2, 0], [98, 0]]])
    plane = np.asarray([[900, 0], [100, 0]])
    found = matrics.judged.confusion_matrix(counts_of(cube, plane), method="rogan_gladen")
    assert found.min() >= 0
    np.testing.assert_allclose(found[:, 0], [1200, 0], atol=1e-9)


def test_the_projection_is_the_nearest_column() -> None:
    """Beside a search through the sets of cells that stay above 0."""
    from matrics._arrays import NUMPY
    from matrics._judged.correction import on_simplex

    matrix = RANDOM.normal(1, 2, (200, 4, 3)).round(2)
    found = on_simplex(matrix, NUMPY)
    for column, ours in zip(
        np.moveaxis(matrix, -2, -1).reshape(-1, 4), np.moveaxis(found, -2, -1).reshape(-1, 4), strict=True
    ):
        if column.min() >= 0:
            assert ours.tolist() == column.tolist()
            continue
        total = column.sum()
        if total <= 0:
            continue
        best, least = None, math.inf
        for size in range(1, 5):
            for some in itertools.combinations(range(4), size):
                tried = np.zeros(4)
                tried[list(some)] = column[list(some)] - (column[list(some)].sum() - total) / size
                if tried.min() >= 0 and (away := ((tried - column) ** 2).sum()) < least:
                    best, least = tried, away
        np.testing.assert_allclose(ours, best, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_perfect_judge_needs_no_correction(method: str) -> None:
    counts, truth = simulated(3, 3000, 400, judge=1.0)
    found = matrics.judged.confusion_matrix(counts, method=method)
    if method in ("post_stratified", "rogan_gladen", "judge"):
        np.testing.assert_allclose(found, truth, atol=1e-9)
    np.testing.assert_allclose(found.sum(), 400 if method == "labelled" else 3000)


@pytest.mark.parametrize("method", METHODS)
def test_all_labelled_is_the_confusion_matrix(method: str) -> None:
    counts, truth = simulated(3, 600, 600)
    if method not in ("judge", "rogan_gladen"):  # which goes by the judge, whatever people say
        np.testing.assert_allclose(matrics.judged.confusion_matrix(counts, method=method), truth, atol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", METHODS)
def test_every_library(method: str, backend: Any) -> None:
    counts, _ = simulated(3, 2000, 250, batch=(4,))
    expected = matrics.judged.confusion_matrix(counts, method=method)
    arrays = [backend.asarray(x, np.float32 if not backend.float64 else np.float64) for x in counts[:2]]
    found = backend.call(
        lambda cube, plane: matrics.judged.confusion_matrix(matrics.results.JudgedCounts(cube, plane), method=method),
        *arrays,
    )
    np.testing.assert_allclose(backend.numpy(found), expected, rtol=1e-3 if not backend.float64 else 1e-10, atol=1e-6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", METHODS)
def test_compiled_and_mapped(method: str, torch: Any) -> None:
    counts, _ = simulated(3, 2000, 250, batch=(4,))
    expected = matrics.judged.confusion_matrix(counts, method=method)

    def correct(cube: Any, plane: Any) -> Any:
        return matrics.judged.confusion_matrix(matrics.results.JudgedCounts(cube, plane), method=method)

    tensors = [torch.asarray(x) for x in counts[:2]]
    compiled = torch.compile(correct, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(*tensors).numpy(), expected, rtol=1e-4)
    np.testing.assert_allclose(torch.func.vmap(correct)(*tensors).numpy(), expected, rtol=1e-4)
    jax = pytest.importorskip("jax")
    arrays = [jax.numpy.asarray(x) for x in counts[:2]]
    np.testing.assert_allclose(jax.jit(jax.vmap(correct))(*arrays), expected, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("method", ["post_stratified", "tuned", "rogan_gladen"])
def test_gradients(method: str, torch: Any) -> None:
    """Of the MCC of the corrected matrix by each count, beside differences."""
    cube, plane = RANDOM.integers(6, 40, (3, 3, 3)) * 1.0, RANDOM.integers(100, 400, (3, 3)) * 1.0
    cube += 60 * np.eye(3)[:, :, None]  # a judge that can be inverted

    def value(cube: Any, plane: Any) -> Any:
        return matrics.mcc(matrics.judged.confusion_matrix(matrics.results.JudgedCounts(cube, plane), method=method))

    tensors = [torch.asarray(x).requires_grad_() for x in (cube, plane)]
    slopes = torch.autograd.grad(value(*tensors), tensors)
    for k, place in ((0, (1, 1, 2)), (0, (2, 2, 2)), (1, (0, 1)), (1, (2, 2))):
        step = 1e-4
        both = []
        for sign in (1, -1):
            moved = [cube.copy(), plane.copy()]
            moved[k][place] += sign * step
            both.append(value(*moved))
        np.testing.assert_allclose(slopes[k][place], (both[0] - both[1]) / (2 * step), rtol=1e-5, atol=1e-10)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_one_bad_table_spoils_no_other(method: str) -> None:
    counts, _ = simulated(3, 2000, 250, batch=(3,))
    expected = matrics.judged.confusion_matrix(counts, method=method)
    for bad in (math.nan, -1.0, math.inf):
        cube, plane = counts.labelled.astype(float), counts.unlabelled.astype(float)
        cube[1, 0, 1, 2] = bad
        found = matrics.judged.confusion_matrix(counts_of(cube, plane), method=method)
        assert np.isnan(found[1]).all()
        assert found[[0, 2]].tolist() == expected[[0, 2]].tolist()
    cube[1] = 0  # nobody labelled anything
    found = matrics.judged.confusion_matrix(counts_of(cube, plane), method=method)
    assert found[[0, 2]].tolist() == expected[[0, 2]].tolist()
    empty = counts_of(np.zeros((0, 3, 3, 3), int), np.zeros((0, 3, 3), int))
    assert matrics.judged.confusion_matrix(empty, method=method).shape == (0, 3, 3)


def test_wrong_input() -> None:
    counts, _ = simulated(2, 100, 50)
    with pytest.raises(TypeError, match=r"expected JudgedCounts, as from matrics.judged.count"):
        matrics.judged.confusion_matrix(counts.labelled)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"method: expected one of 'auto', 'post_stratified'.*got 'ppi'"):
        matrics.judged.confusion_matrix(counts, method="ppi")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"design: expected 'random' or 'strata', got 'cells'"):
        matrics.judged.confusion_matrix(counts, design="cells")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 'post_stratified' with design='strata', got 'tuned'"):
        matrics.judged.confusion_matrix(counts, method="tuned", design="strata")
    with pytest.raises(ValueError, match=r"labelled \(\*B, n, n, n\) and unlabelled \(\*B, n, n\)"):
        matrics.judged.confusion_matrix(counts_of(counts.labelled[0], counts.unlabelled))
