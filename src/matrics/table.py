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
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics import _backend
from matrics._backend import Array, Namespace


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


class Table:
    """One stack of confusion matrices, seen class-first.

    Parameters
    ----------
    cells
        Floating cells, ``[*batch, true, pred]``, or ``[true, pred, *batch]`` if ``class_first``.
    xp
        Their namespace.
    zero_division
        What an undefined (0/0) measure is worth.
    exact
        Whether sums and differences of cells are known to be exact.
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
        scale: Array | None = None,
    ) -> None:
        self.xp = xp
        self.is_host = xp is np
        self.cells = cells
        self.class_first = class_first
        self.true_axis, self.pred_axis = (0, 1) if class_first else (-2, -1)
        self.n: int = cells.shape[0] if class_first else cells.shape[-1]
        self.zero_division = zero_division
        self.exact = exact
        self.scale = scale

    # Memory order ---------------------------------------------------------------------------------------------------

    def lead(self, x: Array) -> Array:
        """``[*batch, class]`` as ``[class, *batch]``, a view."""
        return self.xp.permute_dims(x, (x.ndim - 1, *range(x.ndim - 1)))

    def sum_over(self, axis: int, x: Array) -> Array:
        """Sum cells over one class axis: ``[class, *batch]``."""
        sums = self.xp.sum(x, axis=axis)
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
        return self.true - self.tp if self.exact else self.sum_over(self.pred_axis, self.off_diagonal)

    @margin
    def fp(self) -> Array:
        """Items of other classes that were called this one."""
        return self.pred - self.tp if self.exact else self.sum_over(self.true_axis, self.off_diagonal)

    @margin
    def tn(self) -> Array:
        """Items of other classes that were not called this one: all cells outside the class's row and column.

        Running sums from both ends leave one row out without a subtraction. Unrolled over the classes, since cumulative
        sums are 7 to 30 times slower on every backend.
        """
        if self.exact:
            return self.not_true - self.fp
        xp, axis = self.xp, 0 if self.class_first else -1
        before = () if self.class_first else (...,)
        after = (...,) if self.class_first else ()
        others = self._sums_of_others(self.cells, self.true_axis)
        left = [xp.sum(row[(*before, slice(0, i), *after)], axis=axis) for i, row in enumerate(others)]
        right = [xp.sum(row[(*before, slice(i + 1, None), *after)], axis=axis) for i, row in enumerate(others)]
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
        return self.xp.sum(self.true, axis=0)

    @margin
    def hits(self) -> Array:
        """Items called what they are."""
        return self.xp.sum(self.tp, axis=0)

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

    @margin
    def class_covariance(self) -> Array:
        """Values tp tn - fp fn of the classes, scaled: m tp - true pred without the cancellation."""
        return self.scaled(self.tp) * self.scaled(self.tn) - self.scaled(self.fp) * self.scaled(self.fn)

    @margin
    def covariance(self) -> Array:
        """Their sum, m Σ tp - Σ true pred, scaled: ``[*batch]``."""
        return self.xp.sum(self.class_covariance, axis=0)

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
        rest = self.share(xp.sum(xp.where(shares == self.cellwise(largest), 0, self.cells), axis=axes))
        return shares * self.log_share(shares, self.cellwise(rest))

    @margin
    def joint_entropy(self) -> Array:
        """Entropy of the cells."""
        return 0 - self.xp.sum(self.share_log_share, axis=(self.true_axis, self.pred_axis))

    @margin
    def true_entropy(self) -> Array:
        """Entropy of the true classes' sizes."""
        return self.entropy(self.share(self.true), self.share(self.not_true))

    @margin
    def pred_entropy(self) -> Array:
        """Entropy of the predicted classes' sizes."""
        return self.entropy(self.share(self.pred), self.share(self.not_pred))

    def entropy(self, shares: Array, rests: Array) -> Array:
        """-Σ p ln p over the classes, where each rest is 1 - p."""
        # 0 - x, since -x would be -0.0 for a single class.
        return 0 - self.xp.sum(shares * self.log_share(shares, rests), axis=0)

    def log_share(self, shares: Array, rests: Array) -> Array:
        """Return ln p, from 1 - p where p is above ½; 0 where p is 0."""
        xp, most = self.xp, shares > 0.5
        return xp.where(most, xp.log1p(-xp.where(most, rests, 0)), self.log(xp.where(most, 1, shares)))

    # The seam where 0/0 and 0 ln 0 are made safe, in value and in gradient ------------------------------------------

    def divide(self, a: Array, b: Array) -> Array:
        """``a / b``; ``zero_division`` where b is 0."""
        if self.is_host:  # in silence: the block is under errstate, and nothing asks for a gradient
            return a / b if self.all_positive(b) else np.where(b == 0, self.zero_division, a / b)
        return self.define(self.ratio(a, b), ~self.is_zero(b))

    def ratio(self, a: Array, b: Array) -> Array:
        """``a / b``; 0 where b is 0. For the parts of a formula whose whole ``define`` then judges."""
        if self.all_positive(b):
            return a / b
        # Both wheres are needed: a gradient through 0/0 is NaN even where its value is then replaced.
        empty = self.is_zero(b)
        return self.xp.where(empty, 0, _backend.divide(a, self.xp.where(empty, 1, b), self.xp))

    def is_zero(self, x: Array) -> Array:
        """Where x is 0. Off the host, where gradients are, so are subnormal numbers: their reciprocal is infinite."""
        return x == 0 if self.is_host else x < float(self.xp.finfo(x.dtype).smallest_normal)

    def all_positive(self, x: Array) -> bool:
        """Whether the host has seen that nothing here is 0; elsewhere nobody looks."""
        return self.is_host and x.size > 0 and bool(x.min() > 0)

    def define(self, value: Array, condition: Array) -> Array:
        """``value`` where the condition holds; elsewhere the measure is undefined: ``zero_division``."""
        return self.xp.where(condition, value, self.zero_division)

    def undefined(self) -> Array:
        """An undefined value for every matrix, ``[*batch]`` (a measure of one class, for example)."""
        return self.xp.full_like(self.total, self.zero_division)

    def sqrt(self, x: Array) -> Array:
        """Square root whose gradient at 0 is 0 instead of infinite."""
        zero = self.is_zero(x)
        return self.xp.where(zero, 0, self.xp.sqrt(self.xp.where(zero, 1, x)))

    def x_log_x(self, x: Array) -> Array:
        """Return x ln x; 0 where x is 0, with gradient 0."""
        return x * self.log(x)

    def log(self, x: Array) -> Array:
        """Return ln x; 0 where x is 0."""
        return self.xp.log(self.xp.where(self.is_zero(x), 1, x))

    # Other tables ---------------------------------------------------------------------------------------------------

    def _two_by_two(self, cells: Array) -> Table:
        return Table(cells, self.xp, class_first=True, zero_division=self.zero_division, scale=self.scale)

    @margin
    def one_vs_rest(self) -> Table:
        """Each class against the rest: a table of 2×2 matrices over ``[class, *batch]``; the class is index 1."""
        stack = self.xp.stack
        return self._two_by_two(stack([stack([self.tn, self.fp]), stack([self.fn, self.tp])]))

    @margin
    def pooled(self) -> Table:
        """The 2×2 tables of all classes added up, for micro averages."""
        return self._two_by_two(self.xp.sum(self.one_vs_rest.cells, axis=2))

    @margin
    def repaired(self) -> Table:
        """1/n added to every cell of the matrices that have an empty true class (Dembélé)."""
        return self.repair_where(self.xp.any(self.true == 0, axis=0))

    def repair_where(self, condition: Array) -> Table:
        """1/n added to every cell of the matrices where the condition ``[*batch]`` holds."""
        cells = self.xp.where(self.cellwise(condition), self.cells + 1 / self.n, self.cells)
        return Table(cells, self.xp, class_first=self.class_first, zero_division=self.zero_division)
