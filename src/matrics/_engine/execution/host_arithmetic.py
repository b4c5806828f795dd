"""Arithmetic on the host: values are inspected, and guards are applied only if necessary."""

from __future__ import annotations

import math

import numpy as np

from matrics._arrays import Array
from matrics._engine.execution.digits import tiny
from matrics._engine.safety import Safe
from matrics._engine.wide import Wide

# Arrays up to this size are checked by the call with less overhead, larger arrays by the faster operation.
SMALL = 1000


class HostArithmetic(Safe):
    """Arithmetic of NumPy arrays, under ``np.errstate``.

    There is no gradient, so 0/0 is replaced after the division, and formulas may leave out operations that no matrix of
    the stack needs.
    """

    looks = True

    def nowhere(self, condition: Array) -> bool:
        """See ``Safe``."""
        return not (np.count_nonzero(condition) if condition.ndim else condition)

    def _sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        # np.add.reduce has less overhead than np.sum, and initial=None avoids a pass that writes zeros.
        return np.add.reduce(x, axis=axis, initial=None)

    def _no_zeros(self, x: Array) -> bool:
        """Whether x, which is not negative, has no zeros."""
        if not x.ndim:
            return bool(x != 0)
        if x.size <= SMALL:
            return bool(np.count_nonzero(x) == x.size)
        return bool(np.minimum.reduce(x, axis=None) > 0)

    def divide(self, a: Array, b: Array) -> Array:
        """See ``Table``."""
        if isinstance(b, Wide):
            return super().divide(a, b)
        quotient = a / b
        if self._no_zeros(b) or (math.isnan(self.zero_division) and not np.isinf(quotient).any()):  # 0/0 is NaN
            return quotient
        return np.where(b == 0, self.zero_division, quotient)

    def without_nan(self, x: Array) -> Array:
        """See ``Safe``; without branches, which are slow where their outcome is random."""
        return np.fmax(x, 0) + np.fmin(x, 0)

    def ratio(self, a: Array, b: Array) -> Array:
        """See ``Table``."""
        return super().ratio(a, b) if isinstance(b, Wide) or not self._no_zeros(b) else a / b

    def nonzero(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().nonzero(x) if isinstance(x, Wide) or not self._no_zeros(x) else x

    def rate(self, a: Array, b: Array, positive: Array) -> Array:
        """See ``Table``."""
        return a / b if positive is np.True_ else self.ratio(a, b)

    def is_positive(self, x: Array) -> Array:
        """Whether x is positive: a single True if it is positive everywhere."""
        return np.True_ if self._no_zeros(x) else x != 0

    def is_zero(self, x: Array) -> Array:
        """Whether each element is 0; subnormal numbers are not 0."""
        return x.digits == 0 if isinstance(x, Wide) else x == 0

    def define(self, value: Array, condition: Array) -> Array:
        """See ``Table``."""
        everywhere = condition is np.True_ or np.count_nonzero(condition) == condition.size
        return value if everywhere else np.where(condition, value, self.zero_division)

    def sqrt(self, x: Array) -> Array:
        """See ``Table``."""
        return super().sqrt(x) if isinstance(x, Wide) or not self._no_zeros(x) else np.sqrt(x)

    def within(self, x: Array, low: float, high: float) -> Array:
        """The array x, clipped to the bounds of its formula."""
        if not x.ndim:
            return x if low <= x <= high else self.clip(x, low, high)
        inside = x.size and np.minimum.reduce(x, axis=None) >= low  # False for NaN
        inside = inside and (high == math.inf or np.maximum.reduce(x, axis=None) <= high)
        return x if inside else self.clip(x, low, high)

    def abs(self, x: Array) -> Array:
        """See ``Table``."""
        return super().abs(x) if isinstance(x, Wide) else np.abs(x)

    def clip(self, x: Array, low: float, high: float) -> Array:
        """See ``Table``."""
        return np.minimum(np.maximum(x, low), high)

    def not_negative(self, x: Array) -> Array:
        """See ``Table``."""
        return np.maximum(x, 0)

    def log(self, x: Array) -> Array:
        """See ``Table``; ``where`` would take longer than the logarithm."""
        if isinstance(x, Wide):
            return super().log(x)
        return np.log(x if self._no_zeros(x) else x + (x == 0))

    def x_log_x(self, x: Array) -> Array:
        """See ``Table``; the lower bound in the logarithm changes only 0 and subnormal x, which are imprecise."""
        return x * np.log(np.maximum(x, tiny(x.dtype)))
