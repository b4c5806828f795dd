"""Samples as rows: each is a row of scores for one curve, of two classes or of one class against the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import NUMPY, Array, Standard
from matrics.counting.labels import label_dtype
from matrics.engine.safety import Safe
from matrics.ranking.inputs import ScoredSamples

# Scores per chunk on the host: their intermediate arrays fit in or near a core's cache.
SCORES_AT_ONCE = 2**15


class SampleRows(NamedTuple):
    """Rows of samples with scores. Positive samples should have larger scores."""

    backend: Standard
    scores: Array  # (R, N), floating and not NaN
    positive: Array  # (R, N), boolean
    weight: Array | None  # (R, N), in the widest float
    spoiled: Array  # (R,), whether a score is NaN, a label out of range or a weight invalid

    def cut(self, part: slice) -> SampleRows:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[part]
        return SampleRows(self.backend, self.scores[part], self.positive[part], weight, self.spoiled[part])


def as_rows(samples: ScoredSamples) -> tuple[SampleRows, tuple[int, ...]]:
    """The rows of samples, and their shape: (*B), or (*B, n) with a row for each class against the rest."""
    backend, y_true, scores, weight = samples.backend, samples.y_true, samples.scores, samples.weight
    xp, n = backend.xp, samples.num_classes
    batch, length = tuple(y_true.shape[:-1]), y_true.shape[-1]
    shape = batch if n is None else (*batch, n)
    if n is None:
        positive = y_true == 1
    else:
        classes = backend.class_index(n, y_true)
        classes = xp.reshape(xp.astype(classes, y_true.dtype), (*(1 for _ in batch), n, 1))
        positive = y_true[..., None, :] == classes
        scores = xp.permute_dims(scores, (*range(len(batch)), len(batch) + 1, len(batch)))
    is_nan = xp.isnan(scores)
    spoiled = xp.any(is_nan, axis=-1)
    if samples.spoiled is not None:
        spoiled = spoiled | (samples.spoiled if n is None else samples.spoiled[..., None])
    scores = xp.where(is_nan, 0, scores)
    count = math.prod(shape)

    def flat(x: Array) -> Array:
        x = x if tuple(x.shape) == (*shape, length) else xp.broadcast_to(x, (*shape, length))
        return xp.reshape(x, (count, length))

    if weight is not None and not samples.is_weighted:  # samples that are left out: the others are still counted
        weight = flat(xp.astype(weight if n is None else weight[..., None, :], label_dtype(weight, backend)))
    elif weight is not None:
        # In float32, adding up a million weights one by one has an error of a hundredth.
        weight = xp.astype(weight, backend.widest_float(weight))
        weight = flat(weight if n is None else weight[..., None, :])
    rows = SampleRows(backend, flat(scores), flat(positive), weight, xp.reshape(spoiled, (count,)))
    return rows, shape


def each(rows: SampleRows, function: Callable[[SampleRows], Array]) -> Array:
    """Apply a function to every row; on the host to a few rows at a time."""
    count, length = rows.scores.shape
    step = max(1, SCORES_AT_ONCE // max(1, length))
    if rows.backend is not NUMPY or count <= step:
        return function(rows)
    return np.concatenate([function(rows.cut(slice(start, start + step))) for start in range(0, count, step)])


class SortedScores(NamedTuple):
    """Rows in the order of their scores, the highest first."""

    backend: Standard
    keys: Array  # (R, N), descending, equal where scores are
    positive: Array  # (R, N), 1 or the weight of a positive sample; 0 of a negative one
    negative: Array
    decode: Callable[[Array], Array]  # from keys to scores


def new_scores(keys: Array, backend: Standard) -> Array:
    """Whether a sample's score differs from that of the previous sample: (R, N)."""
    xp = backend.xp
    if keys.shape[-1] == 0:
        return keys != keys  # noqa: PLR0124 (as many booleans)
    return xp.concat([_column(True, keys, xp.bool, backend), keys[:, 1:] != keys[:, :-1]], axis=-1)


def sort(rows: SampleRows) -> SortedScores:
    """Sort every row by its scores."""
    backend, xp = rows.backend, rows.backend.xp
    if rows.weight is None:
        packed = _packed(rows) if backend is NUMPY else None
        if packed is not None:
            return packed
        (keys, positive) = backend.sort_descending(rows.scores, rows.positive)
        dtype = label_dtype(rows.scores, backend)
        return SortedScores(backend, keys, xp.astype(positive, dtype), xp.astype(~positive, dtype), _same)
    keys, positive, weight = backend.sort_descending(rows.scores, rows.positive, rows.weight)
    return SortedScores(backend, keys, xp.where(positive, weight, 0), xp.where(positive, 0, weight), _same)


def _same(keys: Array) -> Array:
    return keys


def _packed(rows: SampleRows) -> SortedScores | None:
    """The order of scores whose labels travel in a spare bit of the sort key; None if there is no spare bit.

    NumPy sorts integers in half the time that it takes to find their order, and nothing has to be gathered. Floating
    numbers below 2 do not need the highest bit of their exponent, and a power of two brings all scores there.
    """
    scores = rows.scores
    integer, mask = (np.int32, 2**31 - 1) if scores.dtype == np.float32 else (np.int64, 2**63 - 1)
    largest = max(float(np.max(scores, initial=0)), -float(np.min(scores, initial=0)))
    if not largest < math.inf:
        return None
    exponent = max(0, math.frexp(largest)[1] - 1)
    scaled = scores * scores.dtype.type(2.0**-exponent) if exponent else scores
    # Some may be too small to be scaled.
    if exponent and not np.array_equal(scaled * scores.dtype.type(2.0**exponent), scores):
        return None
    bits = (scaled + scores.dtype.type(0)).view(integer)  # 0 is added as -0.0 has other bits than 0.0
    keys = bits ^ ((bits >> integer(31 if integer is np.int32 else 63)) & integer(mask))
    # Of equal scores the positive samples come first, whose bit is 0.
    keys = (~keys << integer(1)) | ~rows.positive
    keys.sort(axis=-1)
    negative = (keys & integer(1)).astype(np.int64)

    def decode(keys: Array) -> Array:
        back = ~keys
        back = back ^ ((back >> integer(31 if integer is np.int32 else 63)) & integer(mask))
        back = back.view(scores.dtype)
        return back * scores.dtype.type(2.0**exponent) if exponent else back

    return SortedScores(NUMPY, keys >> integer(1), 1 - negative, negative, decode)


class Points(NamedTuple):
    """The counts at every threshold: N + 1 of them, first that above all scores, then the scores in descending order.

    Where scores are equal, all of their points have the counts after the last of them, so that shapes do not depend on
    the values.
    """

    backend: Standard
    thresholds: Array | None  # (R, N + 1), the first is infinite
    tp: Array  # (R, N + 1), positive samples from the highest score down: integers, or sums of weights
    fp: Array  # (R, N + 1), negative samples likewise
    fn: Array | None  # (R, N + 1), positive samples from each point down; None if not needed
    tn: Array | None  # (R, N + 1), negative samples likewise
    last: Array | None  # (R, N + 1), the last point of the same score; None where each is
    spoiled: Array  # (R,)

    @property
    def positives(self) -> Array:
        """The positive samples, (R,)."""
        return self.tp[:, -1]

    @property
    def negatives(self) -> Array:
        """The negative samples, (R,)."""
        return self.fp[:, -1]

    @property
    def of_both_classes(self) -> Array:
        """Whether there are both positive and negative samples, (R,)."""
        return (self.positives > 0) & (self.negatives > 0)

    def rates(self, safe: Safe) -> tuple[Array, Array]:
        """The false and the true positive rates, (R, N + 1); 0 without negative or without positive samples."""
        return safe.ratio(self._wide(self.fp), self._wide(self.negatives)[:, None]), safe.ratio(
            self._wide(self.tp), self._wide(self.positives)[:, None]
        )

    def precision(self, safe: Safe) -> Array:
        """The share of positive samples from the highest score down to each point, (R, N + 1); 0 of no samples."""
        tp = self._wide(self.tp)
        return safe.ratio(tp, tp + self._wide(self.fp))

    def _wide(self, x: Array) -> Array:
        return self.backend.xp.astype(x, self.backend.widest_float(x))


def points(rows: SampleRows, *, with_thresholds: bool = False, with_rest: bool = False) -> Points:
    """Sort the rows, and count positive and negative samples from the highest score down to each; or the rest, too."""
    backend, xp = rows.backend, rows.backend.xp
    ranked = sort(rows)
    tp, fp = _sums(ranked.positive, backend), _sums(ranked.negative, backend)
    starts = new_scores(ranked.keys, backend)
    fn = tn = last = None
    if with_rest and rows.weight is None:
        fn, tn = tp[:, -1:] - tp, fp[:, -1:] - fp
    elif with_rest:  # a difference of two sums of weights would lose those that are small next to them
        fn, tn = _sums_from_the_end(ranked.positive, backend), _sums_from_the_end(ranked.negative, backend)
    if backend is not NUMPY or not starts.all():
        last = _last_of_ties(starts, backend)
        tp, fp = backend.take_along(tp, last), backend.take_along(fp, last)
        if fn is not None and tn is not None:
            fn, tn = backend.take_along(fn, last), backend.take_along(tn, last)
    thresholds = None
    if with_thresholds:
        scores = ranked.decode(ranked.keys)
        thresholds = xp.concat([_column(math.inf, scores, scores.dtype, backend), scores], axis=-1)
        thresholds = xp.where(rows.spoiled[:, None], math.nan, thresholds)
    return Points(backend, thresholds, tp, fp, fn, tn, last, rows.spoiled)


def before_and_after(weights: Array, starts: Array, backend: Standard) -> tuple[Array, Array]:
    """For each sample the weights above its score, and those from its score up: (R, N)."""
    xp = backend.xp
    sums = _sums(weights, backend)
    index = xp.broadcast_to(backend.class_index(starts.shape[-1], starts)[None, :], tuple(starts.shape))
    first = backend.running_maximum(xp.where(starts, index, 0))
    return backend.take_along(sums, first), backend.take_along(sums, _last_of_ties(starts, backend)[:, 1:])


def _sums(x: Array, backend: Standard) -> Array:
    """The sums of no, one, two and more elements of each row, (R, N + 1)."""
    xp = backend.xp
    return xp.concat([_column(0, x, x.dtype, backend), backend.running_sum(x)], axis=-1)


def _sums_from_the_end(x: Array, backend: Standard) -> Array:
    """The sums of all elements of each row, of all but the first, and so on down to none, (R, N + 1)."""
    return backend.xp.flip(_sums(backend.xp.flip(x, axis=-1), backend), axis=-1)


def _column(value: float, like: Array, dtype: Any, backend: Standard) -> Array:
    """One value for each row, (R, 1)."""
    return backend.xp.full((like.shape[0], 1), value, dtype=dtype, **backend.device_option(like))


def _last_of_ties(starts: Array, backend: Standard) -> Array:
    """For each of N + 1 points, the point after the last sample with the same score; the first has no ties."""
    xp = backend.xp
    none = _column(True, starts, xp.bool, backend)
    # A point is the last of its ties if a new score follows it; seen from the end, each takes the last one before.
    is_last = xp.flip(xp.concat([starts, none], axis=-1), axis=-1)
    index = xp.broadcast_to(backend.class_index(is_last.shape[-1], starts)[None, :], tuple(is_last.shape))
    return is_last.shape[-1] - 1 - xp.flip(backend.running_maximum(xp.where(is_last, index, 0)), axis=-1)
