"""Strata of samples with the same judge's label and prediction, and the shares of true labels in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from matrics._arrays import Array, Standard
from matrics._uncertainty.weighted import kish

# Strata with fewer labels are pooled with other strata of the same prediction, as the standard error of a share of true
# labels from so few labels is unreliable.
LABELS_OF_A_STRATUM = 5


class Strata(NamedTuple):
    """The strata of each matrix, and the shares of the true labels in them: arrays (*B, judge, predicted).

    Pooled strata have the same shares, samples and labels.
    """

    shares: Array  # (*B, n, judge, n): P(true | judge, predicted)
    sizes: Array  # the number of samples with this judge's label and prediction
    samples: Array  # the number of samples of the (pooled) stratum
    labelled: Array  # the weight of its labelled samples
    labels: Array  # their effective number
    borrowed: Array  # whether it has no labels, so that its shares come from other predictions
    errors: Array  # (*B, 1, 1): the effective number of true labels that contradict the judge's labels

    def matrix(self, backend: Standard) -> Array:
        """The expected counts [true, predicted]."""
        return backend.xp.sum(self.shares * self.sizes[..., None, :, :], axis=-2)


def strata_of(
    cube: Array, sizes: Array, squares: Array, design: str, backend: Standard, *, prior: float = 0.0
) -> Strata:
    """The strata of labelled samples [true, judge, predicted] and the sizes [judge, predicted] of all samples.

    Strata of the same prediction are pooled if the labels were drawn at random, but not if they were drawn by strata,
    as each stratum then has another sampling rate. A prior is the weight of an additional labelled sample in each
    stratum, with the true labels of all predictions. In a stratum whose few labels agree, it represents the errors that
    these labels do not show. It changes only the shares.
    """
    xp = backend.xp
    known, spread = xp.sum(cube, axis=-3), xp.sum(squares, axis=-3)
    thin = _pooled(known, sizes, squares, backend) if design == "random" else xp.zeros_like(known, dtype=xp.bool)
    inside = xp.astype(thin, cube.dtype)

    def pooled(x: Array) -> Array:
        """The sums over pooled strata, and the values of other strata."""
        return xp.where(thin, xp.sum(x * inside, axis=-2, keepdims=True), x)

    labels, pooled_spread = pooled(known), pooled(spread)
    has_labels = labels > 0
    in_all = xp.where(thin[..., None, :, :], xp.sum(cube * inside[..., None, :, :], axis=-2, keepdims=True), cube)
    has_any_labels = xp.sum(known, axis=(-2, -1))[..., None, None, None] > 0  # without labels, shares are undefined
    others = xp.where(has_any_labels, _of_all_predictions(cube, backend, prior=prior > 0)[..., None], math.nan)
    if prior:
        in_all = in_all + prior * others
    shares = in_all / xp.where(has_labels, labels + prior, 1)[..., None, :, :]
    shares = xp.where(has_any_labels, shares, math.nan)
    if design == "random":
        shares = xp.where(has_labels[..., None, :, :], shares, others)
    else:
        shares = xp.where((has_labels | (sizes == 0))[..., None, :, :], shares, math.nan)
    effective = labels * labels / xp.where(pooled_spread > 0, pooled_spread, 1)
    errors = _errors(cube, squares, backend)
    return Strata(shares, sizes, pooled(sizes), labels, effective, ~has_labels & (sizes > 0), errors)


def _errors(cube: Array, squares: Array, backend: Standard) -> Array:
    """The effective number (*B, 1, 1) of labels [true, judge, predicted] that contradict the judge."""
    n = cube.shape[-1]
    of_judge = backend.xp.sum(cube, axis=-1)  # [true, judge], where the judge's label n means no label
    wrong = constant_cells(of_judge, lambda i, j: i != j < n, backend)[..., None]
    number, squared = (backend.xp.sum(x * wrong, axis=(-3, -2, -1))[..., None, None] for x in (cube, squares))
    return kish(number, squared, backend)


def _pooled(known: Array, sizes: Array, squares: Array, backend: Standard) -> Array:
    """Whether strata (*B, judge, predicted) have so few expected labels that they are pooled within a prediction.

    The number of expected labels decides, and the number of actual labels only if it is 0: a stratum with few labels by
    chance would otherwise lose its weight, and the estimate would be biased.
    """
    xp = backend.xp
    number, spread, total = (xp.sum(x, axis=(-2, -1), keepdims=True) for x in (known, xp.sum(squares, axis=-3), sizes))
    labels = number * number / xp.where(spread > 0, spread, 1)  # the effective number, of weighted samples
    expected = labels * sizes / xp.where(total > 0, total, 1)
    thin = (expected < LABELS_OF_A_STRATUM) | (known == 0)
    inside = xp.astype(thin, sizes.dtype)
    pooled_labels, known_labels = (xp.sum(x * inside, axis=-2, keepdims=True) for x in (expected, known))
    too_few = ((pooled_labels < LABELS_OF_A_STRATUM) | (known_labels == 0)) & (pooled_labels > 0)
    first = xp.argmax(xp.where(thin, -1, sizes), axis=-2, keepdims=True)
    index = backend.class_index(sizes.shape[-2], sizes)
    largest = xp.reshape(index, (*(1,) * (sizes.ndim - 2), -1, 1)) == first
    return thin | (too_few & largest)


def _of_all_predictions(cube: Array, backend: Standard, *, prior: bool) -> Array:
    """P(true | judge) (*B, n, judge) of labels with any prediction.

    If no sample with a label of the judge has a true label, the judge is assumed to be right. If the judge has no
    label, these are the shares of all true labels. The prior adds a sample that has all classes alike, so that no error
    has the probability 0.
    """
    xp = backend.xp
    counts = xp.sum(cube, axis=-1)
    n, labels = counts.shape[-2:]
    if prior:
        counts = counts + 1 / n
    total = xp.sum(counts, axis=-2, keepdims=True)
    unseen = identity(counts, backend)
    if labels > n:
        of_all = xp.sum(counts, axis=-1, keepdims=True)
        everything = xp.sum(of_all, axis=-2, keepdims=True)
        shares = of_all / xp.where(everything > 0, everything, 1)
        unseen = unseen + constant_cells(counts, lambda _, j: j == n, backend) * shares
    return xp.where(total > 0, counts / xp.where(total > 0, total, 1), unseen)


def identity(like: Array, backend: Standard) -> Array:
    """The identity matrix with as many axes as another array (..., n, n)."""
    return constant_cells(like, lambda i, j: i == j, backend)


def constant_cells(like: Array, is_set: Callable[[int, int], bool], backend: Standard) -> Array:
    """Cells of 1 and 0 by row and column, with as many axes as another array (..., rows, columns)."""
    rows, columns = like.shape[-2:]
    cells = backend.constant([[float(is_set(i, j)) for j in range(columns)] for i in range(rows)], like)
    return backend.xp.reshape(cells, (*(1,) * (like.ndim - 2), rows, columns))
