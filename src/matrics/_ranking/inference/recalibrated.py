"""interval(): measures of calibration as clinical papers report them, with limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.draws import generator_of
from matrics._arrays.sizes import check_draws
from matrics._engine.results import columns_of
from matrics._progress import steps
from matrics._quoting import quoted, split_outside
from matrics._ranking.inference.calibration import ROUNDING, inverted_limits
from matrics._ranking.inference.measure_estimates import DEFAULT_NUM, FEW_UNITS
from matrics._ranking.inference.samples import Samples, SampleScores
from matrics._ranking.recalibration import Logistic, fit_logistic, fit_smooth
from matrics._uncertainty.limits import normal_quantile, spread
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics.typing import ArrayLike

__all__ = ["interval"]

MEASURES = ("slope", "intercept", "in_the_large", "observed_expected_ratio", "ici", "e50", "e90")
DISTANCES: dict[str, Callable[[Array], Array]] = {
    "ici": lambda x: np.mean(x, axis=-1),
    "e50": lambda x: np.quantile(x, 0.5, axis=-1),
    "e90": lambda x: np.quantile(x, 0.9, axis=-1),
}
# Factors of the tails below the lower and above the upper limit, from simulations: a quantile of distances varies more
# than replicates around the estimated curve, as all of these cross the diagonal at the same points.
TAILS = {"ici": (0.6, 0.6), "e50": (0.5, 0.25), "e90": (0.5, 0.5)}
# The number of logits at which replicates of the curve are computed.
MOST_POINTS = 200
Row = tuple[float, float, float, float, int, int]
WITHOUT_LIMITS = (math.nan, math.nan, math.nan, 0, int(IntervalStatus.NO_VARIATION))
UNDEFINED: Row = (math.nan, math.nan, math.nan, math.nan, 0, int(IntervalStatus.UNDEFINED))


def interval(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    measures: str | Iterable[str] | None = None,
    *,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    ignore_index: Any = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    num: int | None = None,
    rng: Any = None,
) -> dict[str, Interval]:
    """Measures of calibration as clinical papers report them, with limits.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with probabilities of n classes, or any labels with ``labels=`` or
        ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Predicted probabilities of class 1 of two, or of every class, of which ``positive`` selects a class.
    measures : str or sequence of str, optional
        Names of measures; all if left out:

        - ``slope``, ``intercept``: of the logistic model of the outcomes by the logit of the probabilities; 1 and 0 are
          best. A slope below 1: predictions are too extreme.
        - ``in_the_large``: the intercept with the slope fixed at 1. Above 0: predictions are too low on the whole.
        - ``observed_expected_ratio``: the positive samples over the sum of the probabilities; 1 is best.
        - ``ici``, ``e50``, ``e90``: the mean, the median and the 90th percentile of the distances of the probabilities
          from a smooth calibration curve; 0 is best.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_prob``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_prob`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With probabilities of n classes it selects this class, against
        the rest.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: samples of a cluster may be alike.
    level : float, default 0.95
        The coverage of the limits.
    num : int, optional
        Number of replicates for ``ici``, ``e50`` and ``e90``; 2,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed; new draws every time if left out.

    Returns
    -------
    dict of str to Interval
        Each an :class:`matrics.Interval` with fields of shape (*B,). Undefined (status 6) are logistic measures where a
        probability is 0 or 1, a class has no samples, or the probabilities separate the classes. The status is 1 where
        a class has fewer than 20 samples: with 3 positive samples, limits of 95 % contain the truth in 80 to 95 % of
        data sets.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.interval`; a measure is unknown.

    Notes
    -----
    Logistic models have Wald's limits with the sandwich variance of Huber and White, which is valid for miscalibrated
    probabilities. Limits from the inverse of the information, as in R's ``val.prob``, are too narrow if probabilities
    are too extreme. The ratio has limits on the logarithmic scale.

    The smooth curve is a logistic model with a restricted cubic spline of the logit, with 5 knots at Harrell's
    quantiles, and fewer with less than 25 samples of a class. The distances from it are above 0 even where a model is
    calibrated, and so are all quantiles of replicates: their limits are those of the distances without that excess, as
    for the calibration error of :func:`matrics.ranking.interval`. So the estimate may be above both limits. Replicates
    around the estimated curve keep the points where this curve crosses the diagonal, and so vary too little. The
    limits are therefore quantiles further out in the tails (see ``TAILS`` in the source); the documentation has their
    coverage.

    References
    ----------
    Cox 1958, "Two further applications of a model for binary regression" (slope, intercept); Austin and Steyerberg
    2019, "The Integrated Calibration Index (ICI) and related metrics".

    Examples
    --------
    >>> import matrics, numpy
    >>> random = numpy.random.default_rng(0)
    >>> logit = random.normal(-1, 1, 2000)
    >>> y_true = (random.random(2000) < 1 / (1 + numpy.exp(-logit))).astype(int)
    >>> too_extreme = 1 / (1 + numpy.exp(-2 * logit))
    >>> results = matrics.probabilities.interval(y_true, too_extreme, ["slope", "in_the_large"])
    >>> for name, result in results.items():
    ...     print(f"{name}: {result.estimate:.2f}, from {result.low:.2f} to {result.high:.2f}")
    slope: 0.51, from 0.44 to 0.57
    in_the_large: 0.63, from 0.49 to 0.78
    """
    level, num = check_level(level), DEFAULT_NUM if num is None else check_draws(num)
    samples = Samples.of(*(y_true, y_prob, positive, ignore_index, clusters, "interval"), labels=labels, name="y_prob")
    if samples.num_classes is not None:
        raise ValueError(
            "y_prob: expected the probabilities of a single class, got several; choose a class by positive="
        )
    if not samples.are_probabilities:
        raise ValueError(
            "y_prob: expected probabilities, from 0 to 1, got others; convert logits with the sigmoid first"
        )
    names = _read_names(measures)
    generator = generator_of(rng)
    rows = [_element_rows(element, names, level, num, generator) for element in steps(list(samples.elements()))]
    results = {}
    for name in names:
        fields = columns_of([row[name] for row in rows], Interval)
        results[name] = Interval(*(samples.finish_rows([np.asarray(x) for x in field], None) for field in fields))
    return results


def _read_names(measures: Any) -> tuple[str, ...]:
    if measures is None:
        return MEASURES
    items = [measures] if isinstance(measures, str) or not isinstance(measures, Iterable) else list(measures)
    if not all(isinstance(item, str) for item in items):
        raise TypeError(f"measures: expected names, such as {', '.join(MEASURES[:2])}, got {quoted(items)}")
    names = [part.strip() for item in items for part in split_outside(item) if part.strip()]
    unknown = [name for name in names if name not in MEASURES]
    if unknown or not names:
        got = ", ".join(map(quoted, unknown)) if unknown else "none"
        raise ValueError(f"measures: expected {', '.join(MEASURES)}, got {got}")
    return tuple(dict.fromkeys(names))


def _element_rows(
    samples: SampleScores, names: tuple[str, ...], level: float, num: int, rng: np.random.Generator
) -> dict[str, Row]:
    """The interval of each measure for an element of the batch."""
    y, p = samples.positive[0].astype(np.float64), samples.scores[0]
    if samples.spoiled[0]:
        return dict.fromkeys(names, (*UNDEFINED[:5], int(IntervalStatus.INVALID)))
    is_single_cluster = samples.units is not None and samples.number < 2  # no variance can be estimated
    is_few = min(samples.class_sizes, default=0) < FEW_UNITS
    status = int(IntervalStatus.FEW_SAMPLES if is_few else IntervalStatus.OK)
    results = dict.fromkeys(names, UNDEFINED)
    if "observed_expected_ratio" in names:
        results["observed_expected_ratio"] = _ratio(samples, y, p, level, status)
    with np.errstate(divide="ignore"):
        logit = np.log(p) - np.log1p(-p)
    if not np.isfinite(logit).all():
        return results
    columns = np.stack([np.ones_like(logit), logit], axis=-1)
    if {"slope", "intercept"} & set(names):
        model = fit_logistic(columns, y, None, samples.units)
        for column, name in enumerate(("intercept", "slope")):
            if name in names:
                results[name] = _wald(model, column, level, status)
    if "in_the_large" in names:
        results["in_the_large"] = _wald(fit_logistic(columns[:, :1], y, logit, samples.units), 0, level, status)
    distances = [name for name in DISTANCES if name in names]
    if distances:
        results |= _distances(samples, y, p, logit, distances, level, num, rng, status)
    if is_single_cluster:
        return {name: (row[0], *WITHOUT_LIMITS) if not math.isnan(row[0]) else row for name, row in results.items()}
    return results


def _wald(model: Logistic | None, column: int, level: float, status: int) -> Row:
    if model is None:
        return UNDEFINED
    estimate, error = float(model.coefficients[column]), math.sqrt(model.covariance[column, column])
    half_width = normal_quantile(level) * error
    return estimate, estimate - half_width, estimate + half_width, error, 0, status


def _ratio(samples: SampleScores, y: Array, p: Array, level: float, status: int) -> Row:
    """The ratio of observed and expected positives, with the variance of a ratio of two means."""
    observed, expected, number = y.sum(), p.sum(), samples.number
    if expected == 0 or number < 2:
        return UNDEFINED
    ratio = observed / expected
    if observed == 0:
        return (0.0, math.nan, math.nan, 0.0, 0, int(IntervalStatus.NO_VARIATION))
    influence = samples.within(y / observed - p / expected)
    error = math.sqrt(number / (number - 1) * np.sum(influence**2))
    half_width = normal_quantile(level) * error
    return ratio, ratio * math.exp(-half_width), ratio * math.exp(half_width), ratio * error, 0, status


def _distances(  # noqa: PLR0917 (a step of ``_element_rows``)
    samples: SampleScores,
    y: Array,
    p: Array,
    logit: Array,
    names: list[str],
    level: float,
    num: int,
    rng: np.random.Generator,
    status: int,
) -> dict[str, Row]:
    """Distances of the probabilities from the smooth curve, with limits that correct their upward bias."""
    smooth = fit_smooth(logit, y, samples.units)
    if smooth is None:
        return dict.fromkeys(names, UNDEFINED)
    deviations = smooth.at(logit) - p
    # For many samples, quantiles of their logits are sufficient.
    points = (
        np.sort(logit)
        if logit.size <= MOST_POINTS
        else np.quantile(logit, (np.arange(MOST_POINTS) + 0.5) / MOST_POINTS)
    )
    values, vectors = np.linalg.eigh(smooth.model.covariance)
    changes = rng.standard_normal((num, values.size)) * np.sqrt(np.maximum(values, 0)) @ vectors.T
    centre = smooth.at(points)
    # A linear approximation, so that the replicates of the curve have no bias.
    slope = (centre * (1 - centre))[:, None] * smooth.columns(points)
    noise, gap = changes @ slope.T, centre - np.exp(-np.logaddexp(0, -points))
    results = {}
    for name in names:
        measure = DISTANCES[name]
        estimate, distance_at_points = float(measure(np.abs(deviations))), float(measure(np.abs(gap)))
        has_no_gaps = distance_at_points <= ROUNDING
        scale = 1.0 if has_no_gaps else estimate / distance_at_points
        pattern = np.ones_like(gap) if has_no_gaps else gap

        def quantile(
            times: float, share: float, measure: Callable[[Array], Array] = measure, pattern: Array = pattern
        ) -> float:
            return float(np.quantile(measure(np.abs(times * pattern + noise)), share))

        size = 1.0 if has_no_gaps else distance_at_points
        below, above = (1 - (1 - level) * part for part in TAILS[name])
        low, _ = inverted_limits(quantile, distance_at_points, size, below)
        _, high = inverted_limits(quantile, distance_at_points, size, above)
        low, high = min(1.0, scale * low), min(1.0, scale * high)
        error = float(spread(measure(np.abs(gap + noise)), NUMPY)[0])
        results[name] = (estimate, low, high, error, 0, status)
    return results
