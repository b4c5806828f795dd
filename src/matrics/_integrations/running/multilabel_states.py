"""The state of a MultilabelMetric: matrices of the labels, histograms of their scores, and sums of ranking losses."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._arrays.sizes import check_count
from matrics._counting.labels import label_dtype
from matrics._integrations.running.multilabel_names import Kept
from matrics._integrations.running.parts import States
from matrics._multilabel.state import MultilabelState
from matrics._quoting import quoted
from matrics._ranking.buckets import check_bits_or_edges
from matrics._ranking.sample_sums import added_sums
from matrics._ranking.state import ScoreState
from matrics._states.leaves import Additive, add_dropped
from matrics._states.windows import sum_of_dropped


class LossSums(NamedTuple):
    """The arrays of ranking losses."""

    sums: Array  # (2,): the sums of the losses, and of the weights of the samples
    remainders: Array  # the rounding errors of additions in float32; (0,) otherwise
    dropped: Array  # (): the number of entries with a label other than 0 and 1, or a NaN score


class RankingLosses(Additive, LossSums):
    """Sums of ranking losses as a running state."""

    __slots__ = ()

    @classmethod
    def zeros(cls, like: Array, backend: Standard) -> Self:
        """The losses of no samples, in the widest float."""
        xp, wide, place = backend.xp, backend.widest_float(like), backend.device_option(like)
        remainders = xp.zeros((2 if wide == xp.float32 else 0,), dtype=wide, **place)
        dropped = xp.zeros((), dtype=label_dtype(like, backend), **place)
        return cls(xp.zeros((2,), dtype=wide, **place), remainders, dropped)

    def plus(self, sums: Array, dropped: Array, backend: Standard) -> Self:
        """The losses after the addition of a batch."""
        total, remainders = added_sums(self.sums, self.remainders, sums, backend)
        more = backend.xp.astype(dropped, self.dropped.dtype)
        return type(self)(total, remainders, add_dropped(self.dropped, more, backend))

    def _plus(self, other: Self) -> Self:
        backend, _ = as_arrays(sums=self.sums)
        total = self.plus(other.sums, other.dropped, backend)
        return total._replace(remainders=total.remainders + other.remainders)

    def mean(self, zero_division: float) -> Array:
        """The mean of the losses."""
        backend, (sums, remainders) = as_arrays(sums=self.sums, remainders=self.remainders)
        total, number = sums + remainders if remainders.shape[-1] else sums
        is_positive = number > 0
        return backend.xp.where(is_positive, total / backend.xp.where(is_positive, number, 1), zero_division)


class StatesOfLabels(NamedTuple):
    """The states of a MultilabelMetric; None where no measure needs a state."""

    labels: MultilabelState | None  # counts of labels, or of whole samples, are 0 if no measure needs them
    scores: ScoreState | None  # with the batch shape (L,)
    losses: RankingLosses | None


class MultilabelStates(States, StatesOfLabels):
    """The states together, which add up over batches and over processes."""

    __slots__ = ()

    @property
    def dropped(self) -> Array:
        """The number of entries that were dropped for a label other than 0 and 1, or a NaN score."""
        first: Any = next(state for state in self if state is not None)
        numbers = first.labels.dropped if isinstance(first, MultilabelState) else first.dropped
        return sum_of_dropped(numbers) if numbers.ndim else numbers


def as_classes(state: ScoreState) -> ScoreState:
    """The histograms of labels as histograms of classes against the rest, for averages of areas.

    The number of dropped samples has no meaning.
    """
    of_labels = ("counts", "carried", "bins", "bins_carried", "rounded")
    first = {name: x[0, ...] for name, x in state._asdict().items() if name not in of_labels}
    return state._replace(rounded=sum_of_dropped(state.rounded), **first)


def empty(
    num_labels: int, kept: Kept, bins: dict[str, Any], like: Any, dtype: Any, *, in_place: bool, allow_large: bool
) -> MultilabelStates:
    """The states of no samples; raises for invalid numbers, bins, dtypes and sizes.

    ``bins`` are the options bits and edges of ``ScoreState.zeros``. Matrices that change ``in_place`` have no array for
    rounding errors.
    """
    number = check_count(num_labels, "num_labels")
    backend, (like,) = as_arrays(like=like)
    options: Any = {"like": like, "dtype": dtype, "allow_large": allow_large}
    if kept.histogram:
        check_bits_or_edges(bins["bits"], bins["edges"])
    labels = MultilabelState.zeros(number, **options) if kept.predictions else None
    if labels is not None and in_place:
        labels = labels._replace(carried=labels.carried[..., :0, :0])
    return MultilabelStates(
        labels=labels,
        scores=ScoreState.zeros(**bins, num_bins=0, batch_shape=(number,), **options) if kept.histogram else None,
        losses=RankingLosses.zeros(like, backend) if kept.losses else None,
    )


def checked_thresholds(threshold: Any, num_labels: int, kept: Kept) -> np.ndarray:
    """A threshold for each label, (L,); the default is 0.5."""
    if threshold is not None and not kept.predictions:
        raise ValueError("threshold: expected None, as no measure needs predicted labels, got a value")
    thresholds: Any = 0.5 if threshold is None else threshold
    thresholds = thresholds.tolist() if hasattr(thresholds, "tolist") else thresholds
    values = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds] * num_labels
    values = [value.item() if hasattr(value, "item") else value for value in values]
    is_good = all(isinstance(x, (int, float)) and not isinstance(x, bool) and x == x for x in values)  # noqa: PLR0124
    if not is_good or len(values) != num_labels:
        raise ValueError(
            f"threshold: expected a number, or a number for each of {num_labels} labels, got {quoted(threshold)}"
        )
    return np.asarray(values, dtype=np.float64)
