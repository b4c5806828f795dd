"""The edges of bins: their storage in a state, and the bin of each score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._counting.labels import label_dtype
from matrics._quoting import quoted

LARGEST_EDGE = 1e30

# An edge is an integer of 24 bits times a power of two, kept in two integers, each below 2**16 in size, so that 2**15
# states can be added up leaf by leaf in 32 bits.
MANTISSA, LEAST_EXPONENT = 24, -126
# In float32 the position of a score among more equal bins than these might be off by half a bin.
MOST_EQUAL_BINS = 2**18


def make_edges(edges: Any, thresholds: Any) -> Array:
    """The given edges and thresholds in float64, each rounded down to 24 bits; they increase."""
    made = np.zeros(0) if edges is None else _given(edges)
    if thresholds is None:
        return made
    numbers = np.asarray(thresholds)
    if numbers.ndim > 1 or numbers.dtype.kind not in "iuf" or not (np.abs(numbers) <= LARGEST_EDGE).all():
        raise ValueError(f"thresholds: expected finite numbers, got {quoted(thresholds)}")
    return np.union1d(made, rounded(numbers.reshape(-1)))


def _given(edges: Any) -> Array:
    given = np.asarray(edges)
    if given.ndim != 1 or given.size < 2 or given.dtype.kind not in "iuf":
        raise ValueError(f"edges: expected two or more increasing numbers, got {quoted(edges)}")
    given = given.astype(np.float64)
    if not (np.abs(given) <= LARGEST_EDGE).all():
        raise ValueError("edges: expected finite numbers; scores beyond the first and last edge have separate bins")
    made = rounded(given)
    if not (np.diff(made) > 0).all():
        at = int(np.argmin(np.diff(made) > 0))
        raise ValueError(
            f"edges: expected numbers that increase, also in float32, got {given[at]} before {given[at + 1]} at {at}"
        )
    return made


def rounded(edges: Any) -> Array:
    """The largest numbers of 24 bits that are not above the edges.

    A decimal number such as 0.3 is at or above the edge 0.3 then, whether it is a float32 or a float64.
    """
    pieces = encode(np.asarray(edges, dtype=np.float64))
    mantissa, exponent = pieces[:, 0] * 256 + (pieces[:, 1] >> 8), (pieces[:, 1] & 255) + LEAST_EXPONENT
    return np.ldexp(mantissa.astype(np.float64), exponent)


def encode(edges: Array) -> Array:
    """The two integers of each edge: the upper 16 bits of its mantissa; the lower 8, and the exponent."""
    share, power = np.frexp(edges)
    exponent = np.maximum(power - MANTISSA, LEAST_EXPONENT)
    mantissa = np.floor(np.ldexp(share, power - exponent)).astype(np.int64)
    return np.stack([mantissa >> 8, ((mantissa & 255) << 8) + (exponent - LEAST_EXPONENT)], axis=-1)


def decode(pieces: Array, states: Array, dtype: Any, backend: Standard) -> Array:
    """The edges (K + 1,) of a state whose integers are the sum over a number of states with the same edges.

    All elements of a batch have the same edges, so the first is used.
    """
    xp, length = backend.xp, pieces.shape[-2]
    if 0 in pieces.shape:
        return xp.zeros((length,), dtype=dtype, **backend.device_option(pieces))
    pieces = xp.reshape(pieces, (-1, length, 2))[0, ...] // xp.reshape(states, (-1,))[0]
    mantissa = pieces[:, 0] * 256 + (pieces[:, 1] >> 8)
    exponent = (pieces[:, 1] & 255) + LEAST_EXPONENT
    return xp.astype(mantissa, dtype) * backend.power_of_two(xp.astype(exponent, dtype))


def place(scores: Array, edges: Array, backend: Standard, *, are_equal: bool = False) -> Array:
    """The bin of each score, which is not NaN: how many edges are at or below it.

    The edges may be known to have equal distances, or nearly so.
    """
    if backend.looking_is_free and (are_equal or (len(edges) > 2 and _are_equal(edges))):
        return _nearest(scores, edges)
    xp = backend.xp
    # A binary search without branches: where the edges are in the cache it takes a tenth of NumPy's own.
    number = edges.shape[0]
    steps = [2**k for k in reversed(range(number.bit_length()))]
    beyond = xp.full((2 * steps[0] - 1 - number,), math.inf, dtype=edges.dtype, **backend.device_option(edges))
    padded = xp.concat([edges, beyond])
    dtype = label_dtype(edges, backend)
    # The first edge is the same for all scores. Looked up for each, it is a constant array of a size that may be a
    # symbol, and inductor orders the operations around such an array in a circle.
    first, *others = steps
    position = first * xp.astype(scores >= padded[first - 1], dtype)
    for step in others:
        is_above = scores >= backend.look_up(padded, position + (step - 1))
        position = position + step * xp.astype(is_above, dtype)
    return backend.clamped(position, 0, number)  # an infinite score is beyond the padding as well


def _are_equal(edges: Array) -> bool:
    """Whether NumPy's edges are so near to equal distances that the nearest is found by a multiplication."""
    number = len(edges) - 1
    width = (edges[-1] - edges[0]) / number
    return bool(
        width > 0
        and number <= MOST_EQUAL_BINS
        and (np.abs(edges - (edges[0] + width * np.arange(number + 1))) < width / 8).all()
    )


def _nearest(scores: Array, edges: Array) -> Array:
    number = len(edges) - 1
    is_inside = scores.size and scores.min() >= edges[0] and scores.max() <= edges[-1]
    place = scores - edges[0] if is_inside else np.minimum(np.maximum(scores, edges[0]), edges[-1]) - edges[0]
    place *= number / (edges[-1] - edges[0])
    nearest = np.rint(place, out=place).astype(np.int64)
    nearest += scores >= edges.take(nearest)
    return nearest
