"""Labels that are missing for some samples, as numbers of classes and one more number for none."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._counting.codes import CodedClasses, codes_of, labels_on_host
from matrics._counting.labels import check_labels, listed, refuse_outside, widen


def codes_with_gaps(values: Any, there: Any, classes: CodedClasses, name: str) -> Array:
    """Labels as numbers of classes, and the number n of classes where there is none.

    ``there`` says where there are labels, whatever stands elsewhere; if it is None, a label is missing where there is
    None or NaN or, unless it is the label of a class, -1.
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
    seen = masks.host_view(_checked(mask, masks))
    if array is not None and seen is not None:
        return backend.from_host(_where_there(*_alike(array, seen, name), codes, labels, name))
    found = codes_of(values, codes, name, labels, may_drop=True)
    backend, (found, mask) = as_arrays(labels=found, labelled=mask)
    return backend.xp.where(mask, found, n)


def _where_there(array: Array, there: Array, codes: dict[Any, int], labels: tuple[Hashable, ...], name: str) -> Array:
    """The numbers of labels that are there, and the number of classes for the others."""
    filled = np.empty(array.shape, object)
    filled[...] = labels[0]
    filled[there] = array[there]
    return np.where(there, codes_of(filled, codes, name, labels), len(labels))


def _of_numbers(labels: Any, labelled: Any, n: int, name: str) -> Array:
    """The same of labels that are numbers of classes, in any library and in compiled code."""
    given = _without_gaps(labels, name, keep=labelled is not None)
    values = {name: given} if labelled is None else {name: given, "labelled": labelled}
    backend, (true, *masks) = as_arrays(**values)
    true = listed(given, true, name)
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
    seen, kept = backend.host_view(true), backend.host_view(there)
    if seen is not None and kept is not None:
        refuse_outside(seen, n, kept, name)
    # Where values cannot be inspected, samples with a label out of range are left out, not taken for unlabelled.
    return xp.where(there, xp.where(true == n, -1, true), n)


def _without_gaps(labels: Any, name: str, *, keep: bool) -> Any:
    """Labels of the host with -1 in place of what is missing; anything else, and if they are to be kept, unchanged."""
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
    seen = backend.host_view(true)
    if seen is None:
        return
    wrong = ~(np.isnan(seen) | (seen == np.floor(seen)))
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise TypeError(f"{name}: expected integers, or NaN where a sample has no label, got {seen[place]} at {place}")


def missing(array: Array) -> Array:
    """Which labels of an array of NumPy are missing."""
    return np.asarray([is_missing(label) for label in array.ravel().tolist()], bool).reshape(array.shape)


def is_missing(label: Any) -> bool:
    """Whether this stands for no label: None, NaN, or what pandas has for either.

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


def _alike(array: Array, mask: Array, name: str) -> tuple[Array, Array]:
    """Labels and mask in one shape."""
    try:
        shape = np.broadcast_shapes(array.shape, mask.shape)
    except ValueError:
        raise ValueError(f"expected the same samples, got {name} {array.shape} and labelled {mask.shape}") from None
    return np.broadcast_to(array, shape), np.broadcast_to(mask, shape)
