"""Estimates of measures of scores, with the variances and covariances that follow from the influences of samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._ranking.brier import squared_distance
from matrics._ranking.inference.influences import Influences, of_average_precision, of_mean, of_roc_auc
from matrics._ranking.inference.limits import spread_of_area, spread_of_share
from matrics._ranking.inference.names import ScoreMeasure
from matrics._ranking.inference.samples import SampleScores
from matrics._ranking.inputs import ScoredSamples
from matrics._ranking.losses import of_each

# In all simulated distributions without ties, the variance of a side of an area is at least an eighth of the largest
# possible variance. With an average precision above 0.9, the variance of a sample may be four times that of a share, if
# more than half of the positive samples have the same score.
SPREAD_OF_AREA, SPREAD_OF_TIES, NEARLY_PERFECT = 8, 4, 0.9


class Moments(NamedTuple):
    """A measure of M models on the same samples, for C classes, or averaged over classes (C = 1)."""

    estimate: Array  # (C, M)
    covariance: Array  # (C, M, M)
    variances: Array  # (S, C, M): of the positive and of the negative side of an area, otherwise of all units
    effective: Array  # (S, C, M): the number of units with most of the variance, see ``Side``; of losses: with errors
    units: Array  # (S, C): the number of units on each side
    pairs: Array  # (C,): 1 / the number of pairs of an area
    skewness: Array  # (C, M): of the influence of a unit
    fewest: Array  # (C,): the units of the smaller class
    left_out: Array  # (C,): whether a class without samples is left out of the mean
    drawn: Array | None = None  # (4, C, M): low, high, standard error and undefined replicates, if they were drawn

    @classmethod
    def of_draws(cls, estimate: Array, covariance: Array, drawn: Array, fewest: Array) -> Moments:
        """The moments of a measure whose limits come from draws."""
        variances = drawn[None, 2] ** 2
        no_skewness, zeros = np.zeros(estimate.shape), np.zeros(len(estimate))
        effective, units = np.full(variances.shape, math.inf), np.ones((1, len(estimate)))
        return cls(
            estimate, covariance, variances, effective, units, zeros, no_skewness, fewest, zeros.astype(bool), drawn
        )

    @classmethod
    def of(cls, samples: SampleScores, measure: ScoreMeasure, values: Array | None, *, is_mean: bool) -> Moments:
        """The moments of a measure; ``values`` are the losses of each sample (M, N) for a mean of losses."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if values is not None:
                return _of_losses(samples, values)
            influences = _of_curve(samples, measure)
            needs_mean = is_mean and len(samples.positive) > 1
            moments = (
                _of_mean(samples, influences, measure) if needs_mean else _of_classes(samples, influences, measure)
            )
            return moments._replace(effective=np.minimum(moments.effective, _most_effective(samples, moments, measure)))


def _of_losses(samples: SampleScores, values: Array) -> Moments:
    """The mean over samples; the number of samples in each cluster counts as random."""
    influences = of_mean(np.ones_like(values, bool), values)
    influence = samples.within(influences.of_positive)[None]
    number = samples.number
    correction = number / (number - 1) if number > 1 else math.nan
    spread = np.sqrt(np.sum(influence**2, axis=-1) / number)
    skewness = np.where(spread > 0, np.sum(influence**3, axis=-1) / number / np.where(spread > 0, spread, 1) ** 3, 0)
    covariance = correction * influence @ np.swapaxes(influence, -1, -2)
    # The deviations of equal losses are rounding errors.
    varies = spread * number > 1e-12 * np.abs(influences.estimate)
    variance = np.where(varies, np.diagonal(covariance, axis1=-2, axis2=-1), 0)[None]
    fewest = np.asarray([samples.class_sizes.min(initial=number)])
    return Moments(
        influences.estimate[None] if samples.true.size else np.full((1, samples.models), math.nan),
        covariance,
        variance,
        samples.wrong_units.astype(np.float64)[None, None],
        np.full((1, 1), number),
        np.zeros(1),
        skewness,
        fewest,
        np.zeros(1, bool),
    )


def _of_curve(samples: SampleScores, measure: ScoreMeasure) -> Influences:
    """The influences on an area or an average precision of every class and model, summed within clusters (C, M, K)."""
    positive = np.broadcast_to(samples.positive[:, None], samples.by_class.shape)
    function = of_roc_auc if measure.kind == "area" else of_average_precision
    shape, shape_of_rows = positive.shape[:-1], (math.prod(positive.shape[:-1]), samples.true.size)
    rows = function(positive.reshape(shape_of_rows), samples.by_class.reshape(shape_of_rows))
    parts = [part.reshape(positive.shape) for part in rows[1:]]
    is_defined = samples.sides[0] > 0
    if measure.kind == "area":
        is_defined = is_defined & (samples.sides[1] > 0)
    estimate = np.where(is_defined[:, None], rows.estimate.reshape(shape), math.nan)
    # Sums would spread the NaN of a class without samples to other classes.
    return Influences(estimate, *(np.where(is_defined[:, None, None], samples.within(part), 0) for part in parts))


def _of_classes(samples: SampleScores, influences: Influences, measure: ScoreMeasure) -> Moments:
    p, q = influences.of_positive, influences.of_negative
    factor_p, factor_q, factor_of_both = _corrections(samples)

    def products(x: Array, y: Array, factor: Array) -> Array:
        return factor[:, None, None] * (x @ np.swapaxes(y, -1, -2))

    covariance = products(p, p, factor_p) + products(q, q, factor_q)
    if samples.units is not None:  # a cluster has samples of both kinds
        cross = products(p, q, factor_of_both)
        covariance = covariance + cross + np.swapaxes(cross, -1, -2)
    total_variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    positives, negatives = (side.astype(np.float64) for side in samples.sides)
    if measure.kind == "area":
        variances_of_sides = [factor_p[:, None] * np.sum(p * p, axis=-1), factor_q[:, None] * np.sum(q * q, axis=-1)]
        total = variances_of_sides[0] + variances_of_sides[1]
        scale = np.where(total > 0, np.maximum(total_variance, 0) / np.where(total > 0, total, 1), 1)
        variances = np.stack([part * scale for part in variances_of_sides])
        effective = _effective_of_area(samples, influences)
        units = np.stack([positives, negatives])
        pairs = 1 / (positives * negatives)
    else:
        variances, units, pairs = total_variance[None], positives[None], np.zeros(len(positives))
        effective = _effective_number(np.abs(p + q))[None]
        effective = np.minimum(effective, positives[:, None])
    no_skewness, left_out = np.zeros(influences.estimate.shape), np.zeros(len(positives), bool)
    fewest = np.minimum(positives, negatives)
    return Moments(influences.estimate, covariance, variances, effective, units, pairs, no_skewness, fewest, left_out)


def _of_mean(samples: SampleScores, influences: Influences, measure: ScoreMeasure) -> Moments:
    """The moments of the mean over classes; classes without samples are left out."""
    is_defined = ~np.isnan(influences.estimate[:, 0])
    number = max(1, int(is_defined.sum()))
    factor_p, factor_q, _ = _corrections(samples)
    root_p, root_q = (np.sqrt(np.where(is_defined, factor, 0))[:, None, None] for factor in (factor_p, factor_q))
    influence = (
        np.sum(root_p * influences.of_positive + root_q * influences.of_negative, axis=0, keepdims=True) / number
    )
    covariance = influence @ np.swapaxes(influence, -1, -2)
    estimate = np.where(is_defined[:, None], influences.estimate, 0).sum(0, keepdims=True) / number
    estimate = np.where(is_defined.any(), estimate, math.nan)
    positives, negatives = (np.where(is_defined, side, math.inf) for side in samples.sides)
    if measure.kind == "area":
        effective = _effective_of_area(samples, influences).min(axis=0)
        shares = 1 / positives + 1 / negatives
        pairs = np.sum(1 / (positives * negatives), keepdims=True) / number**2
    else:
        effective = np.minimum(
            _effective_number(np.abs(influences.of_positive + influences.of_negative)), positives[:, None]
        )
        shares, pairs = 1 / positives, np.zeros(1)
    effective = np.where(is_defined[:, None], effective, 0).sum(axis=0)[None, None]
    # The number of units for which the mean of independent classes has its largest variance.
    total = np.sum(shares)
    units = np.full((1, 1), number**2 / total if total > 0 else math.nan)
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)[None]
    fewest = np.min(np.minimum(positives, negatives), keepdims=True) if is_defined.any() else np.zeros(1)
    left_out = np.asarray([not is_defined.all()])
    no_skewness = np.zeros(estimate.shape)
    return Moments(estimate, covariance, variances, effective, units, pairs, no_skewness, fewest, left_out)


def _corrections(samples: SampleScores) -> tuple[Array, Array, Array]:
    """Obuchowski's corrections of sums of squared influences, (C,); 0 for a single unit."""

    def factor(number: Array) -> Array:
        return np.where(number > 1, number / np.where(number > 1, number - 1, 1), 0.0)

    positives, negatives = samples.sides
    return factor(positives), factor(negatives), factor(np.full(positives.shape, samples.number))


def _effective_of_area(samples: SampleScores, influences: Influences) -> Array:
    """The number of units on each side that share the distance to an area of 1, or of 0 if nearer, (2, C, M)."""
    area = influences.estimate[..., None]
    missing = np.where(area >= 0.5, 1 - area, -area)
    sides = []
    for is_on_side, influence in (
        (samples.positive, influences.of_positive),
        (~samples.positive, influences.of_negative),
    ):
        size = is_on_side.sum(axis=-1)[:, None, None]
        counts_of_units = samples.within(is_on_side.astype(np.float64))[:, None]
        sides.append(_effective_number(np.abs(counts_of_units * missing - size * influence)))
    return np.stack(sides)


def _most_effective(samples: SampleScores, moments: Moments, measure: ScoreMeasure) -> Array:
    """The largest number of effective units that is compatible with the variance of a curve, (S, C, M).

    If scores have few values, all samples with the most frequent value have the same distance from an area of 1. They
    contribute to the distance but not to the variance, and do not show how often a sample has another value.
    """
    estimate, units = moments.estimate, moments.units[..., None]
    if measure.kind == "area":
        largest = spread_of_area(estimate) / SPREAD_OF_AREA
    else:
        is_near_perfect = estimate > NEARLY_PERFECT
        is_tied = _are_tied(samples) if is_near_perfect.any() else is_near_perfect
        is_tied = (
            is_tied if is_tied.shape == is_near_perfect.shape else is_tied.any(axis=0, keepdims=True)
        )  # for a mean over classes
        largest = np.where(is_near_perfect & is_tied, SPREAD_OF_TIES * spread_of_share(estimate), 0)
    return np.where(largest > 0, units**2 * moments.variances / np.where(largest > 0, largest, 1), math.inf)


def _are_tied(samples: SampleScores) -> Array:
    """Whether more than half of the positive samples have the same score, (C, M)."""

    def largest_group(scores: Array) -> int:
        return int(np.unique(scores, return_counts=True)[1].max(initial=0))

    rows = zip(samples.positive, samples.by_class, strict=True)
    return np.asarray(
        [
            [2 * largest_group(scores[is_positive]) > is_positive.sum() for scores in models]
            for is_positive, models in rows
        ]
    )


def _effective_number(x: Array) -> Array:
    """The number of equal values with the same sum and sum of squares as these values, which are not negative."""
    largest = np.max(x, axis=-1, keepdims=True, initial=0)
    scaled = np.where(largest > 1e-12, x / np.where(largest > 0, largest, 1), 0)
    squares = np.sum(scaled**2, axis=-1)
    return np.where(squares > 0, np.sum(scaled, axis=-1) ** 2 / np.where(squares > 0, squares, 1), 0)


def losses_of(read: ScoredSamples, measure: ScoreMeasure) -> Array:
    """The loss of each sample, (*B, N)."""
    return squared_distance(read) if measure.name == "brier_score" else of_each(read, "y_prob")
