"""One matrix of many classes, whose integers are summed before they are floats: the same values by any way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics

RANDOM = np.random.default_rng(0)
MEASURES = ["accuracy", "f1", "recall:class", "mcc", "confusion_entropy"]  # the last of which reads cells


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in MEASURES:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "uint64", ">i8"])
@pytest.mark.parametrize("n", [99, 100, 260])
def test_integers_are_scored_like_floats(dtype: str, n: int) -> None:
    cm = RANDOM.integers(0, 2 if dtype == "bool" else 100, (n, n)).astype(dtype)
    same(matrics.score(cm, MEASURES), matrics.score(cm.astype(np.float64), MEASURES))
    same(matrics.score(np.pad(cm, 1)[1:-1, 1:-1], MEASURES), matrics.score(cm, MEASURES))  # of a larger array
    whole = np.float64(cm).sum()
    np.testing.assert_allclose(matrics.accuracy(cm), np.float64(cm).trace() / whole, rtol=1e-14)
    np.testing.assert_allclose(matrics.recall(cm, average="class"), cm.diagonal() / np.float64(cm).sum(1), rtol=1e-14)


def test_extreme_integers() -> None:
    """Their sums would wrap around in 64 bits."""
    cm = np.full((100, 100), 2**62)
    np.testing.assert_allclose(matrics.accuracy(cm), 0.01, rtol=1e-12)
    large = np.full((100, 100), 2**64 - 1, np.uint64)
    np.testing.assert_allclose(matrics.f1(large), 0.01, rtol=1e-12)
    large[0] = 2**63 // 50  # a row whose sum is 2**64, which is 0 in 64 bits
    np.testing.assert_allclose(matrics.recall(large, average="class"), 0.01, rtol=1e-12)


@pytest.mark.parametrize("cell", [-1, -(2**63)])
def test_a_negative_cell_makes_the_matrix_invalid(cell: int) -> None:
    cm = RANDOM.integers(0, 9, (120, 120))
    cm[70, 3] = cell
    with pytest.warns(RuntimeWarning, match=rf"the cell {cell} at"):
        assert np.isnan(matrics.f1(cm))
    stack = np.stack([cm % 9, cm])
    assert np.isnan(matrics.score(stack, "f1", invalid="nan")["f1"]).tolist() == [False, True]
