"""Counts, running sums and edges of the histograms of a ScoreState."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard, as_arrays
from matrics._ranking.bounds import BoundedBins
from matrics._ranking.buckets import GRIDS, bits_of
from matrics._ranking.inputs import returned
from matrics._ranking.leaves import ScoreLeaves, edges_of
from matrics._states.two_words import WORD, TwoWords

# On the host, histograms are grouped up to this number of filled bins, so that arrays reuse memory.
BINS_AT_ONCE = 2**14 - 2**6


class Reading(NamedTuple):
    """The histograms of a state, as NumPy arrays if the values are on the host."""

    backend: Standard
    own: Standard  # the library of the state, to which results return
    counts: Array  # (*B, [n,] K, 2); low words if there are high words
    carried: Array | None
    rounded: Array  # (*B,)
    edges: Array  # (E,), of bins in ascending order; empty for buckets
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
        raise ValueError("expected a state that keeps areas, got bits=0 and no edges; make the state with bits=15")

    @classmethod
    def of_bins(cls, leaves: Sequence[Any]) -> Reading:
        """The bins between thresholds, or edges."""
        state = ScoreLeaves(*leaves)
        if not state.bins.shape[-2]:
            raise ValueError(
                "expected a state that keeps counts at thresholds, got none; make the state with thresholds= or edges="
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
        counts, carried, rounded, _, states = arrays_read = views if is_on_host else arrays
        xp, is_integer = backend.xp, backend.is_integer(counts)
        high_words: Array | None = None
        if not is_integer:
            counts = xp.astype(counts, backend.widest_float(counts))
        elif carried.shape[-1] > 0 and is_on_host:
            counts = (carried.astype(np.int64) << WORD) + counts
        elif carried.shape[-1] > 0:
            words_of_counts = TwoWords(counts, carried)
            counts, high_words = words_of_counts.low, words_of_counts.high
        edges = edges_of(state._replace(edges=arrays_read[3], states=states), backend)
        points = GRIDS[bits].points if is_bucket and bits is not None else ()
        return cls(backend, own, counts, high_words, rounded, edges, points, has_classes, is_integer)

    def pooled(self) -> Reading:
        """The histogram of the scores of all classes together."""
        xp = self.backend.xp
        if self.carried is None:
            return self._replace(counts=xp.sum(self.counts, axis=-3, dtype=self.counts.dtype))
        total = TwoWords(self.counts, self.carried).sum(-3, self.backend)
        return self._replace(counts=total.low, carried=total.high)

    def is_valid(self) -> Array | None:
        """Whether no count is negative, NaN or infinite, (*B,); None for integer counts, which are always valid."""
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
        """The running sums over bins, (…, K + 1, 2), in the type of the counts; for counts of two words, as floats."""
        backend = self.backend
        xp = backend.xp

        def sums(x: Array) -> Array:
            x = xp.flip(x, axis=-2) if from_the_top else x
            return backend.running_sum(xp.concat([xp.zeros_like(x[..., :1, :]), x], axis=-2), -2)

        if self.carried is None:
            return sums(self.counts)
        # Counts are split into short words, so that all sums stay below 2**31; the last word has the remaining bits.
        bits = min(30 - int(self.counts.shape[-2]).bit_length(), WORD)
        number = WORD // bits + 1
        total: Array = xp.astype(sums(self.carried >> (number * bits - WORD)), xp.float32) * float(2 ** (number * bits))
        for shift in reversed(range(0, number * bits, bits)):
            bits_above = WORD - shift
            word = (
                (self.counts >> shift) | (self.carried << bits_above) if bits_above > 0 else self.carried >> -bits_above
            )
            total = total + xp.astype(sums(word & (2**bits - 1)), xp.float32) * float(2**shift)
        return total

    def matrices(self) -> Array:
        """The confusion matrices at each threshold in descending order, (…, E + 2, 2, 2)."""
        xp = self.backend.xp
        positive = self.running(from_the_top=True)
        negative = xp.flip(self.running(from_the_top=False), axis=-2)
        return xp.stack([negative, positive], axis=-1)

    def bins(self) -> list[BoundedBins]:
        """The counts from which areas are computed: of all histograms, or with NumPy of groups of histograms."""
        backend, xp = self.backend, self.backend.xp
        if backend.looking_is_free:
            return self._bins_on_host()
        dtype = backend.widest_float(self.rounded)
        counts = xp.flip(self.floats(), axis=-2)
        cumulated = xp.astype(self.running(from_the_top=True), dtype)
        slices = (slice(-1), slice(1, None), slice(-1, None))  # above each bin, up to each bin, and in all bins
        arrays = [counts[..., 1], counts[..., 0], *(cumulated[..., x, column] for x in slices for column in (1, 0))]
        shape = tuple(self.counts.shape[:-1])
        is_point = xp.zeros((shape[-1],), dtype=xp.bool, **backend.device_option(counts))
        numbers = backend.class_index(shape[-1], counts)
        for point in self.points:
            is_point = is_point | (numbers == point)
        rounded = xp.reshape(self.rounded, (*self.rounded.shape, *(1,) * (len(shape) - self.rounded.ndim)))
        is_point = xp.reshape(xp.flip(is_point), (*(1,) * (len(shape) - 1), -1))
        is_tied = xp.broadcast_to(is_point | (rounded == 0), shape)
        return [BoundedBins._make([*arrays, is_tied, self.is_integer])]

    def _bins_on_host(self) -> list[BoundedBins]:
        """The same with NumPy without empty bins, as most buckets are empty, in groups that fit in a cache."""
        *batch, length, _ = self.counts.shape
        rows = self.counts.reshape(-1, length, 2)
        rounded = np.reshape(self.rounded, (*self.rounded.shape, *(1,) * (len(batch) - self.rounded.ndim)))
        are_exact = np.broadcast_to(rounded == 0, batch).reshape(-1)
        # The two booleans of a bin, for samples of class 0 and of class 1, are viewed as an integer: 0 if it is empty.
        filled = [np.flatnonzero((row.reshape(-1) != 0).view(np.uint16) != 0) for row in rows]
        groups, start = [], 0
        while start < len(rows):
            stop = start + 1
            while stop < len(rows) and sum(map(len, filled[start : stop + 1])) <= BINS_AT_ONCE:
                stop += 1
            part = slice(start, stop)
            groups.append(self._group(rows[part], filled[part], are_exact[part]))
            start = stop
        return groups

    def _group(self, rows: np.ndarray, filled: list[np.ndarray], are_exact: np.ndarray) -> BoundedBins:
        """The counts of histograms (R, K, 2) without empty bins, padded to the longest; ``filled`` are their bins."""
        shape = (len(rows), max(map(len, filled)))
        positives, negatives = np.zeros(shape, rows.dtype), np.zeros(shape, rows.dtype)
        is_tied = np.zeros(shape, bool)
        is_tied[are_exact] = True
        for row, bins in enumerate(filled):
            counts = rows[row].take(bins[::-1], axis=0)
            negatives[row, : len(bins)], positives[row, : len(bins)] = counts[:, 0], counts[:, 1]
            for point in self.points:
                index = int(bins.searchsorted(point))
                if index < len(bins) and bins[index] == point:
                    is_tied[row, len(bins) - 1 - index] = True
        above, upto, totals = zip(*map(_sums, (positives, negatives)), strict=True)
        arrays: list[Any] = [x.astype(np.float64, copy=False) for x in (positives, negatives)]
        arrays += [*above, *upto, *totals, is_tied if is_tied.any() else None, self.is_integer]
        return BoundedBins._make(arrays)

    def finish(self, x: Array) -> Array:
        """A result as an array of the library of the state, or as a NumPy scalar if it is a single number."""
        return returned(x, self.backend, self.own)


def _sums(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The sums before each bin, up to each bin, and over all bins (R, 1), as floats.

    Adding integers takes a quarter of the time of adding floats.
    """
    sums = np.zeros((counts.shape[0], counts.shape[1] + 1), counts.dtype)
    np.cumsum(counts, axis=-1, out=sums[:, 1:])
    sums = sums.astype(np.float64, copy=False)
    return sums[:, :-1], sums[:, 1:], sums[:, -1:]
