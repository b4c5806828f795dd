"""A single matrix, whose exact sums are computed at once, has the values that it has in a stack."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import matrics

DTYPES = ["int64", "int8", "uint64", "bool", "float64", "float32"]


def matrices(n: int, dtype: str) -> list[np.ndarray]:
    random = np.random.default_rng(n)
    counts = random.integers(0, 2 if dtype == "bool" else 60, (4, n, n))
    empty = np.zeros((n, n), int)
    absent = counts[0] * (np.arange(n) != 1)[:, None]
    return [cm.astype(dtype) for cm in (*counts, empty, absent, np.diag(counts[0].diagonal()))]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_a_single_matrix_and_a_stack_have_equal_values(n: int, dtype: str) -> None:
    measures = map(matrics.get_metric, matrics.list_metrics())
    specs = [f"{measure.name}:class" if measure.kind == "per_class" else measure.name for measure in measures]
    specs += ["f1:macro", "recall:weighted", "jaccard:micro"]
    stack = np.stack(matrices(n, dtype))
    scores = matrics.score(stack, specs)
    digits = 1e-5 if dtype == "float32" else 1e-13
    for k, cm in enumerate(stack):
        for spec, value in matrics.score(cm, specs).items():
            np.testing.assert_allclose(value, scores[spec][k], rtol=digits, atol=digits, err_msg=f"{spec} {k}")
            assert value.dtype == scores[spec].dtype


@pytest.mark.parametrize("zero_division", [0.0, 1.0])
def test_the_value_of_undefined_measures_is_that_of_the_call(zero_division: float) -> None:
    """A table is copied for each matrix, and the option does not stay in it."""
    cm = np.array([[3, 0], [2, 0]])
    assert np.isnan(matrics.mcc(cm))
    assert matrics.mcc(cm, zero_division=zero_division) == zero_division
    assert np.isnan(matrics.mcc(cm))


@pytest.mark.parametrize(
    "cm",
    [
        np.array([[2**62, 1], [3, 2**62]]),
        np.array([[2**63 + 2**20, 5], [2**20, 2**50]], dtype=np.uint64),
        np.array([[2.0**60, 2.0**40], [2.0**44, 2.0**52]]),
        np.array([[1e150, 1e149], [1e148, 1e150]]),
        np.array([[1e-150, 1e-149], [1e-148, 1e-150]]),
        np.array([[94906265, 1], [1, 1]]),
        np.array([[0.5, 0.25], [0.125, 3]]),
    ],
)
def test_counts_of_any_size_have_the_values_of_fractions(cm: np.ndarray) -> None:
    """Sums of the first matrices are rounded, and products of the last are not exact."""
    (a, b), (c, d) = ([Fraction(cell.item()) for cell in row] for row in cm)
    total = a + b + c + d
    spread = (a + b) * (c + d) * (a + c) * (b + d)
    squared = (a * d - b * c) ** 2 / spread
    expected = {
        "accuracy": (a + d) / total,
        "cohen_kappa": 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d)),
        "f1:macro": (2 * a / (2 * a + b + c) + 2 * d / (2 * d + b + c)) / 2,
    }
    sign = 1 if a * d >= b * c else -1
    for stack in (cm, np.stack([cm, cm])):
        scores = matrics.score(stack, [*expected, "mcc"])
        for spec, value in expected.items():
            np.testing.assert_allclose(scores[spec], float(value), rtol=1e-14, err_msg=spec)
        np.testing.assert_allclose(scores["mcc"], sign * float(squared) ** 0.5, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [2, 3])
def test_neighbours_of_any_size_change_no_bit(n: int, dtype: str) -> None:
    """Where products of counts leave the range of floats, other formulas compute the values of those matrices alone."""
    random = np.random.default_rng(n)
    counts = random.integers(0, 60, (300, n, n)).astype(dtype)
    power = 100 if dtype == "float32" else 1000
    others = [counts * 2.0**power, counts * 2.0**-power, counts / 3, np.where(np.eye(n) == 1, counts, 0)]
    mixed = np.concatenate([counts, *(other.astype(dtype) for other in others)])
    specs = ["accuracy", "mcc", "cohen_kappa", "f1:class", "eve", "recall:macro"]
    alone, together = matrics.score(counts, specs), matrics.score(mixed, specs)
    for spec in specs:
        np.testing.assert_array_equal(together[spec][:300], alone[spec], err_msg=spec)
    for k in (1, 2):  # powers of two change no digit of these measures
        np.testing.assert_allclose(together["mcc"][300 * k : 300 * (k + 1)], alone["mcc"], rtol=1e-5)


def test_invalid_cells_of_a_single_matrix() -> None:
    for cm in (np.array([[1, -2], [3, 4]]), np.array([[1.0, np.nan], [3, 4]]), np.array([[1.0, np.inf], [3, 4]])):
        with pytest.warns(RuntimeWarning, match="1 of 1 confusion matrices is invalid"):
            assert np.isnan(matrics.mcc(cm))
        with pytest.raises(matrics.InvalidConfusionMatrix):
            matrics.mcc(cm, invalid="raise")
