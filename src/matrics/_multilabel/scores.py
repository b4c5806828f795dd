"""Measures of samples with several labels: of each label, over labels, over samples, and of whole samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, overload

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, check_options
from matrics._multilabel.averages import Average, by_spec, checked_average, means, metrics_of_labels, over_labels
from matrics._multilabel.counting import LabelSets, count, enter
from matrics._scoring.score import score as score_matrices
from matrics.typing import ArrayLike, ArrayT, HostArray, NumPyArray


@overload
def confusion_matrix(
    y_true: HostArray,
    y_pred: HostArray,
    *,
    samplewise: bool = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | Sequence[int] | None = ...,
) -> NumPyArray: ...
@overload
def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayT,
    *,
    samplewise: bool = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | Sequence[int] | None = ...,
) -> ArrayT: ...
def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    samplewise: bool = False,
    sample_weight: Any = None,
    ignore_index: int | Sequence[int] | None = None,
) -> Array:
    """Count 0 and 1 into a 2×2 confusion matrix for each label, or for each sample.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N, L)
        1 if a sample has a label, 0 if not. A data frame has a sample in each row.
    y_pred : array_like of int or bool, shape (*B, N, L)
        1 if the label is predicted. Batches broadcast: a ``y_true`` (N, L) against (M, N, L) predictions of M models.
    samplewise : bool, default False
        A matrix for each sample, over its labels, instead of a matrix for each label, over the samples.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against (*B, N).
    ignore_index : int or sequence of int, optional
        Entries with this true value are left out, with any prediction: -1 for a label without annotation.

    Returns
    -------
    array, shape (*B, L, 2, 2), or (*B, N, 2, 2) if samplewise
        Rows are the true values 0 and 1, columns the predicted values: ``[[tn, fp], [fn, tp]]``. 64-bit integers
        (32-bit in default JAX); floats if weighted.

    Raises
    ------
    TypeError
        The values are not integers or booleans; of scores pass ``scores >= 0.5``.
    ValueError
        The shapes do not fit, or there is no label; or a value is neither 0 nor 1, or a weight is negative, NaN or
        infinite, where values are checked: in NumPy arrays, CPU tensors and concrete JAX arrays on the CPU. Elsewhere
        values are not inspected, and such entries are left out.

    Examples
    --------
    >>> import matrics
    >>> y_true = [[1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> y_pred = [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    >>> matrics.multilabel.confusion_matrix(y_true, y_pred)
    array([[[1, 0],
            [0, 2]],
    <BLANKLINE>
           [[1, 0],
            [1, 1]],
    <BLANKLINE>
           [[1, 1],
            [1, 0]]])
    >>> matrics.multilabel.confusion_matrix(y_true, y_pred, samplewise=True).shape
    (3, 2, 2)
    """
    samples = enter(y_true, y_pred, sample_weight, ignore_index)
    return samples.own.packed(count(samples, "sample" if samplewise else "label").matrix)


@overload
def score(
    y_true: HostArray,
    y_pred: HostArray,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    average: Average | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | Sequence[int] | None = ...,
    zero_division: float = ...,
    invalid: Invalid = ...,
    workers: int = ...,
) -> dict[str, Any]: ...
@overload
def score(
    y_true: ArrayLike,
    y_pred: ArrayT,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    average: Average | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | Sequence[int] | None = ...,
    zero_division: float = ...,
    invalid: Invalid = ...,
    workers: int = ...,
) -> dict[str, ArrayT]: ...
def score(
    y_true: Any,
    y_pred: Any,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    average: Average | None = "auto",
    sample_weight: Any = None,
    ignore_index: int | Sequence[int] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "warn",
    workers: int = 1,
) -> dict[str, Array]:
    r"""Any measures of samples with several labels, averaged over labels or samples.

    A measure is computed from the 2×2 matrix of a label; class 1, to have the label, is the positive class:
    ``"recall"`` means ``"recall:binary"``. Another average in a spec, such as ``"recall:macro"``, is taken over the two
    classes 0 and 1 of that matrix.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N, L)
        1 if a sample has a label, 0 if not.
    y_pred : array_like of int or bool, shape (*B, N, L)
        1 if the label is predicted.
    metrics : str, Metric, or several of them
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas.
    average : {"auto", "macro", "micro", "weighted", "samples", "label"} or None, default "auto"
        ``"macro"``, as if left out: the mean over the labels. ``"weighted"``: the same, weighted by the number of
        samples that truly have the label. ``"micro"``: the measure of the sum of the labels' matrices. ``"samples"``:
        the mean over samples of the measure of each sample's own matrix. ``"label"``: no average.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against (*B, N). With ``average="samples"`` it is the weight in the mean.
    ignore_index : int or sequence of int, optional
        Entries with this true value are left out.
    zero_division : float, default NaN
        The value of undefined measures (0/0). Labels or samples with NaN are left out of a mean; a
        mean without values is ``zero_division`` as well.
    invalid : {"warn", "raise", "nan"}
        What to do about matrices with a negative, NaN or infinite cell. Every measure of such a matrix is NaN, and no
        other matrix is affected. ``"warn"`` names the first of them if the check is cheap (NumPy); ``"raise"`` checks
        on every backend, which waits for the device.
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results. The blocks of a
        stack are scored in parallel.

    Returns
    -------
    dict of str to array
        Keyed by metric, as given: shape (*B,), or (*B, L) with ``average="label"``; for ``:class`` and
        ``:one_vs_rest`` a last axis of the two classes follows.

    Raises
    ------
    TypeError
        The values are not integers or booleans.
    ValueError
        The shapes do not fit, a metric or the average does not exist; or a value is neither 0 nor 1, or a weight is
        wrong, where values can be checked, as in :func:`matrics.multilabel.confusion_matrix`.

    Notes
    -----
    The mean of F is the mean of the F of each label, :math:`\frac{1}{L} \sum_l F_l`, as in scikit-learn, never the F of
    the mean precision and the mean recall. The two differ (Opitz and Burst 2019, "Macro F1 and Macro F1").

    The Hamming loss, which is the share of wrong entries, is ``"hamming_loss"`` with ``average="micro"``.

    Examples
    --------
    >>> import matrics
    >>> y_true = [[1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> y_pred = [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    >>> matrics.multilabel.score(y_true, y_pred, "f1", average="label")["f1"].round(3)
    array([1.   , 0.667, 0.   ])
    >>> averages = ("macro", "micro", "weighted", "samples")
    >>> [float(matrics.multilabel.score(y_true, y_pred, "f1", average=a)["f1"].round(3)) for a in averages]
    [0.556, 0.667, 0.667, 0.722]
    """
    average = checked_average(average)
    check_options(zero_division, invalid, workers)
    chosen = metrics_of_labels(metrics, average)
    samples = enter(y_true, y_pred, sample_weight, ignore_index)
    scored = partial(score_matrices, zero_division=zero_division, invalid=invalid, workers=workers)
    if average == "samples":
        return _over_samples(samples, chosen, scored, zero_division)
    own = samples.own
    matrix = own.packed(count(samples).matrix)

    def pooled(chosen: list[str | Metric]) -> dict[str, Array]:
        return scored(own.xp.sum(own.to_wide(matrix), axis=-3), chosen)

    return over_labels(chosen, average, partial(scored, matrix), pooled, zero_division)


def _over_samples(
    samples: LabelSets, metrics: dict[str, Metric], scored: Callable[..., dict[str, Array]], zero_division: float
) -> dict[str, Array]:
    """Weights apply only to the mean: in a sample's own matrix they would cancel in most measures."""
    matrix = count(samples._replace(weights=None), "sample").matrix
    weights = samples.own.xp.ones_like(matrix[..., 0, 0])
    if samples.own_weights is not None:
        weights = samples.own.xp.broadcast_to(samples.own_weights, tuple(weights.shape))
    return means(metrics, scored(matrix, by_spec(metrics)), weights, zero_division)


@overload
def subset_accuracy(
    y_true: HostArray,
    y_pred: HostArray,
    *,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | Sequence[int] | None = ...,
    zero_division: float = ...,
) -> Any: ...
@overload
def subset_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayT,
    *,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | Sequence[int] | None = ...,
    zero_division: float = ...,
) -> ArrayT: ...
def subset_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    ignore_index: int | Sequence[int] | None = None,
    zero_division: float = math.nan,
) -> Array:
    """Fraction of the samples whose labels are all predicted correctly: the exact match ratio.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N, L)
        1 if a sample has a label, 0 if not.
    y_pred : array_like of int or bool, shape (*B, N, L)
        1 if the label is predicted.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against (*B, N).
    ignore_index : int or sequence of int, optional
        Entries with this true value are left out: a sample is right if all others are. A sample without any other entry
        is left out as a whole.
    zero_division : float, default NaN
        The value without samples, or without weights above 0.

    Returns
    -------
    array, shape (*B,)
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.multilabel.confusion_matrix`. Where values are not inspected, samples with a value
        that is neither 0 nor 1 are left out.

    Examples
    --------
    >>> import matrics
    >>> y_true = [[1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> matrics.multilabel.subset_accuracy(y_true, [[1, 0, 0], [0, 1, 0], [1, 0, 1]]).round(3)
    np.float64(0.333)
    """
    samples = enter(y_true, y_pred, sample_weight, ignore_index)
    matrix = count(samples, "whole").matrix[..., 0, :, :]
    return score_matrices(matrix, "accuracy", zero_division=zero_division)["accuracy"]
