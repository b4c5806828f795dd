"""Samples as rows of scores: each row belongs to a curve, of class 1 or of a class against the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._counting.labels import label_dtype
from matrics._engine.execution.blocks import in_threads, number_of_threads
from matrics._engine.execution.scratch import keep_freed_memory
from matrics._engine.safety import Safe
from matrics._ranking.inputs import ScoredSamples

# Scores per chunk on the host, so that intermediate arrays fit in the cache of a core.
SCORES_AT_ONCE = 2**16


class SampleRows(NamedTuple):
    """Rows of samples with scores. Positive samples should have larger scores."""

    backend: Standard
    scores: Array  # (R, N), floating and not NaN
    positive: Array  # (R, N), boolean
    weight: Array | None  # (R, N), in the widest float
    spoiled: Array  # (R,), whether a score is NaN, a label out of range or a weight invalid

    def cut(self, part: slice) -> SampleRows:
        """A part of the rows."""
        weight = None if self.weight is None else self.weight[part]
        return SampleRows(self.backend, self.scores[part], self.positive[part], weight, self.spoiled[part])


def as_rows(samples: ScoredSamples) -> tuple[SampleRows, tuple[int, ...]]:
    """The rows of samples, and their shape: (*B,), or (*B, n) with a row for each class against the rest."""
    backend, y_true, scores, weight = samples.backend, samples.y_true, samples.scores, samples.weight
    xp, n = backend.xp, samples.num_classes
    if backend is NUMPY:
        keep_freed_memory()
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
    scores = backend.replaced(scores, is_nan, 0)
    count = math.prod(shape)

    def flat(x: Array) -> Array:
        x = x if tuple(x.shape) == (*shape, length) else xp.broadcast_to(x, (*shape, length))
        return xp.reshape(x, (count, length))

    if (
        weight is not None and not samples.is_weighted
    ):  # weights of 0 and 1, for samples that are left out: counts stay integers
        weight = flat(xp.astype(weight if n is None else weight[..., None, :], label_dtype(weight, backend)))
    elif weight is not None:
        # In float32, adding a million weights sequentially has an error of 1 %.
        weight = xp.astype(weight, backend.widest_float(weight))
        weight = flat(weight if n is None else weight[..., None, :])
    rows = SampleRows(backend, flat(scores), flat(positive), weight, xp.reshape(spoiled, (count,)))
    return rows, shape


def each(rows: SampleRows, function: Callable[[SampleRows], Array], workers: int) -> Array:
    """The value of a function for every row; on the host it is computed for a few rows at a time, in threads."""
    count, length = rows.scores.shape
    step = max(1, SCORES_AT_ONCE // max(1, length))
    if rows.backend is not NUMPY or count <= step:
        with rows.backend.quiet():
            return function(rows)
    parts = [slice(start, start + step) for start in range(0, count, step)]
    values = np.empty(count)

    def work(share: Iterable[slice]) -> None:
        with rows.backend.quiet():  # its effect is limited to the current thread
            for part in share:
                values[part] = function(rows.cut(part))

    threads = min(number_of_threads(workers), len(parts))
    in_threads(work, [parts[k::threads] for k in range(threads)])
    return values


class SortedScores(NamedTuple):
    """Rows in descending order of their scores."""

    backend: Standard
    keys: Array  # (R, N), equal for equal scores
    positive: Array  # (R, N), 1 or the weight of a positive sample; 0 for a negative sample
    weight: Array | None  # (R, N)
    decode: Callable[[Array], Array]  # from keys to scores

    @property
    def negative(self) -> Array:
        """1 or the weight of a negative sample; 0 for a positive sample, (R, N)."""
        return (1 if self.weight is None else self.weight) - self.positive


def sort(rows: SampleRows) -> SortedScores:
    """The rows, sorted by descending scores."""
    backend = rows.backend
    if rows.weight is None:
        keys, positive, decode = backend.sort_with_labels(rows.scores, rows.positive)
        return SortedScores(backend, keys, positive, None, decode)
    keys, positive, weight = backend.sort_descending(rows.scores, rows.positive, rows.weight)
    return SortedScores(backend, keys, backend.xp.where(positive, weight, 0), weight, lambda keys: keys)


class Points(NamedTuple):
    """The counts at N + 1 thresholds: above all scores, and at each score in descending order.

    All points of equal scores have the counts after the last of these scores, so that shapes do not depend on the
    values.
    """

    backend: Standard
    thresholds: Array | None  # (R, N + 1), the first is infinite
    tp: Array  # (R, N + 1), positive samples from the highest score down: integers, or sums of weights
    fp: Array  # (R, N + 1), negative samples from the highest score down
    fn: Array | None  # (R, N + 1), positive samples from each point down; None if not needed
    tn: Array | None  # (R, N + 1), negative samples from each point down
    is_last: Array  # (R, N + 1), whether a point is the last point of its score
    spoiled: Array  # (R,)

    @property
    def positives(self) -> Array:
        """The number of positive samples, (R,)."""
        return self.tp[:, -1]

    @property
    def negatives(self) -> Array:
        """The number of negative samples, (R,)."""
        return self.fp[:, -1]

    @property
    def of_both_classes(self) -> Array:
        """Whether there are both positive and negative samples, (R,)."""
        return (self.positives > 0) & (self.negatives > 0)

    def fpr(self, safe: Safe) -> Array:
        """The false positive rate, (R, N + 1); 0 without negative samples."""
        return self._wide(self.fp) / safe.nonzero(self._wide(self.negatives))[:, None]

    def specificity(self, safe: Safe) -> Array:
        """The true negative rate, (R, N + 1); 0 without negative samples."""
        true_negatives = self._wide(self.negatives)[:, None] - self._wide(self.fp)
        return true_negatives / safe.nonzero(self._wide(self.negatives))[:, None]

    def recall(self, safe: Safe) -> Array:
        """The true positive rate, (R, N + 1); 0 without positive samples."""
        return self._wide(self.tp) / safe.nonzero(self._wide(self.positives))[:, None]

    def precision(self, safe: Safe) -> Array:
        """The share of positive samples from the highest score down to each point, (R, N + 1); 0 of no samples."""
        tp = self._wide(self.tp)
        return tp / safe.nonzero(tp + self._wide(self.fp))

    def _wide(self, x: Array) -> Array:
        return self.backend.xp.astype(x, self.backend.widest_float(x))


def points(rows: SampleRows, *, with_thresholds: bool = False, with_rest: bool = False) -> Points:
    """The numbers of positive and negative samples from the highest score down to each; with the rest if needed."""
    backend, xp = rows.backend, rows.backend.xp
    ranked = sort(rows)
    tp = backend.sums_from_none(ranked.positive)
    if rows.weight is None:
        fp = backend.class_index(tp.shape[-1], tp)[None, :] - tp
    else:
        fp = backend.sums_from_none(ranked.negative)
    fn = tn = None
    if with_rest and rows.weight is None:
        fn, tn = tp[:, -1:] - tp, fp[:, -1:] - fp
    elif with_rest:  # a difference of two sums of weights would lose small weights
        fn, tn = _sums_from_the_end(ranked.positive, backend), _sums_from_the_end(ranked.negative, backend)
    is_last = _is_last(ranked.keys, backend)
    if fn is None or tn is None:
        tp, fp = backend.at_ends(is_last, tp, fp)
    else:
        tp, fp, fn, tn = backend.at_ends(is_last, tp, fp, fn, tn)
    thresholds = None
    if with_thresholds:
        scores = ranked.decode(ranked.keys)
        thresholds = xp.concat([_column(math.inf, scores, scores.dtype, backend), scores], axis=-1)
        thresholds = xp.where(rows.spoiled[:, None], math.nan, thresholds)
    return Points(backend, thresholds, tp, fp, fn, tn, is_last, rows.spoiled)


def sums_at_scores(rows: SampleRows) -> tuple[Array, Array, Array]:
    """The cumulative numbers of positive samples, samples, and samples with a weight, (R, N + 1).

    They are 0 at the first point, and samples with equal scores are counted together. With weights, the first two are
    sums of weights.
    """
    backend, xp = rows.backend, rows.backend.xp
    ranked = sort(rows)
    is_last, num_positives = _is_last(ranked.keys, backend), backend.sums_from_none(ranked.positive)
    if ranked.weight is None:
        sum_of_weights = xp.broadcast_to(
            backend.class_index(num_positives.shape[-1], num_positives)[None, :], tuple(num_positives.shape)
        )
        num_positives, sum_of_weights = backend.at_ends(is_last, num_positives, sum_of_weights)
        return num_positives, sum_of_weights, sum_of_weights
    has_weight = xp.astype(ranked.weight > 0, label_dtype(ranked.weight, backend))
    sums = (num_positives, backend.sums_from_none(ranked.weight), backend.sums_from_none(has_weight))
    num_positives, sum_of_weights, num_rows = backend.at_ends(is_last, *sums)
    return num_positives, sum_of_weights, num_rows


def before_and_after(weights: Array, keys: Array, backend: Standard) -> tuple[Array, Array]:
    """The sum of the weights above the score of each sample, and at or above its score: (R, N)."""
    xp, is_last = backend.xp, _is_last(keys, backend)
    sums = backend.sums_from_none(weights)
    index = xp.broadcast_to(backend.class_index(keys.shape[-1], keys)[None, :], tuple(keys.shape))
    first = backend.running_maximum(xp.where(is_last[:, :-1], index, 0))
    (up_to,) = backend.at_ends(is_last, sums)
    return backend.take_along(sums, first), up_to[:, 1:]


def _sums_from_the_end(x: Array, backend: Standard) -> Array:
    """The sums of each row from each element to the end, and 0 last, (R, N + 1)."""
    return backend.xp.flip(backend.sums_from_none(backend.xp.flip(x, axis=-1)), axis=-1)


def _column(value: float, like: Array, dtype: Any, backend: Standard) -> Array:
    """A column with the same value in each row, (R, 1)."""
    return backend.xp.full((like.shape[0], 1), value, dtype=dtype, **backend.device_option(like))


def _is_last(keys: Array, backend: Standard) -> Array:
    """Whether each of N + 1 points is the last point of its score; the first and the last point always are."""
    always = _column(True, keys, backend.xp.bool, backend)
    if keys.shape[-1] == 0:
        return always
    return backend.xp.concat([always, keys[:, 1:] != keys[:, :-1], always], axis=-1)
