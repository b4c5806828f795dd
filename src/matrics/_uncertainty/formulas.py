"""Confidence limits without replicates: Wilson's interval and the delta method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._engine.evaluation import evaluate
from matrics._progress import steps
from matrics._uncertainty.clusters import spread_of_clusters, student_quantiles
from matrics._uncertainty.extremes import level_of_all, of_classes, values_of_classes
from matrics._uncertainty.limits import Range, around, around_corrected, normal_quantile, student_quantile
from matrics._uncertainty.measure import Extreme, Limits, Measure, Score, Task, is_count, score_of
from matrics._uncertainty.options import OF_RATIOS
from matrics._uncertainty.predictive import is_predictive_value, limits_with_shares
from matrics._uncertainty.proportions import METHODS as PROPORTIONS
from matrics._uncertainty.ratios import RATIOS, TwoSamples
from matrics._uncertainty.row_limits import reaches_by_rows
from matrics._uncertainty.second_order import around_bends, can_bend
from matrics._uncertainty.slopes import (
    Slopes,
    by_shares,
    contributions,
    covariance_of,
    slopes_of,
    variance,
    with_shares,
)
from matrics._uncertainty.weighted import kish

# The size of the derivatives of a chunk of matrices, in numbers.
NUMBERS_AT_ONCE = 2**21

# From this number of clusters with an error on, their variance is reliable.
CLUSTERS_THAT_VARY = 10

# How limits are formed: by the delta method alone, from the limits of the classes, or of a proportion by its trials.
# The others use the delta method with a sample spread over the cells: corrected for bias, of a number of samples by the
# rows, or of a measure without or with bounds. Ratios of two proportions, and of their odds, use the log method.
Formula = Literal["plain", "extreme", "proportion", "ratio", "corrected", "count", "unbounded", "bounded"]

# Standard errors up to this part of a value's distance from its range's end are noise, by the bits of its dtype.
NOISE = {64: 1e-7, 32: 1e-5}


def limits_by_formula(task: Task) -> list[Limits]:
    """The limits of every measure, computed for a chunk of matrices at a time."""
    xp, count = task.backend.xp, task.whole.shape[0]
    outputs = sum(math.prod(estimate.shape[1:]) for estimate in task.estimates)
    outputs += sum(task.whole.shape[-1] for measure in task.measures if measure.extreme)
    step = max(1, NUMBERS_AT_ONCE // (task.size * outputs)) if task.backend is NUMPY else max(1, count)
    parts: list[list[Any]] = [[] for _ in task.measures]
    for start in steps(range(0, count, step), nested=False):
        chunk = task.part(slice(start, start + step))
        for chunks, limits in zip(parts, _limits(chunk), strict=True):
            chunks.append(limits)
    integer = task.backend.widest_int(task.whole) or xp.int32
    results: list[Limits] = []
    for chunks in parts:
        low, high, error = (xp.concat(list(column), axis=0) for column in zip(*chunks, strict=True))
        results.append((low, high, error, xp.astype(xp.zeros_like(low), integer)))
    return results


def formula_of(measure: Measure, method: str, scheme: str) -> Formula:
    """The formula for the limits of a measure; ``"plain"`` and ``"proportion"`` are the limits of ``method``."""
    if method in ("delta", *OF_RATIOS):
        return "plain"
    if measure.extreme:
        return "extreme"
    if measure.trials is not None and _are_independent(measure, scheme):
        return "proportion"
    if measure.samples and scheme != "clusters":
        return "ratio"
    if measure.biased:
        return "corrected"
    low, high = measure.range
    if (low, high) == (0, math.inf) and scheme != "clusters" and is_count(measure.metric):
        return "count"
    return "unbounded" if math.inf in (high, -low) else "bounded"


def _limits(task: Task) -> list[tuple[Array, Array, Array]]:
    """Limits and standard errors: Wilson's for proportions, unless the options name another method."""
    plain, z = task.options.method in ("delta", *OF_RATIOS), quantile_of(task)[0]
    limits_of_share = PROPORTIONS[task.options.method if task.options.method in PROPORTIONS else "wilson"]
    limits: dict[int, tuple[Array, Array, Array]] = {}
    formulas = [formula_of(measure, task.options.method, task.options.scheme) for measure in task.measures]
    shares = [k for k, formula in enumerate(formulas) if formula == "proportion"]
    if shares:
        for k, (trials, error) in zip(shares, _trials(task, [task.measures[k] for k in shares], shares), strict=True):
            quantile = broadcast_to_values(z, trials, task.backend.xp)
            limits[k] = (*limits_of_share(task.estimates[k], trials, quantile, task.backend), error)
    for k, measure in enumerate(task.measures):
        if formulas[k] == "extreme" and measure.extreme:
            limits[k] = _of_extreme(task, measure.extreme)
    if len(limits) < len(task.measures):
        others = [k for k in range(len(task.measures)) if k not in limits]
        by_slopes = _by_slopes(task, others, plain=plain)
        curved = []
        if not plain and task.options.scheme != "clusters":
            curved = [k for k in others if can_bend(task.measures[k].metric, task.whole.shape[-1])]
        limits.update(zip(others, by_slopes, strict=True))
        if curved:
            limits.update(zip(curved, around_bends(task, curved, [limits[k] for k in curved], z), strict=True))
    limits |= _of_ratios(task, [k for k, formula in enumerate(formulas) if formula == "ratio"], limits, z)
    if task.options.method == "score":
        for k, measure in enumerate(task.measures):
            limits[k] = (*_by_score(task, measure, z), limits[k][2])
    return [limits[k] for k in range(len(task.measures))]


def _by_score(task: Task, measure: Measure, z: Any) -> tuple[Array, Array]:
    """The score limits of a ratio of two proportions, or of their odds."""
    parts = evaluate(task.whole, list(measure.samples), invalid="nan")
    return RATIOS[measure.ratio][1](TwoSamples(*parts), z, task.backend)


def _of_ratios(
    task: Task, which: Sequence[int], smoothed: dict[int, tuple[Array, Array, Array]], z: Any
) -> dict[int, tuple[Array, Array, Array]]:
    """The limits of the ratios of two proportions, and of their odds, by the log method."""
    by_log = _by_slopes(task, which, plain=True) if which else []
    return {k: _of_ratio(task, task.measures[k], own, smoothed[k], z) for k, own in zip(which, by_log, strict=True)}


def _of_ratio(
    task: Task, measure: Measure, by_log: tuple[Array, ...], smoothed: tuple[Array, ...], z: Any
) -> tuple[Array, Array, Array]:
    """The limits on the scale of the logarithm, or score limits where an empty cell leaves no logarithm.

    Weighted samples and matrices at another prevalence have no score limits. There the limits are those of the matrix
    with a sample spread over its cells.
    """
    xp, backend = task.backend.xp, task.backend
    low, high, _ = by_log
    error = smoothed[2]  # comparisons add squares of these errors
    missing = xp.isnan(low)
    if backend is NUMPY and not missing.any():
        return low, high, error
    if task.squares is not None or task.target is not None:
        others = smoothed[:2]
    elif backend is NUMPY:  # the search for score limits takes most of the time
        which = missing.reshape(len(missing), -1).any(axis=1)
        others = tuple(np.full_like(low, math.nan) for _ in range(2))
        for whole, part in zip(others, _by_score(task.part(which), measure, z), strict=True):
            whole[which] = part
    else:
        others = _by_score(task, measure, z)
    low, high = (xp.where(missing, other, limit) for other, limit in zip(others, (low, high), strict=True))
    return low, high, error


def _of_extreme(task: Task, extreme: Extreme) -> tuple[Array, Array, Array]:
    """Limits of the lowest or the highest value of the classes, from the limits of the classes."""
    values = values_of_classes(task, extreme)
    class_task = task._replace(measures=[extreme.each], estimates=[values])
    options = task.options._replace(level=level_of_all(task.options.level, extreme, values))
    (limits_of_all,), (limits_of_class,) = _limits(class_task._replace(options=options)), _limits(class_task)
    return of_classes(extreme, values, limits_of_all, limits_of_class, task.backend)


def _are_independent(measure: Measure, scheme: str) -> bool:
    """Whether the samples that a proportion counts are independent. With fixed rows, the samples of a row are.

    Samples of clusters are not independent. The formulas use the number of independent samples with the same variance.
    """
    return scheme != "rows" or measure.margin == "true"


def _trials(task: Task, measures: Sequence[Measure], which: Sequence[int]) -> list[tuple[Array, Array]]:
    """The number of independent trials of each proportion, and its standard error."""
    xp = task.backend.xp
    functions: list[Any] = [measure.trials for measure in measures]
    counts = evaluate(task.whole, functions, invalid="nan")
    share = [task.estimates[k] for k in which]
    if task.squares is not None:
        return _weighted_trials(task, measures, share, counts)
    if task.options.scheme != "clusters":
        return [(number, xp.sqrt(p * (1 - p) / number)) for p, number in zip(share, counts, strict=True)]
    of_clusters = evaluate(task.cells, functions, invalid="nan")
    values = score_of(measures, math.nan)(task.cells, task.workers)
    results, z = [], quantile_of(task)[0]
    for p, number, sizes, cluster_values in zip(share, counts, of_clusters, values, strict=True):
        deviations = xp.where(sizes > 0, (xp.where(sizes > 0, cluster_values, 0) - p[None, ...]) * sizes, 0)
        independent, samples = p * (1 - p), xp.where(number > 0, number, 1)
        spread, least, degrees = spread_of_clusters(deviations / samples, sizes, independent / samples, xp)
        varies = (spread > 0) & (independent > 0)
        # Without variation, each cluster may be a single trial.
        effective = xp.where(varies, independent / xp.where(varies, spread, 1), least)
        most = _most_trials(
            least, xp.sum(xp.astype((deviations != 0) & (xp.round(p) != cluster_values), number.dtype), axis=0), xp
        )
        most = xp.where(most < number, most, number)
        # The limits depend on z² / trials only: fewer degrees of freedom act like fewer trials.
        ratio = broadcast_to_values(z, p, xp) / student_quantiles(task.options.level, degrees, task.backend)
        adjusted = xp.where(varies, effective * ratio * ratio, effective)
        trials = xp.where(adjusted < most, adjusted, most)
        effective = xp.where(effective < most, effective, most)
        results.append(
            (trials, xp.sqrt(xp.where(independent > 0, independent / xp.where(effective > 0, effective, 1), 0)))
        )
    return results


def _most_trials(clusters: Array, varying: Array, xp: Any) -> Array:
    """The largest number of independent trials, by the number of clusters with the rarer outcome.

    If a few clusters have a single error each, the errors seem independent, perhaps by chance: a single error would
    then give a narrower interval than no error. So a cluster counts as more than a single trial only if several
    clusters, or a large share of all clusters, have errors.
    """
    others = xp.where(clusters > varying, clusters - varying, 1) / xp.where(clusters > 0, clusters, 1)
    known = (varying / CLUSTERS_THAT_VARY) ** 2 / others
    return xp.where(clusters > varying, clusters * (1 + known), math.inf)


def _weighted_trials(
    task: Task, measures: Sequence[Measure], share: Sequence[Array], weights: Sequence[Array]
) -> list[tuple[Array, Array]]:
    """The trials and errors of weighted samples, from the squared weights of the samples with either outcome.

    These sums are the values of the measure, and of its number of samples, for the matrix of squared weights.
    """
    xp = task.backend.xp
    functions: list[Any] = [measure.trials for measure in measures]
    squares = evaluate(task.squares, functions, invalid="nan")
    parts = score_of(measures, math.nan)(task.squares, task.workers)
    results = []
    for p, number, total, part in zip(share, weights, squares, parts, strict=True):
        hits = xp.where(total > 0, part, 0) * total
        spread = (hits * (1 - p) ** 2 + (total - hits) * p**2) / xp.where(number > 0, number, 1) ** 2
        varies = (spread > 0) & (p > 0) & (p < 1)
        trials = xp.where(varies, p * (1 - p) / xp.where(varies, spread, 1), kish(number, total, task.backend))
        results.append((trials, xp.sqrt(xp.where(varies, spread, 0))))
    return results


def _by_slopes(task: Task, which: Sequence[int], *, plain: bool) -> list[tuple[Array, Array, Array]]:
    """Limits by the delta method: plain, or with one sample added to the matrix and biased measures corrected."""
    backend, xp = task.backend, task.backend.xp
    options = task.options
    corrected = [formula_of(task.measures[k], options.method, options.scheme) == "corrected" for k in which]
    whole = task.whole if plain else task.whole + 1 / task.size
    squares = task.squares if plain or task.squares is None else task.squares + 1 / task.size
    derivatives = _slopes(task, whole, which, corrected)
    results = []
    for position, k in enumerate(which):
        value, bounds = derivatives.values[position], task.measures[k].range
        counts, first = at_samples(whole, derivatives.first[position], xp)
        of_shares = by_shares(first, whole, task)
        first = with_shares(first, of_shares, task)
        spread, z = spread_of(first, whole, task, squares, plain=plain)
        share_variance = None if of_shares is None else covariance_of(of_shares, of_shares, task)
        spread = spread if share_variance is None else spread + share_variance
        spread = xp.where(spread > noise_of(value, bounds, backend), spread, 0)
        error = xp.sqrt(spread)
        if not corrected[position] or derivatives.second is None:
            limits = around(value, error, z, bounds, backend)
            if not plain and options.scheme != "clusters":
                outer = _widened(limits, first, whole, squares, task, k, z, share_variance)
                if is_predictive_value(task, k):
                    outer = limits_with_shares(limits, outer, value, spread, share_variance, z, task, k)
                limits = outer
            results.append((*limits, error))
            continue
        varying = counts if squares is None else xp.reshape(squares, counts.shape)
        bias = xp.sum(varying * derivatives.second[position], axis=-1) / 2
        results.append((*around_corrected(value, spread, bias, z, bounds, backend), error))
    return results


def _widened(  # noqa: PLR0917 (the local variables of _by_slopes)
    limits: tuple[Array, Array],
    first: Array,
    whole: Array,
    squares: Array | None,
    task: Task,
    k: int,
    z: float,
    share_variance: Array | None,
) -> tuple[Array, Array]:
    """The wider limits: those given, or the score limits of the rows.

    The delta method uses the variance at the estimate. If the dominant class has few errors, a single error changes
    this variance much, and the coverage is too low. Measures without a bound are ratios of contributions of the
    classes, not sums: they keep their limits, which are on the scale of a logarithm. Numbers of samples are sums,
    and use the score limits of the rows alone.
    """
    backend, xp, bounds = task.backend, task.backend.xp, task.measures[k].range
    formula = formula_of(task.measures[k], task.options.method, task.options.scheme)
    if formula == "unbounded":
        return limits
    down, up = reaches_by_rows(first, whole, task.whole, z, task.options.scheme, backend, squares, share_variance)
    low, high = task.estimates[k] - down, task.estimates[k] + up
    low, high = xp.where(low < bounds[0], bounds[0], low), xp.where(high > bounds[1], bounds[1], high)
    # If the delta method gives no variation, there are no limits.
    if formula == "count":
        return xp.where(xp.isnan(limits[0]), limits[0], low), xp.where(xp.isnan(limits[1]), limits[1], high)
    return xp.where(low < limits[0], low, limits[0]), xp.where(high > limits[1], high, limits[1])


def quantile_of(task: Task) -> tuple[Any, Array | None]:
    """The distance of limits in standard errors, a number or (B,), and the clusters if these are random."""
    if task.options.scheme != "clusters":
        return normal_quantile(task.options.level), None
    xp = task.backend.xp
    number = xp.sum(xp.astype(xp.sum(task.cells, axis=(-2, -1)) > 0, task.whole.dtype), axis=0)
    if task.backend is not NUMPY:  # counting the clusters with samples would read values back from the device
        return student_quantiles(task.options.level, number - 1, task.backend), task.cells
    number, inverse = np.unique(number, return_inverse=True)
    known = np.asarray([student_quantile(task.options.level, int(size) - 1) for size in number])
    return known[inverse], task.cells


def broadcast_to_values(numbers: Any, values: Array, xp: Any) -> Any:
    """A number for each matrix (B,) in the shape of values (B,) or (B, C); a single number unchanged."""
    if np.ndim(numbers) == 0 or values.ndim == 1:
        return numbers
    return xp.broadcast_to(numbers[:, None], values.shape)


def at_samples(whole: Array, first: Array, xp: Any) -> tuple[Array, Array]:
    """The counts in the shape of the derivatives (B, k) or (B, C, k), and the derivatives by cells with samples.

    The derivative by an empty cell has no effect, and may be infinite.
    """
    counts = xp.reshape(whole, (whole.shape[0], *(1,) * (first.ndim - 2), first.shape[-1]))
    return counts, xp.where(counts > 0, first, 0)


def spread_of(first: Array, whole: Array, task: Task, squares: Array | None, *, plain: bool) -> tuple[Array, Any]:
    """The variance, and the distance of limits in standard errors.

    By default the variance of clusters is at least that of independent samples, because a few clusters may agree by
    chance. It is corrected for clusters of unequal sizes.
    """
    z, clusters = quantile_of(task)
    backend, xp = task.backend, task.backend.xp
    if clusters is None or plain:
        spread = variance(first, whole, task.options.scheme, clusters, backend, squares)
        return spread, broadcast_to_values(z, spread, xp)
    independent = variance(first, whole, "multinomial", None, backend)
    deviations, weights = contributions(first, whole, clusters, backend)
    of_clusters = spread_of_clusters(deviations, weights, independent, xp)
    spread = xp.where(of_clusters.variance > independent, of_clusters.variance, independent)
    return spread, student_quantiles(task.options.level, of_clusters.degrees, backend)


def noise_of(value: Array, bounds: Range, backend: Standard) -> Array:
    """The largest variance that counts as 0: a derivative of 0 leaves it after rounding and finite steps."""
    xp = backend.xp
    ends = [xp.abs(value - end) for end in bounds if math.isfinite(end)]
    room = xp.minimum(*ends) if len(ends) == 2 else (ends or [xp.abs(value)])[0]
    return (NOISE[xp.finfo(value.dtype).bits] * room) ** 2


def _slopes(task: Task, whole: Array, which: Sequence[int], corrected: Sequence[bool]) -> Slopes:
    """The first derivatives of the measures, and the second derivatives if needed."""

    def score(numbers: Sequence[int]) -> Score:
        return score_of([task.measures[k] for k in numbers], task.zero_division)

    if task.backend is NUMPY or not any(corrected):  # automatic differences return the second derivatives at no cost
        return slopes_of(task, whole, score(which), second=any(corrected))
    derivatives = slopes_of(task, whole, score(which), second=False)
    curved = [k for k, needed in zip(which, corrected, strict=True) if needed]
    second_derivatives = iter(slopes_of(task, whole, score(curved), second=True).second or [])
    return derivatives._replace(second=[next(second_derivatives) if needed else math.nan for needed in corrected])
