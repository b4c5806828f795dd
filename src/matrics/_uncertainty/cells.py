"""Cells of two confusion matrices that differ by more than chance: exact tests, corrected for their number."""

from __future__ import annotations

import math

import numpy as np

from matrics._uncertainty.joint import mcnemar
from matrics.typing import NumPyArray

__all__ = ["adjusted", "independent_cells", "paired_cells"]

# Further from its mean than this (standard errors, counts), a hypergeometric probability is below the smallest float.
ERRORS_AWAY, COUNTS_AWAY = 50, 1000

# With a larger standard error all probabilities would fill the memory, and a normal law differs by less than 1e-5.
MOST_ERROR = 1e5

# Tables count as equally probable up to this relative difference, as in R and in SciPy.
TIES = 1e-7


def independent_cells(a: NumPyArray, b: NumPyArray) -> NumPyArray:
    """P-values (n, n) of Fisher's exact test of whether the share of the row is the same in both matrices.

    The counts are whole numbers, of different samples. The p-value is 1 where neither matrix has a sample in the cell,
    and NaN if either matrix has no samples of the class.
    """
    sizes = np.broadcast_arrays(a.sum(axis=1, keepdims=True), b.sum(axis=1, keepdims=True), a)[:2]
    tables = np.stack([a, sizes[0], b, sizes[1]], axis=-1).reshape(-1, 4)
    distinct, place = np.unique(tables, axis=0, return_inverse=True)
    p_values = np.array([fisher(*map(int, table)) for table in distinct])
    return np.asarray(p_values[place.ravel()].reshape(a.shape))


def fisher(x: int, size: int, other_x: int, other_size: int) -> float:
    """Fisher's two-sided test of two shares: the probability of all tables that are at most as probable as the data."""
    if size == 0 or other_size == 0:
        return np.nan
    both = x + other_x
    lowest, highest = max(0, both - other_size), min(size, both)
    if lowest == highest:
        return 1.0
    total = size + other_size
    mean = size * (both / total)
    error = np.sqrt(mean * (1 - both / total) * (other_size / total))
    if error > MOST_ERROR:
        return float(math.erfc(max(abs(x - mean) - 0.5, 0) / (error * math.sqrt(2))))
    most_steps = int(ERRORS_AWAY * error) + COUNTS_AWAY
    lowest, highest = max(lowest, int(mean) - most_steps), min(highest, int(mean) + most_steps)
    if not lowest <= x <= highest:
        return 0.0
    k = np.arange(lowest, highest, dtype=np.float64)
    # Logarithms of the ratios of neighbouring probabilities avoid factorials of large numbers.
    steps = np.log((both - k) * (size - k)) - np.log((k + 1) * (other_size - both + k + 1))
    logarithms = np.concatenate([[0.0], np.cumsum(steps)])
    shares = np.exp(logarithms - logarithms.max())
    no_more_probable = logarithms <= logarithms[x - lowest] + TIES
    return float(min(1.0, shares[no_more_probable].sum() / shares.sum()))


def paired_cells(joint: NumPyArray) -> NumPyArray:
    """P-values (n, n) of McNemar's exact test of whether a and b predict the class equally often.

    Of the samples of the true class that a single classifier predicts as the class of the column, half are expected
    from a. The p-value is 1 without such samples, and NaN in rows without samples.
    """
    n = joint.shape[-1]
    a, b = joint.sum(axis=2), joint.sum(axis=1)
    both = np.diagonal(joint, axis1=1, axis2=2)
    rows = joint.sum(axis=(1, 2))
    tables = np.zeros((n, n, 2, 2, 2))  # [true, a, b] of two classes: class 1 is the class of the column
    tables[..., 1, 1, 1] = both
    tables[..., 1, 1, 0] = a - both
    tables[..., 1, 0, 1] = b - both
    tables[..., 1, 0, 0] = rows[:, None] - a - b + both
    _, p_value = mcnemar(tables)
    return np.where(rows[:, None] > 0, p_value, np.nan)


def adjusted(p_values: NumPyArray, counted: NumPyArray, correction: str) -> NumPyArray:
    """P-values corrected for the number of tests that ``counted`` selects; the others stay as they are.

    ``"holm"`` bounds the probability of any false finding, for any dependence; ``"benjamini_hochberg"`` the
    expected share of false findings.
    """
    selected = p_values[counted]
    order = np.argsort(selected)
    number, ranks = len(selected), np.arange(1, len(selected) + 1)
    if correction == "holm":
        in_order = np.maximum.accumulate(selected[order] * (number - ranks + 1))
    else:
        in_order = np.minimum.accumulate((selected[order] * number / ranks)[::-1])[::-1]
    result = p_values.copy()
    corrected = np.empty(number)
    corrected[order] = in_order.clip(max=1)
    result[counted] = corrected
    return result
