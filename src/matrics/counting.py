"""From labels and class scores to counts: what confusion_matrix and ConfusionState share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics import _backend
from matrics._backend import NUMPY, Array, Standard
from matrics.coding import as_codes, check_classes
from matrics.labels import (
    all_within,
    broadcast,
    check_ignore_index,
    check_labels,
    check_predictions,
    check_scores,
    check_weights,
    label_dtype,
    label_to_ignore,
    listed,
    predicted,
    refuse_nan,
    refuse_outside,
    refuse_weights,
    said,
    widen,
)

# So many samples are counted at a time: what is made of them on the way, some 40 bytes each, stays in a cache.
SAMPLES_AT_ONCE = 2**16


class Counted(NamedTuple):
    """The counts of one call."""

    backend: Standard
    matrix: Array  # (*B, n, n), perhaps a view of something larger
    dropped: Array | int  # number of samples with a label out of range or a NaN score, (*B,); 0 where there can be none

    def number_dropped(self) -> Array:
        """How many samples were dropped, as an array (*B,)."""
        zeros = self.backend.xp.zeros_like(self.matrix[..., 0, 0], dtype=label_dtype(self.matrix, self.backend))
        return zeros + self.dropped


def count_labels(  # noqa: C901, PLR0912 (one way, told in order)
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int | None,
    labels: Any = None,
    class_axis: int,
    threshold: float | None,
    sample_weight: Any,
    ignore_index: Any,
    sample_ndim: int = 1,
    state: Array | None = None,
    may_drop: bool = False,
) -> Counted:
    """Count labels. Those out of range raise where looking is free, unless samples may be dropped.

    With a state, given by its counts (*B, n, n), the batch is that of the state, all other axes are samples, and
    samples may be dropped.
    """
    may_drop = may_drop or state is not None
    classes = check_classes(num_classes, labels)
    if classes.labels is not None:
        y_true, y_pred, ignore_index = as_codes(classes.labels, y_true, y_pred, ignore_index, may_drop=may_drop)
    check_ignore_index(ignore_index)
    values = {"y_true": y_true, "y_pred": y_pred}
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    backend, arrays = _backend.as_arrays(**values, **({} if state is None else {"state": state}))
    y_true, y_pred, *weights = arrays[: len(values)]
    y_true = listed(values["y_true"], y_true, "y_true")
    y_pred = listed(values["y_pred"], y_pred, "y_pred", are_scores=threshold is not None)
    check_labels(y_true, "y_true", backend)
    has_scores = check_predictions(y_pred, threshold, backend)
    has_classes = has_scores and threshold is None
    if state is not None:
        sample_ndim = max(y_true.ndim, y_pred.ndim - has_classes) - (state.ndim - 2)
        if sample_ndim < 0:
            got = said({"y_true": y_true, "y_pred": y_pred})
            raise ValueError(f"expected labels with the batch {tuple(state.shape[:-2])} of the state, got {got}")
    # Counts have no gradient, and concrete arrays on the CPU are counted by NumPy, as they are scored.
    own, arrays = backend, [y_true, backend.detached(y_pred), *weights]
    views = [backend.host_view(array) for array in arrays]
    if all(view is not None for view in views):
        backend, arrays = NUMPY, views
    shapes = {name: tuple(array.shape) for name, array in zip(values, arrays, strict=True)}
    if has_scores:
        arrays[1] = check_scores(
            arrays[1],
            classes.number,
            class_axis=class_axis,
            sample_ndim=sample_ndim,
            threshold=threshold,
            backend=backend,
        )
    if weights:
        arrays[2] = check_weights(arrays[2], backend)
    arrays = broadcast(sample_ndim, backend, shapes, *arrays, has_classes=has_classes)
    batch_shape = tuple(arrays[0].shape[: arrays[0].ndim - sample_ndim])
    if state is not None and batch_shape != tuple(state.shape[:-2]):
        raise ValueError(
            f"expected labels with the batch {tuple(state.shape[:-2])} of the state, got the batch {batch_shape}"
        )
    count = Count(
        classes.number,
        threshold=threshold,
        ignore_index=label_to_ignore(ignore_index, arrays[0], backend),
        may_drop=may_drop or backend is NUMPY,
        has_scores=has_scores,
        backend=backend,
    )
    if state is None:
        count.check_weights(*arrays)
    if backend is NUMPY:  # to see what was dropped takes less than to look for it before
        matrix, dropped = in_parts(count, arrays, sample_ndim)
        if not may_drop and not isinstance(dropped, int):
            count.check(*arrays)
    else:
        if not may_drop:
            count.check(*arrays)
        matrix, dropped = count(arrays, sample_ndim)
    if weights and state is None:  # a state has its own dtype
        matrix = backend.xp.astype(matrix, arrays[2].dtype)
    if own is not backend:
        matrix, dropped = own.from_host(matrix), dropped if isinstance(dropped, int) else own.from_host(dropped)
    return Counted(own, matrix, dropped)


class Count(NamedTuple):
    """How samples are counted, once their arrays have one shape."""

    n: int
    threshold: float | None
    ignore_index: int | None
    may_drop: bool
    has_scores: bool
    backend: Standard

    def kept(self, y_true: Array) -> Array | None:
        """Where samples are not to be ignored; None if that is everywhere."""
        return None if self.ignore_index is None else widen(y_true, self.backend) != self.ignore_index

    def check_weights(self, y_true: Array, _: Array, weight: Array | None = None) -> None:
        """Raise for weights that are negative, NaN or infinite, where looking is free."""
        true, seen = self.backend.host_view(y_true), None if weight is None else self.backend.host_view(weight)
        if true is not None and seen is not None:
            refuse_weights(seen, self._replace(backend=NUMPY).kept(true))

    def check(self, y_true: Array, y_pred: Array, *_: Array) -> None:
        """Raise for labels out of range and NaN scores, where looking is free."""
        view = self.backend.host_view
        y_true_seen, y_pred_seen = view(y_true), view(y_pred)
        kept = None if y_true_seen is None else self._replace(backend=NUMPY).kept(y_true_seen)
        if y_true_seen is not None:
            refuse_outside(y_true_seen, self.n, kept, "y_true")
        if y_pred_seen is not None and (kept is not None or self.ignore_index is None):
            if self.has_scores:
                refuse_nan(y_pred_seen, kept, has_classes=self.threshold is None)
            else:
                refuse_outside(y_pred_seen, self.n, kept, "y_pred")

    def __call__(self, arrays: Sequence[Array], sample_ndim: int) -> tuple[Array, Array | int]:
        """The matrices, and how many samples were dropped."""
        y_true, y_pred, *weights = arrays
        weight = weights[0] if weights else None
        backend, n, xp = self.backend, self.n, self.backend.xp
        if self.has_scores:
            y_pred = predicted(y_pred, n, threshold=self.threshold, backend=backend)
        batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
        kept = self.kept(y_true)
        y_true, y_pred = widen(y_true, backend), widen(y_pred, backend)
        border = 0 if backend.looking_is_free and all_within(y_true, n) and all_within(y_pred, n) else 1
        # Labels out of range are clipped to a border around the cells: -1 would wrap around on JAX and raise on
        # PyTorch.
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
        if weight is None or (self.may_drop and border):
            counts = backend.count(bins, batch, longer, None, dtype=label_dtype(bins, backend))
        if weight is None:
            matrix = cells(counts)
        else:  # in float32, adding up a million weights one by one has an error of a hundredth
            wide = backend.widest_float(weight)
            matrix = cells(backend.count(bins, batch, longer, xp.astype(weight, wide), dtype=wide))
        if not (self.may_drop and border):
            return matrix, 0
        inside = matrix if weight is None else cells(counts)
        samples = math.prod(y_true.shape[len(batch_shape) :])
        dropped = samples - xp.sum(inside, axis=(-2, -1))
        if kept is not None:
            dropped = dropped - xp.reshape(counts, (*batch_shape, length + 1))[..., length]
        return matrix, dropped


def in_parts(count: Count, arrays: Sequence[Array], sample_ndim: int) -> tuple[Array, Array | int]:
    """The counts of NumPy arrays, from parts of them: memory does not grow with the samples."""
    shape = arrays[0].shape
    size = math.prod(shape)
    if size <= SAMPLES_AT_ONCE or not shape:
        return count(arrays, sample_ndim)
    of_samples, rest = len(shape) == sample_ndim, size // shape[0]
    step = SAMPLES_AT_ONCE // rest
    if step:
        slices = [slice(start, start + step) for start in range(0, shape[0], step)]
        parts = [count([array[part] for array in arrays], sample_ndim) for part in slices]
    else:
        parts = [in_parts(count, [array[i] for array in arrays], sample_ndim - of_samples) for i in range(shape[0])]
    matrices, dropped = zip(*parts, strict=True)
    if of_samples:
        return sum(matrices), sum(dropped)
    rows = [matrix.shape[:-2] for matrix in matrices]
    losses = [np.broadcast_to(lost, row) for lost, row in zip(dropped, rows, strict=True)]
    join = np.concatenate if step else np.stack
    return join(matrices), 0 if all(isinstance(lost, int) for lost in dropped) else join(losses)
