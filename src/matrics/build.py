"""Labels, class scores and probabilities to stacks of confusion matrices."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Literal, overload

from matrics import _backend
from matrics._backend import Array
from matrics.counting import count_labels
from matrics.labels import (
    broadcast,
    check_count,
    check_ignore_index,
    check_labels,
    check_weights,
    class_axis_last,
    label_to_ignore,
    listed,
    refuse_outside,
    refuse_weights,
    widen,
)
from matrics.transform import Over, check_over
from matrics.transform import normalize as _normalize
from matrics.typing import ArrayLike, ArrayT, HostArray, NumPyArray


@overload
def confusion_matrix(
    y_true: HostArray,
    y_pred: HostArray,
    *,
    num_classes: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int = ...,
    sample_ndim: int = ...,
    threshold: float | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    normalize: Over | None = ...,
    return_dropped: Literal[False] = ...,
) -> NumPyArray: ...
@overload
def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayT,
    *,
    num_classes: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int = ...,
    sample_ndim: int = ...,
    threshold: float | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    normalize: Over | None = ...,
    return_dropped: Literal[False] = ...,
) -> ArrayT: ...
@overload
def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    num_classes: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int = ...,
    sample_ndim: int = ...,
    threshold: float | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    normalize: Over | None = ...,
    return_dropped: bool = ...,
) -> Any: ...
def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_axis: int = -1,
    sample_ndim: int = 1,
    threshold: float | None = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    normalize: Over | None = None,
    return_dropped: bool = False,
) -> Any:
    """Count labels into confusion matrices; rows are true classes, columns predicted ones.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, *S)
        True labels in [0, num_classes), or any of ``labels``.
    y_pred : array_like, shape (*B, *S), or (*B, *S) with a class axis
        Predicted labels like the true ones. Floating numbers are class scores with ``num_classes`` entries along
        ``class_axis``, of which the largest is the prediction; or, with ``threshold``, scores of class 1 of two. The
        dtype alone decides, never the shape or the values. Lists and NumPy labels may stand beside scores of PyTorch
        (on the CPU) or JAX. Batches broadcast: one ``y_true`` (N,) against (M, N)
        predictions of M models.
    num_classes : int
        Number of classes, n; labels are 0 to n - 1.
    labels : sequence of text, integers or other hashables
        In place of ``num_classes``: the label of each class, in the order of rows and columns. Labels are looked up on
        the host, in lists, Series, and concrete arrays; one coding for both.
    class_axis : int, default -1
        Where the class scores of ``y_pred`` are.
    sample_ndim : int, default 1
        How many of the last axes (without the class axis) are samples, pooled into one matrix; the axes before them
        are the batch. 2 for one matrix per image.
    threshold : float, optional
        ``y_pred`` is the score of class 1 of two; samples with a score of at least this are predicted as 1.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int, optional
        Samples with this true label are left out, with any prediction and any weight. With ``labels`` it is a label as
        ``y_true`` has it.
    normalize : {"true", "pred", "all"}, optional
        Scale rows, columns or the whole to sum 1, as :func:`matrics.normalize` does.
    return_dropped : bool, default False
        Also return how many samples were left out for a label out of range, an unknown label or a NaN score. Then they
        raise no error anywhere.

    Returns
    -------
    array, shape (*B, n, n)
        64-bit integers (32-bit in default JAX); floats if weighted or normalised.
    dropped : array of int, shape (*B,)
        Only if ``return_dropped``.

    Raises
    ------
    TypeError
        ``y_true`` is not integer, or ``y_pred`` is neither integer nor floating; or not exactly one of ``num_classes``
        and ``labels`` is given.
    ValueError
        The shapes do not fit; or a label is out of range or unknown, a score is NaN, or a weight is negative, NaN or
        infinite, where looking is free: in NumPy arrays, CPU tensors and concrete JAX arrays on the CPU. On other
        devices and in compiled code values are not inspected, and such labels and scores are left out, never
        miscounted; ``return_dropped`` counts them.

    Examples
    --------
    >>> import matrics
    >>> matrics.confusion_matrix([0, 1, 1, 2], [0, 1, 2, 2], num_classes=3)
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])

    Labels of any kind, with the order of the classes:

    >>> matrics.confusion_matrix(["cat", "dog", "dog"], ["cat", "cat", "dog"], labels=["cat", "dog"])
    array([[1, 0],
           [1, 1]])

    Three models at once, from their scores of class 1:

    >>> scores = [[0.9, 0.2, 0.6], [0.1, 0.2, 0.7], [0.8, 0.9, 0.9]]
    >>> matrics.confusion_matrix([1, 0, 1], scores, num_classes=2, threshold=0.5).shape
    (3, 2, 2)
    """
    check_over(normalize, "normalize")
    counted = count_labels(
        y_true,
        y_pred,
        num_classes=num_classes,
        labels=labels,
        class_axis=class_axis,
        sample_ndim=check_count(sample_ndim, "sample_ndim"),
        threshold=threshold,
        sample_weight=sample_weight,
        ignore_index=ignore_index,
        may_drop=return_dropped,
    )
    cm = counted.backend.packed(counted.matrix)
    cm = cm if normalize is None else _normalize(cm, over=normalize)
    return (cm, counted.number_dropped()) if return_dropped else cm


@overload
def soft_confusion_matrix(
    y_true: HostArray,
    probs: HostArray,
    *,
    class_axis: int = ...,
    sample_ndim: int = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | None = ...,
) -> NumPyArray: ...
@overload
def soft_confusion_matrix(
    y_true: ArrayLike,
    probs: ArrayT,
    *,
    class_axis: int = ...,
    sample_ndim: int = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: int | None = ...,
) -> ArrayT: ...
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
    can be a loss.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, *S)
        True labels in [0, n).
    probs : array_like of floating numbers, shape (*B, *S) with a class axis of length n
        Probabilities or memberships.
    class_axis : int, default -1
        Where the classes of ``probs`` are.
    sample_ndim : int, default 1
        How many of the last axes (without the class axis) are samples, pooled into one matrix.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int, optional
        Samples with this true label are left out, with any prediction and any weight.

    Returns
    -------
    array, shape (*B, n, n)
        In the dtype of ``probs`` (half is widened to float32), and differentiable with respect to it.

    Raises
    ------
    TypeError
        ``y_true`` is not integer, or ``probs`` is not floating.
    ValueError
        The shapes do not fit; or a label is out of range or a weight is negative, NaN or infinite, where looking is
        free: in NumPy arrays, CPU tensors and concrete JAX arrays on the CPU. Elsewhere values are not inspected, and
        samples with such labels are left out.

    Examples
    --------
    >>> import matrics
    >>> matrics.soft_confusion_matrix([0, 1, 1], [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
    array([[0.75, 0.25],
           [0.75, 1.25]])
    """
    given = y_true
    values = {"y_true": y_true, "probs": probs}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    backend, (y_true, probs, *weights) = _backend.as_arrays(**values)
    xp = backend.xp
    sample_ndim = check_count(sample_ndim, "sample_ndim")
    check_ignore_index(ignore_index)
    y_true = listed(given, y_true, "y_true")
    check_labels(y_true, "y_true", backend)
    if not backend.is_float(probs):
        raise TypeError(f"probs: expected floating probabilities, got dtype {probs.dtype}")
    given_probs = probs
    probs = class_axis_last(backend.to_float(probs), class_axis, "probs", backend)
    n = check_count(probs.shape[-1], f"probs: the number of classes along class_axis={class_axis}")
    shapes = {name: tuple(array.shape) for name, array in zip(values, (y_true, given_probs, *weights), strict=True)}
    y_true, probs, *weights = broadcast(sample_ndim, backend, shapes, y_true, probs, *weights, has_classes=True)
    batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
    rows = (math.prod(batch_shape), math.prod(y_true.shape[y_true.ndim - sample_ndim :]))

    ignored = label_to_ignore(ignore_index, y_true, backend)
    labels = widen(y_true, backend)
    kept = None if ignored is None else labels != ignored
    seen, kept_seen = backend.host_view(y_true), None if kept is None else backend.host_view(kept)
    if seen is not None:
        refuse_outside(seen, n, kept_seen, "y_true")
    counted = (labels >= 0) & (labels < n)
    counted = counted if kept is None else counted & kept
    if weights:
        weight = check_weights(weights[0], backend)
        weight_seen = backend.host_view(weight)
        if weight_seen is not None and seen is not None:
            refuse_weights(weight_seen, kept_seen)
        # Weight 0 where nothing is counted: a NaN weight there would make the gradient of its probabilities NaN.
        probs = probs * xp.astype(xp.where(counted, weight, 0), probs.dtype)[..., None]
    bins = xp.reshape(xp.where(counted, labels, n), rows)
    return xp.reshape(backend.scatter_add(bins, xp.reshape(probs, (*rows, n)), n + 1)[:, :n, :], (*batch_shape, n, n))
