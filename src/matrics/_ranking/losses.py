"""The logarithmic loss, from probabilities or logits."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, overload

from matrics._arrays import Array, Standard, as_arrays
from matrics._counting.codes import in_order, known_labels
from matrics._counting.labels import class_axis_last, listed, refuse_axis_of_one, warn_if_ambiguous
from matrics._ranking.inputs import WORDS, ScoredSamples, read, warn_of_sums
from matrics._ranking.probabilities import (
    check_zero_division,
    finish,
    mean,
    missing,
    not_probabilities,
    of_true_class,
    read_soft,
    spoiled_where,
)
from matrics.typing import ArrayLike, ArrayT, HostArray

__all__ = ["log_loss"]


@overload
def log_loss(
    y_true: HostArray,
    y_prob: HostArray | None = ...,
    *,
    logits: HostArray | None = ...,
    class_axis: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> Any: ...
@overload
def log_loss(
    y_true: ArrayLike,
    y_prob: ArrayT | None = ...,
    *,
    logits: ArrayT | None = ...,
    class_axis: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    positive: Hashable = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    zero_division: float = ...,
) -> ArrayT: ...
def log_loss(
    y_true: Any,
    y_prob: Any = None,
    *,
    logits: Any = None,
    class_axis: int | None = None,
    labels: Iterable[Hashable] | None = None,
    positive: Hashable = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    zero_division: float = math.nan,
) -> Array:
    r"""Mean of -ln p over samples, p the predicted probability of the true class: the cross-entropy.

    Parameters
    ----------
    y_true : array_like, shape (*B, N), or the shape of ``y_prob``
        True labels, integers or booleans. Floating numbers are soft labels: probabilities of class 1, shape (N,), or
        probabilities of every class, shape (*B, N, n), with ``class_axis``.
    y_prob : array_like of floating numbers, shape (*B, N) or (*B, N, n), optional
        Predicted probabilities of class 1 of two, or of every class. They are not changed, and it is not checked
        whether those of a sample sum to 1.
    logits : array_like of floating numbers, shape (*B, N) or (*B, N, n), optional
        Instead of ``y_prob``: the argument of the sigmoid or the softmax. For losses to train with: value and
        gradient are exact for logits of any size, also if the probability itself is rounded to 0 or 1.
    class_axis : int, optional
        The axis of the classes. If left out, the number of axes decides: integer labels (*B, N) with (*B, N, n) have
        classes along the last axis, with a warning where axis 1 has as many entries. Soft labels of several axes need
        it, as they could be labels of class 1 as well: these have a last axis of length 1, ``y_true[..., None]`` with
        ``y_prob[..., None]``, and the result is the loss of each sample.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_prob``; those of ``y_true``,
        ``positive`` and ``ignore_index`` are then among them. Without it they are the numbers 0 to n - 1.
    positive : str or int, optional
        The label of the class that ``y_prob`` is of, among labels of any kind: it counts as 1, and all others as 0.
        Without it labels are 0 and 1, and 1 is positive. With probabilities of n classes it selects this class,
        against the rest; of logits of n classes it cannot, and soft labels have none.
    sample_weight : array_like, shape (*B, N), optional
        A weight for each sample.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out; their scores and weights may have any value.
    zero_division : float, default NaN
        The value without samples, or without weight.

    Returns
    -------
    array, shape (*B,)
        In [0, ∞]; infinite if a true class has the probability 0. NaN for a batch element with a NaN, or
        with an infinite logit among those of several classes.
        Differentiable with respect to ``y_prob``, ``logits`` and soft labels; with respect to a probability of 0 of a
        true class, where the slope is infinite, the gradient is 0.

    Raises
    ------
    TypeError
        Neither or both of ``y_prob`` and ``logits`` are given; or the argument is not floating.
    ValueError
        The shapes do not fit; or, where looking is free, a label, a probability or a weight is out of range. Elsewhere
        such a value makes the result of its batch element NaN.

    Notes
    -----
    For the logit y and the label z of class 1 it is max(y, 0) - y z + ln(1 + exp(-\|y\|)), which is computed as z
    s(-y) + (1 - z) s(y) with s(y) = max(y, 0) + ln(1 + exp(-\|y\|)), so that nothing cancels. (The Living Thing
    notebook, "Binary cross entropy", prints it without the z and with the probability for y in the exponent.)

    scikit-learn's ``log_loss`` clips probabilities a rounding error from 0 and from 1, so that its values are finite,
    and warns if the probabilities of a sample do not sum to 1.

    Examples
    --------
    >>> import matrics, numpy
    >>> matrics.probabilities.log_loss([1, 0], [0.5, 0.5]).round(4)
    np.float64(0.6931)
    >>> matrics.probabilities.log_loss([2, 0], [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]).round(4)
    np.float64(0.6931)
    >>> matrics.probabilities.log_loss([1, 0], logits=[1000.0, 1000.0])
    np.float64(500.0)
    >>> matrics.probabilities.log_loss([[0.9, 0.1]], [[0.5, 0.5]], class_axis=-1).round(4)
    np.float64(0.6931)

    The mean binary cross-entropy of each of L soft labels, ``(N, L)``:

    >>> y_true, logits = numpy.array([[1.0, 0.0], [0.5, 0.5]]), numpy.array([[2.0, -2.0], [2.0, -2.0]])
    >>> matrics.probabilities.log_loss(y_true[..., None], logits=logits[..., None]).mean(-1).round(4)
    array([0.1269, 1.1269])
    """
    if (y_prob is None) == (logits is None):
        raise TypeError(f"expected either y_prob or logits, got {'neither' if y_prob is None else 'both'}")
    zero_division = check_zero_division(zero_division)
    name, scores = ("y_prob", y_prob) if logits is None else ("logits", logits)
    options: Any = {"name": name, "class_axis": class_axis, "labels": labels, "positive": positive}
    samples, is_soft = _read(y_true, scores, sample_weight, ignore_index, **options)
    with samples.backend.quiet():
        return finish(samples, mean(samples, of_each(samples, name, is_soft=is_soft), zero_division))


def _read(
    y_true: Any,
    scores: Any,
    sample_weight: Any,
    ignore_index: Any,
    *,
    name: str,
    class_axis: int | None,
    labels: Iterable[Hashable] | None,
    positive: Hashable,
) -> tuple[ScoredSamples, bool]:
    """The checked samples, and whether their labels are soft."""
    if (class_labels := known_labels(labels)) is not None:
        scores = in_order(scores, class_labels, name)
    label_backend, (true_labels,) = as_arrays(y_true=y_true)
    has_classes: bool | None = None
    # Floating labels are soft, unless other arguments show that each label is a class.
    is_hard = (
        labels is not None
        or positive is not None
        or ignore_index is not None
        or _has_one_axis_less(true_labels, scores, name)
    )
    is_soft = label_backend.is_float(listed(y_true, true_labels, "y_true")) and not is_hard
    if is_soft:
        backend, (_, scores_array) = as_arrays(**{"y_true": y_true, name: scores})
        if not backend.is_float(scores_array):
            raise TypeError(
                f"{name}: expected floating {WORDS[name]}, got dtype {scores_array.dtype}; the labels come first, then "
                f"the {WORDS[name]}"
            )
    if class_axis is not None:
        has_classes, backend, (scores,) = True, *as_arrays(**{name: scores})
        if not is_soft:
            refuse_axis_of_one(true_labels, scores, class_axis, name)
        scores = class_axis_last(scores, class_axis, name, backend)
        y_true = class_axis_last(true_labels, class_axis, "y_true", label_backend) if is_soft else y_true
    elif is_soft:
        shape = tuple(as_arrays(**{name: scores})[1][0].shape)
        if max(true_labels.ndim, len(shape)) > 1 and {tuple(true_labels.shape[-1:]), shape[-1:]} != {(1,)}:
            raise ValueError(
                f"y_true: floating labels {tuple(true_labels.shape)} with {name} {shape} may be probabilities of every "
                "class or of class 1 of two: pass class_axis=-1 for the former; for the latter give both a last axis "
                f"of length 1, y_true[..., None] and {name}[..., None], which gives the loss of each sample; labels "
                "that are not soft must be integers"
            )
    if is_soft:
        samples = read_soft(y_true, scores, sample_weight, name=name, has_classes=bool(has_classes))
    else:
        options: Any = {"name": name, "has_classes": has_classes, "keeps_gradient": True}
        samples = read(y_true, scores, sample_weight, ignore_index, labels=class_labels, positive=positive, **options)
        _warn_of_two_readings(true_labels, scores, samples, name, class_axis)
    if name == "logits":
        is_bad = missing(samples.scores, samples.backend)
    else:
        is_bad = not_probabilities(samples.scores, name, samples.backend, "logits are passed as logits=")
        warn_of_sums(samples, name)
    return spoiled_where(samples, is_bad), is_soft


def _has_one_axis_less(labels: Array, scores: Any, name: str) -> bool:
    """Whether the scores have an axis of classes that the labels do not have."""
    shape = tuple(as_arrays(**{name: scores})[1][0].shape)
    return len(shape) > 1 and tuple(labels.shape) == shape[:-1]


def _warn_of_two_readings(
    labels: Array, scores: Any, samples: ScoredSamples, name: str, class_axis: int | None
) -> None:
    """Warn if the classes could also be on axis 1, and the labels fit both axes."""
    shape = tuple(getattr(scores, "shape", ()))
    if class_axis is None and samples.num_classes is not None and tuple(labels.shape) == shape[:-1]:
        warn_if_ambiguous(shape, samples.num_classes, -1, name)


def of_each(samples: ScoredSamples, name: str, *, is_soft: bool = False) -> Array:
    """The loss of each sample (*B, N), from probabilities (``name`` is ``"y_prob"``) or logits."""
    return (_of_class_1 if samples.num_classes is None else _of_classes)(samples, name, is_soft=is_soft)


def _of_class_1(samples: ScoredSamples, name: str, *, is_soft: bool) -> Array:
    """The loss of each sample (*B, N), from scores of class 1."""
    xp, y, x = samples.backend.xp, samples.y_true, samples.scores
    if name == "y_prob":
        loss_if_1, loss_if_0 = minus_log(x, samples.backend), minus_log_of_rest(x, samples.backend)
    else:
        # max and the absolute value have a kink at 0, and their sum has none. All terms use the derivative from the
        # left there, so that these add up to the derivative of the sum.
        is_positive = x > 0
        log_of_sum = xp.log1p(xp.exp(xp.where(is_positive, -x, x)))
        loss_if_1, loss_if_0 = xp.where(is_positive, 0, -x) + log_of_sum, xp.where(is_positive, x, 0) + log_of_sum
    return (
        _share(y, loss_if_1, xp) + _share(1 - y, loss_if_0, xp) if is_soft else xp.where(y == 1, loss_if_1, loss_if_0)
    )


def _of_classes(samples: ScoredSamples, name: str, *, is_soft: bool) -> Array:
    """The loss of each sample (*B, N), from scores of every class."""
    backend, x = samples.backend, samples.scores
    xp = backend.xp
    if name == "y_prob":
        if not is_soft:
            return minus_log(of_true_class(samples), backend)
        return xp.sum(_share(samples.y_true, minus_log(x, backend), xp), axis=-1)
    largest = backend.detached(xp.max(x, axis=-1, keepdims=True))  # the sum does not depend on it
    largest = xp.where(xp.isfinite(largest), largest, 0)
    log_of_sum = xp.log(xp.sum(xp.exp(x - largest), axis=-1, keepdims=True)) + largest
    if not is_soft:
        return log_of_sum[..., 0] - of_true_class(samples)
    return xp.sum(_share(samples.y_true, log_of_sum - x, xp), axis=-1)


def _share(label: Array, loss: Array, xp: Any) -> Array:
    """A soft label times its loss, with 0 · ∞ = 0."""
    return label * xp.where((label == 0) & (loss == math.inf), 0, loss)


def minus_log(p: Array, backend: Standard) -> Array:
    """-ln p; ∞ with gradient 0 where p is 0."""
    xp = backend.xp
    is_zero = _is_zero(p, backend)
    return xp.where(is_zero, math.inf, -xp.log(xp.where(is_zero, 1, p)))


def minus_log_of_rest(p: Array, backend: Standard) -> Array:
    """-ln(1 - p); ∞ with gradient 0 where p is 1."""
    xp = backend.xp
    is_certain = p == 1
    return xp.where(is_certain, math.inf, -xp.log1p(-xp.where(is_certain, 0, p)))


def _is_zero(p: Array, backend: Standard) -> Array:
    """Whether p is 0; on devices subnormal numbers count as 0, because compilers may flush them."""
    return p == 0 if backend.looking_is_free else p < float(backend.xp.finfo(p.dtype).smallest_normal)
