"""Soft targets: probabilities with probabilities, counted into soft confusion matrices."""

from __future__ import annotations

import math
from typing import Any

from matrics._arrays import Array, Standard
from matrics._arrays.sizes import check_size
from matrics._counting.labels import FEWER_CELLS, broadcast, check_weights, class_axis_last, refuse_weights


def count_soft_targets(
    y_true: Array,
    y_prob: Array,
    sample_weight: Array | None,
    *,
    class_axis: int,
    sample_ndim: int,
    ignore_index: Any,
    backend: Standard,
) -> Array:
    """Sums over the samples of the products of targets and probabilities, (*B, n, n), in the dtype of the latter."""
    if ignore_index is not None:
        raise TypeError(
            "ignore_index: expected None with soft targets (floating-point y_true), which are no labels; "
            "sample_weight=0 leaves samples out"
        )
    xp = backend.xp
    weights = [] if sample_weight is None else [sample_weight]
    names = ("y_true", "y_prob", "sample_weight")
    shapes = {name: tuple(array.shape) for name, array in zip(names, (y_true, y_prob, *weights), strict=False)}
    hint = "if these are labels, make them integers"
    targets = class_axis_last(backend.to_float(y_true), class_axis, "y_true", backend, hint)
    y_prob = class_axis_last(backend.to_float(y_prob), class_axis, "y_prob", backend)
    n = y_prob.shape[-1]
    if targets.ndim <= sample_ndim or targets.shape[-1] != n or n == 0:
        raise ValueError(
            f"y_true: floating-point numbers are soft targets: expected {sample_ndim} sample axes and a class axis "
            f"at class_axis={class_axis}, of the length of that of y_prob, got y_true {shapes['y_true']} and y_prob "
            f"{shapes['y_prob']}; {hint}"
        )
    first, y_prob, *weights = broadcast(
        sample_ndim, backend, shapes, targets[..., 0], y_prob, *weights, has_classes=True
    )
    targets = xp.astype(xp.broadcast_to(targets, (*first.shape, n)), y_prob.dtype)
    if weights:
        weight = check_weights(weights[0], backend)
        view = backend.host_view(weight)
        if view is not None:
            refuse_weights(view, None)
        # Weight 0 excludes a sample, even if its weight is NaN.
        weight = xp.astype(weight, y_prob.dtype)[..., None]
        targets, y_prob = (xp.where(weight == 0, 0, x) for x in (targets, y_prob))
        y_prob = y_prob * weight
    batch_shape = tuple(first.shape[: first.ndim - sample_ndim])
    check_size(math.prod(batch_shape) * n * n, num_classes=n, batch=batch_shape or None, advice=FEWER_CELLS)
    rows = (math.prod(batch_shape), math.prod(first.shape[len(batch_shape) :]), n)
    sums = backend.sum_of_products(xp.reshape(targets, rows), xp.reshape(y_prob, rows))
    return xp.reshape(sums, (*batch_shape, n, n))
