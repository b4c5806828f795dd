"""compare(): comparison of models by measures of their scores on the same samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays, on_host
from matrics._arrays.draws import generator_of
from matrics._arrays.frames import by_columns, cells, column_names, is_frame
from matrics._engine.evaluation import check_options
from matrics._errors import ArgumentError
from matrics._quoting import first_twice, quoted
from matrics._ranking.inference.interval import AverageOfInterval, check_average_of_interval
from matrics._ranking.inference.measure_estimates import (
    LimitOptions,
    MeasureEstimates,
    Method,
    check_method,
    estimate_all,
)
from matrics._ranking.inference.names import CURVES, ScoreMeasure, read_measures
from matrics._ranking.inference.samples import Samples
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Comparison, Interval, IntervalStatus, ModelComparison
from matrics._uncertainty.status import graver, graver_of
from matrics.typing import ArrayLike

# Draws of the estimates of more than two models.
NUM_DRAWS = 20_000
# Smaller standard errors are rounding errors.
NOISE = 1e-12
# Draws of two models are equal if they differ by less than this share of the largest deviation.
ROUNDING = 1e-6


def compare(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike],
    metrics: str | Iterable[str] | None = None,
    *,
    average: AverageOfInterval | None = "auto",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    ignore_index: Any = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    method: Method = "auto",
    num: int | None = None,
    rng: Any = None,
    workers: int = 1,
) -> dict[str, ModelComparison]:
    """Compare models by measures of their scores on the same samples: differences, p-values, and which are best.

    All models have the same samples, so the difficulty of a sample that all models share cancels in their differences.
    The test of areas under the ROC curve is DeLong's; with ``clusters``, Obuchowski's.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``. They
        are the same for all models.
    y_score : array_like, shape (*B, M, N) or (*B, M, N, n), or mapping of str to array_like
        The scores of M models for class 1 of two, or for each of n classes; a mapping has the names of the models,
        which results keep, and the scores (*B, N) or (*B, N, n) of each. So does a data frame with a column for each.
    metrics : str or sequence of str, optional
        Names of measures of scores: ``roc_auc``, ``average_precision``, ``log_loss``, ``brier_score`` and
        ``recall_at_specificity(specificity=0.9)``, with any number for the specificity. If left out, the first two, and
        the next two where all scores are in [0, 1].
    average : {"auto", "macro", "class"} or None, default "auto"
        Of the measures of curves with scores of n classes, each against the rest: ``"auto"`` is the value of class 1 of
        two, and the mean over more classes; or that mean, or every class (``None`` or ``"class"``).
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With scores of n classes it selects this class, against the
        rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out.
    clusters : array_like, shape (N,), optional
        The cluster of each sample, such as its patient, document or image: samples of a cluster may be alike.
    level : float, default 0.95
        The coverage of the limits.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The elements of a
        batch are computed in parallel.
    method : {"auto", "delong", "logit", "bootstrap"}
        How limits are formed. ``"auto"`` is the method that holds with few samples, as the notes of
        :func:`matrics.ranking.interval` explain. ``"delong"`` is the area and a number of standard errors to either
        side, as in most packages. ``"logit"`` is the same on the scale of the logit, of both areas. ``"bootstrap"`` is
        the quantiles of samples, or clusters, that are drawn anew. The variances of differences are then those of the
        replicates. Otherwise they follow from the influence of each sample, and of points of curves, and of the k
        highest scores, from a paired bootstrap.
    num : int, optional
        Number of replicates where there are any; 2,000 if left out.
    rng : numpy.random.Generator or int, optional
        Where random numbers come from, or a seed: for the replicates, and for the draws by which more than two models
        are ranked, whose seed is 0 if left out.

    Returns
    -------
    dict of str to ModelComparison
        Of each measure the interval of each model (*B, M), all differences (*B, M, M), row less column, their p-values,
        the probability of each model of being the best, and which models are not significantly different from the
        best. With ``average=None`` the classes are the last axis.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.interval`; the shapes are not those of several models.

    Notes
    -----
    Limits and p-values of differences are from a normal distribution, as DeLong's are. Two models that rank all samples
    alike have the difference 0, no limits, and the p-value 1. For how often the test finds a difference where there is
    none, see :doc:`/ranking_limits`.

    ``tied`` is corrected for looking at all models: a difference from the best is significant if it is more standard
    errors away from 0 than the largest of all pairwise differences is from its estimate, in 1 - ``level`` of the draws.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988, "Comparing the areas under two or more correlated receiver operating
    characteristic curves: a nonparametric approach"; Obuchowski 1997, "Nonparametric analysis of clustered ROC curve
    data".

    Examples
    --------
    >>> import matrics, numpy
    >>> random = numpy.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 400)
    >>> difficulty = random.normal(size=400)  # for both models
    >>> y_score = {"net": 2 * y_true + difficulty, "tree": y_true + difficulty + random.normal(size=400)}
    >>> comparison = matrics.ranking.compare(y_true, y_score, "roc_auc")["roc_auc"]
    >>> comparison.intervals.estimate.round(3)
    array([0.931, 0.678])
    >>> comparison.differences.difference[0, 1].round(3), comparison.differences.low[0, 1].round(3)
    (np.float64(0.253), np.float64(0.212))
    >>> bool(comparison.p_value[0, 1] < 0.001), comparison.tied
    (True, array([ True, False]))
    """
    level = check_level(level)
    check_options(float("nan"), "nan", workers)
    y_true = on_host(y_true, "y_true")
    shape = np.asarray(y_true).shape
    names, scores = named_scores(y_score, axis=len(shape) - 1)
    has_classes = _has_classes(shape, scores)
    samples = Samples.of(
        y_true if len(shape) == 1 else np.expand_dims(np.asarray(y_true), -2),  # all models share the labels
        scores,
        positive,
        ignore_index,
        clusters,
        "compare",
        labels=labels,
        lower_is_positive=lower_is_positive,
        has_models=True,
        has_classes=has_classes,
    )
    method_of_average = check_average_of_interval(average, samples.num_classes, positive)
    measures = read_measures(metrics, are_probabilities=samples.are_probabilities)
    unknown = [name for name, measure in measures.items() if measure.kind == "calibration"]
    if unknown:
        raise ArgumentError(
            "metrics",
            f"expected measures with a known covariance, got {', '.join(unknown)}, whose size depends on the "
            "number of samples; compare log_loss or brier_score",
        )
    options = LimitOptions(
        level, method, check_method(method, measures, num, None), rng, method_of_average == "macro", workers
    )
    estimates = estimate_all(samples, measures, options)
    draws = generator_of(0 if rng is None else rng)
    results = {}
    for name, measure in measures.items():
        by_class = method_of_average == "class" and measure.kind in CURVES
        comparison = _compared(estimates[name], measure, level, draws)
        class_index = 1 if method_of_average == "binary" and measure.kind in CURVES else 0
        results[name] = _finished(comparison, samples, class_index, by_class=by_class)._replace(names=names)
    return results


def _compared(
    estimates: MeasureEstimates, measure: ScoreMeasure, level: float, rng: np.random.Generator
) -> ModelComparison:
    """The comparison of all elements and classes, (B, C, M, …)."""
    intervals, covariance, sign = estimates.interval, estimates.covariance, 1 if measure.higher_is_better else -1
    # A model with an infinite loss is worse than others, but the difference has no limits.
    estimate = np.where(np.isfinite(intervals.estimate), intervals.estimate, math.nan)
    gap = estimate[..., :, None] - estimate[..., None, :]
    variances = np.diagonal(covariance, axis1=-2, axis2=-1)
    variance_of_gap = variances[..., :, None] + variances[..., None, :] - 2 * covariance
    # The difference of two equal variances is a rounding error.
    variance_of_gap = np.where(
        variance_of_gap > NOISE * (variances[..., :, None] + variances[..., None, :]), variance_of_gap, 0
    )
    error = np.where(np.isnan(gap), math.nan, np.sqrt(variance_of_gap))
    varies = error > NOISE
    z = np.where(varies, gap / np.where(varies, error, 1), np.where(gap == 0, 0, math.nan))
    p_value = np.where(np.isnan(z), math.nan, 2 * NUMPY.normal_cdf(-np.abs(np.where(np.isnan(z), 0, z))))
    half_width = np.where(varies, normal_quantile(level) * error, math.nan)
    above = np.where(np.isnan(z), math.nan, NUMPY.normal_cdf(np.where(np.isnan(z), 0, sign * z)))
    status = graver_of(intervals.status[..., :, None], intervals.status[..., None, :], np)
    status = graver(status, {IntervalStatus.NO_VARIATION: ~varies & ~np.isnan(gap)}, np)
    differences = Comparison(gap, gap - half_width, gap + half_width, error, above, status)
    critical, best = _best_probabilities(estimate, covariance, error, sign, level, rng)
    is_known = ~np.isnan(estimate)
    first = np.argmax(np.where(is_known, sign * estimate, -math.inf), axis=-1)[..., None]
    behind_best = sign * (np.take_along_axis(estimate, first, -1) - estimate)
    error_to_best = np.take_along_axis(error, first[..., None], axis=-2)[..., 0, :]
    error_to_best = np.where(np.isnan(error_to_best), 0, error_to_best)
    # Without variation, a few samples do not show a difference.
    few = np.asarray(intervals.status) != int(IntervalStatus.OK)
    tied = is_known & ((behind_best <= critical[..., None] * error_to_best) | ((error_to_best <= NOISE) & few))
    return ModelComparison(intervals, differences, best, tied, p_value=p_value)


def _best_probabilities(  # noqa: PLR0917 (a step of ``_compared``)
    estimate: Array, covariance: Array, error: Array, sign: int, level: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The critical value of standardised differences (B, C), and the probability of being the best (B, C, M)."""
    models = estimate.shape[-1]
    critical = np.full(estimate.shape[:-1], normal_quantile(level))
    if models == 1:
        return critical, np.where(np.isnan(estimate), math.nan, 1.0)
    if models == 2:
        gap, spread = sign * (estimate[..., 0] - estimate[..., 1]), error[..., 0, 1]
        varies = spread > NOISE
        # Without variation the first model is certainly better, worse, or equally good.
        z_without_error = np.where(gap > 0, math.inf, np.where(gap < 0, -math.inf, 0))
        first_is_best = NUMPY.normal_cdf(np.where(varies, gap / np.where(varies, spread, 1), z_without_error))
        first_is_best = np.where(np.isnan(gap), np.where(np.isnan(estimate[..., 0]), 0.0, 1.0), first_is_best)
        best = np.stack([first_is_best, 1 - first_is_best], axis=-1)
        return critical, np.where(np.isnan(estimate).all(axis=-1, keepdims=True), math.nan, best)
    best = np.full(estimate.shape, math.nan)
    upper = np.triu_indices(models, 1)
    for element in np.ndindex(estimate.shape[:-1]):
        is_known = ~np.isnan(estimate[element])
        if not is_known.any():
            continue
        values, vectors = np.linalg.eigh(np.where(is_known[:, None] & is_known, covariance[element], 0))
        deviations = rng.standard_normal((NUM_DRAWS, models)) * np.sqrt(np.maximum(values, 0)) @ vectors.T
        draws = np.where(is_known, sign * (estimate[element] + deviations), -math.inf)
        # Draws of models with equal scores differ by rounding errors.
        is_best = draws >= draws.max(axis=-1, keepdims=True) - ROUNDING * np.abs(deviations).max(axis=-1, keepdims=True)
        best[element] = (is_best / is_best.sum(axis=-1, keepdims=True)).mean(axis=0)
        largest_deviation = np.zeros(NUM_DRAWS)
        for i, j in zip(*upper, strict=True):
            if error[element][i, j] > NOISE:
                largest_deviation = np.maximum(
                    largest_deviation, np.abs(deviations[:, i] - deviations[:, j]) / error[element][i, j]
                )
        critical[element] = np.quantile(largest_deviation, level)
    return critical, best


def _finished(comparison: ModelComparison, samples: Samples, class_index: int, *, by_class: bool) -> ModelComparison:
    """The comparison with fields (*B, M) and (*B, M, M), from (B, C, M) and (B, C, M, M); the classes are last."""

    def finished(x: Array) -> Array:
        values = np.moveaxis(x, 1, -1) if by_class else x[:, class_index]
        return samples.read.finish(values.reshape((*samples.shape, *values.shape[1:])))

    return ModelComparison(
        Interval(*map(finished, comparison.intervals)),
        Comparison(*map(finished, comparison.differences)),
        finished(comparison.probability_best),
        finished(comparison.tied),
        p_value=finished(comparison.p_value),
    )


def _has_classes(labels: tuple[int, ...], scores: Any) -> bool:
    """Whether scores have an axis of classes in addition to the axis of models."""
    shape = tuple(as_arrays(y_score=scores)[1][0].shape)
    if not labels or len(shape) - len(labels) not in {1, 2}:
        raise ValueError(
            "expected true labels (N,) and scores (M, N) of M models, or (M, N, n) of n classes, after the same axes "
            f"of a batch, got y_true {labels}, y_score {shape}"
        )
    if not shape[len(labels) - 1]:
        raise ArgumentError("y_score", f"expected the scores of at least one model, got shape {shape}")
    return len(shape) - len(labels) == 2


def named_scores(y_score: Any, argument: str = "y_score", *, axis: int = 0) -> tuple[tuple[str, ...] | None, Any]:
    """The names of the models and their stacked scores, from a mapping or a data frame; arrays have no names."""
    if is_frame(y_score):  # with a column for each model
        y_score = dict(zip(column_names(y_score), cells(y_score).T, strict=True))
    if not isinstance(y_score, Mapping):
        return None, y_score
    names = tuple(map(str, y_score))
    if not names or len(set(names)) < len(names):
        raise ArgumentError(
            argument,
            "expected scores by names of models, got "
            + (f"{quoted(first_twice(names))} twice" if names else "an empty mapping"),
        )
    scores_by_name = {
        f"{argument}[{quoted(name)}]": by_columns(scores_of_model) if is_frame(scores_of_model) else scores_of_model
        for name, scores_of_model in zip(names, y_score.values(), strict=True)
    }
    backend, rows = as_arrays(**scores_by_name)
    if len({tuple(row.shape) for row in rows}) > 1:
        raise ArgumentError(
            argument,
            "expected the scores of each model for the same samples, got "
            + ", ".join(f"{quoted(name)} {tuple(row.shape)}" for name, row in zip(names[:8], rows, strict=False)),
        )
    if rows[0].ndim <= axis:
        raise ArgumentError(
            argument, f"expected the scores of each model in the shape of the labels, got {tuple(rows[0].shape)}"
        )
    return names, backend.xp.stack(rows, axis=axis)
