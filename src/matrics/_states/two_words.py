"""Numbers in two words, for a library without 64-bit numbers (default JAX): integers, and sums in float32."""

from __future__ import annotations

from typing import Any

from matrics._arrays import Array, Standard

# In default JAX the low word is below 2**16 after each step, so that 2**15 states can be added up leaf by leaf before
# it would wrap; the high word is in units of 2**16.
WORD = 16
# Dropped samples are counted in a single word.
MOST_DROPPED = 2**30 - 1


class TwoWords:
    """Integers as ``low + high * 2**16`` with the low word in [0, 2**16): exact to 2**47 in 32-bit integers."""

    def __init__(self, low: Array, high: Array) -> None:
        self.high = high + (low >> WORD)  # rounds down, so that low may be negative
        self.low = low & (2**WORD - 1)

    def __add__(self, other: TwoWords) -> TwoWords:
        return TwoWords(self.low + other.low, self.high + other.high)

    def __sub__(self, other: TwoWords) -> TwoWords:
        return TwoWords(self.low - other.low, self.high - other.high)

    def __getitem__(self, key: Any) -> TwoWords:
        return TwoWords(self.low[key], self.high[key])

    def sum(self, axis: int, backend: Standard) -> TwoWords:
        """Sum over an axis of up to 2**23 entries; low words are summed by bytes, whose sums stay below 2**31."""
        xp = backend.xp
        first, second = (xp.sum(part, axis=axis) for part in (self.low & 255, self.low >> 8))
        return TwoWords(first + ((second & 255) << 8), xp.sum(self.high, axis=axis) + (second >> 8))

    def to_float(self, backend: Standard) -> Array:
        """The numbers, rounded to float32."""
        xp = backend.xp
        return xp.astype(self.high, xp.float32) * float(2**WORD) + xp.astype(self.low, xp.float32)


def carry(low: Array, high: Array, places: Array, backend: Standard) -> tuple[Array, Array]:
    """Rows of low and high words, with low words below 2**16 again where something was added to them."""
    words = TwoWords(backend.look_up(low, places), backend.look_up(high, places))
    return backend.set_at(low, places, words.low), backend.set_at(high, places, words.high)


def two_sum(total: Array, more: Array, backend: Standard) -> tuple[Array, Array]:
    """The sum of two arrays, and its rounding error (Knuth's two-sum); 0 where the sum is not finite."""
    xp = backend.xp
    with backend.quiet():
        added = total + more
        of_more = added - total
        lost = (total - (added - of_more)) + (more - of_more)
    return added, xp.where(xp.isfinite(added), lost, xp.zeros_like(lost))
