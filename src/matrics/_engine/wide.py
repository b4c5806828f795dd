"""Numbers with an unbounded exponent, for products of counts.

The product of two counts of 1e-30, or of 1e30, is out of the range of float32, although the quotient of two such
products may be 1. Formulas therefore multiply ``t.wide(count)``: the array itself, if counts are known to be moderate;
an array of a wider dtype, if the library has it; and otherwise a ``Wide``. The formula is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matrics._arrays import Array, Standard

Operand = Any  # a Wide, or a Python number: PyTorch's compiler does not support arrays here


class Wide:
    """The number ``digits * 2**exponent``, with digits near 1 and integer-valued floats as exponents.

    The exponent has no gradient: it only keeps the digits in the range of floats.
    """

    __slots__ = ("backend", "digits", "exponent", "xp")

    def __init__(self, digits: Array, exponent: Array, backend: Standard) -> None:
        self.digits = digits
        self.exponent = exponent
        self.backend = backend
        self.xp = backend.xp

    @classmethod
    def of(cls, x: Array, total: Array, backend: Standard) -> Wide:
        """The value of ``x``, which is not negative; subnormal numbers become 0.

        Zeros have an exponent as well, for their gradient. It is so low that zeros are shifted down to the exponent of
        other counts, as the powers of two in the gradient would otherwise overflow, but not so low that these powers
        vanish.
        """
        xp = backend.xp
        low = -(backend.largest_exponent(x) // 2)
        zero_exponent = xp.minimum(backend.exponent(total), xp.full_like(total, low))
        exponent = xp.where(x == 0, zero_exponent, backend.exponent(x))
        return cls(_shift(x, -exponent, backend), exponent, backend)

    def _made(self, digits: Array, exponent: Array) -> Wide:
        return Wide(digits, exponent, self.backend)

    # Arithmetic -----------------------------------------------------------------------------------------------------

    def __mul__(self, other: Operand) -> Wide:
        if isinstance(other, Wide):
            return self._made(self.digits * other.digits, self.exponent + other.exponent)
        return self._made(self.digits * other, self.exponent)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Wide:
        """The quotient; the caller handles zero divisors."""
        if isinstance(other, Wide):
            return self._made(self.digits / other.digits, self.exponent - other.exponent)
        return self._made(self.digits / other, self.exponent)

    def __add__(self, other: Wide) -> Wide:
        """The sum at the larger exponent; the exponent of zeros is ignored."""
        xp, mine, theirs = self.xp, self.exponent, other.exponent
        my_zero, their_zero = self.digits == 0, other.digits == 0
        take_mine = xp.where(my_zero == their_zero, mine > theirs, their_zero)
        larger = xp.where(take_mine, mine, theirs)
        return self._made(self._at(larger) + other._at(larger), larger)

    def __neg__(self) -> Wide:
        return self._made(0 - self.digits, self.exponent)

    def __sub__(self, other: Wide) -> Wide:
        return self + (-other)

    def _at(self, exponent: Array) -> Array:
        """The digits at an exponent that is not smaller; for digits of 0 only the gradient is shifted."""
        return _shift(self.digits, self.exponent - exponent, self.backend)

    def sum(self, axis: int | tuple[int, ...], add: Callable[..., Array]) -> Wide:
        """The sum over axes, by the sum function of the table."""
        xp, zero = self.xp, self.digits == 0
        lowest = xp.where(zero, -1e9, self.exponent)
        largest = xp.max(lowest, axis=axis, keepdims=True)
        largest = xp.where(largest < -1e8, 0, largest)
        axes = axis if isinstance(axis, tuple) else (axis,)
        return self._made(add(self._at(largest), axis=axis), xp.squeeze(largest, axis=axes))

    # Functions ------------------------------------------------------------------------------------------------------

    def map_root(self, sqrt: Callable[[Array], Array]) -> Wide:
        """The square root, by the root function of the table for the digits."""
        half = self.xp.floor(self.exponent / 2)
        return self._made(sqrt(_shift(self.digits, self.exponent - 2 * half, self.backend)), half)

    def where(self, condition: Array, other: Wide) -> Wide:
        """The number itself if the condition holds, otherwise the other number."""
        xp = self.xp
        return self._made(
            xp.where(condition, self.digits, other.digits), xp.where(condition, self.exponent, other.exponent)
        )

    @property
    def fits(self) -> Array:
        """Whether the number is in the range of normal floats."""
        limit = self.backend.largest_exponent(self.digits) - 10  # for the digits
        return (self.digits == 0) | (self.xp.abs(self.exponent) < limit)

    def array(self) -> Array:
        """The number as floats; 0 or infinite out of their range."""
        return _shift(self.digits, self.exponent, self.backend)


def _shift(x: Array, exponent: Array, backend: Standard) -> Array:
    """The product ``x * 2**exponent``, in two steps within the range of floats."""
    xp = backend.xp
    limit = backend.largest_exponent(x)
    half = xp.floor(exponent / 2)
    first, second = (xp.clip(part, -limit, limit) for part in (half, exponent - half))
    return x * backend.power_of_two(first) * backend.power_of_two(second)
