"""Top-k accuracy and recall: whether the true class is among the k highest scores."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, get_args, overload

import numpy as np

from matrics._arrays import Array
from matrics._arrays.sizes import check_count
from matrics._engine.safety import Safe
from matrics._ranking.averages import check_average, mean_of_defined
from matrics._ranking.inputs import ScoredSamples, of_others
from matrics._ranking.probabilities import check_zero_division, finish, mean, of_true_class, read_scores
from matrics.typing import ArrayLike, ArrayT, HostArray

__all__ = ["top_k_accuracy", "top_k_recall"]

Average = Literal["auto", "macro", "weighted", "class"]


@overload
def top_k_accuracy(
    y_true: HostArray,
    y_score: HostArray,
    k: int | Sequence[int] = ...,
    *,
    labels: Iterable[Hashable] | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> Any: ...
@overload
def top_k_accuracy(
    y_true: ArrayLike,
    y_score: ArrayT,
    k: int | Sequence[int] = ...,
    *,
    labels: Iterable[Hashable] | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> ArrayT: ...
def top_k_accuracy(
    y_true: Any,
    y_score: Any,
    k: int | Sequence[int] = 5,
    *,
    labels: Iterable[Hashable] | None = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> Array:
    """Share of the samples whose true class is among the k highest scores.

    If the score of the true class is tied, and not all tied classes have a place among the first k, the sample counts
    as the share of the tied classes that have a place: the mean over random orders of the tied classes. So equal
    scores for all n classes score k / n, as random guesses do, and the order of the classes does not matter.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 to n - 1, or any labels with ``labels=``.
    y_score : array_like of floating numbers, shape (*B, N, n)
        Scores of the classes: logits, probabilities or anything else that is higher for likelier classes.
    k : int or sequence of K ints, default 5
        The number of classes that count as predicted, at most n.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``
        and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value.
    zero_division : float, default NaN
        The value without samples, or without weight.

    Returns
    -------
    array, shape (*B,), or (*B, K) for several k
        In [0, 1]. NaN for a batch element with a NaN score, with a RuntimeWarning where looking is free.

    Raises
    ------
    TypeError
        ``y_score`` is not floating, or ``y_true`` not integer.
    ValueError
        The shapes do not fit; ``k`` is not an integer from 1 to n; or, where looking is free, a label is out of range
        or a weight is negative, NaN or infinite. Elsewhere such a value makes the result of its batch element NaN.

    Notes
    -----
    scikit-learn's ``top_k_accuracy_score`` lets the class with the higher index win a tie.

    Examples
    --------
    >>> import matrics
    >>> y_score = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2]]
    >>> matrics.ranking.top_k_accuracy([0, 1, 1], y_score, [1, 2]).round(3)
    array([0.5, 1. ])
    """
    zero_division = check_zero_division(zero_division)
    samples = _read(y_true, y_score, labels, sample_weight, ignore_index)
    ks, is_single = _places(k, samples.scores.shape[-1])
    xp, hits = samples.backend.xp, _hits(samples, ks)
    shares = [mean(samples, hit, zero_division) for hit in hits]
    return finish(samples, shares[0] if is_single else xp.stack(shares, axis=-1))


@overload
def top_k_recall(
    y_true: HostArray,
    y_score: HostArray,
    k: int | Sequence[int] = ...,
    *,
    average: Average | None = ...,
    labels: Iterable[Hashable] | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> Any: ...
@overload
def top_k_recall(
    y_true: ArrayLike,
    y_score: ArrayT,
    k: int | Sequence[int] = ...,
    *,
    average: Average | None = ...,
    labels: Iterable[Hashable] | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> ArrayT: ...
def top_k_recall(
    y_true: Any,
    y_score: Any,
    k: int | Sequence[int] = 5,
    *,
    average: Average | None = "auto",
    labels: Iterable[Hashable] | None = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> Array:
    """Share of the samples of each class that have it among the k highest scores, and the mean over classes.

    Ties are treated as in :func:`matrics.ranking.top_k_accuracy`.

    There is no top-k precision or F1. With k predictions for a single true label, at least k - 1 of every k predictions
    are wrong. So a share of correct predictions is at most 1 / k, even for perfect scores. A sample has no
    single wrong class either: there is no confusion matrix with a count for each sample, from which to compute
    precision and F1.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, N)
        True labels: 0 to n - 1, or any labels with ``labels=``.
    y_score : array_like of floating numbers, shape (*B, N, n)
        Scores of the classes.
    k : int or sequence of K ints, default 5
        The number of classes that count as predicted, at most n.
    average : {"auto", "macro", "weighted", "class"} or None, default "auto"
        The mean over classes (``"auto"``, of two as well), the mean weighted by their numbers of samples
        (:func:`matrics.ranking.top_k_accuracy`), or every class (``None``). Classes without samples are left out of a
        mean, unless ``zero_division`` is a number.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_score``; those of ``y_true``
        and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value. A class of
        these takes no part in averages over classes.
    zero_division : float, default NaN
        The value of a class without samples, or without weight.

    Returns
    -------
    array, shape (*B,), or (*B, n) for ``average=None``
        In [0, 1]; with several k, (*B, K) or (*B, K, n). NaN for a batch element with a NaN score.

    Raises
    ------
    TypeError
        ``y_score`` is not floating, or ``y_true`` not integer.
    ValueError
        As :func:`matrics.ranking.top_k_accuracy`, and for another ``average``.

    Examples
    --------
    >>> import matrics
    >>> y_score = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.5, 0.2], [0.5, 0.1, 0.4]]
    >>> matrics.ranking.top_k_recall([0, 1, 1, 1], y_score, 2, average=None).round(3)
    array([1.   , 0.667,   nan])
    """
    method = check_average(average, get_args(Average))
    if method == "weighted":
        options: Any = {"sample_weight": sample_weight, "ignore_index": ignore_index, "zero_division": zero_division}
        return top_k_accuracy(y_true, y_score, k, labels=labels, **options)
    zero_division = check_zero_division(zero_division)
    samples = _read(y_true, y_score, labels, sample_weight, ignore_index)
    ks, is_single = _places(k, samples.scores.shape[-1])
    by_class = _by_class(samples, _hits(samples, ks), zero_division)
    others = of_others(by_class, samples.left_out, samples.backend.xp)
    recalls = by_class if method == "class" else mean_of_defined(others, None, Safe(samples.backend, zero_division))
    return finish(samples, (recalls[..., 0, :] if method == "class" else recalls[..., 0]) if is_single else recalls)


def _read(y_true: Any, y_score: Any, labels: Any, sample_weight: Any, ignore_index: Any) -> ScoredSamples:
    samples = read_scores(y_true, y_score, sample_weight, ignore_index, labels=labels)
    if samples.num_classes is None:
        raise ValueError(
            "y_score: expected scores of classes (*B, N, n), an axis more than y_true has, got shape "
            f"{tuple(samples.scores.shape)}; convert one-hot labels with y_true.argmax(-1)"
        )
    return samples


def _places(k: Any, num_classes: int) -> tuple[list[int], bool]:
    """The checked values of k, and whether k is a single number."""
    if isinstance(k, np.ndarray) and k.ndim == 1:
        k = list(k)
    is_single = not isinstance(k, (list, tuple, range))
    if not is_single and not k:
        raise ValueError("k: expected an integer of at least 1, or several of them, got none")
    return [check_place(value, num_classes, "k") for value in ([k] if is_single else k)], is_single


def check_place(k: Any, num_classes: int, name: str) -> int:
    """The checked value of k; raises an error if k exceeds the number of classes, as every sample would be a hit."""
    number = check_count(k, name)
    if number > num_classes:
        raise ValueError(
            f"{name}: expected at most {num_classes}, the number of classes, as every sample would be a hit, "
            f"got {number}"
        )
    return number


def _hits(samples: ScoredSamples, ks: list[int]) -> list[Array]:
    """For each k, the share of the true class in the first k places (*B, N): 0, 1, or between 0 and 1 if it is tied.

    Counting the higher scores instead of sorting takes O(n) for each sample, and is the same on every backend.
    """
    higher, tied = (samples.backend.xp.astype(x, samples.scores.dtype) for x in ranks(samples))
    return [share_of_places(k, higher, tied, samples.backend.xp) for k in ks]


def ranks(samples: ScoredSamples) -> tuple[Array, Array]:
    """The numbers of scores above, and equal to, the score of the true class of each sample (*B, N)."""
    count, scores, true = samples.backend.count_true, samples.scores, of_true_class(samples)[..., None]
    return count(scores > true), count(scores == true)


def share_of_places(k: int | Array, higher: Array, tied: Array, xp: Any) -> Array:
    """The share of a class in the first k places, from its number of higher and equal scores, itself included."""
    tied = xp.where(tied == 0, 1, tied)  # 0 only for NaN
    return xp.clip((k - higher) / tied, 0, 1)


def _by_class(samples: ScoredSamples, hits: list[Array], zero_division: float) -> Array:
    """The recall of each class (*B, K, n)."""
    backend, n = samples.backend, samples.scores.shape[-1]
    xp, batch_shape, size = backend.xp, tuple(samples.y_true.shape[:-1]), samples.y_true.shape[-1]
    weights = xp.ones_like(hits[0]) if samples.weight is None else xp.astype(samples.weight, hits[0].dtype)
    dtype = backend.widest_float(weights)  # in float32, adding a million samples has a rounding error
    columns = xp.stack([xp.astype(column, dtype) for column in (weights, *(hit * weights for hit in hits))], axis=-1)
    batch = math.prod(batch_shape)
    rows = xp.reshape(backend.clamped(samples.y_true, 0, n - 1), (batch, size))
    sums = backend.scatter_add(rows, xp.reshape(columns, (batch, size, len(hits) + 1)), n)
    sums = xp.reshape(sums, (*batch_shape, n, len(hits) + 1))
    shares = Safe(backend, zero_division).divide(sums[..., 1:], sums[..., :1] + xp.zeros_like(sums[..., 1:]))
    lead = len(batch_shape)
    return xp.astype(xp.permute_dims(shares, (*range(lead), lead + 1, lead)), weights.dtype)
