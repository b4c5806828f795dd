"""Convert the leaves of a ScoreState to counts, running sums and edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import NUMPY, Array, Standard, as_arrays
from matrics.ranking.bins import decode
from matrics.ranking.bounds import BoundedBins
from matrics.ranking.histograms import running
from matrics.ranking.inputs import returned
from matrics.states.two_words import WORD, TwoWords


class Reading(NamedTuple):
    """The histograms of a state, by NumPy where values are at hand."""

    backend: Standard
    own: Standard  # the library of the state, to which results return
    counts: Array  # (*B, [n + 1,] K + 2, 2); low words if there are others
    carried: Array | None
    offsets: Array
    edges: Array  # (K + 1,), in the widest float
    has_classes: bool
    is_integer: bool

    @classmethod
    def of(cls, leaves: Sequence[Any]) -> Reading:
        """The converted leaves of a state."""
        counts, offsets, dropped, carried, edges, states, *_ = leaves
        if counts.shape[-2] == 0:
            raise ValueError("expected a state with a histogram of scores, got one made with histogram_bins=0")
        own, arrays = as_arrays(counts=counts, offsets=offsets, carried=carried, edges=edges, states=states)
        views: list[Any] = [own.host_view(array) for array in arrays]
        is_on_host = all(view is not None for view in views)
        backend = NUMPY if is_on_host else own
        counts, offsets, carried, edges, states = views if is_on_host else arrays
        xp, is_integer = backend.xp, backend.is_integer(counts)
        words: Array | None = None
        if not is_integer:
            counts = xp.astype(counts, backend.widest_float(counts))
        elif carried.shape[-1] > 0 and is_on_host:
            counts = (carried.astype(np.int64) << WORD) + counts
        elif carried.shape[-1] > 0:
            whole = TwoWords(counts, carried)
            counts, words = whole.low, whole.high
        edges = decode(edges, states, backend.widest_float(edges), backend)
        return cls(backend, own, counts, words, offsets, edges, counts.ndim - dropped.ndim == 3, is_integer)

    def of_classes(self) -> Reading:
        """The histograms of each class against the rest, or the histogram of class 1 of two."""
        return self._each(lambda x: x[..., :-1, :, :]) if self.has_classes else self

    def of_top_label(self) -> Reading:
        """The histogram of the top score."""
        return self._each(lambda x: x[..., -1, :, :])

    def pooled(self) -> Reading:
        """The histogram of the scores of all classes together."""
        xp = self.backend.xp
        pooled = self._each(lambda x: xp.sum(x, axis=-3, dtype=x.dtype))
        if self.carried is None:
            return pooled
        # The running sums over bins need low words below 2**16.
        whole = TwoWords(self.counts, self.carried).sum(-3, self.backend)
        return pooled._replace(counts=whole.low, carried=whole.high)

    def _each(self, function: Any) -> Reading:
        carried = None if self.carried is None else function(self.carried)
        offsets = function(self.offsets[..., None])[..., 0]
        return self._replace(counts=function(self.counts), carried=carried, offsets=offsets)

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
        return self.backend.xp.astype(self.counts, self.edges.dtype)

    def running(self, *, from_the_top: bool) -> Array:
        """Running sums over bins, (…, K + 3, 2), of whole counts; in two words, of floats."""
        xp = self.backend.xp
        counts, carried = self.counts, self.carried
        if from_the_top:
            counts, carried = xp.flip(counts, axis=-2), None if carried is None else xp.flip(carried, axis=-2)
        return running(counts, carried, self.backend)

    def matrices(self) -> Array:
        """The confusion matrices at each threshold, the highest first: (…, K + 3, 2, 2)."""
        xp = self.backend.xp
        positive = self.running(from_the_top=True)
        negative = xp.flip(self.running(from_the_top=False), axis=-2)
        return xp.stack([negative, positive], axis=-1)

    def bins(self) -> BoundedBins:
        """What areas are made of."""
        xp, dtype = self.backend.xp, self.edges.dtype
        counts = xp.flip(self.floats(), axis=-2)
        total = xp.astype(self.running(from_the_top=True), dtype)
        is_tied = xp.flip(self.offsets, axis=-1) == 0
        return BoundedBins(
            counts[..., 1],
            counts[..., 0],
            total[..., :-1, 1],
            total[..., :-1, 0],
            total[..., -1:, 1],
            total[..., -1:, 0],
            # The distances of weighted samples may vanish in their sum.
            is_tied if self.is_integer else xp.zeros_like(is_tied),
            self.is_integer,
        )

    def finish(self, x: Array) -> Array:
        """A result as an array of the state's library; a single number of NumPy is a scalar."""
        return returned(x, self.backend, self.own)
