"""Labels of NumPy are counted by the bits of their pairs: every dtype, labels to ignore and labels out of range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matrics
from matrics._counting.pairs import AT_ONCE, pair_counts

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
RANDOM = np.random.default_rng(0)
SIZES = [1, 50, AT_ONCE + 1, pytest.param(3 * AT_ONCE + 5, marks=pytest.mark.exhaustive)]


def by_hand(y_true: np.ndarray, y_pred: np.ndarray, n: int, ignored: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """The matrix and the number of dropped samples, one sample after the other."""
    true, pred = y_true.astype(np.int64), y_pred.astype(np.int64)
    kept = ~np.isin(true, ignored)
    inside = kept & (true >= 0) & (true < n) & (pred >= 0) & (pred < n)
    matrix = np.zeros((n, n), int)
    np.add.at(matrix, (true[inside], pred[inside]), 1)
    return matrix, int(kept.sum() - inside.sum())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [1, 2, 21, 64, 100])
@pytest.mark.parametrize("of_pred", DTYPES)
@pytest.mark.sampled(40)
@pytest.mark.parametrize("of_true", DTYPES)
def test_any_dtypes(of_true: Any, of_pred: Any, n: int, size: int) -> None:
    y_true, y_pred = (RANDOM.integers(0, n, size).astype(dtype) for dtype in (of_true, of_pred))
    state = matrics.ConfusionState.zeros(n)
    for ignored in ((), (0,), (n - 1, n + 4), (min(255, np.iinfo(of_true).max),), (-1,)):
        labels = y_true.copy()
        for label in ignored:
            if label >= np.iinfo(of_true).min:
                labels[RANDOM.random(size) < 0.1] = label
        counted = state.update(labels, y_pred, ignore_index=ignored)
        matrix, dropped = by_hand(labels, y_pred, n, ignored)
        np.testing.assert_array_equal(counted.matrix, matrix)
        assert counted.dropped == dropped == 0
        labels[RANDOM.integers(size)] = n + 1  # which is ignored by none of them
        counted = state.update(labels, y_pred, ignore_index=ignored)
        matrix, dropped = by_hand(labels, y_pred, n, ignored)
        np.testing.assert_array_equal(counted.matrix, matrix)
        assert counted.dropped == dropped


def test_only_labels_in_range_are_counted_so() -> None:
    y_true, y_pred = np.array([0, 1, 2, 2]), np.array([0, 2, 2, 0])
    assert pair_counts(y_true, y_pred, 3, ()).tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 1]]
    assert pair_counts(y_true, y_pred, 2, ()) is None  # 2 has more bits than 1
    assert pair_counts(np.array([3, 0]), np.array([0, 1]), 3, ()) is None  # and 3 as many as 2
    assert pair_counts(np.array([-1, 0]), np.array([0, 1]), 3, ()) is None
    assert pair_counts(y_true, y_pred, 3, (-1,)) is None
    assert pair_counts(y_true, y_pred, 3, (2,)).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert pair_counts(y_true[:0], y_pred[:0], 3, ()) is None
    assert pair_counts(y_true, y_pred, 100, ()) is None  # 16,384 cells for four labels


def test_masks_that_are_no_row_of_memory() -> None:
    """Masks in another order, and one mask beside the predictions of several models."""
    masks, seen = RANDOM.integers(0, 5, (2, 4, 200, 300))
    matrix, _ = by_hand(masks.ravel(), seen.ravel(), 5, ())
    state = matrics.ConfusionState.zeros(5)
    np.testing.assert_array_equal(state.update(masks.transpose(2, 1, 0), seen.transpose(2, 1, 0)).matrix, matrix)
    np.testing.assert_array_equal(state.update(masks[:, ::-1], seen[:, ::-1]).matrix, matrix)
    models = matrics.ConfusionState.zeros(5, batch_shape=(2,)).update(masks[0], seen[:2])
    for k in (0, 1):
        np.testing.assert_array_equal(models.matrix[k], by_hand(masks[0].ravel(), seen[k].ravel(), 5, ())[0])
