"""The Brier score and its decomposition."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, overload

from matrics._arrays import Array
from matrics._engine.results import NamedResult
from matrics._engine.safety import Safe
from matrics._ranking.inputs import ScoredSamples, warn_of_sums
from matrics._ranking.probabilities import check_zero_division, finish, is_class, mean, read_probabilities
from matrics._ranking.probability_bins import Bins, binned, check_bins, forecasts
from matrics.typing import ArrayLike, ArrayT, HostArray

__all__ = ["BrierDecomposition", "brier_decomposition", "brier_score"]


class BrierDecomposition(NamedResult):
    """The parts of a Brier score, of :func:`matrics.probabilities.brier_decomposition`.

    Parameters
    ----------
    reliability : array, shape (*B,)
        The mean squared distance of the probabilities from the observed shares of positives; 0 is best.
    resolution : array, shape (*B,)
        The mean squared distance of the shares in the bins from the share overall; higher is better.
    uncertainty : array, shape (*B,)
        The Brier score of the overall share as the probability of every sample. It depends only on the labels.
    within_bin_variance : array, shape (*B,)
        The variance of the probabilities within bins; 0 if all probabilities of a bin are equal.
    within_bin_covariance : array, shape (*B,)
        Twice the covariance of probabilities and labels within bins; 0 if all probabilities of a bin are equal.
    """

    reliability: Any
    resolution: Any
    uncertainty: Any
    within_bin_variance: Any
    within_bin_covariance: Any

    @property
    def score(self) -> Any:
        """The Brier score, shape (*B,): reliability - resolution + uncertainty + variance - covariance."""
        within = self.within_bin_variance - self.within_bin_covariance
        return self.reliability - self.resolution + self.uncertainty + within


@overload
def brier_score(
    y_true: HostArray,
    y_prob: HostArray,
    *,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> Any: ...
@overload
def brier_score(
    y_true: ArrayLike,
    y_prob: ArrayT,
    *,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> ArrayT: ...
def brier_score(
    y_true: Any,
    y_prob: Any,
    *,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> Array:
    """Mean squared distance of predicted probabilities from the outcomes.

    Of class 1 it is the mean of (p - y)², in [0, 1]; of n classes the mean over samples of the sum of these squares
    over the classes, in [0, 2]. So two columns of probabilities give twice the value of a single column.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 to n - 1, or any labels with ``labels=`` or ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Predicted probabilities of class 1 of two, or of every class. They are not changed, and it is not checked
        whether those of a sample sum to 1.
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
        Samples with any of these true labels are left out; their scores and weights may have any value.
    zero_division : float, default NaN
        The value without samples, or without weight.

    Returns
    -------
    array, shape (*B,)
        Differentiable with respect to ``y_prob``. NaN for a batch element with a NaN.

    Raises
    ------
    TypeError
        ``y_prob`` is not floating, or ``y_true`` not integer.
    ValueError
        The shapes do not fit; or, where looking is free, a label, a probability or a weight is out of range. Elsewhere
        such a value makes the result of its batch element NaN.

    Notes
    -----
    scikit-learn's ``brier_score_loss`` has the same values; its ``scale_by_half=True`` is half of the value for
    classes.

    Source: Brier 1950 (the sum over classes).

    Examples
    --------
    >>> import matrics
    >>> matrics.probabilities.brier_score([1, 0], [0.75, 0.5])
    np.float64(0.15625)
    >>> matrics.probabilities.brier_score([1, 0], [[0.25, 0.75], [0.5, 0.5]])
    np.float64(0.3125)
    """
    zero_division = check_zero_division(zero_division)
    samples = read_probabilities(
        y_true, y_prob, sample_weight, ignore_index, labels=labels, positive=positive, keeps_gradient=True
    )
    warn_of_sums(samples, "y_prob")
    return finish(samples, mean(samples, squared_distance(samples), zero_division))


def squared_distance(samples: ScoredSamples) -> Array:
    """The squared distance of the probabilities of each sample from its outcome (*B, N), summed over the classes."""
    xp, p = samples.backend.xp, samples.scores
    happens = samples.y_true == 1 if samples.num_classes is None else is_class(samples)
    distance = xp.where(happens, 1 - p, p)
    squares = distance * distance
    return squares if samples.num_classes is None else xp.sum(squares, axis=-1)


def brier_decomposition(
    y_true: Any,
    y_prob: Any,
    *,
    num_bins: int = 15,
    bins: Bins = "width",
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
) -> BrierDecomposition:
    """Divide the Brier score into reliability, resolution, uncertainty, and two parts within bins.

    With f̄ and ō the mean probability and the share of positives in the bin of a sample, o the share overall, and means
    over samples: reliability is the mean of (f̄ - ō)², resolution the mean of (ō - o)², uncertainty o (1 - o), the
    variance within bins the mean of (f - f̄)², and the covariance within bins twice the mean of (f - f̄)(y - ō). Then

    Brier score = reliability - resolution + uncertainty + variance - covariance,

    which holds for any bins. If the probabilities in a bin are all equal, as with forecasts in tenths and bins that
    separate them, the last two are 0, and it is Murphy's decomposition.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 to n - 1, or any labels with ``labels=`` or ``positive=``.
    y_prob : array_like of floating numbers, shape (*B, N) or (*B, N, n)
        Predicted probabilities of class 1 of two, or of every class. For classes, each part is the sum over the
        classes, each against the rest, in bins of its probabilities.
    num_bins : int, default 15
        Number of bins.
    bins : {"width", "mass"}
        Bins of equal width, or bins with equal numbers of samples (equal weight). Bins are [a, b), and the last is
        [a, 1]. Equal probabilities are in the same bin, so that masses are as equal as ties allow: bin k begins at the
        least probability that has more than k / num_bins of the weight up to it.
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
        Samples with any of these true labels are left out; their scores and weights may have any value.

    Returns
    -------
    BrierDecomposition
        ``reliability``, ``resolution``, ``uncertainty``, ``within_bin_variance`` and ``within_bin_covariance``, each
        (*B,); its ``score`` is :func:`matrics.probabilities.brier_score`. NaN without samples, without weight, and for
        a batch element with a NaN.

    Raises
    ------
    TypeError, ValueError
        As :func:`matrics.probabilities.expected_calibration_error`.

    Notes
    -----
    Source: Murphy 1973 (the three parts); Stephenson, Coelho & Jolliffe 2008 (the two within bins; resolution -
    variance + covariance is their generalised resolution).

    Examples
    --------
    >>> import matrics
    >>> parts = matrics.probabilities.brier_decomposition([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], num_bins=2)
    >>> float(parts.reliability), float(parts.resolution), float(parts.uncertainty)
    (0.0625, 0.0625, 0.1875)
    >>> parts.score == matrics.probabilities.brier_score([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75])
    np.True_
    """
    num_bins = check_bins(num_bins, bins)
    samples = read_probabilities(y_true, y_prob, sample_weight, ignore_index, labels=labels, positive=positive)
    backend = samples.backend
    xp, safe = backend.xp, Safe(backend)
    columns = forecasts(samples, "class_wise")
    f, y, weight = columns
    binned_samples = binned(f, None if samples.weight is None else weight, num_bins, bins, backend)
    count, predicted, positives = binned_samples.sums(weight, weight * f, weight * y)
    total = xp.sum(count, axis=-1)

    def average(values: Array) -> Array:
        """The mean over samples, from sums over the samples of each bin or from values of samples."""
        return safe.divide(xp.sum(values, axis=-1), total)

    f_mean, y_mean = safe.ratio(predicted, count), safe.ratio(positives, count)
    share = average(positives)
    f_rest, y_rest = f - binned_samples.of_samples(f_mean), y - binned_samples.of_samples(y_mean)
    parts = (
        average(count * (f_mean - y_mean) ** 2),
        average(count * (y_mean - share[..., None]) ** 2),
        share * (1 - share),
        average(weight * f_rest * f_rest),
        2 * average(weight * f_rest * y_rest),
    )
    if samples.num_classes is not None:
        parts = tuple(xp.sum(part, axis=-1) for part in parts)
    return BrierDecomposition(*(finish(samples, part) for part in parts))
