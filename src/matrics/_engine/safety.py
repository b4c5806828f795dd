"""The seam where 0/0 and 0 ln 0 are made safe, in value and in gradient."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence

from matrics._arrays import Array, Standard
from matrics._engine.wide import Wide


def add(terms: Sequence[Array]) -> Array:
    """The sum of arrays, at least one."""
    return functools.reduce(operator.add, terms)


class Safe:
    """Arithmetic with a value for undefined quotients, used by a table and its formulas.

    Values are not inspected: each unsafe operation gets harmless operands where its result is discarded, so that its
    gradient is finite there as well.

    Parameters
    ----------
    backend
        The library of the arrays.
    zero_division
        What an undefined (0/0) measure is worth.
    """

    looks = False
    """Whether formulas may inspect values, to skip unneeded operations: on the host, where this is cheap."""

    def __init__(self, backend: Standard, zero_division: float = math.nan) -> None:
        self.backend = backend
        self.xp = backend.xp
        self.zero_division = zero_division

    def nowhere(self, condition: Array) -> bool:  # noqa: ARG002
        """Whether somebody has looked and seen that the condition holds nowhere."""
        return False

    def sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        """Sum over some axes."""
        return x.sum(axis, self._sum) if isinstance(x, Wide) else self._sum(x, axis)

    def _sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        return self.xp.sum(x, axis=axis)

    def divide(self, a: Array, b: Array) -> Array:
        """``a / b``; ``zero_division`` where b is 0."""
        if isinstance(b, Wide):
            return self._divide_wide(a, b, self.zero_division)
        empty = self.is_zero(b)  # as in ratio
        return self.xp.where(empty, self.zero_division, self.backend.divide(a, self.xp.where(empty, 1, b)))

    def _divide_wide(self, a: Wide, b: Wide, of_nothing: float) -> Array:
        """``a / b`` as a plain array; something else where b is 0."""
        xp, empty = self.xp, self.is_zero(b)
        quotient = a / self.nonzero(b)
        # The exponent is replaced as well, because a gradient would pass through its infinite power.
        quotient = Wide(quotient.digits, xp.where(empty, 0, quotient.exponent), self.backend)
        return xp.where(empty, of_nothing, quotient.array())

    def quotient(self, a: Array, b: Array) -> Array:
        """``a / b`` for measures without a bound: infinite where only b is 0, ``zero_division`` where both are."""
        xp, sign = self.xp, a.digits if isinstance(a, Wide) else a
        unbounded = xp.where(sign > 0, math.inf, xp.where(sign < 0, -math.inf, self.zero_division * xp.ones_like(sign)))
        return xp.where(self.is_zero(b), unbounded, self.ratio(a, b))

    def nonzero(self, x: Array) -> Array:
        """``x``, and 1 where it is 0: for a divisor or a logarithm whose result is replaced there."""
        if isinstance(x, Wide):
            zero = x.digits == 0
            return Wide(self.xp.where(zero, 1, x.digits), self.xp.where(zero, 0, x.exponent), self.backend)
        return self.xp.where(self.is_zero(x), 1, x)

    def divide_root(self, a: Array, b: Array) -> Array:
        """``√(a / b)`` for a up to b; ``zero_division`` where b is not above 0."""
        above = b > 0
        return self.define(self.within(self.sqrt(self.ratio(a, self.xp.where(above, b, 0))), 0, 1), above)

    def ratio(self, a: Array, b: Array) -> Array:
        """``a / b``; 0 where b is 0. For the parts of a formula whose whole ``define`` then judges."""
        if isinstance(b, Wide):
            return self._divide_wide(a, b, 0)
        # Both wheres are needed: a gradient through 0/0 is NaN even where its value is then replaced.
        empty = self.is_zero(b)
        return self.xp.where(empty, 0, self.backend.divide(a, self.xp.where(empty, 1, b)))

    def rate(self, a: Array, b: Array, positive: Array) -> Array:  # noqa: ARG002
        """``a / b`` as in ``ratio``, where ``is_positive`` has found whether b is positive."""
        return self.ratio(a, b)

    def is_positive(self, x: Array) -> Array:
        """Where x, which is not negative, is above 0, for a condition of ``define``.

        It has the shape of x, or none where somebody has looked and seen that it is so everywhere.
        """
        return ~self.is_zero(x)

    def is_zero(self, x: Array) -> Array:
        """Where x is 0. Off the host, where gradients are, so are subnormal numbers: their reciprocal is infinite."""
        if isinstance(x, Wide):
            return x.digits == 0
        return self.xp.abs(x) < float(self.xp.finfo(x.dtype).smallest_normal)

    def define(self, value: Array, condition: Array) -> Array:
        """``value`` where the condition holds; elsewhere the measure is undefined: ``zero_division``."""
        return self.xp.where(condition, value, self.zero_division)

    def sqrt(self, x: Array) -> Array:
        """Square root whose gradient at 0 is 0 instead of infinite."""
        if isinstance(x, Wide):
            return x.map_root(self.sqrt)
        zero = self.is_zero(x)
        return self.xp.where(zero, 0, self.xp.sqrt(self.xp.where(zero, 1, x)))

    def within(self, x: Array, low: float, high: float) -> Array:  # noqa: ARG002
        """Return x, which may leave [low, high] only by rounding: on the host it is clipped.

        Elsewhere it may, by a bit: to cut it would take the gradient away where rounding falls that way.
        """
        return x

    def geometric_mean(self, x: Array, y: Array) -> Array:
        """√(x y) of two arrays that are not negative; exactly x where both are equal.

        Not the root of the product, which leaves the range of float32, nor the product of roots alone, which may miss
        by a bit where the two are equal: their mean is exact there, and has the same gradient.
        """
        xp = self.xp
        return xp.where(x == y, (x + y) / 2, self.sqrt(x) * self.sqrt(y))

    def clip(self, x: Array, low: float, high: float) -> Array:
        """Return x, cut at low and at high; with gradient 0 beyond."""
        return self.xp.where(x < low, low, self.xp.where(x > high, high, x))

    def not_negative(self, x: Array) -> Array:
        """Return x, or 0 where it is below; with gradient 0 there."""
        return self.xp.where(x > 0, x, 0)

    def sign(self, x: Array) -> Array:
        """Return 1, or -1 where x is below 0; by arithmetic, as ``where`` is slow where nobody can guess the branch."""
        return 1 - 2 * self.xp.astype(x < 0, x.dtype)

    def abs(self, x: Array) -> Array:
        """Size of x, whose gradient at 0 is 0 everywhere (of JAX's own it is 1)."""
        if isinstance(x, Wide):
            return Wide(self.abs(x.digits), x.exponent, self.backend)
        return self.xp.maximum(x, 0 - x)  # of 0 without a sign

    def smaller(self, x: Array, y: Array) -> Array:
        """The smaller of two."""
        if isinstance(x, Wide):
            return self._chosen(x, y, (x - y).digits < 0)
        return self.xp.minimum(x, y)

    def larger(self, x: Array, y: Array) -> Array:
        """The larger of two."""
        if isinstance(x, Wide):
            return self._chosen(x, y, (y - x).digits < 0)
        return self.xp.maximum(x, y)

    def _chosen(self, x: Wide, y: Wide, first: Array) -> Wide:
        """The first or the second; for equal values half of each, as in the gradient of a library's minimum."""
        return x.where(first, y).where((x - y).digits != 0, (x + y) * 0.5)

    def hypot(self, x: Array, y: Array) -> Array:
        """√(x² + y²) of two arrays that are not negative, whose squares might vanish; its gradient at 0 is 0."""
        larger, smaller = self.xp.maximum(x, y), self.xp.minimum(x, y)
        share = self.ratio(smaller, larger)
        return larger * self.xp.sqrt(1 + share * share)

    def x_log_x(self, x: Array) -> Array:
        """Return x ln x; 0 where x is 0, with gradient 0."""
        return x * self.log(x)

    def log(self, x: Array) -> Array:
        """Return ln x; 0 where x is 0."""
        if isinstance(x, Wide):
            xp, inside = self.xp, x.fits
            plain = self.log(xp.where(inside, x.array(), 1))
            return xp.where(inside, plain, self.log(self.nonzero(x).digits) + x.exponent * math.log(2))
        return self.xp.log(self.xp.where(self.is_zero(x), 1, x))

    def log1p(self, x: Array) -> Array:
        """Return ln(1 + x)."""
        if not isinstance(x, Wide):
            return self.xp.log1p(x)
        xp = self.xp
        plain = xp.log1p(xp.where(x.fits, x.array(), 0))
        beyond = xp.where(x.exponent > 0, self.log(x), 0)
        # A number too small for floats is its own ln (1 + x), and of one too large 1 is no part.
        # Zeros, too, for the sake of their gradient.
        changed = (x.digits != 0) & (x.fits | (x.exponent > 0))
        value = xp.where(x.fits, plain, beyond)
        return Wide.of(value, value, self.backend).where(changed, x)

    def log_quotient(self, a: Array, b: Array) -> Array:
        """Ln (a / b); infinite where only one of the two is 0, ``zero_division`` where both are."""
        xp, above, below = self.xp, ~self.is_zero(a), ~self.is_zero(b)
        value = self.log(self.nonzero(a) / self.nonzero(b))
        otherwise = xp.where(below, -math.inf, self.zero_division * xp.ones_like(value))
        return xp.where(above, xp.where(below, value, math.inf), otherwise)

    def log_near_one(self, x: Array, beyond: Array) -> Array:
        """Return ln x from both x and x - 1: each has digits where the other has none; finite at x = 0.

        As ln(1 + max(x - 1, -½)) + ln(min(2 x, 1)), where one part is 0.
        """
        is_far = x <= 0.5  # at one half both agree, and what comes with a cell of that share as beyond is -1
        near, far = self.xp.where(is_far, -0.5, beyond), self.xp.where(is_far, 2 * x, 1)
        return self.xp.log1p(near) + self.log(far)
