"""From labels of any kind, such as text, to the numbers of their classes: one coding for true and predicted labels."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from matrics._backend import NUMPY, Standard, as_arrays
from matrics._inputs import by_columns, described, refuse_masks
from matrics.labels import check_count

Array = Any


class Classes(NamedTuple):
    """How many classes there are, and the label of each unless it is its number."""

    number: int
    labels: tuple[Hashable, ...] | None


def check_classes(num_classes: Any, labels: Any) -> Classes:
    """The classes, of which exactly one of the two tells; anything else raises an error."""
    if (num_classes is None) == (labels is None):
        got = "neither" if labels is None else "both"
        raise TypeError(
            "expected either num_classes=, where labels are the numbers of classes 0 to n - 1, or labels=, a list of "
            f"them in the order of the rows, got {got}"
        )
    if labels is None:
        return Classes(check_count(num_classes, "num_classes"), None)
    if isinstance(labels, (str, bytes, Mapping, AbstractSet)) or not isinstance(labels, Iterable):
        raise TypeError(f"labels: expected a list of labels, one for each class, got {described(labels)}")
    labels = labels.tolist() if hasattr(labels, "tolist") else labels  # of arrays and Series
    found = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    for label in found:
        if not isinstance(label, Hashable) or label != label:  # noqa: PLR0124 (NaN)
            raise TypeError(f"labels: expected labels that can be compared and hashed, got {label!r}")
    if not found or len(set(found)) != len(found):
        twice = next((label for label in found if found.count(label) > 1), None)
        got = f"{twice!r} twice" if found else "none"
        raise ValueError(f"labels: expected different labels, one for each class, got {got}")
    return Classes(len(found), found)


def as_codes(
    labels: tuple[Hashable, ...], y_true: Any, y_pred: Any, ignore_index: Any, *, may_drop: bool
) -> tuple[Array, Array, int | None]:
    """True and predicted labels as numbers of classes, and what stands for the label to leave out.

    Predictions that are floating numbers are class scores, and stay. Unknown labels raise an error; where samples may
    be dropped, they become -1.
    """
    codes = {label: code for code, label in enumerate(labels)}
    ignored = None
    if ignore_index is not None:
        if not isinstance(ignore_index, Hashable):
            raise TypeError(f"ignore_index: expected a label, got {described(ignore_index)}")
        ignored = codes.get(ignore_index, -2)
    of_true = codes if ignored is None else {**codes, ignore_index: ignored}
    true, backend = _codes(y_true, of_true, "y_true", labels, None, may_drop=may_drop)
    is_kept = None if ignored is None else true != ignored
    if _are_scores(y_pred, labels):
        y_pred = _in_order(y_pred, labels) if hasattr(y_pred, "columns") else y_pred
        return backend.from_host(true), y_pred, ignored
    pred, backend_of_pred = _codes(y_pred, codes, "y_pred", labels, is_kept, may_drop=may_drop)
    return backend.from_host(true), backend_of_pred.from_host(pred), ignored


def _codes(
    values: Any,
    codes: Mapping[Hashable, int],
    name: str,
    labels: tuple[Hashable, ...],
    is_kept: Array | None,
    *,
    may_drop: bool,
) -> tuple[Array, Standard]:
    refuse_masks(name, values)
    array, backend = _on_host(values, name)
    if array.dtype.kind == "f" and array.size:
        raise TypeError(f"{name}: expected labels out of labels=, got floating numbers ({array.dtype})")
    given = array.ravel().tolist()
    try:
        found = np.fromiter((codes.get(label, -1) for label in given), np.int64, len(given)).reshape(array.shape)
    except TypeError as error:
        raise TypeError(f"{name}: expected labels out of labels=, got one that cannot be one ({error})") from error
    unknown = found == -1
    if is_kept is not None:  # of several true labels of a sample it takes one that is kept
        is_kept = is_kept.any(axis=tuple(range(max(0, is_kept.ndim - unknown.ndim))))
        with contextlib.suppress(ValueError):  # shapes that do not fit are refused where samples are counted
            unknown &= is_kept
    if unknown.any() and not may_drop:
        first = int(np.flatnonzero(unknown)[0])
        at = tuple(int(i) for i in np.unravel_index(first, array.shape))
        known = ", ".join(repr(label) for label in labels[:8]) + (", …" if len(labels) > 8 else "")
        raise ValueError(
            f"{name}: expected one of the labels {known}, got {given[first]!r} at {at} ({np.count_nonzero(unknown)} "
            f"of {unknown.size} are unknown)"
        )
    return found, backend


def _on_host(values: Any, name: str) -> tuple[Array, Standard]:
    """Labels as an array of NumPy, and the library that they are from."""
    if isinstance(values, (list, tuple)):
        return _objects(values), NUMPY
    if isinstance(values, np.ndarray) or hasattr(values, "to_numpy"):  # a Series or a data frame
        if hasattr(values, "columns"):
            return by_columns(values), NUMPY
        is_nullable = not isinstance(getattr(values, "dtype", None), np.dtype)  # which would make floats of integers
        return np.asarray(values, object if is_nullable else None), NUMPY
    backend, (array,) = as_arrays(**{name: values})
    view = backend.host_view(array)
    if view is None:
        raise TypeError(
            f"{name}: expected lists or concrete arrays on the CPU, as labels= are looked up on the host, got "
            f"a {type(values).__name__}; elsewhere pass the numbers of classes and num_classes="
        )
    return view, backend


def _objects(values: Any) -> Array:
    """A list, perhaps of lists, as an array of its labels; tuples are labels."""
    if values and all(isinstance(part, list) for part in values):
        return np.stack([_objects(part) for part in values])
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _are_scores(values: Any, labels: tuple[Hashable, ...]) -> bool:
    """Floating numbers, whatever holds them: the dtype decides."""
    if isinstance(values, (list, tuple)):
        return not any(isinstance(label, tuple) for label in labels) and _is_floating(values)
    dtypes = values.dtypes if hasattr(values, "columns") else [getattr(values, "dtype", None)]
    return all("float" in str(dtype) for dtype in dtypes)


def _is_floating(values: Any) -> bool:
    """Whether a list, perhaps of lists, is of numbers, and one of them of floating point."""
    flat = [values]
    while flat and isinstance(flat[0], (list, tuple)):
        flat = [value for part in flat for value in part]
    numbers = all(isinstance(value, (int, float, np.number)) for value in flat)
    return numbers and any(isinstance(value, (float, np.floating)) for value in flat)


def _in_order(scores: Any, labels: tuple[Hashable, ...]) -> Any:
    """The columns of a data frame of class scores in the order of the labels."""
    columns = list(scores.columns)
    if len(columns) == 1:
        return scores
    if sorted(map(repr, columns)) != sorted(map(repr, labels)):
        raise ValueError(f"y_pred: expected a column of scores for each of the labels, got the columns {columns[:8]}")
    return scores.iloc[:, [columns.index(label) for label in labels]]
