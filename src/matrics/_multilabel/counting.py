"""Counts of 0 and 1 in 2×2 matrices: of each label, of each sample, or of whole samples."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._arrays.frames import cells, check_columns, is_frame
from matrics._counting.count import SAMPLES_AT_ONCE
from matrics._counting.labels import (
    are_several,
    broadcast,
    check_ignore_index,
    check_scores,
    check_weights,
    label_dtype,
    labels_to_ignore,
    listed,
    predicted,
    refuse_weights,
    said,
    whole_numbers,
    widen,
)

#: The unit of a matrix: a label, a sample, or all samples, each entirely correct or not.
Of = Literal["label", "sample", "whole"]

# The true value of a sample that is wholly ignored, when whole samples are counted.
IGNORED = -1


class LabelSets(NamedTuple):
    """The arguments of a call, checked and in the same shape."""

    own: Standard  # the library of the user's arrays
    backend: Standard  # the library that counts them
    y_true: Array  # (*B, N, L)
    y_pred: Array  # (*B, N, L)
    weights: Array | None  # (*B, N, L), the same for all labels of a sample
    own_weights: Array | None  # (*B, N), in the user's library
    ignored: tuple[int, ...]  # true values to leave out
    may_drop: bool


class LabelCounts(NamedTuple):
    """The counts of a call, in the user's library."""

    matrix: Array  # (*B, K, 2, 2), for K labels or samples; K is 1 for whole samples
    dropped: Array  # (*B, K): how many entries, or whole samples, have a value other than 0 and 1


def enter(
    y_true: Any,
    y_pred: Any,
    sample_weight: Any,
    ignore_index: Any,
    *,
    threshold: float | None = None,
    state: Array | None = None,
) -> LabelSets:
    """Check the arguments. Without a state, values other than 0 and 1 raise an error if they can be read at no cost.

    With a state, given by its counts (*B, L, 2, 2), all axes between B and L are samples.
    """
    values = {"y_true": _cells(y_true), "y_pred": _cells(y_pred)}
    check_columns(y_true=y_true, y_pred=y_pred)
    if sample_weight is not None:
        values["sample_weight"] = sample_weight
    library, arrays = as_arrays(**values, **({} if state is None else {"state": state}))
    true, pred, *weights = arrays[: len(values)]
    true, pred = listed(y_true, true, "y_true"), listed(y_pred, pred, "y_pred", are_scores=threshold is not None)
    ignored = labels_to_ignore(check_ignore_index(ignore_index), true, library)
    true = _as_labels(true, "y_true", library, "y_true == 1")
    if threshold is None:
        pred = _as_labels(
            pred, "y_pred", library, "y_pred >= 0.5" if state is None else "threshold=0.5, or y_pred >= 0.5"
        )
    else:
        _check_threshold(threshold, pred, library)
    weights = [check_weights(array, library) for array in weights]
    arrays, backend = [true, library.detached(pred), *weights], library
    views = [library.host_view(array) for array in arrays]
    if all(view is not None for view in views):
        backend, arrays = NUMPY, views
        if state is None and weights:
            refuse_weights(arrays[2], None)
    if threshold is not None:
        scores = check_scores(arrays[1], 2, class_axis=-1, sample_ndim=1, threshold=threshold, backend=backend)
        arrays[1] = predicted(scores, 2, threshold=threshold, backend=backend)
    sample_ndim = _sample_axes(arrays[0], arrays[1], state)
    shapes = {name: tuple(array.shape) for name, array in zip(values, (true, pred, *weights), strict=True)}
    arrays[2:] = [array[..., None] for array in arrays[2:]]
    arrays = broadcast(sample_ndim + 1, backend, shapes, *arrays, has_classes=False)
    arrays = [_flat(array, sample_ndim, backend) for array in arrays]
    if state is not None and tuple(arrays[0].shape[:-2]) != tuple(state.shape[:-3]):
        raise ValueError(
            f"expected labels with the batch {tuple(state.shape[:-3])} of the state, got "
            f"{said({'y_true': true, 'y_pred': pred})}"
        )
    return LabelSets(
        own=library,
        backend=backend,
        y_true=arrays[0],
        y_pred=arrays[1],
        weights=arrays[2] if weights else None,
        own_weights=weights[0] if weights else None,
        ignored=ignored,
        may_drop=state is not None,
    )


def count(samples: LabelSets, of: Of = "label") -> LabelCounts:
    """The matrices, and the number of dropped values."""
    own, backend, weights = samples.own, samples.backend, samples.weights
    if backend is NUMPY:
        matrix, dropped = _on_host(samples, of)
        if not samples.may_drop and dropped.any():
            _refuse(samples)
    else:
        matrix, dropped = _anywhere(samples, of)
    if weights is not None:
        matrix = backend.xp.astype(matrix, weights.dtype)
    return (
        LabelCounts(matrix, dropped) if own is backend else LabelCounts(own.from_host(matrix), own.from_host(dropped))
    )


# Arguments ------------------------------------------------------------------------------------------------------------


def _cells(value: Any) -> Any:
    """The cells of a data frame, whose rows are samples and whose columns are labels; other values unchanged."""
    return cells(value) if is_frame(value) else value


def _as_labels(array: Array, name: str, backend: Standard, instead: str) -> Array:
    """The values 0 and 1 as integers; floating predictions, most of which are scores, only if they can be inspected."""
    if backend.is_integer(array):
        return array
    is_unseen = name == "y_pred" and backend.host_view(array) is None
    if is_unseen or not backend.is_float(array):
        hint = f"; pass {instead}" if is_unseen else ""
        raise TypeError(f"{name}: expected 0 and 1 as integers or booleans, got dtype {array.dtype}{hint}")
    return whole_numbers(array, name, backend, f"pass {instead}")


def _check_threshold(threshold: Any, y_pred: Array, backend: Standard) -> None:
    if are_several(threshold):
        raise ValueError(
            "threshold: expected a single number for all labels, got several: for a number per label pass "
            "y_pred >= thresholds"
        )
    if not backend.is_float(y_pred):
        raise TypeError(f"threshold: expected y_pred to be floating scores of the labels, got dtype {y_pred.dtype}")


def _sample_axes(y_true: Array, y_pred: Array, state: Array | None) -> int:
    """The number of sample axes before the axis of the labels."""

    def got() -> str:  # a symbolic size of torch.compile(dynamic=True) cannot be formatted
        return said({"y_true": y_true, "y_pred": y_pred})

    least = 2 if state is None else 1
    if min(y_true.ndim, y_pred.ndim) < least:
        raise ValueError(f"expected axes of samples and labels, (*B, N, L), got {got()}")
    number = y_true.shape[-1]
    if state is None:
        if number == 0:
            raise ValueError(f"expected at least one label, along the last axis, got {got()}")
        samples = 1
    else:
        if number != state.shape[-3]:
            raise ValueError(f"expected the {state.shape[-3]} labels of the state along the last axis, got {got()}")
        samples = max(y_true.ndim, y_pred.ndim) - (state.ndim - 3) - 1
        if samples < 0:
            raise ValueError(f"expected labels with the batch {tuple(state.shape[:-3])} of the state, got {got()}")
    ends = [tuple(array.shape[array.ndim - samples - 1 :]) for array in (y_true, y_pred) if array.ndim > samples]
    if len(ends) < 2 or ends[0] != ends[1]:
        raise ValueError(f"expected the same samples and labels (the last {samples + 1} axes), got {got()}")
    return samples


def _flat(array: Array, sample_ndim: int, backend: Standard) -> Array:
    """The array with a single axis of samples."""
    if sample_ndim == 1:
        return array
    shape = tuple(array.shape)
    batch = len(shape) - sample_ndim - 1
    return backend.xp.reshape(array, (*shape[:batch], math.prod(shape[batch:-1]), shape[-1]))


def _refuse(samples: LabelSets) -> None:
    """Raise an error for the first value in the host's memory that is neither 0 nor 1."""
    kept = ~_is_ignored(widen(samples.y_true, NUMPY), samples.ignored)
    for name, values in (("y_true", samples.y_true), ("y_pred", samples.y_pred)):
        outside = (values != 0) & (values != 1) & kept
        if outside.any():
            first = tuple(int(i) for i in np.unravel_index(int(outside.argmax()), outside.shape))
            hint = "; ignore_index= leaves values out" if name == "y_true" else ""
            raise ValueError(
                f"{name}: expected 0 and 1, got {values[first]} at {first} ({np.count_nonzero(outside)} of "
                f"{outside.size} are neither){hint}"
            )


# Counting -------------------------------------------------------------------------------------------------------------


def _is_ignored(y_true: Array, ignored: tuple[int, ...]) -> Array:
    ignored_samples = y_true != y_true  # noqa: PLR0124 (False everywhere, in any library)
    for value in ignored:
        ignored_samples = ignored_samples | (y_true == value)
    return ignored_samples


def _known(y_true: Array, y_pred: Array, ignored: tuple[int, ...]) -> tuple[Array, Array]:
    """Whether both values are 0 or 1, and whether they are invalid and not ignored."""
    known = ((y_true == 0) | (y_true == 1)) & ((y_pred == 0) | (y_pred == 1))
    if not ignored:
        return known, ~known
    left_out = _is_ignored(y_true, ignored)
    return known & ~left_out, ~(known | left_out)


def _as_whole(y_true: Array, y_pred: Array, ignored: tuple[int, ...], xp: Any) -> tuple[Array, Array]:
    """Samples with a single label, which is true, and predicted if all labels of the sample are correct.

    A sample with any value other than 0 and 1 has the true value 2, which is dropped.
    """
    known, lost = _known(y_true, y_pred, ignored)
    right = xp.all((y_true == y_pred) | ~known, axis=-1, keepdims=True)
    dropped = xp.any(lost, axis=-1, keepdims=True)
    true = 1 + xp.astype(dropped, y_true.dtype)
    if ignored:
        true = xp.where(xp.any(known | lost, axis=-1, keepdims=True), true, IGNORED)
    return true, xp.astype(right, y_true.dtype)


def _anywhere(samples: LabelSets, of: Of) -> tuple[Array, Array]:
    """The counts as sums of masks, which a compiler fuses, and which need no scatter."""
    backend, xp, weights, ignored = samples.backend, samples.backend.xp, samples.weights, samples.ignored
    y_true, y_pred = widen(samples.y_true, backend), widen(samples.y_pred, backend)
    if of == "whole":
        y_true, y_pred = _as_whole(y_true, y_pred, ignored, xp)
        ignored = (IGNORED,) if ignored else ()
        weights = None if weights is None else weights[..., :1]
    known, lost = _known(y_true, y_pred, ignored)
    is_true, is_pred = y_true == 1, y_pred == 1
    integer = label_dtype(y_true, backend)
    wide = None if weights is None else xp.astype(weights, backend.widest_float(weights))
    axis = -1 if of == "sample" else -2

    def total(mask: Array) -> Array:
        return xp.sum(xp.astype(mask, integer) if wide is None else xp.where(mask, wide, 0), axis=axis)

    kinds = (~is_true & ~is_pred, ~is_true & is_pred, is_true & ~is_pred, is_true & is_pred)
    sums = xp.stack([total(known & kind) for kind in kinds], axis=-1)
    return xp.reshape(sums, (*sums.shape[:-1], 2, 2)), xp.sum(xp.astype(lost, integer), axis=axis)


def _on_host(samples: LabelSets, of: Of) -> tuple[Array, Array]:
    """Count in chunks that fit in a cache: memory does not grow with the samples."""
    shape = samples.y_true.shape
    batch, n, number = math.prod(shape[:-2]), shape[-2], shape[-1]
    arrays = [samples.y_true, samples.y_pred, *([] if samples.weights is None else [samples.weights])]
    arrays = [array.reshape(batch, n, number) for array in arrays]
    rows = {"label": number, "sample": n, "whole": 1}[of]
    sums = np.zeros((batch, rows, 4), np.int64 if samples.weights is None else np.float64)
    dropped = np.zeros((batch, rows), np.int64)
    several, step = max(1, SAMPLES_AT_ONCE // max(1, n * number)), max(1, SAMPLES_AT_ONCE // number)
    bins = LabelBins(min(several, batch), min(step, n), 1 if of == "whole" else number, samplewise=of == "sample")
    for start in range(0, batch, several):
        for first in range(0, n, step):
            part = (slice(start, start + several), slice(first, first + step))
            counts, lost = _part([array[part] for array in arrays], of, samples.ignored, bins)
            place = part if of == "sample" else part[:1]
            sums[place] += counts
            dropped[place] += lost
    return sums.reshape(*shape[:-2], rows, 2, 2), dropped.reshape(*shape[:-2], rows)


class LabelBins:
    """The bins of a part, and memory for them: allocating memory for every part would take longer than counting."""

    def __init__(self, batch: int, n: int, number: int, *, samplewise: bool) -> None:
        self.first = first_bins(batch, n, number, samplewise=samplewise)
        self.memory = np.empty_like(self.first)
        self.samplewise = samplewise

    def count(self, y_true: Array, y_pred: Array, known: Array | None, weights: Array | None) -> Array:
        """Cells (S, K, 4); the fifth bin of each label or sample counts unknown values."""
        batch, n, number = y_true.shape
        first, bins = self.first[:batch, :n], self.memory[:batch, :n]
        codes = y_true.astype(np.uint8)  # of a single byte each, in which all but the last step is fast
        codes += codes
        codes += y_pred.astype(np.uint8, copy=False)
        np.add(first, codes, out=bins)
        if known is not None:
            np.copyto(bins, first + 4, where=~known)
        rows = n if self.samplewise else number
        worth = None if weights is None else weights.ravel()
        return np.bincount(bins.ravel(), worth, minlength=batch * rows * 5).reshape(batch, rows, 5)[..., :4]


@lru_cache(maxsize=4)  # batches of the same size need the same bins
def first_bins(batch: int, n: int, number: int, *, samplewise: bool) -> Array:
    """The first bin of the label or sample of each entry, (S, N, L)."""
    rows = n if samplewise else number
    first = 5 * np.arange(batch * rows).reshape((batch, n, 1) if samplewise else (batch, 1, number))
    bins = np.ascontiguousarray(np.broadcast_to(first, (batch, n, number)))
    bins.flags.writeable = False
    return bins


def _part(arrays: list[Array], of: Of, ignored: tuple[int, ...], bins: LabelBins) -> tuple[Array, Array | int]:
    """Cells (S, K, 4) and numbers of dropped values (S, K), from NumPy arrays (S, N, L)."""
    y_true, y_pred, *weights = arrays
    if of == "whole":
        y_true, y_pred = _as_whole(widen(y_true, NUMPY), widen(y_pred, NUMPY), ignored, np)
        ignored = (IGNORED,) if ignored else ()
        weights = [array[..., :1] for array in weights]
    known, dropped = None, 0
    if ignored or min(y_true.min(), y_pred.min()) < 0 or max(y_true.max(), y_pred.max()) > 1:
        known, lost = _known(widen(y_true, NUMPY), y_pred, ignored)
        dropped = lost.sum(axis=-1 if of == "sample" else -2)
    return bins.count(y_true, y_pred, known, weights[0] if weights else None), dropped
