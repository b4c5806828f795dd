"""interval(): limits of measures of a matrix whose true labels are mostly a judge's."""

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

#: How limits are formed: by derivatives, or as quantiles of replicates.
LimitsBy = Literal["auto", "delta", "bootstrap"]

# Below these, coverage was found to fall short of the level: labels of a true class, labels with and without errors of
# the model, and the share of samples in strata with too few labels.
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
    """Confidence intervals of measures of all samples, of which people have labelled some and a judge all.

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
        With ``effective_labels``: how many samples with true labels alone would give this standard error.

    Raises
    ------
    TypeError
        ``counts`` is something else, or ``rng`` of another library.
    ValueError
        An option has a value that does not exist, or one that others do not go with.

    Notes
    -----
    The variance has two parts: which samples there are, and which true labels those of each stratum have. The second
    is divided by the number of labels less one; each stratum gets half a label more, with the true labels of all
    predictions, so that few labels that agree do not seem certain; and limits are wider by Student's distribution with
    Satterthwaite's degrees of freedom. A good judge makes few errors among the labels, or none, and the second part
    would be nearly nothing: with fewer than five errors that move the measure, up to four more are added, as many as no
    error among the labels allows (unless the labels show thirty errors of the judge of any kind). Proportions have
    Wilson's limits for the number of samples with this variance, other measures limits on the scale of a logit or a
    logarithm, which keeps them in their range. ``"judge"`` and ``"labelled"`` give the limits of
    :func:`matrics.interval`: those of the judge do not contain its own errors.

    The bootstrap draws samples with and without labels anew, and corrects each replicate; with ``design="strata"`` it
    draws labels within the strata. It draws no errors of the judge that no label shows: where these are added to the
    variance, the status is 8, few true labels. It is not for weighted samples nor for ``"tuned"``.

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
    ...     found = matrics.judged.interval(counts, "accuracy", method=method)["accuracy"]
    ...     print(f"{method}: {found.low:.3f} to {found.high:.3f}")
    labelled: 0.737 to 0.829
    judge: 0.727 to 0.754
    auto: 0.762 to 0.825
    >>> print(f"worth {found.effective_labels:.0f} labels; the accuracy of all: {(y_true == y_pred).mean():.3f}")
    worth 636 labels; the accuracy of all: 0.800
    """
    asked = read_options(level, method, design, limits, num=num, rng=rng)
    check_options(zero_division, "nan", workers)
    if method in ("labelled", "judge"):
        names: dict[str, Any] = {"class_names": class_names, "positive": positive, "zero_division": zero_division}
        names |= {"level": level, "num": num, "rng": rng, "workers": workers}
        return _alone(counts, metrics, method, asked.method, names)
    home, cube, plane, valid = cells_of(counts)
    chosen = metrics_of(metrics, cube.shape[-1], class_names, positive)
    measures = [Measure.of(metric) for metric in chosen.values()]
    is_weighted = counts.labelled_squares is not None
    if is_weighted and asked.method == "bootstrap":
        raise ValueError("limits: expected 'delta' for weighted samples, got 'bootstrap', which draws whole samples")
    squares = squares_of(counts, cube, plane, home)
    tables: list[Array] = [cube, plane, *squares]
    if method == "rogan_gladen":
        check_answered(tables, [answered(table) for table in tables], home)
        tables = [answered(table) for table in tables]
    arrays = [home.detached(table) for table in tables]
    seen = [view for view in (on_host(array, home, rng, asked) for array in (*arrays, valid)) if view is not None]
    is_there = len(seen) == len(arrays) + 1
    backend = NUMPY if is_there else home
    if is_there:
        *arrays, valid = seen
        arrays = [np.asarray(array, np.float64) for array in arrays]
    cube, plane, first, second = arrays
    batch, (number, n) = tuple(plane.shape[:-2]), plane.shape[-2:]
    xp, count = backend.xp, math.prod(batch)
    squares = (xp.reshape(first, (count, n, number, n)), xp.reshape(second, (count, number, n)))
    flat = (xp.reshape(cube, (count, n, number, n)), xp.reshape(plane, (count, number, n)))
    judged = Judged(*flat, squares, "post_stratified" if method == "auto" else method, design, backend)
    with backend.quiet():
        found = _intervals(judged, measures, xp.reshape(valid, (count,)), asked, rng, float(zero_division), workers)
    results = []
    for one in found:
        parts = [xp.reshape(part, (*batch, *part.shape[1:])) for part in one]
        results.append(Interval(*(home.from_host(np.asarray(part)[()]) if is_there else part for part in parts)))
    return by_class_names(dict(zip(chosen, results, strict=True)), chosen, class_names)


def read_options(level: Any, method: Any, design: Any, limits: Any, *, num: Any, rng: Any) -> Options:
    """The options, all decided: the method of these is that of the limits."""
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
    asked: Options,
    rng: Any,
    zero_division: float,
    workers: int,
) -> list[tuple[Array, ...]]:
    """The fields of the intervals of B tables."""
    backend, xp = judged.backend, judged.backend.xp
    estimates = estimates_of(judged, measures, zero_division, workers)
    integer = backend.widest_int(judged.plane) or xp.int32
    drawn = None
    if asked.method == "bootstrap" and judged.plane.shape[0]:
        values = [estimate.value for estimate in estimates]
        drawn = limits_of_replicates(judged, measures, values, asked, rng, zero_division, workers)
    few = few_labels(judged)
    results = []
    for k, (measure, one) in enumerate(zip(measures, estimates, strict=True)):
        if drawn is None:
            low, high = limits_of(one, measure, asked.level, backend)
            error, undefined = xp.sqrt(one.spread.variance), xp.astype(xp.zeros_like(one.value), integer)
        else:
            low, high, error, undefined = drawn[k]
        good, thin = (x[:, None] if one.value.ndim > 1 else x for x in (valid, few))
        if drawn is not None:  # no replicate has errors of the judge that no label shows
            thin = thin | one.few_errors
        known = ~xp.isnan(one.value) & good
        has_limits = known & ~xp.isnan(low) & ~xp.isnan(high) & (low != high)
        found = {
            IntervalStatus.FEW_LABELS: thin,
            IntervalStatus.UNDEFINED_REPLICATES: undefined > int(UNDEFINED_SHARE * asked.num),
            IntervalStatus.NO_VARIATION: ~has_limits,
            IntervalStatus.UNDEFINED: ~known,
            IntervalStatus.INVALID: ~good,
        }
        status = graver(undefined * 0 + at_best(measure, judged.plane.shape[-1]), found, xp)
        low, high = (xp.where(has_limits, limit, math.nan) for limit in (low, high))
        value, error = xp.where(good, one.value, math.nan), xp.where(known, error, math.nan)
        worth = one.effective_labels
        if drawn is not None:
            worth = worth * one.spread.variance / xp.where(error > 0, error * error, math.nan)
        results.append((value, low, high, error, undefined, status, xp.where(known, worth, math.nan)))
    return results


def limits_of(one: Estimate, measure: Measure, level: float, backend: Standard) -> tuple[Array, Array]:
    """Limits by the delta method, with Student's quantile by its first terms (Fisher and Cornish 1960)."""
    variance, degrees, unseen = one.spread
    return around_estimate(one.value, one.near, variance, measure, level, backend, degrees, unseen)


def around_estimate(  # noqa: PLR0917 (an estimate, and what is known of it)
    estimate: Array,
    near: Array,
    variance: Array,
    measure: Measure,
    level: float,
    backend: Standard,
    degrees: Array | float = 1e9,
    unseen: Array | None = None,
) -> tuple[Array, Array]:
    """Limits of an estimate with this variance: Wilson's for proportions, others on the scale of the measure.

    ``near`` is the value by which the variance was found, for estimates at the end of their range. A part of the
    variance may be of ``unseen`` errors: Wilson's number of samples is that of a proportion with them.
    """
    xp, (least, most) = backend.xp, measure.range
    z = normal_quantile(level)
    reach = z + (z**3 + z) / (4 * (xp.where(degrees < 1, 1, degrees) if hasattr(degrees, "shape") else degrees))
    if measure.trials is not None:
        inside = (near > 0) & (near < 1) & (variance > 0)
        spread = _spread_of_one(near, unseen, xp)
        trials = xp.where(inside, spread / xp.where(variance > 0, variance, 1), 0)
        return wilson(estimate, trials, reach, backend)
    value = xp.where((estimate > least) & (estimate < most), estimate, near)
    error = xp.sqrt(variance)
    low, high = around(value, error, reach, measure.range, backend)
    if math.isfinite(most - least):
        # So near to an end of the range a logit is no scale: the limits are those of a proportion of the range.
        share = (value - least) / (most - least)
        inside = (share > 0) & (share < 1) & (variance > 0)
        squared = (most - least) ** 2
        spread = squared * _spread_of_one(share, None if unseen is None else unseen / squared, xp)
        size = xp.where(inside, spread / xp.where(variance > 0, variance, 1), 0)
        ends = wilson(xp.where(inside, share, 0.5), size, reach, backend)
        near_end = inside & ((value - least < error) | (most - value < error))
        low, high = (
            xp.where(near_end, least + end * (most - least), limit)
            for end, limit in zip(ends, (low, high), strict=True)
        )
    low = xp.where((estimate < low) & (estimate >= least), estimate, low)
    return low, xp.where((estimate > high) & (estimate <= most), estimate, high)


def _spread_of_one(share: Array, unseen: Array | None, xp: Any) -> Array:
    """The variance of one sample of a proportion, moved towards one half by the errors that labels do not show."""
    if unseen is not None:
        by = xp.sqrt(unseen)
        above = xp.where(share - by > 0.5, share - by, 0.5)
        below = xp.where(share + by < 0.5, share + by, 0.5)
        share = xp.where(share > 0.5, above, below)
    return share * (1 - share)


def few_labels(judged: Judged) -> Array:
    """Which tables (B,) have too few labels for limits that hold."""
    backend, xp = judged.backend, judged.backend.xp
    strata = strata_of(judged.cube, judged.sizes, judged.squares[0], judged.design, backend)
    total = xp.sum(strata.sizes, axis=(-2, -1))
    thin = xp.sum(xp.where(strata.labels < LABELS_OF_A_STRATUM, strata.sizes, 0), axis=(-2, -1))
    few = thin > THIN_SHARE * total
    cells, squares = (xp.sum(x, axis=-2) for x in (judged.cube, judged.squares[0]))
    right = identity(cells, backend)
    for chosen in (right, 1 - right):
        number, squared = (xp.sum(x * chosen, axis=(-2, -1)) for x in (cells, squares))
        few = few | (kish(number, squared, backend) < EITHER_OUTCOME)
    of_class = kish(xp.sum(cells, axis=-1), xp.sum(squares, axis=-1), backend)
    is_there = xp.sum(judged.matrix(), axis=-1) > 0
    few = few | xp.any(is_there & (of_class < LABELS_OF_A_CLASS), axis=-1)
    if judged.method == "rogan_gladen":  # whose inverse needs the judge's errors in each class
        wrong = 1 - identity(cells, backend)
        number, squared = (xp.sum(xp.sum(x, axis=-1) * wrong, axis=-1) for x in (judged.cube, judged.squares[0]))
        few = few | xp.any(is_there & (kish(number, squared, backend) < EITHER_OUTCOME), axis=-1)
    if judged.method in ("tuned", "rogan_gladen"):  # whose columns were projected, where the delta method fails
        few = few | xp.any(unprojected(judged.cube, judged.plane, judged.method, backend) < 0, axis=(-2, -1))
    return few


def _alone(
    counts: JudgedCounts, metrics: Any, method: str, limits: str, options: dict[str, Any]
) -> dict[str, Interval]:
    """The limits of the samples that people labelled, or of all with the judge's labels, as if these were true."""
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
    found = interval_of_counts(cells, metrics, squared_weights=squares[0] if squares else None, **options)
    results = {}
    for key, one in found.items():
        number_ = number[..., None] if one.estimate.ndim > number.ndim else number
        worth = xp.where(xp.isnan(one.estimate), math.nan, number_ if method == "labelled" else math.nan)
        results[key] = one._replace(effective_labels=worth)
    return results
