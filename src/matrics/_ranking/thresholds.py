"""Confusion matrices and measures at every threshold."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays
from matrics._arrays.frames import is_frame
from matrics._catalogue.record import Metric
from matrics._counting.labels import label_dtype
from matrics._engine.evaluation import evaluate
from matrics._engine.results import NamedResult
from matrics._errors import ArgumentError
from matrics._ranking.costs import COST, cost_of, others_than_cost, read_costs
from matrics._ranking.inputs import ScoredSamples, read
from matrics._ranking.odds import refuse_others, resolve_at_thresholds, together
from matrics._ranking.prevalence import at_shares, read_shares
from matrics._ranking.rows import Points, SampleRows, as_rows, points
from matrics._ranking.unlabelled import COUNTED, Unlabelled
from matrics._stacks.prevalence import PrevalenceLike
from matrics.typing import ArrayLike

_NAN = "thresholds: expected numbers, got NaN at {}"


class ThresholdCurve(NamedResult):
    """Measures at every threshold, from the highest to the lowest; ``curve["f1"]`` is ``curve.values["f1"]``.

    Parameters
    ----------
    thresholds : array, shape (*B, T)
        Samples with a score of at least this are predicted as positive; infinite if no sample is predicted as positive.
    values : dict of str to array
        The measures, keyed as given, each of shape (*B, T).
    """

    thresholds: Array
    values: dict[str, Array]

    def __getitem__(self, key: Any) -> Any:
        """The values of a measure by its key, or a field by its position."""
        return self.values[key] if isinstance(key, str) else tuple(self)[key]


def confusion_matrix(
    y_true: ArrayLike,
    y_score: ArrayLike,
    thresholds: ArrayLike,
    *,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
) -> Any:
    """The 2×2 confusion matrices at every threshold, in a single pass over the scores.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes, each compared with the rest. They are scores of classes if
        they have an axis more than the labels, after the axis of samples. Otherwise both broadcast.
    thresholds : array_like, shape (T,)
        In any order. A sample is predicted as positive if its score is at least the threshold, in the dtype of the
        scores.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With scores of n classes it selects this class, against
        the rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class. A sample is then predicted as positive if its score is at most the threshold.
    sample_weight : array_like, optional
        A weight for each sample, finite and not negative.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value.

    Returns
    -------
    array, shape (*B, T, 2, 2), or (*B, n, T, 2, 2) of n classes
        Integers; floats if weighted. The positive class is the second. With a NaN score all cells of its batch element
        are -1, or NaN if weighted, which makes every measure of them NaN.

    Raises
    ------
    TypeError
        Labels are not integers, or scores not floating.
    ValueError
        The shapes do not fit; or a label is out of range, or a weight negative, NaN or infinite, or a threshold NaN,
        where looking is free (NumPy arrays, CPU tensors, concrete JAX arrays on the CPU).

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.confusion_matrix([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], [0.2, 0.5])
    array([[[1, 1],
            [0, 2]],
    <BLANKLINE>
           [[2, 0],
            [1, 1]]])
    """
    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    samples, _, cm = _at(samples, y_true, y_score, thresholds)
    return samples.finish(cm)


def threshold_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    thresholds: ArrayLike | None = None,
    unique: bool = False,
    cost_false_negative: ArrayLike | float | None = None,
    cost_false_positive: ArrayLike | float | None = None,
    unlabelled_scores: ArrayLike | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    prevalence: PrevalenceLike | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> ThresholdCurve:
    """The values of measures at every threshold.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes, each compared with the rest. They are scores of classes if
        they have an axis more than the labels, after the axis of samples. Otherwise both broadcast.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With scores of n classes it selects this class, against the
        rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class. A sample is then predicted as positive if its score is at most the threshold.
    sample_weight : array_like, optional
        A weight for each sample, finite and not negative.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. A per-class
        measure without an average is the value of the positive class (``"recall"`` is ``"recall:binary"``); the mean
        over both classes is ``"recall:macro"``. The weight of ``"net_benefit"`` is the odds of each threshold if scores
        are probabilities.
    thresholds : array_like, shape (T,), optional
        If left out, all thresholds between scores: infinity, where no sample is predicted as positive, and then every
        score, in descending order, T = N + 1. All points of equal scores have the values after the last of these
        scores, so that shapes do not depend on the values.
    unique : bool, default False
        Leave out points with the same threshold; for a single curve whose values can be inspected (not under ``jit``).
    cost_false_negative, cost_false_positive : float or array_like, shape (*B, N), optional
        What it costs if a positive sample is predicted as negative, and the other way round; the same for all samples,
        or a number for each, such as the amount of a payment. The curve then has ``"cost"`` as well, the cost of all
        errors, also if ``metrics`` does not name it. Weights multiply costs.
    unlabelled_scores : array_like of floating numbers, shape (M,), optional
        The scores of samples whose true label is not known. The measures ``predicted_positives`` and
        ``predicted_negatives`` count these as well; all others are of the samples with labels.
    prevalence : float, array_like or PrevalenceEstimate, optional
        The share of the positive class where the results are used, if it differs from that of the samples: a
        number, ``(2,)``, ``(*P, 1)`` or ``(*P, 2)``. For scores of a single class.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.

    Returns
    -------
    ThresholdCurve
        ``thresholds`` and ``values``, a dict keyed by metric as given; each of shape (*B, T), or (*B, n, T) of n
        classes, each against the rest. A NaN score makes its batch element NaN.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.confusion_matrix` and :func:`matrics.score`.

    Examples
    --------
    >>> import matrics
    >>> curve = matrics.ranking.threshold_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ["recall", "mcc"])
    >>> curve.thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    >>> curve["recall"]
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> curve["mcc"].round(2)
    array([ nan, 0.58, 0.  , 0.58,  nan])
    """
    if unique and thresholds is not None:
        raise ArgumentError("unique", "expected thresholds=None with unique=True, which uses all scores")
    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    samples, shares = read_shares(prevalence, samples)
    costs = read_costs(samples, cost_false_negative, cost_false_positive)
    if costs is not None and shares is not None:
        raise ArgumentError("prevalence", "expected None with costs, which are sums over the samples as they are")
    others = others_than_cost(metrics, has_costs=costs is not None)
    measures = {} if others is None else resolve_at_thresholds(others, samples.classes)
    refuse_others(measures, samples)
    costs_of_errors = None
    if costs is not None:
        limits_and_matrices = (
            all_thresholds(costs, unique=unique) if thresholds is None else _at(costs, y_true, y_score, thresholds)
        )
        costs_of_errors = cost_of(limits_and_matrices[-1])
    if thresholds is None:
        limits, cm = all_thresholds(samples, unique=unique)
    else:
        samples, limits, cm = _at(samples, y_true, y_score, thresholds)
        limits = samples.backend.copied(samples.backend.xp.broadcast_to(limits, tuple(cm.shape[:-2])))
    cm = at_shares(cm, shares, samples.backend)
    if shares is not None:
        limits = samples.backend.copied(samples.backend.xp.broadcast_to(limits, tuple(cm.shape[:-2])))
    every = [metric for several in measures.values() for metric in several]
    options: dict[str, Any] = {"zero_division": zero_division, "invalid": "nan", "workers": workers}
    values = evaluate(cm, [metric.bind() for metric in every], **options)
    if unlabelled_scores is not None:
        if shares is not None or samples.is_weighted:
            raise ArgumentError("unlabelled_scores", "expected None with sample_weight= and prevalence=")
        counted = [(str(metric), metric) for metric in every if metric.name in COUNTED]
        unlabelled = Unlabelled.read(unlabelled_scores, samples, counted, "metrics", "")
        assert unlabelled is not None  # noqa: S101 (for mypy)
        both = evaluate(unlabelled.added(cm, limits), [metric.bind() for metric in every], **options)
        values = [
            of_all if metric.name in COUNTED else value
            for metric, value, of_all in zip(every, values, both, strict=True)
        ]
    results = together(measures, values, limits, samples.backend)
    results |= {} if costs_of_errors is None else {COST: costs_of_errors}
    return ThresholdCurve(
        samples.finish(samples.directed(limits)), {name: samples.finish(value) for name, value in results.items()}
    )


def _at(samples: ScoredSamples, y_true: Any, y_score: Any, thresholds: Any) -> tuple[ScoredSamples, Array, Array]:
    """The samples in the library of the thresholds, the thresholds (T,), and the matrices at them (*B, T, 2, 2)."""
    # Labels in a list or a NumPy array do not determine the library; they may be texts, which only NumPy supports.
    are_host_labels = isinstance(y_true, (list, tuple, np.ndarray)) or hasattr(y_true, "to_numpy") or is_frame(y_true)
    same_library = {} if are_host_labels else {"y_true": y_true}
    own, (*_, given) = as_arrays(**same_library, y_score=y_score, thresholds=_thresholds_like(y_score, thresholds))
    if given.ndim != 1 or not (own.is_integer(given) or own.is_float(given)):
        raise ArgumentError(
            "thresholds", f"expected numbers of shape (T,), got shape {tuple(given.shape)} and dtype {given.dtype}"
        )
    given = own.detached(given)
    view = own.host_view(given)
    samples = samples.moved(own) if view is None else samples._replace(own=own)
    rows, shape = as_rows(samples)
    backend = rows.backend
    if view is not None and np.isnan(view).any():
        raise ValueError(_NAN.format(int(np.isnan(view).argmax())))
    limits = samples.directed(backend.xp.astype(view if backend is NUMPY else given, rows.scores.dtype))
    with backend.quiet():
        cm = _matrices(*_counts_at(rows, limits), rows)
    if samples.weight is not None and samples.is_weighted:
        cm = backend.xp.astype(cm, samples.weight.dtype)
    return samples, limits, backend.xp.reshape(cm, (*shape, *cm.shape[1:]))


def _thresholds_like(y_score: Any, thresholds: Any) -> Any:
    """Thresholds of a list as an array like the scores, if these are on a device or in compiled code.

    There NumPy arrays raise an error, and torch.compile does not trace them. Other thresholds are unchanged.
    """
    if not isinstance(thresholds, (list, tuple)) or not all(isinstance(limit, (int, float)) for limit in thresholds):
        return thresholds
    backend, (y_score,) = as_arrays(y_score=y_score)
    if backend.host_view(backend.detached(y_score)) is not None:
        return thresholds
    if any(math.isnan(limit) for limit in thresholds):
        raise ValueError(_NAN.format([math.isnan(limit) for limit in thresholds].index(True)))
    return backend.constant([thresholds], backend.to_float(y_score))[0, :]


def all_thresholds(samples: ScoredSamples, *, unique: bool = False) -> tuple[Array, Array]:
    """The thresholds (*B, T) of samples and the matrices there, in the library of the computation."""
    rows, shape = as_rows(samples)
    backend = rows.backend
    curve = points(rows, with_thresholds=True, with_rest=True)
    if unique:
        curve = _without_repeats(curve, shape)
    limits = curve.thresholds
    cm = _matrices([curve.tn, curve.fp], [curve.fn, curve.tp], rows)
    return backend.xp.reshape(limits, (*shape, *cm.shape[1:2])), backend.xp.reshape(cm, (*shape, *cm.shape[1:]))


def _without_repeats(curve: Points, shape: tuple[int, ...]) -> Points:
    if curve.backend is not NUMPY:
        raise TypeError(
            "unique: expected False, or arrays on the CPU outside jit, compile and vmap, as shapes depend on values"
        )
    if shape != ():
        raise ValueError(f"unique=True: expected the scores of a single curve, got shape {shape}")
    last_points = np.flatnonzero(curve.is_last[0])
    limits = None if curve.thresholds is None else curve.thresholds[:, last_points]
    tp, fp, fn, tn = (None if x is None else x[:, last_points] for x in (curve.tp, curve.fp, curve.fn, curve.tn))
    return curve._replace(thresholds=limits, tp=tp, fp=fp, fn=fn, tn=tn, is_last=curve.is_last[:, last_points])


def _matrices(true_0: list[Any], true_1: list[Any], rows: SampleRows) -> Array:
    """The matrices (R, T, 2, 2) from their rows; cells of invalid samples are -1 or NaN, so that measures are NaN."""
    backend, xp = rows.backend, rows.backend.xp
    cm = xp.stack([xp.stack(cells, axis=-1) for cells in (true_0, true_1)], axis=-2)
    if backend is NUMPY and not rows.spoiled.any():
        return cm
    marker = math.nan if backend.is_float(cm) else -1
    return xp.where(rows.spoiled[:, None, None, None], marker, cm)


def _counts_at(rows: SampleRows, limits: Array) -> tuple[list[Array], list[Array]]:
    """The rows [tn, fp] and [fn, tp], each (R, T), at thresholds in any order, from a cumulated histogram."""
    backend, xp = rows.backend, rows.backend.xp
    count, number = rows.scores.shape[0], limits.shape[0]
    order = xp.argsort(limits)
    ascending = xp.take(limits, order)
    numbers_below = xp.searchsorted(
        ascending, xp.reshape(rows.scores, (-1,)), side="right"
    )  # the number of thresholds up to the score
    bins = xp.astype(xp.reshape(numbers_below, rows.scores.shape), label_dtype(rows.scores, backend)) * 2
    bins = bins + xp.astype(rows.positive, bins.dtype)
    dtype = bins.dtype if rows.weight is None else rows.weight.dtype
    counts = backend.count(bins, count, 2 * (number + 1), rows.weight, dtype=dtype)
    counts = xp.reshape(counts, (count, number + 1, 2))
    below = backend.running_sum(counts[:, :-1, :], axis=1)
    above = xp.flip(backend.running_sum(xp.flip(counts[:, 1:, :], axis=1), axis=1), axis=1)
    inverse_order = xp.argsort(order)
    below, above = xp.take(below, inverse_order, axis=1), xp.take(above, inverse_order, axis=1)
    return [below[:, :, 0], above[:, :, 0]], [below[:, :, 1], above[:, :, 1]]
