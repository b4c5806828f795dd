"""Convert the histograms of a ScoreState to counts, running sums and edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import NUMPY, Array, Standard, as_arrays
from matrics.ranking.bounds import BoundedBins
from matrics.ranking.buckets import bits_of, grid_of
from matrics.ranking.inputs import returned
from matrics.ranking.leaves import ScoreLeaves, edges_of
from matrics.states.two_words import WORD, TwoWords

# Bits of the low words in running sums: so many, below 2**13 each, stay below 2**31.
LOW_BITS, MOST_IN_A_SUM = 13, 2**18
# The empty ones among more bins than these are left out where that can be seen.
FEW_BINS = 2**10


class Reading(NamedTuple):
    """Histograms of a state, by NumPy where values are at hand."""

    backend: Standard
    own: Standard  # the library of the state, to which results return
    counts: Array  # (*B, [n,] K, 2); low words if there are others
    carried: Array | None
    rounded: Array  # (*B,)
    edges: Array  # (E,), of bins in ascending order; of buckets none
    points: tuple[int, ...]  # the buckets that hold a single number each
    has_classes: bool
    is_integer: bool

    @classmethod
    def of_areas(cls, leaves: Sequence[Any]) -> Reading:
        """The buckets, or the bins if the state was made with edges."""
        state = ScoreLeaves(*leaves)
        if state.counts.shape[-2]:
            return cls._of(state, state.counts, state.carried)
        if state.bins.shape[-2]:
            return cls._of(state, state.bins, state.bins_carried)
        raise ValueError("expected a state that keeps areas, got one made with bits=0 and without edges=")

    @classmethod
    def of_bins(cls, leaves: Sequence[Any]) -> Reading:
        """The bins between thresholds, or edges."""
        state = ScoreLeaves(*leaves)
        if not state.bins.shape[-2]:
            raise ValueError(
                "expected a state that keeps counts at thresholds, got one made without thresholds= and edges="
            )
        return cls._of(state, state.bins, state.bins_carried)

    @classmethod
    def _of(cls, state: ScoreLeaves, counts: Array, carried: Array) -> Reading:
        bits, has_classes = bits_of(counts.shape[-2]), counts.ndim - state.dropped.ndim == 3
        is_bucket = counts is state.counts
        leaves = {"counts": counts, "carried": carried, "rounded": state.rounded, "edges": state.edges}
        own, arrays = as_arrays(**leaves, states=state.states)
        views: list[Any] = [own.host_view(array) for array in arrays]
        is_on_host = all(view is not None for view in views)
        backend = NUMPY if is_on_host else own
        counts, carried, rounded, _, states = seen = views if is_on_host else arrays
        xp, is_integer = backend.xp, backend.is_integer(counts)
        words: Array | None = None
        if not is_integer:
            counts = xp.astype(counts, backend.widest_float(counts))
        elif carried.shape[-1] > 0 and is_on_host:
            counts = (carried.astype(np.int64) << WORD) + counts
        elif carried.shape[-1] > 0:
            whole = TwoWords(counts, carried)
            counts, words = whole.low, whole.high
        edges = edges_of(state._replace(edges=seen[3], states=states), backend)
        points = grid_of(bits).points if is_bucket and bits is not None else ()
        return cls(backend, own, counts, words, rounded, edges, points, has_classes, is_integer)

    def pooled(self) -> Reading:
        """The histogram of the scores of all classes together."""
        xp = self.backend.xp
        if self.carried is None:
            return self._replace(counts=xp.sum(self.counts, axis=-3, dtype=self.counts.dtype))
        whole = TwoWords(self.counts, self.carried).sum(-3, self.backend)
        return self._replace(counts=whole.low, carried=whole.high)

    def is_valid(self) -> Array | None:
        """Whether no count is negative, NaN or infinite, (*B,); None if that is certain."""
        if self.is_integer:
            return None
        xp = self.backend.xp
        axes = (-3, -2, -1) if self.has_classes else (-2, -1)
        return xp.all((self.counts >= 0) & (self.counts < math.inf), axis=axes)

    def floats(self) -> Array:
        """The counts as floats."""
        if self.carried is not None:
            return TwoWords(self.counts, self.carried).to_float(self.backend)
        return self.backend.xp.astype(self.counts, self.backend.widest_float(self.rounded))

    def running(self, *, from_the_top: bool) -> Array:
        """Running sums over bins, (…, K + 1, 2), of whole counts; in two words, of floats."""
        backend = self.backend
        xp = backend.xp

        def sums(x: Array) -> Array:
            x = xp.flip(x, axis=-2) if from_the_top else x
            return backend.running_sum(xp.concat([xp.zeros_like(x[..., :1, :]), x], axis=-2), -2)

        if self.carried is None:
            return sums(self.counts)
        # Words of other lengths, as there may be more bins than 2**15.
        low, high = self.counts & (2**LOW_BITS - 1), self.counts >> LOW_BITS
        high = sums(high + (self.carried << (WORD - LOW_BITS)))
        return xp.astype(high, xp.float32) * float(2**LOW_BITS) + xp.astype(sums(low), xp.float32)

    def matrices(self) -> Array:
        """The confusion matrices at each threshold, the highest first: (…, E + 2, 2, 2)."""
        xp = self.backend.xp
        positive = self.running(from_the_top=True)
        negative = xp.flip(self.running(from_the_top=False), axis=-2)
        return xp.stack([negative, positive], axis=-1)

    def bins(self) -> BoundedBins:
        """What areas are made of."""
        backend, xp = self.backend, self.backend.xp
        if backend.looking_is_free and self.counts.shape[-2] > FEW_BINS:
            return self._bins_on_host()
        dtype = backend.widest_float(self.rounded)
        counts = xp.flip(self.floats(), axis=-2)
        total = xp.astype(self.running(from_the_top=True), dtype)
        sums = (total[..., part, kind] for part in (slice(-1), slice(1, None), slice(-1, None)) for kind in (1, 0))
        shape = tuple(self.counts.shape[:-1])
        is_point = xp.zeros((shape[-1],), dtype=xp.bool, **backend.device_option(counts))
        numbers = backend.class_index(shape[-1], counts)
        for point in self.points:
            is_point = is_point | (numbers == point)
        is_tied = xp.broadcast_to(xp.flip(is_point, axis=-1) | self._are_exact(len(shape)), shape)
        return BoundedBins(counts[..., 1], counts[..., 0], *sums, is_tied, self.is_integer)

    def _bins_on_host(self) -> BoundedBins:
        """The same by NumPy without empty bins, which most buckets are; each histogram as long as the longest."""
        *batch, length, _ = self.counts.shape
        rows = self.counts.reshape(-1, length, 2)
        # Two bytes, whether there are samples of class 0 and of class 1, are a number that is 0 for an empty bin.
        filled = [np.flatnonzero((row.reshape(-1) != 0).view(np.uint16) != 0) for row in rows]
        longest = max(map(len, filled), default=0)
        positives, negatives = (np.zeros((len(rows), longest), rows.dtype) for _ in range(2))
        is_tied = np.zeros((len(rows), longest), bool)
        for row, bins in enumerate(filled):
            found = rows[row].take(bins[::-1], axis=0)
            negatives[row, : len(bins)], positives[row, : len(bins)] = found[:, 0], found[:, 1]
            places = np.searchsorted(bins, self.points)
            met = [at for at, point in zip(places, self.points, strict=True) if at < len(bins) and bins[at] == point]
            is_tied[row, [len(bins) - 1 - at for at in met]] = True
        is_tied = is_tied.reshape(*batch, longest) | self._are_exact(len(batch) + 1)
        sums = []
        for kind in (positives, negatives):
            total = np.zeros((len(rows), longest + 1), kind.dtype)
            np.cumsum(kind, axis=-1, out=total[:, 1:])  # of integers in a quarter of the time
            sums.append(total.astype(np.float64, copy=False))
        parts = [x[:, part] for part in (slice(-1), slice(1, None), slice(-1, None)) for x in sums]
        counts = [x.astype(np.float64, copy=False) for x in (positives, negatives)]
        parts = [x.reshape(*batch, x.shape[-1]) for x in (*counts, *parts)]
        return BoundedBins(*parts, is_tied, self.is_integer)

    def _are_exact(self, ndim: int) -> Array:
        """Whether every score is known to be alone in its bin, (*B, 1, …)."""
        rounded = self.rounded
        return self.backend.xp.reshape(rounded == 0, (*rounded.shape, *(1,) * (ndim - rounded.ndim)))

    def finish(self, x: Array) -> Array:
        """A result as an array of the state's library; a single number of NumPy is a scalar."""
        return returned(x, self.backend, self.own)
