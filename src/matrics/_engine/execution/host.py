"""The tables of the host: NumPy arrays whose values are inspected, and whose sums and products may be exact.

Inspections make formulas faster and do not change results: the value of a matrix does not depend on the values of
other matrices in its block. Their number may change the order of a sum, and so the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._engine.eigenvalues.host import eigenvalues as stepped_eigenvalues
from matrics._engine.eigenvalues.host import takes_steps
from matrics._engine.execution.digits import (
    holds_products,
    least_scaled,
    moderate_totals,
    product_dtype_of,
    rounds_from,
    tiny,
)
from matrics._engine.execution.host_arithmetic import SMALL, HostArithmetic
from matrics._engine.margins import margin
from matrics._engine.table import Table

# The smallest r - 1 for which ln(1 + (r - 1)) is finite. For smaller values, r ln r is negligible.
LEAST_EXCESS = 2.0**-52 - 1


def in_dtype(x: Array, dtype: Any) -> Array:
    """The numbers in this dtype; the comparison first is the fastest for NumPy scalars."""
    return x if x.dtype == dtype else x.astype(dtype)


def _replace_large(logs: Array, large: Array, rests_at: Callable[[tuple[Array, ...]], Array]) -> None:
    """Replace the logarithms of large shares p, in place, by ln(1 - q), where the rest q = 1 - p is precise."""
    if np.count_nonzero(large):
        where = np.unravel_index(np.flatnonzero(large), large.shape)  # takes a third of the time of np.nonzero
        logs[where] = np.log1p(-rests_at(where))


TableFunction = Callable[[Table], Array]


class WholeStack:
    """The whole stack, of which a table has a block.

    Parameters
    ----------
    matrices
        The number of matrices.
    """

    def __init__(self, matrices: int) -> None:
        self.matrices = matrices
        self.stepped: list[int] = []
        """The functions that compute eigenvalues in steps, which need large blocks."""
        self.takes_steps = False

    def recording(self, k: int, function: TableFunction) -> TableFunction:
        """A function that also adds its number to ``stepped`` if it computes eigenvalues in steps."""

        def recorded(table: Table) -> Array:
            self.takes_steps = False
            value = function(table)
            if self.takes_steps:
                self.stepped.append(k)
            return value

        return recorded


class HostTable(HostArithmetic, Table):
    """A table of NumPy arrays, under ``np.errstate``, without known properties.

    Sums of products of float32 are computed in float64, which is faster than precise sums in float32.
    """

    exact: bool = False
    """Whether sums and differences of cells are exact, as for integer-valued cells with a moderate total."""
    exact_products: bool = False
    """Whether sums of products of two counts are exact."""
    product_dtype: Any = np.float64
    """The dtype of products: float64, or the dtype of the cells if products are exact in it."""

    def __init__(
        self, cells: Array, *, class_first: bool = True, stack: WholeStack | None = None, **options: Any
    ) -> None:
        super().__init__(cells, NUMPY, class_first=class_first, **options)
        if stack is None:
            stack = WholeStack(math.prod(cells.shape[2:] if class_first else cells.shape[:-2]))
        self.stack = stack

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, without known properties."""
        options: dict[str, Any] = {"zero_division": self.zero_division, "is_moderate": is_moderate}
        return HostTable(cells, class_first=class_first, stack=self.stack, **options)

    def regrouped(self, cells: Array) -> Table:
        """A table of the same samples in other classes, with equally exact sums."""
        return KnownTable(
            cells,
            exact=self.exact,
            exact_products=self.exact_products,
            product_dtype=self.product_dtype,
            stack=self.stack,
            zero_division=self.zero_division,
            is_moderate=self.is_moderate,
        )

    @property
    def of_normal_counts(self) -> Table:
        """See ``Table``; matrices with a tiny class (1e-300) are multiplied by a power of two."""
        return self if self._of_tiny_counts is None else self._of_tiny_counts

    @margin
    def _of_tiny_counts(self) -> Table | None:
        """The table with larger counts, or None if it is this table: a reference cycle would keep it in memory."""
        true, least = self.true, least_scaled(self.total.dtype)
        if np.minimum.reduce(true, axis=None, initial=1) >= least:
            return None
        few = np.any((true > 0) & (true < least), axis=0)
        if not few.any():
            return None
        # At most the square root of the largest number, so that products stay in range.
        shift = np.where(few, np.maximum(np.finfo(self.total.dtype).maxexp // 2 - np.frexp(self.total)[1], 0), 0)
        return OfTinyCounts(np.ldexp(self.cells, self.cellwise(shift)), self)

    # Memory order -----------------------------------------------------------------------------------------------------

    def sum_over(self, axis: int, x: Array) -> Array:
        """See ``Table``; contiguous, as later sums are otherwise rounded in another way."""
        sums = self._sum(x, axis)
        if sums.ndim == 1:
            return sums
        return np.ascontiguousarray(sums if self.class_first else self.lead(sums))

    def diagonal(self, x: Array) -> Array:
        """See ``Table``."""
        if x.ndim == 2:
            return x.diagonal().copy()
        return np.ascontiguousarray(self.lead(x.diagonal(axis1=self.true_axis, axis2=self.pred_axis)))

    def and_valid(self, condition: Array) -> Array:
        """The condition itself, as zeros replace invalid matrices."""
        return condition

    def zero_unless(self, condition: Array, x: Array) -> Array:  # noqa: ARG002
        """The array x itself, as zeros replace invalid matrices."""
        return x

    # Eigenvalues ------------------------------------------------------------------------------------------------------

    def eigenvalues(self, x: Array) -> Array:
        """See ``Table``; in steps if this is faster for the whole stack, independent of the block."""
        if not (self.class_first and takes_steps(self.n, x.dtype, self.stack.matrices)):
            return super().eigenvalues(x)
        self.stack.takes_steps = True
        values = stepped_eigenvalues(x.reshape(self.n, self.n, -1))
        return values.reshape(self.n, *x.shape[2:])

    # Margins ----------------------------------------------------------------------------------------------------------

    def wide(self, x: Array) -> Array:
        """See ``Margins``; in float64, which represents products of all but extreme counts."""
        if self.is_moderate or self.total.dtype != np.float64:
            return in_dtype(x, np.float64)
        return super().wide(x)

    @margin
    def fn(self) -> Array:
        """See ``Margins``; a difference if it is exact."""
        return self.true - self.tp if self.exact else super().fn

    @margin
    def fp(self) -> Array:
        """See ``Margins``; a difference if it is exact."""
        return self.pred - self.tp if self.exact else super().fp

    @margin
    def tn(self) -> Array:
        """See ``Margins``; a difference if it is exact."""
        return self.not_true - self.fp if self.exact else super().tn

    @margin
    def not_true(self) -> Array:
        """See ``Margins``; a difference if it is exact."""
        return self.total[None, ...] - self.true if self.exact else super().not_true

    @margin
    def not_pred(self) -> Array:
        """See ``Margins``; a difference if it is exact."""
        return self.total[None, ...] - self.pred if self.exact else super().not_pred

    @margin
    def mean_size(self) -> Array:
        """See ``Table``; half of the sum if the sum is in range."""
        return 0.5 * (self.true + self.pred) if self.exact else super().mean_size

    @margin
    def class_errors(self) -> Array:
        """See ``Margins``; a difference if it is exact, without the arrays ``fn`` and ``fp``."""
        if not self.exact or "fn" in self.__dict__:
            return super().class_errors
        errors = self.true - self.tp
        errors += self.pred
        errors -= self.tp
        return errors

    def errors_outside(self, chosen: Array) -> Array:
        """See ``Margins``; a difference if it is exact."""
        if not self.exact:
            return super().errors_outside(chosen)
        return self.errors - self.sum(np.where(chosen, self.class_errors, 0), axis=0)

    # Sums of products -------------------------------------------------------------------------------------------------

    def _factor(self, x: Array) -> Array:
        return in_dtype(self.scaled(x), self.product_dtype)

    def _rounded(self, x: Array) -> Array:
        """A result of factors, in the dtype of the cells."""
        return in_dtype(x, self.total.dtype)

    @margin
    def _true(self) -> Array:
        return self._factor(self.true)

    @margin
    def _pred(self) -> Array:
        return self._factor(self.pred)

    @margin
    def _square(self) -> Array:
        """The square m² of the total."""
        total = self._factor(self.total)
        return total * total  # total**2 takes twice as long for a NumPy scalar

    @margin
    def _overlap(self) -> Array:
        """The sum Σ true pred, for differences of exact sums."""
        return self.dot(self._true, self._pred)

    def dot(self, x: Array, y: Array) -> Array:
        """See ``Safe``."""
        if self.exact_products:  # exact sums are the same in any order
            if x.ndim == 1:
                return x.dot(y)
            if x.size <= SMALL:
                return np.vecdot(x, y, axis=0)  # type: ignore[call-overload] # NumPy's stub has no axis
            return np.einsum("i...,i...->...", x, y)
        return super().dot(x, y)

    def _variance(self, x: Array) -> Array:
        """The sum Σ x (m - x) of exact products, where x are the row sums or the column sums."""
        return 2 * (x[0] * x[1]) if self.n == 2 else self._square - self.dot(x, x)

    def geometric_mean(self, x: Array, y: Array) -> Array:
        """See ``Safe``; where x and y are equal, the result is x without a rounding error."""
        equal = x == y
        if not x.ndim:
            return x if equal else np.sqrt(x) * np.sqrt(y)
        mean = np.sqrt(x) * np.sqrt(y)
        if np.count_nonzero(equal):
            mean[equal] = x[equal]
        return mean

    @margin
    def _class_covariance(self) -> Array:
        factor = self._factor
        if self.exact_products:
            return factor(self.tp) * factor(self.total) - self._true * self._pred
        return factor(self.tp) * factor(self.tn) - factor(self.fp) * factor(self.fn)

    @margin
    def covariance(self) -> Array:
        """See ``Table``; a difference of two sums if both are exact."""
        if self.exact_products:
            return self._rounded(self._factor(self.hits) * self._factor(self.total) - self._overlap)
        return self._rounded(self.sum(self._class_covariance, axis=0))

    @margin
    def true_variance(self) -> Array:
        """See ``Table``; a difference of two sums if both are exact."""
        if self.exact_products:
            return self._rounded(self._variance(self._true))
        return self._rounded(self.dot(self._true, self._factor(self.not_true)))

    @margin
    def pred_variance(self) -> Array:
        """See ``Table``; a difference of two sums if both are exact."""
        if self.exact_products:
            return self._rounded(self._variance(self._pred))
        return self._rounded(self.dot(self._pred, self._factor(self.not_pred)))

    @margin
    def disagreement_by_chance(self) -> Array:
        """See ``Table``; a difference of two sums if both are exact."""
        if self.exact_products:
            return self._rounded(self._square - self._overlap)
        return self._rounded(self.dot(self._true, self._factor(self.not_pred)))

    @margin
    def _by_chance(self) -> tuple[Array, Array, Array]:
        """The products m c and t k, and their difference, for each cell c with row sum t and column sum k."""
        cells, whole = self.wide(self.cells), self.wide(self.cellwise(self.total))
        expected = self.wide(self.rowwise(self.true)) * self.wide(self.columnwise(self.pred))
        observed = cells * whole
        if self.exact_products:
            return observed, expected, observed - expected
        around = [self.wide(x) for x in self.around]
        return observed, expected, cells * around[2] - around[0] * around[1]

    def _beyond_share(self, rates: Array, sums: Array, *, along: Literal[0, 1]) -> Array:  # noqa: ARG002
        return self.ratio(self._by_chance[2], self.wide(sums) * self.wide(self.cellwise(self.total)))

    @margin
    def mutual_information(self) -> Array:
        """See ``Table``; in counts, this is Σ (m c ln r - (m c - t k)) / m² with r = m c / (t k).

        A single logarithm, ln(1 + (r - 1)), is precise for all cells: where r is small, its product with c is small.
        """
        observed, expected, beyond = self._by_chance
        excess = self.ratio(beyond, expected)
        fits = np.maximum.reduce(excess, axis=None, initial=0) < math.inf
        logs = np.log1p(np.maximum(excess, LEAST_EXCESS, out=excess))
        if not fits:
            logs = np.where(np.isinf(excess), self.log(observed) - self.log(expected), logs)
        terms, total = observed * logs - beyond, self.wide(self.total)
        # The sums of rows come first, as the rounding error of a single sum would grow with the number of cells.
        sums = self.sum(self.sum(terms, axis=self.pred_axis), axis=0 if self.class_first else -1)
        return self._rounded(self.ratio(sums, total * total))

    def is_determined(self, axis: int) -> Array:
        """See ``Table``; sums are the fastest in the smallest integer dtype."""
        occupied = (self.cells != 0).view(np.uint8)
        number = np.add.reduce(occupied, axis=axis, keepdims=True, dtype=np.min_scalar_type(self.n))
        return np.logical_and.reduce(number <= 1, axis=(self.true_axis, self.pred_axis))

    @margin
    def share_log_share(self) -> Array:
        """See ``Table``."""
        shares = self.shares
        return self._times_log(self.cells, shares, np.empty_like(shares))

    @margin
    def class_error_logs(self) -> Array:
        """See ``Table``; from the errors alone, unless the logarithms of all cells are cached."""
        if not self.class_first or "share_log_share" in self.__dict__:
            return super().class_error_logs
        logs = np.empty(self.cells.shape, self.cells.dtype)
        logs.reshape(self.n * self.n, *logs.shape[2:])[:: self.n + 1] = 0  # the diagonal
        errors = self._errors_of(self.cells)
        shares = self.rate(errors, self.cellwise(self.total), self.has_samples)
        self._times_log(errors, shares, self._errors_of(logs))
        return self.sum_over(self.pred_axis, logs) + self.sum_over(self.true_axis, logs)

    def _errors_of(self, cells: Array) -> Array:
        """A view of the cells outside the diagonal, ``[n - 1, n, *batch]``: n cells are between two diagonal cells."""
        n, batch = self.n, cells.shape[2:]
        return cells.reshape(n * n, *batch)[1:].reshape(n - 1, n + 1, *batch)[:, :n]

    def _times_log(self, cells: Array, shares: Array, out: Array) -> Array:
        """The products p ln p of cells with shares p; near 1 the logarithm is computed from the other cells."""
        # Avoids 0 · ln 0; subnormal shares are imprecise anyway.
        np.maximum(shares, tiny(shares.dtype), out=out)
        np.log(out, out=out)
        _replace_large(out, shares > 0.5, lambda where: self._rest_shares(cells, where))
        out *= shares
        return out

    def _rest_shares(self, cells: Array, where: tuple[Array, ...]) -> Array:
        """The share of all other cells, for cells with more than half of their matrix."""
        at = where[2:] if self.class_first else where[:-2]
        total = self.total[at]
        if self.exact:
            return (total - cells[where]) / total
        matrices = self.cells[(slice(None), slice(None), *at)] if self.class_first else self.cells[at]
        axes = (self.true_axis, self.pred_axis)
        largest = np.maximum.reduce(matrices, axis=axes, keepdims=True)
        return self._sum(np.where(matrices == largest, 0, matrices), axes) / total

    def log_share(self, size: Array, rest: Array) -> Array:
        """See ``Table``; the rest is divided by the total only if it is less than the size."""
        logs = self.log(self.nonzero(self.wide(size)) / self.nonzero(self.whole))
        _replace_large(logs, size > rest, lambda where: rest[where] / self.total[where[1:]])
        return logs

    def entropy(self, shares: Array, rests: Array) -> Array:
        """See ``Table``; the rests are divided by the total only for shares above 0.5."""
        logs = self.log(shares)
        _replace_large(logs, shares > 0.5, lambda where: rests[where] / self.total[where[1:]])
        logs *= shares
        return 0 - self.sum(logs, axis=0)

    def _twice_the_pairs(self, unit: Array | float) -> list[Array]:
        if not self.exact_products:
            return super()._twice_the_pairs(unit)
        # Squares and their differences are exact as well.
        factor = self._pair_factor
        total, cells = factor(self.total), factor(self.cells)
        whole, same = total**2, self.sum(cells**2, axis=(self.true_axis, self.pred_axis))
        true, pred = (self.sum(factor(x) ** 2, axis=0) for x in (self.true, self.pred))
        return [whole - true - pred + same, pred - same, true - same, same - total]

    def _pair_factor(self, x: Array) -> Array:
        return x.astype(np.float64)


class OfTinyCounts(HostTable):
    """A table with matrices of tiny counts multiplied by powers of two, as subnormal numbers lose digits.

    Parameters
    ----------
    cells
        The multiplied cells.
    table
        The table of the original counts.
    """

    def __init__(self, cells: Array, table: HostTable) -> None:
        super().__init__(cells, class_first=table.class_first, stack=table.stack, zero_division=table.zero_division)
        self._table = table

    def repair_where(self, condition: Array) -> Table:
        """See ``Table``; 1/n is added to the original counts."""
        return self._table.repair_where(condition)


class KnownTable(HostTable):
    """A table with known exact sums and products."""

    def __init__(
        self,
        cells: Array,
        *,
        exact: bool = True,
        exact_products: bool = False,
        product_dtype: Any = np.float64,
        **options: Any,
    ) -> None:
        super().__init__(cells, **options)
        self.exact = exact
        self.exact_products = exact_products
        self.product_dtype = product_dtype


class SummedTable(HostTable):
    """A table of integers whose sums are known and exact.

    Parameters
    ----------
    cells
        The cells.
    sums
        The row sums, the column sums and the diagonal.
    total, largest
        The totals, and the largest total.
    """

    exact = True
    scale = None  # integer counts need no scale

    def __init__(self, cells: Array, sums: Sequence[Array], total: Array, *, largest: float, **options: Any) -> None:
        super().__init__(cells, is_moderate=True, **options)
        self.true, self.pred, self.tp = sums
        self.total = total
        self.exact_products = holds_products(np.float64, largest)
        self.product_dtype = product_dtype_of(total.dtype, largest)

    def of_matrix(self, cells: Array, sums: Sequence[Array], total: Array, zero_division: float) -> SummedTable:
        """The table of another matrix with the same number of classes; faster than the constructor."""
        table: SummedTable = object.__new__(SummedTable)
        table.__dict__ = {
            **self.__dict__,
            "_given": cells,
            "true": sums[0],
            "pred": sums[1],
            "tp": sums[2],
            "total": total,
            "zero_division": zero_division,
            "exact_products": holds_products(np.float64, float(total)),
        }
        return table

    @property
    def of_normal_counts(self) -> Table:
        """The table itself, as integers are never subnormal numbers."""
        return self

    def _factor(self, x: Array) -> Array:
        return in_dtype(x, self.product_dtype)


class CheckedTable(HostTable):
    """A table that checks whether all cells are integer-valued when a formula needs exact differences."""

    def __init__(self, cells: Array, zero_division: float, stack: WholeStack, all_integers: Callable[[], bool]) -> None:
        super().__init__(cells, stack=stack, zero_division=zero_division)
        self._all_integers = all_integers
        total = self.total
        self.largest = float(np.maximum.reduce(total, axis=None, initial=0) if total.ndim else total)

    @margin
    def exact(self) -> bool:
        """Whether sums and differences of cells are exact."""
        return self.largest < rounds_from(self.cells.dtype) and self._all_integers()

    @margin
    def exact_products(self) -> bool:
        """Whether sums of products of two counts are exact."""
        return holds_products(np.float64, self.largest) and self.exact

    @margin
    def product_dtype(self) -> Any:
        """The dtype of products."""
        dtype = self.cells.dtype
        return product_dtype_of(dtype, self.largest) if dtype != np.float64 and self.exact else np.float64

    @margin
    def is_moderate(self) -> bool:
        """Whether products of five counts stay in the range of the dtype."""
        if self.exact:
            return True
        limits = np.finfo(self.cells.dtype)
        smallest = np.min(self.cells, where=self.cells > 0, initial=1)
        return bool(smallest > limits.tiny**0.2 and self.largest < limits.max**0.2)

    @margin
    def scale(self) -> Array | None:
        """See ``Margins``; None if all products of two margins are in range."""
        lowest, highest = moderate_totals(self.cells.dtype)
        if self.largest < highest and (self.exact or np.min(self.total, where=self.total > 0, initial=1) > lowest):
            return None
        return super().scale
