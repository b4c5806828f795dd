"""Measures of scores of samples that are drawn anew: one sort of the scores does for all replicates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._ranking.at_k import hits_at
from matrics._ranking.inference.names import Named
from matrics._ranking.inference.samples import SampleScores

# Weights of samples that are in memory at a time.
SAMPLES_AT_ONCE = 2**20


def replicates(  # noqa: PLR0917 (all of it is what is drawn)
    samples: SampleScores,
    curves: Curves,
    measures: list[Named],
    losses: list[Array | None],
    num: int,
    rng: np.random.Generator,
    *,
    is_mean: bool,
) -> list[Array]:
    """The measures of replicates in which samples, or clusters, are drawn with replacement: (num, C, M) of each.

    All models and measures share the draws.
    """
    at_once = max(1, SAMPLES_AT_ONCE // max(1, samples.true.size))
    found = []
    for start in range(0, num, at_once):
        times = drawn_times(samples.number, min(at_once, num - start), rng)
        weights = (times if samples.units is None else times[:, samples.units]).astype(np.float64)
        found.append(values_of(curves, measures, losses, weights, is_mean=is_mean))
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def values_of(
    curves: Curves, measures: list[Named], losses: list[Array | None], weights: Array, *, is_mean: bool
) -> list[Array]:
    """Each measure of samples with these weights (R, N): (R, C, M); of the losses (M, N) of samples, their means."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return [
            _of_curves(curves, measure, weights, is_mean=is_mean)
            if values is None
            else (weights @ values.T / weights.sum(-1, keepdims=True))[:, None]
            for measure, values in zip(measures, losses, strict=True)
        ]


def drawn_times(number: int, replicates: int, rng: np.random.Generator) -> Array:
    """How often each unit is drawn in each replicate, (R, K); by single draws, which is faster than multinomially."""
    drawn = rng.integers(0, number, size=(replicates, number))
    drawn += number * np.arange(replicates)[:, None]
    return np.bincount(drawn.ravel(), minlength=replicates * number).reshape(replicates, number)


class _Curve(NamedTuple):
    """A row of scores in descending order."""

    order: Array  # (N,)
    positive: Array  # (N,)
    starts: Array  # where each of T distinct scores begins


#: Those of each class and model.
Curves = list[list[_Curve]]


def curves_of(samples: SampleScores, measures: list[Named]) -> Curves:
    """The curves of all classes and models; none if all measures are means of losses."""
    found: Curves = []
    if all(measure.kind == "mean" for measure in measures):
        return found
    for positive, models in zip(samples.positive, samples.by_class, strict=True):
        rows = []
        for scores in models:
            order = np.argsort(-scores)
            ranked = scores[order]
            rows.append(_Curve(order, positive[order], np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])))
        found.append(rows)
    return found


def _of_curves(curves: Curves, measure: Named, weights: Array, *, is_mean: bool) -> Array:
    """The measure of each class and model, (R, C, M), or of the mean over classes, (R, 1, M)."""
    values = np.stack([np.stack([_of_curve(one, measure, weights) for one in row], -1) for row in curves], axis=1)
    if not (is_mean and len(curves) > 1):
        return values
    defined = ~np.isnan(values)
    number = defined.sum(axis=1, keepdims=True)
    mean = np.where(defined, values, 0).sum(axis=1, keepdims=True) / np.where(number > 0, number, 1)
    return np.where(number > 0, mean, math.nan)


def _of_curve(curve: _Curve, measure: Named, weights: Array) -> Array:
    """The measure of one curve in every replicate, (R,)."""
    drawn = weights[:, curve.order]
    counts = []
    for side in (drawn * curve.positive, drawn * ~curve.positive):
        of_score = side if curve.starts.size == curve.order.size else np.add.reduceat(side, curve.starts, axis=-1)
        counts.append(np.concatenate([np.zeros((len(drawn), 1)), np.cumsum(of_score, axis=-1)], axis=-1))
    tp, fp = counts
    positives, negatives = tp[:, -1], fp[:, -1]
    if measure.kind == "area":
        areas = np.vecdot(np.diff(fp), tp[:, 1:] + tp[:, :-1]) / 2
        return areas / (positives * negatives)  # NaN without samples of one class
    if measure.kind == "precision":
        size = tp[:, 1:] + fp[:, 1:]
        return np.vecdot(np.diff(tp), tp[:, 1:] / np.where(size > 0, size, 1)) / positives
    return _at_point(measure, tp, fp)


def _at_point(measure: Named, tp: Array, fp: Array) -> Array:
    """The measure of a point of curves (R, T + 1) from no sample to all, (R,)."""
    positives, negatives, size = tp[:, -1:], fp[:, -1:], tp + fp
    if measure.option == "k":
        hits = hits_at(measure.at, tp, size, np)
        of = {
            "precision_at_k": measure.at,
            "recall_at_k": positives,
            "lift_at_k": measure.at * positives / size[:, -1:],
        }
        return np.where(size[:, -1] >= measure.at, (hits / of[measure.name])[:, 0], math.nan)
    if measure.name == "recall_at_specificity":
        reached = (negatives - fp) / negatives >= measure.at
        best = np.max(np.where(reached, tp, 0), axis=-1) / positives[:, 0]
        return np.where(negatives[:, 0] > 0, best, math.nan)
    precision, recall = tp / np.where(size > 0, size, 1), tp / positives
    rate, bound = (precision, recall) if measure.name == "precision_at_recall" else (recall, precision)
    best = np.max(np.where((bound >= measure.at) & (size > 0), rate, 0), axis=-1)
    return np.where(positives[:, 0] > 0, best, math.nan)
