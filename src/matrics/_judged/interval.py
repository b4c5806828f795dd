"""interval(): confidence limits of measures of samples that mostly have only the labels of a judge."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._arrays.sizes import check_draws
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import check_options
from matrics._judged.correction import (
    Correction,
    Design,
    answered,
    cells_of,
    check_answered,
    check_method,
    squares_of,
    unprojected,
)
from matrics._judged.counts import JudgedCounts
from matrics._judged.estimates import Estimate, Judged, estimates_of
from matrics._judged.replicates import limits_of_replicates
from matrics._judged.strata import identity, strata_of
from matrics._quoting import quoted
from matrics._uncertainty.arguments import by_class_names, metrics_of
from matrics._uncertainty.interval import interval as interval_of_counts
from matrics._uncertainty.interval import on_host
from matrics._uncertainty.limits import around, normal_quantile, wilson
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import DEFAULT_NUM, Options, check_level
from matrics._uncertainty.results import Interval, IntervalStatus
from matrics._uncertainty.status import UNDEFINED_SHARE, at_best, graver
from matrics._uncertainty.weighted import kish

#: The method of confidence limits: derivatives, or quantiles of replicates.
LimitsBy = Literal["auto", "delta", "bootstrap"]

# In simulations, the coverage is below the level with fewer labels of a true class, fewer labels with or without errors
# of the model, and a larger share of samples in strata with too few labels.
LABELS_OF_A_CLASS, EITHER_OUTCOME, LABELS_OF_A_STRATUM, THIN_SHARE = 10, 5, 2, 0.02


def interval(
    counts: JudgedCounts,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    level: float = 0.95,
    method: Correction = "auto",
    design: Design = "random",
    limits: LimitsBy = "auto",
    num: int | None = None,
    rng: Any = None,
    zero_division: float = math.nan,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    workers: int = 1,
) -> dict[str, Interval]:
    """Confidence intervals of measures of all samples, which a judge and, in part, people have labelled.

    Parameters
    ----------
    counts : JudgedCounts
        From :func:`matrics.judged.count`.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    method : {"auto", "post_stratified", "tuned", "rogan_gladen", "labelled", "judge"}
        How the judge's errors are corrected; see the notes. ``"tuned"`` takes the λ with the smallest variance for each
        measure.
    design : {"random", "strata"}
        How the samples with true labels were chosen: at random from all samples; or at random from those with the same
        judge's label and prediction, with any share of each. The second is for ``"auto"`` and ``"post_stratified"``.
    limits : {"auto", "delta", "bootstrap"}
        How limits are formed; see the notes. ``"auto"`` is ``"delta"``.
    num : int, optional
        Number of replicates of the bootstrap; 10,000 if left out.
    rng : Generator, key or int, optional
        Where random numbers of the bootstrap come from: ``numpy.random.default_rng(seed)``, a ``torch.Generator`` or
        a key of ``jax.random.key(seed)``, which decides the library and the device of the draws. An integer is a seed
        for NumPy. New draws every time if left out.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the interval of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    dict of str to Interval
        With ``effective_labels``: the number of labelled samples that would have this standard error without a judge.

    Raises
    ------
    TypeError
        ``counts`` are not JudgedCounts, or ``rng`` is a generator of another library.
    ValueError
        An option has an invalid value, or two options contradict each other.

    Notes
    -----
    The variance is the sum of the variance between strata and the variance of the true labels within strata. The latter
    is divided by the number of labels minus 1. Each stratum gets half a label in addition, with the true labels of all
    predictions, as a few labels that agree would otherwise have no variance. The limits use Student's distribution with
    Satterthwaite's degrees of freedom. The labels show few errors of a good judge, or none, and the variance within
    strata would be too small. If fewer than five errors change the measure, up to four errors are therefore added, as
    many as are compatible with labels without an error (unless the labels show thirty errors of the judge of any kind).
    Proportions have Wilson's limits for the number of samples with this variance. Other measures have limits on the
    scale of a logit or a logarithm, which stay in the range of the measure. ``"judge"`` and ``"labelled"`` have the
    limits of :func:`matrics.interval`; with ``"judge"``, they do not account for errors of the judge.

    The bootstrap draws samples with and without labels anew, and corrects each replicate; with ``design="strata"`` it
    draws labels within the strata. Replicates have no errors of the judge that the labels do not show; where the delta
    method would add such errors, the status is 8, few true labels. Weighted samples and ``"tuned"`` have no bootstrap.

    Examples
    --------
    >>> import matrics
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 4000)
    >>> y_judge = np.where(random.random(4000) < 0.9, y_true, 1 - y_true)
    >>> y_pred = np.where(random.random(4000) < 0.8, y_true, 1 - y_true)
    >>> counts = matrics.judged.count(y_true, y_judge, y_pred, labelled=np.arange(4000) < 300, num_classes=2)
    >>> for method in ["labelled", "judge", "auto"]:
    ...     interval = matrics.judged.interval(counts, "accuracy", method=method)["accuracy"]
    ...     print(f"{method}: {interval.low:.3f} to {interval.high:.3f}")
    labelled: 0.737 to 0.829
    judge: 0.727 to 0.754
    auto: 0.762 to 0.825
    >>> print(f"worth {interval.effective_labels:.0f} labels; the accuracy of all: {(y_true == y_pred).mean():.3f}")
    worth 636 labels; the accuracy of all: 0.800
    """
    options = read_options(level, method, design, limits, num=num, rng=rng)
    check_options(zero_division, "nan", workers)
    if method in ("labelled", "judge"):
        names: dict[str, Any] = {"class_names": class_names, "positive": positive, "zero_division": zero_division}
        names |= {"level": level, "num": num, "rng": rng, "workers": workers}
        return _uncorrected(counts, metrics, method, options.method, names)
    home, cube, plane, valid = cells_of(counts)
    metrics_by_name = metrics_of(metrics, cube.shape[-1], class_names, positive)
    measures = [Measure.of(metric) for metric in metrics_by_name.values()]
    is_weighted = counts.labelled_squares is not None
    if is_weighted and options.method == "bootstrap":
        raise ValueError("limits: expected 'delta' for weighted samples, got 'bootstrap', which has no weights")
    squares = squares_of(counts, cube, plane, home)
    tables: list[Array] = [cube, plane, *squares]
    if method == "rogan_gladen":
        check_answered(tables, [answered(table) for table in tables], home)
        tables = [answered(table) for table in tables]
    arrays = [home.detached(table) for table in tables]
    views = [view for view in (on_host(array, home, rng, options) for array in (*arrays, valid)) if view is not None]
    is_on_host = len(views) == len(arrays) + 1
    backend = NUMPY if is_on_host else home
    if is_on_host:
        *arrays, valid = views
        arrays = [np.asarray(array, np.float64) for array in arrays]
    cube, plane, first, second = arrays
    batch, (number, n) = tuple(plane.shape[:-2]), plane.shape[-2:]
    xp, count = backend.xp, math.prod(batch)
    squares = (xp.reshape(first, (count, n, number, n)), xp.reshape(second, (count, number, n)))
    flat = (xp.reshape(cube, (count, n, number, n)), xp.reshape(plane, (count, number, n)))
    judged = Judged(*flat, squares, "post_stratified" if method == "auto" else method, design, backend)
    with backend.quiet():
        fields_of_all = _intervals(
            judged, measures, xp.reshape(valid, (count,)), options, rng, float(zero_division), workers
        )
    results = []
    for fields in fields_of_all:
        parts = [xp.reshape(part, (*batch, *part.shape[1:])) for part in fields]
        results.append(Interval(*(home.from_host(np.asarray(part)[()]) if is_on_host else part for part in parts)))
    return by_class_names(dict(zip(metrics_by_name, results, strict=True)), metrics_by_name, class_names)


def read_options(level: Any, method: Any, design: Any, limits: Any, *, num: Any, rng: Any) -> Options:
    """The options with their defaults; their method is the method of the limits."""
    check_method(method, design)
    if limits not in get_args(LimitsBy):
        raise ValueError(f"limits: expected one of {', '.join(map(repr, get_args(LimitsBy)))}, got {quoted(limits)}")
    if limits == "bootstrap" and method == "tuned":
        raise ValueError(
            "limits: expected 'delta' with method='tuned', which chooses its λ by derivatives, got 'bootstrap'"
        )
    for name, value in (("num", num), ("rng", rng)):
        if value is not None and limits != "bootstrap":
            raise ValueError(
                f"{name}: expected None, because limits={quoted(limits)} does not resample, got {quoted(value)}"
            )
    options = Options(check_level(level), "bootstrap" if limits == "bootstrap" else "delta", "multinomial", DEFAULT_NUM)
    return options if num is None else options._replace(num=check_draws(num))


def _intervals(  # noqa: PLR0917 (one call of interval)
    judged: Judged,
    measures: Sequence[Measure],
    valid: Array,
    options: Options,
    rng: Any,
    zero_division: float,
    workers: int,
) -> list[tuple[Array, ...]]:
    """The fields of the intervals of all measures."""
    backend, xp = judged.backend, judged.backend.xp
    estimates = estimates_of(judged, measures, zero_division, workers)
    integer = backend.widest_int(judged.plane) or xp.int32
    replicates = None
    if options.method == "bootstrap" and judged.plane.shape[0]:
        values = [estimate.value for estimate in estimates]
        replicates = limits_of_replicates(judged, measures, values, options, rng, zero_division, workers)
    few = few_labels(judged)
    results = []
    for k, (measure, estimate) in enumerate(zip(measures, estimates, strict=True)):
        if replicates is None:
            low, high = limits_of(estimate, measure, options.level, backend)
            error, undefined = xp.sqrt(estimate.spread.variance), xp.astype(xp.zeros_like(estimate.value), integer)
        else:
            low, high, error, undefined = replicates[k]
        is_valid, has_few_labels = (x[:, None] if estimate.value.ndim > 1 else x for x in (valid, few))
        if replicates is not None:  # replicates lack the errors of the judge that no label shows
            has_few_labels = has_few_labels | estimate.few_errors
        known = ~xp.isnan(estimate.value) & is_valid
        has_limits = known & ~xp.isnan(low) & ~xp.isnan(high) & (low != high)
        conditions = {
            IntervalStatus.FEW_LABELS: has_few_labels,
            IntervalStatus.UNDEFINED_REPLICATES: undefined > int(UNDEFINED_SHARE * options.num),
            IntervalStatus.NO_VARIATION: ~has_limits,
            IntervalStatus.UNDEFINED: ~known,
            IntervalStatus.INVALID: ~is_valid,
        }
        status = graver(undefined * 0 + at_best(measure, judged.plane.shape[-1]), conditions, xp)
        low, high = (xp.where(has_limits, limit, math.nan) for limit in (low, high))
        value, error = xp.where(is_valid, estimate.value, math.nan), xp.where(known, error, math.nan)
        effective_labels = estimate.effective_labels
        if replicates is not None:
            effective_labels = (
                effective_labels * estimate.spread.variance / xp.where(error > 0, error * error, math.nan)
            )
        results.append((value, low, high, error, undefined, status, xp.where(known, effective_labels, math.nan)))
    return results


def limits_of(estimate: Estimate, measure: Measure, level: float, backend: Standard) -> tuple[Array, Array]:
    """Limits by the delta method, with the first terms of Student's quantile (Fisher and Cornish 1960)."""
    variance, degrees, unseen = estimate.spread
    return around_estimate(estimate.value, estimate.near, variance, measure, level, backend, degrees, unseen)


def around_estimate(  # noqa: PLR0917 (the properties of an estimate)
    estimate: Array,
    near: Array,
    variance: Array,
    measure: Measure,
    level: float,
    backend: Standard,
    degrees: Array | float = 1e9,
    unseen: Array | None = None,
) -> tuple[Array, Array]:
    """Limits of an estimate with this variance: Wilson's for proportions, otherwise on the scale of the measure.

    ``near`` is the value at which the variance was computed, for estimates at the end of their range. ``unseen`` is the
    part of the variance from errors that labels do not show; the number of samples for Wilson's limits includes them.
    """
    xp, (least, most) = backend.xp, measure.range
    z = normal_quantile(level)
    quantile = z + (z**3 + z) / (4 * (xp.where(degrees < 1, 1, degrees) if hasattr(degrees, "shape") else degrees))
    if measure.trials is not None:
        inside = (near > 0) & (near < 1) & (variance > 0)
        spread = _spread_of_sample(near, unseen, xp)
        trials = xp.where(inside, spread / xp.where(variance > 0, variance, 1), 0)
        return wilson(estimate, trials, quantile, backend)
    value = xp.where((estimate > least) & (estimate < most), estimate, near)
    error = xp.sqrt(variance)
    low, high = around(value, error, quantile, measure.range, backend)
    if math.isfinite(most - least):
        # Close to an end of the range, logits are too skewed: the limits are those of a proportion of the range.
        share = (value - least) / (most - least)
        inside = (share > 0) & (share < 1) & (variance > 0)
        squared = (most - least) ** 2
        spread = squared * _spread_of_sample(share, None if unseen is None else unseen / squared, xp)
        size = xp.where(inside, spread / xp.where(variance > 0, variance, 1), 0)
        ends = wilson(xp.where(inside, share, 0.5), size, quantile, backend)
        near_end = inside & ((value - least < error) | (most - value < error))
        low, high = (
            xp.where(near_end, least + end * (most - least), limit)
            for end, limit in zip(ends, (low, high), strict=True)
        )
    low = xp.where((estimate < low) & (estimate >= least), estimate, low)
    return low, xp.where((estimate > high) & (estimate <= most), estimate, high)


def _spread_of_sample(share: Array, unseen: Array | None, xp: Any) -> Array:
    """The variance of a sample of a proportion, which errors that labels do not show move towards 1/2."""
    if unseen is not None:
        by = xp.sqrt(unseen)
        above = xp.where(share - by > 0.5, share - by, 0.5)
        below = xp.where(share + by < 0.5, share + by, 0.5)
        share = xp.where(share > 0.5, above, below)
    return share * (1 - share)


def few_labels(judged: Judged) -> Array:
    """Which tables (B,) have too few labels for limits with the right coverage."""
    backend, xp = judged.backend, judged.backend.xp
    strata = strata_of(judged.cube, judged.sizes, judged.squares[0], judged.design, backend)
    total = xp.sum(strata.sizes, axis=(-2, -1))
    thin = xp.sum(xp.where(strata.labels < LABELS_OF_A_STRATUM, strata.sizes, 0), axis=(-2, -1))
    few = thin > THIN_SHARE * total
    cells, squares = (xp.sum(x, axis=-2) for x in (judged.cube, judged.squares[0]))
    right = identity(cells, backend)
    for outcome in (right, 1 - right):
        number, squared = (xp.sum(x * outcome, axis=(-2, -1)) for x in (cells, squares))
        few = few | (kish(number, squared, backend) < EITHER_OUTCOME)
    of_class = kish(xp.sum(cells, axis=-1), xp.sum(squares, axis=-1), backend)
    is_there = xp.sum(judged.matrix(), axis=-1) > 0
    few = few | xp.any(is_there & (of_class < LABELS_OF_A_CLASS), axis=-1)
    if judged.method == "rogan_gladen":  # the inverse requires errors of the judge in each class
        wrong = 1 - identity(cells, backend)
        number, squared = (xp.sum(xp.sum(x, axis=-1) * wrong, axis=-1) for x in (judged.cube, judged.squares[0]))
        few = few | xp.any(is_there & (kish(number, squared, backend) < EITHER_OUTCOME), axis=-1)
    if judged.method in ("tuned", "rogan_gladen"):  # the delta method is not valid for projected columns
        few = few | xp.any(unprojected(judged.cube, judged.plane, judged.method, backend) < 0, axis=(-2, -1))
    return few


def _uncorrected(
    counts: JudgedCounts, metrics: Any, method: str, limits: str, options: dict[str, Any]
) -> dict[str, Interval]:
    """The limits without a correction: of the labelled samples, or of all samples with the judge's labels as true."""
    backend, cube, plane, valid = cells_of(counts)
    xp = backend.xp
    tables = [(cube, plane)]
    if counts.labelled_squares is not None:
        tables.append(squares_of(counts, cube, plane, backend))
    cells, *squares = (
        xp.sum(first, axis=-2) if method == "labelled" else answered(second + xp.sum(first, axis=-3))
        for first, second in tables
    )
    number = xp.sum(cells, axis=(-2, -1))
    if squares:
        number = kish(number, xp.sum(squares[0], axis=(-2, -1)), backend)
    cells = xp.where(valid[..., None, None], cells, math.nan)
    options |= {"method": "auto" if limits == "delta" else limits, "invalid": "nan"}
    intervals = interval_of_counts(cells, metrics, squared_weights=squares[0] if squares else None, **options)
    results = {}
    for key, result in intervals.items():
        num_labels = number[..., None] if result.estimate.ndim > number.ndim else number
        effective_labels = xp.where(
            xp.isnan(result.estimate), math.nan, num_labels if method == "labelled" else math.nan
        )
        results[key] = result._replace(effective_labels=effective_labels)
    return results
