"""Stacks of confusion matrices from labels, class scores and probabilities."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, overload

from matrics._arrays import Array, Standard, as_arrays, codes_on_device, of_plain_tensor
from matrics._arrays.sizes import check_count, check_size
from matrics._counting.codes import in_order, known_labels, numbered_groups, true_codes
from matrics._counting.count import count_labels
from matrics._counting.labels import (
    FEWER_CELLS,
    NUMBERED,
    all_within,
    broadcast,
    check_group_numbers,
    check_ignore_index,
    check_labels,
    check_weights,
    class_axis_last,
    given_or_last,
    is_kept,
    labels_to_ignore,
    listed,
    refuse_axis_of_one,
    refuse_outside,
    refuse_weights,
    widen,
)
from matrics._counting.soft import count_soft_targets
from matrics._stacks.transform import Over, check_over
from matrics._stacks.transform import normalize as _normalize
from matrics.typing import ArrayLike, ArrayT, HostArray, NumPyArray

# Stacks with at most this number of cells are below any limit of memory.
FEW_CELLS = 2**16


@overload
def confusion_matrix(
    y_true: HostArray,
    y_pred: HostArray,
    *,
    num_classes: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int | None = ...,
    sample_ndim: int = ...,
    threshold: float | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    groups: ArrayLike | None = ...,
    num_groups: int | None = ...,
    normalize: Over | None = ...,
) -> NumPyArray: ...
@overload
def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayT,
    *,
    num_classes: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int | None = ...,
    sample_ndim: int = ...,
    threshold: float | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    groups: ArrayLike | None = ...,
    num_groups: int | None = ...,
    normalize: Over | None = ...,
) -> ArrayT: ...
@overload
def confusion_matrix(
    y_true: ArrayT,
    y_pred: HostArray,
    *,
    num_classes: int | None = ...,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int | None = ...,
    sample_ndim: int = ...,
    threshold: float | None = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    groups: ArrayLike | None = ...,
    num_groups: int | None = ...,
    normalize: Over | None = ...,
) -> ArrayT: ...
def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    class_axis: int | None = None,
    sample_ndim: int = 1,
    threshold: float | None = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    groups: Any = None,
    num_groups: int | None = None,
    normalize: Over | None = None,
) -> Array:
    """Count labels into confusion matrices; rows are true classes, columns predicted ones.

    Samples are on the last axis, unless ``sample_ndim`` is larger: labels (B, T) of B sequences are a stack of B
    matrices. The running states and the metrics for training loops pool all samples into a single matrix.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, *S)
        True labels in [0, num_classes), or any of ``labels``.
    y_pred : array_like, shape (*B, *S), or (*B, *S) with a class axis
        Predicted labels like the true labels. Floating numbers are class scores with ``num_classes`` entries along
        ``class_axis``, the largest being the prediction; or, with ``threshold``, scores of class 1 of two.
        One-dimensional floating numbers without ``threshold`` are labels, and raise an error if they are not whole
        numbers. Lists and NumPy labels may be combined with scores of PyTorch (on the CPU) or JAX. Batches broadcast: a
        ``y_true`` (N,) against (M, N) predictions of M models.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1. Required without ``labels``.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; required without ``num_classes``. Labels are looked up on the host, in lists,
        Series, and concrete arrays; the same coding for both.
    class_axis : int, optional
        The axis of the classes: of class scores in ``y_pred``, the last if left out, 1 for the layout of PyTorch's
        losses, (N, n, H, W). There is a warning if it is left out and axis 1 is as long as the last axis.
    sample_ndim : int, default 1
        How many of the last axes (without the class axis) are samples, pooled into a matrix; the axes before them are
        the batch. 2 for a matrix per image.
    threshold : float, optional
        ``y_pred`` is the score of class 1 of two; samples with a score of at least this are predicted as 1.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out, with any prediction, weight and group. With ``labels`` it is
        a label, or a list of labels, as ``y_true`` has them.
    groups : array_like, optional
        The group of each sample, an integer in [0, num_groups) or a text; broadcasts against the labels. There is a
        matrix for each group, all counted in a single pass. Texts are in sorted order, that of
        ``numpy.unique(groups)``.
    num_groups : int, optional
        Number of groups, G; needed with integers in ``groups``.
    normalize : {"true", "pred", "all"}, optional
        Scale rows, columns or the whole to sum 1, as :func:`matrics.transform.normalize` does.

    Returns
    -------
    array, shape (*B, n, n), or (*B, G, n, n) with groups
        64-bit integers (32-bit in default JAX); floats if weighted or normalised.

    Raises
    ------
    TypeError
        ``y_true`` is not integer, or ``y_pred`` is neither integer nor floating; or both or neither of
        ``num_classes`` and ``labels`` are given, or ``groups`` of integers without ``num_groups``, or the reverse.
    ValueError
        The shapes do not fit; or a label or group is out of range or unknown, a score is NaN, or a weight is negative,
        NaN or infinite, where values are checked: in NumPy arrays, CPU tensors and concrete JAX arrays on the CPU. On
        other devices and in compiled code values are not inspected, and such samples are left out, never miscounted;
        ``ConfusionState.zeros(...).update(...).dropped`` is their number. Or the matrices would take more than 1 GiB
        or than the MiB in the environment variable ``MATRICS_MAX_ARRAY_MIB``; :class:`matrics.MarginState` and the
        metrics ``MarginMetric`` keep 3 numbers per class.

    Notes
    -----
    Counts have no gradient with respect to scores: PyTorch raises an error in ``backward``, and ``jax.grad`` gives 0
    without a warning. To train with a measure, use :func:`matrics.soft_confusion_matrix`.

    Examples
    --------
    >>> import matrics, numpy
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

    A matrix for each group of samples:

    >>> groups = ["north", "south", "south"]
    >>> cm = matrics.confusion_matrix([0, 1, 1], [0, 1, 0], num_classes=2, groups=groups)
    >>> dict(zip(numpy.unique(groups).tolist(), matrics.accuracy(cm)))
    {'north': np.float64(1.0), 'south': np.float64(0.5)}
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
        groups=groups,
        num_groups=num_groups,
    )
    cm = counted.backend.packed(counted.matrix)
    return cm if normalize is None else _normalize(cm, over=normalize)


@overload
def soft_confusion_matrix(
    y_true: HostArray,
    y_prob: HostArray,
    *,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int | None = ...,
    sample_ndim: int = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    groups: ArrayLike | None = ...,
    num_groups: int | None = ...,
) -> NumPyArray: ...
@overload
def soft_confusion_matrix(
    y_true: ArrayLike,
    y_prob: ArrayT,
    *,
    labels: Iterable[Hashable] | None = ...,
    class_axis: int | None = ...,
    sample_ndim: int = ...,
    sample_weight: ArrayLike | None = ...,
    ignore_index: Any = ...,
    groups: ArrayLike | None = ...,
    num_groups: int | None = ...,
) -> ArrayT: ...
def soft_confusion_matrix(  # noqa: C901, PLR0912, PLR0915 (the steps in order)
    y_true: Any,
    y_prob: Any,
    *,
    labels: Iterable[Hashable] | None = None,
    class_axis: int | None = None,
    sample_ndim: int = 1,
    sample_weight: Any = None,
    ignore_index: Any = None,
    groups: Any = None,
    num_groups: int | None = None,
) -> Array:
    """Add up predicted probabilities into soft confusion matrices: a differentiable count.

    Cell (i, j) is the sum of the probabilities of class j over the samples of true class i. So any measure of the
    matrix can be a loss. With soft targets, such as those of mixup or label smoothing, it is the sum of the products of
    target i and probability j.

    Parameters
    ----------
    y_true : array_like of int or bool, shape (*B, *S), or of floating numbers, shape (*B, *S) with a class axis
        True labels in [0, n), or any of ``labels``, or soft targets; the dtype alone decides.
    y_prob : array_like of floating numbers, shape (*B, *S) with a class axis of length n
        Probabilities or memberships.
    labels : sequence, optional
        The labels of the classes, of any kind, in the order of the columns of ``y_prob``.
    class_axis : int, optional
        The axis of the classes: of ``y_prob`` and of soft targets, the last if left out. There is a warning if it is
        left out and axis 1 is as long as the last axis.
    sample_ndim : int, default 1
        How many of the last axes (without the class axis) are samples, pooled into a matrix.
    sample_weight : array_like, optional
        A weight for each sample; broadcasts against the labels.
    ignore_index : int or sequence of int, optional
        Samples with any of these true labels are left out, with any prediction, weight and group.
    groups : array_like, optional
        The group of each sample, an integer in [0, num_groups) or a text; broadcasts against the labels. There is a
        matrix for each group, all counted in a single pass. Texts are in sorted order, that of
        ``numpy.unique(groups)``.
    num_groups : int, optional
        Number of groups, G; needed with integers in ``groups``.

    Returns
    -------
    array, shape (*B, n, n), or (*B, G, n, n) with groups
        In the dtype of ``y_prob`` (half is widened to float32), and differentiable with respect to it, and to soft
        targets.

    Raises
    ------
    TypeError
        ``y_true`` is neither integer nor floating, ``groups`` is not integer, or ``y_prob`` is not floating; ``groups``
        are given without ``num_groups``, or the reverse; or ``ignore_index`` or ``groups`` is given with soft targets.
    ValueError
        The shapes do not fit; or a label or group is out of range or a weight is negative, NaN or infinite, where
        values are checked: in NumPy arrays, CPU tensors and concrete JAX arrays on the CPU. Elsewhere values are not
        inspected, and samples with such labels or groups are left out.

    Examples
    --------
    >>> import matrics
    >>> matrics.soft_confusion_matrix([0, 1, 1], [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
    array([[0.75, 0.25],
           [0.75, 1.25]])

    Soft targets, of a sample that is a mixture of two:

    >>> matrics.soft_confusion_matrix([[0.5, 0.5]], [[0.75, 0.25]])
    array([[0.375, 0.125],
           [0.375, 0.125]])
    """
    is_bare = labels is None and class_axis is None and sample_weight is None and ignore_index is None
    if is_bare and groups is None and num_groups is None and type(sample_ndim) is int and sample_ndim == 1:
        plain = _plain_sums(y_true, y_prob)
        if plain is not None:
            return plain
    groups, number_of_groups = numbered_groups(groups, num_groups)
    if (known := known_labels(labels)) is not None:
        codes, ignore_index = true_codes(known, y_true, ignore_index, may_drop=False)
        y_prob = in_order(y_prob, known, "y_prob")
        y_true = codes_on_device(codes, y_true, y_prob)
    original = y_true
    values = {"y_true": y_true, "y_prob": y_prob}
    values |= {
        name: value for name, value in (("groups", groups), ("sample_weight", sample_weight)) if value is not None
    }
    backend, (y_true, y_prob, *others) = as_arrays(**values)
    xp = backend.xp
    class_axis = given_or_last(class_axis, tuple(y_prob.shape), (0, *y_prob.shape)[-1], "y_prob")
    sample_ndim = check_count(sample_ndim, "sample_ndim")
    ignored = check_ignore_index(ignore_index)
    if number_of_groups:
        others[0] = listed(groups, others[0], "groups")
        check_group_numbers(others[0], backend)
    y_true = listed(original, y_true, "y_true")
    if not backend.is_float(y_prob):
        raise TypeError(f"y_prob: expected floating probabilities, got dtype {y_prob.dtype}")
    if backend.is_float(y_true):
        options = {"class_axis": class_axis, "sample_ndim": sample_ndim, "ignore_index": ignore_index}
        if groups is not None:
            raise TypeError("groups: expected None with soft targets: count each group separately")
        return count_soft_targets(y_true, y_prob, others[0] if others else None, backend=backend, **options)
    y_true = check_labels(y_true, "y_true", backend, advice=NUMBERED)
    refuse_axis_of_one(y_true, y_prob, class_axis, "y_prob")
    given_probs = y_prob
    y_prob = class_axis_last(backend.to_float(y_prob), class_axis, "y_prob", backend)
    n = check_count(y_prob.shape[-1], f"y_prob: the number of classes along class_axis={class_axis}")
    if known is not None and len(known) != n:
        raise ValueError(f"labels: expected {n}, a label for each class of y_prob, got {len(known)}")
    shapes = {name: tuple(array.shape) for name, array in zip(values, (y_true, given_probs, *others), strict=True)}
    y_true, y_prob, *others = broadcast(sample_ndim, backend, shapes, y_true, y_prob, *others, has_classes=True)
    batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
    rows = (*batch_shape, math.prod(y_true.shape[y_true.ndim - sample_ndim :]))
    cells = math.prod(batch_shape) * max(number_of_groups, 1) * n**2
    check_size(cells, num_classes=n, num_groups=num_groups, batch=batch_shape or None, advice=FEWER_CELLS)

    codes = widen(y_true, backend)
    kept = is_kept(codes, labels_to_ignore(ignored, y_true, backend), backend)
    true_view, kept_view = backend.host_view(y_true), None if kept is None else backend.host_view(kept)
    if true_view is not None:
        refuse_outside(true_view, n, kept_view, "y_true")
    y_prob = y_prob if sample_ndim == 1 else xp.reshape(y_prob, (*rows, n))
    if kept is None and not others and (true_view is not None or _are_within(codes, n, backend)):
        return backend.scatter_add(xp.reshape(codes, rows), y_prob, n)
    counted = (codes >= 0) & (codes < n)
    counted = counted if kept is None else counted & kept
    length = n * max(number_of_groups, 1)
    if number_of_groups:
        group = widen(others[0], backend)
        group_view = backend.host_view(others[0])
        if true_view is not None and group_view is not None:
            refuse_outside(group_view, number_of_groups, kept_view, "groups")
        counted = counted & (group >= 0) & (group < number_of_groups)
        codes = group * n + codes
    if sample_weight is not None:
        weight = check_weights(others[-1], backend)
        weight_view = backend.host_view(weight)
        if weight_view is not None and true_view is not None:
            refuse_weights(weight_view, kept_view)
        # Weight 0 for samples that are not counted: a NaN weight would make the gradient of their probabilities NaN.
        weight = xp.reshape(xp.where(counted, weight, 0), rows)
        y_prob = y_prob * xp.astype(weight, y_prob.dtype)[..., None]
    bins = xp.reshape(xp.where(counted, codes, length), rows)
    sums = backend.scatter_add(bins, y_prob, length + 1)[..., :length, :]
    return xp.reshape(sums, (*batch_shape, number_of_groups, n, n)) if number_of_groups else sums


def _plain_sums(y_true: Any, y_prob: Any) -> Array | None:
    """The sums for tensors of labels (*B, N) and probabilities (*B, N, n); None for other input, also if it is invalid.

    For a small batch, the checks of ``soft_confusion_matrix`` take longer than the sums.
    """
    backend = of_plain_tensor(y_prob)
    if backend is None or type(y_true) is not type(y_prob) or y_true.is_nested or y_true.dtype != backend.xp.int64:
        return None
    shape = y_prob.shape
    batch_ndim, n = len(shape) - 2, shape[-1]
    # If axis 1 is as long as the last axis, it may be the axis of classes, which causes a warning.
    if batch_ndim < 0 or (batch_ndim and shape[1] == n) or y_true.shape != shape[:-1]:
        return None
    if y_prob.dtype not in (backend.xp.float32, backend.xp.float64):
        return None
    is_small = 0 < math.prod(shape[:-2]) * n * n <= FEW_CELLS
    view = backend.eager_view(y_true) if is_small else None
    return backend.eager_sums(y_true, y_prob, n) if view is not None and all_within(view, n) else None


def _are_within(labels: Array, n: int, backend: Standard) -> bool:
    """Whether the labels can be inspected, and all are in [0, n)."""
    view = backend.viewer(labels)
    values = None if view is None else view(labels)
    return values is not None and (not values.size or bool(values.min() >= 0 and values.max() < n))
