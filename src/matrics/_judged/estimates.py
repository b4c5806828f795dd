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

# The weight of an additional label in the variance of each stratum. In simulations, the coverage is then right for
# strata with five expected labels.
PRIOR = 0.5


class Judged(NamedTuple):
    """The counts of a call, B tables in the library of the computation, and the method of their correction."""

    cube: Array  # (B, n, n, n): [true, judge, predicted] of labelled samples
    plane: Array  # (B, n, n): [judge, predicted] of unlabelled samples
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
        """The counts with an axis of classes after the axis of matrices."""
        cube, plane = self.cube[:, None, ...], self.plane[:, None, ...]
        return self._replace(cube=cube, plane=plane, squares=(self.squares[0][:, None], self.squares[1][:, None]))

    def matrix(self) -> Array:
        """The corrected matrices (B, n, n)."""
        return corrected(self.cube, self.plane, self.squares[0], self.method, self.design, self.backend)


class Estimate(NamedTuple):
    """A measure of corrected matrices: arrays (B,) or (B, C)."""

    value: Array
    near: Array  # the value at the point of the derivatives: a matrix in which no cell with samples is empty
    spread: Spread
    influences: Influences
    slopes: Array  # (B, n, n) or (B, C, n, n)
    effective_labels: Array
    few_errors: Array  # whether labels show so few errors of the judge that the variance includes unobserved errors


def estimates_of(judged: Judged, measures: Sequence[Measure], zero_division: float, workers: int) -> list[Estimate]:
    """The estimates of all measures."""
    backend, xp = judged.backend, judged.backend.xp
    score = score_of(measures, zero_division)
    strata = strata_of(judged.cube, judged.sizes, judged.squares[0], judged.design, backend, prior=PRIOR)
    matrix = judged.matrix()
    smooth = matrix + 1 / matrix.shape[-1] ** 2 if judged.method == "rogan_gladen" else strata.matrix(backend)
    count, n = matrix.shape[0], matrix.shape[-1]
    derivatives = slopes(smooth, score, backend, second=False, workers=workers)
    values = score(matrix, workers) if judged.method != "tuned" else derivatives.values
    results = []
    for k, (value, near, first) in enumerate(zip(values, derivatives.values, derivatives.first, strict=True)):
        first = xp.reshape(first, (*first.shape[:-1], n, n))  # noqa: PLW2901
        by_cell = xp.where(xp.isfinite(first), first, 0)  # the derivative is irrelevant for cells without samples
        has_classes = value.ndim > 1
        counts = judged.with_classes() if has_classes else judged
        strata_of_measure = type(strata)(*(part[:, None] for part in strata)) if has_classes else strata
        unseen = xp.sum(of_unseen_errors(by_cell, strata_of_measure, backend), axis=(-2, -1))
        if judged.method == "tuned":
            influences, share = of_tuned(by_cell, counts.cube, counts.plane, backend)
            spread = influences.spread(counts.squares, counts.labels, xp)
            value = _tuned_values(counts, share, measures[k], zero_division, workers)  # noqa: PLW2901
        elif judged.method == "rogan_gladen":
            whole = matrix[:, None, :, :] if has_classes else matrix
            influences = of_rogan_gladen(by_cell, whole, counts.cube, counts.plane, backend)
            spread = influences.spread(counts.squares, counts.labels, xp)
        else:
            spread = spread_of_strata(by_cell, strata_of_measure, counts.squares_of_all, backend)
            influences = of_strata(by_cell, strata_of_measure, backend)
        spread = spread.with_unseen(unseen, xp)
        near = xp.reshape(near, (count, *near.shape[1:]))  # noqa: PLW2901
        effective_labels = _effective(by_cell, smooth, spread, counts.labels, backend)
        results.append(Estimate(value, near, spread, influences, by_cell, effective_labels, unseen > 0))
    return results


def _tuned_values(judged: Judged, share: Array, measure: Measure, zero_division: float, workers: int) -> Array:
    """The values of a measure of matrices with separate λ (B,) or, for each class, (B, C)."""
    matrix = tuned(judged.cube, judged.plane, share, judged.backend)
    (value,) = score_of([measure], zero_division)(matrix, workers)
    if share.ndim == 1:
        return value
    index = judged.backend.class_index(value.shape[-1], value)
    is_own_class = judged.backend.xp.astype(index[:, None] == index[None, :], value.dtype)
    own_values = judged.backend.xp.where(is_own_class > 0, value, 0)  # the λ of a class is for its own value
    return judged.backend.xp.sum(own_values, axis=-1)


def _effective(by_cell: Array, matrix: Array, spread: Spread, labels: Array, backend: Standard) -> Array:
    """The number of randomly drawn labels with this variance: the variance of a single label divided by it.

    The errors that labels do not show are part of both variances.
    """
    xp = backend.xp
    whole = matrix[:, None, :, :] if by_cell.ndim > matrix.ndim else matrix
    total = xp.sum(whole, axis=(-2, -1), keepdims=True)
    mean = xp.sum(by_cell * whole, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    variance_of_label = xp.sum(whole * (by_cell - mean) ** 2, axis=(-2, -1)) * total[..., 0, 0]
    variance_of_label = variance_of_label if spread.unseen is None else variance_of_label + spread.unseen * labels
    is_positive = spread.variance > 0
    return xp.where(is_positive, variance_of_label / xp.where(is_positive, spread.variance, 1), float("nan"))
