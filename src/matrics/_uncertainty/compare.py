"""Comparison of two classifiers: compare() and compare_paired()."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, get_args

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._catalogue.classes import labels_of_frame
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, as_stack, check_options
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._stacks.prevalence import PrevalenceLike
from matrics._uncertainty.arguments import (
    by_class_names,
    classes_of,
    refuse_samples,
    report_invalid,
    second_class,
)
from matrics._uncertainty.differences import dependent, independent
from matrics._uncertainty.draws import differences_by_draws
from matrics._uncertainty.interval import on_host, source_for
from matrics._uncertainty.joint import check_joint, difference_of, margins
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.measure import Measure, Task, nothing, score_of, scored, tables_of
from matrics._uncertainty.options import (
    DRAWING,
    MethodOfComparison,
    Options,
    SchemeOfInterval,
    clusters_first,
    read_options,
)
from matrics._uncertainty.paired_tests import p_values
from matrics._uncertainty.results import Comparison
from matrics._uncertainty.status import graver_of, reasons, status_of
from matrics._uncertainty.target import as_independent, batch_of, of_tables, scheme_at, target_of
from matrics._uncertainty.weighted import (
    effective,
    read_squares,
    refuse_unweighted,
    squares_of,
    squares_on_host,
)
from matrics.typing import ArrayLike

_JOINTLY = "matrics.stats.joint_confusion_matrix(y_true, y_a, y_b, num_classes=n)"


def compare(
    a: ArrayLike,
    b: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    level: float = 0.95,
    method: MethodOfComparison = "auto",
    scheme: SchemeOfInterval | None = None,
    prior: ArrayLike | None = None,
    num: int | None = None,
    rng: Any = None,
    cluster_axis: int | None = None,
    clusters: None = None,
    prevalence: PrevalenceLike | None = None,
    squared_weights: tuple[ArrayLike, ArrayLike] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> dict[str, Comparison]:
    """Compare two classifiers on independent samples, such as two test sets or two sites.

    For classifiers on the same samples this gives intervals that are too wide, and misses differences: use
    :func:`compare_paired`.

    Parameters
    ----------
    a, b : array_like, shape (*B, n, n)
        Counts of either; rows are true classes. Batches broadcast against each other.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    level : float, default 0.95
        The probability with which an interval is to contain the true difference.
    method : {"auto", "bootstrap", "bca", "posterior", "delta"}
        How limits are formed: ``"bootstrap"`` and ``"bca"`` are quantiles of replicates, ``"posterior"`` those of a
        Dirichlet distribution, and ``"delta"`` follows from the derivatives of the measures. ``"auto"`` is described in
        the notes.
    scheme : {"multinomial", "rows", "poisson", "clusters"}, optional
        The random part: the samples (``"multinomial"``, the default), the predictions of samples whose true classes are
        fixed (``"rows"``), the number of samples as well (``"poisson"``), or whole clusters of samples. Not every
        method takes each.
    prior : float or array_like, shape (n, n), optional
        For ``"posterior"``: the number added to each cell; 1/n² if left out, which adds one sample in all.
    num : int, optional
        Number of replicates for the methods that draw them; 10,000 if left out.
    rng : Generator, key or int, optional
        Where random numbers come from: ``numpy.random.default_rng(seed)``, a ``torch.Generator`` or a key of
        ``jax.random.key(seed)``, which decides the library and the device of the draws. An integer is a seed for NumPy.
        New draws every time if left out.
    clusters : None
        Clusters of samples are for :func:`matrics.compare_models`, which takes labels; anything else raises an error
        that explains how to count the matrix of each cluster.
    prevalence : float, array_like or PrevalenceEstimate, optional
        The share of each class where the results are meant for, as in :func:`matrics.transform.at_prevalence`: the
        measures are compared there, with limits for the predictions of samples whose classes were chosen
        (``scheme="rows"``, and no other). It is the same for both. The covariance of an estimate widens the limits, and
        counts as independent of the matrices.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the comparison of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).
    cluster_axis : int, optional
        The axis of the clusters in both stacks of matrices; for ``"auto"``, ``"delta"`` and
        ``"bootstrap"``. They may have different numbers of clusters.
    squared_weights : two array_like, shapes (*B, n, n), optional
        For weighted samples: the matrices of squared weights of a and of b, as ``confusion_matrix(...,
        sample_weight=weights**2)`` counts them with ``a`` and ``b``, those of the weights (floating numbers: squares of
        narrow integers overflow). Without them the sums of the cells count as the numbers of samples.

    Returns
    -------
    dict of str to Comparison
        The difference a - b, its limits and standard error, and the probability that a is better.

    Raises
    ------
    ValueError
        The matrices have different numbers of classes, or as of :func:`matrics.interval`.

    Notes
    -----
    ``"auto"`` combines the limits of both to limits of the difference (Newcombe 1998, method 10; Zou and Donner 2008),
    which are Wilson's for proportions.

    Examples
    --------
    >>> import matrics
    >>> result = matrics.compare([[90, 10], [20, 80]], [[80, 20], [25, 75]], "accuracy")["accuracy"]
    >>> print(f"{result.difference:.3f}, between {result.low:.3f} and {result.high:.3f}")
    0.075, between -0.002 and 0.151
    >>> print(f"{result.probability:.2f}")
    0.97
    """
    refuse_samples("compare", a, metrics, clusters)
    scheme = scheme_at(prevalence, method, scheme, cluster_axis)
    options = _read(level, method, scheme, prior=prior, num=num, rng=rng, cluster_axis=cluster_axis)
    if cluster_axis is not None and options.method in ("bca", "posterior"):
        raise ValueError(f"method: expected 'auto', 'delta' or 'bootstrap' with clusters, got {quoted(options.method)}")
    check_options(zero_division, invalid, workers)
    backend, stacks = _both_stacks(a, b, cluster_axis)
    _check_labels(a, b)
    classes = classes_of(stacks[0].shape[-1], class_names, positive, a)
    chosen = resolve(metrics, classes)
    measures = [Measure.of(metric) for metric in chosen.values()]
    squares = [None, None] if squared_weights is None else _both_squares(squared_weights, stacks, options, measures)
    views = [on_host(stack, backend, rng, options) for stack in stacks]
    of_squares = [squares_on_host(matrix, backend) for matrix in squares]
    home = backend
    is_there = all(view is not None for view in [*views, *(of_squares if squared_weights is not None else [])])
    view = views[0] if is_there else None
    target, is_there = target_of(prevalence, view, stacks[0], backend, second_class(classes))
    if is_there:
        stacks, squares, backend = views, of_squares, NUMPY
    xp = backend.xp
    shapes = [tuple(stack.shape[(cluster_axis is not None) : -2]) for stack in stacks]
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ValueError(f"expected batches that broadcast, got {shapes[0]} in a and {shapes[1]} in b") from error
    batch = batch_of(batch, target, "a and b")
    target = of_tables(as_independent(target), batch, backend)
    score = score_of(measures, float(zero_division))
    common = (measures, score, options, float(zero_division), workers, backend)
    with backend.quiet():
        tasks, valid = [], []
        for name, stack, stack_squares in zip("ab", stacks, squares, strict=True):
            cells, good = tables_of(stack, batch, backend, clusters=cluster_axis is not None)
            report_invalid(good, backend, f"matrices {name} are", invalid)
            whole = xp.sum(cells, axis=0) if cluster_axis is not None else cells
            square = squares_of(stack_squares, batch, whole, backend)
            if square is not None:
                whole, square = effective(whole, square, backend)
                cells = whole
            tasks.append(scored(Task(cells, whole, [], *common, square, target), good))
            valid.append(good)
        if options.method in DRAWING and 0 not in batch:
            limits = differences_by_draws(tasks, source_for(stacks, backend, rng, options), prior)
        else:
            limits = independent(tasks) if 0 not in batch else nothing(tasks[0])
        results = _finish(tasks, limits, valid, batch)
    return _by_name(chosen, [Comparison(*parts) for parts in results], home, backend, class_names)


def compare_paired(
    joint: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    level: float = 0.95,
    method: MethodOfComparison = "auto",
    scheme: SchemeOfInterval | None = None,
    prior: ArrayLike | None = None,
    num: int | None = None,
    rng: Any = None,
    cluster_axis: int | None = None,
    clusters: None = None,
    prevalence: PrevalenceLike | None = None,
    squared_weights: ArrayLike | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> dict[str, Comparison]:
    """Compare two classifiers on the same samples.

    Parameters
    ----------
    joint : array_like, shape (*B, n, n, n)
        Counts by true class, class predicted by a, and class predicted by b, as from
        :func:`matrics.stats.joint_confusion_matrix`. Two confusion matrices do not determine it.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    level : float, default 0.95
        The probability with which an interval is to contain the true difference.
    method : {"auto", "bootstrap", "bca", "posterior", "delta"}
        How limits are formed: ``"bootstrap"`` and ``"bca"`` are quantiles of replicates, ``"posterior"`` those of a
        Dirichlet distribution, and ``"delta"`` follows from the derivatives of the measures. ``"auto"`` is described in
        the notes.
    scheme : {"multinomial", "rows", "poisson", "clusters"}, optional
        The random part: the samples (``"multinomial"``, the default), the predictions of samples whose true classes are
        fixed (``"rows"``), the number of samples as well (``"poisson"``), or whole clusters of samples. Not every
        method takes each.
    prior : float or array_like, shape (n, n, n), optional
        For ``"posterior"``: the number added to each cell; 1/n³ if left out, which adds one sample in all.
    num : int, optional
        Number of replicates for the methods that draw them; 10,000 if left out.
    rng : Generator, key or int, optional
        Where random numbers come from: ``numpy.random.default_rng(seed)``, a ``torch.Generator`` or a key of
        ``jax.random.key(seed)``, which decides the library and the device of the draws. An integer is a seed for NumPy.
        New draws every time if left out.
    clusters : None
        Clusters of samples are for :func:`matrics.compare_models`, which takes labels; anything else raises an error
        that explains how to count the matrix of each cluster.
    prevalence : float, array_like or PrevalenceEstimate, optional
        The share of each class where the results are meant for, as in :func:`matrics.transform.at_prevalence`: the
        measures are compared there, with limits for the predictions of samples whose classes were chosen
        (``scheme="rows"``, and no other). The covariance of an estimate widens the limits, and counts as independent of
        the table.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the comparison of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).
    cluster_axis : int, optional
        The axis of the clusters: ``joint`` has a table for each of them, such as a patient or a document. Their sum is
        scored, and whole clusters are random.
    squared_weights : array_like, shape (*B, n, n, n), optional
        For weighted samples: the joint table of their squared weights, as ``joint_confusion_matrix(...,
        sample_weight=weights**2)`` counts it with ``joint``, that of the weights (floating numbers: squares of narrow
        integers overflow). Without it the sum of the cells counts as the number of samples.

    Returns
    -------
    dict of str to Comparison
        The difference a - b, its limits and standard error, the probability that a is better, how wide the interval
        would be if the samples of both were independent, and the p-value of McNemar's test where it exists.

    Raises
    ------
    ValueError
        ``joint`` has no three equal axes of classes, or as of :func:`matrics.interval`.

    Notes
    -----
    Accuracy, and the sensitivity and specificity of a class, are proportions of the same samples for both classifiers.
    Their ``p_value`` is that of McNemar's test of these samples, from the normal distribution and without a correction
    for continuity. :func:`matrics.stats.mcnemar` has the exact test of accuracy, and
    :func:`matrics.stats.diagnostic_comparison` those of sensitivity and specificity. Other measures, clusters, weighted
    samples and another prevalence have none: there ``p_value`` is NaN.

    Examples
    --------
    >>> import matrics
    >>> y_true = [0] * 50 + [1] * 50
    >>> a = [0] * 46 + [1] * 4 + [1] * 44 + [0] * 6
    >>> b = [0] * 40 + [1] * 10 + [1] * 42 + [0] * 8
    >>> joint = matrics.stats.joint_confusion_matrix(y_true, a, b, num_classes=2)
    >>> result = matrics.compare_paired(joint, "accuracy")["accuracy"]
    >>> print(f"{result.difference:.2f}, between {result.low:.3f} and {result.high:.3f}")
    0.08, between 0.025 and 0.144
    >>> print(f"p = {result.p_value:.4f}")
    p = 0.0047
    >>> print(f"as wide: {result.high - result.low:.2f}; without the pairs: {result.unpaired_width:.2f}")
    as wide: 0.12; without the pairs: 0.20
    """
    refuse_samples("compare_paired", joint, metrics, clusters, _JOINTLY)
    scheme = scheme_at(prevalence, method, scheme, cluster_axis)
    options = _read(level, method, scheme, prior=prior, num=num, rng=rng, cluster_axis=cluster_axis)
    check_options(zero_division, invalid, workers)
    home, (array,) = as_arrays(joint=joint)
    array = home.detached(check_joint(array, home))
    classes = classes_of(array.shape[-1], class_names, positive)
    chosen = resolve(metrics, classes)
    measures = [Measure.of(metric) for metric in chosen.values()]
    squares = None
    if squared_weights is not None:
        refuse_unweighted(options, measures)
        squares = read_squares(squared_weights, array, of="joint")
    array = clusters_first(array, cluster_axis, home, classes=3)
    view, of_squares, n = on_host(array, home, rng, options), squares_on_host(squares, home), array.shape[-1]
    view = view if squares is None or of_squares is not None else None
    target, is_there = target_of(prevalence, view, array, home, second_class(classes))
    backend: Standard = NUMPY if is_there else home
    array, squares = (view, of_squares) if view is not None and is_there else (array, squares)
    xp, has_clusters = backend.xp, cluster_axis is not None
    batch = batch_of(tuple(array.shape[int(has_clusters) : -3]), target, "joint")
    target = of_tables(as_independent(target), batch, backend)
    table = xp.reshape(array, (*array.shape[:-2], n * n))
    common = (measures, score_of(measures, float(zero_division)), options, float(zero_division), workers, backend)

    with backend.quiet():
        cells, good = tables_of(table, batch, backend, clusters=has_clusters)
        report_invalid(good, backend, "joint tables are", invalid)
        whole = xp.sum(cells, axis=0) if has_clusters else cells
        if squares is not None:
            squares = squares_of(xp.reshape(squares, (*squares.shape[:-2], n * n)), batch, whole, backend)
            whole, squares = effective(whole, squares, backend)
            cells = whole
        of_both = (None, None) if squares is None else margins(squares, xp)
        tasks = []
        for mine, of_all, square in zip(margins(cells, xp), margins(whole, xp), of_both, strict=True):
            tasks.append(scored(Task(mine, of_all, [], *common, square, target), good))
        gaps = [a - b for a, b in zip(tasks[0].estimates, tasks[1].estimates, strict=True)]
        pair = Task(cells, whole, gaps, measures, difference_of(common[1], xp), *common[2:], squares, target)
        if 0 in batch:
            limits, independent_limits = nothing(tasks[0]), nothing(tasks[0])
        elif options.method in DRAWING:
            source = source_for([array], backend, rng, options, name="joint")
            limits = differences_by_draws([pair], source, _of_pairs(prior, n))
            independent_limits = differences_by_draws(tasks, source, None)
        else:
            limits, independent_limits = dependent(pair, tasks), independent(tasks)
        wide = [xp.reshape(high - low, batch + tuple(low.shape[1:])) for low, high, *_ in independent_limits]
        results = _finish(tasks, limits, [good], batch)
        tests = [xp.reshape(p, batch + tuple(p.shape[1:])) for p in p_values(pair, gaps, good)]
    named = [
        Comparison(*parts)._replace(unpaired_width=width, p_value=p_value)
        for parts, width, p_value in zip(results, wide, tests, strict=True)
    ]
    return _by_name(chosen, named, home, backend, class_names)


def _of_pairs(prior: Any, n: int) -> Any:
    """A prior for the cells (n, n, n), reshaped to the table (n, n²)."""
    if np.ndim(prior) == 0:
        return prior
    if np.shape(prior) != (n, n, n):
        raise ValueError(f"prior: expected a number or an array {(n, n, n)}, got shape {np.shape(prior)}")
    return np.reshape(np.asarray(prior), (n, n * n))


# Functions of both comparisons ---------------------------------------------------------------------------------------


def _read(level: Any, method: Any, scheme: Any, **others: Any) -> Options:
    methods = get_args(MethodOfComparison)
    if method not in methods:
        raise ValueError(f"method: expected one of {', '.join(map(repr, methods))}, got {quoted(method)}")
    return read_options(level, method, scheme, **others)


def _both_stacks(a: Any, b: Any, cluster_axis: Any) -> tuple[Standard, list[Array]]:
    """Both stacks in the same library, with the axis of clusters first."""
    (backend_a, stack_a), (backend_b, stack_b) = as_stack(a, name="a"), as_stack(b, name="b")
    if backend_a is not backend_b:
        backend, (stack_a, stack_b) = as_arrays(a=stack_a, b=stack_b)
    else:
        backend = backend_a
    if stack_a.shape[-1] != stack_b.shape[-1]:
        raise ValueError(
            f"expected matrices of the same classes, got {stack_a.shape[-1]} in a and {stack_b.shape[-1]} in b"
        )
    return backend, [clusters_first(backend.detached(array), cluster_axis, backend) for array in (stack_a, stack_b)]


def _check_labels(a: Any, b: Any) -> None:
    labels = labels_of_frame(a), labels_of_frame(b)
    if None not in labels and labels[0] != labels[1]:
        raise ValueError(
            f"expected data frames with the same labels in the same order, got "
            f"{quoted(labels[0])} in a and {quoted(labels[1])} in b: "
            "b.loc[a.index, a.index] puts them in order"
        )


def _both_squares(
    squares: Any, stacks: Sequence[Array], options: Options, measures: Sequence[Measure]
) -> list[Array | None]:
    """The squared weights of a and of b, checked against their matrices."""
    refuse_unweighted(options, measures)
    if not isinstance(squares, (tuple, list)) or len(squares) != 2:
        got = f"{len(squares)} matrices" if isinstance(squares, (tuple, list)) else type(squares).__name__
        raise ValueError(f"squared_weights: expected the matrices of a and of b, (of_a, of_b), got {got}")
    names = ("squared_weights[0]", "squared_weights[1]")
    return [
        read_squares(matrix, stack, name, of)
        for matrix, stack, name, of in zip(squares, stacks, names, "ab", strict=True)
    ]


def _finish(
    tasks: Sequence[Task], limits: Sequence[Any], valid: Sequence[Array], batch: tuple[int, ...]
) -> list[tuple[Array, ...]]:
    """The fields of each comparison in the shape of the batch."""
    xp = tasks[0].backend.xp
    good = valid[0]
    for other in valid[1:]:
        good = good & other
    results = []
    for k, fields_of_limits in enumerate(limits):
        low, high, error, undefined, *rest = fields_of_limits
        a, b = tasks[0].estimates[k], tasks[1].estimates[k]
        gap = a - b
        first, second = (status_of(task, good, task.measures[k], of_difference=True) for task in tasks)
        general = graver_of(first, second, xp)
        known, has_limits, status = reasons(gap, (low, high, error, undefined), general, good, tasks[0])
        above = rest[0] if rest else _above(gap, low, high, tasks[0])
        better = tasks[0].measures[k].higher_is_better
        probability = above if better else 1 - above
        sure = has_limits if better is not None else known & ~known
        fields = (
            gap,
            xp.where(has_limits, low, math.nan),
            xp.where(has_limits, high, math.nan),
            xp.where(known, error, math.nan),
            xp.where(sure, probability, math.nan),
            status,
        )
        results.append(tuple(xp.reshape(part, batch + tuple(part.shape[1:])) for part in fields))
    return results


def _above(gap: Array, low: Array, high: Array, task: Task) -> Array:
    """The normal probability that a is above b: more than the level if the limits exclude 0."""
    backend, xp = task.backend, task.backend.xp
    reach = xp.where(gap > 0, gap - low, high - gap)
    reach = xp.where(reach > 0, reach, 1)
    return backend.normal_cdf(normal_quantile(task.options.level) * gap / reach)


def _by_name(
    chosen: dict[str, Metric],
    results: Sequence[Any],
    home: Standard,
    backend: Standard,
    class_names: Sequence[str] | None,
) -> dict[str, Any]:
    """The results by name, in the library of the matrices."""
    if backend is NUMPY:
        results = [type(result)(*(home.from_host(np.asarray(part)[()]) for part in result)) for result in results]
    return by_class_names(dict(zip(chosen, results, strict=True)), chosen, class_names)
