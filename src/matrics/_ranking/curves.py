"""The two curves that have names, and their points at a wanted precision or recall."""

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
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> RocCurve:
    """False and true positive rates at every threshold.

    Parameters
    ----------
    y_true, y_score, labels, positive, sample_weight, ignore_index
        See :func:`matrics.ranking.confusion_matrix`.
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
            read(y_true, y_score, sample_weight, ignore_index, labels=labels, positive=positive),
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
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> PrecisionRecallCurve:
    """Precision and recall at every threshold.

    Parameters
    ----------
    y_true, y_score, labels, positive, sample_weight, ignore_index
        See :func:`matrics.ranking.confusion_matrix`.
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
            read(y_true, y_score, sample_weight, ignore_index, labels=labels, positive=positive),
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
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> Any:
    """The highest precision of all thresholds whose recall is at least this.

    Parameters
    ----------
    y_true, y_score, average, labels, positive, sample_weight, ignore_index, workers
        See :func:`matrics.ranking.roc_auc`, each class against the rest.
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
    least = _share(recall, "recall")

    samples = read(y_true, y_score, sample_weight, ignore_index, labels=labels, positive=positive)
    how = check_average(average, positive=positive, num_classes=samples.num_classes)
    return of_rows(_highest("precision", "recall", least), samples, how, zero_division, workers)


def recall_at_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    precision: float,
    *,
    average: Average | None = "auto",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> Any:
    """The highest recall of all thresholds whose precision is at least this.

    Parameters
    ----------
    y_true, y_score, average, labels, positive, sample_weight, ignore_index, workers
        See :func:`matrics.ranking.roc_auc`, each class against the rest.
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
    least = _share(precision, "precision")

    samples = read(y_true, y_score, sample_weight, ignore_index, labels=labels, positive=positive)
    how = check_average(average, positive=positive, num_classes=samples.num_classes)
    return of_rows(_highest("recall", "precision", least), samples, how, zero_division, workers)


def recall_at_specificity(
    y_true: ArrayLike,
    y_score: ArrayLike,
    specificity: float,
    *,
    average: Average | None = "auto",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: ArrayLike | None = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
    workers: int = 1,
) -> Any:
    """The highest recall of all thresholds whose specificity is at least this: sensitivity at a fixed specificity.

    Parameters
    ----------
    y_true, y_score, average, labels, positive, sample_weight, ignore_index, workers
        See :func:`matrics.ranking.roc_auc`, each class against the rest.
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
    least = _share(specificity, "specificity")

    def best(rows: SampleRows, safe: Safe) -> Array:
        found, xp = points(rows), rows.backend.xp
        reached = found.specificity(safe) >= least
        recall = xp.max(xp.where(reached, found.recall(safe), 0), axis=-1)
        return safe.define(recall, found.of_both_classes)

    samples = read(y_true, y_score, sample_weight, ignore_index, labels=labels, positive=positive)
    return of_rows(
        best,
        samples,
        check_average(average, positive=positive, num_classes=samples.num_classes),
        zero_division,
        workers,
    )


def _highest(wanted: str, bound: str, least: float) -> RowFunction:
    """The highest value of one rate if the other is at least this."""

    def best(rows: SampleRows, safe: Safe) -> Array:
        found, xp = points(rows), rows.backend.xp
        rates = {"precision": found.precision(safe), "recall": found.recall(safe)}
        reached = (rates[bound] >= least) & (found.tp + found.fp > 0)
        return safe.define(xp.max(xp.where(reached, rates[wanted], 0), axis=-1), found.positives > 0)

    return best


def _share(value: Any, name: str) -> float:
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a number from 0 to 1, got {quoted(value)}")
    return float(value)


# The rates of curves, undefined where they are 0/0.
RATES: dict[str, Callable[[Points, Safe], Array]] = {
    "fpr": lambda found, safe: safe.define(found.fpr(safe), (found.negatives > 0)[:, None]),
    "recall": lambda found, safe: safe.define(found.recall(safe), (found.positives > 0)[:, None]),
    "precision": lambda found, safe: safe.define(found.precision(safe), found.tp + found.fp > 0),
}


def _curve(samples: ScoredSamples, zero_division: float, names: tuple[str, str]) -> tuple[Array, ...]:
    """Two rates at all points, and the thresholds."""
    check_options(zero_division, "nan")
    rows, shape = as_rows(samples)
    backend, xp = rows.backend, rows.backend.xp
    safe = Safe(backend, float(zero_division))
    with backend.quiet():
        found = points(rows, with_thresholds=True)
        marked = [xp.where(rows.spoiled[:, None], math.nan, RATES[name](found, safe)) for name in names]
    length = rows.scores.shape[1] + 1
    return tuple(samples.finish(xp.reshape(x, (*shape, length))) for x in (*marked, found.thresholds))
