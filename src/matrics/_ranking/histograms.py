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

# Number of scores in a part of a batch on the host, so that intermediate arrays fit in a cache and reuse memory.
SCORES_AT_ONCE = 2**14 - 2**6
# The least number of samples in a part.
SAMPLES_AT_ONCE = 2**5

_UNIT = np.ones((), np.int64)


class Counter:
    """Adds samples to the counts of buckets.

    NumPy counts are copied once and then updated in place; with ``in_place`` the counts of the state itself change.
    """

    def __init__(self, counts: Array, carried: Array, backend: Standard, *, in_place: bool) -> None:
        xp = backend.xp
        self._backend, self._in_place, self._counts = backend, in_place, counts
        self._writes = in_place or backend is NUMPY
        wide = backend.widest_float(counts)
        # In float32 a count would stop at 2**24, if samples were added singly.
        self._is_batch = backend.is_float(counts) and (counts.dtype != wide or wide == xp.float32)
        if self._is_batch:
            self._flat = xp.zeros((math.prod(counts.shape),), dtype=wide, **backend.device_option(counts))
        else:
            self._flat = xp.reshape(counts if in_place or not self._writes else counts.copy(), (-1,))
        self._carried = xp.reshape(carried, (-1,)) if carried.shape[-1] else None
        self._shapes = counts.shape, carried

    def add(self, places: Array, values: Array | None) -> None:
        """Add values, by default 1, to the flat counts at these positions."""
        backend, flat = self._backend, self._flat
        if values is None and backend is NUMPY:
            values = _UNIT if flat.dtype == np.int64 else np.ones((), flat.dtype)
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
    """Samples as arrays of the same library, with a single batch axis."""

    y_true: Array  # (B, S), wide integers
    scores: Array  # (B, S) or (B, S, n)
    weight: Array | None  # (B, S)
    first: int = 0  # the index of the first element in the complete batch

    def part(self, elements: slice, samples: slice) -> Samples:
        """A part of the elements, and of their samples."""
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


class ScoreForms(NamedTuple):
    """The scores of samples in all forms that counting needs; the first axis has the classes, or length 1."""

    order: Array  # (n, B, S): numbers in the order of the scores, for areas
    probability: Array  # (n, B, S)
    top: Array | None  # (1, B, S): the highest probability, of scores of classes
    is_top: Array | None  # (n, B, S): which classes have it
    is_missing: Array  # (B, S)


def count(samples: Samples, task: Task) -> list[Array]:
    """Count into the buckets; return the additions to the bins, ``rounded``, ``dropped`` and the calibration.

    On the host the batch is divided into parts that fit in a cache.
    """
    (number, size), num_scores = samples.y_true.shape, math.prod(samples.scores.shape[2:])
    if task.backend is not NUMPY or number * size * num_scores <= SCORES_AT_ONCE:
        return _count(samples, task)
    step = max(SCORES_AT_ONCE // num_scores, SAMPLES_AT_ONCE)
    if size < step:
        results = [_count(samples.part(x, slice(size)), task) for x in _slices(number, max(step // size, 1))]
        return [np.concatenate(part) for part in zip(*results, strict=True)]
    results = []
    for element in _slices(number, 1):
        parts = [_count(samples.part(element, x), task) for x in _slices(size, step)]
        results.append([sum(part) for part in zip(*parts, strict=True)])
    return [np.concatenate(part) for part in zip(*results, strict=True)]


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def _count(samples: Samples, task: Task) -> list[Array]:
    backend, contents, y_true = task.backend, task.contents, samples.y_true
    xp, n = backend.xp, contents.num_classes
    forms = _score_forms(samples.scores, task)
    is_good, dropped = select_samples(y_true, forms.is_missing, task.ignored, n or 2, 1, backend)
    are_all_good = backend.looking_is_free and bool(is_good.all())
    chosen = None if are_all_good else is_good[None, ...]
    of_rows = xp.reshape(backend.class_index(n, y_true), (-1, 1, 1)) if n is not None else 1
    is_true = y_true[None, ...] == (of_rows if n is None else xp.astype(of_rows, y_true.dtype))
    rounded = xp.zeros_like(dropped)
    if contents.grid is not None:
        buckets, remainders = bucket(_where(chosen, forms.order, 0, xp), contents.grid, backend)
        rounded = xp.astype(xp.any(remainders != 0, axis=(0, 2)), rounded.dtype)
        _count_buckets(buckets, is_true, chosen, samples, task, contents.grid.length)
    bins, is_between = _count_bins(forms, is_true, chosen, samples, task)
    rounded = xp.astype(is_between, rounded.dtype) if contents.grid is None and is_between is not None else rounded
    return [bins, rounded, dropped, _count_calibration(forms, is_true, chosen, samples, task)]


def _score_forms(scores: Array, task: Task) -> ScoreForms:
    """The scores, or logits, in the forms that are needed."""
    backend, contents = task.backend, task.contents
    xp, n = backend.xp, contents.num_classes
    scores = backend.of_bits(scores)
    needs_each = contents.num_edges > 0 or contents.has_each or (n is None and contents.num_bins > 0)
    if n is None:
        probability = scores
        if task.are_logits and needs_each:
            probability = logistic(xp.astype(scores, backend.widest_float(scores)), backend)
        return ScoreForms(scores[None, ...], probability[None, ...], None, None, xp.isnan(scores))
    scores = backend.packed(xp.permute_dims(scores, (2, 0, 1)))
    if not task.are_logits:
        top = xp.max(scores, axis=0, keepdims=True)
        return ScoreForms(scores, scores, top, scores == top, xp.any(xp.isnan(scores), axis=0))
    odds = class_odds(xp.astype(scores, backend.widest_float(scores)), backend)
    # The log-odds against the mean of the other classes are 0 for equally probable classes, as in untrained models.
    # Buckets are narrowest around 0.
    order = odds.each + math.log(n - 1)
    each = logistic(odds.each, backend) if needs_each else odds.each
    top = logistic(odds.top, backend) if contents.num_bins else odds.top
    return ScoreForms(order, each, top, odds.is_top, odds.is_missing)


def _count_buckets(  # noqa: PLR0917 (all parameters are needed)
    buckets: Array, is_true: Array, is_good: Array | None, samples: Samples, task: Task, length: int
) -> None:
    """Count the buckets (n, B, S) of scores in histograms of this length."""
    backend, contents = task.backend, task.contents
    xp, dtype = backend.xp, buckets.dtype
    places = 2 * buckets + xp.astype(is_true, dtype)
    if math.prod(contents.batch) * contents.rows > 1:
        elements = samples.first + xp.astype(backend.class_index(buckets.shape[1], buckets), dtype)
        rows = xp.reshape(elements * contents.rows, (1, -1, 1))
        if contents.num_classes is not None:
            rows = rows + xp.reshape(xp.astype(backend.class_index(contents.rows, buckets), dtype), (-1, 1, 1))
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
    forms: ScoreForms, is_true: Array, is_good: Array | None, samples: Samples, task: Task
) -> tuple[Array, Array | None]:
    """The counts (B, n, E + 1, 2) of probabilities between thresholds, and whether any is between them (B,)."""
    backend, contents, y_true = task.backend, task.contents, samples.y_true
    xp, number, rows, length = backend.xp, y_true.shape[0], contents.rows, contents.num_edges + 1
    weight, dtype = samples.weight, y_true.dtype
    dtype_of_counts = dtype if weight is None else backend.widest_float(weight)
    if not contents.num_edges:
        return xp.zeros((number, rows, 0, 2), dtype=dtype_of_counts, **backend.device_option(y_true)), None
    values = _where(is_good, forms.probability, 0, xp)
    edges = xp.astype(task.edges, values.dtype)
    bins, is_between = place(values, edges, backend), None
    if contents.grid is None:
        below = backend.look_up(xp.concat([edges[:1], edges]), bins)
        is_between = xp.any(_where(is_good, values != below, False, xp), axis=(0, 2))
    bins = _places_in_rows(bins, length, backend)
    if weight is not None:
        weight = xp.broadcast_to(xp.astype(_where(is_good, weight[None, ...], 0, xp), dtype_of_counts), bins.shape)
    bins = _where(is_good, 2 * bins + xp.astype(is_true, bins.dtype), 2 * rows * length, xp)
    counts = _counts_of_elements(bins, weight, 2 * rows * length, dtype_of_counts, backend)
    return xp.reshape(counts, (number, rows, length, 2)), is_between


def _count_calibration(forms: ScoreForms, is_true: Array, is_good: Array | None, samples: Samples, task: Task) -> Array:
    """Samples, positives and distances from the lower edge, in bins of equal width, (B, R, M + 2, 3)."""
    backend, contents, y_true = task.backend, task.contents, samples.y_true
    xp, number, dtype = backend.xp, y_true.shape[0], backend.widest_float(samples.scores)
    if not contents.num_bins:
        return xp.zeros((number, 1, 0, COLUMNS_OF_CALIBRATION), dtype=dtype, **backend.device_option(y_true))
    probability, is_positive = forms.probability, is_true
    if forms.top is not None and forms.is_top is not None:
        probability, is_positive = forms.top, _is_correct(is_true, forms.is_top, backend)
        if contents.has_each:
            probability, is_positive = xp.concat([forms.probability, probability]), xp.concat([is_true, is_positive])
    rows, length = probability.shape[0], contents.num_bins + 2
    probability, edges = _where(is_good, probability, 0, xp), task.edges_of_calibration
    # 0 is below the first bin, which begins at 0; the last bin ends with 1.
    bins = place(probability, xp.astype(edges, probability.dtype), backend, are_equal=True)
    is_certain = probability == 1
    if not (backend.looking_is_free and not is_certain.any()):
        bins = bins - xp.astype(is_certain, bins.dtype)
    distance = xp.astype(probability, dtype) - backend.look_up(xp.concat([edges[:1], edges]), bins)
    bins, weight = _places_in_rows(bins, length, backend), samples.weight
    if weight is not None:
        weight = xp.broadcast_to(xp.astype(_where(is_good, weight[None, ...], 0, xp), dtype), bins.shape)
        distance = distance * weight
    # Samples that do not count are in an extra last bin.
    places = _where(is_good, 2 * bins + xp.astype(is_positive, bins.dtype), 2 * rows * length, xp)
    counts = _counts_of_elements(places, weight, 2 * rows * length, y_true.dtype if weight is None else dtype, backend)
    sums = _counts_of_elements(_where(is_good, bins, rows * length, xp), distance, rows * length, dtype, backend)
    shape = number, rows, length
    counts, sums = (xp.reshape(xp.astype(x, dtype), (*shape, size)) for x, size in ((counts, 2), (sums, 1)))
    return xp.concat([xp.sum(counts, axis=-1, keepdims=True), counts[..., 1:], sums], axis=-1)


def _places_in_rows(bins: Array, length: int, backend: Standard) -> Array:
    """Positions (rows, B, S) in all histograms of a batch element, from the bins in histograms of this length."""
    if bins.shape[0] == 1:
        return bins
    starts = backend.xp.astype(backend.class_index(bins.shape[0], bins), bins.dtype) * length
    return bins + backend.xp.reshape(starts, (-1, 1, 1))


def _counts_of_elements(places: Array, weight: Array | None, length: int, dtype: Any, backend: Standard) -> Array:
    """The count, or the weight, of each position in [0, length), (B, length), from positions (rows, B, S)."""
    xp, number = backend.xp, places.shape[1]
    places, weight = (None if x is None else xp.permute_dims(x, (1, 0, 2)) for x in (places, weight))
    counts = backend.count(places, number, length + 1, weight, dtype=dtype)
    return xp.reshape(counts, (number, length + 1))[:, :-1]


def _is_correct(is_true: Array, is_top: Array, backend: Standard) -> Array:
    """Whether the true class is the predicted class, which is the first class with the highest score: (1, B, S)."""
    xp = backend.xp
    ties = xp.astype(is_top, xp.int32)
    if not (backend.looking_is_free and int(ties.sum(axis=0).max(initial=0)) <= 1):
        is_top = is_top & (backend.running_sum(ties, 0) == 1)
    return xp.any(is_true & is_top, axis=0, keepdims=True)


def _where(is_good: Array | None, x: Array, other: float, xp: Array) -> Array:
    """The values of good samples, and ``other`` elsewhere; the array itself if all samples are good."""
    return x if is_good is None else xp.where(is_good, x, other)


def select_samples(  # noqa: PLR0917 (all parameters are needed)
    y_true: Array, is_missing: Array, ignored: tuple[int, ...], n: int, batch_ndim: int, backend: Standard
) -> tuple[Array, Array]:
    """Whether each sample counts, and the number of dropped samples (*B,); ignored samples are not dropped."""
    xp, dtype = backend.xp, y_true.dtype
    is_good = ~is_missing & (y_true >= 0) & (y_true < n)
    is_dropped = ~is_good
    is_kept_label = is_kept(y_true, ignored, backend)
    if is_kept_label is not None:
        is_good, is_dropped = is_good & is_kept_label, is_dropped & is_kept_label
    return is_good, xp.sum(xp.astype(is_dropped, dtype), axis=tuple(range(batch_ndim, is_dropped.ndim)), dtype=dtype)
