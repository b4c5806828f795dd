"""judged_compare(): two models on the same samples, which a judge has labelled, and people in part."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from matrics.arrays import NUMPY, Array, Standard, as_arrays
from matrics.arrays.sizes import check_size
from matrics.catalogue.record import Metric
from matrics.counting.codes import check_classes
from matrics.counting.jointly import count_jointly
from matrics.engine.evaluation import check_options
from matrics.judged.correction import Correction, Design
from matrics.judged.counts import JudgedCounts, judged_codes, squared
from matrics.judged.estimates import Estimate, Judged, estimates_of
from matrics.judged.influences import Influences
from matrics.judged.interval import few_labels, limits_of, read_options
from matrics.judged.results import JudgedComparison
from matrics.quoting import quoted
from matrics.typing import ArrayLike
from matrics.uncertainty.arguments import by_class_names, metrics_of
from matrics.uncertainty.compare import compare_paired
from matrics.uncertainty.differences import recovered
from matrics.uncertainty.interval import on_host
from matrics.uncertainty.measure import Measure
from matrics.uncertainty.results import IntervalStatus, PairedComparison


def judged_compare(
    a: ArrayLike,
    b: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    y_true: ArrayLike,
    y_judge: ArrayLike,
    labelled: ArrayLike | None = None,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    method: Correction = "auto",
    design: Design = "random",
    zero_division: float = math.nan,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
    workers: int = 1,
) -> dict[str, JudgedComparison]:
    """Compare two models on the same samples, of which people have labelled some and a judge all.

    Parameters
    ----------
    a, b : array_like, shape (*B, N)
        The labels that either model predicts. Counts do not say on which samples models differ.
    metrics : str, Metric, or several of them
        As in :func:`matrics.score`.
    y_true, y_judge, labelled, num_classes, labels, sample_weight
        As in :func:`matrics.judged_counts`.
    level, zero_division, class_names, positive, workers
        As in :func:`matrics.interval`. ``positive`` is a label where ``labels`` are given.
    method, design
        As in :func:`matrics.judged_interval`.

    Returns
    -------
    dict of str to JudgedComparison
        The difference a - b, its limits and standard error, the probability that a is better, and how many true labels
        alone would give this standard error.

    Raises
    ------
    ValueError
        A label is out of range, the shapes do not fit, or an option does not exist.
    TypeError
        ``a`` or ``b`` are counts.

    Notes
    -----
    Each sample has an influence on either estimate; the variance of the difference is that of the differences of both
    influences. Limits are combined from those of both models with their correlation (Zou and Donner 2008).

    Examples
    --------
    >>> import matrics
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 4000)
    >>> y_judge, a, b = (np.where(random.random(4000) < p, y_true, 1 - y_true) for p in (0.9, 0.85, 0.8))
    >>> found = matrics.judged_compare(
    ...     a, b, "accuracy", y_true=y_true, y_judge=y_judge, labelled=np.arange(4000) < 300, num_classes=2
    ... )["accuracy"]
    >>> print(f"{found.difference:.3f}, between {found.low:.3f} and {found.high:.3f}")
    0.029, between -0.007 and 0.064
    """
    for name, value in (("a", a), ("b", b)):
        if isinstance(value, JudgedCounts):
            raise TypeError(
                f"{name}: expected the labels that the model predicts, got JudgedCounts, which do not say on which "
                "samples the models differ"
            )
    asked = read_options(level, method, design, "auto", num=None, rng=None)
    check_options(zero_division, "nan", workers)
    classes = check_classes(num_classes, labels)
    n = classes.number
    check_size((n + 1) * n**3, num_classes=n)
    codes = judged_codes({"y_true": y_true, "y_judge": y_judge, "a": a, "b": b}, labelled, classes)
    numbers = {"y_true": n + 1, "y_judge": n, "a": n, "b": n}
    chosen = metrics_of(metrics, n, class_names or classes.labels, positive)  # type: ignore[arg-type]
    tables = [count_jointly(codes, numbers, sample_weight=sample_weight)]
    if sample_weight is not None:
        tables.append(count_jointly(codes, numbers, sample_weight=squared(sample_weight)))
    home, tables = as_arrays(**{f"table{k}": table for k, table in enumerate(tables)})
    if method in ("labelled", "judge"):
        if len(tables) > 1:
            raise ValueError(f"method: expected a corrected one for weighted samples, got {quoted(method)}")
        judge = home.xp.sum(tables[0], axis=-4)
        joint = home.xp.sum(tables[0][..., :n, :, :, :], axis=-3) if method == "labelled" else judge
        found = compare_paired(joint, list(chosen.values()), level=level, zero_division=zero_division, workers=workers)
        number = home.xp.sum(home.to_float(joint), axis=(-3, -2, -1))
        results = [_alone(one, number if method == "labelled" else number * math.nan, home) for one in found.values()]
        return by_class_names(dict(zip(chosen, results, strict=True)), chosen, class_names)
    tables = [home.to_float(table) for table in tables]
    seen = [view for view in (on_host(table, home, None, asked) for table in tables) if view is not None]
    is_there = len(seen) == len(tables)
    backend = NUMPY if is_there else home
    tables = [np.asarray(view, np.float64) for view in seen] if is_there else tables
    batch = tuple(tables[0].shape[:-4])
    pairs = [backend.xp.reshape(table, (math.prod(batch), n + 1, n, n, n)) for table in tables]
    measures = [Measure.of(metric) for metric in chosen.values()]
    with backend.quiet():
        differences = _differences(pairs, measures, method, design, asked.level, float(zero_division), workers, backend)
    results = []
    for fields in differences:
        parts = [backend.xp.reshape(part, (*batch, *part.shape[1:])) for part in fields]
        if is_there:
            parts = [home.from_host(np.asarray(part)[()]) for part in parts]
        results.append(JudgedComparison(*parts))
    return by_class_names(dict(zip(chosen, results, strict=True)), chosen, class_names)


def _alone(one: PairedComparison, number: Array, backend: Standard) -> JudgedComparison:
    """The comparison of samples whose labels are taken as true."""
    worth = number[..., None] if one.difference.ndim > number.ndim else number
    worth = backend.xp.where(backend.xp.isnan(one.difference), math.nan, worth)
    return JudgedComparison(*one[:6], worth)


def _differences(  # noqa: PLR0917 (one call of judged_compare)
    tables: Sequence[Array],
    measures: Sequence[Measure],
    method: Correction,
    design: Design,
    level: float,
    zero_division: float,
    workers: int,
    backend: Standard,
) -> list[tuple[Array, ...]]:
    """The fields of the comparisons of B tables [true or unlabelled, judge, a, b], and of squared weights."""
    xp, n = backend.xp, tables[0].shape[-1]
    both = [_of_model(tables, axis, method, design, backend) for axis in (-1, -2)]
    estimates = [estimates_of(judged, measures, zero_division, workers) for judged in both]
    squares = tables[-1]
    joint = (squares[..., :n, :, :, :], squares[..., n, :, :, :])
    few = few_labels(both[0]) | few_labels(both[1])
    results = []
    for measure, a, b in zip(measures, *estimates, strict=True):
        has_classes = a.value.ndim > 1
        first, second = (judged.with_classes() if has_classes else judged for judged in both)
        cells = tuple(part[:, None] for part in joint) if has_classes else joint
        apart = _apart(a.influences, b.influences)
        variance = _variance(apart, (cells[0], cells[1]), xp)
        plain = [_plain(one, judged, xp) for one, judged in ((a, first), (b, second))]
        ours, theirs = a.spread.variance, b.spread.variance
        # Few labels add to the variance of either model; they add as much to that of the difference.
        grown = (ours + theirs) / xp.where(plain[0] + plain[1] > 0, plain[0] + plain[1], 1)
        variance = variance * grown
        product = ours * theirs
        r = xp.where(product > 0, (ours + theirs - variance) / (2 * xp.sqrt(xp.where(product > 0, product, 1))), 0)
        ends = [(one.value, *limits_of(one, measure, level, backend)) for one in (a, b)]
        low, high = recovered(ends[0], ends[1], xp.clip(r, -1, 1), xp)
        gap, error = a.value - b.value, xp.sqrt(variance)
        known = ~xp.isnan(gap)
        has_limits = known & ~xp.isnan(low) & ~xp.isnan(high) & (error > 0)
        thin = few[:, None] if has_classes else few
        status = xp.where(thin | (gap > math.inf), int(IntervalStatus.FEW_LABELS), 0)
        status = xp.where(has_limits, status, int(IntervalStatus.NO_VARIATION))
        status = xp.where(known, status, int(IntervalStatus.UNDEFINED))
        above = backend.normal_cdf(xp.where(error > 0, gap / xp.where(error > 0, error, 1), 0))
        better = measure.higher_is_better
        probability = (
            xp.where(has_limits, above if better else 1 - above, math.nan) if better is not None else gap * math.nan
        )
        limits = [xp.where(has_limits, limit, math.nan) for limit in (low, high)]
        worth = _worth(a, b, (cells[0], cells[1]), variance, first, backend)
        parts = (gap, *limits, xp.where(known, error, math.nan), probability, status, xp.where(known, worth, math.nan))
        results.append(parts)
    return results


def _of_model(tables: Sequence[Array], axis: int, method: Correction, design: Design, backend: Standard) -> Judged:
    """The counts of one of the models: those of the other are summed."""
    n = tables[0].shape[-1]
    (cube, plane), *squares = (
        (table[..., :n, :, :], table[..., n, :, :]) for table in (backend.xp.sum(table, axis=axis) for table in tables)
    )
    name = "post_stratified" if method == "auto" else method
    return Judged(cube, plane, squares[0] if squares else (cube, plane), name, design, backend)


def _apart(a: Influences, b: Influences) -> Influences:
    """The difference of the influences of each sample [true, judge, a, b] and [judge, a, b]."""
    labelled = a.labelled[..., :, None] - b.labelled[..., None, :]
    return Influences(labelled, a.others[..., :, None] - b.others[..., None, :])


def _variance(found: Influences, squares: tuple[Array, Array], xp: Any) -> Array:
    """The sum of the squares of the influences of all samples."""
    labelled = xp.sum(squares[0] * found.labelled**2, axis=(-4, -3, -2, -1))
    return labelled + xp.sum(squares[1] * found.others**2, axis=(-3, -2, -1))


def _plain(one: Estimate, judged: Judged, xp: Any) -> Array:
    """The same of a single model."""
    labelled = xp.sum(judged.squares[0] * one.influences.labelled**2, axis=(-3, -2, -1))
    return labelled + xp.sum(judged.squares[1] * one.influences.others**2, axis=(-2, -1))


def _worth(  # noqa: PLR0917 (all that is known)
    a: Estimate, b: Estimate, squares: tuple[Array, Array], variance: Array, judged: Judged, backend: Standard
) -> Array:
    """How many labels drawn at random have this variance of the difference."""
    xp = backend.xp
    gap = (a.slopes[..., :, None, :, None] - b.slopes[..., :, None, None, :]) + 0 * squares[0]
    number = xp.sum(squares[0], axis=(-4, -3, -2, -1), keepdims=True)
    some = xp.where(number > 0, number, 1)
    mean = xp.sum(gap * squares[0], axis=(-4, -3, -2, -1), keepdims=True) / some
    alone = xp.sum((gap - mean) ** 2 * squares[0], axis=(-4, -3, -2, -1)) / some[..., 0, 0, 0, 0]
    total = xp.sum(judged.sizes, axis=(-2, -1))
    return xp.where(variance > 0, total**2 * alone / xp.where(variance > 0, variance, 1), math.nan)
