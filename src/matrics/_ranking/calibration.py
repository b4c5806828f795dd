"""Calibration: how far predicted probabilities are from the observed shares."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Literal, get_args, overload

from matrics._arrays import Array
from matrics._engine.results import NamedResult, frame_of
from matrics._engine.safety import Safe
from matrics._quoting import quoted
from matrics._ranking.inputs import ScoredSamples, of_others
from matrics._ranking.probabilities import check_zero_division, finish, read_probabilities
from matrics._ranking.probability_bins import BinnedProbabilities, Bins, Forecasts, Of, binned, check_bins, forecasts
from matrics.typing import ArrayLike, ArrayT, HostArray

__all__ = ["Reliability", "expected_calibration_error", "reliability_curve"]

Norm = Literal["l1", "l2", "max"]


class Reliability(NamedResult):
    """The reliability curve of :func:`matrics.probabilities.reliability_curve`.

    Parameters
    ----------
    mean_probability : array, shape (*B, num_bins)
        The mean of the predicted probabilities in each bin; NaN in an empty bin.
    share_of_positives : array, shape (*B, num_bins)
        The observed frequency of the predicted class; NaN in an empty bin.
    count : array, shape (*B, num_bins)
        The samples in each bin, or their weight, as floating numbers.
    edges : array, shape (*B, num_bins + 1)
        The edges of the bins.
    """

    mean_probability: Any
    share_of_positives: Any
    count: Any
    edges: Any

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each bin, from ``low`` to ``high``."""
        edges = {"low": self.edges[..., :-1], "high": self.edges[..., 1:]}
        return frame_of(edges | dict(zip(self._fields[:3], self[:3], strict=True)))


@overload
def expected_calibration_error(
    y_true: HostArray,
    y_prob: HostArray,
    *,
    num_bins: int = ...,
    bins: Bins = ...,
    of: Of | None = ...,
    norm: Norm = ...,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> Any: ...
@overload
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayT,
    *,
    num_bins: int = ...,
    bins: Bins = ...,
    of: Of | None = ...,
    norm: Norm = ...,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> ArrayT: ...
def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    num_bins: int = 15,
    bins: Bins = "width",
    of: Of | None = None,
    norm: Norm = "l1",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> Array:
    """Mean distance of predicted probabilities from the observed shares, over bins of probabilities.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 to n - 1, or any labels with ``labels=`` or ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Predicted probabilities of class 1 of two, or of every class.
    num_bins : int, default 15
        Number of bins.
    bins : {"width", "mass"}
        Bins of equal width, or bins with equal numbers of samples (equal weight). Bins are [a, b), and the last is
        [a, 1]. Equal probabilities are in the same bin, so that masses are as equal as ties allow: bin k begins at the
        least probability that has more than k / num_bins of the weight up to it.
    of : {"top_label", "class_wise"}, optional
        Of probabilities of classes: the error of the highest probability, as that of a correct prediction
        (``"top_label"``, the default), or the mean over classes of the error of each. Probabilities of class 1 take
        neither.
    norm : {"l1", "l2", "max"}
        The mean over samples of the distance of their bin, the root of the mean of its square, or the largest distance
        (the maximum calibration error).
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_prob``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_prob`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With probabilities of n classes it selects this class,
        against the rest.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. A class of
        these takes no part in averages over classes.
    zero_division : float, default NaN
        The value without samples, or without weight.

    Returns
    -------
    array, shape (*B,)
        In [0, 1]. NaN for a batch element with a NaN.

    Raises
    ------
    TypeError
        ``y_prob`` is not floating, or ``y_true`` not integer.
    ValueError
        The shapes or options do not fit; or, where looking is free, a label, a probability or a weight is out of range.
        Elsewhere such a value makes the result of its batch element NaN.

    Notes
    -----
    The error depends on the bins, and is above 0 even for perfect probabilities, as shares of few samples are off by
    chance. It is no proper scoring rule: the same probability for every sample has the error 0 if it is the share of
    class 1. Compare models by :func:`matrics.probabilities.log_loss` or :func:`matrics.probabilities.brier_score`.

    Source: Naeini, Cooper & Hauskrecht 2015 (bins of class 1); Guo, Pleiss, Sun & Weinberger 2017, equation 3 (the top
    label, in bins of equal width) and equation 5 (the maximum); Kull et al. 2019 (class-wise); Nguyen & O'Connor 2015
    (bins of equal mass).

    Examples
    --------
    >>> import matrics
    >>> matrics.probabilities.expected_calibration_error([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75], num_bins=2)
    np.float64(0.25)
    >>> y_prob = [[0.75, 0.25, 0.0], [0.25, 0.5, 0.25]]
    >>> matrics.probabilities.expected_calibration_error([0, 2], y_prob)
    np.float64(0.375)
    """
    if norm not in get_args(Norm):
        raise ValueError(f"norm: expected 'l1', 'l2' or 'max', got {quoted(norm)}")
    zero_division = check_zero_division(zero_division)
    samples, columns, binned_samples = _read(
        *(y_true, y_prob, sample_weight, ignore_index),
        labels=labels,
        positive=positive,
        num_bins=num_bins,
        bins=bins,
        of=of,
    )
    backend = samples.backend
    xp, safe = backend.xp, Safe(backend, zero_division)
    # The difference of two equal sums would have a rounding error, so differences are summed.
    count, gap = binned_samples.sums(columns.weight, (columns.outcome - columns.probability) * columns.weight)
    total, size = xp.sum(count, axis=-1), xp.abs(gap)
    if norm == "l1":
        error = safe.ratio(xp.sum(size, axis=-1), total)
    elif norm == "l2":
        error = xp.sqrt(safe.ratio(xp.sum(size * safe.ratio(size, count), axis=-1), total))
    else:
        error = xp.max(safe.ratio(size, count), axis=-1)
    error = safe.define(error, total != 0)
    if samples.num_classes is not None and of == "class_wise":
        error = xp.mean(of_others(error, samples.left_out, xp), axis=-1)
    return finish(samples, error)


@overload
def reliability_curve(
    y_true: HostArray,
    y_prob: HostArray,
    *,
    num_bins: int = ...,
    bins: Bins = ...,
    of: Of | None = ...,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
) -> Reliability: ...
@overload
def reliability_curve(
    y_true: ArrayLike,
    y_prob: ArrayT,
    *,
    num_bins: int = ...,
    bins: Bins = ...,
    of: Of | None = ...,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
) -> Reliability: ...
def reliability_curve(
    y_true: Any,
    y_prob: Any,
    *,
    num_bins: int = 15,
    bins: Bins = "width",
    of: Of | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
) -> Reliability:
    """Mean predicted probabilities and observed shares of each bin: the points of a reliability diagram.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 to n - 1, or any labels with ``labels=`` or ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Predicted probabilities of class 1 of two, or of every class.
    num_bins : int, default 15
        Number of bins.
    bins : {"width", "mass"}
        Bins of equal width, or bins with equal numbers of samples (equal weight). Bins are [a, b), and the last is
        [a, 1]. Equal probabilities are in the same bin, so that masses are as equal as ties allow: bin k begins at the
        least probability that has more than k / num_bins of the weight up to it.
    of : {"top_label", "class_wise"}, optional
        Of probabilities of classes: the curve of the highest probability, as that of a correct prediction
        (``"top_label"``, the default), or a curve for each class, of shape (*B, n, num_bins). Probabilities of class 1
        take neither.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_prob``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_prob`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With probabilities of n classes it selects this class, against
        the rest.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. A class of
        these takes no part in averages over classes.

    Returns
    -------
    Reliability
        ``mean_probability``, ``share_of_positives``, ``count``, each (*B, num_bins), and ``edges`` (*B, num_bins + 1).
        All are NaN for a batch element with a NaN.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.probabilities.expected_calibration_error`.

    Examples
    --------
    >>> import matrics
    >>> curve = matrics.probabilities.reliability_curve([0, 1, 0, 1], [0.125, 0.375, 0.75, 1.0], num_bins=3)
    >>> curve.mean_probability
    array([0.125, 0.375, 0.875])
    >>> curve.share_of_positives
    array([0. , 1. , 0.5])
    >>> curve.count
    array([1., 1., 2.])
    """
    samples, columns, binned_samples = _read(
        *(y_true, y_prob, sample_weight, ignore_index),
        labels=labels,
        positive=positive,
        num_bins=num_bins,
        bins=bins,
        of=of,
    )
    safe, weight = Safe(samples.backend), columns.weight
    count, predicted, positives = binned_samples.sums(weight, weight * columns.probability, weight * columns.outcome)
    shares = safe.divide(predicted, count), safe.divide(positives, count)
    edges = samples.backend.copied(samples.backend.packed(binned_samples.edges))
    return Reliability(*(finish(samples, column) for column in (*shares, count, edges)))


def _read(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    ignore_index: Any,
    *,
    labels: Iterable[Hashable] | None,
    positive: Hashable,
    num_bins: Any,
    bins: Any,
    of: Any,
) -> tuple[ScoredSamples, Forecasts, BinnedProbabilities]:
    num_bins = check_bins(num_bins, bins)
    if of is not None and of not in get_args(Of):
        raise ValueError(f"of: expected 'top_label' or 'class_wise', got {quoted(of)}")
    samples = read_probabilities(y_true, y_prob, sample_weight, ignore_index, labels=labels, positive=positive)
    if of is not None and samples.num_classes is None:
        raise ValueError(
            f"of={quoted(of)}: expected probabilities of classes (*B, N, n), got probabilities of class 1, shape "
            f"{tuple(samples.scores.shape)}; leave it out, or stack 1 - y_prob and y_prob along a last axis"
        )
    columns = forecasts(samples, of)
    weight = None if samples.weight is None else columns.weight
    return samples, columns, binned(columns.probability, weight, num_bins, bins, samples.backend)
