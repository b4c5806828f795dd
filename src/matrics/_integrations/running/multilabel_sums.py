"""The sums that a MultilabelMetric keeps: all counts in one array, and which of them are what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._arrays.sizes import check_count
from matrics._integrations.running.multilabel_names import Kept
from matrics._multilabel.state import MultilabelState
from matrics._quoting import quoted
from matrics._ranking.bins import make_edges
from matrics._ranking.buckets import bits_of, check_bits_or_edges
from matrics._ranking.leaves import empty as empty_scores
from matrics._ranking.sample_sums import added_sums
from matrics._ranking.state import ScoreState
from matrics._states import leaves

# Counts for whole samples: wrong and right ones.
OF_WHOLE = 2


class SumsOfLabels(NamedTuple):
    """The arrays of a MultilabelMetric."""

    counts: Array  # (M,): cells of labels, whole samples, samples with a loss; low words in default JAX
    dropped: Array  # (): entries with a label other than 0 and 1, or a NaN score
    carried: Array  # (M,) high words, or (0, 0)
    buckets: Array  # (L, K, 2): scores in the buckets of a ScoreState, and the high words
    buckets_carried: Array
    bins: Array  # (L, E + 1, 2): scores between edges in place of buckets, and the high words
    bins_carried: Array
    rounded: Array  # (L,): 0 if every score of the label is known to be alone in its bucket
    sums: Array  # (1,): of the ranking losses; or (0,)
    remainders: Array  # in float32 what additions to them have rounded off; or (0,)
    edges: Array  # (E, 2), as in a ScoreState
    states: Array  # (): how many of these were added up array by array


# Those that a batch adds to; the first of them it may be added to in place.
ADDED = ("buckets", "counts", "dropped", "bins", "rounded", "sums")


class MultilabelSums(leaves.Additive, SumsOfLabels):
    """These arrays as a running state: they add up, over batches and over processes."""

    __slots__ = ()

    def _plus(self, other: MultilabelSums) -> MultilabelSums:
        mine, its = (f"bits={bits_of(x.buckets.shape[-2]) or 0}" for x in (self, other))
        if mine != its:
            raise ValueError(f"expected sums of the same resolution, got some of {mine} and some of {its}")
        for own, theirs in zip(self, other, strict=True):
            if tuple(own.shape) != tuple(theirs.shape):
                raise ValueError(
                    f"expected sums of the same labels, bins and measures, got arrays of the shapes {tuple(own.shape)} "
                    f"and {tuple(theirs.shape)}"
                )
        backend, _ = as_arrays(counts=self.counts)
        buckets = leaves.add(
            self._buckets(), other.buckets, backend.xp.zeros_like(self.dropped), other.buckets_carried, backend
        )
        found = self.plus(
            other, buckets=(buckets.counts, buckets.carried), carried=other.carried, bins_carried=other.bins_carried
        )
        return found._replace(remainders=found.remainders + other.remainders)

    def plus(
        self,
        more: Any,
        *,
        buckets: tuple[Array, Array],
        carried: Array | None = None,
        bins_carried: Array | None = None,
    ) -> MultilabelSums:
        """The sums with those of a batch added; but the buckets are given with the batch in them."""
        backend, _ = as_arrays(counts=self.counts)
        xp = backend.xp
        whole = leaves.add(self, more.counts, more.dropped, carried, backend)
        own = leaves.CountLeaves(self.bins, self.dropped, self.bins_carried)
        bins = leaves.add(own, more.bins, xp.zeros_like(self.dropped), bins_carried, backend)
        sums, remainders = added_sums(self.sums, self.remainders, more.sums, backend)
        return self._replace(
            counts=whole.counts,
            dropped=whole.dropped,
            carried=whole.carried,
            buckets=buckets[0],
            buckets_carried=buckets[1],
            bins=bins.counts,
            bins_carried=bins.carried,
            rounded=leaves.add_dropped(self.rounded, more.rounded, backend),
            sums=sums,
            remainders=remainders,
            edges=self.edges // self.states,
            states=xp.ones_like(self.states),
        )

    def _buckets(self) -> leaves.CountLeaves:
        return leaves.CountLeaves(self.buckets, self.dropped, self.buckets_carried)


@dataclass(frozen=True)
class Layout:
    """Where the counts of a metric are in its array."""

    num_labels: int
    kept: Kept
    has_buckets: bool  # for areas; otherwise there are bins between edges, or no areas

    @property
    def sizes(self) -> tuple[int, int, int]:
        """How many counts there are of labels, of whole samples and of samples with a loss."""
        kept = self.kept
        return 4 * self.num_labels * kept.labels, OF_WHOLE * kept.samples, int(kept.losses)

    def parts(self, counts: Array) -> list[Array]:
        """The counts of each kind, flat."""
        ends = np.cumsum(self.sizes).tolist()
        return [counts[..., end - size : end] for size, end in zip(self.sizes, ends, strict=True)]

    def matrix(self, sums: MultilabelSums) -> Array:
        """The matrices of the labels, (L, 2, 2); raises if they are not kept."""
        if not self.kept.labels:
            raise ValueError("matrix: expected a metric with a measure of predicted labels, such as 'f1', got none")
        return self.labels(sums).matrix

    def labels(self, sums: MultilabelSums) -> MultilabelState:
        """The matrices of the labels, and of whole samples; without samples where they are not kept."""
        backend, (counts, carried, dropped) = as_arrays(counts=sums.counts, carried=sums.carried, dropped=sums.dropped)
        xp, place, rows = backend.xp, backend.device_option(counts), self.num_labels + 1

        def shaped(x: Array) -> Array:
            """Cells of each label and of whole samples, of counts or of their high words."""
            if not x.shape[-1]:
                return xp.reshape(x, (rows, 0, 0))
            of_labels, of_samples, _ = self.parts(x)
            none = xp.zeros((4 * rows - of_labels.shape[-1] - of_samples.shape[-1],), dtype=x.dtype, **place)
            return xp.reshape(xp.concat([of_labels, none, of_samples]), (rows, 2, 2))

        nothing = xp.zeros((rows,), dtype=dropped.dtype, **place)
        return MultilabelState(shaped(counts), nothing, shaped(carried))

    def scores(self, sums: MultilabelSums) -> ScoreState:
        """The histograms of the labels, as those of classes against the rest."""
        return self._state(sums, ())

    def rows(self, sums: MultilabelSums) -> ScoreState:
        """The histograms as a batch, in whose shapes scores are counted."""
        backend, (edges, states) = as_arrays(edges=sums.edges, states=sums.states)
        xp = backend.xp
        ones = xp.ones((self.num_labels,), dtype=states.dtype, **backend.device_option(states))
        spread = sums._replace(
            edges=xp.broadcast_to(edges, (self.num_labels, *edges.shape)), states=ones * states, dropped=ones * 0
        )
        return self._state(spread, (self.num_labels,))

    def _state(self, sums: MultilabelSums, batch: tuple[int, ...]) -> ScoreState:
        backend, (counts, rounded, edges) = as_arrays(counts=sums.buckets, rounded=sums.rounded, edges=sums.edges)
        xp, place = backend.xp, backend.device_option(counts)

        def nothing(*shape: int) -> Array:
            return xp.zeros((*batch, *shape), dtype=backend.widest_float(counts), **place)

        return ScoreState(
            counts=counts,
            carried=sums.buckets_carried,
            bins=sums.bins,
            bins_carried=sums.bins_carried,
            rounded=rounded if batch else xp.sum(rounded),
            dropped=sums.dropped,
            edges=edges,
            states=sums.states,
            calibration=nothing(1, 0, 3),
            calibration_remainders=nothing(0, 0, 0),
            sums=nothing(0, 0),
            remainders=nothing(0, 0),
            top_k=xp.zeros((*batch, 0), dtype=edges.dtype, **place),
        )


def empty(
    num_labels: int, kept: Kept, bins: dict[str, Any], like: Any, dtype: Any, *, allow_large: bool
) -> tuple[Layout, MultilabelSums]:
    """The layout and the sums of no samples; raises for numbers, bins, dtypes and sizes that cannot be.

    ``bins`` are options of ``ScoreState.zeros``, bits and edges.
    """
    number = check_count(num_labels, "num_labels")
    backend, (like,) = as_arrays(like=like)
    xp = backend.xp
    place = backend.device_option(like)
    if kept.histogram:
        check_bits_or_edges(bins["bits"], bins["edges"])
    bins = bins if kept.histogram else {"bits": 0}
    scores = ScoreState(
        *empty_scores(
            make_edges(bins.get("edges"), None),
            None,
            (number,),
            like,
            dtype,
            bits=0 if bins.get("edges") is not None else bins["bits"],
            num_bins=0,
            class_wise=False,
            losses=not kept.histogram,  # or there would be nothing
            top_k=None,
            allow_large=allow_large,
        )
    )
    layout = Layout(number, kept, scores.counts.shape[-2] > 0)
    sizes = {"num_labels": number}
    counts, dropped, carried = leaves.zeros((), (sum(layout.sizes),), like, dtype, sizes=sizes, allow_large=allow_large)
    wide = backend.widest_float(like)
    losses = (int(kept.losses),)
    return layout, MultilabelSums(
        counts=counts,
        dropped=dropped,
        carried=carried,
        buckets=scores.counts,
        buckets_carried=scores.carried,
        bins=scores.bins,
        bins_carried=scores.bins_carried,
        rounded=scores.rounded,
        sums=xp.zeros(losses, dtype=wide, **place),
        remainders=xp.zeros(losses if wide == xp.float32 else (0,), dtype=wide, **place),
        edges=scores.edges[0, ...],
        states=xp.ones_like(dropped),
    )


def checked_thresholds(threshold: Any, num_labels: int, kept: Kept) -> np.ndarray:
    """A threshold for each label, (L,); of none 0.5."""
    if threshold is not None and not kept.predictions:
        raise ValueError("threshold: expected None, as none of the measures is one of predicted labels, got a value")
    given: Any = 0.5 if threshold is None else threshold
    given = given.tolist() if hasattr(given, "tolist") else given  # of an array
    values = list(given) if isinstance(given, (list, tuple)) else [given] * num_labels
    values = [value.item() if hasattr(value, "item") else value for value in values]
    is_good = all(isinstance(x, (int, float)) and not isinstance(x, bool) and x == x for x in values)  # noqa: PLR0124
    if not is_good or len(values) != num_labels:
        raise ValueError(
            f"threshold: expected a number, or one for each of {num_labels} labels, got {quoted(threshold)}"
        )
    return np.asarray(values, dtype=np.float64)
