"""What each sample contributes to the error of a measure of a corrected matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

from matrics._arrays import Array, Standard
from matrics._judged.correction import clipped_share
from matrics._judged.inverse import inverse_of_judge
from matrics._judged.strata import Strata

# Labels without an error of the judge allow four errors in as many (Wilson's limit). Up to four errors are added to
# those that move a measure, until they are five, unless the labels show thirty errors of the judge of any kind. With
# these numbers, coverage was found to hold.
UNSEEN, ENOUGH, ENOUGH_OF_ANY_KIND = 4, 5, 30


class Spread(NamedTuple):
    """The variance of a measure, and the degrees of freedom with which labels know it."""

    variance: Array
    degrees: Array
    unseen: Array | None = None  # the part of the variance by errors of the judge that labels do not show

    def with_unseen(self, unseen: Array, xp: Any) -> Spread:
        """The spread with these errors, whose variance is a bound and not estimated."""
        times = 1 + unseen / xp.where(self.variance > 0, self.variance, 1)
        return Spread(self.variance + unseen, self.degrees * times**2, unseen)


class Influences(NamedTuple):
    """The change of a measure by one sample of each kind, less the mean; 0 where there are no samples."""

    labelled: Array  # (..., n, n, n): [true, judge, predicted]
    others: Array  # (..., n, n): [judge, predicted]

    def spread(self, squares: tuple[Array, Array], number: Array, xp: Any) -> Spread:
        """The variance of the measure for the sums of squared weights, and so many labelled samples less one."""
        fewer = xp.where(number > 2, number - 1, 1)
        labelled = xp.sum(squares[0] * self.labelled**2, axis=(-3, -2, -1)) * (number / fewer)
        return Spread(labelled + xp.sum(squares[1] * self.others**2, axis=(-2, -1)), fewer)


def of_strata(slopes: Array, strata: Strata, backend: Standard) -> Influences:
    """Of the post-stratified matrix, for the derivatives (..., n, n) of a measure by its cells.

    A sample moves the size of its stratum, whose mean derivative is m; one with a label moves the shares within it as
    well, by as much as the samples that it stands for.
    """
    xp = backend.xp
    mean = xp.sum(slopes[..., :, None, :] * strata.shares, axis=-3)  # of strata (..., n, n)
    total = xp.sum(strata.sizes, axis=(-2, -1), keepdims=True)
    others = mean - xp.sum(mean * strata.sizes, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    away = slopes[..., :, None, :] - mean[..., None, :, :]
    stands_for = strata.samples / xp.where(strata.labelled > 0, strata.labelled, 1)
    return Influences(others[..., None, :, :] + stands_for[..., None, :, :] * away, others)


def spread_of_strata(slopes: Array, strata: Strata, squares: Array, backend: Standard) -> Spread:
    """The variance of a measure of the post-stratified matrix: between the strata, and of the labels within them.

    ``squares`` are the squared weights (..., n, n) of all samples. The degrees of freedom are Satterthwaite's (1946).
    """
    xp = backend.xp
    found = of_strata(slopes, strata, backend)
    between = xp.sum(squares * found.others**2, axis=(-2, -1))
    mean = xp.sum(slopes[..., :, None, :] * strata.shares, axis=-3)
    within = xp.sum(strata.shares * (slopes[..., :, None, :] - mean[..., None, :, :]) ** 2, axis=-3)
    labels = xp.where(strata.labels < 1, 1, strata.labels)
    fewer = xp.where(labels > 2, labels - 1, 1)
    of_stratum = strata.samples**2 * within / fewer  # the unbiased variance, of labels - 1
    part = xp.where(strata.samples > 0, strata.sizes / xp.where(strata.samples > 0, strata.samples, 1), 0)
    variance = between + xp.sum(part * of_stratum, axis=(-2, -1))
    uncertain = xp.sum(part * of_stratum**2 / fewer, axis=(-2, -1))
    some = uncertain > 0
    return Spread(variance, xp.where(some, variance**2 / xp.where(some, uncertain, 1), 1e9))


def of_unseen_errors(slopes: Array, strata: Strata, backend: Standard) -> Array:
    """What errors of the judge that labels do not show add to the variance of a measure, by strata (..., n, n).

    Where the true labels of a stratum all agree, their variance is nothing, however large the share of the others may
    be. The errors that labels show are counted by the measure: as equal errors that have its variance. The missing ones
    are spread over all strata by their sizes; samples with labels have none.
    """
    xp = backend.xp
    mean = xp.sum(slopes[..., :, None, :] * strata.shares, axis=-3)
    away = (slopes[..., :, None, :] - mean[..., None, :, :]) ** 2
    within = xp.sum(strata.shares * away, axis=-3)
    relative = away / xp.where(within > 0, within, 1)[..., None, :, :]
    square = xp.sum(strata.shares * away * relative, axis=-3)  # of the step of the measure by one error
    samples = xp.where(strata.samples > 0, strata.samples, 1)
    labels = xp.where(strata.labels < 1, 1, strata.labels)
    unlabelled = xp.where(samples > strata.labelled, 1 - strata.labelled / samples, 0)
    total = xp.sum(strata.sizes, axis=(-2, -1), keepdims=True)
    by_size = strata.sizes / xp.where(total > 0, total, 1)
    one = by_size * square * unlabelled * (samples / labels) ** 2
    whole = xp.sum(one, axis=(-2, -1), keepdims=True)
    shown = xp.sum(strata.sizes * samples * within / labels, axis=(-2, -1), keepdims=True)
    shown = shown / xp.where(whole > 0, whole, 1)
    known = strata.errors * (ENOUGH / ENOUGH_OF_ANY_KIND)
    missing = ENOUGH - xp.where(shown > known, shown, known)
    return one * xp.where(missing > UNSEEN, UNSEEN, xp.where(missing > 0, missing, 0))


def of_tuned(slopes: Array, cube: Array, plane: Array, backend: Standard) -> tuple[Influences, Array]:
    """Of the matrix of PPI++, and the λ (...) with the smallest variance, by linearised contributions."""
    xp = backend.xp
    judged = xp.sum(cube, axis=-3)
    number, rest = (xp.sum(part, axis=(-2, -1)) for part in (judged, plane))
    n, m = number[..., None, None], rest[..., None, None]
    everything = n + m
    by_judge = slopes
    if judged.shape[-2] > slopes.shape[-2]:  # samples without a label of the judge count as 1/n of each class
        by_judge = xp.concat([slopes, xp.mean(slopes, axis=-2, keepdims=True)], axis=-2)
    true, seen = slopes[..., :, None, :], by_judge[..., None, :, :]  # [t, j, p] of both kinds of labels

    def mean(values: Array) -> Array:
        return (xp.sum(values * cube, axis=(-3, -2, -1)) / number)[..., None, None, None]

    true, alike = true - mean(true + 0 * cube), seen - mean(seen + 0 * cube)
    both = xp.sum(cube * true * alike, axis=(-3, -2, -1)) / number
    pooled = (judged + plane) / everything
    middle = xp.sum(pooled * by_judge, axis=(-2, -1), keepdims=True)
    total = number + rest
    alone = xp.sum(pooled * (by_judge - middle) ** 2, axis=(-2, -1)) * total / xp.where(total > 1, total - 1, 1)
    share = clipped_share(both, alone, number, rest, backend)
    by = share[..., None, None]
    labelled = (true - by[..., None] * alike) * (everything / n)[..., None]
    others = by_judge - xp.sum(plane * by_judge, axis=(-2, -1), keepdims=True) / xp.where(m > 0, m, 1)
    return Influences(labelled, by * others * everything / xp.where(m > 0, m, 1)), share


def of_rogan_gladen(slopes: Array, matrix: Array, cube: Array, plane: Array, backend: Standard) -> Influences:
    """Of the inverted judge: its matrix moves with each label, the columns with each sample."""
    xp = backend.xp
    counts = xp.sum(cube, axis=-1)
    inverse = inverse_of_judge(counts, backend)
    moved = xp.sum(slopes[..., :, None, :] * inverse[..., :, :, None], axis=-3)  # [judge, predicted]
    everything = plane + xp.sum(cube, axis=-3)
    total = xp.sum(everything, axis=(-2, -1), keepdims=True)
    others = moved - xp.sum(moved * everything, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    sizes = xp.sum(counts, axis=-1, keepdims=True)
    sizes = xp.where(sizes > 0, sizes, 1)
    by = xp.sum(moved[..., None, :, :] * matrix[..., :, None, :], axis=-1) / sizes  # [true, judge]
    by = by - xp.sum(by * counts, axis=-1, keepdims=True) / sizes
    return Influences(others[..., None, :, :] - by[..., None], others)
