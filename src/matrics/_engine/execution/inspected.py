"""The table for eager PyTorch with a gradient or under ``torch.func``, for values in the memory of the CPU.

The time for a small stack depends on the number of calls. Half of the calls guard against zeros, invalid cells and
totals out of the range of floats. This table inspects all values at once, and omits unnecessary guards. Values and
gradients are the same, as a guard changes nothing where it is unnecessary.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._engine.execution.digits import moderate_totals, tiny
from matrics._engine.margins import margin
from matrics._engine.table import Table
from matrics._engine.wide import Wide

# Sums up to this number are finite in every dtype of cells, also after rounding.
LARGEST_SUM = float(np.finfo(np.float32).max) / 2


@functools.cache
def _of_numpy(dtype: Any) -> Any:
    """NumPy's dtype of this name."""
    return np.dtype(str(dtype).rpartition(".")[2])


class InspectedTable(Table):
    """A table with a function of ``backend.viewer``, which returns the values of arrays as NumPy arrays."""

    looks = True

    def __init__(self, cells: Array, backend: Standard, view: Callable[[Array], Array], **options: Any) -> None:
        super().__init__(cells, backend, **options)
        self.cells, self._view = cells, view
        self._is_mapped = view is not backend.view
        self._true_everywhere = backend.everywhere

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, with the same function."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return InspectedTable(cells, self.backend, self._view, class_first=class_first, **options)

    def _range(self, x: Array) -> tuple[float, float]:
        """The lowest and the highest value; NaN if any value is NaN."""
        if not (self._is_mapped or x.ndim):
            return (number := x.item()), number  # in a fifth of the time of an array
        values = self._view(x)
        if not values.size:
            return math.inf, -math.inf
        return float(np.minimum.reduce(values, axis=None)), float(np.maximum.reduce(values, axis=None))

    def _no_zeros(self, x: Array) -> bool:
        """Whether all elements of x, which are not negative, are normal numbers above 0."""
        if not (self._is_mapped or x.ndim):
            return bool(x.item() >= tiny(_of_numpy(x.dtype)))
        values = self._view(x)
        return bool(np.minimum.reduce(values, axis=None, initial=math.inf) >= tiny(values.dtype))

    def nowhere(self, condition: Array) -> bool:
        """See ``Safe``."""
        return not np.count_nonzero(self._view(condition))

    def nowhere_above(self, x: Array, factor: float, y: Array) -> bool:
        """See ``Safe``; by operations of NumPy, which record nothing."""
        if self._is_mapped:  # the axes of the values may differ in order
            return super().nowhere_above(x, factor, y)
        return not np.count_nonzero(self._view(x) > factor * self._view(y))

    def _is_true(self, condition: Array) -> bool:
        """Whether a condition holds everywhere."""
        if condition is self._true_everywhere:
            return True
        values = self._view(condition)
        return bool(np.count_nonzero(values) == values.size)

    def sum(self, x: Array, axis: int | tuple[int, ...]) -> Array:
        """See ``Safe``; less overhead than the sum of the standard, which converts dtypes."""
        return x.sum(axis, self.sum) if isinstance(x, Wide) else x.sum(axis)

    def dot(self, x: Array, y: Array) -> Array:
        """See ``Safe``."""
        return super().dot(x, y) if isinstance(x, Wide) else (x * y).sum(0)

    def lead(self, x: Array) -> Array:
        """See ``Margins``; less overhead than the function of the standard."""
        return x if x.ndim == 1 else x.movedim(-1, 0)

    def sum_over(self, axis: int, x: Array) -> Array:
        """See ``Margins``."""
        sums = x.sum(axis)
        return sums if self.class_first or sums.ndim == 1 else self.lead(sums)

    def mean(self, x: Array) -> Array:
        """See ``Safe``; along the last axis, so that gradients have the order of the cells in memory."""
        return x.mean(0) if x.ndim == 1 else x.movedim(0, -1).mean(-1)

    def diagonal(self, x: Array) -> Array:
        """See ``Margins``; less overhead than the diagonal of the standard."""
        diagonal = x.diagonal(0, self.true_axis, self.pred_axis)
        return diagonal if self.batch_ndim == 0 else self.lead(diagonal)

    def classwise(self, x: Array) -> Array:
        """See ``Margins``; PyTorch adds axes in front."""
        return x

    @margin
    def is_diagonal(self) -> Array:
        """See ``Margins``; a single operation."""
        identity = self.backend.identity(self.n, self.cells)
        return self.broadcast_pairs(identity) if self.batch_ndim else identity

    @margin
    def off_diagonal(self) -> Array:
        """See ``Margins``; a single operation."""
        return self.cells.masked_fill(self.is_diagonal, 0)

    @margin
    def tn(self) -> Array:
        """See ``Margins``; of two classes the true positives of the other class."""
        return self.tp.flip(0) if self.n == 2 else super().tn

    # Arithmetic -------------------------------------------------------------------------------------------------------

    def divide(self, a: Array, b: Array) -> Array:
        """See ``Safe``."""
        return super().divide(a, b) if isinstance(b, Wide) or not self._no_zeros(b) else a / b

    def ratio(self, a: Array, b: Array) -> Array:
        """See ``Safe``."""
        return super().ratio(a, b) if isinstance(b, Wide) or not self._no_zeros(b) else a / b

    def nonzero(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().nonzero(x) if isinstance(x, Wide) or not self._no_zeros(x) else x

    def sqrt(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().sqrt(x) if isinstance(x, Wide) or not self._no_zeros(x) else x.sqrt()

    def log(self, x: Array) -> Array:
        """See ``Safe``."""
        return super().log(x) if isinstance(x, Wide) or not self._no_zeros(x) else x.log()

    def is_positive(self, x: Array) -> Array:
        """See ``Safe``: a single True if x is positive everywhere."""
        return super().is_positive(x) if isinstance(x, Wide) or not self._no_zeros(x) else self._true_everywhere

    def rate(self, a: Array, b: Array, positive: Array) -> Array:
        """See ``Safe``."""
        return a / b if positive is self._true_everywhere else self.ratio(a, b)

    def define(self, value: Array, condition: Array) -> Array:
        """See ``Safe``."""
        return value if self._is_true(condition) else super().define(value, condition)

    def geometric_mean(self, x: Array, y: Array) -> Array:
        """See ``Safe``."""
        if self._is_mapped or x.ndim:
            return self.sqrt(x) * self.sqrt(y) if self.nowhere(x == y) else super().geometric_mean(x, y)
        first, second = x.item(), y.item()
        if first == second or not (self._no_zeros(x) and self._no_zeros(y)):
            return super().geometric_mean(x, y)
        return x.sqrt() * y.sqrt()

    def clip(self, x: Array, low: float, high: float) -> Array:
        """See ``Safe``."""
        lowest, highest = self._range(x)
        return x if lowest >= low and highest <= high else super().clip(x, low, high)

    def not_negative(self, x: Array) -> Array:
        """See ``Safe``."""
        return x if self._range(x)[0] > 0 else super().not_negative(x)

    # Valid matrices of moderate size ----------------------------------------------------------------------------------

    @margin
    def _range_of_cells(self) -> tuple[float, float]:
        return self._range(self.cells)

    @property
    def _all_valid(self) -> bool:
        """Whether all matrices are valid."""
        lowest, highest = self._range_of_cells
        # The total, which some measures do not need, is computed only if a sum could be infinite.
        return bool(lowest >= 0 and (highest * self.n**2 < LARGEST_SUM or self._range_of_total[1] < math.inf))

    @margin
    def mean_size(self) -> Array:
        """See ``Table``; in fewer operations."""
        return (0.5 * self.true).add(self.pred, alpha=0.5)

    @margin
    def _range_of_total(self) -> tuple[float, float]:
        return self._range(self.total)

    def unless_invalid(self, values: Array) -> Array:
        """See ``Margins``."""
        return values if self._all_valid else super().unless_invalid(values)

    def zero_unless(self, condition: Array, x: Array) -> Array:
        """See ``Margins``."""
        return x if self._all_valid and self._is_true(condition) else super().zero_unless(condition, x)

    @margin
    def not_empty(self) -> Array:
        """See ``Table``."""
        return self._true_everywhere if self._range_of_cells[0] > 0 else super().not_empty

    @margin
    def is_moderate(self) -> bool:
        """Whether products of five counts stay in the range of float64.

        Products of float32 are computed in float64 anyway, for precision.
        """
        if self._known_to_be_moderate or self.cells.dtype != self.xp.float64:
            return self._known_to_be_moderate
        limits = np.finfo(np.float64)
        return bool(self._range_of_cells[0] > limits.tiny**0.2 and self._range_of_total[1] < limits.max**0.2)

    def _scale(self) -> Array | None:
        """A power of two as in ``Margins``, or None if all products of two margins are in range."""
        lowest, highest = moderate_totals(_of_numpy(self.dtype))
        least, most = (self.n**2 * number for number in self._range_of_cells)
        if not (lowest < least and most < highest):
            least, most = self._range_of_total
        return None if lowest < least and most < highest else super()._scale()
