"""The table of PyTorch's operations one by one, with a gradient or under ``torch.func``, of values in the CPU's memory.

A small stack takes the time of its operations' calls, whatever they do. Half of them guard against zeros, invalid
cells and totals that leave the range of floats. Here somebody looks, at all values at once, and leaves out the guards
that none of them needs. Values and gradients stay the same: a guard changes nothing where there is nothing to guard.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._engine.execution.digits import moderate_totals
from matrics._engine.margins import margin
from matrics._engine.table import Table
from matrics._engine.wide import Wide


class SeenTable(Table):
    """A table with what shows the values of its cells, and of all that is computed from them: ``backend.viewer``."""

    looks = True

    def __init__(self, cells: Array, backend: Standard, view: Callable[[Array], Array], **options: Any) -> None:
        super().__init__(cells, backend, **options)
        self._view = view

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, as visible."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return SeenTable(cells, self.backend, self._view, class_first=class_first, **options)

    def _lowest(self, x: Array) -> float:
        """The lowest value; NaN if one is NaN."""
        return float(np.minimum.reduce(self._view(x), axis=None, initial=math.inf))

    def _highest(self, x: Array) -> float:
        """The highest value, likewise."""
        return float(np.maximum.reduce(self._view(x), axis=None, initial=-math.inf))

    def _no_zeros(self, x: Array) -> bool:
        """Whether all of x, which is not negative, are normal numbers above 0."""
        return self._lowest(x) >= float(self.xp.finfo(x.dtype).smallest_normal)

    def nowhere(self, condition: Array) -> bool:
        """See ``Safe``."""
        return not np.count_nonzero(self._view(condition))

    def _everywhere(self, condition: Array) -> bool:
        seen = self._view(condition)
        return bool(np.count_nonzero(seen) == seen.size)

    def _sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        return x.sum(axis)  # without what the standard's sum looks after: dtypes, and no axis at all

    @margin
    def is_diagonal(self) -> Array:
        """See ``Margins``, in one operation."""
        return self.beside_cells(self.xp.eye(self.n, dtype=self.xp.bool, device=self.cells.device))

    @margin
    def off_diagonal(self) -> Array:
        """See ``Margins``, in one operation."""
        return self.cells.masked_fill(self.is_diagonal, 0)

    # Arithmetic -------------------------------------------------------------------------------------------------------

    def divide(self, a: Array, b: Array) -> Array:
        """See ``Safe``."""
        return super().divide(a, b) if isinstance(b, Wide) or not self._no_zeros(b) else self.backend.divide(a, b)

    def ratio(self, a: Array, b: Array) -> Array:
        """See ``Safe``."""
        return super().ratio(a, b) if isinstance(b, Wide) or not self._no_zeros(b) else self.backend.divide(a, b)

    def nonzero(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().nonzero(x) if isinstance(x, Wide) or not self._no_zeros(x) else x

    def sqrt(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().sqrt(x) if isinstance(x, Wide) or not self._no_zeros(x) else self.xp.sqrt(x)

    def log(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().log(x) if isinstance(x, Wide) or not self._no_zeros(x) else self.xp.log(x)

    def define(self, value: Array, condition: Array) -> Array:
        """See ``Safe``."""
        return value if self._everywhere(condition) else super().define(value, condition)

    def geometric_mean(self, x: Array, y: Array) -> Array:
        """See ``Safe``."""
        return self.sqrt(x) * self.sqrt(y) if self.nowhere(x == y) else super().geometric_mean(x, y)

    def clip(self, x: Array, low: float, high: float) -> Array:
        """See ``Safe``."""
        return x if self._lowest(x) >= low and self._highest(x) <= high else super().clip(x, low, high)

    def not_negative(self, x: Array) -> Array:
        """See ``Safe``."""
        return x if self._lowest(x) > 0 else super().not_negative(x)

    # Valid matrices of moderate size ----------------------------------------------------------------------------------

    @margin
    def _all_valid(self) -> bool:
        """Whether all matrices are seen to be valid."""
        return self._lowest(self.cells) >= 0 and self._highest(self.total) < math.inf

    def unless_invalid(self, values: Array) -> Array:
        """See ``Margins``."""
        return values if self._all_valid else super().unless_invalid(values)

    def zero_unless(self, condition: Array, x: Array) -> Array:
        """See ``Margins``."""
        return x if self._all_valid and self._everywhere(condition) else super().zero_unless(condition, x)

    @margin
    def is_moderate(self) -> bool:
        """Whether products of five counts are known, or seen, to stay in the range of float64.

        Those of float32 become float64 in any case, for the sake of their digits.
        """
        if self._known_to_be_moderate or self.cells.dtype != self.xp.float64:
            return self._known_to_be_moderate
        limits = np.finfo(np.float64)
        return bool(self._lowest(self.cells) > limits.tiny**0.2 and self._highest(self.total) < limits.max**0.2)

    def _scale(self) -> Array | None:
        """No power of two where totals leave products of two margins in range."""
        lowest, highest = moderate_totals(np.dtype(f"f{self.xp.finfo(self.total.dtype).bits // 8}"))
        is_near = self._lowest(self.total) > lowest and self._highest(self.total) < highest
        return None if is_near else super()._scale()
