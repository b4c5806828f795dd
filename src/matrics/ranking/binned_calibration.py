"""Calibration from histograms of scores: exact means and shares, in groups of neighbouring bins."""

from __future__ import annotations

import itertools
from typing import Any, get_args

from matrics.arrays import Array, Standard
from matrics.arrays.sizes import check_count
from matrics.quoting import quoted
from matrics.ranking.probability_bins import Of


def check_of(of: Any, *, has_classes: bool) -> str | None:
    """Select the histograms for calibration: None for class 1 of two."""
    if of is not None and of not in get_args(Of):
        raise ValueError(f"of: expected 'top_label' or 'class_wise', got {quoted(of)}")
    if of is not None and not has_classes:
        raise ValueError(f"of: expected None, as this state has the scores of class 1 of two, got {quoted(of)}")
    return "top_label" if of is None and has_classes else of


def group_starts(num_bins: Any, bins: int) -> list[int]:
    """The edges of the state, by number, where groups of its bins begin, and the last edge; raises for more groups."""
    number = check_count(num_bins, "num_bins")
    if number > bins:
        raise ValueError(f"num_bins: expected at most the {bins} bins of the state, got {number}")
    return [(2 * k * bins + number) // (2 * number) for k in range(number + 1)]


def grouped(x: Array, starts: list[int], xp: Any) -> Array:
    """Sums over groups of bins, along the last axis; samples beyond the edges count in the outer groups."""
    *batch, length = x.shape
    if length == 3:  # one bin, and the outer bins
        return xp.sum(x, axis=-1, keepdims=True)
    x = xp.concat([x[..., :1] + x[..., 1:2], x[..., 2:-2], x[..., -2:-1] + x[..., -1:]], axis=-1)
    number = len(starts) - 1
    if (length - 2) % number == 0:
        return xp.sum(xp.reshape(x, (*batch, number, (length - 2) // number)), axis=-1)
    return xp.stack([xp.sum(x[..., a:b], axis=-1) for a, b in itertools.pairwise(starts)], axis=-1)


def sums(
    counts: Array, offsets: Array, edges: Array, starts: list[int], backend: Standard
) -> tuple[Array, Array, Array]:
    """Number of samples, number of positives and sum of the scores, in each group of bins."""
    xp = backend.xp
    number = counts[..., 0] + counts[..., 1]
    anchors = xp.reshape(xp.concat([edges[:1], edges]), (1,) * (number.ndim - 1) + (-1,))
    scores = grouped(number * anchors, starts, xp) + grouped(offsets, starts, xp)
    return grouped(number, starts, xp), grouped(counts[..., 1], starts, xp), scores


def reliability(number: Array, positives: Array, scores: Array, backend: Standard) -> tuple[Array, Array]:
    """Mean score and share of positives of each group; NaN without samples."""
    xp = backend.xp
    samples = xp.where(number > 0, number, 1)
    return tuple(xp.where(number > 0, part / samples, xp.nan) for part in (scores, positives))


def calibration_error(number: Array, positives: Array, scores: Array, zero_division: float, backend: Standard) -> Array:
    """The mean distance of the mean score from the share of positives, by samples."""
    xp = backend.xp
    total = xp.sum(number, axis=-1)
    gaps = xp.sum(xp.abs(scores - positives), axis=-1)
    return xp.where(total > 0, gaps / xp.where(total > 0, total, 1), zero_division)
