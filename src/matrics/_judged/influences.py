"""The influence of each sample on a measure of a corrected matrix, and the resulting variance."""

from __future__ import annotations

from typing import Any, NamedTuple

from matrics._arrays import Array, Standard
from matrics._judged.correction import clipped_share
from matrics._judged.inverse import inverse_of_judge
from matrics._judged.strata import Strata

# By Wilson's limit, labels without an error of the judge are compatible with four errors. Up to four errors are added
# to the errors that move a measure, until there are five, unless the labels show thirty errors of the judge of any
# kind. In simulations, the coverage is then right.
UNSEEN, ENOUGH, ENOUGH_OF_ANY_KIND = 4, 5, 30


class Spread(NamedTuple):
    """The variance of a measure, and the degrees of freedom of its estimate."""

    variance: Array
    degrees: Array
    unseen: Array | None = None  # the part of the variance from errors of the judge that labels do not show

    def with_unseen(self, unseen: Array, xp: Any) -> Spread:
        """The spread with the variance of these errors, which is a bound and not an estimate."""
        times = 1 + unseen / xp.where(self.variance > 0, self.variance, 1)
        return Spread(self.variance + unseen, self.degrees * times**2, unseen)


class Influences(NamedTuple):
    """The change of a measure by a sample of each kind, minus the mean change; 0 where there are no samples."""

    labelled: Array  # (..., n, n, n): [true, judge, predicted]
    others: Array  # (..., n, n): [judge, predicted]

    def spread(self, squares: tuple[Array, Array], number: Array, xp: Any) -> Spread:
        """The variance of the measure, from sums of squared weights and the number of labelled samples."""
        fewer = xp.where(number > 2, number - 1, 1)
        labelled = xp.sum(squares[0] * self.labelled**2, axis=(-3, -2, -1)) * (number / fewer)
        return Spread(labelled + xp.sum(squares[1] * self.others**2, axis=(-2, -1)), fewer)


def of_strata(slopes: Array, strata: Strata, backend: Standard) -> Influences:
    """The influences in the post-stratified matrix, for the derivatives (..., n, n) of a measure by its cells.

    A sample changes the size of its stratum, with the mean derivative as its effect. A labelled sample also changes the
    shares of true labels in the stratum, in proportion to the number of samples that it represents.
    """
    xp = backend.xp
    mean = xp.sum(slopes[..., :, None, :] * strata.shares, axis=-3)  # of strata (..., n, n)
    total = xp.sum(strata.sizes, axis=(-2, -1), keepdims=True)
    others = mean - xp.sum(mean * strata.sizes, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    deviation = slopes[..., :, None, :] - mean[..., None, :, :]
    represented = strata.samples / xp.where(strata.labelled > 0, strata.labelled, 1)
    return Influences(others[..., None, :, :] + represented[..., None, :, :] * deviation, others)


def spread_of_strata(slopes: Array, strata: Strata, squares: Array, backend: Standard) -> Spread:
    """The variance of a measure of the post-stratified matrix, between strata and of the labels within strata.

    ``squares`` are the squared weights (..., n, n) of all samples. The degrees of freedom follow Satterthwaite (1946).
    """
    xp = backend.xp
    influences = of_strata(slopes, strata, backend)
    between = xp.sum(squares * influences.others**2, axis=(-2, -1))
    mean = xp.sum(slopes[..., :, None, :] * strata.shares, axis=-3)
    within = xp.sum(strata.shares * (slopes[..., :, None, :] - mean[..., None, :, :]) ** 2, axis=-3)
    labels = xp.where(strata.labels < 1, 1, strata.labels)
    fewer = xp.where(labels > 2, labels - 1, 1)
    of_stratum = strata.samples**2 * within / fewer  # the unbiased variance, which divides by labels - 1
    part = xp.where(strata.samples > 0, strata.sizes / xp.where(strata.samples > 0, strata.samples, 1), 0)
    variance = between + xp.sum(part * of_stratum, axis=(-2, -1))
    uncertain = xp.sum(part * of_stratum**2 / fewer, axis=(-2, -1))
    is_positive = uncertain > 0
    return Spread(variance, xp.where(is_positive, variance**2 / xp.where(is_positive, uncertain, 1), 1e9))


def of_unseen_errors(slopes: Array, strata: Strata, backend: Standard) -> Array:
    """The variance of a measure from errors of the judge that labels do not show, by strata (..., n, n).

    If the true labels of a stratum all agree, their variance is 0, although unlabelled samples may have other labels.
    The number of observed errors is the number of equal errors with the observed variance of the measure. The errors
    that are missing up to ``ENOUGH`` are distributed over the unlabelled samples of all strata by size.
    """
    xp = backend.xp
    mean = xp.sum(slopes[..., :, None, :] * strata.shares, axis=-3)
    squared_deviation = (slopes[..., :, None, :] - mean[..., None, :, :]) ** 2
    within = xp.sum(strata.shares * squared_deviation, axis=-3)
    relative = squared_deviation / xp.where(within > 0, within, 1)[..., None, :, :]
    square = xp.sum(strata.shares * squared_deviation * relative, axis=-3)  # of the change of the measure by an error
    samples = xp.where(strata.samples > 0, strata.samples, 1)
    labels = xp.where(strata.labels < 1, 1, strata.labels)
    unlabelled = xp.where(samples > strata.labelled, 1 - strata.labelled / samples, 0)
    total = xp.sum(strata.sizes, axis=(-2, -1), keepdims=True)
    by_size = strata.sizes / xp.where(total > 0, total, 1)
    variance_per_error = by_size * square * unlabelled * (samples / labels) ** 2
    whole = xp.sum(variance_per_error, axis=(-2, -1), keepdims=True)
    shown = xp.sum(strata.sizes * samples * within / labels, axis=(-2, -1), keepdims=True)
    shown = shown / xp.where(whole > 0, whole, 1)
    known = strata.errors * (ENOUGH / ENOUGH_OF_ANY_KIND)
    missing = ENOUGH - xp.where(shown > known, shown, known)
    return variance_per_error * xp.where(missing > UNSEEN, UNSEEN, xp.where(missing > 0, missing, 0))


def of_tuned(slopes: Array, cube: Array, plane: Array, backend: Standard) -> tuple[Influences, Array]:
    """The influences in the matrix of PPI++, and the λ (...) with the smallest variance, by linearization."""
    xp = backend.xp
    judged = xp.sum(cube, axis=-3)
    number, rest = (xp.sum(part, axis=(-2, -1)) for part in (judged, plane))
    n, m = number[..., None, None], rest[..., None, None]
    everything = n + m
    by_judge = slopes
    if judged.shape[-2] > slopes.shape[-2]:  # samples without a judge's label count as 1/n of each class
        by_judge = xp.concat([slopes, xp.mean(slopes, axis=-2, keepdims=True)], axis=-2)
    # Derivatives [true, judge, predicted], by the true label and by the judge's label.
    true, judge = slopes[..., :, None, :], by_judge[..., None, :, :]

    def mean(values: Array) -> Array:
        return (xp.sum(values * cube, axis=(-3, -2, -1)) / number)[..., None, None, None]

    true, centered_judge = true - mean(true + 0 * cube), judge - mean(judge + 0 * cube)
    covariance = xp.sum(cube * true * centered_judge, axis=(-3, -2, -1)) / number
    pooled = (judged + plane) / everything
    mean_of_judge = xp.sum(pooled * by_judge, axis=(-2, -1), keepdims=True)
    total = number + rest
    variance = (
        xp.sum(pooled * (by_judge - mean_of_judge) ** 2, axis=(-2, -1)) * total / xp.where(total > 1, total - 1, 1)
    )
    share = clipped_share(covariance, variance, number, rest, backend)
    weight = share[..., None, None]
    labelled = (true - weight[..., None] * centered_judge) * (everything / n)[..., None]
    others = by_judge - xp.sum(plane * by_judge, axis=(-2, -1), keepdims=True) / xp.where(m > 0, m, 1)
    return Influences(labelled, weight * others * everything / xp.where(m > 0, m, 1)), share


def of_rogan_gladen(slopes: Array, matrix: Array, cube: Array, plane: Array, backend: Standard) -> Influences:
    """The influences in the matrix of Rogan and Gladen: labels change the inverse, and all samples the columns."""
    xp = backend.xp
    counts = xp.sum(cube, axis=-1)
    inverse = inverse_of_judge(counts, backend)
    by_sample = xp.sum(slopes[..., :, None, :] * inverse[..., :, :, None], axis=-3)  # [judge, predicted]
    everything = plane + xp.sum(cube, axis=-3)
    total = xp.sum(everything, axis=(-2, -1), keepdims=True)
    others = by_sample - xp.sum(by_sample * everything, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    sizes = xp.sum(counts, axis=-1, keepdims=True)
    sizes = xp.where(sizes > 0, sizes, 1)
    by_label = xp.sum(by_sample[..., None, :, :] * matrix[..., :, None, :], axis=-1) / sizes  # [true, judge]
    by_label = by_label - xp.sum(by_label * counts, axis=-1, keepdims=True) / sizes
    return Influences(others[..., None, :, :] - by_label[..., None], others)
