"""labels_needed(): how many true labels buy an interval, and of which samples; and a draw of those."""

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
    """The number of true labels for an interval of a measure, and which samples to label next.

    Parameters
    ----------
    counts : JudgedCounts
        From :func:`matrics.judged.count`: a first set of labels, drawn at random.
    metric : str or Metric
        One measure with one value a matrix.
    half_width : float, optional
        What the limits may be away from the estimate.
    difference : float, optional
        Instead: the distance from a fixed value, such as a requirement, that is to be found with this ``power``.
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
        Numbers of labels at random and by strata, and the allocation of the missing ones to the strata.

    Raises
    ------
    TypeError
        Not exactly one of ``half_width`` and ``difference`` is given, or ``counts`` is something else.
    ValueError
        A number is out of range, or the measure has a value for each class.

    Notes
    -----
    The variance of the post-stratified estimate, with the errors of the judge that labels do not show
    (:func:`matrics.judged.interval`), is a part that labels do not change, as the samples are as many as they
    are, and one that is divided by the number of labels. In strata it is smallest if each has labels in proportion to
    its size times the standard deviation of the measure's derivative in it (Neyman 1934). Labels that were drawn so are
    evaluated with ``design="strata"``; strata with fewer than 5 labels get 5, or all they have.

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
    reach = _standard_error(half_width, difference, level, power)
    backend, cube, plane, _ = cells_of(counts)
    chosen = metrics_of(metric, cube.shape[-1], class_names, positive)
    if len(chosen) != 1 or next(iter(chosen.values())).is_classwise:
        raise ValueError(f"metric: expected one measure with one value, such as 'f1:macro', got {quoted(metric)}")
    # A plan is made on the host, before labels are bought.
    given = (cube, plane, *squares_of(counts, cube, plane, backend))
    batch, (number, n) = tuple(plane.shape[:-2]), plane.shape[-2:]
    arrays = [np.asarray(backend.to_numpy(x), np.float64) for x in given]
    first, second, *squares = (x.reshape(math.prod(batch), *x.shape[len(batch) :]) for x in arrays)
    judged = Judged(first, second, (squares[0], squares[1]), "post_stratified", "random", NUMPY)
    (estimate,) = estimates_of(judged, [Measure.of(metric) for metric in chosen.values()], math.nan, 1)
    strata = strata_of(first, judged.sizes, squares[0], "random", NUMPY, prior=PRIOR)
    mean = (estimate.slopes[:, :, None, :] * strata.shares).sum(-3)
    within = (strata.shares * (estimate.slopes[:, :, None, :] - mean[:, None]) ** 2).sum(-3)
    total = judged.sizes.sum((-2, -1))
    # The part of errors that labels do not show, as the variance of one label of the stratum.
    unseen = of_unseen_errors(estimate.slopes, strata, NUMPY) * judged.labels[:, None, None]
    weight = judged.sizes * total[:, None, None]
    deviation = np.sqrt(within + np.divide(unseen, weight, out=np.zeros_like(unseen), where=weight > 0))
    middle = (mean * judged.sizes).sum((-2, -1)) / np.maximum(total, 1)
    between = (judged.squares_of_all * (mean - middle[:, None, None]) ** 2).sum((-2, -1))
    room = np.maximum(reach**2 - between, 0)  # of the variance, for the part of the labels
    with np.errstate(divide="ignore", invalid="ignore"):
        labels = np.ceil(total * (judged.sizes * deviation**2).sum((-2, -1)) / room)
    labels = np.where(labels <= total, labels, np.where(np.isnan(labels), math.nan, math.inf))
    known = first.sum(-3)
    allocations = [_allocation(*one) for one in zip(judged.sizes, known, deviation, room, strict=True)]
    allocation = np.asarray(allocations).reshape(-1, number, n)
    there = judged.labels
    in_strata = there + allocation.sum((-2, -1))
    parts = (labels, np.maximum(labels - there, 0), np.where(np.isnan(in_strata), math.inf, in_strata), allocation)
    return LabelsNeeded(*(part.reshape((*batch, *part.shape[1:]))[()] for part in parts))


def _standard_error(half_width: Any, difference: Any, level: Any, power: Any) -> float:
    """The standard error that is wanted."""
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
    """How many samples (judge, n) of each stratum to label next, so that the variance fits; NaN where none fits.

    Neyman's numbers for the variance; strata that have more labels than theirs, or fewer samples, are set to what they
    have, and the others share the rest of the variance, until nothing changes.
    """
    least = np.minimum(np.maximum(known, LABELS_OF_A_STRATUM), sizes)
    wanted = least.copy()
    free = (sizes > 0) & (deviation > 0)
    for _ in range(2 * sizes.size):
        weight = np.where(free, sizes * deviation, 0)
        fixed = ~free & (wanted > 0)
        left = room - ((sizes * deviation) ** 2 / np.where(fixed, wanted, np.inf)).sum()
        if not weight.sum():
            break
        if left <= 0:
            return np.full(sizes.shape, math.nan)
        share = weight * weight.sum() / left
        over, under = free & (share > sizes), free & (share < least)
        if not over.any() and not under.any():
            wanted = np.where(free, share, wanted)
            break
        settled = over if over.any() else under  # strata that are too small first: they cost the others something
        wanted = np.where(settled, np.where(over, sizes, least), wanted)
        free &= ~settled
    variance = ((sizes * deviation) ** 2 / np.where(wanted > 0, wanted, np.inf)).sum()
    if variance > room * (1 + 1e-9):
        return np.full(sizes.shape, math.nan)
    return np.ceil(np.maximum(wanted - known - 1e-9, 0))


def choose_samples(
    allocation: Any, y_judge: ArrayLike, y_pred: ArrayLike, *, labelled: ArrayLike | None = None, rng: Any = None
) -> Array:
    """Draw the samples to label next: at random within the strata, as many of each as an allocation says.

    Parameters
    ----------
    allocation : array_like, shape (n, n) or (n + 1, n)
        How many samples of each judge's label and prediction, as from :func:`labels_needed`; fractions are rounded up.
    y_judge, y_pred : array_like of int, shape (N,)
        The judge's and the predicted labels, as numbers of classes. With n + 1 labels of the judge, n and -1 stand for
        samples that the judge has not labelled.
    labelled : array_like of bool, shape (N,), optional
        Which samples have a true label already: they are not drawn.
    rng : numpy.random.Generator or int, optional
        Where draws come from; anew each time if left out.

    Returns
    -------
    array of int, shape (K,)
        The numbers of the samples, in ascending order. Where a stratum has fewer than asked, all that it has.

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
    wanted = np.asarray(allocation, np.float64)
    fits = wanted.ndim == 2 and wanted.shape[0] - wanted.shape[1] in {0, 1}
    if not fits or not (np.isfinite(wanted) & (wanted >= 0)).all():
        raise ValueError(
            "allocation: expected finite numbers (n, n) or (n + 1, n) from 0 on, as from labels_needed, got "
            f"{quoted(allocation)}"
        )
    (number, n), values = wanted.shape, {"y_judge": y_judge, "y_pred": y_pred}
    backend, arrays = as_arrays(**values)
    judge, pred = (backend.to_numpy(array) for array in arrays)
    judge = np.where(judge == -1, n, judge) if number > n else judge
    for name, array, size in zip(values, (judge, pred), (number, n), strict=True):
        if array.ndim != 1 or array.dtype.kind not in "iu" or array.shape != judge.shape:
            raise ValueError(f"{name}: expected integers (N,), as many as y_judge, got {array.dtype} of {array.shape}")
        refuse_outside(array, size, None, name)
    there = np.zeros(judge.shape, bool) if labelled is None else np.asarray(labelled, bool)
    if there.shape != judge.shape:
        raise ValueError(f"labelled: expected shape {judge.shape}, got {there.shape}")
    generator = np.random.default_rng(rng)
    free = np.flatnonzero(~there)
    order = free[generator.permutation(len(free))]
    stratum = judge[order].astype(np.int64) * n + pred[order].astype(np.int64)
    order = order[np.argsort(stratum, kind="stable")]
    counts = np.bincount(stratum, minlength=number * n)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[place < np.repeat(np.ceil(wanted - 1e-9).ravel(), counts)])
