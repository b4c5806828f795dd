"""The sums that a MultilabelMetric keeps: all counts in one array, and which of them are what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import Array, as_arrays
from matrics.arrays.sizes import check_count
from matrics.integrations.multilabel_names import Kept
from matrics.multilabel.state import MultilabelState
from matrics.quoting import quoted
from matrics.ranking.sample_sums import added_sums
from matrics.ranking.state import ScoreState
from matrics.states import leaves
from matrics.states.confusion import ConfusionState

# Counts for whole samples: wrong and right ones.
OF_WHOLE = 2


class SumsOfLabels(NamedTuple):
    """The arrays of a MultilabelMetric."""

    counts: Array  # (M,): cells of labels, whole samples, histograms, samples with a loss; low words in default JAX
    dropped: Array  # (): entries with a label other than 0 and 1, or a NaN score
    carried: Array  # (M,) high words, or (0, 0)
    offsets: Array  # (L (K + 2),): sums of the distances of scores from the edge below
    sums: Array  # (1,): of the ranking losses; or (0,)
    remainders: Array  # in float32 what additions to them have rounded off; or (0,)
    edges: Array  # (K + 1, 2), as in a ScoreState
    states: Array  # (): how many of these were added up array by array


# Those that a batch is added to.
ADDED = ("counts", "dropped", "offsets", "sums")


class MultilabelSums(leaves.Additive, SumsOfLabels):
    """These arrays as a running state: they add up, over batches and over processes."""

    __slots__ = ()

    def _plus(self, other: MultilabelSums) -> MultilabelSums:
        for mine, its in zip(self, other, strict=True):
            if tuple(mine.shape) != tuple(its.shape):
                raise ValueError(
                    f"expected sums of the same labels, bins and measures, got {tuple(mine.shape)} and "
                    f"{tuple(its.shape)} numbers"
                )
        found = self.plus(other, other.carried)
        return found._replace(remainders=found.remainders + other.remainders)

    def plus(self, more: Any, carried: Array | None = None) -> MultilabelSums:
        """The sums with those of a batch added."""
        backend, _ = as_arrays(counts=self.counts)
        whole = leaves.add(self, more.counts, more.dropped, carried, backend)
        sums, remainders = added_sums(self.sums, self.remainders, more.sums, backend)
        return self._replace(
            counts=whole.counts,
            dropped=whole.dropped,
            carried=whole.carried,
            offsets=self.offsets + more.offsets,
            sums=sums,
            remainders=remainders,
            edges=self.edges // self.states,
            states=backend.xp.ones_like(self.states),
        )


@dataclass(frozen=True)
class Layout:
    """Where the counts of a metric are in its array."""

    num_labels: int
    kept: Kept
    length: int  # of a histogram, with the bins beyond the edges

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many counts there are of labels, of whole samples, of bins and of samples with a loss."""
        n, kept = self.num_labels, self.kept
        return 4 * n * kept.labels, OF_WHOLE * kept.samples, 2 * n * self.length * kept.histogram, int(kept.losses)

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
        """The matrices of the labels, and of whole samples; those that are not kept have no samples."""
        backend, (counts, carried, dropped) = as_arrays(counts=sums.counts, carried=sums.carried, dropped=sums.dropped)
        xp = backend.xp
        shape, none = (self.num_labels, 2, 2), xp.zeros_like(dropped)

        def shaped(x: Array, *, has_any: bool) -> tuple[Array, Array]:
            """Cells of each label, and of whole samples, of counts or of their high words."""
            zeros = xp.zeros((max(4 * self.num_labels, 4),), dtype=x.dtype, **backend.device_option(counts))
            if not has_any:
                empty = xp.reshape(zeros[:0], (0, 0))
                return xp.reshape(zeros[:0], (self.num_labels, 0, 0)), empty
            of_labels, of_samples, _, _ = self.parts(x)
            cells = of_labels if self.kept.labels else zeros[: 4 * self.num_labels]
            whole = xp.concat([zeros[:2], of_samples]) if self.kept.samples else zeros[:4]
            return xp.reshape(cells, shape), xp.reshape(whole, (2, 2))

        low, low_of_samples = shaped(counts, has_any=True)
        high, high_of_samples = shaped(carried, has_any=carried.shape[-1] > 0)
        each = none + xp.zeros((self.num_labels,), dtype=none.dtype, **backend.device_option(counts))
        return MultilabelState(ConfusionState(low, each, high), ConfusionState(low_of_samples, none, high_of_samples))

    def scores(self, sums: MultilabelSums) -> ScoreState:
        """The histograms of the labels, as those of classes against the rest; the histogram of top scores is empty."""
        backend, (counts, carried, offsets, none) = as_arrays(
            counts=sums.counts, carried=sums.carried, offsets=sums.offsets, dropped=sums.dropped
        )
        xp, shape = backend.xp, (self.num_labels, self.length, 2)

        def with_top(x: Array, shape: tuple[int, ...]) -> Array:
            x = xp.reshape(x, shape)
            return xp.concat([x, xp.zeros_like(x[:1])])

        high = xp.reshape(carried, (0, 0)) if carried.shape[-1] == 0 else with_top(self.parts(carried)[2], shape)
        if high.ndim == 2:
            high = xp.reshape(high, (self.num_labels + 1, 0, 0))
        nothing = xp.reshape(offsets[:0], (0, 0))
        return ScoreState(
            counts=with_top(self.parts(counts)[2], shape),
            offsets=with_top(offsets, shape[:-1]),
            dropped=none,
            carried=high,
            edges=sums.edges,
            states=sums.states,
            sums=nothing,
            remainders=nothing,
            top_k=xp.reshape(sums.edges[:0], (0,)),
        )

    def rows(self, sums: MultilabelSums) -> ScoreState:
        """The histograms as a batch, in whose shapes scores are counted; without high words."""
        backend, (counts, offsets, edges, states) = as_arrays(
            counts=sums.counts, offsets=sums.offsets, edges=sums.edges, states=sums.states
        )
        xp, n = backend.xp, self.num_labels
        nothing = xp.zeros((n, 0, 0), dtype=offsets.dtype, **backend.device_option(counts))
        none = xp.zeros((n,), dtype=states.dtype, **backend.device_option(counts))
        return ScoreState(
            counts=xp.reshape(self.parts(counts)[2], (n, self.length, 2)),
            offsets=xp.reshape(offsets, (n, self.length)),
            dropped=none,
            carried=nothing,
            edges=xp.broadcast_to(edges, (n, *edges.shape)),
            states=none + states,
            sums=nothing,
            remainders=nothing,
            top_k=xp.reshape(nothing, (n, 0)),
        )


def empty(
    num_labels: int, kept: Kept, bins: dict[str, Any], like: Any, dtype: Any, *, allow_large: bool
) -> tuple[Layout, MultilabelSums]:
    """The layout and the sums of no samples; raises for numbers, bins, dtypes and sizes that cannot be."""
    number = check_count(num_labels, "num_labels")
    backend, (like,) = as_arrays(like=like)
    xp = backend.xp
    place = backend.device_option(like)
    edges, length = xp.zeros((0, 2), dtype=leaves.zeros((), (1,), like, None, sizes={}, allow_large=True)[1].dtype), 0
    if kept.histogram:
        one = ScoreState.zeros(**bins, like=like)
        edges, length = one.edges, one.counts.shape[-2]
    layout = Layout(number, kept, length)
    sizes = {"num_labels": number, "histogram_bins": length - 2 if kept.histogram else None}
    counts, dropped, carried = leaves.zeros((), (sum(layout.sizes),), like, dtype, sizes=sizes, allow_large=allow_large)
    wide = backend.widest_float(like)
    losses = (int(kept.losses),)
    return layout, MultilabelSums(
        counts=counts,
        dropped=dropped,
        carried=carried,
        offsets=xp.zeros((number * length,), dtype=wide, **place),
        sums=xp.zeros(losses, dtype=wide, **place),
        remainders=xp.zeros(losses if wide == xp.float32 else (0,), dtype=wide, **place),
        edges=edges,
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
