"""The leaves of a ScoreState: their initial values, and their sums."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import Array, Standard, as_arrays
from matrics.arrays.sizes import check_count, check_state_size
from matrics.ranking.bins import encode
from matrics.states.leaves import add, check_batch, zeros

# The running sum of so many low words is below 2**31.
MOST_BINS_IN_WORDS = 2**15 - 4


class ScoreLeaves(NamedTuple):
    """The arrays of a ScoreState."""

    counts: Array
    offsets: Array
    dropped: Array
    carried: Array
    edges: Array
    states: Array


def empty(edges: Array, num_classes: Any, batch_shape: Any, like: Any, dtype: Any, *, allow_large: bool) -> list[Array]:
    """The leaves of an empty state."""
    length, batch = len(edges) + 1, check_batch(batch_shape)
    rows = () if num_classes is None else (check_count(num_classes, "num_classes") + 1,)
    if rows == (2,):
        raise ValueError("num_classes: expected None for the scores of class 1 of two, or at least 2, got 1")
    sizes = {"histogram_bins": length - 2, "num_classes": num_classes, "batch_shape": batch or None}
    size = 3 * 8 * math.prod((*batch, *rows, length))  # two counts and an offset in each bin
    check_state_size(size, sizes, allow_large=allow_large)
    counts, dropped, carried = zeros(batch, (*rows, length, 2), like, dtype, sizes=sizes, allow_large=True)
    backend, (dropped,) = as_arrays(dropped=dropped)
    if backend.widest_int(dropped) is None and length > MOST_BINS_IN_WORDS:
        most = MOST_BINS_IN_WORDS - 2
        raise ValueError(f"expected at most {most} bins, as there are no 64-bit integers, got {length - 2}")
    xp, place = backend.xp, backend.device_option(dropped)
    pieces = xp.asarray(encode(edges), dtype=dropped.dtype, **place)
    return [
        counts,
        xp.zeros((*batch, *rows, length), dtype=backend.widest_float(dropped), **place),
        dropped,
        carried,
        backend.copied(xp.broadcast_to(pieces, (*batch, *pieces.shape))),
        xp.ones_like(dropped),
    ]


def check_same_edges(views: list[Any]) -> None:
    """Raise unless two states have the same edges, given edges and states of each as NumPy's, or None."""
    if any(view is None for view in views):  # values are not at hand
        return
    edges, states, others, of_others = views
    if not np.array_equal(edges // states[..., None, None], others // of_others[..., None, None]):
        raise ValueError("expected states with the same edges, got others; see their thresholds")


def added(state: Any, parts: tuple[Array, Array, Array], carried: Array | None, backend: Standard) -> list[Array]:
    """The leaves of the state with counts, offsets and dropped samples added; its edges become those of one state."""
    counts, offsets, dropped = parts
    whole = add(state, counts, dropped, carried, backend)
    offsets = state.offsets + backend.xp.astype(offsets, state.offsets.dtype)
    edges = state.edges // state.states[..., None, None]
    return [whole.counts, offsets, whole.dropped, whole.carried, edges, backend.xp.ones_like(state.states)]
