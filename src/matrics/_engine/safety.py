"""Arithmetic in which 0/0 and 0 ln 0 have defined values and gradients."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence

from matrics._arrays import Array, Standard
from matrics._engine.wide import Wide


def add(terms: Sequence[Array]) -> Array:
    """The sum of a sequence of arrays, which is not empty."""
    return functools.reduce(operator.add, terms)


class Safe:
    """Arithmetic with a value for undefined quotients, for tables and their formulas.

    Values are not inspected: an unsafe operation gets harmless operands where its result is discarded, so that its
    gradient is finite there as well.

    Parameters
    ----------
    backend
        The library of the arrays.
    zero_division
        The value of undefined measures (0/0).
    """

    looks = False
    """Whether formulas may inspect values to skip operations, which is fast on the host."""

    def __init__(self, backend: Standard, zero_division: float = math.nan) -> None:
        self.backend = backend
        self.xp = backend.xp
        self.zero_division = zero_division

    def nowhere(self, condition: Array) -> bool:  # noqa: ARG002
        """Whether the condition is known to hold nowhere."""
        return False

    def nowhere_above(self, x: Array, factor: float, y: Array) -> bool:
        """Whether x is known to be nowhere above a multiple of y."""
        return self.looks and self.nowhere(x > factor * y)

    def sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        """The sum over some axes."""
        return x.sum(axis, self._sum) if isinstance(x, Wide) else self._sum(x, axis)

    def _sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        return self.xp.sum(x, axis=axis)

    def mean(self, x: Array) -> Array:
        """The mean over the first axis."""
        return self.sum(x, axis=0) / x.shape[0]

    def dot(self, x: Array, y: Array) -> Array:
        """The sum of the products x y over the first axis."""
        return self.sum(x * y, axis=0)

    def without_nan(self, x: Array) -> Array:
        """The array x, with 0 in place of NaN."""
        return self.xp.where(x != x, 0, x)  # noqa: PLR0124 (PyTorch's compiler has no vectors for isnan)

    def divide(self, a: Array, b: Array) -> Array:
        """The quotient a / b; ``zero_division`` where b is 0."""
        if isinstance(b, Wide):
            return self._divide_wide(a, b, self.zero_division)
        empty = self.is_zero(b)  # as in ratio
        return self.xp.where(empty, self.zero_division, self.backend.divide(a, self.xp.where(empty, 1, b)))

    def _divide_wide(self, a: Wide, b: Wide, default: float) -> Array:
        """The quotient a / b as an array; ``default`` where b is 0."""
        xp, empty = self.xp, self.is_zero(b)
        quotient = a / self.nonzero(b)
        # The exponent is replaced as well, as its power of two would be infinite in the gradient.
        quotient = Wide(quotient.digits, xp.where(empty, 0, quotient.exponent), self.backend)
        return xp.where(empty, default, quotient.array())

    def quotient(self, a: Array, b: Array) -> Array:
        """The quotient a / b of unbounded measures: infinite where only b is 0, ``zero_division`` where both are 0."""
        xp, sign = self.xp, a.digits if isinstance(a, Wide) else a
        unbounded = xp.where(sign > 0, math.inf, xp.where(sign < 0, -math.inf, self.zero_division * xp.ones_like(sign)))
        return xp.where(self.is_zero(b), unbounded, self.ratio(a, b))

    def nonzero(self, x: Array) -> Array:
        """The array x, with 1 in place of 0, for divisors and logarithms whose results are replaced there."""
        if isinstance(x, Wide):
            zero = x.digits == 0
            return Wide(self.xp.where(zero, 1, x.digits), self.xp.where(zero, 0, x.exponent), self.backend)
        return self.xp.where(self.is_zero(x), 1, x)

    def divide_root(self, a: Array, b: Array) -> Array:
        """The root √(a / b) for a up to b; ``zero_division`` where b is not above 0."""
        above = b > 0
        return self.define(self.within(self.sqrt(self.ratio(a, self.xp.where(above, b, 0))), 0, 1), above)

    def ratio(self, a: Array, b: Array) -> Array:
        """The quotient a / b; 0 where b is 0, for parts of a formula that ``define`` completes."""
        if isinstance(b, Wide):
            return self._divide_wide(a, b, 0)
        # Both calls of where are needed: the gradient of 0/0 is NaN even if the value is replaced.
        empty = self.is_zero(b)
        return self.xp.where(empty, 0, self.backend.divide(a, self.xp.where(empty, 1, b)))

    def rate(self, a: Array, b: Array, positive: Array) -> Array:  # noqa: ARG002
        """The quotient a / b as in ``ratio``, with the result of ``is_positive`` for b."""
        return self.ratio(a, b)

    def is_positive(self, x: Array) -> Array:
        """Whether x, which is not negative, is above 0, as a condition for ``define``.

        The result has the shape of x, or no axes if x is known to be positive everywhere.
        """
        return ~self.is_zero(x)

    def is_zero(self, x: Array) -> Array:
        """Whether each element is 0. Off the host subnormal numbers count as 0, as their reciprocals are infinite."""
        if isinstance(x, Wide):
            return x.digits == 0
        return self.xp.abs(x) < float(self.xp.finfo(x.dtype).smallest_normal)

    def define(self, value: Array, condition: Array) -> Array:
        """The value where the condition holds, and ``zero_division`` elsewhere, where the measure is undefined."""
        return self.xp.where(condition, value, self.zero_division)

    def sqrt(self, x: Array) -> Array:
        """The square root, with gradient 0 at 0 instead of infinity."""
        if isinstance(x, Wide):
            return x.map_root(self.sqrt)
        zero = self.is_zero(x)
        return self.xp.where(zero, 0, self.xp.sqrt(self.xp.where(zero, 1, x)))

    def within(self, x: Array, low: float, high: float) -> Array:  # noqa: ARG002
        """The array x, which leaves [low, high] only by rounding; the host clips it.

        Other libraries do not clip it, as clipping would remove the gradient of rounded values.
        """
        return x

    def geometric_mean(self, x: Array, y: Array) -> Array:
        """The root √(x y) of two arrays that are not negative; exactly x where both are equal.

        The root of the product may leave the range of float32, and the product of the roots may be inexact where both
        arrays are equal. The mean is exact there, and has the same gradient.
        """
        xp = self.xp
        return xp.where(x == y, (x + y) / 2, self.sqrt(x) * self.sqrt(y))

    def clip(self, x: Array, low: float, high: float) -> Array:
        """The array x, clipped to [low, high], with gradient 0 outside."""
        return self.xp.where(x < low, low, self.xp.where(x > high, high, x))

    def not_negative(self, x: Array) -> Array:
        """The array x, with negative values replaced by 0, whose gradient is 0."""
        return self.xp.where(x > 0, x, 0)

    def sign(self, x: Array) -> Array:
        """The number 1, or -1 where x is negative; by arithmetic, as ``where`` is slow for unpredictable branches."""
        return 1 - 2 * self.xp.astype(x < 0, x.dtype)

    def abs(self, x: Array) -> Array:
        """The absolute value of x, with gradient 0 at 0 in all libraries (in JAX it would be 1)."""
        if isinstance(x, Wide):
            return Wide(self.abs(x.digits), x.exponent, self.backend)
        return self.xp.maximum(x, 0 - x)  # 0 - x avoids a negative zero

    def smaller(self, x: Array, y: Array) -> Array:
        """The smaller of two arrays, element by element."""
        if isinstance(x, Wide):
            return self._chosen(x, y, (x - y).digits < 0)
        return self.xp.minimum(x, y)

    def larger(self, x: Array, y: Array) -> Array:
        """The larger of two arrays, element by element."""
        if isinstance(x, Wide):
            return self._chosen(x, y, (y - x).digits < 0)
        return self.xp.maximum(x, y)

    def _chosen(self, x: Wide, y: Wide, first: Array) -> Wide:
        """The first or the second number; the mean of equal numbers, which gives the gradient of a minimum."""
        return x.where(first, y).where((x - y).digits != 0, (x + y) * 0.5)

    def hypot(self, x: Array, y: Array) -> Array:
        """The root √(x² + y²) of two arrays that are not negative, whose squares may vanish; with gradient 0 at 0."""
        larger, smaller = self.xp.maximum(x, y), self.xp.minimum(x, y)
        share = self.ratio(smaller, larger)
        return larger * self.xp.sqrt(1 + share * share)

    def x_log_x(self, x: Array) -> Array:
        """The product x ln x; 0 where x is 0, with gradient 0."""
        return x * self.log(x)

    def log(self, x: Array) -> Array:
        """The logarithm ln x; 0 where x is 0."""
        if isinstance(x, Wide):
            xp, inside = self.xp, x.fits
            plain = self.log(xp.where(inside, x.array(), 1))
            return xp.where(inside, plain, self.log(self.nonzero(x).digits) + x.exponent * math.log(2))
        return self.xp.log(self.xp.where(self.is_zero(x), 1, x))

    def log1p(self, x: Array) -> Array:
        """The logarithm ln(1 + x)."""
        if not isinstance(x, Wide):
            return self.xp.log1p(x)
        xp = self.xp
        plain = xp.log1p(xp.where(x.fits, x.array(), 0))
        beyond = xp.where(x.exponent > 0, self.log(x), 0)
        # For numbers below the range of floats ln(1 + x) is x, also for the gradient of zeros; for numbers above the
        # range it is ln x.
        changed = (x.digits != 0) & (x.fits | (x.exponent > 0))
        value = xp.where(x.fits, plain, beyond)
        return Wide.of(value, value, self.backend).where(changed, x)

    def log_quotient(self, a: Array, b: Array) -> Array:
        """The logarithm ln(a / b); infinite where either a or b is 0, ``zero_division`` where both are 0."""
        xp, above, below = self.xp, ~self.is_zero(a), ~self.is_zero(b)
        value = self.log(self.nonzero(a) / self.nonzero(b))
        otherwise = xp.where(below, -math.inf, self.zero_division * xp.ones_like(value))
        return xp.where(above, xp.where(below, value, math.inf), otherwise)

    def log_near_one(self, x: Array, beyond: Array) -> Array:
        """The logarithm ln x from x and x - 1, which are precise for small x and near 1; finite at x = 0.

        It is ln(1 + max(x - 1, -½)) + ln(min(2 x, 1)), where either term is 0.
        """
        is_far = x <= 0.5  # both agree at 1/2; callers pass -1 as beyond for shares up to 1/2
        near, far = self.xp.where(is_far, -0.5, beyond), self.xp.where(is_far, 2 * x, 1)
        return self.xp.log1p(near) + self.log(far)
