"""Sums over the samples of each true class, for the exact means of a state: losses, and hits of the k highest."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._engine.evaluation import check_options
from matrics._engine.safety import Safe
from matrics._ranking.averages import mean_of_defined
from matrics._ranking.brier import squared_distance
from matrics._ranking.inputs import ScoredSamples, returned
from matrics._ranking.log_odds import logistic, softmax
from matrics._ranking.losses import of_each
from matrics._ranking.probabilities import missing
from matrics._ranking.top_k import ranks, share_of_places
from matrics._states.two_words import two_sum

# Scores in a part of the samples on the host.
SCORES_AT_ONCE = 2**17
# The column of Brier scores, after those of weights and of log losses.
BRIER = 2
# A partial sum may exceed the sum by this factor, because of rounding.
SLACK = 1.001


class Columns(NamedTuple):
    """The number of columns of sums after the first, which has the weights of samples."""

    losses: int  # 0, or 2 for log loss and Brier score
    hits: int  # 1 for each k


def columns_of(sums: Array, top_k: Array) -> Columns:
    """The columns of the sums of a state."""
    hits = top_k.shape[-1]
    return Columns(max(sums.shape[-1] - 1 - hits, 0), hits)


def are_sums(sums: Array, hits: int, backend: Standard) -> Array:
    """Whether each of the sums (…, C) is possible; a loss may be infinite, or NaN for scores outside [0, 1]."""
    xp, most = backend.xp, SLACK * sums[..., :1]
    column = xp.reshape(backend.class_index(sums.shape[-1], sums), (*(1,) * (sums.ndim - 1), -1))
    is_finite = (sums >= 0) & (sums < math.inf)
    is_loss = ~(sums < 0) & ((column != BRIER) | ~(sums > 2 * most))
    is_hit = is_finite & (sums <= most)
    return xp.where(column == 0, is_finite, xp.where(column >= sums.shape[-1] - hits, is_hit, is_loss))


def values_of(samples: ScoredSamples, columns: Columns, *, are_logits: bool) -> list[Array]:
    """Values of each sample, (*B, *S): whether a score is NaN, its losses, and its numbers of higher and equal scores.

    The numbers count scores above, and equal to, the score of the true class. On the host they are computed for parts
    of the samples that fit in a cache.

    Parameters
    ----------
    samples
        Labels in range, and scores, or logits.
    columns
        The requested columns.
    are_logits
        Whether the scores are logits; losses and the order of the classes are then as exact as the logits.
    """
    backend, y_true = samples.backend, samples.y_true
    if backend is not NUMPY or samples.scores.size <= SCORES_AT_ONCE:
        return _values(samples, columns, are_logits=are_logits)
    shape, rows = y_true.shape, samples.scores.shape[y_true.ndim :]
    y_true, scores = y_true.reshape(-1), samples.scores.reshape(-1, *rows)
    step = max(SCORES_AT_ONCE // math.prod(rows), 1)
    parts = []
    for start in range(0, len(y_true), step):
        part = slice(start, start + step)
        parts.append(
            _values(samples._replace(y_true=y_true[part], scores=scores[part]), columns, are_logits=are_logits)
        )
    return [np.concatenate(part).reshape(shape) for part in zip(*parts, strict=True)]


def _values(samples: ScoredSamples, columns: Columns, *, are_logits: bool) -> list[Array]:
    backend, n = samples.backend, samples.num_classes
    samples = samples._replace(scores=backend.of_bits(samples.scores))
    xp, dtype = backend.xp, backend.widest_float(samples.scores)
    ranked_samples = samples
    if are_logits:
        ranked_samples = samples._replace(scores=xp.astype(samples.scores, dtype))
        logits = ranked_samples.scores
        samples = samples._replace(scores=logistic(logits, backend) if n is None else softmax(logits, backend))
    is_missing = missing(samples.scores, backend)
    if is_missing is None:
        is_missing = xp.zeros(samples.y_true.shape, dtype=xp.bool)
    elif n is not None:
        is_missing = xp.any(is_missing, axis=-1)
    values = []
    if columns.losses:
        samples = samples._replace(scores=xp.astype(samples.scores, dtype))
        losses = [
            of_each(ranked_samples, "logits") if are_logits else of_each(samples, "y_prob"),
            squared_distance(samples),
        ]
        is_bad = None if are_logits else _are_not_probabilities(samples)
        values += losses if is_bad is None else [xp.where(is_bad, math.nan, loss) for loss in losses]
    if columns.hits:
        values += ranks(ranked_samples)
    return [is_missing, *(xp.astype(x, dtype) for x in values)]


def sample_sums(samples: ScoredSamples, is_good: Array, values: list[Array], sums: Array, top_k: Array) -> Array:
    """The sums of a batch, (*B, n, C), in the shape of the sums of a state.

    Parameters
    ----------
    samples
        Labels in range, and weights.
    is_good
        Whether each sample counts.
    values
        The values from ``values_of``, without the first.
    sums, top_k
        The sums of the state, and the values of k, (*B, K).
    """
    backend, n = samples.backend, sums.shape[-2]
    xp, batch = backend.xp, tuple(sums.shape[:-2])
    dtype, hits = backend.widest_float(samples.scores), top_k.shape[-1]
    unit_weights = xp.ones(is_good.shape, dtype=dtype, **backend.device_option(is_good))
    weight = xp.where(is_good, unit_weights if samples.weight is None else xp.astype(samples.weight, dtype), 0)
    if hits:
        *values, higher, tied = values
        places = xp.reshape(xp.astype(top_k, dtype), (*batch, *(1,) * (higher.ndim - len(batch)), hits))
        values += [share_of_places(places[..., k], higher, tied, xp) for k in range(hits)]
    # A sample with weight 0 is ignored, also if its loss is infinite.
    columns = [weight, *(xp.where(weight == 0, 0, value) * weight for value in values)]
    number, size = math.prod(batch), math.prod(is_good.shape[len(batch) :])
    rows = xp.reshape(samples.y_true, (number, size))
    totals = backend.scatter_add(rows, xp.reshape(xp.stack(columns, axis=-1), (number, size, len(columns))), n)
    return xp.reshape(totals, (*batch, n, len(columns)))


def _are_not_probabilities(samples: ScoredSamples) -> Array | None:
    """Whether each sample has a score outside [0, 1]; None if all scores are known to be in [0, 1]."""
    xp, scores = samples.backend.xp, samples.scores
    if samples.backend.looking_is_free and np.min(scores, initial=0) >= 0 and np.max(scores, initial=1) <= 1:
        return None  # both comparisons are False for NaN
    is_bad = ~((scores >= 0) & (scores <= 1))
    return is_bad if samples.num_classes is None else xp.any(is_bad, axis=-1)


def added_sums(sums: Array, remainders: Array, more: Array, backend: Standard) -> tuple[Array, Array]:
    """The sums after adding those of a batch, and the rounding errors of all additions so far in float32."""
    xp = backend.xp
    more = xp.astype(more, sums.dtype)
    if remainders.shape[-1] == 0:
        return sums + more, remainders
    total, lost = two_sum(sums, more, backend)
    return total, remainders + lost


class Means(NamedTuple):
    """The means of a state, computed with NumPy if the values are on the host."""

    backend: Standard
    own: Standard  # the library of the state, to which results return
    sums: Array
    losses: int
    hits: int
    safe: Safe

    @classmethod
    def of(cls, state: Any, zero_division: float) -> Means:
        """The means of a state."""
        check_options(zero_division, "nan")
        own, arrays = as_arrays(sums=state.sums, remainders=state.remainders)
        views: list[Any] = [own.host_view(array) for array in arrays]
        is_on_host = all(view is not None for view in views)
        backend = NUMPY if is_on_host else own
        sums, remainders = views if is_on_host else arrays
        sums = sums if remainders.shape[-1] == 0 else sums + remainders
        return cls(backend, own, sums, *columns_of(state.sums, state.top_k), Safe(backend, float(zero_division)))

    def of_loss(self, which: int) -> Array:
        """The mean of a loss over all samples (*B,)."""
        if not self.losses:
            raise ValueError("expected a state that keeps losses, got losses=False; make the state with losses=True")
        xp = self.backend.xp
        with self.backend.quiet():
            return self._finished(self.safe.divide(*(xp.sum(self.sums[..., k], axis=-1) for k in (1 + which, 0))))

    def of_hits(self, average: str) -> Array:
        """The shares of hits among the k highest scores (*B, K): of all samples, each class, or the mean of these."""
        if not self.hits:
            raise ValueError("expected a state that keeps hits among the highest scores, got top_k=None; pass top_k=")
        xp = self.backend.xp
        hits, weight = self.sums[..., 1 + self.losses :], self.sums[..., :1]
        with self.backend.quiet():
            if average == "weighted":
                hits, weight = xp.sum(hits, axis=-2), xp.sum(weight, axis=-2)
                return self._finished(self.safe.divide(hits, weight + xp.zeros_like(hits)))
            shares = xp.matrix_transpose(self.safe.divide(hits, weight + xp.zeros_like(hits)))
            return self._finished(shares if average == "class" else mean_of_defined(shares, None, self.safe))

    def _finished(self, x: Array) -> Array:
        """A result in the library of the state; NaN for impossible sums, for example after a negative weight."""
        xp = self.backend.xp
        is_valid = xp.all(are_sums(self.sums, self.hits, self.backend), axis=(-2, -1))
        is_valid = xp.reshape(is_valid, (*is_valid.shape, *(1,) * (x.ndim - is_valid.ndim)))
        return returned(xp.where(is_valid, x, math.nan), self.backend, self.own)
