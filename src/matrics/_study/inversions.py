"""Inversions of a permutation, counted level by level with operations on whole arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from matrics._arrays import Array

# Blocks of this many values are short enough to compare every pair of positions.
BLOCK_BITS = 4
# NumPy's stable sort of 16-bit integers is a radix sort; wider integers need several passes.
RADIX_BITS = 16


def inversions(permutation: Array) -> int:
    """The number of pairs of positions i < j of a permutation of 0 … N - 1 with the larger value at i: O(N log N).

    >>> inversions(np.asarray([2, 0, 1, 3]))
    2
    """
    values, bits = _padded(permutation)
    total = 0
    for bit in range(bits - 1, BLOCK_BITS - 1, -1):
        lower, upper = _split(values, bit)
        half, groups = 1 << bit, len(values) >> (bit + 1)
        # A lower value at position p of its group, after k lower values, has p - k larger values before it.
        starts = 2 * half * (groups * (groups - 1) // 2) * half
        total += int(lower.sum()) - starts - groups * (half * (half - 1) // 2)
        values = _partitioned(values, bit, lower, upper)
    columns = np.ascontiguousarray((values & values.dtype.type((1 << BLOCK_BITS) - 1)).reshape(-1, 1 << BLOCK_BITS).T)
    for apart in range(1, 1 << BLOCK_BITS):
        total += int(np.count_nonzero(columns[:-apart] > columns[apart:]))
    return total


def inversions_by_value(permutation: Array) -> Array:
    """The number of inversions that each value 0 … N - 1 of a permutation is part of: O(N log N).

    >>> inversions_by_value(np.asarray([2, 0, 1, 3]))
    array([1, 1, 2, 0])
    """
    values, bits = _padded(permutation)
    counts = np.zeros(len(values), np.int64)
    for bit in range(bits - 1, -1, -1):
        lower, upper = _split(values, bit)
        half = 1 << bit
        order = np.arange(half)
        starts = 2 * half * np.arange(len(values) >> (bit + 1))[:, None]
        upper_before = lower.reshape(-1, half) - starts - order
        lower_after = half - (upper.reshape(-1, half) - starts - order)
        counts = np.stack(
            [counts[lower].reshape(-1, half) + upper_before, counts[upper].reshape(-1, half) + lower_after], axis=1
        ).ravel()
        values = _partitioned(values, bit, lower, upper)
    return counts[: len(permutation)]


def _padded(permutation: Array) -> tuple[Array, int]:
    """The permutation, extended by larger values in order up to a power of two, and the exponent."""
    number = len(permutation)
    bits = max(BLOCK_BITS, (number - 1).bit_length()) if number else BLOCK_BITS
    dtype = np.uint32 if bits <= 32 else np.uint64
    return np.concatenate([permutation.astype(dtype), np.arange(number, 1 << bits, dtype=dtype)]), bits


def _split(values: Array, bit: int) -> tuple[Array, Array]:
    """The positions of the values without and with this bit, in order; values with equal higher bits are adjacent."""
    has_bit = (values & values.dtype.type(1 << bit)) != 0
    return np.flatnonzero(~has_bit), np.flatnonzero(has_bit)


def _partitioned(values: Array, bit: int, lower: Array, upper: Array) -> Array:
    """The values with the lower half of each group first; only their lower bits are needed from here on."""
    half = 1 << bit
    out = np.empty((len(values) // (2 * half), 2, half), _narrowest(bit, values.dtype))
    out[:, 0] = values.take(lower).reshape(-1, half)
    out[:, 1] = values.take(upper).reshape(-1, half)
    return out.ravel()


def _narrowest(bits: int, dtype: np.dtype) -> np.dtype:
    """The narrowest unsigned integers with at least this number of bits; assignment drops higher bits."""
    narrow = np.dtype(np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32)
    return narrow if narrow.itemsize < dtype.itemsize else dtype


def stable_order(keys: Array, number: int) -> Array:
    """The stable order of integers from 0 to ``number`` - 1, by radix sorts of 16 bits each.

    >>> stable_order(np.asarray([1, 0, 1, 0]), 2)
    array([1, 3, 0, 2])
    """
    order: Array | None = None
    for digit in _digits(keys, number):
        step = np.argsort(digit if order is None else digit.take(order), kind="stable")
        order = step if order is None else order.take(step)
    return np.arange(len(keys)) if order is None else order


def _digits(keys: Array, number: int) -> Iterator[Array]:
    """The 16-bit digits of the keys, the lowest first; none if all keys are 0."""
    for place in range(math.ceil(max(number - 1, 0).bit_length() / RADIX_BITS)):
        yield (keys >> (RADIX_BITS * place)).astype(np.uint16)
