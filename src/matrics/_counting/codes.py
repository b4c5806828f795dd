"""Labels of any kind, such as text, as numbers of their classes: the same coding for true and predicted labels."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Standard, as_arrays, is_compiling
from matrics._arrays.frames import by_columns, column, column_names, is_frame, numbers
from matrics._arrays.inputs import described, is_missing, refuse_masks
from matrics._arrays.sizes import check_count, one_or_more
from matrics._counting.labels import NO_CLASS_AXIS, check_groups, check_labels, check_whole, is_kept, widen
from matrics._quoting import cut, first_twice, quoted, quoted_list

Array = Any


class CodedClasses(NamedTuple):
    """The number of classes, and the label of each class unless labels are class numbers."""

    number: int
    labels: tuple[Hashable, ...] | None


def check_classes(num_classes: Any, labels: Any) -> CodedClasses:
    """The classes, from either of the two arguments; both or neither raise an error."""
    if (num_classes is None) == (labels is None):
        got = "neither" if labels is None else "both"
        raise TypeError(
            "expected either num_classes=, where labels are the numbers of classes 0 to n - 1, or labels=, a list of "
            f"the labels in the order of the rows, got {got}"
        )
    if labels is None:
        return CodedClasses(check_count(num_classes, "num_classes"), None)
    if isinstance(labels, (str, bytes, Mapping, AbstractSet)) or not isinstance(labels, Iterable):
        raise TypeError(f"labels: expected a list of labels, one for each class, got {described(labels)}")
    labels = labels.tolist() if hasattr(labels, "tolist") else labels  # of arrays and Series
    # Elements of arrays have no axes. In code that PyTorch compiles, labels are numbers, which may be symbols.
    known = tuple(labels) if is_compiling() else tuple(map(_without_axes, labels))
    for label in known:
        if not is_compiling() and (isinstance(label, list) or hasattr(label, "ndim")):
            raise TypeError(
                "labels: expected a flat list of the labels of the classes, such as ['cat', 'dog'], got "
                f"{quoted(label)} among them"
            )
        if not isinstance(label, Hashable) or label != label:  # noqa: PLR0124 (NaN)
            raise TypeError(f"labels: expected labels that can be compared and hashed, got {quoted(label)}")
    if not known or len(set(known)) != len(known):
        twice = first_twice(known)
        got = f"{quoted(twice)} twice" if known else "none"
        raise ValueError(f"labels: expected different labels, one for each class, got {got}")
    return CodedClasses(len(known), known)


def known_labels(labels: Any) -> tuple[Hashable, ...] | None:
    """The labels of the classes, in order; None if there are none."""
    return None if labels is None else check_classes(None, labels).labels


def _without_axes(label: Any) -> Any:
    return label.item() if getattr(label, "ndim", None) == 0 else label


def check_classes_of_state(number: int, labels: Any) -> CodedClasses:
    """The classes of a state, with a label for each class or none; other numbers of labels raise an error."""
    classes = check_classes(number if labels is None else None, labels)
    if classes.number != number:
        raise ValueError(f"labels: expected {number}, a label for each class of the state, got {classes.number}")
    return classes


def integer_codes(num_classes: Any, labels: Any) -> tuple[int, dict[Hashable, int] | None]:
    """The number of classes, and the class of each label unless labels are class numbers.

    The metrics of training loops use this: their labels are integers on any device.
    """
    classes = check_classes(num_classes, labels)
    if classes.labels is None:
        return classes.number, None
    others = [label for label in classes.labels if not isinstance(label, int)]
    if others:
        raise TypeError(
            f"labels: expected integers, as arrays on a device hold no others, got {quoted(others[0])}; names of "
            "classes belong in class_names="
        )
    return classes.number, {label: code for code, label in enumerate(classes.labels)}


def as_codes(
    labels: tuple[Hashable, ...],
    y_true: Any,
    y_pred: Any,
    ignore_index: Any,
    *,
    may_drop: bool,
    sample_ndim: int | None = 1,
    threshold: float | None = None,
) -> tuple[Array, Array, tuple[int, ...]]:
    """True and predicted labels as numbers of classes, and the codes of the labels to leave out.

    Predictions that are floating numbers are class scores, and stay, unless they have no axis of classes. Unknown
    labels raise an error; where samples may be dropped, they become -1. ``sample_ndim`` is None if all axes are
    samples.
    """
    true, backend, ignored = _true_codes(labels, y_true, ignore_index, may_drop=may_drop)
    was_inspected = isinstance(true, np.ndarray)
    kept = is_kept(true, ignored, NUMPY) if was_inspected else None
    true = backend.from_host(true) if was_inspected else true
    codes = {label: code for code, label in enumerate(labels)}
    if _are_scores(y_pred, labels):
        y_pred = in_order(y_pred, labels, "y_pred")
        is_column = threshold is None and len(_shape(y_pred)) == 1 and (sample_ndim or true.ndim) == 1
        if not is_column or labels_on_host(y_pred, "y_pred")[0] is None:
            return true, y_pred, ignored
    pred, backend = _codes(y_pred, codes, "y_pred", labels, kept, may_drop=may_drop or not was_inspected)
    return true, backend.from_host(pred) if isinstance(pred, np.ndarray) else pred, ignored


def true_codes(
    labels: tuple[Hashable, ...], y_true: Any, ignore_index: Any, *, may_drop: bool
) -> tuple[Array, tuple[int, ...]]:
    """True labels as numbers of classes, in their library, and the codes of the labels to leave out."""
    true, backend, ignored = _true_codes(labels, y_true, ignore_index, may_drop=may_drop)
    return backend.from_host(true) if isinstance(true, np.ndarray) else true, ignored


def _true_codes(
    labels: tuple[Hashable, ...], y_true: Any, ignore_index: Any, *, may_drop: bool
) -> tuple[Array, Standard, tuple[int, ...]]:
    codes = {label: code for code, label in enumerate(labels)}
    left_out = {label: codes.get(label, -2) for label in _ignored(ignore_index, labels)}
    true, backend = _codes(y_true, {**codes, **left_out}, "y_true", labels, None, may_drop=may_drop)
    return true, backend, tuple(dict.fromkeys(left_out.values()))


def codes_of(
    values: Any, codes: Mapping[Hashable, int], name: str, labels: tuple[Hashable, ...], *, may_drop: bool = False
) -> Array:
    """Labels as numbers of classes, in their library; unknown labels raise an error, or are -1 if may be dropped."""
    numbers_of_classes, backend = _codes(values, codes, name, labels, None, may_drop=may_drop)
    return backend.from_host(numbers_of_classes) if isinstance(numbers_of_classes, np.ndarray) else numbers_of_classes


def _ignored(ignore_index: Any, labels: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    """The labels to leave out. A tuple is a single label if labels are tuples, and otherwise several labels."""
    is_label = isinstance(ignore_index, tuple) and any(isinstance(label, tuple) for label in labels)
    ignored = (ignore_index,) if is_label else one_or_more(ignore_index)
    for label in ignored:
        if not isinstance(label, Hashable):
            raise TypeError(f"ignore_index: expected a label or a list of labels, got {described(label)}")
    return ignored


def left_out(ignore_index: Any, number: int, labels: tuple[Hashable, ...] | None) -> tuple[int, ...]:
    """The indices of the classes whose labels are left out."""
    known = tuple(range(number)) if labels is None else labels
    ignored = _ignored(ignore_index, known)
    return tuple(k for k, label in enumerate(known) if label in ignored)


def _codes(
    values: Any,
    codes: Mapping[Hashable, int],
    name: str,
    labels: tuple[Hashable, ...],
    kept: Array | None,
    *,
    may_drop: bool,
) -> tuple[Array, Standard]:
    """Numbers of classes, of NumPy; or of the library of the values if they cannot be inspected."""
    refuse_masks(name, values)
    array, backend = labels_on_host(values, name)
    if array is None:
        return searched(values, codes, name, backend), backend
    if array.dtype.kind == "f" and array.size:
        check_whole(array, name, NO_CLASS_AXIS if name == "y_pred" else "")
    flat = array.ravel().tolist()
    try:
        numbers_of_classes = np.fromiter((codes.get(label, -1) for label in flat), np.int64, len(flat)).reshape(
            array.shape
        )
    except TypeError as error:
        odd = next(label for label in flat if not isinstance(label, Hashable))
        raise TypeError(
            f"{name}: expected labels out of labels=, got {quoted(odd)}, a {type(odd).__name__}, which is no label"
        ) from error
    unknown = numbers_of_classes == -1
    if kept is not None:  # of several true labels of a sample, a single kept label is enough
        kept = kept.any(axis=tuple(range(max(0, kept.ndim - unknown.ndim))))
        with contextlib.suppress(ValueError):  # counting raises an error for shapes that do not fit
            unknown &= kept
    if unknown.any() and not may_drop:
        first = int(np.flatnonzero(unknown)[0])
        at = tuple(int(i) for i in np.unravel_index(first, array.shape))
        known = quoted_list(labels)
        raise ValueError(
            f"{name}: expected one of the labels {known}, got {quoted(flat[first])} at {at} "
            f"({np.count_nonzero(unknown)} of {unknown.size} are unknown)"
        )
    return numbers_of_classes, backend


def searched(values: Array, codes: Mapping[Hashable, int], name: str, backend: Standard) -> Array:
    """The numbers of the classes of integer labels, on any device and in compiled code; -1 for unknown labels."""
    others = [label for label in codes if not isinstance(label, int)]
    if others:
        raise TypeError(
            f"{name}: expected lists or concrete arrays on the CPU, because labels= are looked up there, got a "
            f"{type(values).__name__}; elsewhere labels are integers, got labels=[{quoted(others[0])}, ...]"
        )
    values = check_labels(values, name, backend)
    xp, wide = backend.xp, widen(values, backend)
    limits = xp.iinfo(wide.dtype)
    least = 0 if backend.is_unsigned(values) else int(limits.min)  # a widened label could match a negative label
    known = sorted(label for label in codes if isinstance(label, int) and least <= label <= int(limits.max))
    if not known:
        return xp.full_like(wide, -1)
    first, last = known[0], known[-1]
    if [codes[label] for label in range(first, last + 1) if label in codes] == list(range(last - first + 1)):
        return xp.where((wide < first) | (wide > last), -1, wide - first)  # such as 1 to n
    table = backend.constant([known, [codes[label] for label in known]], wide)
    flat = xp.reshape(wide, (-1,))
    place = xp.clip(xp.searchsorted(table[0, :], flat), 0, len(known) - 1)
    numbers_of_classes = xp.where(xp.take(table[0, :], place) == flat, xp.take(table[1, :], place), -1)
    return xp.reshape(numbers_of_classes, wide.shape)


def numbered_groups(groups: Any, num_groups: Any) -> tuple[Any, int]:
    """The numbers of the groups of samples, and the number of groups; 0 without groups.

    Integers are group numbers already, and need the number of groups. Texts and other labels are numbered in order.
    """
    if groups is None or is_compiling():
        return groups, check_groups(groups, num_groups)
    array, _ = labels_on_host(groups, "groups")
    is_text = array is not None and array.dtype.kind in "OSUT" and not all(map(_is_number, array.flat))
    if array is None or not is_text:
        return groups, check_groups(groups, num_groups)
    names, codes = places(array, "groups")
    if num_groups is not None and num_groups != len(names):
        raise ValueError(
            f"num_groups: expected {len(names)}, the number of the groups {quoted_list(names.tolist())}, or None, got "
            f"{quoted(num_groups)}"
        )
    return codes, len(names)


def places(values: Array, name: str) -> tuple[Array, Array]:
    """The distinct values in order, and the index of each value; missing and mixed values raise an error."""
    flat = values.ravel().tolist()
    missing = [k for k, value in enumerate(flat) if is_missing(value)]
    if missing:
        at = missing[0] if values.ndim == 1 else tuple(map(int, np.unravel_index(missing[0], values.shape)))
        raise ValueError(f"{name}: expected a value for each sample, got {cut(flat[missing[0]])} at {at}")
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except TypeError as error:  # they cannot be put in order
        kinds = sorted({type(value).__name__ for value in flat})
        raise TypeError(f"{name}: expected values of a single kind, such as texts, got {', '.join(kinds)}") from error
    return distinct, codes.reshape(values.shape)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def labels_on_host(values: Any, name: str) -> tuple[Array | None, Standard]:
    """Labels as an array of NumPy, or None if they cannot be inspected, and their library."""
    if isinstance(values, (list, tuple)):
        return _objects(values, name), NUMPY
    if isinstance(values, np.ndarray) or hasattr(values, "to_numpy"):  # a Series or a data frame
        if is_frame(values):
            return by_columns(values), NUMPY
        is_nullable = not isinstance(getattr(values, "dtype", None), np.dtype)  # NumPy would convert integers to floats
        return numbers(np.asarray(values, object)) if is_nullable else column(values), NUMPY
    if is_frame(values):
        return by_columns(values), NUMPY
    backend, (array,) = as_arrays(**{name: values})
    return backend.host_view(array), backend


def _objects(values: Any, name: str) -> Array:
    """The labels of a list, perhaps of lists or arrays, as an array of objects; tuples are labels."""
    if values and hasattr(values[0], "tolist") and not isinstance(values[0], np.generic):
        values = [part.tolist() if hasattr(part, "tolist") else part for part in values]
    if values and all(isinstance(part, list) for part in values):
        parts = [_objects(part, name) for part in values]
        if len({part.shape for part in parts}) > 1:
            raise ValueError(f"{name}: expected a rectangular array of labels, got a ragged list")
        return np.stack(parts)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _are_scores(values: Any, labels: tuple[Hashable, ...]) -> bool:
    """Whether the values are floating-point numbers, by their dtype."""
    if isinstance(values, (list, tuple)):
        return not any(isinstance(label, tuple) for label in labels) and _is_floating(values)
    if is_frame(values):
        dtypes = values.dtypes if hasattr(values, "dtypes") else values.schema.types
    else:
        dtypes = [getattr(values, "dtype", getattr(values, "type", None))]
    # Float64 of Polars, and nullable of pandas; "double" and "float" of pyarrow.
    return all("float" in str(dtype).lower() or str(dtype) in ("double", "halffloat") for dtype in dtypes)


def _shape(values: Any) -> tuple[int, ...]:
    """The shape of an array, a Series or a list; a frame with a single column has the shape of the column."""
    if is_frame(values):
        return tuple(values.shape)[: 1 + (values.shape[1] > 1)]
    shape = getattr(values, "shape", None)
    return tuple(np.shape(values)) if shape is None else tuple(shape)


def _is_floating(values: Any) -> bool:
    """Whether a list, perhaps of lists, has numbers only, and at least one floating number."""
    flat = [values]
    while flat and isinstance(flat[0], (list, tuple)):
        flat = [value for part in flat for value in part]
    numbers = all(isinstance(value, (int, float, np.number)) for value in flat)
    return numbers and any(isinstance(value, (float, np.floating)) for value in flat)


def in_order(scores: Any, labels: tuple[Hashable, ...], name: str) -> Any:
    """The columns of a data frame of class scores in the order of the labels; anything else unchanged."""
    if not is_frame(scores):
        return scores
    columns = column_names(scores)
    if len(columns) == 1:
        return scores
    if sorted(map(repr, columns)) != sorted(map(repr, labels)):
        raise ValueError(
            f"{name}: expected a column of scores for each of the labels, got the columns [{quoted_list(columns)}]"
        )
    order = [columns.index(label) for label in labels]
    if hasattr(scores, "iloc"):
        return scores.iloc[:, order]
    return scores[:, order] if hasattr(scores, "to_numpy") else scores.select(order)  # of Polars, or pyarrow
