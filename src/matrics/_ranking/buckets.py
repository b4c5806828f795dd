"""Buckets of scores: the leading bits of a floating-point number, in the order of the numbers.

A bucket holds the scores that agree in their sign, their exponent and the first bits of their mantissa, so its width
is proportional to the score: no range has to be known, and the resolution is the same for scores of any size. From 1/2
to 1 the bits are those of ``1 - score``, so that probabilities near 1 have the same resolution as those near 0. The
scores 0, 1, -inf and inf each have a bucket of their own.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._arrays.sizes import is_whole
from matrics._counting.labels import label_dtype
from matrics._quoting import quoted

FEWEST_BITS, MOST_BITS = 4, 20
#: Default bits for scores of class 1, and for scores of classes; with 10 bits or more, float16 and bfloat16 are exact.
BITS_OF_TWO, BITS_OF_CLASSES = 15, 10
# With more bits than these, scores outside the usual range keep 12 bits, and scores above 2**16 keep 10.
BITS_OF_UNUSUAL, BITS_OF_LARGE = 12, 10
#: By default the counts of all classes take at most this many bytes, unless the fewest bits need more.
BUDGET = 2**26
BYTES_OF_BUCKET = 16  # two counts

_MANTISSA = 23  # bits of the mantissa of a float32


def _bits_of(number: float) -> int:
    """The bits of a float32, as an integer."""
    return int(np.asarray(number, np.float32).view(np.int32))


_SIGNLESS = 2**31 - 1
_HALF, _UNIT, _INFINITE = map(_bits_of, (0.5, 1.0, np.inf))
# Buckets are coarser below the first number and above the second. Between them are the normal numbers of float16.
_FINE, _LARGE, _HUGE = _bits_of(2.0**-16), _bits_of(2.0**16), _bits_of(2.0**32)
# The usual size of logits.
_USUAL = _bits_of(2.0**-4), _bits_of(2.0**7)
# The least distance of two float64 numbers just below 1.
_LEAST_DISTANCE = _bits_of(2.0**-53)


class Grid(NamedTuple):
    """Buckets of a resolution; magnitudes are numbered from 0, and buckets from the bucket of -inf.

    ``zones`` are ranges of the bits of a magnitude, each with the number of last bits that are ignored.
    """

    zones: tuple[tuple[int, int, int], ...]
    usual: tuple[int, int, int]  # the zone of most scores
    bucket_of_zero: int  # the bucket of 0
    bucket_of_one: int  # the bucket of 1
    magnitudes_lost: int  # the number of magnitudes that are too small for ``1 - score``
    offset_above: int  # is added to the number of a magnitude above 1
    length: int

    def magnitude(self, bits: int) -> int:
        """The number of a magnitude."""
        return sum((min(max(bits, low), high) - low) >> shift for low, high, shift in self.zones) + (bits > 0)

    @property
    def points(self) -> tuple[int, int, int, int]:
        """The buckets that hold a single number each: -inf, 0, 1 and inf."""
        return 0, self.bucket_of_zero, self.bucket_of_one, self.length - 1


def _grid_of(bits: int) -> Grid:
    """The buckets of scores that agree in the first bits of the mantissa."""
    bits_of_extremes = 7 if bits >= BITS_OF_CLASSES else max(bits - 4, 1)
    is_fine = bits > BITS_OF_UNUSUAL
    usual = _USUAL if is_fine else (_FINE, _LARGE)
    ranges = (
        (0, _FINE, bits_of_extremes),
        (_FINE, usual[0], BITS_OF_UNUSUAL),
        (*usual, bits),
        (usual[1], _LARGE, BITS_OF_UNUSUAL),
        (_LARGE, _HUGE, BITS_OF_LARGE if is_fine else bits_of_extremes),
        (_HUGE, _INFINITE, bits_of_extremes if is_fine else min(bits_of_extremes, 4)),
    )
    zones = tuple((low, high, _MANTISSA - kept) for low, high, kept in ranges if low < high)
    plain = Grid(zones, (*usual, _MANTISSA - bits), 0, 0, 0, 0, 0)
    bucket_of_zero, half = plain.magnitude(_INFINITE), plain.magnitude(_HALF)
    magnitudes_lost = plain.magnitude(_LEAST_DISTANCE) - 1
    bucket_of_one = bucket_of_zero + 2 * half - magnitudes_lost
    offset_above = bucket_of_one + 1 - plain.magnitude(_UNIT)
    return Grid(
        zones,
        plain.usual,
        bucket_of_zero,
        bucket_of_one,
        magnitudes_lost,
        offset_above,
        offset_above + bucket_of_zero + 1,
    )


# Grids by number of bits, and bits by number of buckets. (The compiler of PyTorch warns of functools.lru_cache.)
GRIDS = {bits: _grid_of(bits) for bits in range(FEWEST_BITS, MOST_BITS + 1)}
_BITS = {grid.length: bits for bits, grid in GRIDS.items()}


def default_bits(rows: int) -> int:
    """The default number of bits for a number of histograms: the most that the budget allows, within limits.

    >>> [default_bits(rows) for rows in (1, 2, 10, 100, 1000, 10_000)]
    [15, 10, 10, 8, 5, 4]
    """
    if rows == 1:
        return BITS_OF_TWO
    fitting = (
        bits
        for bits in range(BITS_OF_CLASSES, FEWEST_BITS, -1)
        if rows * GRIDS[bits].length * BYTES_OF_BUCKET <= BUDGET
    )
    return next(fitting, FEWEST_BITS)


def check_bits(bits: Any, rows: int) -> int:
    """The checked number of bits; None becomes the default for the number of histograms, and 0 means no buckets."""
    if bits is None:
        return default_bits(rows)
    if not is_whole(bits) or not (bits == 0 or FEWEST_BITS <= bits <= MOST_BITS):
        raise ValueError(
            f"bits: expected an integer from {FEWEST_BITS} to {MOST_BITS}, or 0 for no areas, got {quoted(bits)}"
        )
    return int(bits)


def check_bits_or_edges(bits: Any, edges: Any) -> None:
    """Raise an error unless areas can be computed with these options of a metric."""
    if edges is not None and bits is not None:
        raise ValueError("bits: expected None with edges=, which replace the buckets, got both; leave out either")
    if is_whole(bits) and bits == 0:
        raise ValueError(f"bits: expected an integer from {FEWEST_BITS} to {MOST_BITS} for areas, got 0")


def bits_of(length: int) -> int | None:
    """The number of bits of histograms of this length, or None."""
    return _BITS.get(length)


def bucket(scores: Array, grid: Grid, backend: Standard) -> tuple[Array, Array]:
    """The bucket of each score, and an integer that is 0 if the score is the first number of its bucket.

    Scores must not be NaN.
    """
    if backend.looking_is_free:
        return _bucket_on_host(scores, grid)
    xp = backend.xp
    is_above = scores > 1
    is_folded = (scores >= 0.5) & ~is_above
    signed, is_rounded = _single(xp.where(is_folded, 1 - scores, scores), backend)
    number, rest = _number(signed & _SIGNLESS, grid, backend)
    rest = rest if is_rounded is None else rest | is_rounded
    folded_number = backend.clamped(number - grid.magnitudes_lost, 0, None)
    buckets = xp.where(
        is_folded,
        grid.bucket_of_one - folded_number,
        xp.where(signed < 0, grid.bucket_of_zero - number, grid.bucket_of_zero + number),
    )
    buckets = xp.where(is_above, grid.offset_above + number, buckets)
    return xp.astype(buckets, label_dtype(scores, backend)), rest


def _single(scores: Array, backend: Standard) -> tuple[Array, Array | None]:
    """The bits of the scores as float32, and which scores were rounded; None for scores in float32."""
    xp = backend.xp
    if scores.dtype == xp.float32:
        return backend.bits(scores), None
    single = xp.astype(scores, xp.float32)
    bits = backend.bits(single)
    is_rounded = xp.astype(single, scores.dtype) != scores
    # Rounding must not turn a number into 0 or infinity, as these have buckets of their own.
    is_lost, is_beyond = is_rounded & (single == 0), is_rounded & xp.isinf(single)
    return (bits | xp.astype(is_lost, bits.dtype)) - xp.astype(is_beyond, bits.dtype), xp.astype(is_rounded, bits.dtype)


def _number(size: Array, grid: Grid, backend: Standard) -> tuple[Array, Array]:
    """The number of each magnitude, and its ignored bits."""
    xp = backend.xp
    number, rest = xp.astype(size > 0, size.dtype), xp.zeros_like(size)
    for low, high, shift in grid.zones:
        inside = backend.clamped(size, low, high) - low
        number, rest = number + (inside >> shift), rest | (inside & (2**shift - 1))
    return number, rest


def _bucket_on_host(scores: Array, grid: Grid) -> tuple[Array, Array]:
    """The same as :func:`bucket`, for NumPy arrays, in a quarter of the time.

    It works in place, and treats scores outside the usual range separately.
    """
    low, high, shift = grid.usual
    is_above = scores > 1
    is_folded = scores >= 0.5
    is_folded ^= is_above
    # 1 - score where scores are folded, and -score elsewhere: the sign is removed below.
    size, is_rounded = _single(np.subtract(is_folded, scores), NUMPY)
    size = size & _SIGNLESS
    number = size - low
    is_outside = number.view(np.uint32) >= high - low
    rest = number & (2**shift - 1)
    number >>= shift
    number += grid.magnitude(low)
    if is_outside.any():
        unusual = size[is_outside]
        octaves = unusual >> _MANTISSA
        starts, shifts = (table.take(octaves) for table in _octaves(grid))
        digits = unusual & (2**_MANTISSA - 1)
        number[is_outside] = starts + (digits >> shifts) - (unusual == 0)
        rest[is_outside] = digits & ((1 << shifts) - 1)
    if is_rounded is not None:
        rest |= is_rounded
    folded = is_folded.astype(np.int32)
    number -= folded * grid.magnitudes_lost
    np.maximum(number, 0, out=number)
    signs = -(is_folded | (scores < 0)).astype(np.int32)
    number ^= signs
    number -= signs
    folded *= grid.bucket_of_one - grid.bucket_of_zero
    number += folded
    if is_above.any():
        number += is_above.astype(np.int32) * (grid.offset_above - grid.bucket_of_zero)
    number += grid.bucket_of_zero
    return number.astype(np.int64), rest


@functools.lru_cache(maxsize=32)
def _octaves(grid: Grid) -> tuple[Array, Array]:
    """The number of the first magnitude of each exponent, and the number of its last bits that are ignored."""
    firsts = [octave << _MANTISSA for octave in range(256)]
    shifts = [next((shift for low, high, shift in grid.zones if low <= bits < high), _MANTISSA) for bits in firsts]
    starts = [1, *(grid.magnitude(bits) for bits in firsts[1:])]
    return np.asarray(starts, np.int32), np.asarray(shifts, np.int32)
