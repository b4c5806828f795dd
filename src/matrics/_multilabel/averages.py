"""A single value from a measure's values of several labels or samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, get_args

from matrics._arrays import NUMPY, Array, as_arrays
from matrics._catalogue.classes import TWO
from matrics._catalogue.naming import named, title_of
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._scoring.score import resolve

Average = Literal["auto", "macro", "micro", "weighted", "samples", "label"]
AVERAGES = get_args(Average)
#: How many samples truly have a label.
SUPPORT = "positives:binary"
Scores = dict[str, Array]


def checked_average(average: Any) -> Average:
    """The name of an average: "auto" is the mean over labels, None the value of each; others raise an error."""
    if average is None or average == "auto":
        return "label" if average is None else "macro"
    if average not in AVERAGES:
        expected = ", ".join(map(repr, (*AVERAGES, None)))
        raise ArgumentError("average", f"expected one of {expected}, got {quoted(average)}")
    checked: Average = average
    return checked


def metrics_of_labels(metrics: str | Metric | Iterable[str | Metric], average: Average) -> dict[str, Metric]:
    """The metrics of the matrices of labels, with keys whose titles name the average."""
    how = {"label": " of each label", "samples": ", mean over samples"}.get(average, f", {average} over labels")
    resolved = resolve(metrics, TWO)
    # Class 1 means that a sample has the label.
    return {
        named(str(key), title_of(key).removesuffix(" of class 1") + how, metric): metric
        for key, metric in resolved.items()
    }


def over_labels(
    metrics: dict[str, Metric],
    average: Average,
    score: Callable[[list[str | Metric]], Scores],
    score_pooled: Callable[[list[str | Metric]], Scores],
    zero_division: float,
) -> Scores:
    """The average over labels of the scores of each label."""
    each: list[str | Metric] = list(by_spec(metrics))
    if average in ("label", "micro"):
        scores = score(each) if average == "label" else score_pooled(each)
        return {key: scores[str(metric)] for key, metric in metrics.items()}
    scores = score([*each, SUPPORT])
    support = scores[SUPPORT]
    # The support of an invalid matrix is NaN, which the mean must be as well.
    weights = support if average == "weighted" else support * 0 + 1
    return means(metrics, scores, weights, zero_division)


def by_spec(metrics: dict[str, Metric]) -> list[Metric]:
    """Each measure once, if it was requested by several names."""
    return list({str(metric): metric for metric in metrics.values()}.values())


def means(metrics: dict[str, Metric], scores: Scores, weights: Array, zero_division: float) -> Scores:
    """The mean of each measure over the labels or samples, which ``weights`` has in its last axis."""
    return {
        key: _mean(scores[str(metric)], weights, zero_division, is_classwise=metric.is_classwise)
        for key, metric in metrics.items()
    }


def _mean(values: Array, weights: Array, zero_division: float, *, is_classwise: bool) -> Array:
    """The mean of the defined values; NaN if a weight is not a weight."""
    backend, (values, weights) = as_arrays(values=values, weights=weights)
    xp = backend.xp
    weights = xp.astype(weights, values.dtype)
    if is_classwise:  # (*B, K, 2)
        weights = xp.broadcast_to(weights[..., None], tuple(values.shape))
    axis = -2 if is_classwise else -1
    valid = xp.all((weights >= 0) & (weights < math.inf), axis=axis)
    counted = (values == values) & (weights > 0)  # noqa: PLR0124 (not NaN)
    with backend.quiet():
        total = xp.sum(xp.where(counted, weights, 0), axis=axis)
        whole = xp.sum(xp.where(counted, values * weights, 0), axis=axis)
        mean = xp.where(total > 0, whole / xp.where(total > 0, total, 1), float(zero_division))
    mean = xp.where(valid, mean, math.nan)
    return mean[()] if backend is NUMPY and not mean.ndim else mean
