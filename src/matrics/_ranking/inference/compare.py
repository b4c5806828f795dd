"""compare(): models by measures of their scores on the same samples."""

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
from matrics._ranking.inference.measured import Manner, Measured, Method, check_method, measure_all
from matrics._ranking.inference.names import CURVES, Named, read_measures
from matrics._ranking.inference.samples import Samples
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.options import check_level
from matrics._uncertainty.results import Comparison, Interval, IntervalStatus, ModelComparison
from matrics._uncertainty.status import graver, graver_of
from matrics.typing import ArrayLike

# Draws of the estimates of more than two models.
NUM_DRAWS = 20_000
# Standard errors up to this are rounding.
NOISE = 1e-12
# Draws of two models that are this much of the largest deviation apart are the same.
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

    All models have the same samples, so what makes a sample hard for all of them cancels in their differences. Of the
    area under the ROC curve the test is DeLong's, and of samples in clusters Obuchowski's.

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
    >>> hard = random.normal(size=400)  # what both models find hard
    >>> y_score = {"net": 2 * y_true + hard, "tree": y_true + hard + random.normal(size=400)}
    >>> found = matrics.ranking.compare(y_true, y_score, "roc_auc")["roc_auc"]
    >>> found.intervals.estimate.round(3)
    array([0.931, 0.678])
    >>> found.differences.difference[0, 1].round(3), found.differences.low[0, 1].round(3)
    (np.float64(0.253), np.float64(0.212))
    >>> bool(found.p_value[0, 1] < 0.001), found.tied
    (True, array([ True, False]))
    """
    level = check_level(level)
    check_options(float("nan"), "nan", workers)
    y_true = on_host(y_true, "y_true")
    shape = np.asarray(y_true).shape
    names, scores = named_scores(y_score, axis=len(shape) - 1)
    has_classes = _has_classes(shape, scores)
    samples = Samples.of(
        y_true if len(shape) == 1 else np.expand_dims(np.asarray(y_true), -2),  # one set of labels for all
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
    chosen = check_average_of_interval(average, samples.num_classes, positive)
    measures = read_measures(metrics, are_probabilities=samples.are_probabilities)
    unknown = [name for name, measure in measures.items() if measure.kind == "calibration"]
    if unknown:
        raise ArgumentError(
            "metrics",
            f"expected measures with a known covariance, got {', '.join(unknown)}, whose size depends on the "
            "number of samples; compare log_loss or brier_score",
        )
    manner = Manner(level, method, check_method(method, measures, num, None), rng, chosen == "macro", workers)
    found = measure_all(samples, measures, manner)
    draws = generator_of(0 if rng is None else rng)
    results = {}
    for name, measure in measures.items():
        by_class = chosen == "class" and measure.kind in CURVES
        compared = _compared(found[name], measure, level, draws)
        place = 1 if chosen == "binary" and measure.kind in CURVES else 0
        results[name] = _finished(compared, samples, place, by_class=by_class)._replace(names=names)
    return results


def _compared(found: Measured, measure: Named, level: float, rng: np.random.Generator) -> ModelComparison:
    """The comparison of all elements and classes, (B, C, M, …)."""
    one, covariance, side = found.interval, found.covariance, 1 if measure.higher_is_better else -1
    # A model with an infinite loss is worse than others, by nothing that has limits.
    estimate = np.where(np.isfinite(one.estimate), one.estimate, math.nan)
    gap = estimate[..., :, None] - estimate[..., None, :]
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    square = own[..., :, None] + own[..., None, :] - 2 * covariance
    # What is left of two equal variances is rounding.
    square = np.where(square > NOISE * (own[..., :, None] + own[..., None, :]), square, 0)
    error = np.where(np.isnan(gap), math.nan, np.sqrt(square))
    varies = error > NOISE
    z = np.where(varies, gap / np.where(varies, error, 1), np.where(gap == 0, 0, math.nan))
    p_value = np.where(np.isnan(z), math.nan, 2 * NUMPY.normal_cdf(-np.abs(np.where(np.isnan(z), 0, z))))
    reach = np.where(varies, normal_quantile(level) * error, math.nan)
    above = np.where(np.isnan(z), math.nan, NUMPY.normal_cdf(np.where(np.isnan(z), 0, side * z)))
    status = graver_of(one.status[..., :, None], one.status[..., None, :], np)
    status = graver(status, {IntervalStatus.NO_VARIATION: ~varies & ~np.isnan(gap)}, np)
    differences = Comparison(gap, gap - reach, gap + reach, error, above, status)
    critical, best = _of_all(estimate, covariance, error, side, level, rng)
    known = ~np.isnan(estimate)
    first = np.argmax(np.where(known, side * estimate, -math.inf), axis=-1)[..., None]
    behind = side * (np.take_along_axis(estimate, first, -1) - estimate)
    of_best = np.take_along_axis(error, first[..., None], axis=-2)[..., 0, :]
    of_best = np.where(np.isnan(of_best), 0, of_best)
    # Without variation, few samples are not enough for a decision.
    few = np.asarray(one.status) != int(IntervalStatus.OK)
    tied = known & ((behind <= critical[..., None] * of_best) | ((of_best <= NOISE) & few))
    return ModelComparison(one, differences, best, tied, p_value=p_value)


def _of_all(  # noqa: PLR0917 (one step of ``_compared``)
    estimate: Array, covariance: Array, error: Array, side: int, level: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The largest standardised difference that chance explains (B, C), and the probability of being best (B, C, M)."""
    models = estimate.shape[-1]
    critical = np.full(estimate.shape[:-1], normal_quantile(level))
    if models == 1:
        return critical, np.where(np.isnan(estimate), math.nan, 1.0)
    if models == 2:
        gap, spread = side * (estimate[..., 0] - estimate[..., 1]), error[..., 0, 1]
        varies = spread > NOISE
        # Without variation the first is better for certain, worse, or as good.
        certain = np.where(gap > 0, math.inf, np.where(gap < 0, -math.inf, 0))
        first = NUMPY.normal_cdf(np.where(varies, gap / np.where(varies, spread, 1), certain))
        first = np.where(np.isnan(gap), np.where(np.isnan(estimate[..., 0]), 0.0, 1.0), first)
        best = np.stack([first, 1 - first], axis=-1)
        return critical, np.where(np.isnan(estimate).all(axis=-1, keepdims=True), math.nan, best)
    best = np.full(estimate.shape, math.nan)
    upper = np.triu_indices(models, 1)
    for place in np.ndindex(estimate.shape[:-1]):
        known = ~np.isnan(estimate[place])
        if not known.any():
            continue
        values, vectors = np.linalg.eigh(np.where(known[:, None] & known, covariance[place], 0))
        moved = rng.standard_normal((NUM_DRAWS, models)) * np.sqrt(np.maximum(values, 0)) @ vectors.T
        drawn = np.where(known, side * (estimate[place] + moved), -math.inf)
        # Draws of models that are alike differ by rounding.
        is_best = drawn >= drawn.max(axis=-1, keepdims=True) - ROUNDING * np.abs(moved).max(axis=-1, keepdims=True)
        best[place] = (is_best / is_best.sum(axis=-1, keepdims=True)).mean(axis=0)
        largest = np.zeros(NUM_DRAWS)
        for i, j in zip(*upper, strict=True):
            if error[place][i, j] > NOISE:
                largest = np.maximum(largest, np.abs(moved[:, i] - moved[:, j]) / error[place][i, j])
        critical[place] = np.quantile(largest, level)
    return critical, best


def _finished(found: ModelComparison, samples: Samples, place: int, *, by_class: bool) -> ModelComparison:
    """From (B, C, M) and (B, C, M, M) to (*B, M) and (*B, M, M), with the classes last if there are any."""

    def one(x: Array) -> Array:
        own = np.moveaxis(x, 1, -1) if by_class else x[:, place]
        return samples.read.finish(own.reshape((*samples.shape, *own.shape[1:])))

    return ModelComparison(
        Interval(*map(one, found.intervals)),
        Comparison(*map(one, found.differences)),
        one(found.probability_best),
        one(found.tied),
        p_value=one(found.p_value),
    )


def _has_classes(labels: tuple[int, ...], scores: Any) -> bool:
    """Whether scores have an axis of classes, besides that of the models."""
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
    """The names of models and their scores, with an axis of models, of a mapping; anything else has no names."""
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
    given = {
        f"{argument}[{quoted(name)}]": by_columns(one) if is_frame(one) else one
        for name, one in zip(names, y_score.values(), strict=True)
    }
    backend, rows = as_arrays(**given)
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
