"""The leaves of a ScoreState: their initial values, and their sums."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import Array, Standard, as_arrays
from matrics.arrays.sizes import check_count, check_state_size, one_or_more
from matrics.quoting import quoted
from matrics.ranking.bins import encode
from matrics.ranking.sample_sums import added_sums
from matrics.states.leaves import add, check_batch, zeros

# The running sum of so many low words is below 2**31.
MOST_BINS_IN_WORDS = 2**15 - 4
# A k is added up over states as well.
MOST_PLACES = 2**16 - 1


class ScoreLeaves(NamedTuple):
    """The arrays of a ScoreState."""

    counts: Array
    offsets: Array
    dropped: Array
    carried: Array
    edges: Array
    states: Array
    sums: Array
    remainders: Array
    top_k: Array


def empty(
    edges: Array | None,
    num_classes: Any,
    batch_shape: Any,
    like: Any,
    dtype: Any,
    *,
    losses: Any,
    top_k: Any,
    allow_large: bool,
) -> list[Array]:
    """The leaves of an empty state; without edges it has no histograms."""
    length, batch = 0 if edges is None else len(edges) + 1, check_batch(batch_shape)
    n = None if num_classes is None else check_count(num_classes, "num_classes")
    if n == 1:
        raise ValueError("num_classes: expected None for the scores of class 1 of two, or at least 2, got 1")
    rows = () if n is None else (n + 1,)
    places, columns = _kept(n, losses=losses, top_k=top_k)
    if edges is None and not columns:
        raise ValueError(
            "histogram_bins: expected an integer of at least 1, as without losses=True or top_k= nothing else is kept, "
            "got 0"
        )
    sizes = {"histogram_bins": max(length - 2, 0), "num_classes": num_classes, "batch_shape": batch or None}
    size = 3 * 8 * math.prod((*batch, *rows, length))  # two counts and an offset in each bin
    check_state_size(size + 8 * math.prod((*batch, n or 2, columns)), sizes, allow_large=allow_large)
    counts, dropped, carried = zeros(batch, (*rows, length, 2), like, dtype, sizes=sizes, allow_large=True)
    backend, (dropped,) = as_arrays(dropped=dropped)
    if backend.widest_int(dropped) is None and length > MOST_BINS_IN_WORDS:
        most = MOST_BINS_IN_WORDS - 2
        raise ValueError(f"expected at most {most} bins, as there are no 64-bit integers, got {length - 2}")
    xp, place = backend.xp, backend.device_option(dropped)
    wide = backend.widest_float(dropped)

    def of_batch(values: np.ndarray) -> Array:
        if not values.size:  # which has odd strides once it is broadcast
            return xp.zeros((*batch, *values.shape), dtype=dropped.dtype, **place)
        pieces = xp.asarray(values, dtype=dropped.dtype, **place)
        return backend.copied(xp.broadcast_to(pieces, (*batch, *pieces.shape)))

    shape = (*batch, n or 2, columns) if columns else (*batch, 0, 0)
    return [
        counts,
        xp.zeros((*batch, *rows, length), dtype=wide, **place),
        dropped,
        carried,
        of_batch(np.zeros((0, 2), int) if edges is None else encode(edges)),
        xp.ones_like(dropped),
        xp.zeros(shape, dtype=wide, **place),
        xp.zeros(shape if wide == xp.float32 else (*batch, 0, 0), dtype=wide, **place),
        of_batch(np.asarray(places, int)),
    ]


def _kept(n: int | None, *, losses: Any, top_k: Any) -> tuple[list[int], int]:
    """Each k, and the number of columns of the sums."""
    if not isinstance(losses, bool):
        raise TypeError(f"losses: expected True or False, got {quoted(losses)}")
    places = [] if top_k is None else [check_count(k, "top_k", most=MOST_PLACES) for k in one_or_more(top_k)]
    if places and n is None:
        raise ValueError("top_k: expected None without num_classes=, as scores of class 1 of two have no order")
    return places, 1 + 2 * losses + len(places) if losses or places else 0


def check_same_places(backend: Standard, state: Any, other: Any) -> None:
    """Raise unless two states keep the same losses and numbers of highest scores."""
    same = tuple(state.sums.shape) == tuple(other.sums.shape) and tuple(state.top_k.shape) == tuple(other.top_k.shape)
    views = [backend.host_view(x) for x in (state.top_k, state.states, other.top_k, other.states)]
    if same and all(view is not None for view in views):
        places, states, others, of_others = (np.asarray(view) for view in views)
        same = np.array_equal(places // states[..., None], others // of_others[..., None])
    if not same:
        raise ValueError("expected states that keep the same losses= and top_k=, got others")


def check_same_edges(views: list[Any]) -> None:
    """Raise unless two states have the same edges, given edges and states of each as NumPy's, or None."""
    if any(view is None for view in views):  # values are not at hand
        return
    edges, states, others, of_others = views
    if not np.array_equal(edges // states[..., None, None], others // of_others[..., None, None]):
        raise ValueError("expected states with the same edges, got others; see their thresholds")


def added(state: Any, more: Any, carried: Array | None, backend: Standard) -> list[Array]:
    """The leaves of the state with counts, offsets, dropped samples and sums added; it is one state again."""
    whole = add(state, more.counts, more.dropped, carried, backend)
    offsets = state.offsets + backend.xp.astype(more.offsets, state.offsets.dtype)
    edges, top_k = state.edges // state.states[..., None, None], state.top_k // state.states[..., None]
    sums, remainders = added_sums(state.sums, state.remainders, more.sums, backend)
    ones = backend.xp.ones_like(state.states)
    return [whole.counts, offsets, whole.dropped, whole.carried, edges, ones, sums, remainders, top_k]
