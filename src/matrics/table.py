"""Table: one stack of confusion matrices and its margins, each computed once.

Inside, classes come first and the batch last: a margin is ``[class, *batch]``, a total ``[*batch]``, so that formulas
read as on paper (``t.divide(t.tp, t.true)``) and reduce over leading axes. Where the cells themselves lie is the
table's own business: class-first in blocks on the host, where they were given elsewhere (XLA is slowed down several
times by a transposed stack), with only the margins brought class-first.

No sum here is an inexact difference. ``fn``, ``fp`` and ``tn`` add up the cells they consist of: ``true - tp`` loses
every digit of a few errors beside 10**17 hits, and in float32 beside 10**8. Differences are taken, at a third of the
cost, only where the host has seen that all cells are whole numbers whose sum is small enough to make them exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from matrics import _backend
from matrics._backend import Array, Namespace
from matrics.safety import MOST_UNROLLED, Safe, add


class margin:  # noqa: N801 (it reads as a decorator, like property)
    """A property computed on first use and kept.

    ``functools.cached_property`` would do, but on Python 3.11 it takes a lock, which ``torch.compile`` refuses.
    """

    def __init__(self, function: Callable[[Any], Array]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, table: Any, owner: type | None = None) -> Any:
        if table is None:
            return self
        value = self.function(table)
        setattr(table, self.name, value)
        return value


class Table(Safe):
    """One stack of confusion matrices, seen class-first.

    Parameters
    ----------
    cells
        Floating cells, ``[*batch, true, pred]``, or ``[true, pred, *batch]`` if ``class_first``.
    xp
        Their namespace.
    zero_division
        What an undefined (0/0) measure is worth.
    exact, exact_products
        Whether sums and differences of cells are known to be exact, and those of products of two of them.
    scale
        A power of two for each matrix that brings extreme counts into range, on the host.
    """

    def __init__(
        self,
        cells: Array,
        xp: Namespace,
        *,
        class_first: bool = False,
        zero_division: float = math.nan,
        exact: bool = False,
        exact_products: bool = False,
        scale: Array | None = None,
    ) -> None:
        super().__init__(xp, zero_division)
        self.cells = cells
        self.class_first = class_first
        self.true_axis, self.pred_axis = (0, 1) if class_first else (-2, -1)
        self.n: int = cells.shape[0] if class_first else cells.shape[-1]
        self.is_unrolled = self.is_xla and 1 < self.n <= MOST_UNROLLED
        self.exact = exact
        self.exact_products = exact_products
        self.scale = scale

    # Memory order ---------------------------------------------------------------------------------------------------

    def lead(self, x: Array) -> Array:
        """``[*batch, class]`` as ``[class, *batch]``, a view."""
        return self.xp.permute_dims(x, (x.ndim - 1, *range(x.ndim - 1)))

    def sum_over(self, axis: int, x: Array) -> Array:
        """Sum cells over one class axis: ``[class, *batch]``."""
        sums = self.sum(x, axis=axis)
        sums = sums if self.class_first else self.lead(sums)
        # On the host cells may lie in another order, and then later sums would round differently.
        return np.ascontiguousarray(sums) if self.is_host else sums

    def cellwise(self, x: Array) -> Array:
        """``[*batch]`` so that it broadcasts against the cells."""
        return x[None, None, ...] if self.class_first else x[..., None, None]

    def rowwise(self, x: Array) -> Array:
        """``[true, *batch]`` so that it broadcasts against the cells."""
        return x[:, None, ...] if self.class_first else self._trail(x)[..., :, None]

    def columnwise(self, x: Array) -> Array:
        """``[pred, *batch]`` so that it broadcasts against the cells."""
        return x[None, :, ...] if self.class_first else self._trail(x)[..., None, :]

    def _trail(self, x: Array) -> Array:
        return self.xp.permute_dims(x, (*range(1, x.ndim), 0))

    def cell(self, x: Array, i: int, j: int) -> Array:
        """Cell (i, j) of something in the order of the cells: ``[*batch]``."""
        return x[i, j, ...] if self.class_first else x[..., i, j]

    @margin
    def is_diagonal(self) -> Array:
        """True on the diagonal; of the rank of the cells."""
        index = _backend.class_index(self.n, self.cells, self.xp)
        batch = (1,) * (self.cells.ndim - 2)
        shape = (self.n, self.n, *batch) if self.class_first else (*batch, self.n, self.n)
        return self.xp.reshape(index[:, None] == index[None, :], shape)

    def as_matrices(self, x: Array) -> Array:
        """Something in the order of the cells as ``[*batch, true, pred]``, a view: what linear algebra takes."""
        return self.xp.permute_dims(x, (*range(2, x.ndim), 0, 1)) if self.class_first else x

    def diagonal(self, x: Array) -> Array:
        """The diagonal of something in the order of the cells: ``[class, *batch]``."""
        diagonal = self.lead(self.xp.linalg.diagonal(self.as_matrices(x)))
        return np.ascontiguousarray(diagonal) if self.is_host else diagonal

    # Margins, [class, *batch] ---------------------------------------------------------------------------------------

    @margin
    def off_diagonal(self) -> Array:
        """The errors: the cells with a zero diagonal."""
        return self.xp.where(self.is_diagonal, 0, self.cells)

    @margin
    def tp(self) -> Array:
        """The diagonal."""
        return self.diagonal(self.cells)

    @margin
    def fn(self) -> Array:
        """Items of the class that were called something else."""
        if self.exact:
            return self.true - self.tp
        if self.is_unrolled:
            return self._sums_beside(self.xp.unstack(self.cells, axis=self.true_axis))
        return self.sum_over(self.pred_axis, self.off_diagonal)

    @margin
    def fp(self) -> Array:
        """Items of other classes that were called this one."""
        if self.exact:
            return self.pred - self.tp
        if self.is_unrolled:
            return self._sums_beside(self.xp.unstack(self.cells, axis=self.pred_axis))
        return self.sum_over(self.true_axis, self.off_diagonal)

    @margin
    def tn(self) -> Array:
        """Items of other classes that were not called this one: all cells outside the class's row and column.

        Running sums from both ends leave one row out without a subtraction. Unrolled over the classes, since cumulative
        sums are 7 to 30 times slower on every backend.
        """
        if self.exact:
            return self.not_true - self.fp
        return self._sums_beside(self._sums_of_others(self.cells, self.true_axis))

    def _sums_beside(self, rows: Sequence[Array]) -> Array:
        """For each class the sum of its row, a slice of cells, without the class's own entry: ``[class, *batch]``."""
        xp, axis = self.xp, 0 if self.class_first else -1
        if self.is_unrolled:
            entries = [xp.unstack(row, axis=axis) for row in rows]
            return xp.stack([add((*row[:i], *row[i + 1 :])) for i, row in enumerate(entries)])
        before = () if self.class_first else (...,)
        after = (...,) if self.class_first else ()
        left = [self.sum(row[(*before, slice(0, i), *after)], axis=axis) for i, row in enumerate(rows)]
        right = [self.sum(row[(*before, slice(i + 1, None), *after)], axis=axis) for i, row in enumerate(rows)]
        return xp.stack(left) + xp.stack(right)

    def _sums_of_others(self, x: Array, axis: int) -> list[Array]:
        """For each index of a class axis the sum of the slices at all others."""
        n = self.n
        before: tuple[Any, ...] = (slice(None),) * (axis % x.ndim)
        slices = [x[(*before, i, ...)] for i in range(n)]
        if n == 1:
            return [0 * slices[0]]
        above, below = [slices[0]], [slices[-1]]
        for i in range(1, n - 1):
            above.append(above[-1] + slices[i])
            below.append(below[-1] + slices[-1 - i])
        return [below[-1], *(above[i - 1] + below[n - 2 - i] for i in range(1, n - 1)), above[-1]]

    @margin
    def around(self) -> tuple[Array, Array, Array]:
        """For each cell the sums of the other cells of its row, of its column, and of neither, in the cells' order."""
        stack = self.xp.stack
        row = stack(self._sums_of_others(self.cells, self.pred_axis), axis=self.pred_axis)
        column = stack(self._sums_of_others(self.cells, self.true_axis), axis=self.true_axis)
        return row, column, stack(self._sums_of_others(row, self.true_axis), axis=self.true_axis)

    @margin
    def true(self) -> Array:
        """Items of each true class: row sums."""
        return self.sum_over(self.pred_axis, self.cells) if self.exact else self.tp + self.fn

    @margin
    def pred(self) -> Array:
        """Items called each class: column sums."""
        return self.sum_over(self.true_axis, self.cells) if self.exact else self.tp + self.fp

    @margin
    def not_true(self) -> Array:
        """Items of the other true classes."""
        return self.total - self.true if self.exact else self.fp + self.tn

    @margin
    def not_pred(self) -> Array:
        """Items called another class."""
        return self.total - self.pred if self.exact else self.fn + self.tn

    # Totals, [*batch] -----------------------------------------------------------------------------------------------

    @margin
    def total(self) -> Array:
        """All items."""
        return self.sum(self.true, axis=0)

    @margin
    def hits(self) -> Array:
        """Items called what they are."""
        return self.sum(self.tp, axis=0)

    @margin
    def errors(self) -> Array:
        """Items called something else."""
        return self.sum(self.fn, axis=0)

    @margin
    def valid(self) -> Array:
        """Whether every cell is finite and not negative, and their sum finite."""
        lowest = self.xp.min(self.cells, axis=(self.true_axis, self.pred_axis))
        return (lowest >= 0) & self.xp.isfinite(self.total)

    # Shares of the total ----------------------------------------------------------------------------------------------

    def share(self, x: Array) -> Array:
        """``x`` over the total, ``[*batch]`` or ``[class, *batch]``; 0 in an empty matrix."""
        return self.ratio(x, self.total if x.ndim == self.total.ndim else self.total[None, ...])

    @margin
    def shares(self) -> Array:
        """The cells over the total, in the order of the cells."""
        return self.ratio(self.cells, self.cellwise(self.total))

    def scaled(self, x: Array) -> Array:
        """``x`` as a factor of products whose scale cancels: they stay in range, whatever the counts.

        Off the host that is the share of the total. On the host it is ``x`` itself, or ``x`` over a power of two where
        the counts are extreme, which gives the same bits.
        """
        if not self.is_host:
            return self.share(x)
        return x if self.scale is None else x * self.scale

    # Rates of the classes, [class, *batch]; 0 where there is nothing to divide by ---------------------------------

    @margin
    def tpr(self) -> Array:
        """Hits over the items of the true class."""
        return self.rate(self.tp, self.true, self.has_true)

    @margin
    def tnr(self) -> Array:
        """True negatives over the items of the other true classes."""
        return self.rate(self.tn, self.not_true, self.has_not_true)

    @margin
    def ppv(self) -> Array:
        """Hits over the items called the class."""
        return self.rate(self.tp, self.pred, self.has_pred)

    @margin
    def npv(self) -> Array:
        """True negatives over the items called another class."""
        return self.rate(self.tn, self.not_pred, self.has_not_pred)

    @margin
    def fnr(self) -> Array:
        """Misses over the items of the true class."""
        return self.rate(self.fn, self.true, self.has_true)

    @margin
    def fpr(self) -> Array:
        """False alarms over the items of the other true classes."""
        return self.rate(self.fp, self.not_true, self.has_not_true)

    @margin
    def has_true(self) -> Array:
        """Where a class has items."""
        return self.is_positive(self.true)

    @margin
    def has_not_true(self) -> Array:
        """Where the other classes have items."""
        return self.is_positive(self.not_true)

    @margin
    def has_pred(self) -> Array:
        """Where something is called the class."""
        return self.is_positive(self.pred)

    @margin
    def has_not_pred(self) -> Array:
        """Where something is called another class."""
        return self.is_positive(self.not_pred)

    @margin
    def has_every_class(self) -> Array:
        """Where no true class is empty: ``[*batch]``, or True alone where the host has seen that it is everywhere."""
        return self.has_true if self.has_true.ndim == 0 else self.xp.all(self.has_true, axis=0)

    @margin
    def in_truth(self) -> Array:
        """Where a class has both items and others beside it, so that its two rates are defined."""
        return self.has_true & self.has_not_true

    @margin
    def in_both(self) -> Array:
        """Where a class has items and something is called so."""
        return self.has_true & self.has_pred

    @margin
    def true_share(self) -> Array:
        """Shares of the true classes."""
        return self.share(self.true)

    @margin
    def pred_share(self) -> Array:
        """Shares of the predicted classes."""
        return self.share(self.pred)

    @margin
    def scaled_cells(self) -> Array:
        """The cells, scaled as in ``scaled``."""
        if not self.is_host:
            return self.shares
        return self.cells if self.scale is None else self.cells * self.scale

    @margin
    def outcomes(self) -> tuple[Array, Array, Array, Array]:
        """The counts tp, fp, fn, tn of each class, as shares of the total."""
        return self.share(self.tp), self.share(self.fp), self.share(self.fn), self.share(self.tn)

    # Rates of the cells, in the order of the cells --------------------------------------------------------------------

    @margin
    def true_rates(self) -> Array:
        """The cells over their true class: rows sum to 1, or to 0 for an empty class."""
        return self.ratio(self.cells, self.rowwise(self.true))

    @margin
    def pred_rates(self) -> Array:
        """The cells over their predicted class: columns sum to 1, or to 0 for a class that nothing is called."""
        return self.ratio(self.cells, self.columnwise(self.pred))

    @margin
    def beyond_pred_share(self) -> Array:
        """``true_rates`` less the share of the predicted class: 0 for a guess, and in empty rows."""
        rest = self.true_rates - self.columnwise(self.pred_share)
        return rest if self.all_positive(self.true) else self.xp.where(self.rowwise(self.true) == 0, 0, rest)

    @margin
    def beyond_true_share(self) -> Array:
        """``pred_rates`` less the share of the true class: 0 for a guess, and in empty columns."""
        rest = self.pred_rates - self.rowwise(self.true_share)
        return rest if self.all_positive(self.pred) else self.xp.where(self.columnwise(self.pred) == 0, 0, rest)

    @margin
    def mean_square_contingency(self) -> Array:
        """χ² / m as Σ (c/t - k/m) (c/k - t/m): no expected count, which could leave the range of float32."""
        axes = (self.true_axis, self.pred_axis)
        squared = self.sum(self.beyond_pred_share * self.beyond_true_share, axis=axes)
        # The two factors have one sign, but for rounding.
        return self.xp.where(squared > 0, squared, 0)

    # Covariance -------------------------------------------------------------------------------------------------------

    @margin
    def class_covariance(self) -> Array:
        """Values tp tn - fp fn of the classes, scaled: m tp - true pred without the cancellation."""
        scaled = self.scaled
        if self.exact_products:
            return scaled(self.tp) * scaled(self.total) - scaled(self.true) * scaled(self.pred)
        return scaled(self.tp) * scaled(self.tn) - scaled(self.fp) * scaled(self.fn)

    @margin
    def informedness(self) -> Array:
        """Tpr + tnr - 1, not as a difference of rates, which loses the digits that they share."""
        return self.ratio(self.class_covariance, self.scaled(self.true) * self.scaled(self.not_true))

    @margin
    def markedness(self) -> Array:
        """Ppv + npv - 1, likewise."""
        return self.ratio(self.class_covariance, self.scaled(self.pred) * self.scaled(self.not_pred))

    @margin
    def covariance(self) -> Array:
        """Their sum, m Σ tp - Σ true pred, scaled: ``[*batch]``."""
        if self.exact_products:
            return self._product(self.hits) - self._overlap
        return self.sum(self.class_covariance, axis=0)

    @margin
    def true_variance(self) -> Array:
        """Σ true (m - true), scaled."""
        if self.exact_products:
            return self._product(self.total) - self.sum(self.scaled(self.true) ** 2, axis=0)
        return self.sum(self.scaled(self.true) * self.scaled(self.not_true), axis=0)

    @margin
    def pred_variance(self) -> Array:
        """Σ pred (m - pred), scaled."""
        if self.exact_products:
            return self._product(self.total) - self.sum(self.scaled(self.pred) ** 2, axis=0)
        return self.sum(self.scaled(self.pred) * self.scaled(self.not_pred), axis=0)

    @margin
    def disagreement_by_chance(self) -> Array:
        """Σ true (m - pred), scaled."""
        if self.exact_products:
            return self._product(self.total) - self._overlap
        return self.sum(self.scaled(self.true) * self.scaled(self.not_pred), axis=0)

    def _product(self, part: Array) -> Array:
        """``part`` m, scaled."""
        return self.scaled(part) * self.scaled(self.total)

    @margin
    def _overlap(self) -> Array:
        """Σ true pred, scaled; to be taken from another product where both are exact."""
        return self.sum(self.scaled(self.true) * self.scaled(self.pred), axis=0)

    @margin
    def class_covariance_share(self) -> Array:
        """Values (tp tn - fp fn) / m² of the classes."""
        total = self.scaled(self.total)
        return self.ratio(self.class_covariance, (total * total)[None, ...])

    # Entropies, [*batch], in nats -------------------------------------------------------------------------------------

    @margin
    def share_log_share(self) -> Array:
        """Values p ln p of the cells: the one logarithm pass that entropies and confusion entropies share.

        Where p is nearly 1, its logarithm is that of the rest: p itself has no digits left for it.
        """
        xp, axes, shares = self.xp, (self.true_axis, self.pred_axis), self.shares
        largest = xp.max(shares, axis=axes)
        if self.is_host and not (largest > 0.5).any():
            return self.x_log_x(shares)
        rest = self.share(self.sum(xp.where(shares == self.cellwise(largest), 0, self.cells), axis=axes))
        return shares * self.log_near_one(shares, xp.where(shares > 0.5, self.cellwise(-rest), -1))

    @margin
    def joint_entropy(self) -> Array:
        """Entropy of the cells."""
        return 0 - self.sum(self.share_log_share, axis=(self.true_axis, self.pred_axis))

    @margin
    def true_entropy(self) -> Array:
        """Entropy of the true classes' sizes."""
        return self.entropy(self.true_share, self.share(self.not_true))

    @margin
    def pred_entropy(self) -> Array:
        """Entropy of the predicted classes' sizes."""
        return self.entropy(self.pred_share, self.share(self.not_pred))

    @margin
    def class_error_logs(self) -> Array:
        """Sums of p ln p over the errors of a class's row and column: ``[class, *batch]``."""
        errors = self.xp.where(self.is_diagonal, 0, self.share_log_share)
        return self.sum_over(self.pred_axis, errors) + self.sum_over(self.true_axis, errors)

    @margin
    def mutual_information(self) -> Array:
        """Mutual information of the true and the predicted class.

        As Σ e (r ln r - (r - 1)), where e is the share that a cell would have by chance and r = p / e: no term of it is
        negative. The difference of entropies has no digits left where they are nearly equal.
        """
        expected = self.columnwise(self.pred_share)
        ratio = self.ratio(self.true_rates, expected)
        beyond = self.ratio(self.beyond_pred_share, expected)
        terms = self.rowwise(self.true_share) * expected * (ratio * self.log_near_one(ratio, beyond) - beyond)
        return self.sum(terms, axis=(self.true_axis, self.pred_axis))

    def entropy(self, shares: Array, rests: Array) -> Array:
        """-Σ p ln p over the classes, where each rest is 1 - p."""
        # 0 - x, since -x would be -0.0 for a single class.
        return 0 - self.sum(shares * self.log_near_one(shares, -rests), axis=0)

    def undefined(self) -> Array:
        """An undefined value for every matrix, ``[*batch]`` (a measure of one class, for example)."""
        return 0 * self.total + self.zero_division  # which has a gradient, if one of zeros

    def undefined_classes(self) -> Array:
        """An undefined value for every class, ``[class, *batch]``."""
        return 0 * self.tp + self.zero_division

    # Other tables ---------------------------------------------------------------------------------------------------

    def _two_by_two(self, cells: Array, **seen: bool) -> Table:
        return Table(cells, self.xp, class_first=True, zero_division=self.zero_division, scale=self.scale, **seen)

    @margin
    def one_vs_rest(self) -> Table:
        """Each class against the rest: a table of 2×2 matrices over ``[class, *batch]``; the class is index 1."""
        stack = self.xp.stack
        cells = stack([stack([self.tn, self.fp]), stack([self.fn, self.tp])])
        return self._two_by_two(cells, exact=self.exact, exact_products=self.exact_products)

    @margin
    def pooled(self) -> Table:
        """The 2×2 tables of all classes added up, for micro averages."""
        return self._two_by_two(self.sum(self.one_vs_rest.cells, axis=2))

    @margin
    def pairs(self) -> Table:
        """Pairs of items, apart (0) or together (1) in truth and in the prediction: a table of 2×2 matrices."""
        xp, axes = self.xp, (self.true_axis, self.pred_axis)
        if (
            self.exact
            and self.total.max(initial=0) ** 2 * self.cells.dtype.type(2) < 1 / np.finfo(self.cells.dtype).eps
        ):
            # Squares are exact as well, and so are their differences.
            whole, true, pred = self.total**2, (self.true**2).sum(axis=0), (self.pred**2).sum(axis=0)
            same = (self.cells**2).sum(axis=axes)
            twice = [whole - true - pred + same, pred - same, true - same, same - self.total]
        else:  # each pair is two of: the same cell, the same row, the same column, or neither
            rest_of_row, rest_of_column, elsewhere = self.around
            others = (elsewhere, rest_of_column, rest_of_row)
            twice = [self.sum(self.cells * other, axis=axes) for other in others]
            twice.append(xp.clip(self.sum(self.cells * (self.cells - 1), axis=axes), 0, None))
        apart, pred_only, true_only, together = (pairs / 2 for pairs in twice)
        cells = xp.stack([xp.stack([apart, pred_only]), xp.stack([true_only, together])])
        return Table(cells, xp, class_first=True, zero_division=self.zero_division)

    @margin
    def repaired(self) -> Table:
        """1/n added to every cell of the matrices that have an empty true class (Dembélé)."""
        return self.repair_where(self.xp.any(self.true == 0, axis=0))

    def repair_where(self, condition: Array) -> Table:
        """1/n added to every cell of the matrices where the condition ``[*batch]`` holds."""
        cells = self.xp.where(self.cellwise(condition), self.cells + 1 / self.n, self.cells)
        return Table(cells, self.xp, class_first=self.class_first, zero_division=self.zero_division)
