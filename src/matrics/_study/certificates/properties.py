"""The properties as relations between matrices that are made from the same case.

A case is an array of counts. ``made`` returns the matrices that a property compares, in several variants, and the
cases to which a variant applies. ``broken`` returns how far the values of these matrices contradict the property.
Exact numbers support its arithmetic, so that the same function confirms a witness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from matrics._arrays import Array
from matrics._study.certificates.cases import Shape

#: From cases (N, *shape) to matrices (V, N, K, n, n), and a mask (V, N) of the cases to which variants apply.
Made = Callable[[Array], tuple[Array, Array]]
#: From values (V, N, K), where higher is better, to gaps (V, N): a gap above 0 breaks the property.
Broken = Callable[[Array], Array]

MANY = 10**6


@dataclass(frozen=True)
class Property:
    """A property of measures, and its test."""

    name: str
    statement: str
    source: str
    shape: Callable[[int], Shape]  # the shape of a case, by the number of classes
    made: Made
    broken: Broken
    roles: tuple[str, ...]
    strict: bool = False  # whether a gap of 0 breaks the property
    directed: bool = False  # whether the property needs a direction
    classes: tuple[int, ...] = (2, 3, 4)
    at_empty_classes: bool = False  # whether matrices may have true classes without samples


def matrix(n: int) -> Shape:
    """The shape of a case with a single matrix."""
    return (n, n)


def two(n: int) -> Shape:
    """The shape of a case with two matrices."""
    return (2, n, n)


def three_labels(n: int) -> Shape:
    """The shape of a case with three labels for each sample."""
    return (n, n, n)


def margins(n: int) -> Shape:
    """The shape of a case with the sizes of the true and of the predicted classes."""
    return (2, n)


def differ(values: Array) -> Array:
    """The difference of the first two values."""
    return abs(values[..., 0] - values[..., 1])


def falls(values: Array) -> Array:
    """The difference by which the second value is worse than the first."""
    return values[..., 0] - values[..., 1]


def rises(values: Array) -> Array:
    """The difference by which the second value is better than the first."""
    return values[..., 1] - values[..., 0]


def reaches(values: Array) -> Array:
    """The difference by which the first value is better than the second."""
    return values[..., 0] - values[..., 1]


def _everywhere(*matrices: Array) -> tuple[Array, Array]:
    """A single variant that applies to all cases."""
    return np.stack(matrices, axis=1)[None], np.ones((1, len(matrices[0])), bool)


def _variants(pairs: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
    """Variants of two matrices each, and the cases to which they apply."""
    return np.stack([np.stack([a, b], axis=1) for a, b, _ in pairs]), np.stack([where for *_, where in pairs])


def unit(n: int, i: int, j: int) -> Array:
    """The matrix of a single sample of class i that is predicted as j."""
    cells = np.zeros((n, n), np.int64)
    cells[i, j] = 1
    return cells


def _off_diagonal(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(n) if i != j]


def right_and_wrong(c: Array) -> tuple[Array, Array]:
    """Whether each matrix has correct predictions, and whether it has errors."""
    right = np.trace(c, axis1=-2, axis2=-1)
    return right > 0, c.sum((-2, -1)) > right


def diagonal_of(sizes: Array) -> Array:
    """The perfect matrix of class sizes (N, n)."""
    return sizes[:, :, None] * np.eye(sizes.shape[-1], dtype=np.int64)


def always_wrong(n: int) -> Array:
    """The matrix with a sample in every cell off the diagonal."""
    return 1 - np.eye(n, dtype=np.int64)


# Matrices of a case --------------------------------------------------------------------------------------------------


def transposed(c: Array) -> tuple[Array, Array]:
    """The matrix with true and predicted classes exchanged."""
    return _everywhere(c, c.swapaxes(-2, -1))


def renamed(c: Array) -> tuple[Array, Array]:
    """The matrix with the first two classes exchanged, and with all classes shifted by 1."""
    n = c.shape[-1]
    everywhere = np.ones(len(c), bool)
    orders = [[1, 0, *range(2, n)], [*range(1, n), 0]]
    return _variants([(c, c[:, order][:, :, order], everywhere) for order in orders])


def multiplied(c: Array) -> tuple[Array, Array]:
    """The matrix with every sample twice, and three times."""
    return _variants([(c, factor * c, c.any((-2, -1))) for factor in (2, 3)])


def of_other_sizes(c: Array) -> tuple[Array, Array]:
    """The matrix with more samples of a single true class; every class has samples."""
    n = c.shape[-1]
    filled = (c.sum(-1) > 0).all(-1)
    return _variants([(c, c * (1 + np.arange(n) == 1 + k)[:, None] + c, filled) for k in range(n)])


def with_true_negatives(c: Array) -> tuple[Array, Array]:
    """The matrix with an additional true negative, where class 1 is positive."""
    return _everywhere(c, c + unit(2, 0, 0))


def corrected(c: Array) -> tuple[Array, Array]:
    """The matrix with a single error corrected."""
    n = c.shape[-1]
    changes = [(c, c - unit(n, i, j) + unit(n, i, i), c[:, i, j] > 0) for i, j in _off_diagonal(n)]
    return _variants(changes)


def with_correct_sample(c: Array) -> tuple[Array, Array]:
    """The matrix with an additional correct sample, if it has errors."""
    n = c.shape[-1]
    _, wrong = right_and_wrong(c)
    return _variants([(c, c + unit(n, i, i), wrong) for i in range(n)])


def with_error(c: Array) -> tuple[Array, Array]:
    """The matrix with an additional error, if it has correct predictions."""
    n = c.shape[-1]
    right, _ = right_and_wrong(c)
    return _variants([(c, c + unit(n, i, j), right) for i, j in _off_diagonal(n)])


def guessed(sizes: Array) -> tuple[Array, Array]:
    """Predictions independent of the true classes, with these class sizes and with equal sizes."""
    n = sizes.shape[-1]
    outer = sizes[:, 0, :, None] * sizes[:, 1, None, :]
    tuples, _ = _everywhere(outer, np.broadcast_to(np.ones((n, n), np.int64), outer.shape))
    return tuples, (outer.sum((-2, -1)) > 0)[None]


def perfect(sizes: Array) -> tuple[Array, Array]:
    """Perfect predictions for two vectors of class sizes."""
    tuples, _ = _everywhere(diagonal_of(sizes[:, 0]), diagonal_of(sizes[:, 1]))
    return tuples, (sizes > 0).all((-2, -1))[None]


def with_perfect(c: Array) -> tuple[Array, Array]:
    """A matrix with errors, and the perfect matrix with the same class sizes."""
    tuples, _ = _everywhere(c, diagonal_of(c.sum(-1)))
    return tuples, (right_and_wrong(c)[1] & (c.sum(-1) > 0).all(-1))[None]


def wrong(c: Array) -> tuple[Array, Array]:
    """Two matrices without a correct prediction."""
    n = c.shape[-1]
    errors = c * always_wrong(n)
    tuples, _ = _everywhere(errors, np.broadcast_to(always_wrong(n), errors.shape))
    return tuples, (errors.sum(-1) > 0).all(-1)[None]


def with_wrong(c: Array) -> tuple[Array, Array]:
    """A matrix with a correct prediction, and a matrix without."""
    n = c.shape[-1]
    tuples, _ = _everywhere(c, np.broadcast_to(always_wrong(n), c.shape))
    return tuples, (right_and_wrong(c)[0] & (c.sum(-1) > 0).all(-1))[None]


def middle(c: Array) -> tuple[Array, Array]:
    """Two matrices and the matrix half-way between them, all multiplied by 2."""
    return _everywhere(2 * c[:, 0], 2 * c[:, 1], c.sum(1))


def by_pairs(labels: Array) -> tuple[Array, Array]:
    """The three matrices of pairs of three labelings of the same samples, and a perfect matrix."""
    tuples, _ = _everywhere(labels.sum(3), labels.sum(1), labels.sum(2), diagonal_of(labels.sum((2, 3))))
    return tuples, (labels.sum((1, 2, 3)) > 0)[None]


def nearly_empty(c: Array) -> tuple[Array, Array]:
    """A matrix with an empty class, times a million, and with a single sample of that class, correct or wrong."""
    n = c.shape[-1]
    tuples, applies = [], []
    for k in range(n):
        others = np.arange(n) != k
        many = MANY * c * (others[:, None] & others)
        tuples.append(np.stack([many, many + unit(n, k, k), many + unit(n, k, (k + 1) % n)], axis=1))
        applies.append(many.any((-2, -1)))
    return np.stack(tuples), np.stack(applies)


# Gaps ----------------------------------------------------------------------------------------------------------------


def above_mean(values: Array) -> Array:
    """The difference by which the middle is above the mean of the two ends."""
    return values[..., 2] - (values[..., 0] + values[..., 1]) / 2


def below_mean(values: Array) -> Array:
    """The difference by which the middle is below the mean of the two ends."""
    return (values[..., 0] + values[..., 1]) / 2 - values[..., 2]


def above_both(values: Array) -> Array:
    """The difference by which the middle is above both ends."""
    return values[..., 2] - np.maximum(values[..., 0], values[..., 1])


def below_both(values: Array) -> Array:
    """The difference by which the middle is below both ends."""
    return np.minimum(values[..., 0], values[..., 1]) - values[..., 2]


def longer_way(values: Array) -> Array:
    """The distance of the third pair of labelings minus the sum of the first two; distances are from perfect."""
    return values[..., 0] + values[..., 1] - values[..., 2] - values[..., 3]


def jumps(values: Array) -> Array:
    """The change of the value by a single sample among a million, minus 0.01, also from an undefined value."""
    first, second, third = (values[..., k] for k in range(3))
    between, into = abs(second - third), abs(first - second)
    # The comparison is False for NaN, where the value is undefined without samples of the class.
    return np.where(into > between, into, between) - 0.01
