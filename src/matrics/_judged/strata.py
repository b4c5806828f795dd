"""Strata of samples with the same judge's label and prediction, and what people found in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from matrics._arrays import Array, Standard
from matrics._uncertainty.weighted import kish

# Strata with fewer labels are put together with others of the same prediction: a share of true labels that is
# estimated from fewer varies so much that its standard error is unreliable.
LABELS_OF_A_STRATUM = 5


class Strata(NamedTuple):
    """The strata of each matrix, and the shares of the true labels in them: arrays (*B, judge, predicted).

    Strata that are put together have the same shares, samples and labels.
    """

    shares: Array  # (*B, n, judge, n): P(true | judge, predicted)
    sizes: Array  # how many samples have this judge's label and prediction
    samples: Array  # how many samples the stratum has
    labelled: Array  # the weight of its labelled samples
    labels: Array  # their effective number
    borrowed: Array  # whether it has no labels, so that its shares are those of other predictions
    errors: Array  # (*B, 1, 1): the effective number of labels in all strata that contradict the judge's

    def matrix(self, backend: Standard) -> Array:
        """The expected counts [true, predicted]."""
        return backend.xp.sum(self.shares * self.sizes[..., None, :, :], axis=-2)


def strata_of(
    cube: Array, sizes: Array, squares: Array, design: str, backend: Standard, *, prior: float = 0.0
) -> Strata:
    """The strata of labelled samples [true, judge, predicted] and the sizes [judge, predicted] of all samples.

    Labels that were drawn at random may be put together over strata of the same prediction; those that were drawn by
    strata have other chances in each, and stay apart. A prior is the weight of one more labelled sample in each
    stratum, with the true labels of all predictions: in a stratum whose few labels agree, the labels seem to have no
    error, and this is how much they may have. It changes the shares alone.
    """
    xp = backend.xp
    known, spread = xp.sum(cube, axis=-3), xp.sum(squares, axis=-3)
    thin = _pooled(known, sizes, squares, backend) if design == "random" else xp.zeros_like(known, dtype=xp.bool)
    inside = xp.astype(thin, cube.dtype)

    def together(x: Array) -> Array:
        """The sums over the strata of a prediction that are put together, and single values of the others."""
        return xp.where(thin, xp.sum(x * inside, axis=-2, keepdims=True), x)

    labels, wide = together(known), together(spread)
    some = labels > 0
    in_all = xp.where(thin[..., None, :, :], xp.sum(cube * inside[..., None, :, :], axis=-2, keepdims=True), cube)
    anything = xp.sum(known, axis=(-2, -1))[..., None, None, None] > 0  # without labels nothing is known
    others = xp.where(anything, _of_all_predictions(cube, backend, prior=prior > 0)[..., None], math.nan)
    if prior:
        in_all = in_all + prior * others
    shares = in_all / xp.where(some, labels + prior, 1)[..., None, :, :]
    shares = xp.where(anything, shares, math.nan)
    if design == "random":
        shares = xp.where(some[..., None, :, :], shares, others)
    else:
        shares = xp.where((some | (sizes == 0))[..., None, :, :], shares, math.nan)
    effective = labels * labels / xp.where(wide > 0, wide, 1)
    errors = _errors(cube, squares, backend)
    return Strata(shares, sizes, together(sizes), labels, effective, ~some & (sizes > 0), errors)


def _errors(cube: Array, squares: Array, backend: Standard) -> Array:
    """The effective number (*B, 1, 1) of labels [true, judge, predicted] that contradict the judge."""
    n = cube.shape[-1]
    of_judge = backend.xp.sum(cube, axis=-1)  # [true, judge], where the judge's label n is none
    wrong = constant_cells(of_judge, lambda i, j: i != j < n, backend)[..., None]
    number, squared = (backend.xp.sum(x * wrong, axis=(-3, -2, -1))[..., None, None] for x in (cube, squares))
    return kish(number, squared, backend)


def _pooled(known: Array, sizes: Array, squares: Array, backend: Standard) -> Array:
    """Which strata (*B, judge, predicted) of a prediction are put together: those with too few expected labels.

    The labels that are there do not decide, unless there are none: a stratum which by chance has few would lose its
    weight just because of that, and the estimate would be biased.
    """
    xp = backend.xp
    number, spread, total = (xp.sum(x, axis=(-2, -1), keepdims=True) for x in (known, xp.sum(squares, axis=-3), sizes))
    labels = number * number / xp.where(spread > 0, spread, 1)  # the effective number, of weighted samples
    expected = labels * sizes / xp.where(total > 0, total, 1)
    thin = (expected < LABELS_OF_A_STRATUM) | (known == 0)
    inside = xp.astype(thin, sizes.dtype)
    together, found = (xp.sum(x * inside, axis=-2, keepdims=True) for x in (expected, known))
    too_few = ((together < LABELS_OF_A_STRATUM) | (found == 0)) & (together > 0)
    first = xp.argmax(xp.where(thin, -1, sizes), axis=-2, keepdims=True)
    index = backend.class_index(sizes.shape[-2], sizes)
    largest = xp.reshape(index, (*(1,) * (sizes.ndim - 2), -1, 1)) == first
    return thin | (too_few & largest)


def _of_all_predictions(cube: Array, backend: Standard, *, prior: bool) -> Array:
    """P(true | judge) (*B, n, judge) of labels with any prediction.

    For a label of the judge that people never saw, it is that label, and for none the shares of all true labels. The
    prior is that of one more sample, of any class: no error is then impossible.
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
