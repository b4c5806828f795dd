"""From labels and class scores to counts: what confusion_matrix and ConfusionState share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics import _backend
from matrics._backend import Array, Standard


class Counted(NamedTuple):
    """The counts of one call."""

    backend: Standard
    matrix: Array  # (*B, n, n), perhaps a view of something larger
    dropped: Array | int  # number of samples with a label out of range or a NaN score, (*B,); 0 where there can be none


def count_labels(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int,
    class_axis: int,
    threshold: float | None,
    sample_weight: Any,
    ignore_index: int | None,
    sample_ndim: int = 1,
    state: Array | None = None,
) -> Counted:
    """Count labels; NumPy raises for those out of range, unless they are counted for a ``state``.

    With a state, given by its counts (*B, n, n), the batch is that of the state, and all other axes are samples.
    """
    values = given = {"y_true": y_true, "y_pred": y_pred}
    if sample_weight is not None:
        values = {**given, "sample_weight": sample_weight}
    if state is None:
        backend, (y_true, y_pred, *weights) = _backend.as_arrays(**values)
    else:
        backend, (y_true, y_pred, *weights, state) = _backend.as_arrays(**values, state=state)
    n = check_count(num_classes, "num_classes")
    check_ignore_index(ignore_index)
    y_true = listed(given["y_true"], y_true, "y_true")
    check_labels(y_true, "y_true", backend)
    y_pred = listed(given["y_pred"], y_pred, "y_pred", are_scores=threshold is not None)
    has_scores = backend.is_float(y_pred)
    if not has_scores:
        if not backend.is_integer(y_pred):
            raise TypeError(f"y_pred: expected labels (integers) or class scores (floating), got dtype {y_pred.dtype}")
        if threshold is not None:
            raise TypeError(f"threshold: expected y_pred to be floating scores of class 1, got labels ({y_pred.dtype})")
    if state is not None:
        label_ndim = max(y_true.ndim, y_pred.ndim - (1 if has_scores and threshold is None else 0))
        sample_ndim = label_ndim - (state.ndim - 2)
        if sample_ndim < 0:
            arrays = {"y_true": y_true, "y_pred": y_pred}
            raise ValueError(
                f"expected labels with the batch {tuple(state.shape[:-2])} of the state, got {said(arrays)}"
            )
    if has_scores:
        y_pred = decide(y_pred, n, class_axis=class_axis, sample_ndim=sample_ndim, threshold=threshold, backend=backend)
    y_true, y_pred, *weights = broadcast(sample_ndim, backend, y_true=y_true, y_pred=y_pred, **named(weights))
    batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
    if state is not None and batch_shape != tuple(state.shape[:-2]):
        raise ValueError(
            f"expected labels with the batch {tuple(state.shape[:-2])} of the state, got the batch {batch_shape}"
        )
    return _count(
        y_true,
        y_pred,
        check_weights(weights[0], backend) if weights else None,
        n,
        batch_shape=batch_shape,
        ignore_index=label_to_ignore(ignore_index, y_true, backend),
        may_drop=state is not None,
        has_scores=has_scores,
        backend=backend,
    )


def _count(
    y_true: Array,
    y_pred: Array,
    weight: Array | None,
    n: int,
    *,
    batch_shape: tuple[int, ...],
    ignore_index: int | None,
    may_drop: bool,
    has_scores: bool,
    backend: Standard,
) -> Counted:
    xp, may_refuse = backend.xp, backend.looking_is_free and not may_drop
    given = {"y_true": y_true, "y_pred": y_pred}
    y_true, y_pred = widen(y_true, backend), widen(y_pred, backend)
    kept = None if ignore_index is None else y_true != ignore_index
    if weight is not None and may_refuse:
        refuse_weights(weight, kept)
    border = 0 if backend.looking_is_free and all_within(y_true, n) and all_within(y_pred, n) else 1
    if border and may_refuse:
        refuse_outside(y_true, n, kept, "y_true", given["y_true"])
        refuse_outside(y_pred, n, kept, "y_pred", given["y_pred"], are_scores=has_scores)
    # Labels out of range are clipped to a border around the cells: -1 would wrap around on JAX and raise on PyTorch.
    width = n + 2 * border
    bins = backend.bordered(y_true, y_pred, n) if border else y_true * n + y_pred
    length = width * width
    if kept is not None:  # ignored samples go to an extra bin after the cells
        bins = xp.where(kept, bins, length)
    batch = math.prod(batch_shape)

    def cells(counts: Array) -> Array:
        if kept is not None:
            counts = xp.reshape(counts, (*batch_shape, length + 1))[..., :length]
        grid = xp.reshape(counts, (*batch_shape, width, width))
        return grid[..., 1:-1, 1:-1] if border else grid

    longer = length if kept is None else length + 1
    if weight is None or (may_drop and border):
        counts = backend.count(bins, batch, longer, None, dtype=label_dtype(bins, backend))
    if weight is None:
        matrix = cells(counts)
    else:  # in float32, adding up a million weights one by one has an error of a hundredth
        wide = backend.widest_float(weight)
        matrix = cells(backend.count(bins, batch, longer, xp.astype(weight, wide), dtype=wide))
        matrix = matrix if may_drop else xp.astype(matrix, weight.dtype)  # a state has its own dtype
    if not (may_drop and border):
        return Counted(backend, matrix, 0)
    inside = matrix if weight is None else cells(counts)
    samples = math.prod(y_true.shape[len(batch_shape) :])
    dropped = samples - xp.sum(inside, axis=(-2, -1))
    if kept is not None:
        dropped = dropped - xp.reshape(counts, (*batch_shape, length + 1))[..., length]
    return Counted(backend, matrix, dropped)


# From scores to labels ----------------------------------------------------------------------------------------------


def decide(
    scores: Array, num_classes: int, *, class_axis: int, sample_ndim: int, threshold: float | None, backend: Standard
) -> Array:
    """The predicted labels; where a score is NaN, ``num_classes``, which is out of range."""
    xp = backend.xp
    if threshold is not None:
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)) or math.isnan(threshold):
            raise ValueError(f"threshold: expected a number, got {threshold!r}")
        if num_classes != 2:
            raise ValueError(f"threshold: expected num_classes=2, got {num_classes}; for more classes leave it out")
        # A NumPy scalar would affect the dtype of the comparison.
        return xp.where(xp.isnan(scores), 2, xp.astype(scores >= float(threshold), label_dtype(scores, backend)))
    hint = "if these are scores of class 1 of two, pass threshold=; if they are labels, make them integers"
    scores = class_axis_last(scores, class_axis, "y_pred", backend, hint)
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
    best, labels = backend.max_and_argmax(scores)
    return xp.where(xp.isnan(best), num_classes, labels)


def class_axis_last(x: Array, class_axis: int, name: str, backend: Standard, hint: str = "") -> Array:
    """The array of scores with its classes moved to the last axis."""
    if not _is_whole(class_axis) or not -x.ndim <= class_axis < x.ndim:
        end = f"; {hint}" if hint else ""
        raise ValueError(f"{name}: expected an axis of classes at class_axis={class_axis}, got shape {x.shape}{end}")
    axis = class_axis % x.ndim
    return x if axis == x.ndim - 1 else backend.xp.permute_dims(x, (*range(axis), *range(axis + 1, x.ndim), axis))


# Checks -------------------------------------------------------------------------------------------------------------


def named(weights: list[Array]) -> dict[str, Array]:
    """The weights, if any, under the name that messages use."""
    return {"sample_weight": weights[0]} if weights else {}


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_32_bit(value: int) -> bool:
    return -(2**31) <= value < 2**31


def check_count(value: Any, name: str) -> int:
    """An integer of at least 1, or ValueError."""
    if not _is_whole(value) or value < 1:
        raise ValueError(f"{name}: expected an integer of at least 1, got {value!r}")
    return int(value)


def check_ignore_index(value: Any) -> None:
    """Raise unless it is a label or None."""
    if value is not None and not (_is_whole(value) and _is_32_bit(value)):
        raise ValueError(f"ignore_index: expected a 32-bit integer, the true label to leave out, got {value!r}")


def label_to_ignore(ignore_index: int | None, y_true: Array, backend: Standard) -> int | None:
    """The label to leave out, or None if it is negative and labels are unsigned: widening could make it match."""
    if ignore_index is not None and ignore_index < 0 and backend.is_unsigned(y_true):
        return None
    return ignore_index


def check_class_axis(value: Any) -> None:
    """Raise unless it is an integer."""
    if not _is_whole(value):
        raise TypeError(f"class_axis: expected an integer, got {value!r}")


def check_labels(labels: Array, name: str, backend: Standard) -> None:
    """Raise unless they are integers."""
    if not backend.is_integer(labels):
        raise TypeError(
            f"{name}: expected labels, integers in [0, num_classes), got dtype {labels.dtype}; "
            "numpy.unique(labels, return_inverse=True) makes integers of any labels"
        )


def listed(given: Any, array: Array, name: str, *, are_scores: bool = False) -> Array:
    """The labels of a list that NumPy converts to floating numbers although none of them is; else the array itself.

    NumPy does so with an empty list, which has no dtype and means no labels. It also does so with integers that no
    single dtype can hold, such as -1 and 2**63.
    """
    if are_scores or not isinstance(given, (list, tuple)) or array.dtype != np.float64:
        return array
    if _is_hollow(given):
        return array.astype(np.int64)
    first: Any = given
    while isinstance(first, (list, tuple)) and len(first) > 0:
        first = first[0]
    if np.asarray(first).dtype.kind not in "biu":  # scores, most likely
        return array
    labels = np.asarray(given, dtype=object)
    if not all(isinstance(label, (int, np.integer)) for label in labels.flat):
        return array
    if (outside := labels >= 2**63).any():
        position = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ValueError(f"{name}: expected labels in [0, num_classes), got {labels[position]} at {position}")
    return labels.astype(np.int64)


def _is_hollow(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_hollow, value))


def broadcast(sample_ndim: int, backend: Standard, **arrays: Array) -> list[Array]:
    """All arrays in their common shape; the sample axes of labels must agree exactly, so that nothing is repeated."""
    shapes = [tuple(array.shape) for array in arrays.values()]
    if len(shapes[0]) >= sample_ndim and all(shape == shapes[0] for shape in shapes):
        return list(arrays.values())
    labels = [shape for shape, name in zip(shapes, arrays, strict=True) if name != "sample_weight"]
    if min(len(shape) for shape in labels) < sample_ndim:
        raise ValueError(f"expected at least sample_ndim={sample_ndim} axes of samples, got {said(arrays)}")
    samples = labels[0][len(labels[0]) - sample_ndim :]
    if any(shape[len(shape) - sample_ndim :] != samples for shape in labels):
        raise ValueError(f"expected the same samples (the last {sample_ndim} axes, classes aside), got {said(arrays)}")
    shape = shapes[0]
    for other in shapes[1:]:
        if other != shape:  # compiled code, whose sizes are symbols, gets here only if necessary
            shape = _common_shape(shape, other, arrays)
    if shape[len(shape) - sample_ndim :] != samples:
        raise ValueError(f"expected shapes that broadcast against each other, got {said(arrays)}")
    return [
        array if tuple(array.shape) == shape else backend.xp.broadcast_to(array, shape) for array in arrays.values()
    ]


def _common_shape(a: tuple[int, ...], b: tuple[int, ...], arrays: dict[str, Array]) -> tuple[int, ...]:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    shape = list(longer)
    for axis, size in enumerate(shorter):
        if longer[lead + axis] == 1:
            shape[lead + axis] = size
        elif size not in (1, longer[lead + axis]):
            raise ValueError(f"expected shapes that broadcast against each other, got {said(arrays)}")
    return tuple(shape)


def said(arrays: dict[str, Array]) -> str:
    """Names and shapes, for messages."""
    return ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())


def label_dtype(like: Array, backend: Standard) -> Any:
    """The integer dtype of labels and of counts."""
    return backend.widest_int(like) or backend.xp.int32


def widen(labels: Array, backend: Standard) -> Array:
    """Labels in an integer dtype that holds every bin; a larger uint64 becomes negative, and so is out of range."""
    dtype = label_dtype(labels, backend)
    return labels if labels.dtype == dtype else backend.xp.astype(labels, dtype)


def refuse_outside(
    labels: Array, n: int, kept: Array | None, name: str, given: Array, *, are_scores: bool = False
) -> None:
    """Raise if a NumPy label is not in [0, n) and its sample is kept; only for NumPy, where checks are cheap.

    ``given`` are the same labels before they were widened, which has changed those beyond int64.
    """
    if all_within(labels, n):
        return
    outside = (labels < 0) | (labels >= n)
    if kept is not None:
        outside &= kept
    if not outside.any():
        return
    first = tuple(int(i) for i in np.argwhere(outside)[0])
    if are_scores:
        raise ValueError(f"{name}: expected scores, got NaN for the sample at {first}")
    label = int(given[first])
    hint = "; ignore_index= leaves samples out" if name == "y_true" and _is_32_bit(label) else ""
    raise ValueError(
        f"{name}: expected labels in [0, {n}), got {label} at {first}"
        f" ({np.count_nonzero(outside)} of {outside.size} are out of range){hint}"
    )


def all_within(labels: Array, n: int) -> bool:
    """Whether all NumPy labels are in [0, n): viewed as unsigned, the negative ones are the largest."""
    return not labels.size or bool(labels.view(np.uint64).max() < n)


def check_weights(weights: Array, backend: Standard) -> Array:
    """Weights as floating numbers."""
    if not (backend.is_integer(weights) or backend.is_float(weights)):
        raise TypeError(f"sample_weight: expected real numbers, got dtype {weights.dtype}")
    return backend.to_float(weights)


def refuse_weights(weights: Array, kept: Array | None) -> None:
    """Raise if a NumPy weight is negative, NaN or infinite and its sample is kept."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if kept is not None:
        wrong &= kept
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"sample_weight: expected finite weights of at least 0, got {weights[first]} at {first}")
