"""compare_models(): the best of several models, and the models that do not differ significantly from the best."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.draws import source_of
from matrics._arrays.draws.numpy import NumPySource
from matrics._arrays.sizes import check_draws
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import check_names
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import check_options
from matrics._engine.execution.blocks import in_threads
from matrics._errors import ArgumentError
from matrics._scoring.score import resolve
from matrics._uncertainty.arguments import by_class_names
from matrics._uncertainty.bias import NOTICEABLE
from matrics._uncertainty.interval import interval
from matrics._uncertainty.limits import normal_quantile, quantiles, spread, student_quantile
from matrics._uncertainty.measure import Measure, Score, Task, score_of
from matrics._uncertainty.model_samples import Draws, PairedSamples, named_models
from matrics._uncertainty.options import DEFAULT_NUM, Options, check_level
from matrics._uncertainty.results import Comparison, Interval, IntervalStatus, ModelComparison
from matrics._uncertainty.status import graver, graver_of, reasons, status_of
from matrics._uncertainty.weighted import effective
from matrics.typing import ArrayLike

# Replicates drawn and scored at a time; each chunk has a random stream.
REPLICATES_AT_ONCE = 256

# A standard error up to this number is due to rounding.
NOISE = 1e-12

# The largest number of standard errors whose probability double precision distinguishes from 0.
MOST_ERRORS = 7.0

# From this number of samples or clusters on, models may differ significantly although their difference does not vary.
FEW_UNITS = 20


def compare_models(
    y_true: ArrayLike,
    y_pred: ArrayLike | Mapping[str, ArrayLike],
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    clusters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    level: float = 0.95,
    num: int | None = None,
    rng: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> dict[str, ModelComparison]:
    """Compare several models on the same samples: which is best, and which are not significantly different from it.

    All models share the resampled samples, so what makes a sample hard for all of them cancels in their differences.

    Parameters
    ----------
    y_true : array_like of int, shape (N,)
        True labels.
    y_pred : array_like of int, shape (M, N), or mapping of str to array_like, shape (N,)
        The labels predicted by each of M models; a mapping has the names of the models, which results keep.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. A measure
        without a better direction raises an error.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: whole clusters are resampled.
    sample_weight : array_like, shape (N,), optional
        A weight for each sample, which it brings along whenever it is drawn; such as how many of the population it
        stands for. Only the ratios of weights matter: they are scaled to a mean of 1.
    ignore_index : int, or sequence of them, optional
        Samples with any of these true labels are left out; with ``labels`` it is a label, or several. A class of it
        takes no part in averages over classes.
    level : float, default 0.95
        The confidence level of the intervals. For ``tied`` it is the probability that the truly best model is among
        these models.
    num : int, optional
        Number of replicates; 10,000 if left out.
    rng : numpy.random.Generator or int, optional
        ``numpy.random.default_rng(seed)`` or a seed; new draws every time if left out.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the comparison of each class has its own key: ``recall/cat``.
    positive : hashable, optional
        The positive class: a label where there are ``labels``, a class name where there are ``class_names``, and an
        index otherwise. Per-class measures without an average are values of this class. Without it they are values of
        class 1 of two classes, and means over more (``macro``).

    Returns
    -------
    dict of str to ModelComparison
        Of each measure the interval of each model (M,), all differences (M, M), row less column, the probability of
        each model of being the best, and which models are not significantly different from the best; and the names of
        the models where ``y_pred`` has them.

    Raises
    ------
    ValueError
        The shapes do not fit, a label or a weight is out of range, no sample is left, or a measure has no better end.

    Notes
    -----
    A sample is drawn together with all its predictions. Intervals are those of :func:`matrics.interval`, of weighted
    samples with ``squared_weights``. The limits of all differences are as wide as the replicates are far from the
    estimate; so are the intervals of weighted samples without clusters for measures of the number of samples, such as
    the number of true positives. ``probability_best`` is the share of the replicates in which a model has the best
    value; ties are shared. Equal weights are as no weights.

    ``tied`` is corrected for the comparison of all models, by the maximum of the studentised differences of all pairs.
    In each replicate this is the largest distance of a difference from its estimate, in standard errors. The critical
    value is its quantile at ``level``. A model differs significantly from the best if their difference is more than so
    many standard errors away from 0. The critical value is corrected for few samples or clusters by the ratio of
    Student's quantile to the normal quantile. So the truly best model is among the tied models with a probability of
    ``level``. In simulations with 20 to 100 clusters and 6 to 10 equal models, some of these are not tied in 4 to 7 %
    of data sets for a ``level`` of 0.95.

    Examples
    --------
    >>> import matrics, numpy
    >>> y_true = numpy.arange(300) % 3
    >>> random = numpy.random.default_rng(0)
    >>> y_pred = [numpy.where(random.random(300) < p, y_true, 0) for p in (0.9, 0.88, 0.6)]
    >>> result = matrics.compare_models(y_true, y_pred, "accuracy", num_classes=3, rng=0)["accuracy"]
    >>> result.intervals.estimate.round(2)
    array([0.91, 0.93, 0.72])
    >>> result.tied  # the third model is worse
    array([ True,  True, False])
    >>> by_name = dict(zip(["forest", "boosting", "tree"], y_pred))
    >>> result = matrics.compare_models(y_true, by_name, "accuracy", num_classes=3, rng=0)["accuracy"]
    >>> [name for name, tied in zip(result.names, result.tied) if tied]
    ['forest', 'boosting']
    """
    level = check_level(level)
    check_options(zero_division, "nan", workers)
    num = DEFAULT_NUM if num is None else check_draws(num)
    names, y_pred = named_models(y_pred)
    samples = PairedSamples.of(y_true, y_pred, num_classes, labels, clusters, sample_weight, ignore_index)
    n, labels = samples.classes.number, samples.classes.labels
    of_names = check_names(class_names, n)
    of_classes = Classes.of(n, of_names if labels is None else labels, positive, left_out=samples.left_out)
    chosen = resolve(metrics, of_classes)
    measures = [Measure.of(metric) for metric in chosen.values()]
    undirected = [measure.name for measure in measures if measure.higher_is_better is None]
    if undirected:
        raise ArgumentError("metrics", f"expected measures with a better direction, got {', '.join(undirected[:5])}")
    draws = Draws.of(samples)
    replicates = _replicates(draws, score_of(measures, float(zero_division)), num, rng, workers)
    of_formulas = _of_formulas(samples, draws, list(chosen.values()), level=level, zero_division=zero_division)
    results = {}
    with NUMPY.quiet():
        options = Options(level, "bootstrap", "multinomial", num)
        for key, metric, measure, values in zip(chosen, chosen.values(), measures, replicates, strict=True):
            result = of_formulas.get(str(metric))
            if result is None:
                (result,) = _by_replicates(
                    samples, [values], [measure], score_of([measure], float(zero_division)), options
                )
            status = result.status if measure.extreme is None else _with_bias(result, values)
            is_better = bool(measure.higher_is_better)
            results[key] = _comparison_of(result, values, status, draws, higher_is_better=is_better, level=level)
    return {key: result._replace(names=names) for key, result in by_class_names(results, chosen, class_names).items()}


def intervals_are_of_replicates(metric: Metric, *, weighted: bool, clustered: bool) -> bool:
    """Whether the interval of each model comes from its replicates, and not from :func:`matrics.interval`.

    A measure that depends on the number of samples has no limits by squared weights.
    """
    return weighted and not clustered and not metric.scale_free


def _of_formulas(
    samples: PairedSamples, draws: Draws, metrics: Sequence[Metric], *, level: float, zero_division: float
) -> dict[str, Interval]:
    """The intervals from :func:`matrics.interval`, for the measures that have such limits, by name."""
    weights, of_clusters = samples.weights, draws.of_clusters
    about: dict[str, Any] = {"weighted": weights is not None, "clustered": of_clusters is not None}
    chosen = [metric for metric in metrics if not intervals_are_of_replicates(metric, **about)]
    options: dict[str, Any] = {"level": level, "zero_division": zero_division}
    if not chosen:
        return {}
    if of_clusters is not None:
        return interval(of_clusters, chosen, cluster_axis=0, **options)
    squares = None if weights is None else samples.matrices(weights**2)
    return interval(samples.matrices(weights), chosen, squared_weights=squares, **options)


def _by_replicates(
    samples: PairedSamples, replicates: Sequence[Array], measures: Sequence[Measure], score: Score, options: Options
) -> list[Interval]:
    """The interval of each model from its replicates: symmetric about the estimate, and within the range."""
    assert samples.weights is not None  # noqa: S101 (the caller has looked)
    weighted = samples.matrices(samples.weights)
    estimates = score(weighted, 1)
    cells, squares = effective(weighted, samples.matrices(samples.weights**2), NUMPY)
    task = Task(cells, cells, estimates, measures, score, options, math.nan, 1, NUMPY, squares)
    valid = np.ones(len(cells), bool)
    intervals = []
    for measure, estimate, drawn in zip(measures, estimates, replicates, strict=True):
        values = np.moveaxis(drawn, 0, -1)
        error, undefined = spread(values, NUMPY)
        deviations = np.abs(values - estimate[..., None])
        half_width = quantiles(deviations, [np.full(estimate.shape, options.level)], NUMPY)[0]
        half_width = np.where(error > NOISE, half_width * widening_factor(options.level, len(samples.true)), math.nan)
        low, high = (np.clip(estimate + side * half_width, *measure.range) for side in (-1, 1))
        samples_status = status_of(task, valid, measure)
        known, has_limits, status = reasons(estimate, (low, high, error, undefined), samples_status, valid, task)
        low, high = (np.where(has_limits, limit, math.nan) for limit in (low, high))
        intervals.append(Interval(estimate, low, high, np.where(known, error, math.nan), undefined, status))
    return intervals


def widening_factor(level: float, units: float) -> float:
    """The factor that widens limits from the replicates of a few units.

    These replicates vary too little, as does their variance: Student's distribution has heavier tails.
    """
    degrees = max(units - 1, 1)
    return student_quantile(level, degrees) / normal_quantile(level) * math.sqrt(units / degrees)


def _critical(largest: Array, level: float, units: float) -> Array:
    """The critical value of the largest of many differences, from its quantile in standard errors among replicates.

    The largest difference is further out in the tails than a single difference, and there Student's tails are heavier
    still. So the factor is that of the level at which a single difference would be as far away.
    """
    errors = np.ravel(largest).tolist()
    levels = [max(level, math.erf(min(error, MOST_ERRORS) / math.sqrt(2))) for error in errors]
    return np.reshape(
        [error * widening_factor(error_level, units) for error, error_level in zip(errors, levels, strict=True)],
        largest.shape,
    )


def _replicates(draws: Draws, score: Score, num: int, rng: Any, workers: int) -> list[Array]:
    """The values of every measure for all replicates of all models: (num, M) or (num, M, C)."""
    source = source_of(rng)
    if not isinstance(source, NumPySource):
        raise TypeError("rng: expected a seed or numpy.random.default_rng(seed), as labels are counted on the host")
    total = draws.counts.sum()
    starts = range(0, num, REPLICATES_AT_ONCE)
    streams = source.split(len(starts))
    chunks: list[Any] = [None] * len(starts)
    step = draws.at_once

    def work(share: Any) -> None:
        for position in share:
            size = min(REPLICATES_AT_ONCE, num - starts[position])
            weights = streams[position].multinomial(np.asarray([total]), (draws.counts / total)[None], size)[:, 0]
            parts = [score(draws.matrices(weights[k : k + step]), 1) for k in range(0, size, step)]
            chunks[position] = [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]

    threads = workers if workers > 0 else os.cpu_count() or 1
    in_threads(work, [range(k, len(starts), threads) for k in range(min(threads, len(starts)))])
    return [np.concatenate(parts) for parts in zip(*chunks, strict=True)]


def _with_bias(interval_of_models: Interval, replicates: Array) -> Array:
    """The status of models for differences of a lowest value, whose replicates (num, M) may be biased."""
    noticeable = NOTICEABLE + 2 / math.sqrt(len(replicates))  # the mean of a few replicates has an error as well
    is_biased = np.abs(np.nanmean(replicates, axis=0) - interval_of_models.estimate) > noticeable * np.nanstd(
        replicates, axis=0
    )
    return np.where(is_biased & (interval_of_models.status == 0), int(IntervalStatus.BIASED), interval_of_models.status)


def _comparison_of(
    intervals: Interval, replicates: Array, status: Array, draws: Draws, *, higher_is_better: bool, level: float
) -> ModelComparison:
    """The comparison of the models by replicates (num, M) or (num, M, C) of a measure; units are samples or clusters.

    ``status`` is the status of the models for differences.
    """
    units, effective = draws.units, draws.effective
    values, estimate = np.moveaxis(replicates, 0, -1), np.asarray(intervals.estimate)
    models, rest = len(estimate), estimate.shape[1:]
    gap = estimate[:, None] - estimate[None, :]
    error, half_width, above = np.zeros(gap.shape), np.full(gap.shape, math.nan), np.full(gap.shape, 0.5)
    largest = np.zeros((*rest, values.shape[-1]))
    levels = np.full(rest, level)
    factor = widening_factor(level, effective)
    for i, j in itertools.combinations(range(models), 2):
        drawn = values[i] - values[j]
        deviations = np.abs(drawn - gap[i, j][..., None])
        error[i, j] = error[j, i] = spread(drawn, NUMPY)[0]
        half_width[i, j] = half_width[j, i] = factor * quantiles(deviations, [levels], NUMPY)[0]
        above[i, j] = (drawn > 0).mean(-1) + (drawn == 0).mean(-1) / 2
        above[j, i] = 1 - above[i, j]
        varies = error[i, j] > NOISE
        scaled = deviations / np.where(varies, error[i, j], math.inf)[..., None]
        largest = np.fmax(largest, scaled)  # skips NaN, the value of undefined replicates
    critical = _critical(quantiles(largest, [levels], NUMPY)[0], level, effective)
    side = 1 if higher_is_better else -1
    ranked = np.where(np.isnan(values), -math.inf, side * values)
    is_best = ranked == ranked.max(axis=0)
    known = ~np.isnan(estimate)
    probability = np.where(known.any(axis=0), (is_best / is_best.sum(axis=0)).mean(axis=-1), math.nan)
    best = np.argmax(np.where(known, side * estimate, -math.inf), axis=0)[None]
    behind = side * (np.take_along_axis(estimate, best, axis=0) - estimate)
    of_best = np.take_along_axis(error, np.broadcast_to(best[None], (models, 1, *rest)), axis=1)[:, 0]
    # Without variation, a few units are not enough for a decision.
    tied = known & ((behind <= critical * of_best) | ((of_best <= NOISE) & (units < FEW_UNITS)))
    has_limits = ~np.isnan(gap) & (error > NOISE)
    status = graver_of(status[:, None], status[None, :], np)
    status = graver(status, {IntervalStatus.NO_VARIATION: ~has_limits & ~np.isnan(gap)}, np)
    differences = Comparison(
        gap,
        np.where(has_limits, gap - half_width, math.nan),
        np.where(has_limits, gap + half_width, math.nan),
        np.where(np.isnan(gap), math.nan, error),
        np.where(np.isnan(gap), math.nan, above if higher_is_better else 1 - above),
        status,
    )
    return ModelComparison(intervals, differences, probability, tied)
