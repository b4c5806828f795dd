"""Counts of samples by several labels at once: the table has an axis for each label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.frames import by_columns, is_frame
from matrics._counting.labels import (
    broadcast,
    check_group_numbers,
    check_labels,
    check_weights,
    is_kept,
    label_dtype,
    labels_to_ignore,
    listed,
    refuse_outside,
    refuse_weights,
    said,
    widen,
)


def count_jointly(
    label_arrays: Mapping[str, Any],
    numbers: Mapping[str, int],
    *,
    sample_weight: Any = None,
    ignored: Sequence[int] = (),
) -> Array:
    """The table (*B, *numbers) of samples by their numbers in [0, number), given by name; batches broadcast.

    Samples whose ``y_true`` is among the ignored labels are left out. Numbers out of range raise where values can be
    checked, and elsewhere their samples are left out. The table has integers, or floating numbers if weighted.
    """
    codes = tuple(label_arrays)  # all but the weights
    label_arrays = {name: by_columns(labels) if is_frame(labels) else labels for name, labels in label_arrays.items()}
    label_arrays |= {} if sample_weight is None else {"sample_weight": sample_weight}
    backend, arrays = as_arrays(**label_arrays)
    for k, name in enumerate(codes):
        arrays[k] = listed(label_arrays[name], arrays[k], name)
        if name == "groups":
            check_group_numbers(arrays[k], backend)
        else:
            arrays[k] = check_labels(arrays[k], name, backend)
    own, views = backend, [backend.host_view(array) for array in arrays]
    if all(view is not None for view in views):
        backend, arrays = NUMPY, views
    shapes = {name: tuple(array.shape) for name, array in zip(label_arrays, arrays, strict=True)}
    if len({shape[-1:] for name, shape in shapes.items() if name in codes}) > 1:  # only weights are repeated
        raise ValueError(
            f"expected the same samples (the last axis), got {said(dict(zip(label_arrays, arrays, strict=True)))}"
        )
    arrays = broadcast(1, backend, shapes, *arrays, has_classes=False)
    true = codes.index("y_true")
    ignored = labels_to_ignore(tuple(ignored), arrays[true], backend)
    weight = None if sample_weight is None else check_weights(arrays.pop(), backend)
    arrays = [widen(array, backend) for array in arrays]
    kept = is_kept(arrays[true], ignored, backend)
    if backend is NUMPY:
        for name, array in zip(codes, arrays, strict=True):
            refuse_outside(array, numbers[name], kept, name)
        if weight is not None:
            refuse_weights(weight, kept)
    table = _counted(arrays, [numbers[name] for name in codes], weight, kept, backend)
    return own.from_host(table) if backend is NUMPY else table


def _counted(
    arrays: Sequence[Array], numbers: Sequence[int], weight: Array | None, kept: Array | None, backend: Standard
) -> Array:
    """The table, whose axes are in the order of the arrays."""
    xp = backend.xp
    inside = kept if kept is not None else xp.ones_like(arrays[0], dtype=xp.bool)
    bins = xp.zeros_like(arrays[0])
    for array, number in zip(arrays, numbers, strict=True):
        inside = inside & (array >= 0) & (array < number)
        bins = bins * number + array
    length = math.prod(numbers)
    bins = xp.where(inside, bins, length)
    batch = tuple(bins.shape[:-1])
    if weight is None:
        counts = backend.count(bins, math.prod(batch), length + 1, None, dtype=label_dtype(bins, backend))
    else:  # in float32, sequential sums of a million weights have an error of a hundredth
        wide = backend.widest_float(weight)
        counts = backend.count(bins, math.prod(batch), length + 1, xp.astype(weight, wide), dtype=wide)
        counts = xp.astype(counts, weight.dtype)
    return xp.reshape(xp.reshape(counts, (math.prod(batch), length + 1))[:, :length], (*batch, *numbers))
