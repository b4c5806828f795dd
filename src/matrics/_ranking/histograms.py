"""Counting scores into buckets, into bins between thresholds, and into bins of the calibration."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._counting.labels import is_kept
from matrics._ranking.bins import place
from matrics._ranking.buckets import bucket
from matrics._ranking.leaves import COLUMNS_OF_CALIBRATION, Contents
from matrics._ranking.log_odds import class_odds, logistic
from matrics._states.two_words import carry

# Scores in a part of a batch on the host, whose intermediate arrays fit in a cache and need no fresh memory; and the
# fewest samples in one.
SCORES_AT_ONCE = 2**14 - 2**6
SAMPLES_AT_ONCE = 2**5

_ONE = np.ones((), np.int64)


class Counter:
    """Adds samples to the counts of buckets.

    NumPy's counts are copied once and then changed; with ``in_place`` those of the state itself change.
    """

    def __init__(self, counts: Array, carried: Array, backend: Standard, *, in_place: bool) -> None:
        xp = backend.xp
        self._backend, self._in_place, self._counts = backend, in_place, counts
        self._writes = in_place or backend is NUMPY
        wide = backend.widest_float(counts)
        # In float32 a count would stop at 2**24, if samples were added one by one.
        self._is_batch = backend.is_float(counts) and (counts.dtype != wide or wide == xp.float32)
        if self._is_batch:
            self._flat = xp.zeros((math.prod(counts.shape),), dtype=wide, **backend.device_option(counts))
        else:
            self._flat = xp.reshape(counts if in_place or not self._writes else counts.copy(), (-1,))
        self._carried = xp.reshape(carried, (-1,)) if carried.shape[-1] else None
        self._shapes = counts.shape, carried

    def add(self, places: Array, values: Array | None) -> None:
        """Add values, by default 1, at places in the flat counts."""
        backend, flat = self._backend, self._flat
        if values is None and backend is NUMPY:
            values = _ONE if flat.dtype == np.int64 else np.ones((), flat.dtype)
        elif values is None:
            values = backend.xp.ones(places.shape, dtype=flat.dtype, **backend.device_option(places))
        elif values.dtype != flat.dtype:
            values = backend.xp.astype(values, flat.dtype)
        if self._writes:
            backend.add_into(flat, places, values)
            return
        self._flat = backend.add_at(flat, places, values)
        if self._carried is not None:
            self._flat, self._carried = carry(self._flat, self._carried, places, backend)

    def finish(self) -> tuple[Array, Array]:
        """The counts, and the high words of counts in two words."""
        xp = self._backend.xp
        shape, carried = self._shapes
        counts = xp.reshape(self._flat, shape)
        if self._is_batch:
            counts = xp.astype(counts, self._counts.dtype)
            if self._in_place:
                self._counts += counts
                counts = self._counts
            else:
                counts = self._counts + counts
        return counts, carried if self._carried is None else xp.reshape(self._carried, carried.shape)


class Samples(NamedTuple):
    """Samples in one library, as a batch of one axis."""

    y_true: Array  # (B, S), wide integers
    scores: Array  # (B, S) or (B, S, n)
    weight: Array | None  # (B, S)
    first: int = 0  # the place of the first element in the whole batch

    def part(self, elements: slice, samples: slice) -> Samples:
        """Some of the elements, and some of their samples."""
        weight = None if self.weight is None else self.weight[elements, samples]
        return Samples(
            self.y_true[elements, samples], self.scores[elements, samples], weight, self.first + elements.start
        )


class Task(NamedTuple):
    """How samples are counted."""

    backend: Standard
    contents: Contents
    edges: Array
    edges_of_calibration: Array
    ignored: tuple[int, ...]
    are_logits: bool
    counter: Counter


class Seen(NamedTuple):
    """The scores of samples in all forms that are needed, with the classes, or one row, on the first axis."""

    order: Array  # (n, B, S): in the order of the scores, for areas
    probability: Array  # (n, B, S)
    top: Array | None  # (1, B, S): the highest probability, of scores of classes
    is_top: Array | None  # (n, B, S): which classes have it
    is_missing: Array  # (B, S)


def count(samples: Samples, task: Task) -> list[Array]:
    """Count into the buckets; return what the bins, ``rounded``, ``dropped`` and the calibration grow by.

    On the host it is done in parts that fit in a cache.
    """
    (number, size), each = samples.y_true.shape, math.prod(samples.scores.shape[2:])
    if task.backend is not NUMPY or number * size * each <= SCORES_AT_ONCE:
        return _count(samples, task)
    step = max(SCORES_AT_ONCE // each, SAMPLES_AT_ONCE)
    if size < step:
        found = [_count(samples.part(x, slice(size)), task) for x in _slices(number, max(step // size, 1))]
        return [np.concatenate(part) for part in zip(*found, strict=True)]
    found = []
    for element in _slices(number, 1):
        parts = [_count(samples.part(element, x), task) for x in _slices(size, step)]
        found.append([sum(part) for part in zip(*parts, strict=True)])
    return [np.concatenate(part) for part in zip(*found, strict=True)]


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def _count(samples: Samples, task: Task) -> list[Array]:
    backend, contents, y_true = task.backend, task.contents, samples.y_true
    xp, n = backend.xp, contents.num_classes
    seen = _seen(samples.scores, task)
    is_good, dropped = judged(y_true, seen.is_missing, task.ignored, n or 2, 1, backend)
    are_all_good = backend.looking_is_free and bool(is_good.all())
    chosen = None if are_all_good else is_good[None, ...]
    of_rows = xp.reshape(backend.class_index(n, y_true), (-1, 1, 1)) if n is not None else 1
    is_true = y_true[None, ...] == (of_rows if n is None else xp.astype(of_rows, y_true.dtype))
    rounded = xp.zeros_like(dropped)
    if contents.grid is not None:
        found, rest = bucket(_where(chosen, seen.order, 0, xp), contents.grid, backend)
        rounded = xp.astype(xp.any(rest != 0, axis=(0, 2)), rounded.dtype)
        _count_buckets(found, is_true, chosen, samples, task, contents.grid.length)
    bins, is_between = _count_bins(seen, is_true, chosen, samples, task)
    rounded = xp.astype(is_between, rounded.dtype) if contents.grid is None and is_between is not None else rounded
    return [bins, rounded, dropped, _count_calibration(seen, is_true, chosen, samples, task)]


def _seen(scores: Array, task: Task) -> Seen:
    """The scores, or logits, in the forms that are needed."""
    backend, contents = task.backend, task.contents
    xp, n = backend.xp, contents.num_classes
    scores = backend.of_bits(scores)
    needs_each = contents.num_edges > 0 or contents.has_each or (n is None and contents.num_bins > 0)
    if n is None:
        probability = scores
        if task.are_logits and needs_each:
            probability = logistic(xp.astype(scores, backend.widest_float(scores)), backend)
        return Seen(scores[None, ...], probability[None, ...], None, None, xp.isnan(scores))
    scores = backend.packed(xp.permute_dims(scores, (2, 0, 1)))
    if not task.are_logits:
        top = xp.max(scores, axis=0, keepdims=True)
        return Seen(scores, scores, top, scores == top, xp.any(xp.isnan(scores), axis=0))
    odds = class_odds(xp.astype(scores, backend.widest_float(scores)), backend)
    # Where all classes are as probable, the log-odds against the mean of the others are 0, around which buckets are
    # narrowest: models begin there.
    order = odds.each + math.log(n - 1)
    each = logistic(odds.each, backend) if needs_each else odds.each
    top = logistic(odds.top, backend) if contents.num_bins else odds.top
    return Seen(order, each, top, odds.is_top, odds.is_missing)


def _count_buckets(  # noqa: PLR0917 (all is needed)
    found: Array, is_true: Array, is_good: Array | None, samples: Samples, task: Task, length: int
) -> None:
    """Count the buckets (n, B, S) of scores, of so many in each histogram."""
    backend, contents = task.backend, task.contents
    xp, dtype = backend.xp, found.dtype
    places = 2 * found + xp.astype(is_true, dtype)
    if math.prod(contents.batch) * contents.rows > 1:
        elements = samples.first + xp.astype(backend.class_index(found.shape[1], found), dtype)
        rows = xp.reshape(elements * contents.rows, (1, -1, 1))
        if contents.num_classes is not None:
            rows = rows + xp.reshape(xp.astype(backend.class_index(contents.rows, found), dtype), (-1, 1, 1))
        places = places + 2 * length * rows
    values = None if samples.weight is None else samples.weight[None, ...]
    if is_good is not None and backend.looking_is_free:
        is_good = np.broadcast_to(is_good, places.shape)
        places = places[is_good]
        values = None if values is None else np.broadcast_to(values, is_good.shape)[is_good]
    elif is_good is not None:
        values = xp.astype(is_good, dtype) if values is None else xp.where(is_good, values, 0)
    if values is not None:
        values = xp.reshape(values if values.shape == places.shape else xp.broadcast_to(values, places.shape), (-1,))
    task.counter.add(xp.reshape(places, (-1,)), values)


def _count_bins(
    seen: Seen, is_true: Array, is_good: Array | None, samples: Samples, task: Task
) -> tuple[Array, Array | None]:
    """The counts (B, n, E + 1, 2) of probabilities between thresholds, and whether any is not on one (B,)."""
    backend, contents, y_true = task.backend, task.contents, samples.y_true
    xp, number, rows, length = backend.xp, y_true.shape[0], contents.rows, contents.num_edges + 1
    weight, dtype = samples.weight, y_true.dtype
    kind = dtype if weight is None else backend.widest_float(weight)
    if not contents.num_edges:
        return xp.zeros((number, rows, 0, 2), dtype=kind, **backend.device_option(y_true)), None
    values = _where(is_good, seen.probability, 0, xp)
    edges = xp.astype(task.edges, values.dtype)
    found, is_between = place(values, edges, backend), None
    if contents.grid is None:
        below = backend.look_up(xp.concat([edges[:1], edges]), found)
        is_between = xp.any(_where(is_good, values != below, False, xp), axis=(0, 2))
    found = _in_rows(found, length, backend)
    if weight is not None:
        weight = xp.broadcast_to(xp.astype(_where(is_good, weight[None, ...], 0, xp), kind), found.shape)
    found = _where(is_good, 2 * found + xp.astype(is_true, found.dtype), 2 * rows * length, xp)
    counts = _of_elements(found, weight, 2 * rows * length, kind, backend)
    return xp.reshape(counts, (number, rows, length, 2)), is_between


def _count_calibration(seen: Seen, is_true: Array, is_good: Array | None, samples: Samples, task: Task) -> Array:
    """Samples, positives and distances from the lower edge, in bins of equal width, (B, R, M + 2, 3)."""
    backend, contents, y_true = task.backend, task.contents, samples.y_true
    xp, number, wide = backend.xp, y_true.shape[0], backend.widest_float(samples.scores)
    if not contents.num_bins:
        return xp.zeros((number, 1, 0, COLUMNS_OF_CALIBRATION), dtype=wide, **backend.device_option(y_true))
    probability, happens = seen.probability, is_true
    if seen.top is not None and seen.is_top is not None:
        probability, happens = seen.top, _is_right(is_true, seen.is_top, backend)
        if contents.has_each:
            probability, happens = xp.concat([seen.probability, probability]), xp.concat([is_true, happens])
    rows, length = probability.shape[0], contents.num_bins + 2
    probability, edges = _where(is_good, probability, 0, xp), task.edges_of_calibration
    # 0 is below the first bin, which begins at 0; the last bin ends with 1.
    found = place(probability, xp.astype(edges, probability.dtype), backend, are_equal=True)
    is_one = probability == 1
    if not (backend.looking_is_free and not is_one.any()):
        found = found - xp.astype(is_one, found.dtype)
    distance = xp.astype(probability, wide) - backend.look_up(xp.concat([edges[:1], edges]), found)
    found, weight = _in_rows(found, length, backend), samples.weight
    if weight is not None:
        weight = xp.broadcast_to(xp.astype(_where(is_good, weight[None, ...], 0, xp), wide), found.shape)
        distance = distance * weight
    # Samples that do not count are in a bin behind all others.
    kinds = _where(is_good, 2 * found + xp.astype(happens, found.dtype), 2 * rows * length, xp)
    counts = _of_elements(kinds, weight, 2 * rows * length, y_true.dtype if weight is None else wide, backend)
    sums = _of_elements(_where(is_good, found, rows * length, xp), distance, rows * length, wide, backend)
    counts, sums = (xp.reshape(xp.astype(x, wide), (number, rows, length, -1)) for x in (counts, sums))
    return xp.concat([xp.sum(counts, axis=-1, keepdims=True), counts[..., 1:], sums], axis=-1)


def _in_rows(found: Array, length: int, backend: Standard) -> Array:
    """Bins (rows, B, S) of histograms of this length, as places in all histograms of an element of the batch."""
    if found.shape[0] == 1:
        return found
    starts = backend.xp.astype(backend.class_index(found.shape[0], found), found.dtype) * length
    return found + backend.xp.reshape(starts, (-1, 1, 1))


def _of_elements(found: Array, weight: Array | None, length: int, dtype: Any, backend: Standard) -> Array:
    """How often, or with what weight, each place in [0, length) occurs in (rows, B, S): (B, length)."""
    xp, number = backend.xp, found.shape[1]
    found, weight = (None if x is None else xp.permute_dims(x, (1, 0, 2)) for x in (found, weight))
    counts = backend.count(found, number, length + 1, weight, dtype=dtype)
    return xp.reshape(counts, (number, length + 1))[:, :-1]


def _is_right(is_true: Array, is_top: Array, backend: Standard) -> Array:
    """Whether the true class is the predicted one, the first of those with the highest score: (1, B, S)."""
    xp = backend.xp
    ties = xp.astype(is_top, xp.int32)
    if not (backend.looking_is_free and int(ties.sum(axis=0).max(initial=0)) <= 1):
        is_top = is_top & (backend.running_sum(ties, 0) == 1)
    return xp.any(is_true & is_top, axis=0, keepdims=True)


def _where(is_good: Array | None, x: Array, other: float, xp: Array) -> Array:
    """The numbers of good samples; if all are good the array itself."""
    return x if is_good is None else xp.where(is_good, x, other)


def judged(  # noqa: PLR0917 (all is needed)
    y_true: Array, is_missing: Array, ignored: tuple[int, ...], n: int, batch_ndim: int, backend: Standard
) -> tuple[Array, Array]:
    """Which samples count, and how many are dropped (*B,); those that are ignored are neither."""
    xp, dtype = backend.xp, y_true.dtype
    is_good = ~is_missing & (y_true >= 0) & (y_true < n)
    lost = ~is_good
    kept = is_kept(y_true, ignored, backend)
    if kept is not None:
        is_good, lost = is_good & kept, lost & kept
    return is_good, xp.sum(xp.astype(lost, dtype), axis=tuple(range(batch_ndim, lost.ndim)), dtype=dtype)
