"""interval(): confidence intervals of every measure of every matrix."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._arrays.draws import RandomSource
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import (
    Invalid,
    as_stack,
    check_options,
    evaluate,
    raise_if_invalid,
)
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._scoring.score import resolve
from matrics._stacks.prevalence import PrevalenceLike
from matrics._stacks.simulate import check_drawable, drawable
from matrics._uncertainty.arguments import by_class_names, classes_of, refuse_samples, report_invalid, second_class
from matrics._uncertainty.draws import limits_by_draws
from matrics._uncertainty.formulas import limits_by_formula
from matrics._uncertainty.measure import Limits, Measure, Task, nothing, score_of, scored, tables_of
from matrics._uncertainty.options import (
    DRAWING,
    OF_PROPORTIONS,
    Method,
    Options,
    SchemeOfInterval,
    clusters_first,
    read_options,
)
from matrics._uncertainty.results import Interval
from matrics._uncertainty.status import reasons, status_of
from matrics._uncertainty.target import batch_of, of_tables, scheme_at, target_of
from matrics._uncertainty.weighted import (
    effective,
    read_squares,
    refuse_unweighted,
    squares_of,
    squares_on_host,
)
from matrics.typing import ArrayLike


def interval(
    cm: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    level: float = 0.95,
    method: Method = "auto",
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
) -> dict[str, Interval]:
    """Confidence intervals of many measures of every confusion matrix of a stack.

    Parameters
    ----------
    cm : array_like, shape (*B, n, n)
        Counts; rows are true classes, columns predicted ones.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    method : str, default "auto"
        How limits are formed: "auto", "bootstrap", "bca", "posterior" or "delta"; of proportions "wilson",
        "agresti_coull", "clopper_pearson" or "jeffreys"; of ratios "log" or "score". See the notes.
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
        New draws every time if left out. ``"auto"`` takes ``num`` and ``rng``, too, and needs neither.
    cluster_axis : int, optional
        The axis of the clusters: ``cm`` has a matrix for each of them, such as a patient or a document. Their sum is
        scored, and whole clusters are random.
    clusters : None
        Clusters of samples are for :func:`matrics.compare_models`, which takes labels; anything else raises an error
        that explains how to count the matrix of each cluster.
    prevalence : float, array_like or PrevalenceEstimate, optional
        The share of each class where the results are meant for, as in :func:`matrics.transform.at_prevalence`: the
        measures of the matrix there, with limits for the predictions of samples whose classes were chosen
        (``scheme="rows"``, and no other). The covariance of an estimate widens them.
    squared_weights : array_like, shape (*B, n, n), optional
        For weighted samples: the matrix of their squared weights, as
        ``confusion_matrix(..., sample_weight=weights**2)`` counts it with ``cm``, that of the weights (floating
        numbers: squares of narrow integers overflow). Without it the sum of the cells counts as the number of samples.
        For ``"auto"``, ``"delta"`` and the methods of proportions, and measures that depend only on proportions.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    class_names : sequence of str, optional
        Names of the classes, in their order. With them the interval of each class has its own key: ``recall/cat``.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, a label of a data frame, and an index
        otherwise. Per-class measures without an average are values of this class. Without it they are values of class 1
        of two classes, and means over more (``macro``).

    Returns
    -------
    dict of str to Interval
        Keyed by metric, as given. The arrays of an :class:`matrics.Interval` have the shape that
        :func:`matrics.score` gives: (*B,), or (*B, n) for ``:class`` without ``class_names``.

    Raises
    ------
    ValueError
        An option has a value that does not exist, or that the method would ignore; or a cell is not integer-valued
        although the scheme draws samples.
    TypeError
        ``rng`` is of another library than the matrix, or missing for draws on a device; or labels are given in
        place of a matrix.
    InvalidConfusionMatrix
        A matrix is invalid and ``invalid="raise"``.

    Notes
    -----
    - ``"auto"`` does not resample. Proportions, such as accuracy or the recall of a class, get Wilson's score interval.
      The odds ratio and the likelihood ratios of a class get the limits of ``"log"``, and those of ``"score"`` where a
      cell is 0; weighted samples, and samples at another prevalence, get the limits of the next sentence there.
      All other measures get an interval by the delta method for the matrix with a sample added, 1/n² to each cell. This
      avoids too short intervals with few errors or none. A measure between two bounds gets score limits instead if
      these are wider, for example if a class with few errors dominates: the measure is treated, to first order, as a
      sum over the rows (Martín Andrés, Álvarez Hernández and Herranz Tejedor 2011). Estimates of entropies, confusion
      entropy, EVE and the measures made of chi-squared are biased: their limits are moved by half of the bias, and
      widened by it. At stationary points (such as chance for EVE), at the ends of a range and at ties of classes the
      first derivatives are not enough: there limits are of second order, and a limit is the end of the range if a test
      does not reject that end. The pages on uncertainty have the coverage. The lowest value of the classes (``:min``)
      gets the lowest of their lower limits, and the lowest of upper limits that hold for all classes at once
      (Bonferroni); likewise the highest. These are conservative. Methods that draw replicates do so where several
      classes compete for the lowest value, as its replicates are biased there. Own measures that compute a lowest value
      have the status ``BIASED`` there, as has ``:min`` by ``"delta"``.
    - ``"delta"`` is the plain method: derivatives by the cells make a variance. Limits are z standard errors away on a
      scale that keeps them within the measure's range: a logit (for [-1, 1] that is Fisher's z) or a logarithm.
    - ``"bootstrap"`` takes quantiles of replicates, as from :func:`matrics.simulate.resample`; ``"bca"`` corrects them
      for bias and acceleration, with the exact jackknife of at most n² distinct samples.
    - ``"posterior"`` takes quantiles of the posterior distribution with a Dirichlet prior, over all cells, or over each
      row with ``scheme="rows"``.
    - ``"wilson"``, ``"agresti_coull"``, ``"clopper_pearson"`` and ``"jeffreys"`` are for proportions only. Clopper and
      Pearson's are the exact limits, which hold at least as often as ``level`` says, and are wider for that; Jeffreys'
      are quantiles of a posterior, 0 without successes and 1 without failures (Brown, Cai and DasGupta 2001). These two
      need SciPy (extra ``stats``).
    - ``"log"`` is for ratios that are 0 or above and unbounded, such as the odds ratio (Woolf 1955) and the likelihood
      ratios (Simel, Samsa and Matchar 1991): limits on the scale of the logarithm, and none where a cell is 0.
      Rounding exceeds the variation in more than some 10¹³ samples: there these limits and the delta method are NaN.
    - ``"score"`` is for the odds ratio and the likelihood ratios of a class: the values from which the matrix is not
      too far, with the variance there (Miettinen and Nurminen 1985). It has limits where a cell is 0.

    With K clusters the delta method uses the variance of the clusters' contributions, and Student's quantile for K - 1
    degrees of freedom. ``"auto"`` uses at least the variance of independent samples, and corrects for clusters of
    unequal sizes (Bell and McCaffrey 2002). It has fewer degrees of freedom if a few large clusters, or a few clusters
    with many errors, make most of the variance (Satterthwaite). Proportions have Wilson's interval for the effective
    number of independent trials; without variation, this is a single trial per cluster. With up to about ten varying
    clusters it is limited, so that a single error does not make an interval narrower than no error. No limits allow for
    kinds of clusters that are not in the data: at least four of each kind are to be expected.

    At another ``prevalence`` the limits are for the measure of :func:`matrics.transform.at_prevalence`, and the cells
    of each row are random on their own. Those of predictive values are on the scale of the logit (Mercaldo, Lau and
    Zhou 2007), and an estimated prevalence adds its part to each variance. If the prevalence was estimated by the rates
    of the same matrix (:func:`matrics.stats.estimate_prevalence`), their errors count for both. A matrix without
    samples of a class
    whose share is above 0 has no estimate, and the status ``UNDEFINED``; the status is ``FEW_SAMPLES`` where a class
    has fewer than five errors or five correct predictions.

    Without draws, an interval takes the time of about 2 n² scores. Measures that may have stationary points, such as
    entropies, take that of 256 more scores; EVE and the measures made of chi-squared only for matrices that are at most
    five standard errors from chance, or four from the best value. With draws, an interval takes the time of ``num``
    scores. Limits stay within the range of the measure. If there are no limits, they are NaN, and ``status`` has the
    reason.

    Examples
    --------
    >>> import matrics
    >>> results = matrics.interval([[45, 5], [10, 40]], ["accuracy", "mcc"])
    >>> for name, (estimate, low, high, *_) in results.items():
    ...     print(f"{name}: {estimate:.2f}, 95 % between {low:.2f} and {high:.2f}")
    accuracy: 0.85, 95 % between 0.77 and 0.91
    mcc: 0.70, 95 % between 0.53 and 0.81

    Measures of two classes refer to class 1, or to the class ``positive``:

    >>> results = matrics.interval([[90, 10], [1, 9]], "sensitivity,specificity")
    >>> print(*(f"{name}: {low:.2f} to {high:.2f}" for name, (_, low, high, *_) in results.items()), sep="; ")
    sensitivity: 0.60 to 0.98; specificity: 0.83 to 0.94
    """
    refuse_samples("interval", cm, metrics, clusters)
    scheme = scheme_at(prevalence, method, scheme, cluster_axis)
    options = read_options(level, method, scheme, prior=prior, num=num, rng=rng, cluster_axis=cluster_axis)
    check_options(zero_division, invalid, workers)
    zero_division = float(zero_division)
    backend, array = as_stack(cm)
    classes = classes_of(array.shape[-1], class_names, positive, cm)
    chosen = resolve(metrics, classes)
    array = backend.detached(array)
    if invalid == "raise":
        raise_if_invalid(array, backend)
    measures = [Measure.of(metric) for metric in chosen.values()]
    squares = None
    if squared_weights is not None:
        refuse_unweighted(options, measures)
        squares = read_squares(squared_weights, array)
    array = clusters_first(array, cluster_axis, backend)
    _check_measures(options.method, measures)
    view, of_squares = on_host(array, backend, rng, options), squares_on_host(squares, backend)
    view = view if squares is None or of_squares is not None else None
    target, is_there = target_of(prevalence, view, array, backend, second_class(classes))
    score = score_of(measures, zero_division)
    task = Task(array, array, [], measures, score, options, zero_division, workers, NUMPY if is_there else backend)
    task = task._replace(squares=of_squares if is_there else squares, target=target)
    results = _intervals(view if is_there else array, task, prior, rng, invalid)
    if is_there:
        results = [Interval(*(backend.from_host(np.asarray(part)[()]) for part in fields)) for fields in results]
    return by_class_names(dict(zip(chosen, results, strict=True)), chosen, class_names)


def _check_measures(method: str, measures: Sequence[Measure]) -> None:
    """Raise an error for measures that the method does not support."""
    if method in OF_PROPORTIONS:
        others = [measure.name for measure in measures if measure.trials is None]
        what = "proportions such as accuracy, 'recall:class' or 'precision:binary'"
    elif method == "log":
        others = [measure.name for measure in measures if measure.range != (0, math.inf)]
        what = "ratios such as 'diagnostic_odds_ratio:class', which are 0 or above and unbounded"
    elif method == "score":
        others = [measure.name for measure in measures if not measure.samples]
        what = "the odds ratio and the likelihood ratios of a class or of each class, as 'diagnostic_odds_ratio:class'"
    else:
        return
    if others:
        raise ArgumentError(
            "method", f"expected another method than {quoted(method)} for {', '.join(others[:5])}: it is for {what}"
        )


def on_host(array: Array, backend: Standard, rng: Any, options: Options) -> Array | None:
    """The stack as an array of NumPy, if NumPy does the work."""
    if type(backend) is Standard:  # a library without random numbers
        return backend.to_numpy(array)
    view = backend.host_view(array)
    if view is None or options.method not in DRAWING:
        return view
    return view if rng is None or isinstance(rng, (int, np.integer, np.random.Generator)) else None


def _intervals(array: Array, task: Task, prior: Any, rng: Any, invalid: Invalid) -> list[Interval]:
    """The intervals of a stack (*B, n, n), or (K, *B, n, n) of clusters, computed by the library of the task."""
    backend, options, xp = task.backend, task.options, task.backend.xp
    of_clusters = options.scheme == "clusters"
    batch = tuple(array.shape[int(of_clusters) : -2])
    if task.target is None:
        pooled = xp.sum(backend.to_wide(array), axis=0) if of_clusters else array
        # This warns about invalid matrices.
        functions = [measure.function for measure in task.measures]
        estimates = evaluate(pooled, functions, zero_division=task.zero_division, invalid=invalid, workers=task.workers)
        estimates = [xp.reshape(value, (math.prod(batch), *value.shape[len(batch) :])) for value in estimates]
    else:
        batch = batch_of(batch, task.target)
        task = task._replace(target=of_tables(task.target, batch, backend))
    with backend.quiet():
        cells, valid = tables_of(array, batch, backend, clusters=of_clusters)
        whole = xp.sum(cells, axis=0) if of_clusters else cells
        if task.target is not None:
            report_invalid(valid, backend, "matrices are", invalid)
            estimates = scored(task._replace(whole=whole), valid).estimates
        squares = squares_of(task.squares, batch, whole, backend)
        if task.target is not None and squares is None:
            task = task._replace(target=task.target.of_same(whole, backend))
        if squares is not None:
            cells, squares = effective(whole, squares, backend)
            whole = cells
        estimates = [xp.astype(value, whole.dtype) for value in estimates]
        task = task._replace(cells=cells, whole=whole, squares=squares, estimates=estimates)
        if 0 in batch:
            limits_of_measures = nothing(task)
        elif options.method in DRAWING:
            limits_of_measures = limits_by_draws(task, source_for([array], backend, rng, options), prior)
        else:
            limits_of_measures = limits_by_formula(task)
        results = []
        for position, limits in enumerate(limits_of_measures):
            samples_status = status_of(task, valid, task.measures[position])
            parts = _with_status(position, limits, samples_status, valid, task)
            results.append(Interval(*(xp.reshape(part, batch + tuple(part.shape[1:])) for part in parts)))
    return results


def _with_status(position: int, limits: Limits, general: Array, valid: Array, task: Task) -> tuple[Array, ...]:
    """The fields of the interval of a measure: limits, or NaN with a status."""
    xp, (low, high, error, undefined) = task.backend.xp, limits
    estimate = task.estimates[position]
    known, has_limits, status = reasons(estimate, limits, general, valid, task)
    # The limits of "auto" are for a matrix with another sample, and may exclude the estimate.
    if task.options.method == "auto":
        least, most = task.measures[position].range  # zero_division may be outside the range
        low = xp.where((estimate < low) & (estimate >= least), estimate, low)
        high = xp.where((estimate > high) & (estimate <= most), estimate, high)
    low, high = (xp.where(has_limits, limit, math.nan) for limit in (low, high))
    return estimate, low, high, xp.where(known, error, math.nan), undefined, status


def source_for(
    arrays: Sequence[Array], backend: Standard, rng: Any, options: Options, name: str = "cm"
) -> RandomSource:
    """The source of random numbers for draws from these cells, after a check that the cells can be drawn."""
    scheme = options.scheme if options.method != "posterior" else "dirichlet"
    for array in arrays:
        if backend.can_look(array):
            cells = backend.to_numpy(array)
            good = np.isfinite(cells) & (cells >= 0)  # invalid matrices are reported as such
            check_drawable(np.where(good, cells, 0), scheme, name)
    square = backend.xp.zeros((1, 1), dtype=arrays[0].dtype, **backend.device_option(arrays[0]))
    return drawable(square, rng, scheme).source
