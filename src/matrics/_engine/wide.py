"""Numbers whose exponent has no bounds, for products of counts.

The product of two counts of 1e-30 is no float32, and neither is the square of 1e30; yet the quotient of two such
products may well be 1. Where formulas multiply counts they take them as ``t.wide(count)``: the array itself, if counts
are known to be moderate; an array of a wider dtype, where the library has one; and else a ``Wide``. The formula is the
same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matrics._arrays import Array, Standard

Operand = Any  # a Wide, or a Python number: PyTorch's compiler refuses an array


class Wide:
    """``digits * 2**exponent``, where the digits are near 1 and the exponent is an array of integer-valued floats.

    The exponent is no part of a gradient: it only moves digits to where floats can hold them.
    """

    __slots__ = ("backend", "digits", "exponent", "xp")

    def __init__(self, digits: Array, exponent: Array, backend: Standard) -> None:
        self.digits = digits
        self.exponent = exponent
        self.backend = backend
        self.xp = backend.xp

    @classmethod
    def of(cls, x: Array, total: Array, backend: Standard) -> Wide:
        """Not negative ``x`` unchanged; numbers below the normal ones are zeros.

        Zeros have an exponent as well, for the sake of their gradient: so low that next to other counts they are moved
        down, lest the powers of two on the gradient's way overflow, but not so low that these vanish.
        """
        xp = backend.xp
        low = -(backend.largest_exponent(x) // 2)
        of_zero = xp.minimum(backend.exponent(total), xp.full_like(total, low))
        exponent = xp.where(x == 0, of_zero, backend.exponent(x))
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
        """Division; a zero divisor is the caller's affair."""
        if isinstance(other, Wide):
            return self._made(self.digits / other.digits, self.exponent - other.exponent)
        return self._made(self.digits / other, self.exponent)

    def __add__(self, other: Wide) -> Wide:
        """Both at the larger exponent; zeros have none."""
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
        """The digits at an exponent that is not smaller, unless they are 0: then their gradient is what is moved."""
        return _shift(self.digits, self.exponent - exponent, self.backend)

    def sum(self, axis: int | tuple[int, ...], add: Callable[..., Array]) -> Wide:
        """Sum over axes, with the table's own way of adding up."""
        xp, zero = self.xp, self.digits == 0
        lowest = xp.where(zero, -1e9, self.exponent)
        largest = xp.max(lowest, axis=axis, keepdims=True)
        largest = xp.where(largest < -1e8, 0, largest)
        axes = axis if isinstance(axis, tuple) else (axis,)
        return self._made(add(self._at(largest), axis=axis), xp.squeeze(largest, axis=axes))

    # Functions ------------------------------------------------------------------------------------------------------

    def map_root(self, sqrt: Callable[[Array], Array]) -> Wide:
        """The square root, by the table's own root of the digits."""
        half = self.xp.floor(self.exponent / 2)
        return self._made(sqrt(_shift(self.digits, self.exponent - 2 * half, self.backend)), half)

    def where(self, condition: Array, other: Wide) -> Wide:
        """The number if the condition holds, the other one otherwise."""
        xp = self.xp
        return self._made(
            xp.where(condition, self.digits, other.digits), xp.where(condition, self.exponent, other.exponent)
        )

    @property
    def fits(self) -> Array:
        """Whether the plain number is a normal float."""
        limit = self.backend.largest_exponent(self.digits) - 10  # for the digits
        return (self.digits == 0) | (self.xp.abs(self.exponent) < limit)

    def array(self) -> Array:
        """The plain number; 0 or infinite where floats end."""
        return _shift(self.digits, self.exponent, self.backend)


def _shift(x: Array, exponent: Array, backend: Standard) -> Array:
    """``x * 2**exponent``, in two steps that floats can hold."""
    xp = backend.xp
    limit = backend.largest_exponent(x)
    half = xp.floor(exponent / 2)
    first, second = (xp.clip(part, -limit, limit) for part in (half, exponent - half))
    return x * backend.power_of_two(first) * backend.power_of_two(second)
