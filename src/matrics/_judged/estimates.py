"""Measures of corrected matrices, and their variances by the delta method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matrics._arrays import Array, Standard
from matrics._judged.correction import corrected, tuned
from matrics._judged.influences import (
    Influences,
    Spread,
    of_rogan_gladen,
    of_strata,
    of_tuned,
    of_unseen_errors,
    spread_of_strata,
)
from matrics._judged.strata import strata_of
from matrics._uncertainty.measure import Measure, score_of
from matrics._uncertainty.slopes import slopes
from matrics._uncertainty.weighted import kish

# The weight of the label that the variance of each stratum gets in addition: with it, coverage was found to hold where
# strata have five expected labels.
PRIOR = 0.5


class Judged(NamedTuple):
    """The counts of one call, in the library that does the work: B tables, and how they are corrected."""

    cube: Array  # (B, n, n, n): [true, judge, predicted] of labelled samples
    plane: Array  # (B, n, n): [judge, predicted] of the others
    squares: tuple[Array, Array]  # the sums of squared weights of both
    method: str
    design: str
    backend: Standard

    @property
    def sizes(self) -> Array:
        """All samples [judge, predicted]."""
        return self.plane + self.backend.xp.sum(self.cube, axis=-3)

    @property
    def squares_of_all(self) -> Array:
        """The squared weights of all samples [judge, predicted]."""
        return self.squares[1] + self.backend.xp.sum(self.squares[0], axis=-3)

    @property
    def labels(self) -> Array:
        """The effective number of labels."""
        cells, squares = (self.backend.xp.sum(x, axis=(-3, -2, -1)) for x in (self.cube, self.squares[0]))
        return kish(cells, squares, self.backend)

    def with_classes(self) -> Judged:
        """The same with an axis of classes after that of the matrices."""
        cube, plane = self.cube[:, None, ...], self.plane[:, None, ...]
        return self._replace(cube=cube, plane=plane, squares=(self.squares[0][:, None], self.squares[1][:, None]))

    def matrix(self) -> Array:
        """The corrected matrices (B, n, n)."""
        return corrected(self.cube, self.plane, self.squares[0], self.method, self.design, self.backend)


class Estimate(NamedTuple):
    """A measure of corrected matrices: arrays (B,) or (B, C)."""

    value: Array
    near: Array  # the value where the derivatives are: that of a matrix in which no cell with samples is empty
    spread: Spread
    influences: Influences
    slopes: Array  # (B, n, n) or (B, C, n, n)
    effective_labels: Array
    few_errors: Array  # whether labels show so few errors of the judge that the variance contains others


def estimates_of(judged: Judged, measures: Sequence[Measure], zero_division: float, workers: int) -> list[Estimate]:
    """The estimates of all measures."""
    backend, xp = judged.backend, judged.backend.xp
    score = score_of(measures, zero_division)
    strata = strata_of(judged.cube, judged.sizes, judged.squares[0], judged.design, backend, prior=PRIOR)
    matrix = judged.matrix()
    smooth = matrix + 1 / matrix.shape[-1] ** 2 if judged.method == "rogan_gladen" else strata.matrix(backend)
    count, n = matrix.shape[0], matrix.shape[-1]
    found = slopes(smooth, score, backend, second=False, workers=workers)
    values = score(matrix, workers) if judged.method != "tuned" else found.values
    results = []
    for k, (value, near, first) in enumerate(zip(values, found.values, found.first, strict=True)):
        first = xp.reshape(first, (*first.shape[:-1], n, n))  # noqa: PLW2901
        by = xp.where(xp.isfinite(first), first, 0)  # it does not matter by cells without samples
        has_classes = value.ndim > 1
        one = judged.with_classes() if has_classes else judged
        some = type(strata)(*(part[:, None] for part in strata)) if has_classes else strata
        unseen = xp.sum(of_unseen_errors(by, some, backend), axis=(-2, -1))
        if judged.method == "tuned":
            influences, share = of_tuned(by, one.cube, one.plane, backend)
            spread = influences.spread(one.squares, one.labels, xp)
            value = _tuned_values(one, share, measures[k], zero_division, workers)  # noqa: PLW2901
        elif judged.method == "rogan_gladen":
            whole = matrix[:, None, :, :] if has_classes else matrix
            influences = of_rogan_gladen(by, whole, one.cube, one.plane, backend)
            spread = influences.spread(one.squares, one.labels, xp)
        else:
            spread = spread_of_strata(by, some, one.squares_of_all, backend)
            influences = of_strata(by, some, backend)
        spread = spread.with_unseen(unseen, xp)
        near = xp.reshape(near, (count, *near.shape[1:]))  # noqa: PLW2901
        worth = _effective(by, smooth, spread, one.labels, backend)
        results.append(Estimate(value, near, spread, influences, by, worth, unseen > 0))
    return results


def _tuned_values(judged: Judged, share: Array, measure: Measure, zero_division: float, workers: int) -> Array:
    """The measure of matrices with their own λ (B,) or, for each class, (B, C)."""
    matrix = tuned(judged.cube, judged.plane, share, judged.backend)
    (value,) = score_of([measure], zero_division)(matrix, workers)
    if share.ndim == 1:
        return value
    index = judged.backend.class_index(value.shape[-1], value)
    own = judged.backend.xp.astype(index[:, None] == index[None, :], value.dtype)
    kept = judged.backend.xp.where(own > 0, value, 0)  # of the matrix for a class, the value of that class
    return judged.backend.xp.sum(kept, axis=-1)


def _effective(by: Array, matrix: Array, spread: Spread, labels: Array, backend: Standard) -> Array:
    """How many labels drawn at random have this variance: that of one label over it, in numbers of samples.

    Errors that labels do not show are unknown to labels alone as well.
    """
    xp = backend.xp
    whole = matrix[:, None, :, :] if by.ndim > matrix.ndim else matrix
    total = xp.sum(whole, axis=(-2, -1), keepdims=True)
    mean = xp.sum(by * whole, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    alone = xp.sum(whole * (by - mean) ** 2, axis=(-2, -1)) * total[..., 0, 0]
    alone = alone if spread.unseen is None else alone + spread.unseen * labels
    some = spread.variance > 0
    return xp.where(some, alone / xp.where(some, spread.variance, 1), float("nan"))
