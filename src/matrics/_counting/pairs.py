"""Pairs of labels in a grid of powers of two: a cell for each pair, whose index is a shift and an or of two labels.

The bits of all labels, and the counts of the cells beyond the classes, show whether all labels are in range. So no
label is compared with a bound, and each part of the labels is read while it is in the cache.
"""

from __future__ import annotations

import numpy as np

from matrics._arrays import Array

# Up to this number of cells, the grid is cheaper than reading the labels of any batch.
FEW_CELLS = 4096
# Labels at a time: with their intermediate arrays they fit in a cache.
AT_ONCE = 2**15


def pair_counts(y_true: Array, y_pred: Array, n: int, ignored: tuple[int, ...]) -> Array | None:
    """The matrix (n, n) of two arrays of NumPy with labels; None unless it is certain that no sample is dropped.

    The result is None if a label is out of range, unless it is ignored or the prediction of an ignored sample. It is
    also None if the grid were larger than the labels.
    """
    if ignored and min(ignored) < 0:
        return None
    pred_bits = (n - 1).bit_length()
    true_bits = max(n - 1, *ignored).bit_length() if ignored else pred_bits
    rows, columns, size = 1 << true_bits, 1 << pred_bits, y_true.size
    if rows * columns > max(FEW_CELLS, size) or not size:
        return None
    y_true, y_pred = y_true.reshape(-1), y_pred.reshape(-1)
    # Labels of a single byte are combined in two bytes, which takes half the time.
    is_narrow = y_true.dtype.itemsize == y_pred.dtype.itemsize == 1 and true_bits + pred_bits <= 16
    bits_alike = y_true.dtype == y_pred.dtype and true_bits == pred_bits
    cells = np.empty(min(size, AT_ONCE), np.uint16 if is_narrow else np.intp)
    both = np.empty(min(size, AT_ONCE), y_true.dtype)
    grid = np.zeros(rows * columns, np.intp)
    for start in range(0, size, AT_ONCE):
        true, pred = y_true[start : start + AT_ONCE], y_pred[start : start + AT_ONCE]
        part = cells[: true.size]
        if bits_alike:
            all_fit = 0 <= int(np.bitwise_or.reduce(np.bitwise_or(true, pred, out=both[: true.size]))) < columns
        else:
            all_fit = 0 <= int(np.bitwise_or.reduce(true)) < rows and 0 <= int(np.bitwise_or.reduce(pred)) < columns
        if not all_fit:
            return None
        np.left_shift(true, pred_bits, out=part, dtype=part.dtype, casting="unsafe")
        np.bitwise_or(part, pred, out=part, dtype=part.dtype, casting="unsafe")
        grid += np.bincount(part, minlength=rows * columns)
    square = grid.reshape(rows, columns)
    matrix, left_out = square[:n, :n], 0
    for label in ignored:
        left_out += int(square[label].sum())
        square[label] = 0
    is_whole = rows == columns == n or int(matrix.sum()) + left_out == size
    return matrix if is_whole else None
