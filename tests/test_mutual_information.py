"""The mutual information keeps its digits on the host where the classes are nearly independent, or one is tiny."""

from __future__ import annotations

import numpy as np
import pytest

import matrics

mpmath = pytest.importorskip("mpmath")


def exact(stack: np.ndarray, *, bits: int = 100) -> list[float]:
    from reference import FORMULAS, Counts

    with mpmath.workprec(bits):
        return [float(FORMULAS["mutual_information"](Counts(cm.tolist()))) for cm in stack]


@pytest.mark.exhaustive(n=[60])
@pytest.mark.parametrize(("dtype", "digits"), [("float32", 1e-6), ("float64", 1e-9)])
@pytest.mark.parametrize("n", [2, 3, 12, 60])
def test_nearly_independent_classes(n: int, dtype: str, digits: float) -> None:
    """Products of row and column sums, and a sample more: the terms cancel in all but the last of their digits."""
    random = np.random.default_rng(n)
    stack = random.integers(5, 30, (4, n, 1)) * random.integers(5, 30, (4, 1, n))
    stack[:, 0, 0] += 1
    expected = exact(stack)
    assert max(expected) < 1e-3
    values = matrics.metrics.mutual_information(stack.astype(dtype))
    np.testing.assert_allclose(values, expected, rtol=digits)
    np.testing.assert_allclose(matrics.metrics.mutual_information(stack[0].astype(dtype)), expected[0], rtol=digits)


@pytest.mark.exhaustive
def test_many_cells() -> None:
    """The rounding of the sum does not grow with the number of cells."""
    random = np.random.default_rng(0)
    stack = np.where(np.eye(60) == 1, 10**6, random.integers(0, 3, (4, 60, 60)))
    np.testing.assert_allclose(matrics.metrics.mutual_information(stack), exact(stack), rtol=2e-15)


@pytest.mark.parametrize("tiny", [1e-299, 1e-290, 1e-150, 1e-15])
def test_a_tiny_class(tiny: float) -> None:
    """Each cell is as often as expected times a number that may be out of the range of floats."""
    stack = np.array([[[tiny, 0], [0, 1e10]], [[3 * tiny, 0], [tiny, 1e10]]])
    np.testing.assert_allclose(matrics.metrics.mutual_information(stack), exact(stack, bits=4000), rtol=1e-14)


def test_neighbours_change_nothing() -> None:
    """Next to matrices of extreme counts products have an exponent of their own; the bits are the same."""
    random = np.random.default_rng(1)
    stack = random.dirichlet(np.ones(3), (5, 3)) * random.uniform(5, 100, (5, 3, 1))
    names = ["mutual_information", "nmi", "rci", "joint_entropy", "cen", "conditional_entropy", "kl_divergence"]
    alone = matrics.score(stack, names)
    for factor in (1e-200, 1e250, 0):
        together = matrics.score(np.concatenate([stack, factor * stack]), names)
        for name in names:
            np.testing.assert_array_equal(together[name][:5], alone[name], err_msg=f"{name} {factor}")
