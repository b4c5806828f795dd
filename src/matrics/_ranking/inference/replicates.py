"""Measures of scores of resampled samples; the scores are sorted once for all replicates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._progress import steps
from matrics._ranking.at_k import hits_at
from matrics._ranking.inference.names import ScoreMeasure
from matrics._ranking.inference.samples import SampleScores

# The number of weights of samples in memory at a time.
SAMPLES_AT_ONCE = 2**20


def replicates(  # noqa: PLR0917 (all inputs of the draws)
    samples: SampleScores,
    curves: Curves,
    measures: list[ScoreMeasure],
    losses: list[Array | None],
    num: int,
    rng: np.random.Generator,
    *,
    is_mean: bool,
) -> list[Array]:
    """The measures of replicates in which samples, or clusters, are drawn with replacement: (num, C, M) of each.

    All models and measures share the draws.
    """
    chunk = max(1, SAMPLES_AT_ONCE // max(1, samples.true.size))
    values_of_chunks = []
    for start in steps(range(0, num, chunk)):
        times = drawn_times(samples.number, min(chunk, num - start), rng)
        weights = (times if samples.units is None else times[:, samples.units]).astype(np.float64)
        values_of_chunks.append(values_of(curves, measures, losses, weights, is_mean=is_mean))
    return [np.concatenate(parts) for parts in zip(*values_of_chunks, strict=True)]


def values_of(
    curves: Curves, measures: list[ScoreMeasure], losses: list[Array | None], weights: Array, *, is_mean: bool
) -> list[Array]:
    """The values (R, C, M) of each measure for samples with weights (R, N); for losses (M, N), their weighted means."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return [
            _of_curves(curves, measure, weights, is_mean=is_mean)
            if values is None
            else (weights @ values.T / weights.sum(-1, keepdims=True))[:, None]
            for measure, values in zip(measures, losses, strict=True)
        ]


def drawn_times(number: int, replicates: int, rng: np.random.Generator) -> Array:
    """How often each unit is drawn in each replicate, (R, K); single draws are faster than multinomial draws."""
    drawn = rng.integers(0, number, size=(replicates, number))
    drawn += number * np.arange(replicates)[:, None]
    return np.bincount(drawn.ravel(), minlength=replicates * number).reshape(replicates, number)


class _Curve(NamedTuple):
    """A row of scores in descending order."""

    order: Array  # (N,)
    positive: Array  # (N,)
    starts: Array  # (T,): the first sample of each distinct score


#: The curves of each class and model.
Curves = list[list[_Curve]]


def curves_of(samples: SampleScores, measures: list[ScoreMeasure]) -> Curves:
    """The curves of all classes and models; an empty list if all measures are means of losses."""
    curves: Curves = []
    if all(measure.kind == "mean" for measure in measures):
        return curves
    for positive, models in zip(samples.positive, samples.by_class, strict=True):
        rows = []
        for scores in models:
            order = np.argsort(-scores)
            ranked = scores[order]
            rows.append(_Curve(order, positive[order], np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])))
        curves.append(rows)
    return curves


def _of_curves(curves: Curves, measure: ScoreMeasure, weights: Array, *, is_mean: bool) -> Array:
    """The measure of each class and model, (R, C, M), or of the mean over classes, (R, 1, M)."""
    values = np.stack([np.stack([_of_curve(curve, measure, weights) for curve in row], -1) for row in curves], axis=1)
    if not (is_mean and len(curves) > 1):
        return values
    is_defined = ~np.isnan(values)
    number = is_defined.sum(axis=1, keepdims=True)
    mean = np.where(is_defined, values, 0).sum(axis=1, keepdims=True) / np.where(number > 0, number, 1)
    return np.where(number > 0, mean, math.nan)


def _of_curve(curve: _Curve, measure: ScoreMeasure, weights: Array) -> Array:
    """The measure of a curve in every replicate, (R,)."""
    highest = _highest(curve, measure.at, weights) if measure.option == "k" else None
    if highest is not None:
        return _at_point(measure, *highest)
    ranked_weights = weights[:, curve.order]
    counts = []
    for weights_of_class in (ranked_weights * curve.positive, ranked_weights * ~curve.positive):
        weights_of_scores = (
            weights_of_class
            if curve.starts.size == curve.order.size
            else np.add.reduceat(weights_of_class, curve.starts, axis=-1)
        )
        counts.append(
            np.concatenate([np.zeros((len(ranked_weights), 1)), np.cumsum(weights_of_scores, axis=-1)], axis=-1)
        )
    tp, fp = counts
    positives, negatives = tp[:, -1], fp[:, -1]
    if measure.kind == "area":
        areas = np.vecdot(np.diff(fp), tp[:, 1:] + tp[:, :-1]) / 2
        return areas / (positives * negatives)  # NaN if a class has no samples
    if measure.kind == "precision":
        size = tp[:, 1:] + fp[:, 1:]
        return np.vecdot(np.diff(tp), tp[:, 1:] / np.where(size > 0, size, 1)) / positives
    return _at_point(measure, tp, fp)


def _highest(curve: _Curve, k: float, weights: Array) -> tuple[Array, Array] | None:
    """The true and false positives (R, T + 1) of the highest scores, with all other samples as a single step.

    The k-th sample is nearly always among the first samples that are read here, a small part of a large set. None if it
    is not in some replicate, or if the set is small.
    """
    least = k + 10 * math.sqrt(k) + 20
    place = np.searchsorted(curve.starts, least)
    if place == curve.starts.size:
        return None
    end, starts = curve.starts[place], curve.starts[:place]
    ranked_weights = weights[:, curve.order[:end]]
    if ranked_weights.sum(-1).min() < k:
        return None
    labels = np.empty(curve.order.size)
    labels[curve.order] = curve.positive
    of_positive = weights @ labels
    counts = []
    for is_of_class, total in (
        (curve.positive[:end], of_positive),
        (~curve.positive[:end], weights.sum(-1) - of_positive),
    ):
        sums = np.cumsum(np.add.reduceat(ranked_weights * is_of_class, starts, axis=-1), axis=-1)
        counts.append(np.concatenate([np.zeros((len(weights), 1)), sums, total[:, None]], axis=-1))
    tp, fp = counts
    return tp, fp


def _at_point(measure: ScoreMeasure, tp: Array, fp: Array) -> Array:
    """The measure of a point of curves (R, T + 1), (R,)."""
    positives, negatives, size = tp[:, -1:], fp[:, -1:], tp + fp
    if measure.option == "k":
        hits = hits_at(measure.at, tp, size, np)
        divisors = {
            "precision_at_k": measure.at,
            "recall_at_k": positives,
            "lift_at_k": measure.at * positives / size[:, -1:],
        }
        return np.where(size[:, -1] >= measure.at, (hits / divisors[measure.name])[:, 0], math.nan)
    if measure.name == "recall_at_specificity":
        is_reached = (negatives - fp) / negatives >= measure.at
        best = np.max(np.where(is_reached, tp, 0), axis=-1) / positives[:, 0]
        return np.where(negatives[:, 0] > 0, best, math.nan)
    precision, recall = tp / np.where(size > 0, size, 1), tp / positives
    rate, bounded_rate = (precision, recall) if measure.name == "precision_at_recall" else (recall, precision)
    best = np.max(np.where((bounded_rate >= measure.at) & (size > 0), rate, 0), axis=-1)
    return np.where(positives[:, 0] > 0, best, math.nan)
