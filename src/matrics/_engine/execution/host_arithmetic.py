"""Arithmetic on the host: NumPy's arrays are inspected before it is made safe."""

from __future__ import annotations

import numpy as np

from matrics._arrays import Array
from matrics._engine.safety import Safe
from matrics._engine.wide import Wide

# Arrays up to this size are checked by the cheaper call; larger ones by the faster operation.
SMALL = 1000


class HostArithmetic(Safe):
    """Arithmetic of arrays of NumPy, under ``np.errstate``.

    No gradient passes here, so that 0/0 is replaced after the division, and a formula may leave out what no matrix of
    the stack needs.
    """

    looks = True

    def nowhere(self, condition: Array) -> bool:
        """See ``Safe``."""
        return not (np.count_nonzero(condition) if condition.ndim else condition)

    def _sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        # Of what np.sum does, what has to be done; it would begin with a pass that writes zeros.
        return np.add.reduce(x, axis=axis, initial=None)

    def _no_zeros(self, x: Array) -> bool:
        """Whether x, which is not negative or whose sign does not matter, is 0 nowhere."""
        if not x.ndim:
            return bool(x != 0)
        if x.size <= SMALL:
            return bool(np.count_nonzero(x) == x.size)
        return bool(np.minimum.reduce(x, axis=None) > 0)

    def divide(self, a: Array, b: Array) -> Array:
        """See ``Table``."""
        if isinstance(b, Wide):
            return super().divide(a, b)
        return a / b if self._no_zeros(b) else np.where(b == 0, self.zero_division, a / b)

    def ratio(self, a: Array, b: Array) -> Array:
        """See ``Table``."""
        return super().ratio(a, b) if isinstance(b, Wide) or not self._no_zeros(b) else a / b

    def rate(self, a: Array, b: Array, positive: Array) -> Array:
        """See ``Table``."""
        return a / b if positive is np.True_ else self.ratio(a, b)

    def is_positive(self, x: Array) -> Array:
        """True only if x is positive everywhere."""
        return np.True_ if self._no_zeros(x) else x != 0

    def is_zero(self, x: Array) -> Array:
        """Where x is 0; subnormal numbers are not."""
        return x.digits == 0 if isinstance(x, Wide) else x == 0

    def define(self, value: Array, condition: Array) -> Array:
        """See ``Table``."""
        everywhere = condition is np.True_ or np.count_nonzero(condition) == condition.size
        return value if everywhere else np.where(condition, value, self.zero_division)

    def sqrt(self, x: Array) -> Array:
        """See ``Table``."""
        return super().sqrt(x) if isinstance(x, Wide) or not self._no_zeros(x) else np.sqrt(x)

    def within(self, x: Array, low: float, high: float) -> Array:
        """Return x cut at the bounds that its formula cannot leave."""
        if not x.ndim:
            return x if low <= x <= high else self.clip(x, low, high)
        inside = x.size and np.minimum.reduce(x, axis=None) >= low and np.maximum.reduce(x, axis=None) <= high
        return x if inside else self.clip(x, low, high)

    def geometric_mean(self, x: Array, y: Array) -> Array:
        """√(x y), for code that needs no gradient."""
        if x.ndim:
            larger, smaller = np.maximum(x, y), np.minimum(x, y)
        else:
            larger, smaller = (x, y) if x > y else (y, x)
        return smaller * self.sqrt(self.ratio(larger, smaller))

    def abs(self, x: Array) -> Array:
        """See ``Table``, by a single call."""
        return super().abs(x) if isinstance(x, Wide) else np.abs(x)

    def clip(self, x: Array, low: float, high: float) -> Array:
        """See ``Table``."""
        return np.minimum(np.maximum(x, low), high)

    def not_negative(self, x: Array) -> Array:
        """See ``Table``."""
        return np.maximum(x, 0)

    def log(self, x: Array) -> Array:
        """See ``Table``; a choice, at every cell, would take longer than the logarithm."""
        if isinstance(x, Wide):
            return super().log(x)
        return np.log(x if self._no_zeros(x) else x + (x == 0))

    def log_near_one(self, x: Array, beyond: Array) -> Array:
        """See ``Table``; beyond 1/2 are few, which are then replaced."""
        logs = self.log(x)
        large = x > 0.5
        if np.count_nonzero(large):
            logs[large] = np.log1p(beyond[large])
        return logs
