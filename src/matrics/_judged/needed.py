"""labels_needed() and choose_samples(): the number of true labels for an interval, and the samples to label."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, as_arrays
from matrics._catalogue.record import Metric
from matrics._counting.labels import refuse_outside
from matrics._judged.correction import cells_of, squares_of
from matrics._judged.counts import JudgedCounts
from matrics._judged.estimates import PRIOR, Judged, estimates_of
from matrics._judged.influences import of_unseen_errors
from matrics._judged.results import LabelsNeeded
from matrics._judged.strata import LABELS_OF_A_STRATUM, strata_of
from matrics._quoting import quoted
from matrics._uncertainty.arguments import metrics_of
from matrics._uncertainty.limits import normal_quantile
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import check_level
from matrics.typing import ArrayLike


def labels_needed(
    counts: JudgedCounts,
    metric: str | Metric,
    *,
    half_width: float | None = None,
    difference: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> LabelsNeeded:
    """The number of true labels for an interval of a measure, and their allocation to strata.

    Parameters
    ----------
    counts : JudgedCounts
        From :func:`matrics.judged.count`: a first set of labels, drawn at random.
    metric : str or Metric
        A measure with a single value for each matrix.
    half_width : float, optional
        The distance of the limits from the estimate.
    difference : float, optional
        Instead: the distance from a fixed value, such as a requirement, that the labels detect with this ``power``.
    level : float, default 0.95
        The probability with which an interval is to contain the true value.
    power : float, default 0.8
        The probability of finding the difference.
    class_names : sequence of str, optional
        Names of the classes, in their order.
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Per-class measures
        without an average are values of this class. Without it they are values of class 1 of two classes, and means
        over more (``macro``).

    Returns
    -------
    LabelsNeeded
        The numbers of labels if drawn at random or by strata, and the allocation of the missing labels to the strata.

    Raises
    ------
    TypeError
        Not exactly one of ``half_width`` and ``difference`` is given, or ``counts`` is something else.
    ValueError
        A number is out of range, or the measure has a value for each class.

    Notes
    -----
    The variance of the post-stratified estimate includes the errors of the judge that labels do not show
    (:func:`matrics.judged.interval`). A part of this variance depends only on the number of samples; the rest is
    inversely proportional to the number of labels. The variance is smallest if the number of labels of each stratum is
    proportional to its size times the standard deviation of the derivative of the measure in it (Neyman 1934). Strata
    with fewer than 5 labels get 5, or as many as they have samples. Evaluate labels that were drawn by this allocation
    with ``design="strata"``.

    Examples
    --------
    >>> import matrics
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> y_true = random.integers(0, 2, 4000)
    >>> y_judge = np.where(random.random(4000) < 0.9, y_true, 1 - y_true)
    >>> y_pred = np.where(random.random(4000) < 0.8, y_true, 1 - y_true)
    >>> counts = matrics.judged.count(y_true, y_judge, y_pred, labelled=np.arange(4000) < 300, num_classes=2)
    >>> needed = matrics.judged.labels_needed(counts, "accuracy", half_width=0.02)
    >>> print(f"{needed.labels:.0f} labels at random, or {needed.in_strata:.0f} in strata")
    863 labels at random, or 626 in strata
    >>> needed.allocation  # of the next 326: more where the judge and the model disagree
    array([[ 97., 111.],
           [118.,   0.]])
    """
    target = _standard_error(half_width, difference, level, power)
    backend, cube, plane, _ = cells_of(counts)
    metrics_by_name = metrics_of(metric, cube.shape[-1], class_names, positive)
    if len(metrics_by_name) != 1 or next(iter(metrics_by_name.values())).is_classwise:
        raise ValueError(f"metric: expected a measure with a single value, such as 'f1:macro', got {quoted(metric)}")
    # A plan is made on the host, before labels are bought.
    tables = (cube, plane, *squares_of(counts, cube, plane, backend))
    batch, (number, n) = tuple(plane.shape[:-2]), plane.shape[-2:]
    arrays = [np.asarray(backend.to_numpy(x), np.float64) for x in tables]
    first, second, *squares = (x.reshape(math.prod(batch), *x.shape[len(batch) :]) for x in arrays)
    judged = Judged(first, second, (squares[0], squares[1]), "post_stratified", "random", NUMPY)
    (estimate,) = estimates_of(judged, [Measure.of(metric) for metric in metrics_by_name.values()], math.nan, 1)
    strata = strata_of(first, judged.sizes, squares[0], "random", NUMPY, prior=PRIOR)
    mean = (estimate.slopes[:, :, None, :] * strata.shares).sum(-3)
    within = (strata.shares * (estimate.slopes[:, :, None, :] - mean[:, None]) ** 2).sum(-3)
    total = judged.sizes.sum((-2, -1))
    # The errors that labels do not show, as a part of the variance of a label of the stratum.
    unseen = of_unseen_errors(estimate.slopes, strata, NUMPY) * judged.labels[:, None, None]
    weight = judged.sizes * total[:, None, None]
    deviation = np.sqrt(within + np.divide(unseen, weight, out=np.zeros_like(unseen), where=weight > 0))
    middle = (mean * judged.sizes).sum((-2, -1)) / np.maximum(total, 1)
    between = (judged.squares_of_all * (mean - middle[:, None, None]) ** 2).sum((-2, -1))
    room = np.maximum(target**2 - between, 0)  # the remaining variance, for the part that depends on labels
    with np.errstate(divide="ignore", invalid="ignore"):
        labels = np.ceil(total * (judged.sizes * deviation**2).sum((-2, -1)) / room)
    labels = np.where(labels <= total, labels, np.where(np.isnan(labels), math.nan, math.inf))
    known = first.sum(-3)
    allocations = [_allocation(*values) for values in zip(judged.sizes, known, deviation, room, strict=True)]
    allocation = np.asarray(allocations).reshape(-1, number, n)
    current = judged.labels
    in_strata = current + allocation.sum((-2, -1))
    parts = (labels, np.maximum(labels - current, 0), np.where(np.isnan(in_strata), math.inf, in_strata), allocation)
    return LabelsNeeded(*(part.reshape((*batch, *part.shape[1:]))[()] for part in parts))


def _standard_error(half_width: Any, difference: Any, level: Any, power: Any) -> float:
    """The standard error at which the limits have this half-width, or the test this power."""
    if (half_width is None) == (difference is None):
        raise TypeError(
            f"expected exactly one of half_width= and difference=, got {'neither' if difference is None else 'both'}"
        )
    name, size = ("half_width", half_width) if difference is None else ("difference", difference)
    if not isinstance(size, (int, float, np.number)) or isinstance(size, bool) or not 0 < size < math.inf:
        raise ValueError(f"{name}: expected a positive number, got {quoted(size)}")
    if not isinstance(power, (int, float, np.number)) or not 0 < power < 1:
        raise ValueError(f"power: expected a number between 0 and 1, such as 0.8, got {quoted(power)}")
    reach = normal_quantile(check_level(level)) + (0 if difference is None else NormalDist().inv_cdf(float(power)))
    return float(size) / reach


def _allocation(sizes: Array, known: Array, deviation: Array, room: float) -> Array:
    """The number of samples (judge, n) of each stratum to label next; NaN if the variance ``room`` is out of reach.

    This is Neyman's allocation. Strata that already have more labels, or have fewer samples, keep their number, and the
    allocation to the other strata is repeated with the remaining variance until nothing changes.
    """
    least = np.minimum(np.maximum(known, LABELS_OF_A_STRATUM), sizes)
    total = least.copy()
    free = (sizes > 0) & (deviation > 0)
    for _ in range(2 * sizes.size):
        weight = np.where(free, sizes * deviation, 0)
        fixed = ~free & (total > 0)
        remaining = room - ((sizes * deviation) ** 2 / np.where(fixed, total, np.inf)).sum()
        if not weight.sum():
            break
        if remaining <= 0:
            return np.full(sizes.shape, math.nan)
        share = weight * weight.sum() / remaining
        over, under = free & (share > sizes), free & (share < least)
        if not over.any() and not under.any():
            total = np.where(free, share, total)
            break
        is_fixed_now = over if over.any() else under  # small strata first, as the others then need more labels
        total = np.where(is_fixed_now, np.where(over, sizes, least), total)
        free &= ~is_fixed_now
    variance = ((sizes * deviation) ** 2 / np.where(total > 0, total, np.inf)).sum()
    if variance > room * (1 + 1e-9):
        return np.full(sizes.shape, math.nan)
    return np.ceil(np.maximum(total - known - 1e-9, 0))


def choose_samples(
    allocation: Any, y_judge: ArrayLike, y_pred: ArrayLike, *, labelled: ArrayLike | None = None, rng: Any = None
) -> Array:
    """The samples to label next, drawn at random within the strata according to an allocation.

    Parameters
    ----------
    allocation : array_like, shape (n, n) or (n + 1, n)
        The number of samples of each judge's label and prediction, as from :func:`labels_needed`; fractions are rounded
        up.
    y_judge, y_pred : array_like of int, shape (N,)
        The judge's and the predicted labels, as numbers of classes. With n + 1 labels of the judge, n and -1 stand for
        samples that the judge has not labelled.
    labelled : array_like of bool, shape (N,), optional
        Which samples have a true label already: they are not drawn.
    rng : numpy.random.Generator or int, optional
        The generator of the draws, or a seed; None draws different samples each time.

    Returns
    -------
    array of int, shape (K,)
        The indices of the samples, in ascending order. A stratum with fewer samples than allocated is drawn completely.

    Raises
    ------
    ValueError
        The shapes do not fit, or an allocation or a label is out of range.

    Examples
    --------
    >>> import matrics
    >>> matrics.judged.choose_samples([[0, 1], [0, 2]], y_judge=[0, 0, 1, 1, 1], y_pred=[0, 1, 1, 1, 0], rng=0)
    array([1, 2, 3])
    """
    numbers = np.asarray(allocation, np.float64)
    fits = numbers.ndim == 2 and numbers.shape[0] - numbers.shape[1] in {0, 1}
    if not fits or not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError(
            "allocation: expected finite numbers (n, n) or (n + 1, n) from 0 on, as from labels_needed, got "
            f"{quoted(allocation)}"
        )
    (number, n), values = numbers.shape, {"y_judge": y_judge, "y_pred": y_pred}
    backend, arrays = as_arrays(**values)
    judge, pred = (backend.to_numpy(array) for array in arrays)
    judge = np.where(judge == -1, n, judge) if number > n else judge
    for name, array, size in zip(values, (judge, pred), (number, n), strict=True):
        if array.ndim != 1 or array.dtype.kind not in "iu" or array.shape != judge.shape:
            raise ValueError(f"{name}: expected integers (N,), as many as y_judge, got {array.dtype} of {array.shape}")
        refuse_outside(array, size, None, name)
    has_label = np.zeros(judge.shape, bool) if labelled is None else np.asarray(labelled, bool)
    if has_label.shape != judge.shape:
        raise ValueError(f"labelled: expected shape {judge.shape}, got {has_label.shape}")
    generator = np.random.default_rng(rng)
    free = np.flatnonzero(~has_label)
    order = free[generator.permutation(len(free))]
    stratum = judge[order].astype(np.int64) * n + pred[order].astype(np.int64)
    order = order[np.argsort(stratum, kind="stable")]
    counts = np.bincount(stratum, minlength=number * n)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[place < np.repeat(np.ceil(numbers - 1e-9).ravel(), counts)])
