"""Estimates of measures of scores, with the variances and covariances that follow from the influences of samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._ranking.brier import squared_distance
from matrics._ranking.inference.influences import Influences, of_average_precision, of_mean, of_roc_auc
from matrics._ranking.inference.limits import spread_of_area, spread_of_share
from matrics._ranking.inference.names import Named
from matrics._ranking.inference.samples import SampleScores
from matrics._ranking.inputs import ScoredSamples
from matrics._ranking.losses import of_each

# The samples of a side of an area vary at least an eighth as much as they can at most, in all laws without ties
# that were simulated. Where more than half of the positive samples have the same score and the average precision is
# above 0.9, a sample may vary four times as much as a share does.
SPREAD_OF_AREA, SPREAD_OF_TIES, NEARLY_PERFECT = 8, 4, 0.9


class Moments(NamedTuple):
    """A measure of M models on the same samples, for C classes, or for one mean over classes."""

    estimate: Array  # (C, M)
    covariance: Array  # (C, M, M)
    variances: Array  # (S, C, M): of the positive and of the negative side of an area, otherwise of all units
    effective: Array  # (S, C, M): how many units make up most of the variance, see ``Side``; of losses: have errors
    units: Array  # (S, C): how many there are on each side
    pairs: Array  # (C,): 1 / the pairs of an area
    skewness: Array  # (C, M): of the influence of a unit
    fewest: Array  # (C,): the units of the smaller class
    left_out: Array  # (C,): whether a class without samples is left out of the mean
    drawn: Array | None = None  # (4, C, M): low, high, standard error and undefined replicates, if they were drawn

    @classmethod
    def of_draws(cls, estimate: Array, covariance: Array, drawn: Array, fewest: Array) -> Moments:
        """Those of a measure whose limits come from draws."""
        variances = drawn[None, 2] ** 2
        nothing, classes = np.zeros(estimate.shape), np.zeros(len(estimate))
        effective, units = np.full(variances.shape, math.inf), np.ones((1, len(estimate)))
        return cls(
            estimate, covariance, variances, effective, units, classes, nothing, fewest, classes.astype(bool), drawn
        )

    @classmethod
    def of(cls, samples: SampleScores, measure: Named, values: Array | None, *, is_mean: bool) -> Moments:
        """Measure one set of samples; ``values`` are the losses of each sample (M, N), if it is a mean of losses."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if values is not None:
                return _of_losses(samples, values)
            found = _of_curve(samples, measure)
            several = is_mean and len(samples.positive) > 1
            moments = _averaged(samples, found, measure) if several else _of_classes(samples, found, measure)
            return moments._replace(effective=np.minimum(moments.effective, _most_effective(samples, moments, measure)))


def _of_losses(samples: SampleScores, values: Array) -> Moments:
    """The mean over samples; clusters bring along the number of their samples."""
    one = of_mean(np.ones_like(values, bool), values)
    influence = samples.within(one.of_positive)[None]
    number = samples.number
    corrected = number / (number - 1) if number > 1 else math.nan
    spread = np.sqrt(np.sum(influence**2, axis=-1) / number)
    skewness = np.where(spread > 0, np.sum(influence**3, axis=-1) / number / np.where(spread > 0, spread, 1) ** 3, 0)
    covariance = corrected * influence @ np.swapaxes(influence, -1, -2)
    # Equal losses vary by rounding only.
    varies = spread * number > 1e-12 * np.abs(one.estimate)
    variance = np.where(varies, np.diagonal(covariance, axis1=-2, axis2=-1), 0)[None]
    fewest = np.asarray([samples.class_sizes.min(initial=number)])
    return Moments(
        one.estimate[None] if samples.true.size else np.full((1, samples.models), math.nan),
        covariance,
        variance,
        samples.wrong_units.astype(np.float64)[None, None],
        np.full((1, 1), number),
        np.zeros(1),
        skewness,
        fewest,
        np.zeros(1, bool),
    )


def _of_curve(samples: SampleScores, measure: Named) -> Influences:
    """An area or a mean precision of every class and model, (C, M, K) of clusters."""
    positive = np.broadcast_to(samples.positive[:, None], samples.by_class.shape)
    function = of_roc_auc if measure.kind == "area" else of_average_precision
    shape, rows_of = positive.shape[:-1], (math.prod(positive.shape[:-1]), samples.true.size)
    rows = function(positive.reshape(rows_of), samples.by_class.reshape(rows_of))
    parts = [part.reshape(positive.shape) for part in rows[1:]]
    defined = samples.sides[0] > 0
    if measure.kind == "area":
        defined = defined & (samples.sides[1] > 0)
    estimate = np.where(defined[:, None], rows.estimate.reshape(shape), math.nan)
    # Sums would carry the NaN of a class without samples into others.
    return Influences(estimate, *(np.where(defined[:, None, None], samples.within(part), 0) for part in parts))


def _of_classes(samples: SampleScores, found: Influences, measure: Named) -> Moments:
    p, q = found.of_positive, found.of_negative
    of_p, of_q, of_both = _corrections(samples)

    def products(x: Array, y: Array, factor: Array) -> Array:
        return factor[:, None, None] * (x @ np.swapaxes(y, -1, -2))

    covariance = products(p, p, of_p) + products(q, q, of_q)
    if samples.units is not None:  # a cluster has samples of both kinds
        both = products(p, q, of_both)
        covariance = covariance + both + np.swapaxes(both, -1, -2)
    whole = np.diagonal(covariance, axis1=-2, axis2=-1)
    positives, negatives = (side.astype(np.float64) for side in samples.sides)
    if measure.kind == "area":
        own = [of_p[:, None] * np.sum(p * p, axis=-1), of_q[:, None] * np.sum(q * q, axis=-1)]
        total = own[0] + own[1]
        scale = np.where(total > 0, np.maximum(whole, 0) / np.where(total > 0, total, 1), 1)
        variances = np.stack([part * scale for part in own])
        effective = _effective_of_area(samples, found)
        units = np.stack([positives, negatives])
        pairs = 1 / (positives * negatives)
    else:
        variances, units, pairs = whole[None], positives[None], np.zeros(len(positives))
        effective = _shared(np.abs(p + q))[None]
        effective = np.minimum(effective, positives[:, None])
    nothing, none_left = np.zeros(found.estimate.shape), np.zeros(len(positives), bool)
    fewest = np.minimum(positives, negatives)
    return Moments(found.estimate, covariance, variances, effective, units, pairs, nothing, fewest, none_left)


def _averaged(samples: SampleScores, found: Influences, measure: Named) -> Moments:
    """The mean over classes; those without samples are left out of it."""
    defined = ~np.isnan(found.estimate[:, 0])
    number = max(1, int(defined.sum()))
    of_p, of_q, _ = _corrections(samples)
    root_p, root_q = (np.sqrt(np.where(defined, factor, 0))[:, None, None] for factor in (of_p, of_q))
    influence = np.sum(root_p * found.of_positive + root_q * found.of_negative, axis=0, keepdims=True) / number
    covariance = influence @ np.swapaxes(influence, -1, -2)
    estimate = np.where(defined[:, None], found.estimate, 0).sum(0, keepdims=True) / number
    estimate = np.where(defined.any(), estimate, math.nan)
    positives, negatives = (np.where(defined, side, math.inf) for side in samples.sides)
    if measure.kind == "area":
        effective = _effective_of_area(samples, found).min(axis=0)
        shares = 1 / positives + 1 / negatives
        pairs = np.sum(1 / (positives * negatives), keepdims=True) / number**2
    else:
        effective = np.minimum(_shared(np.abs(found.of_positive + found.of_negative)), positives[:, None])
        shares, pairs = 1 / positives, np.zeros(1)
    effective = np.where(defined[:, None], effective, 0).sum(axis=0)[None, None]
    # As many units as would give the mean of independent classes its largest variance.
    total = np.sum(shares)
    units = np.full((1, 1), number**2 / total if total > 0 else math.nan)
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)[None]
    fewest = np.min(np.minimum(positives, negatives), keepdims=True) if defined.any() else np.zeros(1)
    left_out = np.asarray([not defined.all()])
    nothing = np.zeros(estimate.shape)
    return Moments(estimate, covariance, variances, effective, units, pairs, nothing, fewest, left_out)


def _corrections(samples: SampleScores) -> tuple[Array, Array, Array]:
    """By how much sums of squared influences are too small: Obuchowski's factors, (C,); 0 of a single unit."""

    def factor(number: Array) -> Array:
        return np.where(number > 1, number / np.where(number > 1, number - 1, 1), 0.0)

    positives, negatives = samples.sides
    return factor(positives), factor(negatives), factor(np.full(positives.shape, samples.number))


def _effective_of_area(samples: SampleScores, found: Influences) -> Array:
    """How many units on each side share what is missing to an area of 1, or of 0 if it is nearer, (2, C, M)."""
    at = found.estimate[..., None]
    missing = np.where(at >= 0.5, 1 - at, -at)
    sides = []
    for own, influence in ((samples.positive, found.of_positive), (~samples.positive, found.of_negative)):
        size = own.sum(axis=-1)[:, None, None]
        of_unit = samples.within(own.astype(np.float64))[:, None]
        sides.append(_shared(np.abs(of_unit * missing - size * influence)))
    return np.stack(sides)


def _most_effective(samples: SampleScores, moments: Moments, measure: Named) -> Array:
    """The largest number of effective units that agrees with the variance of a curve, (S, C, M).

    Where scores have few values, all samples with the most frequent value miss the same part of an area of 1. They
    share what is missing, but they do not vary, and say nothing of how often a sample has another value.
    """
    estimate, units = moments.estimate, moments.units[..., None]
    if measure.kind == "area":
        largest = spread_of_area(estimate) / SPREAD_OF_AREA
    else:
        near = estimate > NEARLY_PERFECT
        tied = _are_tied(samples) if near.any() else near
        tied = tied if tied.shape == near.shape else tied.any(axis=0, keepdims=True)  # of a mean over classes
        largest = np.where(near & tied, SPREAD_OF_TIES * spread_of_share(estimate), 0)
    return np.where(largest > 0, units**2 * moments.variances / np.where(largest > 0, largest, 1), math.inf)


def _are_tied(samples: SampleScores) -> Array:
    """Whether more than half of the positive samples have the same score, (C, M)."""

    def largest_group(scores: Array) -> int:
        return int(np.unique(scores, return_counts=True)[1].max(initial=0))

    rows = zip(samples.positive, samples.by_class, strict=True)
    return np.asarray([[2 * largest_group(one[own]) > own.sum() for one in models] for own, models in rows])


def _shared(x: Array) -> Array:
    """How many equal numbers have the same sum and the same sum of squares as these, which are not negative."""
    largest = np.max(x, axis=-1, keepdims=True, initial=0)
    scaled = np.where(largest > 1e-12, x / np.where(largest > 0, largest, 1), 0)
    squares = np.sum(scaled**2, axis=-1)
    return np.where(squares > 0, np.sum(scaled, axis=-1) ** 2 / np.where(squares > 0, squares, 1), 0)


def losses_of(read: ScoredSamples, measure: Named) -> Array:
    """The loss of each sample, (*B, N)."""
    return squared_distance(read) if measure.name == "brier_score" else of_each(read, "y_prob")
