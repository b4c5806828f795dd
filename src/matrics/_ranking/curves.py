"""The ROC curve and the precision-recall curve, and points at a given precision, recall or specificity."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from matrics._arrays import Array
from matrics._engine.evaluation import check_options
from matrics._engine.results import NamedResult
from matrics._engine.safety import Safe
from matrics._quoting import quoted
from matrics._ranking.averages import Average, RowFunction, check_average, of_rows
from matrics._ranking.inputs import ScoredSamples, is_number, read
from matrics._ranking.rows import Points, SampleRows, as_rows, points
from matrics.typing import ArrayLike


class RocCurve(NamedResult):
    """The receiver operating characteristic, each field of shape (*B, N + 1).

    Parameters
    ----------
    fpr, tpr : array
        False and true positive rates, from 0 to 1.
    thresholds : array
        Samples with a score of at least this are predicted as positive; descending from infinity.
    """

    fpr: Array
    tpr: Array
    thresholds: Array


class PrecisionRecallCurve(NamedResult):
    """The precision-recall curve, each field of shape (*B, N + 1).

    Parameters
    ----------
    precision, recall : array
        Recall rises from 0 to 1; precision is undefined at the first point, where no sample is predicted as positive.
    thresholds : array
        Samples with a score of at least this are predicted as positive; descending from infinity.
    """

    precision: Array
    recall: Array
    thresholds: Array


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> RocCurve:
    """False and true positive rates at every threshold.

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
    zero_division : float, default NaN
        The rate of a class without samples.

    Returns
    -------
    RocCurve
        ``fpr``, ``tpr`` and ``thresholds``, (*B, N + 1), or (*B, n, N + 1) of n classes, each against the rest: the
        same points as of :func:`matrics.ranking.threshold_curve`. Equal scores have equal points. A NaN score makes its
        batch element NaN.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`.

    Examples
    --------
    >>> import matrics
    >>> curve = matrics.ranking.roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.fpr, curve.tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    return RocCurve(
        *_curve(
            read(
                y_true,
                y_score,
                sample_weight,
                ignore_index,
                labels=labels,
                positive=positive,
                lower_is_positive=lower_is_positive,
            ),
            zero_division,
            ("fpr", "recall"),
        )
    )


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    lower_is_positive: bool = False,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> PrecisionRecallCurve:
    """Precision and recall at every threshold.

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
    zero_division : float, default NaN
        The value of an undefined point: of precision where no sample is predicted as positive, of recall without
        positive samples.

    Returns
    -------
    PrecisionRecallCurve
        ``precision``, ``recall`` and ``thresholds``, (*B, N + 1), or (*B, n, N + 1) of n classes, each against the
        rest: the same points as of :func:`matrics.ranking.threshold_curve`. A NaN score makes its batch element NaN.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`.

    Examples
    --------
    >>> import matrics
    >>> curve = matrics.ranking.precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.precision.round(2), curve.recall
    (array([ nan, 1.  , 0.5 , 0.67, 0.5 ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    return PrecisionRecallCurve(
        *_curve(
            read(
                y_true,
                y_score,
                sample_weight,
                ignore_index,
                labels=labels,
                positive=positive,
                lower_is_positive=lower_is_positive,
            ),
            zero_division,
            ("precision", "recall"),
        )
    )


def precision_at_recall(
    y_true: ArrayLike,
    y_score: ArrayLike,
    recall: float,
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
    """The highest precision of all thresholds whose recall is at least this.

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
    recall : float
        The recall to reach, from 0 to 1.
    zero_division : float, default NaN
        The value without positive samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Between 0 and 1. :func:`matrics.ranking.best_threshold` gives the threshold as well.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`; ``recall`` is not between 0 and 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.precision_at_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.9)
    np.float64(0.6666666666666666)
    """
    minimum = _share(recall, "recall")

    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    method = check_average(average, positive=positive, num_classes=samples.num_classes)
    return of_rows(_highest("precision", "recall", minimum), samples, method, zero_division, workers)


def recall_at_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    precision: float,
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
    """The highest recall of all thresholds whose precision is at least this.

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
    precision : float
        The precision to reach, from 0 to 1.
    zero_division : float, default NaN
        The value without positive samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Between 0 and 1; 0 if no threshold reaches the precision, because then no sample can be predicted as positive.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`; ``precision`` is not between 0 and 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.recall_at_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.9)
    np.float64(0.5)
    """
    minimum = _share(precision, "precision")

    samples = read(
        y_true,
        y_score,
        sample_weight,
        ignore_index,
        labels=labels,
        positive=positive,
        lower_is_positive=lower_is_positive,
    )
    method = check_average(average, positive=positive, num_classes=samples.num_classes)
    return of_rows(_highest("recall", "precision", minimum), samples, method, zero_division, workers)


def recall_at_specificity(
    y_true: ArrayLike,
    y_score: ArrayLike,
    specificity: float,
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
    """The highest recall of all thresholds whose specificity is at least this: sensitivity at a fixed specificity.

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
    specificity : float
        The specificity to reach, from 0 to 1.
    zero_division : float, default NaN
        The value without positive or without negative samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Between 0 and 1. Its limits are those of ``recall_at_specificity(specificity=0.9)`` in
        :func:`matrics.ranking.interval`.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`; ``specificity`` is not between 0 and 1.

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.recall_at_specificity([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.9)
    np.float64(0.5)
    """
    minimum = _share(specificity, "specificity")

    def best(rows: SampleRows, safe: Safe) -> Array:
        curve, xp = points(rows), rows.backend.xp
        reached = curve.specificity(safe) >= minimum
        recall = xp.max(xp.where(reached, curve.recall(safe), 0), axis=-1)
        return safe.define(recall, curve.of_both_classes)

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
        best,
        samples,
        check_average(average, positive=positive, num_classes=samples.num_classes),
        zero_division,
        workers,
    )


def _highest(rate: str, bounded_rate: str, minimum: float) -> RowFunction:
    """A function for the highest value of a rate among thresholds at which another rate reaches a minimum."""

    def best(rows: SampleRows, safe: Safe) -> Array:
        curve, xp = points(rows), rows.backend.xp
        rates = {"precision": curve.precision(safe), "recall": curve.recall(safe)}
        reached = (rates[bounded_rate] >= minimum) & (curve.tp + curve.fp > 0)
        return safe.define(xp.max(xp.where(reached, rates[rate], 0), axis=-1), curve.positives > 0)

    return best


def _share(value: Any, name: str) -> float:
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a number from 0 to 1, got {quoted(value)}")
    return float(value)


# The rates of a curve at all points; undefined (0/0) rates become the value of ``safe``.
RATES: dict[str, Callable[[Points, Safe], Array]] = {
    "fpr": lambda curve, safe: safe.define(curve.fpr(safe), (curve.negatives > 0)[:, None]),
    "recall": lambda curve, safe: safe.define(curve.recall(safe), (curve.positives > 0)[:, None]),
    "precision": lambda curve, safe: safe.define(curve.precision(safe), curve.tp + curve.fp > 0),
}


def _curve(samples: ScoredSamples, zero_division: float, names: tuple[str, str]) -> tuple[Array, ...]:
    """The values of two rates at all points, and the thresholds."""
    check_options(zero_division, "nan")
    rows, shape = as_rows(samples)
    backend, xp = rows.backend, rows.backend.xp
    safe = Safe(backend, float(zero_division))
    with backend.quiet():
        curve = points(rows, with_thresholds=True)
        values = [xp.where(rows.spoiled[:, None], math.nan, RATES[name](curve, safe)) for name in names]
    length = rows.scores.shape[1] + 1
    return tuple(samples.finish(xp.reshape(x, (*shape, length))) for x in (*values, samples.directed(curve.thresholds)))
