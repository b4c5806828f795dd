"""Counts of labels and class scores, for confusion_matrix and ConfusionState."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays, codes_on_device, is_compiling
from matrics._arrays.sizes import check_size
from matrics._counting.codes import as_codes, check_classes, numbered_groups
from matrics._counting.labels import (
    BY_COLUMNS,
    FEWER_CELLS,
    NO_CLASS_AXIS,
    all_within,
    broadcast,
    check_group_numbers,
    check_groups,
    check_ignore_index,
    check_labels,
    check_predictions,
    check_scores,
    check_weights,
    given_or_last,
    is_kept,
    label_dtype,
    labels_to_ignore,
    listed,
    predicted,
    refuse_axis_of_one,
    refuse_nan,
    refuse_outside,
    refuse_weights,
    said,
    whole_numbers,
    widen,
)
from matrics._counting.pairs import pair_counts

# Samples to count at a time: their intermediate arrays, about 40 bytes per sample, fit in a cache.
SAMPLES_AT_ONCE = 2**16


class CountedLabels(NamedTuple):
    """The counts of a call."""

    backend: Standard
    matrix: Array  # (*B, n, n), or with groups (*B, G, n, n), perhaps a view of a larger array
    dropped: Array | int  # number of samples with a label or group out of range or a NaN score, (*B,); 0 if impossible


def count_labels(  # noqa: C901, PLR0912, PLR0915 (the steps in order)
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int | None,
    labels: Any = None,
    class_axis: int | None,
    threshold: float | None,
    sample_weight: Any,
    ignore_index: Any,
    groups: Any = None,
    num_groups: int | None = None,
    sample_ndim: int = 1,
    state: Array | None = None,
    counter: type[Count] | None = None,
) -> CountedLabels:
    """The counts of labels. Labels out of range raise an error where inspecting values is cheap.

    With a state, given by its counts (*B, n, n) or (*B, G, n, n), the batch is that of the state. All other axes are
    then samples, and labels out of range are dropped. Another counter than ``Count`` may make other counts, with two
    axes after the batch.
    """
    may_drop = state is not None
    classes = check_classes(num_classes, labels)
    if classes.labels is not None:
        given = y_true, y_pred
        y_true, y_pred, ignore_index = as_codes(
            classes.labels,
            y_true,
            y_pred,
            ignore_index,
            sample_ndim=sample_ndim if state is None else None,
            threshold=threshold,
            may_drop=may_drop,
        )
        codes = y_true, y_pred
        y_true, y_pred = (codes_on_device(*pair, *codes, state) for pair in zip(codes, given, strict=True))
    ignored = check_ignore_index(ignore_index)
    if state is None:
        groups, number_of_groups = numbered_groups(groups, num_groups)
    else:  # the texts of a batch do not determine the numbers of all groups
        number_of_groups = check_groups(groups, num_groups)
    has_groups = number_of_groups > 0
    values = {"y_true": y_true, "y_pred": y_pred}
    others = {"groups": groups, "sample_weight": sample_weight}
    values |= {name: value for name, value in others.items() if value is not None}
    backend, arrays = as_arrays(**values, **({} if state is None else {"state": state}))
    arrays = arrays[: len(values)]
    arrays[0] = listed(values["y_true"], arrays[0], "y_true")
    arrays[1] = listed(values["y_pred"], arrays[1], "y_pred", are_scores=threshold is not None)
    has_scores = check_predictions(arrays[1], threshold, backend)
    has_classes = has_scores and threshold is None
    if has_classes and arrays[0].ndim > 1 and backend.is_float(arrays[0]) and arrays[0].shape == arrays[1].shape:
        raise TypeError(f"y_true: expected labels, got floating numbers in the shape of the scores; {BY_COLUMNS}")
    arrays[0] = check_labels(arrays[0], "y_true", backend)
    if has_classes:
        refuse_axis_of_one(arrays[0], arrays[1], class_axis)
    if has_groups:
        arrays[2] = listed(groups, arrays[2], "groups")
        check_group_numbers(arrays[2], backend)
    batch = () if state is None else tuple(state.shape[: -3 if has_groups else -2])
    if state is not None:
        axes = [arrays[0].ndim, arrays[1].ndim - has_classes, *(array.ndim for array in arrays[2 : 2 + has_groups])]
        sample_ndim = max(axes) - len(batch)
        if sample_ndim < 0:
            got = said(dict(zip(values, arrays[:2], strict=False)))
            raise ValueError(f"expected labels with the batch {batch} of the state, got {got}")
    if has_classes and arrays[1].ndim == 1 == sample_ndim and backend.host_view(arrays[1]) is not None:
        # A column without an axis of classes has labels, which a missing value has converted to floating numbers.
        arrays[1] = whole_numbers(arrays[1], "y_pred", backend, NO_CLASS_AXIS)
        has_scores = has_classes = False
    # Counts have no gradient. Concrete arrays on the CPU are counted by NumPy, which also scores them.
    library, arrays[1] = backend, backend.detached(arrays[1])
    views = [backend.host_view(array) for array in arrays]
    if all(view is not None for view in views):
        backend, arrays = NUMPY, views
    shapes = {name: tuple(array.shape) for name, array in zip(values, arrays, strict=True)}
    if has_scores:
        arrays[1] = check_scores(
            arrays[1],
            classes.number,
            class_axis=given_or_last(class_axis, shapes["y_pred"], classes.number) if has_classes else -1,
            sample_ndim=sample_ndim,
            threshold=threshold,
            backend=backend,
        )
    if sample_weight is not None:
        arrays[-1] = check_weights(arrays[-1], backend)
    arrays = broadcast(sample_ndim, backend, shapes, *arrays, has_classes=has_classes)
    batch_shape = tuple(arrays[0].shape[: arrays[0].ndim - sample_ndim])
    if state is None:  # a state has its counts already
        cells = classes.number**2 * max(number_of_groups, 1)
        check_size(
            cells * math.prod(batch_shape),
            num_classes=classes.number,
            num_groups=num_groups,
            batch=batch_shape or None,
            advice=FEWER_CELLS,
        )
    elif batch_shape != batch:
        raise ValueError(f"expected labels with the batch {batch} of the state, got the batch {batch_shape}")
    count = (counter or Count)(
        classes.number,
        num_groups=number_of_groups,
        threshold=threshold,
        ignored=labels_to_ignore(ignored, arrays[0], backend),
        may_drop=may_drop or backend is NUMPY,
        has_scores=has_scores,
        has_weights=sample_weight is not None,
        backend=backend,
    )
    if state is None:
        count.check_weights(arrays)
    if backend is NUMPY:  # counting the dropped samples afterwards is faster than searching for them before
        matrix, dropped = in_parts(count, arrays, sample_ndim)
        if not may_drop and not isinstance(dropped, int):
            count.check(arrays)
    else:
        if not may_drop:
            count.check(arrays)
        matrix, dropped = count(arrays, sample_ndim)
    if sample_weight is not None and state is None:  # a state has its own dtype
        matrix = backend.xp.astype(matrix, arrays[-1].dtype)
    if library is not backend:
        matrix, dropped = library.from_host(matrix), dropped if isinstance(dropped, int) else library.from_host(dropped)
    return CountedLabels(library, matrix, dropped)


class Count(NamedTuple):
    """How samples are counted, with arrays of equal shape: labels, then groups and weights if there are any."""

    n: int
    num_groups: int  # 0 where samples have no groups
    threshold: float | None
    ignored: tuple[int, ...]
    may_drop: bool
    has_scores: bool
    has_weights: bool
    backend: Standard

    @property
    def counts_pairs(self) -> bool:
        """Whether the counts are those of pairs of labels, in a matrix."""
        return type(self) is Count and not (self.has_scores or self.has_weights or self.num_groups)

    def groups(self, arrays: Sequence[Array]) -> Array | None:
        """The groups of samples."""
        return arrays[2] if self.num_groups else None

    def weights(self, arrays: Sequence[Array]) -> Array | None:
        """The weights of samples."""
        return arrays[-1] if self.has_weights else None

    def check_weights(self, arrays: Sequence[Array]) -> None:
        """Raise an error for weights that are negative, NaN or infinite, where inspecting values is cheap."""
        weight = self.weights(arrays)
        true, weight_view = (
            self.backend.host_view(arrays[0]),
            None if weight is None else self.backend.host_view(weight),
        )
        if true is not None and weight_view is not None:
            refuse_weights(weight_view, is_kept(true, self.ignored, NUMPY))

    def check(self, arrays: Sequence[Array]) -> None:
        """Raise an error for labels and groups out of range and NaN scores, where inspecting values is cheap."""
        view = self.backend.host_view
        true_view, pred_view = view(arrays[0]), view(arrays[1])
        groups_view = view(arrays[2]) if self.num_groups else None
        kept = None if true_view is None else is_kept(true_view, self.ignored, NUMPY)
        if true_view is not None:
            refuse_outside(true_view, self.n, kept, "y_true")
        if kept is None and self.ignored:  # values cannot be inspected
            return
        if pred_view is not None:
            if self.has_scores:
                refuse_nan(pred_view, kept, has_classes=self.threshold is None)
            else:
                refuse_outside(pred_view, self.n, kept, "y_pred")
        if groups_view is not None:
            refuse_outside(groups_view, self.num_groups, kept, "groups")

    def __call__(self, arrays: Sequence[Array], sample_ndim: int) -> tuple[Array, Array | int]:  # noqa: C901 (the steps in order)
        """The matrices, and the number of dropped samples."""
        y_true, y_pred, groups, weight = arrays[0], arrays[1], self.groups(arrays), self.weights(arrays)
        backend, n, xp = self.backend, self.n, self.backend.xp
        if self.has_scores:
            y_pred = predicted(y_pred, n, threshold=self.threshold, backend=backend)
        batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
        batch = math.prod(batch_shape)
        if weight is None and groups is None and batch == 1 and backend is NUMPY:
            matrix = pair_counts(y_true, y_pred, n, self.ignored)
            if matrix is not None:
                return matrix.reshape(*batch_shape, n, n), 0
        kept = is_kept(y_true, self.ignored, backend)
        if weight is None and groups is None and batch == 1 and backend.has_kernels(y_true):
            return self._in_single_pass(y_true, y_pred, kept, batch_shape)
        y_true, y_pred = widen(y_true, backend), widen(y_pred, backend)
        # Labels out of range are clipped to a border around the cells: -1 would wrap around in JAX and raise an error
        # in PyTorch. A single row needs no border if positions beyond the row are skipped.
        beyond = backend.passes_over and batch == 1 and groups is None and kept is None
        within = backend.looking_is_free and all_within(y_true, n) and all_within(y_pred, n)
        border = 0 if beyond or within else 1
        width = n + 2 * border
        bins = self._bins(y_true, y_pred, has_border=border == 1, has_beyond=beyond)
        shape = (*batch_shape, width, width) if groups is None else (*batch_shape, self.num_groups, width, width)
        length = math.prod(shape[len(batch_shape) :])
        has_outside = False
        if groups is not None:  # samples of groups out of range go to an extra bin after the cells
            bins, has_outside = self._by_group(bins, widen(groups, backend), width * width)
        if kept is not None:  # ignored samples go to another extra bin
            bins = xp.where(kept, bins, length + has_outside)
        longer = length + has_outside + (kept is not None)
        may_lose = self.may_drop and (border == 1 or has_outside or beyond)

        def cells(counts: Array) -> Array:
            if longer > length:
                counts = xp.reshape(counts, (*batch_shape, longer))[..., :length]
            grid = xp.reshape(counts, shape)
            return grid[..., 1:-1, 1:-1] if border else grid

        if weight is None or may_lose:
            counts = backend.count(bins, batch, longer, None, dtype=label_dtype(bins, backend))
        if weight is None:
            matrix = cells(counts)
        else:  # in float32, sequential sums of a million weights have an error of a hundredth
            wide = backend.widest_float(weight)
            matrix = cells(backend.count(bins, batch, longer, xp.astype(weight, wide), dtype=wide))
        if not may_lose:
            return matrix, 0
        inside = matrix if weight is None else cells(counts)
        samples = math.prod(y_true.shape[len(batch_shape) :])
        dropped = samples - xp.sum(inside, axis=tuple(range(len(batch_shape), inside.ndim)))
        if kept is not None:
            dropped = dropped - xp.reshape(counts, (*batch_shape, longer))[..., longer - 1]
        return matrix, dropped

    def _in_single_pass(
        self, y_true: Array, y_pred: Array, kept: Array | None, batch_shape: tuple[int, ...]
    ) -> tuple[Array, Array | int]:
        """A matrix and the number of dropped samples, by a kernel."""
        xp, shape = self.backend.xp, (*batch_shape, self.n + 2, self.n + 2)
        grid = xp.zeros(shape, dtype=xp.int64, **self.backend.device_option(y_true))
        add_pairs(xp.reshape(grid, (-1,)), y_true, y_pred, kept, self.n)
        matrix = grid[..., 1:-1, 1:-1]
        return matrix, xp.sum(grid, axis=(-2, -1)) - xp.sum(matrix, axis=(-2, -1)) if self.may_drop else 0

    def _bins(self, y_true: Array, y_pred: Array, *, has_border: bool, has_beyond: bool) -> Array:
        """The cells of label pairs in a flat grid. Pairs out of range are in its border, or beyond the last cell."""
        backend, n = self.backend, self.n
        if has_border:
            return backend.bordered(y_true, y_pred, n, is_pred_within=self.has_scores)
        bins = y_true * n + y_pred
        if not has_beyond:
            return bins
        return backend.xp.where((y_true >= 0) & (y_true < n) & (y_pred >= 0) & (y_pred < n), bins, n * n)

    def _by_group(self, bins: Array, groups: Array, length: int) -> tuple[Array, bool]:
        """The bins of samples in a row of all groups, and whether its last bin is for groups out of range."""
        backend, number = self.backend, self.num_groups
        placed = groups * length + bins
        if backend.looking_is_free and all_within(groups, number):
            return placed, False
        return backend.xp.where((groups >= 0) & (groups < number), placed, number * length), True


def in_parts(count: Count, arrays: Sequence[Array], sample_ndim: int) -> tuple[Array, Array | int]:
    """The counts of NumPy arrays, computed in parts: the memory does not grow with the samples."""
    shape = arrays[0].shape
    size = math.prod(shape)
    # With many groups a part has at least as many samples as cells; otherwise the parts would hold more than the cells.
    at_once = max(SAMPLES_AT_ONCE, count.num_groups * count.n * count.n)
    if size <= at_once or not shape:
        return count(arrays, sample_ndim)
    if count.counts_pairs and len(shape) == sample_ndim and all(array.flags.c_contiguous for array in arrays):
        matrix = pair_counts(arrays[0], arrays[1], count.n, count.ignored)  # splits the samples itself
        if matrix is not None:
            return matrix, 0
    of_samples, rest = len(shape) == sample_ndim, size // shape[0]
    step = at_once // rest
    if step:
        slices = [slice(start, start + step) for start in range(0, shape[0], step)]
        parts = [count([array[part] for array in arrays], sample_ndim) for part in slices]
    else:
        parts = [in_parts(count, [array[i] for array in arrays], sample_ndim - of_samples) for i in range(shape[0])]
    matrices, dropped = zip(*parts, strict=True)
    if of_samples:
        return sum(matrices), sum(dropped)
    rows = [matrix.shape[: -3 if count.num_groups else -2] for matrix in matrices]
    losses = [np.broadcast_to(lost, row) for lost, row in zip(dropped, rows, strict=True)]
    join = np.concatenate if step else np.stack
    return join(matrices), 0 if all(isinstance(lost, int) for lost in dropped) else join(losses)


def add_pairs(counts: Array, y_true: Array, y_pred: Array, kept: Array | None, n: int) -> None:
    """Add labels that a kernel can read to the flat counts of n + 2 by n + 2 pairs, bordered as in ``bordered``."""
    from matrics._counting import triton

    labels = y_true.reshape(-1), y_pred.reshape(-1), None if kept is None else kept.reshape(-1), n
    if is_compiling():
        counts[: (n + 2) ** 2] += triton.pair_counts(*labels)
    else:  # PyTorch's operator would take longer than a small kernel
        triton.launch(counts, *labels)


def margin_bins(y_true: Array, y_pred: Array, n: int, backend: Standard) -> tuple[Array, Array]:
    """The two bins of each sample in a row of n true positives, n false negatives and n false positives.

    A hit is in its first bin only, and its second bin is 3 n + 1. An error is in both bins. A sample with a label out
    of range has the first bin 3 n.
    """
    xp = backend.xp
    inside = (y_true >= 0) & (y_true < n) & (y_pred >= 0) & (y_pred < n)
    right = y_true == y_pred
    first = xp.where(inside, xp.where(right, y_true, y_true + n), 3 * n)
    return first, xp.where(inside & ~right, y_pred + 2 * n, 3 * n + 1)


class CountMargins(Count):
    """True positives, false negatives and false positives of every class: (*B, 3, n)."""

    def __call__(self, arrays: Sequence[Array], sample_ndim: int) -> tuple[Array, Array | int]:
        """The counts, and the number of dropped samples."""
        y_true, y_pred = arrays[:2]
        backend, n, xp = self.backend, self.n, self.backend.xp
        if self.has_scores:
            y_pred = predicted(y_pred, n, threshold=self.threshold, backend=backend)
        batch_shape = tuple(y_true.shape[: y_true.ndim - sample_ndim])
        rows = (math.prod(batch_shape), math.prod(y_true.shape[len(batch_shape) :]))
        kept = is_kept(y_true, self.ignored, backend)
        y_true, y_pred = widen(y_true, backend), widen(y_pred, backend)
        bins = margin_bins(y_true, y_pred, n, backend)
        lost = bins[0] == 3 * n
        length = 3 * n + 2
        if kept is not None:
            lost = kept & lost
            bins = xp.where(kept, bins[0], length - 1), xp.where(kept, bins[1], length - 1)
        twice = xp.concat([xp.reshape(x, rows) for x in bins], axis=1)
        dtype, weight = label_dtype(twice, backend), self.weights(arrays)
        if weight is not None:  # added up in the widest float, as in a matrix
            dtype = backend.widest_float(weight)
            weight = xp.reshape(xp.astype(weight, dtype), rows)
            weight = xp.concat([weight, weight], axis=1)
        counts = xp.reshape(backend.count(twice, rows[0], length, weight, dtype=dtype), (rows[0], length))
        dropped = xp.sum(xp.astype(xp.reshape(lost, rows), label_dtype(twice, backend)), axis=1)
        return xp.reshape(counts[:, : 3 * n], (*batch_shape, 3, n)), xp.reshape(dropped, batch_shape)
