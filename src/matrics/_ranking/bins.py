"""The edges of bins, how a state stores them, and the bin of each score."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._counting.labels import label_dtype
from matrics._quoting import quoted

LARGEST_EDGE = 1e30

# An edge is an integer of 24 bits times a power of two. It is stored in two integers below 2**16, so that the leaves of
# 2**15 states can be added in 32 bits.
MANTISSA, LEAST_EXPONENT = 24, -126
# With more bins of equal width, the position of a float32 score might be off by half a bin.
MOST_EQUAL_BINS = 2**18


def make_edges(edges: Any, thresholds: Any) -> Array:
    """The edges and thresholds in ascending order, as float64, rounded down to 24 bits."""
    checked = np.zeros(0) if edges is None else _checked_edges(edges)
    if thresholds is None:
        return checked
    numbers = np.asarray(thresholds)
    if numbers.ndim > 1 or numbers.dtype.kind not in "iuf" or not (np.abs(numbers) <= LARGEST_EDGE).all():
        raise ValueError(f"thresholds: expected finite numbers, got {quoted(thresholds)}")
    return np.union1d(checked, rounded(numbers.reshape(-1)))


def _checked_edges(edges: Any) -> Array:
    values = np.asarray(edges)
    if values.ndim != 1 or values.size < 2 or values.dtype.kind not in "iuf":
        raise ValueError(f"edges: expected two or more increasing numbers, got {quoted(edges)}")
    values = values.astype(np.float64)
    if not (np.abs(values) <= LARGEST_EDGE).all():
        raise ValueError("edges: expected finite numbers; scores beyond the first and last edge have separate bins")
    checked = rounded(values)
    if not (np.diff(checked) > 0).all():
        index = int(np.argmin(np.diff(checked) > 0))
        raise ValueError(
            f"edges: expected numbers that increase, also in float32, got {values[index]} before {values[index + 1]} "
            f"at {index}"
        )
    return checked


def rounded(edges: Any) -> Array:
    """The largest numbers of 24 bits that are not above the edges.

    So a score such as 0.3, in float32 or float64, is at or above the edge 0.3.
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
    """The edges (K + 1,) from integers that were summed over a number of states with the same edges.

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
    """The bin of each score: the number of edges at or below it. Scores must not be NaN.

    Set ``are_equal`` if the edges are known to be equally spaced.
    """
    if backend.looking_is_free and (are_equal or (len(edges) > 2 and _are_equally_spaced(edges))):
        return _bins_by_multiplication(scores, edges)
    xp = backend.xp
    # A binary search without branches takes a tenth of the time of NumPy's, if the edges are in the cache.
    number = edges.shape[0]
    steps = [2**k for k in reversed(range(number.bit_length()))]
    beyond = xp.full((2 * steps[0] - 1 - number,), math.inf, dtype=edges.dtype, **backend.device_option(edges))
    padded = xp.concat([edges, beyond])
    dtype = label_dtype(edges, backend)
    # The first edge is the same for all scores. Looked up for each score, it would be a constant array whose size may
    # be a symbol; inductor fails on such arrays with a cycle in the order of operations.
    first, *others = steps
    position = first * xp.astype(scores >= padded[first - 1], dtype)
    for step in others:
        is_above = scores >= backend.look_up(padded, position + (step - 1))
        position = position + step * xp.astype(is_above, dtype)
    return backend.clamped(position, 0, number)  # an infinite score is beyond the padding as well


def _are_equally_spaced(edges: Array) -> bool:
    """Whether edges are so nearly equally spaced that a multiplication gives the nearest edge."""
    number = len(edges) - 1
    width = (edges[-1] - edges[0]) / number
    return bool(
        width > 0
        and number <= MOST_EQUAL_BINS
        and (np.abs(edges - (edges[0] + width * np.arange(number + 1))) < width / 8).all()
    )


def _bins_by_multiplication(scores: Array, edges: Array) -> Array:
    number = len(edges) - 1
    is_inside = scores.size and scores.min() >= edges[0] and scores.max() <= edges[-1]
    position = scores - edges[0] if is_inside else np.minimum(np.maximum(scores, edges[0]), edges[-1]) - edges[0]
    position *= number / (edges[-1] - edges[0])
    nearest = np.rint(position, out=position).astype(np.int64)
    nearest += scores >= edges.take(nearest)
    return nearest
