"""The results of a ScoreState, as functions of its leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matrics.arrays import Array, Standard, as_arrays
from matrics.engine.evaluation import check_options
from matrics.ranking import bounds
from matrics.ranking.averages import check_average
from matrics.ranking.binned_calibration import (
    calibration_error,
    check_of,
    group_starts,
    reliability,
    sums,
)
from matrics.ranking.bounds import Bounded
from matrics.ranking.calibration import Reliability
from matrics.ranking.reading import Reading


def thresholds(leaves: Sequence[Array]) -> Array:
    """+inf, the edges in descending order, and -inf."""
    reading = Reading.of(leaves)
    xp, edges = reading.backend.xp, reading.edges
    ends = xp.full((1,), math.inf, dtype=edges.dtype, **reading.backend.device_option(edges))
    return reading.finish(xp.concat([ends, xp.flip(edges), -ends]))


def matrices(leaves: Sequence[Array], *, looks: bool) -> tuple[Standard, Array]:
    """The library of the state, and its matrices; NumPy converts two-word counts, if values may be inspected."""
    own, (counts, carried) = as_arrays(counts=leaves[0], carried=leaves[3])
    has_words = carried.shape[-1] > 0
    is_exact = has_words and own.can_look(counts) and (looks or own.host_view(counts) is not None)
    reading = Reading.of([own.to_numpy(leaf) for leaf in leaves] if is_exact else leaves)
    made = reading.of_classes().matrices()
    if is_exact:
        return own, made
    made = reading.finish(made)
    return own, made if reading.is_integer else own.xp.astype(made, counts.dtype)


def area(leaves: Sequence[Array], function: Any, average: Any, zero_division: float) -> Bounded:
    """An area with its limits."""
    check_options(zero_division, "nan")
    average = check_average(average)
    zero_division = float(zero_division)
    reading = Reading.of(leaves)
    backend, is_valid, has_classes = reading.backend, reading.is_valid(), reading.has_classes
    xp, chosen = backend.xp, reading.of_classes()
    with backend.quiet():
        if has_classes and average == "micro":
            chosen = chosen.pooled()
        bins = chosen.bins()
        areas, is_defined = function(bins, backend)
        areas = bounds.widened(areas, leaves[0].shape[-2], backend)
        if has_classes and average in ("macro", "weighted"):
            weights = bins.all_positives[..., 0] if average == "weighted" else None
            areas = bounds.average_of(areas, weights, zero_division, is_defined, backend)
        else:
            areas = [xp.where(is_defined, part, zero_division) for part in areas]
            is_valid = is_valid[..., None] if is_valid is not None and has_classes and average == "class" else is_valid
        if is_valid is not None:
            areas = [xp.where(is_valid, part, math.nan) for part in areas]
    if backend is not reading.own and reading.own.widest_float(leaves[1]) == reading.own.xp.float32:
        areas[1:] = bounds.outward(*areas[1:])
    return Bounded(*map(reading.finish, areas))


def calibration(leaves: Sequence[Array], num_bins: int, of: Any) -> tuple[Reading, tuple[Array, Array, Array]]:
    """Samples, positives and sums of scores in groups of bins."""
    reading = Reading.of(leaves)
    chosen = check_of(of, has_classes=reading.has_classes)
    reading = reading.of_top_label() if chosen == "top_label" else reading.of_classes()
    starts = group_starts(num_bins, reading.edges.shape[0] - 1)
    return reading, sums(reading.floats(), reading.offsets, reading.edges, starts, reading.backend)


def reliability_curve(leaves: Sequence[Array], num_bins: int, of: Any) -> Reliability:
    """Mean score and share of positives in groups of bins."""
    reading, parts = calibration(leaves, num_bins, of)
    mean, share = reliability(*parts, reading.backend)
    backend = reading.backend
    edges = backend.xp.stack([reading.edges[k] for k in group_starts(num_bins, reading.edges.shape[0] - 1)])
    edges = backend.copied(backend.xp.broadcast_to(edges, (*mean.shape[:-1], num_bins + 1)))
    return Reliability(*map(reading.finish, (mean, share, parts[0], edges)))


def expected_calibration_error(leaves: Sequence[Array], num_bins: int, of: Any, zero_division: float) -> Array:
    """The mean distance of the two, by samples."""
    check_options(zero_division, "nan")
    reading, parts = calibration(leaves, num_bins, of)
    errors = calibration_error(*parts, float(zero_division), reading.backend)
    return reading.finish(reading.backend.xp.mean(errors, axis=-1) if of == "class_wise" else errors)
