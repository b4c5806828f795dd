"""Areas under the curves of all thresholds: ROC AUC, whole and partial, and average precision."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Literal

from matrics._arrays import Array
from matrics._engine.safety import Safe
from matrics._quoting import quoted
from matrics._ranking.averages import Average, check_average, of_rows
from matrics._ranking.inputs import is_number, read
from matrics._ranking.pairwise import one_vs_one
from matrics._ranking.rows import Points, SampleRows, points
from matrics.typing import ArrayLike

MULTI_CLASS = {"one_vs_rest": "one_vs_rest", "one_vs_one": "one_vs_one", "ovr": "one_vs_rest", "ovo": "one_vs_one"}


def roc_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Average | None = "auto",
    multi_class: Literal["one_vs_rest", "one_vs_one"] = "one_vs_rest",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> Any:
    """Area under the receiver operating characteristic: how often a positive sample has a higher score than a negative.

    The value is exact: a pair of equal scores counts ½, and pairs are counted in integers if there are no weights.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes: probabilities, logits, or any number that is higher for
        samples of the class. They are scores of classes if they have an axis more than the labels, after the axis of
        samples. Otherwise both broadcast: a ``y_true`` (N,) against the scores (M, N) of M models.
    average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
        Of class scores: ``"auto"`` is the value of class 1 of two, and the mean over more classes. Otherwise the mean
        over classes, that mean weighted by the samples of each class, the value of all classes' scores pooled, or every
        class (``None`` or ``"class"``). Without an axis of classes it has no effect, and with ``positive`` it is an
        error.
    multi_class : {"one_vs_rest", "one_vs_one"}
        Each class against all others, or the mean over all pairs of classes (Hand and Till), which does not change
        with the sizes of the classes. "weighted" then weights each pair by its samples.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_score`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With scores of n classes it selects this class, against
        the rest.
    lower_is_positive : bool, default False
        Whether scores are lower in the positive class, as those of a test whose low values mean an illness. For scores
        of a single class.
    sample_weight : array_like, optional
        A weight for each sample, finite and not negative; a pair weighs the product of its weights.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. Such a class
        takes no part in averages over classes.
    zero_division : float, default NaN
        The value without positive or without negative samples.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The rows of a
        batch, or of classes, are computed in parallel.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Between 0 and 1; ½ for random scores. NaN for a batch element with a NaN score. Undefined classes
        are left out of means.

    Raises
    ------
    TypeError
        Labels are not integers, or scores not floating.
    ValueError
        The shapes do not fit; or a label is out of range or a weight is not finite or negative, where looking is free
        (NumPy arrays, CPU tensors, concrete JAX arrays on the CPU). Elsewhere they make their batch element NaN.

    Notes
    -----
    The area is a step function of the scores: its gradient is 0 or undefined, and none is recorded.
    :func:`matrics.probabilities.log_loss` has a gradient.

    References
    ----------
    Fawcett 2006, "An introduction to ROC analysis"; Hand and Till 2001, "A simple generalisation of the area under the
    ROC curve for multiple class classification problems", equation 7.

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    np.float64(0.75)

    Labels that are no numbers:

    >>> matrics.ranking.roc_auc(["ok", "ok", "fraud", "fraud"], [0.1, 0.4, 0.35, 0.8], positive="fraud")
    np.float64(0.75)

    Two models on the same samples:

    >>> matrics.ranking.roc_auc([0, 0, 1, 1], [[0.1, 0.4, 0.35, 0.8], [0.5, 0.5, 0.5, 0.5]])
    array([0.75, 0.5 ])

    Scores of three classes:

    >>> y_score = [[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5], [0.4, 0.4, 0.2]]
    >>> matrics.ranking.roc_auc([0, 1, 2, 1], y_score, average=None)
    array([1., 1., 1.])
    """
    comparison = MULTI_CLASS.get(multi_class)
    if comparison is None:
        raise ValueError(f"multi_class: expected 'one_vs_rest' or 'one_vs_one', got {quoted(multi_class)}")
    if comparison == "one_vs_one" and positive is not None:
        raise ValueError("multi_class='one_vs_one': expected no positive=, which compares a class with the rest")
    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    if comparison == "one_vs_one" and samples.num_classes is not None:
        return one_vs_one(samples, check_average(average, ("auto", "macro", "weighted")), zero_division, workers)
    return of_rows(
        _roc_area,
        samples,
        check_average(average, positive=positive, num_classes=samples.num_classes),
        zero_division,
        workers,
    )


def partial_roc_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    max_fpr: float,
    standardized: bool = True,
    average: Average | None = "auto",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> Any:
    """Area under the receiver operating characteristic up to a false positive rate.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes: probabilities, logits, or any number that is higher for
        samples of the class. They are scores of classes if they have an axis more than the labels, after the axis of
        samples. Otherwise both broadcast: a ``y_true`` (N,) against the scores (M, N) of M models. Each class counts
        against the rest.
    average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
        Of class scores: ``"auto"`` is the value of class 1 of two, and the mean over more classes. Otherwise the mean
        over classes, that mean weighted by the samples of each class, the value of all classes' scores pooled, or every
        class (``None`` or ``"class"``). Without an axis of classes it has no effect, and with ``positive`` it is an
        error.
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
    sample_weight : array_like, optional
        A weight for each sample, finite and not negative; a pair weighs the product of its weights.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. Such a class
        takes no part in averages over classes.
    zero_division : float, default NaN
        The value without positive or without negative samples.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The rows of a
        batch, or of classes, are computed in parallel.
    max_fpr : float
        The largest false positive rate, above 0 and up to 1. The curve is cut there, between two of its points if need
        be.
    standardized : bool, default True
        Scale the area as McClish does: ½ for random scores and 1 for perfect ones. If False, the area
        itself, which is at most ``max_fpr``.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        For ``max_fpr=1`` that of :func:`matrics.ranking.roc_auc`.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`; ``max_fpr`` is not above 0 and up to 1.

    References
    ----------
    McClish 1989, "Analyzing a portion of the ROC curve".

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.partial_roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    np.float64(0.6666666666666666)
    >>> matrics.ranking.partial_roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5, standardized=False)
    np.float64(0.25)
    """
    if not is_number(max_fpr) or not 0 < max_fpr <= 1:
        raise ValueError(f"max_fpr: expected a number above 0 and up to 1, got {quoted(max_fpr)}")
    limit = float(max_fpr)

    def area(rows: SampleRows, safe: Safe) -> Array:
        curve = points(rows)
        value = _area_up_to(curve, limit, safe)
        if standardized:
            area_of_random_scores = limit * limit / 2
            value = 0.5 * (1 + (value - area_of_random_scores) / (limit - area_of_random_scores))
        return safe.define(value, curve.of_both_classes)  # after scaling, so that zero_division stays as it is

    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    return of_rows(
        area,
        samples,
        check_average(average, positive=positive, num_classes=samples.num_classes),
        zero_division,
        workers,
    )


def average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Average | None = "auto",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> Any:
    """Average precision: the mean, over the positive samples, of the precision at the score of each as the threshold.

    It is the area under the steps of the precision-recall curve, Σ (R_k - R_(k-1)) P_k. The area is not interpolated
    linearly between two points: the precision there is not linear in the recall, and trapezoids are too large.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes: probabilities, logits, or any number that is higher for
        samples of the class. They are scores of classes if they have an axis more than the labels, after the axis of
        samples. Otherwise both broadcast: a ``y_true`` (N,) against the scores (M, N) of M models. Each class counts
        against the rest.
    average : {"auto", "macro", "weighted", "micro", "class"} or None, default "auto"
        Of class scores: ``"auto"`` is the value of class 1 of two, and the mean over more classes. Otherwise the mean
        over classes, that mean weighted by the samples of each class, the value of all classes' scores pooled, or every
        class (``None`` or ``"class"``). Without an axis of classes it has no effect, and with ``positive`` it is an
        error.
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
    sample_weight : array_like, optional
        A weight for each sample, finite and not negative.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. Such a class
        takes no part in averages over classes.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The rows of a
        batch, or of classes, are computed in parallel.
    zero_division : float, default NaN
        The value without positive samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Above 0 and up to 1; for random scores about the share of the positive samples. NaN for a batch
        element with a NaN score. Undefined classes are left out of means.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`.

    References
    ----------
    Davis and Goadrich 2006, "The relationship between precision-recall and ROC curves".

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    np.float64(0.8333333333333333)
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
    return of_rows(
        _average_precision,
        samples,
        check_average(average, positive=positive, num_classes=samples.num_classes),
        zero_division,
        workers,
    )


def _roc_area(rows: SampleRows, safe: Safe) -> Array:
    curve = points(rows)
    xp, backend = rows.backend.xp, rows.backend
    if backend.is_float(curve.tp) or backend.widest_int(curve.tp) is None:  # products would not fit in 32 bits
        return safe.define(_area_up_to(curve, 1.0, safe), curve.of_both_classes)
    twice_the_pairs = xp.sum((curve.fp[:, 1:] - curve.fp[:, :-1]) * (curve.tp[:, 1:] + curve.tp[:, :-1]), axis=-1)
    dtype = backend.widest_float(curve.tp)
    pairs = xp.astype(curve.positives, dtype) * xp.astype(curve.negatives, dtype)
    return safe.divide(xp.astype(twice_the_pairs, dtype) / 2, pairs)


def _area_up_to(curve: Points, max_fpr: float, safe: Safe) -> Array:
    """The area of the trapezoids up to a false positive rate; both classes must have samples."""
    fpr, tpr = curve.fpr(safe), curve.recall(safe)
    x0, x1, y0, y1 = fpr[:, :-1], fpr[:, 1:], tpr[:, :-1], tpr[:, 1:]
    xp = safe.xp
    width, height = xp.clip(x1, None, max_fpr) - xp.clip(x0, None, max_fpr), y0 + y1
    if max_fpr < 1:  # the last trapezoid ends at the largest rate, by interpolation between two points
        height = xp.where(x1 > max_fpr, 2 * y0 + (y1 - y0) * safe.ratio(width, x1 - x0), height)
    return xp.sum(width * height, axis=-1) / 2


def _average_precision(rows: SampleRows, safe: Safe) -> Array:
    curve = points(rows)
    precision, recall = curve.precision(safe), curve.recall(safe)
    area = safe.xp.sum((recall[:, 1:] - recall[:, :-1]) * precision[:, 1:], axis=-1)
    return safe.define(area, curve.positives > 0)
