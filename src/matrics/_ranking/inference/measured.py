"""Every measure of every set of samples: estimates, limits, and covariances between models."""

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
from matrics._ranking.inference.names import CURVES, Named
from matrics._ranking.inference.replicates import curves_of, replicates, values_of
from matrics._ranking.inference.samples import Samples, SampleScores
from matrics._ranking.probability_bins import Forecasts, forecasts
from matrics._uncertainty.limits import normal_quantile, percentile_limits, spread
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import graver

Method = Literal["auto", "delong", "logit", "bootstrap"]
# What a method other than the default is for; the bootstrap of a calibration error would miss the truth.
METHODS: dict[str, tuple[str, ...]] = {
    "auto": ("area", "precision", "mean", "calibration", "point"),
    "delong": ("area",),
    "logit": ("area", "precision"),
    "bootstrap": ("area", "precision", "mean", "point"),
}
DEFAULT_NUM = 2000
# As for other intervals.
FEW_UNITS, FEW_EFFECTIVE, MANY_UNDEFINED = 20, 5, 0.05


class Manner(NamedTuple):
    """How limits are formed."""

    level: float
    method: str
    num: int
    rng: Any
    is_mean: bool  # over the classes
    workers: int


class Measured(NamedTuple):
    """One measure of all elements, models and classes; B elements, C classes or 1, M models."""

    interval: Interval  # of arrays (B, C, M)
    covariance: Array  # (B, C, M, M); NaN of a calibration error


def check_method(method: Any, measures: Mapping[str, Named], num: Any, rng: Any) -> int:
    """The number of replicates; raises for a method that a measure does not have, and for options without a use."""
    if method not in get_args(Method):
        raise ArgumentError("method", f"expected one of {', '.join(map(repr, get_args(Method)))}, got {quoted(method)}")
    other = [name for name, measure in measures.items() if measure.kind not in METHODS[method]]
    if other:
        why = (
            "; quantiles of its replicates lie above the truth, which method='auto' corrects"
            if method == "bootstrap"
            else ""
        )
        raise ArgumentError("method", f"expected 'auto' for {', '.join(other)}, got {quoted(method)}{why}")
    draws = method == "bootstrap" or any(one.kind in ("point", "calibration") for one in measures.values())
    for name, value in (("num", num), ("rng", rng)):
        if value is not None and not draws:
            raise ValueError(
                f"{name}: expected None, because nothing is drawn with method={quoted(method)} for "
                f"{', '.join(measures)}, got {quoted(value)}"
            )
    return DEFAULT_NUM if num is None else check_draws(num)


def measure_all(samples: Samples, measures: Mapping[str, Named], manner: Manner) -> dict[str, Measured]:
    """Every measure with its limits."""
    elements = list(samples.elements())
    if not elements:
        return {name: _of_nothing(samples, one, manner) for name, one in measures.items()}
    by_element: list[Any] = [None] * len(elements)
    losses = [losses_of(samples.read, one) if one.kind == "mean" else None for one in measures.values()]
    made = forecasts(samples.read, None) if any(one.kind == "calibration" for one in measures.values()) else None
    streams = generator_of(manner.rng).spawn(len(elements))

    def work(share: Iterable[int]) -> None:
        for k in share:
            values = [None if one is None else samples.of_element(one, k) for one in losses]
            here = None if made is None else [samples.of_element(part, k) for part in made]
            by_element[k] = _of_element(elements[k], list(measures.values()), values, here, manner, streams[k])

    threads = manner.workers if manner.workers > 0 else os.cpu_count() or 1
    in_threads(work, [range(k, len(elements), threads) for k in range(min(threads, len(elements)))])
    classes = samples.num_classes
    spoiled = np.stack([one.spoiled for one in elements])
    return {
        name: _gathered([found[k] for found in by_element], measure, manner, spoiled, measure.bounds(classes))
        for k, (name, measure) in enumerate(measures.items())
    }


def _of_nothing(samples: Samples, measure: Named, manner: Manner) -> Measured:
    """The results of an empty batch."""
    classes = 1 if manner.is_mean or measure.kind not in CURVES else samples.num_classes or 1
    values, models = np.zeros((0, classes, samples.models)), samples.models
    interval = Interval(*[values] * 4, *[values.astype(np.int64)] * 2)
    return Measured(interval, np.zeros((0, classes, models, models)))


def _of_element(  # noqa: PLR0917 (all of it is what an element has)
    samples: SampleScores,
    measures: list[Named],
    values: list[Array | None],
    made: list[Array] | None,
    manner: Manner,
    rng: np.random.Generator,
) -> list[Moments]:
    """Each measure of one set of samples."""
    drawing = [k for k, one in enumerate(measures) if one.kind == "point" or manner.method == "bootstrap"]
    chosen, beside = [measures[k] for k in drawing], [values[k] for k in drawing]
    drawn: dict[int, tuple[Array, Array]] = {}
    if drawing:
        curves = curves_of(samples, chosen)
        found = replicates(samples, curves, chosen, beside, manner.num, rng, is_mean=manner.is_mean)
        own = values_of(curves, chosen, beside, np.ones((1, samples.true.size)), is_mean=manner.is_mean)
        drawn = {k: (one[0], many) for k, one, many in zip(drawing, own, found, strict=True)}
    results = []
    for k, measure in enumerate(measures):
        if measure.kind == "calibration":
            assert made is not None  # noqa: S101 (as the caller has looked)
            results.append(_of_calibration(samples, made, manner, rng))
        elif k in drawn:
            results.append(_of_draws(*drawn[k], measure, samples, manner))
        else:
            results.append(Moments.of(samples, measure, values[k], is_mean=manner.is_mean))
    return results


def _of_draws(estimate: Array, values: Array, measure: Named, samples: SampleScores, manner: Manner) -> Moments:
    with NUMPY.quiet():  # a class without samples has no replicates
        return _of_replicates(estimate, values, measure, samples, manner)


def _of_replicates(estimate: Array, values: Array, measure: Named, samples: SampleScores, manner: Manner) -> Moments:
    replicated = np.moveaxis(values, 0, -1)  # (C, M, R)
    error, undefined = spread(replicated, NUMPY)
    if measure.kind == "point":
        low, high = _of_point(estimate, replicated, measure, samples, manner.level)
    else:
        found = percentile_limits(replicated, manner.level, NUMPY)
        low, high = (np.where(error > 0, limit, math.nan) for limit in found)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    whole = ~np.isnan(replicated).any(axis=1, keepdims=True)
    number = np.maximum(whole.sum(axis=-1, keepdims=True), 2)
    mean = np.where(whole, replicated, 0).sum(-1, keepdims=True) / number
    away = np.where(whole, replicated - mean, 0)
    covariance = away @ np.swapaxes(away, -1, -2) / (number - 1)
    fewest = np.minimum(*samples.sides) if len(estimate) == len(samples.positive) else [samples.class_sizes.min()]
    if measure.option == "k":
        fewest = np.minimum(fewest, measure.at)
    moments = Moments.of_draws(estimate, covariance, np.stack([low, high, error, undefined]), np.asarray(fewest))
    if measure.kind == "mean":
        moments = moments._replace(effective=samples.wrong_units.astype(np.float64)[None, None])
    if measure.kind not in CURVES or len(estimate) == len(samples.positive):
        return moments
    positives, negatives = samples.sides  # a mean over classes leaves out those that are undefined
    empty = (positives == 0) | ((negatives == 0) & (measure.kind != "precision"))
    return moments._replace(left_out=np.asarray([empty.any()]))


def _of_point(
    estimate: Array, replicated: Array, measure: Named, samples: SampleScores, level: float
) -> tuple[Array, Array]:
    """Limits of a rate whose threshold is chosen on the same samples: with Agresti and Coull's added successes.

    As Zhou and Qin's BTII, but around the estimate, and no narrower than for a threshold that is known. Recall at a
    precision is that of the best of many thresholds, and replicates are skewed: their quantiles count where these are
    further away.
    """
    z = normal_quantile(level)
    # A lift is a recall in units of the share of the samples that are chosen.
    unit = samples.true.size / measure.at if measure.name == "lift_at_k" else 1.0
    trials = _trials(estimate, measure, samples)
    whole = trials + z * z
    middle = (estimate / unit * trials + z * z / 2) / whole
    error = np.nan_to_num(spread(replicated, NUMPY)[0]) / unit * trials / whole
    least = np.sqrt(middle * (1 - middle) / whole)
    if measure.name in ("recall_at_k", "lift_at_k"):  # of k samples, whose hits are a part of all positive samples
        among = np.clip((middle * whole + z * z / 2) / (measure.at + z * z), 0, 1)
        least = np.minimum(least, np.sqrt(among * (1 - among) * measure.at) / whole)
    reach = z * np.maximum(error, least)
    low, high = middle - reach, middle + reach
    if measure.name == "recall_at_precision":
        ends = percentile_limits(replicated, level, NUMPY)
        low, high = np.fmin(low, ends[0]), np.fmax(high, ends[1])
    return unit * np.clip(low, 0, 1), unit * np.clip(high, 0, 1)


def _trials(estimate: Array, measure: Named, samples: SampleScores) -> Array:
    """The number of samples that a rate at a point of a curve is a proportion of, (C, M)."""
    positives = samples.sides[0].astype(np.float64)[:, None]
    if measure.name == "precision_at_k":
        trials = np.full(positives.shape, measure.at)
    elif measure.name == "precision_at_recall":  # the predicted samples of which so many hits are this share
        trials = positives * measure.at / np.where(estimate > 0, estimate, 1)
    else:
        trials = positives
    if len(estimate) == len(positives):
        return trials
    # The variance of a mean of shares is that of one share of so many samples.
    filled = positives[:, 0] > 0
    trials = trials[filled]
    return len(trials) ** 2 / (1 / np.maximum(trials, 1)).sum(axis=0, keepdims=True) if filled.any() else 0 * estimate


def _of_calibration(samples: SampleScores, made: list[Array], manner: Manner, rng: np.random.Generator) -> Moments:
    rows = zip(*(np.atleast_2d(part) for part in made), strict=True)
    found = [calibration_limits(Forecasts(*row), samples.units, manner.level, manner.num, rng) for row in rows]
    error, low, high, deviation, few = (np.asarray(part, float)[None] for part in zip(*found, strict=True))
    if samples.units is not None and samples.number < 2:  # a single cluster, which has no variance
        low, high, deviation = (np.full(error.shape, math.nan) for _ in range(3))
    covariance = np.full((1, samples.models, samples.models), math.nan)
    fewest = np.where(few.any(axis=-1), 0, samples.number)
    return Moments.of_draws(error, covariance, np.stack([low, high, deviation, np.zeros(error.shape)]), fewest)


def formula_of(measure: Named, method: str) -> str:
    """Which limits an area or a mean has without replicates: the method, or what "auto" is for the measure."""
    return method if method != "auto" else "hall" if measure.kind == "mean" else "score"


def _gathered(
    found: list[Moments], measure: Named, manner: Manner, spoiled: Array, bounds: tuple[float, float]
) -> Measured:
    """The elements together, with limits and the reasons for their absence."""
    every = Moments(*(None if parts[0] is None else np.stack(parts) for parts in zip(*found, strict=True)))
    estimate, bad = every.estimate, spoiled[:, None, :]
    if every.drawn is None:
        error = np.sqrt(np.maximum(every.variances.sum(axis=1), 0))
        low, high = _limits(every, error, measure, manner, bounds)
        undefined = np.zeros(estimate.shape, np.int64)
    else:
        low, high, error, undefined = np.moveaxis(every.drawn, 1, 0)
    effective = every.effective.min(axis=1)
    few = (every.fewest[..., None] < FEW_UNITS) | (effective < FEW_EFFECTIVE)
    reasons = {
        IntervalStatus.FEW_SAMPLES: few,
        IntervalStatus.EMPTY_CLASS: every.left_out[..., None],
        IntervalStatus.UNDEFINED_REPLICATES: undefined > MANY_UNDEFINED * manner.num,
        IntervalStatus.NO_VARIATION: np.isnan(low) | np.isnan(high),
        IntervalStatus.UNDEFINED: ~np.isfinite(estimate),
        IntervalStatus.INVALID: bad,
    }
    status = graver(np.zeros(estimate.shape, np.int64), reasons, np)
    nothing = bad | ~np.isfinite(estimate)
    low, high, error = (np.where(nothing, math.nan, part) for part in (low, high, error))
    estimate = np.where(bad, math.nan, estimate)
    covariance = np.where(nothing[..., None] | nothing[..., None, :], math.nan, every.covariance)
    return Measured(Interval(estimate, low, high, error, undefined.astype(np.int64), status), covariance)


def _limits(
    every: Moments, error: Array, measure: Named, manner: Manner, bounds: tuple[float, float]
) -> tuple[Array, Array]:
    """The limits of all elements at once, (B, C, M)."""
    formula = formula_of(measure, manner.method)
    if formula == "delong":
        return straight_limits(every.estimate, error, manner.level, bounds)
    if formula == "logit":
        return logit_limits(every.estimate, error, manner.level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if formula == "hall":
            units = every.units[:, 0, :, None]
            return mean_limits(every.estimate, error, every.skewness, units, manner.level, bounds)
        sides = [
            Side(every.variances[:, s], every.effective[:, s], every.units[:, s, :, None])
            for s in range(every.variances.shape[1])
        ]
        spread_of = spread_of_area if measure.kind == "area" else spread_of_share
        return score_limits(every.estimate, sides, every.pairs[..., None], spread_of, manner.level)
