"""The areas, measures at k, thresholds and matrices of a ScoreState, as functions of its leaves."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._arrays.sizes import check_count
from matrics._engine.evaluation import check_options
from matrics._ranking import bounds
from matrics._ranking.averages import check_average
from matrics._ranking.bounds import Bounded
from matrics._ranking.leaves import ScoreLeaves
from matrics._ranking.reading import Reading

_AREAS = {"roc_auc": bounds.roc_auc, "average_precision": bounds.average_precision}


def thresholds(leaves: Sequence[Array]) -> Array:
    """+inf, the edges in descending order, and -inf."""
    reading = Reading.of_bins(leaves)
    xp, edges = reading.backend.xp, reading.edges
    ends = xp.full((1,), math.inf, dtype=edges.dtype, **reading.backend.device_option(edges))
    return reading.finish(xp.concat([ends, xp.flip(edges), -ends]))


def matrices(leaves: Sequence[Array], *, looks: bool) -> tuple[Standard, Array]:
    """The array library of the state, and its matrices.

    NumPy converts counts of two words to integers, if values may be inspected.
    """
    state = ScoreLeaves(*leaves)
    own, (counts, carried) = as_arrays(bins=state.bins, carried=state.bins_carried)
    has_words = carried.shape[-1] > 0
    is_exact = has_words and own.can_look(counts) and (looks or own.host_view(counts) is not None)
    reading = Reading.of_bins([own.to_numpy(leaf) for leaf in leaves] if is_exact else leaves)
    cells = reading.matrices()
    if is_exact:
        return own, cells
    cells = reading.finish(cells)
    return own, cells if reading.is_integer else own.xp.astype(cells, counts.dtype)


class Histograms:
    """The histograms of a state, which are read once and used for all measures with bounds."""

    def __init__(self, leaves: Sequence[Array]) -> None:
        self._reading = Reading.of_areas(leaves)
        self._is_single = self._reading.own.widest_float(leaves[0]) == self._reading.own.xp.float32
        self._bins: dict[bool, list[bounds.BoundedBins]] = {}

    def area(self, name: str, average: Any, zero_division: float) -> Bounded:
        """The area ``"roc_auc"`` or ``"average_precision"``, with its limits."""
        function, length = _AREAS[name], self._reading.counts.shape[-2]

        def area(bins: bounds.BoundedBins, backend: Standard) -> tuple[list[Array], Array]:
            values, is_defined = function(bins, backend)
            return bounds.widened(values, length, backend), is_defined

        return self._bounded(area, average, zero_division)

    def at_k(self, name: str, k: Any, average: Any, zero_division: float) -> Bounded:
        """``"precision_at_k"``, ``"recall_at_k"`` or ``"lift_at_k"``, with its limits."""
        number = check_count(k, "k", most=None)
        if not self._reading.is_integer:
            raise TypeError(
                f"expected a state with integer counts, as k is a number of samples, got {self._reading.counts.dtype} "
                f"counts, which are sums of weights; make the state without dtype=, or call matrics.ranking.{name} "
                "with the weights of the samples"
            )
        function = functools.partial(bounds.at_k, name, float(number))
        return self._bounded(function, average, zero_division, highest=math.inf if name == "lift_at_k" else 1.0)

    def _bounded(
        self,
        function: Callable[[bounds.BoundedBins, Standard], tuple[list[Array], Array]],
        average: Any,
        zero_division: float,
        *,
        highest: float = 1.0,
    ) -> Bounded:
        """A measure of each histogram, with its limits, or the average over classes; ``highest`` is its maximum."""
        check_options(zero_division, "nan")
        zero_division = float(zero_division)
        reading = self._reading
        backend, is_valid, has_classes = reading.backend, reading.is_valid(), reading.has_classes
        xp = backend.xp
        number = int(reading.counts.shape[-3]) if has_classes else None
        average = check_average(average, num_classes=number)
        with backend.quiet():
            is_pooled = has_classes and average == "micro"
            parts = [function(bins, backend) for bins in self._bins_of(is_pooled=is_pooled)]
            measures = [
                self._concatenated(values, is_pooled=is_pooled)
                for values in zip(*(part for part, _ in parts), strict=True)
            ]
            is_defined = self._concatenated([part for _, part in parts], is_pooled=is_pooled)
            if not parts:  # a batch axis has length 0
                measures, is_defined = [is_defined] * 3, is_defined > 0
            if has_classes and average in ("macro", "weighted"):
                weights = self._total("all_positives") if average == "weighted" else None
                measures = bounds.average_of(measures, weights, zero_division, is_defined, backend, highest=highest)
            else:
                measures = [xp.where(is_defined, part, zero_division) for part in measures]
                if average == "binary":
                    measures = [part[..., 1] for part in measures]
                if is_valid is not None and has_classes and average == "class":
                    is_valid = is_valid[..., None]
            if is_valid is not None:
                measures = [xp.where(is_valid, part, math.nan) for part in measures]
        if backend is not reading.own and self._is_single:
            measures[1:] = bounds.outward(*measures[1:])
        return Bounded(*map(reading.finish, measures))

    def samples(self) -> Array:
        """The number of samples in each histogram, as floats; NaN if a count is NaN."""
        return self._reading.finish(self._total("all_positives") + self._total("all_negatives"))

    def _total(self, name: str) -> Array:
        """The number of positives or negatives in each histogram, (*B,) or (*B, n)."""
        is_pooled = False not in self._bins
        return self._concatenated(
            [getattr(bins, name)[..., 0] for bins in self._bins_of(is_pooled=is_pooled)], is_pooled=is_pooled
        )

    def _bins_of(self, *, is_pooled: bool) -> list[bounds.BoundedBins]:
        if is_pooled not in self._bins:
            self._bins[is_pooled] = (self._reading.pooled() if is_pooled else self._reading).bins()
        return self._bins[is_pooled]

    def _concatenated(self, parts: Sequence[Array], *, is_pooled: bool) -> Array:
        """The results of all groups of histograms in a single array."""
        if not self._reading.backend.looking_is_free:
            return parts[0]
        shape = self._reading.counts.shape[: -3 if is_pooled else -2]
        return (np.concatenate(parts) if parts else np.zeros(0)).reshape(shape)
