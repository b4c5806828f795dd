"""Measures of the k samples with the highest scores, as in a queue of alerts: precision, recall and lift."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Literal

from matrics._arrays import Array
from matrics._arrays.sizes import check_count
from matrics._engine.safety import Safe
from matrics._errors import ArgumentError
from matrics._ranking.averages import Average, check_average, of_rows
from matrics._ranking.inputs import read
from matrics._ranking.rows import SampleRows, sums_at_scores
from matrics.typing import ArrayLike

__all__ = ["hits_at", "lift_at_k", "precision_at_k", "recall_at_k"]


def precision_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: int,
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
    """Share of positive samples among the k samples with the highest scores.

    If several samples share the k-th score and not all of them have a place, the value is the mean over all orders of
    these samples.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes: probabilities, logits, or any number that is higher for
        samples of the class. They are scores of classes if they have an axis more than the labels, after the axis of
        samples. Otherwise both broadcast: a ``y_true`` (N,) against the scores (M, N) of M models. Each class counts
        against the rest.
    k : int
        The number of samples that are chosen, such as the alerts that are looked into each day.
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
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample. k stays a number of rows; of these the value is the share of the weight.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. Such a class
        takes no part in averages over classes.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The rows of a
        batch, or of classes, are computed in parallel.
    zero_division : float, default NaN
        The value where there are fewer than k samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Between 0 and 1. :func:`matrics.ranking.interval` has limits of ``precision_at_k(k=100)``, and
        :func:`matrics.ranking.compare` compares models by it.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.roc_auc`; ``k`` is not a number from 1 to N, or to the number of pooled
        scores for ``"micro"``.

    Examples
    --------
    >>> import matrics
    >>> y_true, y_score = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.9, 0.7, 0.7, 0.7]
    >>> matrics.ranking.precision_at_k(y_true, y_score, 1)
    np.float64(1.0)
    >>> matrics.ranking.precision_at_k(y_true, y_score, 2)  # two of the three samples with 0.7 are positive
    np.float64(0.8333333333333333)
    """
    return _of_highest(
        "precision", y_true, y_score, k, average, sample_weight, zero_division, workers,
        labels=labels, positive=positive, lower_is_positive=lower_is_positive, ignore_index=ignore_index,
    )  # fmt: skip


def recall_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: int,
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
    """Share of the positive samples that are among the k samples with the highest scores.

    Whether the true class of a sample is among the k highest scores of its classes is
    :func:`matrics.ranking.top_k_accuracy`.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes: probabilities, logits, or any number that is higher for
        samples of the class. They are scores of classes if they have an axis more than the labels, after the axis of
        samples. Otherwise both broadcast: a ``y_true`` (N,) against the scores (M, N) of M models. Each class counts
        against the rest.
    k : int
        The number of samples that are chosen, such as the alerts that are looked into each day.
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
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample. k stays a number of rows; of these the value is the share of the weight.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. Such a class
        takes no part in averages over classes.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The rows of a
        batch, or of classes, are computed in parallel.
    zero_division : float, default NaN
        The value without positive samples, or with fewer than k samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        Between 0 and 1, and at most k divided by the number of positive samples.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.precision_at_k`.

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.recall_at_k([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.9, 0.7, 0.7, 0.7], 2)
    np.float64(0.5555555555555555)
    """
    return _of_highest(
        "recall", y_true, y_score, k, average, sample_weight, zero_division, workers,
        labels=labels, positive=positive, lower_is_positive=lower_is_positive, ignore_index=ignore_index,
    )  # fmt: skip


def lift_at_k(
    y_true: ArrayLike,
    y_score: ArrayLike,
    k: int,
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
    """Precision among the k samples with the highest scores, divided by the share of positives among all samples.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 and 1, 0 to n - 1 with scores of n classes, or any labels with ``labels=`` or ``positive=``.
    y_score : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Scores of class 1 of two, or of each of n classes: probabilities, logits, or any number that is higher for
        samples of the class. They are scores of classes if they have an axis more than the labels, after the axis of
        samples. Otherwise both broadcast: a ``y_true`` (N,) against the scores (M, N) of M models. Each class counts
        against the rest.
    k : int
        The number of samples that are chosen, such as the alerts that are looked into each day.
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
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample. k stays a number of rows; of these the value is the share of the weight.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. Such a class
        takes no part in averages over classes.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The rows of a
        batch, or of classes, are computed in parallel.
    zero_division : float, default NaN
        The value without positive samples, or with fewer than k samples.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        0 or above; 1 if samples are chosen at random.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.ranking.precision_at_k`.

    Examples
    --------
    >>> import matrics
    >>> matrics.ranking.lift_at_k([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.9, 0.7, 0.7, 0.7], 2)
    np.float64(1.6666666666666665)
    """
    return _of_highest(
        "lift", y_true, y_score, k, average, sample_weight, zero_division, workers,
        labels=labels, positive=positive, lower_is_positive=lower_is_positive, ignore_index=ignore_index,
    )  # fmt: skip


def hits_at(k: float, sums: Array, number: Array, xp: Any) -> Array:
    """The expected sum over k rows, (R, 1), from sums and numbers of rows at each score, (R, T + 1).

    Between two scores the sums are interpolated linearly, because rows of equal scores are in random order.
    """
    below, above = number <= k, number >= k

    def neighbours(x: Array) -> tuple[Array, Array]:
        before = xp.max(xp.where(below, x, 0), axis=-1, keepdims=True)
        return before, xp.min(xp.where(above, x, x[:, -1:]), axis=-1, keepdims=True)

    (first, last), (start, end) = neighbours(number), neighbours(sums)
    gap = last - first
    share = xp.where(gap > 0, (k - first) / xp.where(gap > 0, gap, 1), 0)
    return start + share * (end - start)


def _of_highest(  # noqa: PLR0917 (the parameters of the public functions)
    name: Literal["precision", "recall", "lift"],
    y_true: Any,
    y_score: Any,
    k: Any,
    average: Any,
    sample_weight: Any,
    zero_division: float,
    workers: int,
    **options: Any,
) -> Any:
    samples = read(y_true, y_score, sample_weight, options.pop("ignore_index"), **options)
    k = check_count(k, "k")
    method = check_average(average, positive=options["positive"], num_classes=samples.num_classes)
    number, what = samples.y_true.shape[-1], "samples"
    if method == "micro" and samples.num_classes is not None:
        number, what = number * (samples.num_classes - len(samples.left_out)), "pooled scores"
    if k > number:
        raise ArgumentError("k", f"expected at most the number of {what}, {number:,}, got {k:,}")

    def value(rows: SampleRows, safe: Safe) -> Array:
        backend, xp = rows.backend, rows.backend.xp
        dtype = backend.widest_float(rows.scores)
        hits, size, number = (xp.astype(x, dtype) for x in sums_at_scores(rows))
        chosen, weight = hits_at(k, hits, number, xp)[:, 0], hits_at(k, size, number, xp)[:, 0]
        divisors = {
            "precision": weight,
            "recall": hits[:, -1],
            "lift": weight * hits[:, -1] / safe.nonzero(size[:, -1]),
        }
        return safe.define(chosen / safe.nonzero(divisors[name]), (divisors[name] > 0) & (number[:, -1] >= k))

    return of_rows(value, samples, method, zero_division, workers)
