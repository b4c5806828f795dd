"""Estimates of measures of scores, with limits, and covariances between models."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.draws import generator_of
from matrics._arrays.sizes import check_draws
from matrics._engine.execution.blocks import in_threads
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.inference.calibration import calibration_limits
from matrics._ranking.inference.limits import (
    Side,
    logit_limits,
    mean_limits,
    score_limits,
    spread_of_area,
    spread_of_share,
    straight_limits,
)
from matrics._ranking.inference.moments import Moments, losses_of
from matrics._ranking.inference.names import CURVES, ScoreMeasure
from matrics._ranking.inference.replicates import curves_of, replicates, values_of
from matrics._ranking.inference.samples import Samples, SampleScores
from matrics._ranking.probability_bins import Forecasts, forecasts
from matrics._uncertainty.limits import normal_quantile, percentile_limits, spread
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import graver

Method = Literal["auto", "delong", "logit", "bootstrap"]
# The kinds of measures of each method; bootstrap limits of a calibration error would lie above the true error.
METHODS: dict[str, tuple[str, ...]] = {
    "auto": ("area", "precision", "mean", "calibration", "point"),
    "delong": ("area",),
    "logit": ("area", "precision"),
    "bootstrap": ("area", "precision", "mean", "point"),
}
DEFAULT_NUM = 2000
# The same numbers as for other intervals.
FEW_UNITS, FEW_EFFECTIVE, MANY_UNDEFINED = 20, 5, 0.05


class LimitOptions(NamedTuple):
    """Options of the limits."""

    level: float
    method: str
    num: int
    rng: Any
    is_mean: bool  # whether to average over the classes
    workers: int


class MeasureEstimates(NamedTuple):
    """A measure of all B elements of the batch, C classes (or 1) and M models."""

    interval: Interval  # of arrays (B, C, M)
    covariance: Array  # (B, C, M, M); NaN of a calibration error


def check_method(method: Any, measures: Mapping[str, ScoreMeasure], num: Any, rng: Any) -> int:
    """The number of replicates; raises an error for a method that a measure does not have, and for unused options."""
    if method not in get_args(Method):
        raise ArgumentError("method", f"expected {', '.join(map(repr, get_args(Method)))}, got {quoted(method)}")
    unsupported = [name for name, measure in measures.items() if measure.kind not in METHODS[method]]
    if unsupported:
        reason = (
            "; quantiles of its replicates lie above the true error, which method='auto' corrects"
            if method == "bootstrap"
            else ""
        )
        raise ArgumentError("method", f"expected 'auto' for {', '.join(unsupported)}, got {quoted(method)}{reason}")
    uses_draws = method == "bootstrap" or any(measure.kind in ("point", "calibration") for measure in measures.values())
    for name, value in (("num", num), ("rng", rng)):
        if value is not None and not uses_draws:
            raise ValueError(
                f"{name}: expected None, because nothing is drawn with method={quoted(method)} for "
                f"{', '.join(measures)}, got {quoted(value)}"
            )
    return DEFAULT_NUM if num is None else check_draws(num)


def check_k(measures: Mapping[str, ScoreMeasure], number: int, where: str = "") -> None:
    """Raise an error if the ``k`` of a measure is above the number of samples."""
    for name, measure in measures.items():
        if measure.option == "k" and measure.at > number:
            text = f"expected k of at most the number of samples{where}, {number:,}, got {name}"
            raise ArgumentError("metrics", text)


def estimate_all(
    samples: Samples, measures: Mapping[str, ScoreMeasure], options: LimitOptions
) -> dict[str, MeasureEstimates]:
    """The estimates of all measures, with limits."""
    check_k(measures, samples.read.y_true.shape[-1])
    elements = list(samples.elements())
    if not elements:
        return {name: _empty_estimates(samples, measure, options) for name, measure in measures.items()}
    by_element: list[Any] = [None] * len(elements)
    losses = [losses_of(samples.read, measure) if measure.kind == "mean" else None for measure in measures.values()]
    all_forecasts = (
        forecasts(samples.read, None) if any(measure.kind == "calibration" for measure in measures.values()) else None
    )
    streams = generator_of(options.rng).spawn(len(elements))

    def work(share: Iterable[int]) -> None:
        for k in share:
            values = [None if loss is None else samples.of_element(loss, k) for loss in losses]
            element_forecasts = (
                None if all_forecasts is None else [samples.of_element(part, k) for part in all_forecasts]
            )
            by_element[k] = _of_element(
                elements[k], list(measures.values()), values, element_forecasts, options, streams[k]
            )

    threads = options.workers if options.workers > 0 else os.cpu_count() or 1
    in_threads(work, [range(k, len(elements), threads) for k in range(min(threads, len(elements)))])
    classes = samples.num_classes
    spoiled = np.stack([element.spoiled for element in elements])
    return {
        name: _combined([moments[k] for moments in by_element], measure, options, spoiled, measure.bounds(classes))
        for k, (name, measure) in enumerate(measures.items())
    }


def _empty_estimates(samples: Samples, measure: ScoreMeasure, options: LimitOptions) -> MeasureEstimates:
    """The estimates of an empty batch."""
    classes = 1 if options.is_mean or measure.kind not in CURVES else samples.num_classes or 1
    empty, models = np.zeros((0, classes, samples.models)), samples.models
    interval = Interval(*[empty] * 4, *[empty.astype(np.int64)] * 2)
    return MeasureEstimates(interval, np.zeros((0, classes, models, models)))


def _of_element(  # noqa: PLR0917 (all inputs of an element)
    samples: SampleScores,
    measures: list[ScoreMeasure],
    values: list[Array | None],
    forecasts_of_element: list[Array] | None,
    options: LimitOptions,
    rng: np.random.Generator,
) -> list[Moments]:
    """The moments of each measure for an element of the batch."""
    drawing = [k for k, measure in enumerate(measures) if measure.kind == "point" or options.method == "bootstrap"]
    drawn_measures, losses = [measures[k] for k in drawing], [values[k] for k in drawing]
    drawn: dict[int, tuple[Array, Array]] = {}
    if drawing:
        curves = curves_of(samples, drawn_measures)
        values_of_replicates = replicates(
            samples, curves, drawn_measures, losses, options.num, rng, is_mean=options.is_mean
        )
        estimates = values_of(curves, drawn_measures, losses, np.ones((1, samples.true.size)), is_mean=options.is_mean)
        drawn = {
            k: (measure[0], many) for k, measure, many in zip(drawing, estimates, values_of_replicates, strict=True)
        }
    results = []
    for k, measure in enumerate(measures):
        if measure.kind == "calibration":
            assert forecasts_of_element is not None  # noqa: S101 (the caller has checked)
            results.append(_of_calibration(samples, forecasts_of_element, options, rng))
        elif k in drawn:
            results.append(_of_draws(*drawn[k], measure, samples, options))
        else:
            results.append(Moments.of(samples, measure, values[k], is_mean=options.is_mean))
    return results


def _of_draws(
    estimate: Array, values: Array, measure: ScoreMeasure, samples: SampleScores, options: LimitOptions
) -> Moments:
    with NUMPY.quiet():  # a class without samples has no replicates
        return _of_replicates(estimate, values, measure, samples, options)


def _of_replicates(
    estimate: Array, values: Array, measure: ScoreMeasure, samples: SampleScores, options: LimitOptions
) -> Moments:
    replicated = np.moveaxis(values, 0, -1)  # (C, M, R)
    error, undefined = spread(replicated, NUMPY)
    if measure.kind == "point":
        low, high = _of_point(estimate, replicated, measure, samples, options.level)
    else:
        quantiles = percentile_limits(replicated, options.level, NUMPY)
        low, high = (np.where(error > 0, limit, math.nan) for limit in quantiles)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    is_defined = ~np.isnan(replicated).any(axis=1, keepdims=True)
    number = np.maximum(is_defined.sum(axis=-1, keepdims=True), 2)
    mean = np.where(is_defined, replicated, 0).sum(-1, keepdims=True) / number
    deviations = np.where(is_defined, replicated - mean, 0)
    covariance = deviations @ np.swapaxes(deviations, -1, -2) / (number - 1)
    fewest = np.minimum(*samples.sides) if len(estimate) == len(samples.positive) else [samples.class_sizes.min()]
    if measure.option == "k":
        fewest = np.minimum(fewest, measure.at)
    moments = Moments.of_draws(estimate, covariance, np.stack([low, high, error, undefined]), np.asarray(fewest))
    if measure.kind == "mean":
        moments = moments._replace(effective=samples.wrong_units.astype(np.float64)[None, None])
    if measure.kind not in CURVES or len(estimate) == len(samples.positive):
        return moments
    positives, negatives = samples.sides  # a mean over classes leaves out undefined classes
    empty = (positives == 0) | ((negatives == 0) & (measure.kind != "precision"))
    return moments._replace(left_out=np.asarray([empty.any()]))


def _of_point(
    estimate: Array, replicated: Array, measure: ScoreMeasure, samples: SampleScores, level: float
) -> tuple[Array, Array]:
    """Limits of a rate whose threshold is chosen on the same samples, with Agresti and Coull's added successes.

    They are Zhou and Qin's BTII, but around the estimate, and not narrower than for a known threshold. Recall at a
    precision is the recall at the best of many thresholds, and its replicates are skewed. Their quantiles are the
    limits if they are further away.
    """
    z = normal_quantile(level)
    # A lift is a recall divided by the share of chosen samples.
    unit = samples.true.size / measure.at if measure.name == "lift_at_k" else 1.0
    trials = _trials(estimate, measure, samples)
    total = trials + z * z
    centre = (estimate / unit * trials + z * z / 2) / total
    error = np.nan_to_num(spread(replicated, NUMPY)[0]) / unit * trials / total
    least_error = np.sqrt(centre * (1 - centre) / total)
    if measure.name in ("recall_at_k", "lift_at_k"):  # the hits among k samples are a part of all positive samples
        share_of_chosen = np.clip((centre * total + z * z / 2) / (measure.at + z * z), 0, 1)
        least_error = np.minimum(least_error, np.sqrt(share_of_chosen * (1 - share_of_chosen) * measure.at) / total)
    half_width = z * np.maximum(error, least_error)
    low, high = centre - half_width, centre + half_width
    if measure.name == "recall_at_precision":
        quantiles = percentile_limits(replicated, level, NUMPY)
        low, high = np.fmin(low, quantiles[0]), np.fmax(high, quantiles[1])
    return unit * np.clip(low, 0, 1), unit * np.clip(high, 0, 1)


def _trials(estimate: Array, measure: ScoreMeasure, samples: SampleScores) -> Array:
    """The number of samples of which a rate at a point of a curve is a proportion, (C, M)."""
    positives = samples.sides[0].astype(np.float64)[:, None]
    if measure.name == "precision_at_k":
        trials = np.full(positives.shape, measure.at)
    elif measure.name == "precision_at_recall":  # the number of predicted samples
        trials = positives * measure.at / np.where(estimate > 0, estimate, 1)
    else:
        trials = positives
    if len(estimate) == len(positives):
        return trials
    # The number of samples for which a single share has the variance of the mean of shares.
    filled = positives[:, 0] > 0
    trials = trials[filled]
    return len(trials) ** 2 / (1 / np.maximum(trials, 1)).sum(axis=0, keepdims=True) if filled.any() else 0 * estimate


def _of_calibration(
    samples: SampleScores, forecasts_of_element: list[Array], options: LimitOptions, rng: np.random.Generator
) -> Moments:
    rows = zip(*(np.atleast_2d(part) for part in forecasts_of_element), strict=True)
    results = [calibration_limits(Forecasts(*row), samples.units, options.level, options.num, rng) for row in rows]
    error, low, high, standard_error, is_few = (np.asarray(part, float)[None] for part in zip(*results, strict=True))
    if samples.units is not None and samples.number < 2:  # a single cluster, which has no variance
        low, high, standard_error = (np.full(error.shape, math.nan) for _ in range(3))
    covariance = np.full((1, samples.models, samples.models), math.nan)
    fewest = np.where(is_few.any(axis=-1), 0, samples.number)
    return Moments.of_draws(error, covariance, np.stack([low, high, standard_error, np.zeros(error.shape)]), fewest)


def formula_of(measure: ScoreMeasure, method: str) -> str:
    """The formula of limits without replicates: the method, or the formula of "auto" for the measure."""
    return method if method != "auto" else "hall" if measure.kind == "mean" else "score"


def _combined(
    moments: list[Moments], measure: ScoreMeasure, options: LimitOptions, spoiled: Array, bounds: tuple[float, float]
) -> MeasureEstimates:
    """The estimates of all elements, with limits, and a status where limits are missing."""
    stacked = Moments(*(None if parts[0] is None else np.stack(parts) for parts in zip(*moments, strict=True)))
    estimate, is_bad = stacked.estimate, spoiled[:, None, :]
    if stacked.drawn is None:
        error = np.sqrt(np.maximum(stacked.variances.sum(axis=1), 0))
        low, high = _limits(stacked, error, measure, options, bounds)
        undefined = np.zeros(estimate.shape, np.int64)
    else:
        low, high, error, undefined = np.moveaxis(stacked.drawn, 1, 0)
    effective = stacked.effective.min(axis=1)
    is_few = (stacked.fewest[..., None] < FEW_UNITS) | (effective < FEW_EFFECTIVE)
    reasons = {
        IntervalStatus.FEW_SAMPLES: is_few,
        IntervalStatus.EMPTY_CLASS: stacked.left_out[..., None],
        IntervalStatus.UNDEFINED_REPLICATES: undefined > MANY_UNDEFINED * options.num,
        IntervalStatus.NO_VARIATION: np.isnan(low) | np.isnan(high) | np.isinf(estimate),
        IntervalStatus.UNDEFINED: np.isnan(estimate),
        IntervalStatus.INVALID: is_bad,
    }
    status = graver(np.zeros(estimate.shape, np.int64), reasons, np)
    is_undefined = is_bad | ~np.isfinite(estimate)
    low, high, error = (np.where(is_undefined, math.nan, part) for part in (low, high, error))
    estimate = np.where(is_bad, math.nan, estimate)
    covariance = np.where(is_undefined[..., None] | is_undefined[..., None, :], math.nan, stacked.covariance)
    return MeasureEstimates(Interval(estimate, low, high, error, undefined.astype(np.int64), status), covariance)


def _limits(
    stacked: Moments, error: Array, measure: ScoreMeasure, options: LimitOptions, bounds: tuple[float, float]
) -> tuple[Array, Array]:
    """The limits of all elements at once, (B, C, M)."""
    formula = formula_of(measure, options.method)
    if formula == "delong":
        return straight_limits(stacked.estimate, error, options.level, bounds)
    if formula == "logit":
        return logit_limits(stacked.estimate, error, options.level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if formula == "hall":
            units = stacked.units[:, 0, :, None]
            return mean_limits(stacked.estimate, error, stacked.skewness, units, options.level, bounds)
        sides = [
            Side(stacked.variances[:, s], stacked.effective[:, s], stacked.units[:, s, :, None])
            for s in range(stacked.variances.shape[1])
        ]
        spread_of = spread_of_area if measure.kind == "area" else spread_of_share
        return score_limits(stacked.estimate, sides, stacked.pairs[..., None], spread_of, options.level)
