"""Checks of labels, class scores and weights, and the predicted labels of scores."""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays, is_compiling
from matrics._arrays.sizes import check_count, is_whole, one_or_more
from matrics._engine.evaluation import frames_to_the_user, is_nan
from matrics._quoting import quoted

# Advice for targets that have a column for each class, or for each label of several.
BY_COLUMNS = (
    "for one-hot targets pass y_true.argmax(axis), with the axis of the classes; for several labels a sample there are "
    "matrics.multilabel.confusion_matrix and MultilabelState"
)
NO_CLASS_AXIS = "if these are scores of class 1 of two, pass threshold=; if they are labels, make them integers"
NUMBERED = "number other labels first, in the order of the columns: y_true = [classes.index(label) for label in y_true]"

# Advice for matrices of many classes.
MANY_CLASSES = 100
FEWER_CELLS = (
    "; matrics.MarginState, or MarginMetric in a training loop, keeps 3 numbers per class instead of a cell for each "
    "pair of classes, which is enough for accuracy, F1, MCC, Cohen's kappa and the others of "
    "MarginState.list_metrics()"
)

# Floating labels from this number on belong to no class, and do not fit in integers of 32 bits; a float for JAX.
LARGEST = 2.0**31

# The axis of the classes in PyTorch's losses, and in the metrics for its training loops.
AXIS_OF_LOSSES = 1

# From scores to labels ----------------------------------------------------------------------------------------------


def decide(
    scores: Array, num_classes: int, *, class_axis: int, sample_ndim: int, threshold: float | None, backend: Standard
) -> Array:
    """The predicted labels; a NaN score gives ``num_classes``, which is out of range."""
    scores = check_scores(
        scores, num_classes, class_axis=class_axis, sample_ndim=sample_ndim, threshold=threshold, backend=backend
    )
    return predicted(scores, num_classes, threshold=threshold, backend=backend)


def check_scores(
    scores: Array, num_classes: int, *, class_axis: int, sample_ndim: int, threshold: float | None, backend: Standard
) -> Array:
    """The scores with their classes moved to the last axis, if they have classes; other shapes raise an error."""
    if threshold is not None:
        if are_several(threshold):
            raise ValueError(
                "threshold: expected a number, got several: for a matrix at each threshold, compare the scores first, "
                "confusion_matrix(y_true, scores >= thresholds[:, None], num_classes=2)"
            )
        is_number = isinstance(threshold, (int, float, np.number)) and not isinstance(threshold, bool)
        if not is_number or is_nan(threshold):
            raise ValueError(f"threshold: expected a number, got {quoted(threshold)}")
        if num_classes != 2:
            raise ValueError(
                f"threshold: expected num_classes=2, got {num_classes}; leave the threshold out for more classes"
            )
        return scores
    hint = NO_CLASS_AXIS
    shape = tuple(scores.shape)
    scores = class_axis_last(scores, class_axis, "y_pred", backend, hint)
    if scores.ndim <= sample_ndim:
        hint = BY_COLUMNS if num_classes in shape[1:] else hint
        raise ValueError(
            f"y_pred: floating-point numbers are class scores: expected {sample_ndim} sample axes and a class axis, "
            f"got shape {shape}; {hint}"
        )
    if scores.shape[-1] != num_classes:
        fitting = next((axis for axis in (-1, 1) if len(shape) > 2 and shape[axis] == num_classes), None)
        hint = (
            hint
            if fitting is None
            else f"axis {fitting} has this length: pass class_axis={fitting} if it is the axis of the classes"
        )
        raise ValueError(
            f"y_pred: floating-point numbers are class scores: expected num_classes={num_classes} entries along "
            f"class_axis={class_axis}, got {scores.shape[-1]} in shape {shape}; {hint}"
        )
    return scores


def are_several(threshold: Any) -> bool:
    """Whether a list or an array was given in place of a single threshold."""
    if isinstance(threshold, (int, float)):  # first, as a symbol of torch.compile(dynamic=True) has no attributes
        return False
    return isinstance(threshold, (list, tuple)) or getattr(threshold, "ndim", 0) > 0  # np.ndim breaks compiled graphs


def predicted(scores: Array, num_classes: int, *, threshold: float | None, backend: Standard) -> Array:
    """The predicted labels of valid scores; a NaN score gives ``num_classes``, which is out of range."""
    xp = backend.xp
    if threshold is not None:
        # A NumPy scalar would affect the dtype of the comparison.
        return xp.where(xp.isnan(scores), 2, xp.astype(scores >= float(threshold), label_dtype(scores, backend)))
    return backend.argmax_unless_nan(scores, num_classes)


def class_axis_last(x: Array, class_axis: int, name: str, backend: Standard, hint: str = "") -> Array:
    """The array of scores with its classes moved to the last axis."""
    if not is_whole(class_axis) or not -x.ndim <= class_axis < x.ndim:
        end = f"; {hint}" if hint else ""
        raise ValueError(
            f"{name}: expected an axis of classes at class_axis={class_axis}, got shape {tuple(x.shape)}{end}"
        )
    axis = class_axis % x.ndim
    return x if axis == x.ndim - 1 else backend.xp.permute_dims(x, (*range(axis), *range(axis + 1, x.ndim), axis))


def refuse_axis_of_one(labels: Array, scores: Array, class_axis: Any, name: str = "y_pred") -> None:
    """Raise an error for labels with a single entry along the axis of classes, such as masks (B, 1, H, W).

    They would broadcast: each mask would be compared with the scores of every image. Without ``class_axis``, the axis
    of the classes is axis 1 or the last.
    """
    shape, others = tuple(labels.shape), tuple(scores.shape)
    if len(shape) != len(others) or len(shape) < 2:
        return
    for place in (1, -1) if class_axis is None else (class_axis,):
        axis = place % len(shape)
        rest = (*shape[:axis], *shape[axis + 1 :])
        if shape[axis] != 1 or others[axis] == 1 or rest != (*others[:axis], *others[axis + 1 :]):
            continue
        if any(n > 1 for n in rest):
            raise ValueError(
                f"y_true: expected labels of shape {rest} for class scores of shape {others} in {name}, got {shape}: "
                f"remove the axis of length 1, y_true.squeeze({axis})"
            )


def warn_if_ambiguous(shape: tuple[int, ...], num_classes: int, default_axis: int, name: str = "y_pred") -> None:
    """Warn of class scores if both axis 1 and the last axis could be the axis of the classes.

    The caller has passed no axis: functions then use the last axis, and metrics for training loops axis 1.
    """
    if is_compiling() or len(shape) < 3 or shape[1] != num_classes or shape[-1] != num_classes:
        return
    readings = ["the last axis (class_axis=-1)", "axis 1 (class_axis=1, as the losses of PyTorch have it)"]
    taken, other = readings if default_axis == -1 else readings[::-1]
    warnings.warn(
        f"{name}: axis 1 and the last axis of the shape {shape} both have {num_classes} entries: the classes are taken "
        f"to be on {taken}, and could be on {other}: pass class_axis=",
        UserWarning,
        stacklevel=frames_to_the_user(),
    )


def given_or_last(class_axis: int | None, shape: tuple[int, ...], num_classes: int, name: str = "y_pred") -> int:
    """The axis of the classes: by default the last axis, with a warning if it could be axis 1."""
    if class_axis is not None:
        return class_axis
    warn_if_ambiguous(shape, num_classes, -1, name)
    return -1


# Checks -------------------------------------------------------------------------------------------------------------


def _is_32_bit(value: int) -> bool:
    return -(2**31) <= value < 2**31


def check_ignore_index(value: Any) -> tuple[int, ...]:
    """The true labels to leave out, from an integer, a sequence of integers, or None."""
    ignored = one_or_more(value)
    if not all(is_whole(label) and _is_32_bit(label) for label in ignored):
        raise ValueError(
            "ignore_index: expected a 32-bit integer, the true label to leave out, or a list of such labels, got "
            f"{quoted(value)}"
        )
    return tuple(dict.fromkeys(int(label) for label in ignored))


def labels_to_ignore(ignored: tuple[int, ...], y_true: Array, backend: Standard) -> tuple[int, ...]:
    """The labels to leave out, without negative labels if ``y_true`` is unsigned: widened labels could match them."""
    if ignored and min(ignored) < 0 and backend.is_unsigned(y_true):
        return tuple(label for label in ignored if label >= 0)
    return ignored


def is_kept(y_true: Array, ignored: tuple[int, ...], backend: Standard) -> Array | None:
    """Whether each sample is kept; None if all samples are."""
    if not ignored:
        return None
    wide = widen(y_true, backend)
    kept = wide != ignored[0]
    for label in ignored[1:]:
        kept = kept & (wide != label)
    return kept


def checked_class_axis(value: Any) -> int | None:
    """The axis as an integer, or None for the default; anything else raises an error."""
    if value is not None and not is_whole(value):
        raise TypeError(f"class_axis: expected an integer, got {quoted(value)}")
    return None if value is None else int(value)


def warn_if_either_fits(y_true: Array, y_pred: Array, num_classes: int, default_axis: int) -> None:
    """Warn if the classes may be on axis 1 or on the last axis, and the true labels fit both."""
    if is_compiling():  # sizes may be symbols there
        return
    shape = tuple(y_pred.shape)
    if shape[1:-1] == shape[2:] and tuple(y_true.shape) == shape[:-1]:
        warn_if_ambiguous(shape, num_classes, default_axis)


def check_labels(labels: Array, name: str, backend: Standard, *, advice: str = "") -> Array:
    """The labels as integers; the message for other dtypes explains how to pass them, by ``advice`` if given.

    Floating numbers are labels if they are whole, such as a column with missing values, or the targets of a loss.
    """
    if backend.is_integer(labels):
        return labels
    if backend.is_float(labels):
        return whole_numbers(labels, name, backend, BY_COLUMNS if labels.ndim > 1 else "")
    hint = advice or _other_labels(labels)
    raise TypeError(f"{name}: expected labels, integers in [0, num_classes), got dtype {labels.dtype}; {hint}")


def whole_numbers(labels: Array, name: str, backend: Standard, advice: str = "") -> Array:
    """Floating numbers as integers. Fractions raise an error where inspecting values is cheap.

    Elsewhere they become the smallest integer, which is no label, and not a label to ignore.
    """
    xp, labels = backend.xp, backend.to_float(backend.detached(labels))
    view, dtype = backend.host_view(labels), label_dtype(labels, backend)
    if view is not None:
        check_whole(view, name, advice)
        return xp.astype(labels, dtype)
    is_whole = (labels == xp.floor(labels)) & (xp.abs(labels) < LARGEST)
    return xp.where(is_whole, xp.astype(xp.where(is_whole, labels, 0), dtype), xp.iinfo(dtype).min)


def check_whole(labels: Array, name: str, advice: str = "") -> None:
    """Raise an error for the first of NumPy's floating numbers that is not whole."""
    is_whole = (labels == np.floor(labels)) & (np.abs(labels) < 2**63)
    if is_whole.all():
        return
    first = tuple(int(i) for i in np.argwhere(~is_whole)[0])
    end = f"; {advice}" if advice else ""
    got = "NaN, a missing value," if np.isnan(labels[first]) else f"{labels[first]:g}"
    raise ValueError(
        f"{name}: expected labels, which are whole numbers, got {got} at {first} "
        f"({np.count_nonzero(~is_whole)} of {labels.size} are not whole){end}"
    )


def check_predictions(y_pred: Array, threshold: float | None, backend: Standard) -> bool:
    """Whether predictions are scores, by the dtype; anything but labels and scores raises an error."""
    if backend.is_float(y_pred):
        return True
    if not backend.is_integer(y_pred):
        raise TypeError(
            f"y_pred: expected labels (integers) or class scores (floating), got dtype {y_pred.dtype}; "
            f"{_other_labels(y_pred)}"
        )
    if threshold is not None:
        raise TypeError(f"threshold: expected y_pred to be floating scores of class 1, got labels ({y_pred.dtype})")
    return False


def _other_labels(labels: Array) -> str:
    what = "for text or other labels" if "complex" not in str(labels.dtype) else "for labels of any kind"
    return f"{what} pass labels=[...], the label of each class, in place of num_classes="


def listed(original: Any, array: Array, name: str, *, are_scores: bool = False) -> Array:
    """The labels of a list that NumPy converts to floating numbers although it has none; else the array itself.

    NumPy does so with an empty list, which has no dtype and means no labels. It also does so with integers that no
    single dtype can hold, such as -1 and 2**63.
    """
    if are_scores or not isinstance(original, (list, tuple)) or not isinstance(array, np.ndarray):
        return array
    if array.dtype != np.float64:
        return array
    if _is_hollow(original):
        return array.astype(np.int64)
    first: Any = original
    while isinstance(first, (list, tuple)) and len(first) > 0:
        first = first[0]
    if np.asarray(first).dtype.kind not in "biu":  # scores, most likely
        return array
    labels = np.asarray(original, dtype=object)
    if not all(isinstance(label, (int, np.integer)) for label in labels.flat):
        return array
    if (outside := labels >= 2**63).any():
        position = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ValueError(f"{name}: expected labels in [0, num_classes), got {labels[position]} at {position}")
    return labels.astype(np.int64)


def _is_hollow(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(map(_is_hollow, value))


def broadcast(
    sample_ndim: int, backend: Standard, shapes: dict[str, tuple[int, ...]], *arrays: Array, has_classes: bool
) -> list[Array]:
    """All arrays in their common shape; the sample axes of labels must be equal, so that no sample is repeated.

    The second array may have a last axis of classes, which does not broadcast. ``shapes`` are the user's shapes, by
    name, for messages.
    """
    true, pred, *weights = (tuple(array.shape) for array in arrays)
    class_shape = pred[-1:] if has_classes else ()
    pred = pred[: len(pred) - len(class_shape)]
    if not (len(true) >= sample_ndim and all(shape == true for shape in (pred, *weights))):
        if min(len(true), len(pred)) < sample_ndim:
            raise ValueError(f"expected at least sample_ndim={sample_ndim} axes of samples, got {_listed(shapes)}")
        samples = true[len(true) - sample_ndim :]
        if pred[len(pred) - sample_ndim :] != samples:
            hint = f"; {BY_COLUMNS}" if (true == (*pred, *class_shape) if has_classes else true[:-1] == pred) else ""
            axes = "axis" if sample_ndim == 1 else f"{sample_ndim} axes"
            but = " before the axis of the classes" if has_classes else ""
            raise ValueError(f"expected the same samples (the last {axes}{but}), got {_listed(shapes)}{hint}")
        shape = true
        for other in (pred, *weights):
            if other != shape:  # in compiled code sizes are symbols, so this runs only if necessary
                shape = _common_shape(shape, other, shapes)
        if shape[len(shape) - sample_ndim :] != samples:
            raise ValueError(f"expected shapes that broadcast against each other, got {_listed(shapes)}")
        true = shape
    _refuse_columns(shapes, true, weights, sample_ndim)
    full_shapes = [true, (*true, *class_shape), *(true for _ in weights)]
    return [
        array if tuple(array.shape) == shape else backend.xp.broadcast_to(array, shape)
        for array, shape in zip(arrays, full_shapes, strict=True)
    ]


def _refuse_columns(
    shapes: dict[str, tuple[int, ...]], shape: tuple[int, ...], weights: list[tuple[int, ...]], sample_ndim: int
) -> None:
    """Raise an error for weights (N, 1) of N samples, as data frames with a column have: they would make N matrices."""
    samples, singleton = shape[len(shape) - sample_ndim :], (1,) * sample_ndim
    for name, weight in zip(list(shapes)[2:], weights, strict=False):
        if len(weight) > sample_ndim and samples != singleton and weight[len(weight) - sample_ndim :] == singleton:
            raise ValueError(
                f"{name}: expected a value for each sample along the last axis, got {_listed(shapes)}: a column (N, 1) "
                f"becomes (N,) by {name}[:, 0]"
            )


def _common_shape(a: tuple[int, ...], b: tuple[int, ...], shapes: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    shape = list(longer)
    for axis, size in enumerate(shorter):
        if longer[lead + axis] == 1:
            shape[lead + axis] = size
        elif size not in (1, longer[lead + axis]):
            raise ValueError(f"expected shapes that broadcast against each other, got {_listed(shapes)}")
    return tuple(shape)


def said(arrays: dict[str, Array]) -> str:
    """Names and shapes, for messages."""
    return _listed({name: tuple(array.shape) for name, array in arrays.items()})


def _listed(shapes: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def label_dtype(like: Array, backend: Standard) -> Any:
    """The integer dtype of labels and of counts."""
    return backend.widest_int(like) or backend.xp.int32


def widen(labels: Array, backend: Standard) -> Array:
    """Labels in an integer dtype for bins; a larger uint64 becomes negative, which is out of range."""
    dtype = label_dtype(labels, backend)
    return labels if labels.dtype == dtype else backend.xp.astype(labels, dtype)


def check_groups(groups: Any, num_groups: Any) -> int:
    """The number of groups, 0 without groups; an error if either argument is missing."""
    if (groups is None) != (num_groups is None):
        raise TypeError(
            "expected both groups=, an integer in [0, num_groups) for each sample, and num_groups=, got "
            f"{'num_groups' if groups is None else 'groups'} alone; for groups of any kind: names, groups = "
            "numpy.unique(groups, return_inverse=True), and num_groups=len(names)"
        )
    return 0 if num_groups is None else check_count(num_groups, "num_groups")


def check_group_numbers(groups: Array, backend: Standard) -> None:
    """Raise an error unless the groups are integers."""
    if not backend.is_integer(groups):
        raise TypeError(
            f"groups: expected integers in [0, num_groups), got dtype {groups.dtype}; for groups of another kind: "
            "names, groups = numpy.unique(groups, return_inverse=True), and num_groups=len(names)"
        )


def refuse_outside(labels: Array, n: int, kept: Array | None, name: str, advice: str = "") -> None:
    """Raise an error if a label in the host's memory is not in [0, n) and its sample is kept, with the advice."""
    if all_within(labels, n):
        return
    outside = (labels < 0) | (labels >= n)
    if kept is not None:
        outside &= kept
    if not outside.any():
        return
    first = tuple(int(i) for i in np.unravel_index(int(outside.argmax()), outside.shape))
    label = int(labels[first])
    hint = "; ignore_index= leaves samples out" if name == "y_true" and _is_32_bit(label) else ""
    raise ValueError(
        f"{name}: expected {'groups' if name == 'groups' else 'labels'} in [0, {n}), got {label} at {first}"
        f" ({np.count_nonzero(outside)} of {outside.size} are out of range){hint}{advice}"
    )


def refuse_nan(scores: Array, kept: Array | None, *, has_classes: bool) -> None:
    """Raise an error if a score in the host's memory is NaN and its sample is kept."""
    if not np.isnan(np.min(scores, initial=0)):  # the minimum is NaN if any score is
        return
    missing = np.isnan(scores).any(axis=-1) if has_classes else np.isnan(scores)
    if kept is not None:
        missing &= kept
    if missing.any():
        first = tuple(int(i) for i in np.argwhere(missing)[0])
        raise ValueError(f"y_pred: expected scores, got NaN for the sample at {first}")


def all_within(labels: Array, n: int) -> bool:
    """Whether all NumPy labels are in [0, n): viewed as unsigned numbers, negative labels are the largest."""
    return bool(np.maximum.reduce(labels.view(_unsigned(labels.dtype)), axis=None, initial=0) < n)


@functools.cache
def _unsigned(dtype: Any) -> Any:
    return np.dtype(dtype.str.replace("i", "u"))


def check_weights(weights: Array, backend: Standard) -> Array:
    """Weights as floating numbers."""
    if not (backend.is_integer(weights) or backend.is_float(weights)):
        raise TypeError(f"sample_weight: expected real numbers, got dtype {weights.dtype}")
    return backend.to_float(weights)


def squared_weights(weights: Any) -> Array:
    """The squares of a user's weights, in the widest float: squares of narrow integers would overflow."""
    backend, (array,) = as_arrays(sample_weight=weights)
    array = check_weights(array, backend)
    wide = backend.xp.astype(array, backend.widest_float(array))
    return wide * wide


def refuse_weights(weights: Array, kept: Array | None) -> None:
    """Raise an error if a weight in the host's memory is negative, NaN or infinite and its sample is kept."""
    if not weights.size or (np.min(weights) >= 0 and np.max(weights) < math.inf):  # both are false for NaN
        return
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if kept is not None:
        wrong &= kept
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"sample_weight: expected finite weights of at least 0, got {weights[first]} at {first}")
