"""The edges of bins: their storage in a state, and the bin of each score."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from matrics.arrays import Array, Standard
from matrics.arrays.sizes import check_count
from matrics.counting.labels import label_dtype
from matrics.quoting import quoted

Spacing = Literal["equal", "logit"]

# Logits beyond these are rare, and the probability of 20 differs from 1 by two billionths.
LARGEST_LOGIT = 20
LARGEST_EDGE = 1e30

# An edge is an integer of 24 bits times a power of two, kept in two integers, each below 2**16 in size, so that 2**15
# states can be added up leaf by leaf in 32 bits.
MANTISSA, LEAST_EXPONENT = 24, -126
# Of more bins of equal width some are too narrow for float32, whatever the first and the last edge.
MOST_BINS = 2**25
# In float32 the position of a score among more equal bins than these might be off by half a bin.
MOST_EQUAL_BINS = 2**18


def check_spacing(spacing: Spacing | None) -> Spacing | None:
    """Which it is; raises unless it is one."""
    if spacing not in (None, *get_args(Spacing)):
        raise ValueError(f"spacing: expected None, 'equal' or 'logit', got {quoted(spacing)}")
    return spacing


def make_edges(histogram_bins: int, low: float, high: float, edges: Any, spacing: Spacing | None) -> Array:
    """The edges (K + 1,) in float64, each rounded down to 24 bits; they never decrease."""
    if edges is not None:
        return _given(edges, histogram_bins, low, high, spacing)
    histogram_bins = check_count(histogram_bins, "histogram_bins", most=MOST_BINS)
    check_spacing(spacing)
    for name, value in (("low", low), ("high", high)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not abs(value) <= LARGEST_EDGE:
            raise ValueError(f"{name}: expected a finite number, got {quoted(value)}")
    if spacing == "logit":
        if (low, high) != (0, 1):
            raise ValueError(f"spacing='logit': expected low=0 and high=1, as of probabilities, got {low} and {high}")
        logits = np.linspace(-LARGEST_LOGIT, LARGEST_LOGIT, max(histogram_bins - 1, 0))
        return rounded([0, *(1 / (1 + np.exp(-logits))), 1])
    if not low < high:
        raise ValueError(f"low, high: expected low < high, got {low} and {high}")
    made = rounded(low + np.arange(histogram_bins + 1) * (float(high) - float(low)) / histogram_bins)
    if not (np.diff(made) > 0).all():
        raise ValueError(
            f"histogram_bins: expected fewer: {histogram_bins} bins from {low} to {high} are too narrow for float32"
        )
    return made


def _given(edges: Any, histogram_bins: int, low: float, high: float, spacing: Spacing | None) -> Array:
    if spacing is not None or (low, high) != (0, 1) or histogram_bins != 1000:
        raise ValueError("edges: expected only edges=, or histogram_bins=, low=, high= and spacing=, got both")
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


def place(scores: Array, edges: Array, backend: Standard) -> Array:
    """The bin of each score, which is not NaN: how many edges are at or below it."""
    if backend.looking_is_free and _are_equal(edges):
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
    place = np.clip(scores, edges[0], edges[-1])
    place -= edges[0]
    place *= number / (edges[-1] - edges[0])
    nearest = np.rint(place, out=place).astype(np.int64)
    return nearest + (scores >= np.take(edges, nearest))
