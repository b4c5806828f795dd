"""Labels, class scores and probabilities to stacks of confusion matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics import _backend
from matrics._backend import Array, Namespace
from matrics.transform import Over, check_over
from matrics.transform import normalize as _normalize


def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int,
    class_axis: int = -1,
    sample_ndim: int = 1,
    threshold: float | None = None,
    sample_weight: Any = None,
    ignore_index: int | None = None,
    normalize: Over | None = None,
) -> Array:
    """Count labels into confusion matrices; rows are true classes, columns predicted ones.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, *S)
        True labels in [0, num_classes).
    y_pred : array_like, shape (*B, *S), or (*B, *S) with a class axis
        Integers or booleans are labels. Floating numbers are class scores with ``num_classes`` entries along
        ``class_axis``, of which the largest counts; or, with ``threshold``, scores of class 1 of two. The dtype alone
        decides, never the shape or the values. Batches broadcast: one ``y_true`` (N,) against the (M, N) of M models.
    num_classes : int
        Number of classes, n.
    class_axis : int, default -1
        Where the class scores of ``y_pred`` are.
    sample_ndim : int, default 1
        How many of the last axes (after the class axis is gone) are samples, pooled into one matrix; the axes before
        them are the batch. 2 for one matrix an image.
    threshold : float, optional
        ``y_pred`` is the score of class 1 of two, and is called 1 where it is at least this.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int, optional
        Samples with this true label are left out.
    normalize : {"true", "pred", "all"}, optional
        Scale rows, columns or the whole to sum 1, as :func:`matrics.normalize` does.

    Returns
    -------
    array, shape (*B, n, n)
        64-bit integers (32-bit in default JAX); floats if weighted or normalised.

    Raises
    ------
    TypeError
        ``y_true`` is not integer, or ``y_pred`` is neither integer nor floating.
    ValueError
        The shapes do not fit; or, on NumPy, a label is out of range, a score is NaN, or a weight is negative, NaN or
        infinite. Elsewhere values are not looked at, and such labels and scores are left out, never miscounted.

    Examples
    --------
    >>> import matrics
    >>> matrics.confusion_matrix([0, 1, 1, 2], [0, 1, 2, 2], num_classes=3)
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])

    Three models at once, from their scores of class 1:

    >>> scores = [[0.9, 0.2, 0.6], [0.1, 0.2, 0.7], [0.8, 0.9, 0.9]]
    >>> matrics.confusion_matrix([1, 0, 1], scores, num_classes=2, threshold=0.5).shape
    (3, 2, 2)
    """
    values = {"y_true": y_true, "y_pred": y_pred}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    xp, (y_true, y_pred, *weights) = _backend.as_arrays(**values)
    num_classes = _check_count(num_classes, "num_classes")
    sample_ndim = _check_count(sample_ndim, "sample_ndim")
    _check_ignore_index(ignore_index)
    check_over(normalize, "normalize")
    _check_labels(y_true, "y_true", xp)
    bad = None
    if _backend.is_float(y_pred, xp):
        y_pred, bad = _decide(
            y_pred, num_classes, class_axis=class_axis, sample_ndim=sample_ndim, threshold=threshold, xp=xp
        )
    elif not _backend.is_integer(y_pred, xp):
        raise TypeError(f"y_pred: expected labels (integers) or class scores (floating), got dtype {y_pred.dtype}")
    elif threshold is not None:
        raise TypeError(f"threshold: expected y_pred to be floating scores of class 1, got labels ({y_pred.dtype})")
    y_true, y_pred, *weights = _broadcast(sample_ndim, xp, y_true=y_true, y_pred=y_pred, **_named(weights))
    batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
    samples = math.prod(y_true.shape[y_true.ndim - sample_ndim :])

    n = num_classes
    y_true, y_pred = _widen(y_true, xp), _widen(y_pred, xp)
    kept = _kept(y_true, ignore_index)
    counted = _in_range(y_true, n, kept, "y_true", xp) & _in_range(y_pred, n, kept, "y_pred", xp)
    if bad is not None:
        bad = xp.broadcast_to(bad, y_true.shape)
        _refuse_nan(bad, kept, xp)
        counted = counted & ~bad
    # What is not counted goes to an overflow bin: a label of -1 would wrap on JAX and raise on PyTorch.
    bins = y_true * n + y_pred
    bins = bins if counted is np.True_ else xp.where(counted, bins, n * n)
    bins = xp.reshape(bins, (math.prod(batch_shape), samples))
    if weights:
        weight = xp.reshape(_check_weights(weights[0], xp), bins.shape)
        counts = _backend.count(bins, n * n + 1, weight, weight.dtype, xp)
    else:
        counts = _backend.count(bins, n * n + 1, None, _label_dtype(bins, xp), xp)
    cm = xp.reshape(counts[:, : n * n], (*batch_shape, n, n))
    return cm if normalize is None else _normalize(cm, over=normalize)


def soft_confusion_matrix(
    y_true: Any,
    probs: Any,
    *,
    class_axis: int = -1,
    sample_ndim: int = 1,
    sample_weight: Any = None,
    ignore_index: int | None = None,
) -> Array:
    """Add up predicted probabilities into soft confusion matrices: a differentiable count.

    Cell (i, j) is the sum of the probabilities of class j over the samples of true class i, so that any measure of it
    is a loss.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, *S)
        True labels in [0, n).
    probs : array_like of floating numbers, shape (*B, *S) with a class axis of length n
        Probabilities or memberships.
    class_axis : int, default -1
        Where the classes of ``probs`` are.
    sample_ndim : int, default 1
        How many of the last axes (after the class axis is gone) are samples, pooled into one matrix.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int, optional
        Samples with this true label are left out.

    Returns
    -------
    array, shape (*B, n, n)
        In the dtype of ``probs`` (half is widened to float32), and differentiable with respect to it.

    Raises
    ------
    TypeError
        ``y_true`` is not integer, or ``probs`` is not floating.
    ValueError
        The shapes do not fit; or, on NumPy, a label is out of range or a weight is negative, NaN or infinite.
        Elsewhere values are not looked at, and samples with such labels are left out.

    Examples
    --------
    >>> import matrics
    >>> matrics.soft_confusion_matrix([0, 1, 1], [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
    array([[0.75, 0.25],
           [0.75, 1.25]])
    """
    values = {"y_true": y_true, "probs": probs}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    xp, (y_true, probs, *weights) = _backend.as_arrays(**values)
    sample_ndim = _check_count(sample_ndim, "sample_ndim")
    _check_ignore_index(ignore_index)
    _check_labels(y_true, "y_true", xp)
    if not _backend.is_float(probs, xp):
        raise TypeError(f"probs: expected floating probabilities, got dtype {probs.dtype}")
    probs = _class_axis_last(_backend.to_float(probs, xp), class_axis, "probs", xp)
    n = _check_count(probs.shape[-1], f"probs: the number of classes along class_axis={class_axis}")
    marker = probs[..., 0]  # of the samples' shape
    y_true, marker, *weights = _broadcast(sample_ndim, xp, y_true=y_true, probs=marker, **_named(weights))
    batch_shape = tuple(marker.shape[: marker.ndim - sample_ndim])
    samples = math.prod(marker.shape[marker.ndim - sample_ndim :])
    rows = (math.prod(batch_shape), samples)

    probs = xp.broadcast_to(probs, (*marker.shape, n))
    if weights:
        probs = probs * xp.astype(_check_weights(weights[0], xp), probs.dtype)[..., None]
    y_true = _widen(y_true, xp)
    counted = _in_range(y_true, n, _kept(y_true, ignore_index), "y_true", xp)
    bins = xp.reshape(xp.where(counted, y_true, n), rows)
    return xp.reshape(
        _backend.scatter_add(bins, xp.reshape(probs, (*rows, n)), n + 1, xp)[:, :n, :], (*batch_shape, n, n)
    )


# From scores to labels ----------------------------------------------------------------------------------------------


def _decide(
    scores: Array, num_classes: int, *, class_axis: int, sample_ndim: int, threshold: float | None, xp: Namespace
) -> tuple[Array, Array]:
    """The predicted labels, and where they rest on a NaN."""
    if threshold is not None:
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)) or math.isnan(threshold):
            raise ValueError(f"threshold: expected a number, got {threshold!r}")
        if num_classes != 2:
            raise ValueError(f"threshold: expected num_classes=2, got {num_classes}; for more classes leave it out")
        return xp.astype(scores >= threshold, _label_dtype(scores, xp)), xp.isnan(scores)
    hint = "if these are scores of class 1 of two, pass threshold=; if they are labels, make them integers"
    scores = _class_axis_last(scores, class_axis, "y_pred", xp, hint)
    if scores.ndim <= sample_ndim:
        raise ValueError(
            f"y_pred: floating, so taken for class scores: expected {sample_ndim} axes of samples and one of classes, "
            f"got shape {tuple(scores.shape)}; {hint}"
        )
    if scores.shape[-1] != num_classes:
        raise ValueError(
            f"y_pred: floating, so taken for class scores: expected num_classes={num_classes} entries along "
            f"class_axis={class_axis}, got {scores.shape[-1]}; {hint}"
        )
    # A NaN spoils the maximum of its row on every backend, and one row is one sample.
    return xp.argmax(scores, axis=-1), xp.isnan(xp.max(scores, axis=-1))


def _refuse_nan(bad: Array, kept: Array | None, xp: Namespace) -> None:
    if xp is np and (wrong := bad if kept is None else bad & kept).any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"y_pred: expected scores, got NaN for the sample at {first}")


def _class_axis_last(x: Array, class_axis: int, name: str, xp: Namespace, hint: str = "") -> Array:
    if not _is_whole(class_axis) or not -x.ndim <= class_axis < x.ndim:
        end = f"; {hint}" if hint else ""
        raise ValueError(f"{name}: expected an axis of classes at class_axis={class_axis}, got shape {x.shape}{end}")
    axis = class_axis % x.ndim
    return x if axis == x.ndim - 1 else xp.permute_dims(x, (*range(axis), *range(axis + 1, x.ndim), axis))


# Checks -------------------------------------------------------------------------------------------------------------


def _named(weights: list[Array]) -> dict[str, Array]:
    return {"sample_weight": weights[0]} if weights else {}


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_count(value: Any, name: str) -> int:
    if not _is_whole(value) or value < 1:
        raise ValueError(f"{name}: expected a whole number of at least 1, got {value!r}")
    return int(value)


def _check_ignore_index(value: Any) -> None:
    if value is not None and not (_is_whole(value) and -(2**31) <= value < 2**31):
        raise ValueError(f"ignore_index: expected a 32-bit integer, the true label to leave out, got {value!r}")


def _check_labels(labels: Array, name: str, xp: Namespace) -> None:
    if not _backend.is_integer(labels, xp):
        raise TypeError(
            f"{name}: expected labels, integers in [0, num_classes), got dtype {labels.dtype}; "
            "numpy.unique(labels, return_inverse=True) makes integers of any labels"
        )


def _broadcast(sample_ndim: int, xp: Namespace, **arrays: Array) -> list[Array]:
    """All arrays at their common shape; the sample axes of labels must agree exactly, so that nothing is repeated."""
    shapes = [tuple(array.shape) for array in arrays.values()]
    labels = [shape for shape, name in zip(shapes, arrays, strict=True) if name != "sample_weight"]
    if min(len(shape) for shape in labels) < sample_ndim:
        raise ValueError(f"expected at least sample_ndim={sample_ndim} axes of samples, got {_said(arrays)}")
    samples = labels[0][len(labels[0]) - sample_ndim :]
    if any(shape[len(shape) - sample_ndim :] != samples for shape in labels):
        raise ValueError(f"expected the same samples (the last {sample_ndim} axes, classes aside), got {_said(arrays)}")
    shape = shapes[0]
    for other in shapes[1:]:
        if other != shape:  # compiled code, whose sizes are symbols, comes here only if it must
            shape = _common_shape(shape, other, arrays)
    if shape[len(shape) - sample_ndim :] != samples:
        raise ValueError(f"expected shapes that broadcast against each other, got {_said(arrays)}")
    return [array if tuple(array.shape) == shape else xp.broadcast_to(array, shape) for array in arrays.values()]


def _common_shape(a: tuple[int, ...], b: tuple[int, ...], arrays: dict[str, Array]) -> tuple[int, ...]:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    shape = list(longer)
    for axis, size in enumerate(shorter):
        if longer[lead + axis] == 1:
            shape[lead + axis] = size
        elif size not in (1, longer[lead + axis]):
            raise ValueError(f"expected shapes that broadcast against each other, got {_said(arrays)}")
    return tuple(shape)


def _said(arrays: dict[str, Array]) -> str:
    return ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())


def _label_dtype(like: Array, xp: Namespace) -> Any:
    return _backend.widest_int(like, xp) or xp.int32


def _widen(labels: Array, xp: Namespace) -> Array:
    """Labels in an integer that holds every bin; a uint64 beyond it turns negative, and so is out of range."""
    return xp.astype(labels, _label_dtype(labels, xp))


def _kept(y_true: Array, ignore_index: int | None) -> Array | None:
    """Where samples are not left out; None where all are kept."""
    return None if ignore_index is None else y_true != ignore_index


def _in_range(labels: Array, n: int, kept: Array | None, name: str, xp: Namespace) -> Array:
    """Where labels are classes of samples that count. On NumPy, where looking is free, others raise."""
    if xp is np and kept is None and labels.size and labels.min() >= 0 and labels.max() < n:
        return np.True_
    inside = (labels >= 0) & (labels < n)
    if xp is np:
        outside = ~inside if kept is None else ~inside & kept
        if outside.any():
            first = tuple(int(i) for i in np.argwhere(outside)[0])
            hint = "; ignore_index= leaves samples out" if name == "y_true" else ""
            raise ValueError(
                f"{name}: expected labels in [0, {n}), got {labels[first]} at {first}"
                f" ({np.count_nonzero(outside)} of {outside.size} are out of range){hint}"
            )
    return inside if kept is None else inside & kept


def _check_weights(weights: Array, xp: Namespace) -> Array:
    if not (_backend.is_integer(weights, xp) or _backend.is_float(weights, xp)):
        raise TypeError(f"sample_weight: expected real numbers, got dtype {weights.dtype}")
    weights = _backend.to_float(weights, xp)
    if xp is np and (wrong := ~(np.isfinite(weights) & (weights >= 0))).any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"sample_weight: expected finite weights of at least 0, got {weights[first]} at {first}")
    return weights
