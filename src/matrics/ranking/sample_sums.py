"""Sums over the samples of each true class, from which a state has exact means: losses, and hits of the k highest."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from matrics.arrays import NUMPY, Array, Standard, as_arrays
from matrics.engine.evaluation import check_options
from matrics.engine.safety import Safe
from matrics.ranking.averages import mean_of_defined
from matrics.ranking.brier import squared_distance
from matrics.ranking.inputs import ScoredSamples, returned
from matrics.ranking.losses import of_each
from matrics.ranking.top_k import ranks, share_of_places

LOSSES = ("log_loss", "brier_score")


def columns_of(sums: Array, top_k: Array) -> tuple[int, int]:
    """The numbers of columns with losses, and with hits."""
    hits = top_k.shape[-1]
    return max(sums.shape[-1] - 1 - hits, 0), hits


def sample_sums(samples: ScoredSamples, is_good: Array, sums: Array, top_k: Array, *, logits: Array | None) -> Array:
    """The sums of a batch (*B, n, C) in the shape of those of a state.

    Parameters
    ----------
    samples
        Labels in range, scores and weights of all axes but the batch.
    is_good
        Which samples count.
    sums, top_k
        Those of the state; of the latter the numbers themselves, (*B, K).
    logits
        The logits of the scores, where they are known.
    """
    backend, n = samples.backend, sums.shape[-2]
    xp, batch = backend.xp, tuple(sums.shape[:-2])
    wide = backend.widest_float(samples.scores)
    losses, hits = columns_of(sums, top_k)
    ones = xp.ones(is_good.shape, dtype=wide, **backend.device_option(is_good))
    weight = xp.where(is_good, ones if samples.weight is None else xp.astype(samples.weight, wide), 0)
    ordered = samples if logits is None else samples._replace(scores=logits)
    values = []
    if losses:
        of_log = of_each(ordered, "y_prob" if logits is None else "logits")
        outside = ~((samples.scores >= 0) & (samples.scores <= 1))
        outside = outside if samples.num_classes is None else xp.any(outside, axis=-1)
        values += [xp.where(outside, math.nan, xp.astype(x, wide)) for x in (of_log, squared_distance(samples))]
    if hits:
        higher, tied = (xp.astype(x, wide) for x in ranks(ordered))
        places = xp.reshape(top_k, (*batch, *(1,) * (higher.ndim - len(batch)), hits))
        values += [share_of_places(places[..., k], higher, tied, xp) for k in range(hits)]
    # A sample with weight 0 is ignored, whatever its loss.
    columns = [weight, *(xp.where(weight == 0, 0, value) * weight for value in values)]
    number, size = math.prod(batch), math.prod(is_good.shape[len(batch) :])
    rows = xp.reshape(samples.y_true, (number, size))
    found = backend.scatter_add(rows, xp.reshape(xp.stack(columns, axis=-1), (number, size, len(columns))), n)
    return xp.reshape(found, (*batch, n, len(columns)))


def added_sums(sums: Array, remainders: Array, more: Array, backend: Standard) -> tuple[Array, Array]:
    """The sums with those of a batch, and what float32 has lost in all additions so far (Knuth's two-sum)."""
    xp = backend.xp
    more = xp.astype(more, sums.dtype)
    total = sums + more
    if remainders.shape[-1] == 0:
        return total, remainders
    of_more = total - sums
    lost = (sums - (total - of_more)) + (more - of_more)
    return total, remainders + xp.where(xp.isfinite(total), lost, 0)


class Means(NamedTuple):
    """The means of a state, computed by NumPy where values are at hand."""

    backend: Standard
    own: Standard  # the library of the state, to which results return
    sums: Array
    losses: int
    hits: int
    safe: Safe

    @classmethod
    def of(cls, state: Any, zero_division: float) -> Means:
        """What a state keeps."""
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
            raise ValueError("expected a state that keeps losses, got one that was made without losses=True")
        xp = self.backend.xp
        with self.backend.quiet():
            return self._finished(self.safe.divide(*(xp.sum(self.sums[..., k], axis=-1) for k in (1 + which, 0))))

    def of_hits(self, average: str) -> Array:
        """The shares of hits among the k highest scores (*B, K): of all samples, each class, or the mean of these."""
        if not self.hits:
            raise ValueError("expected a state that keeps hits among the highest scores, got one made without top_k=")
        xp = self.backend.xp
        hits, weight = self.sums[..., 1 + self.losses :], self.sums[..., :1]
        with self.backend.quiet():
            if average == "weighted":
                hits, weight = xp.sum(hits, axis=-2), xp.sum(weight, axis=-2)
                return self._finished(self.safe.divide(hits, weight + xp.zeros_like(hits)))
            shares = xp.matrix_transpose(self.safe.divide(hits, weight + xp.zeros_like(hits)))
            return self._finished(shares if average == "class" else mean_of_defined(shares, None, self.safe))

    def _finished(self, x: Array) -> Array:
        """A result in the library of the state; NaN if the weight of a class is negative."""
        xp = self.backend.xp
        is_valid = xp.all(self.sums[..., 0] >= 0, axis=-1)
        is_valid = xp.reshape(is_valid, (*is_valid.shape, *(1,) * (x.ndim - is_valid.ndim)))
        return returned(xp.where(is_valid, x, math.nan), self.backend, self.own)
