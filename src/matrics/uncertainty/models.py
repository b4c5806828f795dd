"""Which of several models is best, and which cannot be told from it: compare_models()."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from matrics import _backend
from matrics._backend import NUMPY, Array
from matrics._draws import source_of
from matrics._draws.numpy import NumPySource
from matrics.build import confusion_matrix
from matrics.catalogue.record import Metric
from matrics.coding import as_codes, check_classes
from matrics.evaluation import check_options
from matrics.labels import check_count
from matrics.roads.blocks import in_threads
from matrics.scoring import resolve
from matrics.typing import ArrayLike
from matrics.uncertainty.interval import interval
from matrics.uncertainty.limits import normal_quantile, quantiles, spread, student_quantile
from matrics.uncertainty.measure import Measure, Score, score_of
from matrics.uncertainty.options import DEFAULT_NUM, check_level
from matrics.uncertainty.results import Comparison, Interval, IntervalStatus, ModelComparison

# Replicates that are drawn and scored at a time, each with a stream of its own.
REPLICATES_AT_ONCE = 256

# Cells of replicates that a thread counts and scores at a time: 64 MiB of them.
CELLS_AT_ONCE = 2**23

# A standard error up to this is rounding.
NOISE = 1e-12

# Samples, or clusters, from which on models may be told apart although their difference does not vary.
FEW_UNITS = 20


def compare_models(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    num: int | None = None,
    rng: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> dict[str, ModelComparison]:
    """Compare several models on the same samples: which is best, and which cannot be told from it.

    All models share the resampled samples, so what makes a sample hard for all of them cancels in their differences.

    Parameters
    ----------
    y_true : array_like of int, shape (N,)
        True labels.
    y_pred : array_like of int, shape (M, N)
        The labels predicted by each of M models.
    metrics : str, Metric, or several of them
        As in :func:`matrics.score`; measures of which neither higher nor lower values are better are an error.
    num_classes : int
        Number of classes, n; labels are 0 to n - 1.
    labels : sequence of text, integers or other hashables
        In place of ``num_classes``: the label of each class.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: whole clusters are resampled.
    level : float, default 0.95
        The probability with which intervals are to hold the truth; of ``tied``, that with which the truly best model is
        among them.
    num : int, optional
        Number of replicates; 10,000 if left out.
    rng : numpy.random.Generator or int, optional
        ``numpy.random.default_rng(seed)`` or a seed; new draws every time if left out.
    zero_division, workers
        As in :func:`matrics.interval`.

    Returns
    -------
    dict of str to ModelComparison
        Of each measure the interval of each model (M,), all differences (M, M), row less column, the probability of
        each model of being the best, and which models cannot be told from the best.

    Raises
    ------
    ValueError
        The shapes do not fit, a label is out of range, or a measure has no better end.

    Notes
    -----
    A sample and all that is predicted of it is drawn as one. Intervals are those of :func:`matrics.interval`; limits of
    differences are z standard errors away, as found among the replicates. ``probability_best`` is the share of the
    replicates in which a model has the best value; ties are shared.

    ``tied`` is corrected for looking at all models: a model is told from the best if their difference is more standard
    errors away from 0 than the largest of all pairwise differences is from its estimate, in all but 1 - ``level`` of
    the replicates (the maximum of the studentised differences of all pairs). So the truly best model is among the tied
    ones with a probability of ``level``, whichever it is.

    Examples
    --------
    >>> import matrics, numpy
    >>> y_true = numpy.arange(300) % 3
    >>> random = numpy.random.default_rng(0)
    >>> y_pred = [numpy.where(random.random(300) < p, y_true, 0) for p in (0.9, 0.88, 0.6)]
    >>> found = matrics.compare_models(y_true, y_pred, "accuracy", num_classes=3, rng=0)["accuracy"]
    >>> found.intervals.estimate.round(2)
    array([0.91, 0.93, 0.72])
    >>> found.tied  # the third is worse
    array([ True,  True, False])
    """
    level, chosen = check_level(level), resolve(metrics)
    check_options(zero_division, "nan", workers)
    num = DEFAULT_NUM if num is None else check_count(num, "num")
    measures = [Measure.of(metric) for metric in chosen.values()]
    undirected = [measure.name for measure in measures if measure.higher_is_better is None]
    if undirected:
        raise ValueError(
            f"metrics: expected measures of which higher or lower values are better, got {', '.join(undirected[:5])}"
        )
    true, predictions, n = _labels(y_true, y_pred, num_classes, labels)
    matrices = confusion_matrix(true, predictions, num_classes=n)
    draws = _Draws.of(true, predictions, n, clusters)
    cells = matrices if draws.of_clusters is None else draws.of_clusters
    axis = None if draws.of_clusters is None else 0
    intervals = interval(cells, chosen.values(), level=level, cluster_axis=axis, zero_division=zero_division)
    score = score_of(measures, float(zero_division))
    replicates = _replicates(draws, score, num, rng, workers)
    results = {}
    for key, measure, values in zip(chosen, measures, replicates, strict=True):
        one = intervals[str(chosen[key])]
        with NUMPY.quiet():
            results[key] = _compared(
                one, values, higher_is_better=bool(measure.higher_is_better), level=level, units=draws.units
            )
    return results


class _Draws:
    """What is drawn: distinct samples and how often each occurs, or clusters."""

    def __init__(self, cells: Array, counts: Array, n: int, of_clusters: Array | None) -> None:
        self.cells = cells  # (M, U): the cell of each distinct sample in the matrix of each model
        self.counts = counts  # (U,)
        self.n = n
        self.of_clusters = of_clusters  # (K, M, n, n)
        self.units = int(counts.sum())

    @classmethod
    def of(cls, true: Array, predictions: Array, n: int, clusters: Any) -> _Draws:
        """Count the distinct samples in one pass, or the matrices of the clusters."""
        cells = true * n + predictions
        models = len(cells)
        if clusters is None:
            distinct, counts = np.unique(cells, axis=1, return_counts=True)
            return cls(distinct, counts, n, None)
        names = np.asarray(clusters)
        if names.shape != true.shape:
            raise ValueError(f"clusters: expected one for each sample, {true.shape}, got shape {names.shape}")
        missing = [k for k, name in enumerate(names.tolist()) if name is None or name != name]  # noqa: PLR0124 (NaN)
        if missing:
            raise ValueError(f"clusters: expected a value for each sample, got {names[missing[0]]} at {missing[0]}")
        _, code = np.unique(names, return_inverse=True)
        number = int(code.max()) + 1 if code.size else 0
        if number < 2:
            raise ValueError(f"clusters: expected at least two, got {number}")
        bins = (code * models + np.arange(models)[:, None]) * n * n + cells
        counted = np.bincount(bins.ravel(), minlength=number * models * n * n)
        return cls(cells, np.ones(number), n, counted.reshape(number, models, n, n))

    @property
    def at_once(self) -> int:
        """How many replicates are counted and scored at a time: many classes and models would fill the memory."""
        return max(1, CELLS_AT_ONCE // (len(self.cells) * self.n**2))

    def matrices(self, weights: Array) -> Array:
        """The matrices (R, M, n, n) of replicates in which each distinct sample or cluster has these weights (R, U)."""
        if self.of_clusters is not None:
            number, models = self.of_clusters.shape[:2]
            flat = self.of_clusters.reshape(number, -1).astype(np.float64)
            return (weights.astype(np.float64) @ flat).reshape(len(weights), models, self.n, self.n)
        models, size = len(self.cells), self.n**2
        bins = (self.cells + size * np.arange(models)[:, None]).ravel()
        found = [np.bincount(bins, np.tile(row, models), models * size) for row in weights]
        return np.stack(found).reshape(len(weights), models, self.n, self.n)


def _labels(y_true: Any, y_pred: Any, num_classes: Any, labels: Any) -> tuple[Array, Array, int]:
    """Numbers of classes on the host: (N,) and (M, N)."""
    classes = check_classes(num_classes, labels)
    if classes.labels is not None:
        y_true, y_pred, _ = as_codes(classes.labels, y_true, y_pred, None, may_drop=False)
    backend, (true, predictions) = _backend.as_arrays(y_true=y_true, y_pred=y_pred)
    true, predictions = backend.to_numpy(true), backend.to_numpy(predictions)
    fits = true.ndim == 1 and predictions.ndim == 2 and predictions.shape[1:] == true.shape
    if not (fits and predictions.size):
        raise ValueError(
            "expected true labels (N,) and those predicted by M models (M, N), got y_true "
            f"{true.shape}, y_pred {predictions.shape}"
        )
    confusion_matrix(true, predictions, num_classes=classes.number)  # raises for what are no labels
    return true.astype(np.int64), predictions.astype(np.int64), classes.number


def _replicates(draws: _Draws, score: Score, num: int, rng: Any, workers: int) -> list[Array]:
    """The values of every measure for all replicates of all models: (num, M) or (num, M, C)."""
    source = source_of(rng)
    if not isinstance(source, NumPySource):
        raise TypeError("rng: expected a seed or numpy.random.default_rng(seed), as labels are counted on the host")
    total = draws.counts.sum()
    starts = range(0, num, REPLICATES_AT_ONCE)
    streams = source.split(len(starts))
    found: list[Any] = [None] * len(starts)
    step = draws.at_once

    def work(share: Any) -> None:
        for position in share:
            size = min(REPLICATES_AT_ONCE, num - starts[position])
            weights = streams[position].multinomial(np.asarray([total]), (draws.counts / total)[None], size)[:, 0]
            parts = [score(draws.matrices(weights[k : k + step]), 1) for k in range(0, size, step)]
            found[position] = [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]

    threads = workers if workers > 0 else os.cpu_count() or 1
    in_threads(work, [range(k, len(starts), threads) for k in range(min(threads, len(starts)))])
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


def _compared(one: Interval, replicates: Array, *, higher_is_better: bool, level: float, units: int) -> ModelComparison:
    """What the replicates (num, M) or (num, M, C) say of one measure; units are samples, or clusters."""
    values, estimate = np.moveaxis(replicates, 0, -1), np.asarray(one.estimate)
    models, rest = len(estimate), estimate.shape[1:]
    gap = estimate[:, None] - estimate[None, :]
    error, reach, above = np.zeros(gap.shape), np.full(gap.shape, math.nan), np.full(gap.shape, 0.5)
    largest = np.zeros((*rest, values.shape[-1]))
    wanted = np.full(rest, level)
    # Of few units the replicates vary too little, as does their variance: Student's distribution has heavier tails.
    wider = student_quantile(level, units - 1) / normal_quantile(level) * math.sqrt(units / max(units - 1, 1))
    for i, j in itertools.combinations(range(models), 2):
        drawn = values[i] - values[j]
        away = np.abs(drawn - gap[i, j][..., None])
        error[i, j] = error[j, i] = spread(drawn, NUMPY)[0]
        reach[i, j] = reach[j, i] = wider * quantiles(away, [wanted], NUMPY)[0]
        above[i, j] = (drawn > 0).mean(-1) + (drawn == 0).mean(-1) / 2
        above[j, i] = 1 - above[i, j]
        varies = error[i, j] > NOISE
        scaled = away / np.where(varies, error[i, j], math.inf)[..., None]
        largest = np.fmax(largest, scaled)  # NaN, of undefined replicates, is passed over
    critical = wider * quantiles(largest, [wanted], NUMPY)[0]
    side = 1 if higher_is_better else -1
    ranked = np.where(np.isnan(values), -math.inf, side * values)
    is_best = ranked == ranked.max(axis=0)
    known = ~np.isnan(estimate)
    probability = np.where(known.any(axis=0), (is_best / is_best.sum(axis=0)).mean(axis=-1), math.nan)
    best = np.argmax(np.where(known, side * estimate, -math.inf), axis=0)[None]
    behind = side * (np.take_along_axis(estimate, best, axis=0) - estimate)
    of_best = np.take_along_axis(error, np.broadcast_to(best[None], (models, 1, *rest)), axis=1)[:, 0]
    # Where nothing varies a few units tell nothing.
    tied = known & ((behind <= critical * of_best) | ((of_best <= NOISE) & (units < FEW_UNITS)))
    has_limits = ~np.isnan(gap) & (error > NOISE)
    status = np.maximum(one.status[:, None], one.status[None, :])
    status = np.where(has_limits | np.isnan(gap), status, int(IntervalStatus.NO_VARIATION))
    differences = Comparison(
        gap,
        np.where(has_limits, gap - reach, math.nan),
        np.where(has_limits, gap + reach, math.nan),
        np.where(np.isnan(gap), math.nan, error),
        np.where(np.isnan(gap), math.nan, above if higher_is_better else 1 - above),
        status,
    )
    return ModelComparison(one, differences, probability, tied)
