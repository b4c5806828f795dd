"""Labels that are missing for some samples, as numbers of classes, with the number n for a missing label."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._counting.codes import CodedClasses, codes_of, labels_on_host
from matrics._counting.labels import check_labels, listed, refuse_outside, widen


def codes_with_gaps(values: Any, there: Any, classes: CodedClasses, name: str) -> Array:
    """Labels as numbers of classes, with the number n of classes for missing labels.

    ``there`` is the mask of samples with labels. If it is None, a label is missing if it is None, NaN or, unless a
    class has this label, -1.
    """
    n, labels = classes
    if labels is None:
        return _of_numbers(values, there, n, name)
    array, backend = labels_on_host(values, name)
    codes: dict[Any, int] = {label: code for code, label in enumerate(labels)}
    if there is None:
        codes = {-1: n, **codes}
        if array is None:
            return codes_of(values, codes, name, labels)
        return backend.from_host(_where_there(array, ~missing(array), codes, labels, name))
    masks, (mask,) = as_arrays(labelled=there)
    view = masks.host_view(_checked(mask, masks))
    if array is not None and view is not None:
        return backend.from_host(_where_there(*_broadcast_pair(array, view, name), codes, labels, name))
    codes_of_labels = codes_of(values, codes, name, labels, may_drop=True)
    backend, (codes_of_labels, mask) = as_arrays(labels=codes_of_labels, labelled=mask)
    return backend.xp.where(mask, codes_of_labels, n)


def _where_there(array: Array, there: Array, codes: dict[Any, int], labels: tuple[Hashable, ...], name: str) -> Array:
    """The numbers of the labels under the mask, and the number of classes elsewhere."""
    filled = np.empty(array.shape, object)
    filled[...] = labels[0]
    filled[there] = array[there]
    return np.where(there, codes_of(filled, codes, name, labels), len(labels))


def _of_numbers(labels: Any, labelled: Any, n: int, name: str) -> Array:
    """The codes of labels that are numbers of classes, in any library and in compiled code."""
    filled = _without_gaps(labels, name, keep=labelled is not None)
    values = {name: filled} if labelled is None else {name: filled, "labelled": labelled}
    backend, (true, *masks) = as_arrays(**values)
    true = listed(filled, true, name)
    xp, mask = backend.xp, _checked(masks[0], backend) if masks else None
    if backend.is_float(true):
        true = true if mask is None else xp.where(mask, true, math.nan)
        _refuse_fractions(true, name, backend)
        true = xp.where(xp.isnan(true), -1, true)
        true = xp.astype(true, backend.widest_int(true) or xp.int32)
    check_labels(true, name, backend)
    true = widen(true, backend)
    there = true != -1 if mask is None else mask
    true, there = xp.broadcast_arrays(true, there) if true.shape != there.shape else (true, there)
    true_view, there_view = backend.host_view(true), backend.host_view(there)
    if true_view is not None and there_view is not None:
        refuse_outside(true_view, n, there_view, name)
    # Where values cannot be inspected, samples with a label out of range are dropped, and do not become unlabelled.
    return xp.where(there, xp.where(true == n, -1, true), n)


def _without_gaps(labels: Any, name: str, *, keep: bool) -> Any:
    """Labels of the host with -1 in place of missing labels; other arrays, and with ``keep``, unchanged."""
    is_list = isinstance(labels, (list, tuple)) and not any(hasattr(label, "shape") for label in labels)
    if not is_list and str(getattr(labels, "dtype", "")) != "object" and not hasattr(labels, "to_numpy"):
        return labels
    array, _ = labels_on_host(labels, name)
    if array is None or array.dtype != object or not array.size:
        return labels
    gaps = missing(array)
    if not gaps.any():
        return labels if is_list or keep else array.tolist()
    filled = array.copy()
    filled[gaps] = -1
    return filled.tolist()


def _refuse_fractions(true: Array, name: str, backend: Standard) -> None:
    view = backend.host_view(true)
    if view is None:
        return
    wrong = ~(np.isnan(view) | (view == np.floor(view)))
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise TypeError(f"{name}: expected integers, or NaN where a sample has no label, got {view[place]} at {place}")


def missing(array: Array) -> Array:
    """Whether each label of an array of NumPy is missing."""
    return np.asarray([is_missing(label) for label in array.ravel().tolist()], bool).reshape(array.shape)


def is_missing(label: Any) -> bool:
    """Whether a label is missing: None, NaN, or the missing values of pandas.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float) and math.isnan(label)


def _checked(mask: Array, backend: Standard) -> Array:
    if not backend.xp.isdtype(mask.dtype, "bool"):
        raise TypeError(
            f"labelled: expected True where a sample has a true label and False elsewhere, got dtype {mask.dtype}"
        )
    return mask


def _broadcast_pair(array: Array, mask: Array, name: str) -> tuple[Array, Array]:
    """Labels and mask in the same shape."""
    try:
        shape = np.broadcast_shapes(array.shape, mask.shape)
    except ValueError:
        raise ValueError(f"expected the same samples, got {name} {array.shape} and labelled {mask.shape}") from None
    return np.broadcast_to(array, shape), np.broadcast_to(mask, shape)
