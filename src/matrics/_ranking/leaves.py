"""The leaves of a ScoreState: their initial values, their contents, and their sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, Standard, as_arrays
from matrics._arrays.sizes import MOST_COUNT, check_count, check_state_size, is_whole, one_or_more
from matrics._quoting import quoted
from matrics._ranking.bins import decode, encode
from matrics._ranking.buckets import BYTES_OF_BUCKET, GRIDS, Grid, bits_of, check_bits
from matrics._ranking.probability_bins import MOST_BINS
from matrics._ranking.sample_sums import added_sums
from matrics._ranking.top_k import check_place
from matrics._states.leaves import CountLeaves, add, add_dropped, check_batch, zeros

# The values of k are added up over states, so they must be small.
MOST_PLACES = 2**16 - 1
# Samples, positives, and the distances of probabilities from the lower edge of their bin.
COLUMNS_OF_CALIBRATION = 3


class ScoreLeaves(NamedTuple):
    """The arrays of a ScoreState."""

    counts: Array
    carried: Array
    bins: Array
    bins_carried: Array
    rounded: Array
    dropped: Array
    edges: Array
    states: Array
    calibration: Array
    calibration_remainders: Array
    sums: Array
    remainders: Array
    top_k: Array


#: The arrays that a batch adds to.
ADDED = ("counts", "bins", "rounded", "dropped", "calibration", "sums")


class Contents(NamedTuple):
    """What a state counts, read from the shapes of its leaves."""

    batch: tuple[int, ...]
    num_classes: int | None
    grid: Grid | None  # the buckets, if the state has any
    num_edges: int
    num_bins: int  # of the calibration
    has_each: bool  # whether there is calibration of each class
    has_sums: bool

    @classmethod
    def of(cls, leaves: Any) -> Contents:
        """The contents of the leaves of a state."""
        batch_ndim = leaves.dropped.ndim
        counts, calibration = leaves.counts.shape, leaves.calibration.shape
        bits = bits_of(counts[-2])
        return cls(
            batch=tuple(counts[:batch_ndim]),
            num_classes=counts[batch_ndim] if len(counts) - batch_ndim == 3 else None,
            grid=None if bits is None else GRIDS[bits],
            num_edges=leaves.edges.shape[-2],
            num_bins=max(calibration[-2] - 2, 0),
            has_each=calibration[-3] > 1,
            has_sums=leaves.sums.shape[-1] > 0,
        )

    @property
    def rows(self) -> int:
        """The number of histograms in an element of the batch."""
        return self.num_classes or 1


def empty(
    edges: Array,
    num_classes: Any,
    batch_shape: Any,
    like: Any,
    dtype: Any,
    *,
    bits: Any,
    num_bins: Any,
    class_wise: Any,
    losses: Any,
    top_k: Any,
    allow_large: bool,
) -> list[Array]:
    """The leaves of an empty state."""
    batch = check_batch(batch_shape)
    n = None if num_classes is None else check_count(num_classes, "num_classes")
    if n == 1:
        raise ValueError("num_classes: expected None for the scores of class 1 of two, or at least 2, got 1")
    rows = () if n is None else (n,)
    bits = check_bits(bits, max(math.prod((*batch, *rows)), 1))
    bins = _check_num_bins(num_bins)
    if not isinstance(class_wise, bool):
        raise TypeError(f"class_wise: expected True or False, got {quoted(class_wise)}")
    if class_wise and n is None:
        raise ValueError("class_wise: expected False without num_classes=, as each sample has a single score")
    shape_of_calibration = (
        n + 1 if class_wise and n is not None else 1,
        bins + 2 if bins else 0,
        COLUMNS_OF_CALIBRATION,
    )
    places, columns = _check_losses(n, losses=losses, top_k=top_k)
    if not (bits or bins or columns or len(edges)):
        raise ValueError("expected a state that keeps something, got bits=0, num_bins=0, and no edges or losses")
    length, num_edges = GRIDS[bits].length if bits else 0, len(edges)
    sizes = {"bits": bits or None, "num_classes": num_classes, "batch_shape": batch or None}
    size = BYTES_OF_BUCKET * (length + num_edges + 1) * math.prod(rows) + 8 * (n or 2) * columns
    check_state_size(math.prod(batch) * (size + 8 * math.prod(shape_of_calibration)), sizes, allow_large=allow_large)
    options: Any = {"sizes": sizes, "allow_large": True}
    number = 2 * math.prod((*batch, *rows)) * (length + num_edges + 1)
    backend, (example,) = as_arrays(like=np.zeros(()) if like is None else like)
    if backend.widest_int(example) is None and number > MOST_COUNT:  # before memory is allocated
        raise ValueError(
            f"expected a state of at most {MOST_COUNT:,} counts, as there are no 64-bit integers, got {number:,}; "
            "fewer bits= make it smaller"
        )
    counts, dropped, carried = zeros(batch, (*rows, length, 2), like, dtype, **options)
    binned, _, bins_carried = zeros(batch, (*rows, num_edges + 1 if num_edges else 0, 2), like, dtype, **options)
    xp, place = backend.xp, backend.device_option(dropped)
    wide = backend.widest_float(dropped)
    has_remainders = wide == xp.float32

    def of_batch(values: np.ndarray) -> Array:
        if not values.size:  # an empty array has unusual strides after broadcasting
            return xp.zeros((*batch, *values.shape), dtype=dropped.dtype, **place)
        pieces = xp.asarray(values, dtype=dropped.dtype, **place)
        return backend.copied(xp.broadcast_to(pieces, (*batch, *pieces.shape)))

    def floats(*shape: int) -> Array:
        return xp.zeros((*batch, *shape), dtype=wide, **place)

    shape_of_sums = (n or 2, columns) if columns else (0, 0)
    leaves = [
        counts,
        carried,
        binned,
        bins_carried,
        xp.zeros_like(dropped),
        dropped,
        of_batch(encode(edges)),
        xp.ones_like(dropped),
        floats(*shape_of_calibration),
        floats(*(shape_of_calibration if has_remainders else (0, 0, 0))),
        floats(*shape_of_sums),
        floats(*(shape_of_sums if has_remainders else (0, 0))),
        of_batch(np.asarray(places, int)),
    ]
    return [backend.varying_as(leaf, dropped) for leaf in leaves]


def _check_num_bins(num_bins: Any) -> int:
    """The checked number of bins of the calibration, which may be 0."""
    return 0 if is_whole(num_bins) and num_bins == 0 else check_count(num_bins, "num_bins", most=MOST_BINS)


def _check_losses(n: int | None, *, losses: Any, top_k: Any) -> tuple[list[int], int]:
    """The checked values of k, and the number of columns of the sums."""
    if not isinstance(losses, bool):
        raise TypeError(f"losses: expected True or False, got {quoted(losses)}")
    places = [] if top_k is None else [check_count(k, "top_k", most=MOST_PLACES) for k in one_or_more(top_k)]
    if places and n is None:
        raise ValueError("top_k: expected None without num_classes=, as scores of class 1 of two have no order")
    places = [check_place(k, n, "top_k") for k in places] if n is not None else places
    return places, 1 + 2 * losses + len(places) if losses or places else 0


def has_shapes(shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether shapes without the batch axes belong to a state: they agree in classes, edges and columns."""
    counts, bins, edges, places = shapes["counts"], shapes["bins"], shapes["edges"], shapes["top_k"]
    calibration, sums = shapes["calibration"], shapes["sums"]
    if not (len(counts) == len(bins) in (2, 3) and counts[-1] == bins[-1] == 2 and counts[:-2] == bins[:-2]):
        return False
    grids = {0, *(grid.length for grid in GRIDS.values())}
    num_edges, columns = edges[0] if len(edges) == 2 else -1, sums[-1] if len(sums) == 2 else -1
    return (
        counts[-2] in grids
        and edges[-1:] == (2,)
        and bins[-2] == (num_edges + 1 if num_edges else 0)
        and len(calibration) == 3
        and calibration[-1] == COLUMNS_OF_CALIBRATION
        and len(places) == 1
        and columns in ((1 + places[0], 3 + places[0]) if columns else (0,) if not places[0] else ())
        and shapes["states"] == shapes["rounded"] == ()
    )


def edges_of(leaves: Any, backend: Standard) -> Array:
    """The edges, or the thresholds, in ascending order and in the widest float type."""
    return decode(leaves.edges, leaves.states, backend.widest_float(leaves.edges), backend)


def check_same(backend: Standard, state: Any, other: Any) -> None:
    """Raise an error unless two states have the same contents; constants are compared if they are on the host."""
    mine, its = Contents.of(state), Contents.of(other)
    if mine[:2] != its[:2]:
        raise ValueError(
            f"expected states of the same classes and batch, got num_classes {mine.num_classes} and {its.num_classes} "
            f"with the batches {mine.batch} and {its.batch}"
        )
    bits, others = (bits_of(x.counts.shape[-2]) or 0 for x in (state, other))
    if bits != others:
        raise ValueError(
            f"expected states whose buckets have the same resolution, got bits={bits} and bits={others}; "
            "make both with the same bits="
        )
    if mine.num_bins != its.num_bins or mine.has_each != its.has_each:
        raise ValueError(
            f"expected states with the same bins of calibration, got num_bins={mine.num_bins}, "
            f"class_wise={mine.has_each} and num_bins={its.num_bins}, class_wise={its.has_each}"
        )
    if not _are_same(backend, state, other, "edges"):
        raise ValueError("expected states with the same edges or thresholds, got others; compare their thresholds")
    if tuple(state.sums.shape) != tuple(other.sums.shape) or not _are_same(backend, state, other, "top_k"):
        raise ValueError("expected states that keep the same losses= and top_k=, got others")


def _are_same(backend: Standard, state: Any, other: Any, name: str) -> bool:
    """Whether two states have the same constants; also true if the values are not on the host."""
    mine, its = getattr(state, name), getattr(other, name)
    if tuple(mine.shape) != tuple(its.shape):
        return False
    views = [backend.host_view(x) for x in (mine, state.states, its, other.states)]
    if any(view is None for view in views):
        return True
    first, states, others, of_others = (np.asarray(view) for view in views)
    new_axes = (None,) * (first.ndim - states.ndim)
    return np.array_equal(first // states[(..., *new_axes)], others // of_others[(..., *new_axes)])


def merged(state: Any, other: Any, backend: Standard) -> dict[str, Array]:
    """The leaves of the sum of two states."""
    counts = add(state, other.counts, other.dropped, other.carried, backend)
    leaves = with_batch(state, other, backend) | counts._asdict()
    bins = _more_bins(state, other.bins, other.bins_carried, backend)
    remainders = {name: leaves[name] + getattr(other, name) for name in ("remainders", "calibration_remainders")}
    return leaves | {"bins": bins.counts, "bins_carried": bins.carried} | remainders


def with_batch(state: Any, more: Any, backend: Standard) -> dict[str, Array]:
    """All leaves except the counts, after adding those of a batch or of another state."""
    xp = backend.xp
    bins = _more_bins(state, more.bins, None, backend)
    calibration = added_sums(state.calibration, state.calibration_remainders, more.calibration, backend)
    sums = added_sums(state.sums, state.remainders, more.sums, backend)
    return {
        "bins": bins.counts,
        "bins_carried": bins.carried,
        "rounded": add_dropped(state.rounded, more.rounded, backend),
        "edges": state.edges // state.states[..., None, None],
        "states": xp.ones_like(state.states),
        "calibration": calibration[0],
        "calibration_remainders": calibration[1],
        "sums": sums[0],
        "remainders": sums[1],
        "top_k": state.top_k // state.states[..., None],
    }


def _more_bins(state: Any, bins: Array, carried: Array | None, backend: Standard) -> CountLeaves:
    own = CountLeaves(state.bins, state.dropped, state.bins_carried)
    return add(own, bins, backend.xp.zeros_like(state.dropped), carried, backend)
