"""Table: what measures are made of, from the margins of one stack: shares, rates, covariance, entropies, other tables.

Everything is computed on first use and kept, so that fifty measures cost about one pass.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from matrics._backend import Array
from matrics.margins import Margins, margin


class Table(Margins):
    """One stack of confusion matrices, as measures see it. Its parameters are those of ``Margins``."""

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

        That is ``x`` times a power of two, which changes no digit; on the host ``x`` itself, unless counts are extreme.
        """
        if self.scale is None:
            return x
        return x * (self.scale if x.ndim == self.total.ndim else self.scale[None, ...])

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

    # Factors of the products of two classes, each an array or a ``Wide`` --------------------------------------------

    @margin
    def outcomes(self) -> tuple[Array, Array, Array, Array]:
        """The counts tp, fp, fn, tn of each class, as factors of products."""
        return self.wide(self.tp), self.wide(self.fp), self.wide(self.fn), self.wide(self.tn)

    @margin
    def sizes(self) -> tuple[Array, Array, Array, Array]:
        """The row sum and the column sum of each class, and what each leaves of the total."""
        return self.wide(self.true), self.wide(self.pred), self.wide(self.not_true), self.wide(self.not_pred)

    @margin
    def odds(self) -> tuple[Array, Array]:
        """The products tp tn and fp fn of each class."""
        tp, fp, fn, tn = self.outcomes
        return tp * tn, fp * fn

    @margin
    def beyond_chance(self) -> Array:
        """Values tp tn - fp fn = m tp - true pred of each class."""
        right, wrong = self.odds
        return right - wrong

    @margin
    def whole(self) -> Array:
        """The total beside the classes, as a factor of products."""
        return self.wide(self.total[None, ...])

    # Rates of the cells, in the order of the cells --------------------------------------------------------------------

    @margin
    def true_rates(self) -> Array:
        """The cells over their true class: rows sum to 1, or to 0 for an empty class."""
        return self.rate(self.cells, self.rowwise(self.true), self.has_true)

    @margin
    def pred_rates(self) -> Array:
        """The cells over their predicted class: columns sum to 1, or to 0 for a class that nothing is called."""
        return self.rate(self.cells, self.columnwise(self.pred), self.has_pred)

    @margin
    def beyond_pred_share(self) -> Array:
        """``true_rates`` less the share of the predicted class: 0 for a guess, and in empty rows."""
        return self._beyond_share(self.true_rates, self.rowwise(self.true), along=0)

    @margin
    def beyond_true_share(self) -> Array:
        """``pred_rates`` less the share of the true class: 0 for a guess, and in empty columns."""
        return self._beyond_share(self.pred_rates, self.columnwise(self.pred), along=1)

    def _beyond_share(self, rates: Array, sums: Array, *, along: Literal[0, 1]) -> Array:
        """What is (m c - t k) / (m s) for each cell c in row t and column k, where s is one of these sums.

        Beside a dominant class a rate and a share are equal but for rounding, and what would be left of their
        difference hides all other classes: the counts around each cell have no such part in common.
        """
        total = self.cellwise(self.total)
        if not self.is_host:
            others = self.around
            part = self.ratio(others[along], sums) * self.ratio(others[1 - along], total)
            return rates * self.ratio(others[2], total) - part
        cells, whole = self.wide(self.cells), self.wide(total)
        if self.exact_products:
            beyond = cells * whole - self.wide(self.rowwise(self.true)) * self.wide(self.columnwise(self.pred))
        else:
            around = [self.wide(x) for x in self.around]
            beyond = cells * around[2] - around[0] * around[1]
        return self.ratio(beyond, self.wide(sums) * whole)

    @margin
    def mean_square_contingency(self) -> Array:
        """χ² / m as Σ (c/t - k/m) (c/k - t/m): no expected count, which could leave the range of float32."""
        axes = (self.true_axis, self.pred_axis)
        squared = self.sum(self.beyond_pred_share * self.beyond_true_share, axis=axes)
        # The two factors have one sign, but for rounding.
        return self.not_negative(squared)

    # Covariance -------------------------------------------------------------------------------------------------------

    def _factor(self, x: Array) -> Array:
        """``x`` as a factor of products that are added up.

        On the host float32 becomes float64, which holds the products of its whole numbers: that is less work than to
        keep their digits in float32.
        """
        x = self.scaled(x)
        return x.astype(self.product_dtype, copy=False) if self.is_host else x

    def _rounded(self, x: Array) -> Array:
        """What has been made of factors, in the dtype of the cells."""
        return x.astype(self.total.dtype, copy=False) if self.is_host else x

    @margin
    def _true(self) -> Array:
        """Row sums as factors."""
        return self._factor(self.true)

    @margin
    def _pred(self) -> Array:
        """Column sums as factors."""
        return self._factor(self.pred)

    @margin
    def _square(self) -> Array:
        """m²."""
        return self._factor(self.total) ** 2

    @margin
    def _overlap(self) -> Array:
        """Σ true pred; to be taken from another product where both are exact."""
        return self._dot(self._true, self._pred)

    def _dot(self, x: Array, y: Array) -> Array:
        """Σ x y over the classes."""
        if self.exact_products:  # nothing rounds, so the host may add up in any order: in one pass
            return np.einsum("i...,i...->...", x, y)
        return self.sum(x * y, axis=0)

    @margin
    def _class_covariance(self) -> Array:
        """Values tp tn - fp fn of the classes, scaled: m tp - true pred without the cancellation."""
        factor = self._factor
        if self.exact_products:
            return factor(self.tp) * factor(self.total) - self._true * self._pred
        return factor(self.tp) * factor(self.tn) - factor(self.fp) * factor(self.fn)

    @margin
    def informedness(self) -> Array:
        """Tpr + tnr - 1, not as a difference of rates, which loses the digits that they share."""
        true, _, not_true, _ = self.sizes
        return self.ratio(self.beyond_chance, true * not_true)

    @margin
    def markedness(self) -> Array:
        """Ppv + npv - 1, likewise."""
        _, pred, _, not_pred = self.sizes
        return self.ratio(self.beyond_chance, pred * not_pred)

    @margin
    def covariance(self) -> Array:
        """Their sum, m Σ tp - Σ true pred, scaled: ``[*batch]``."""
        if self.exact_products:
            return self._rounded(self._factor(self.hits) * self._factor(self.total) - self._overlap)
        return self._rounded(self.sum(self._class_covariance, axis=0))

    @margin
    def true_variance(self) -> Array:
        """Σ true (m - true), scaled."""
        if self.exact_products:
            return self._rounded(self._square - self._dot(self._true, self._true))
        return self._rounded(self._dot(self._true, self._factor(self.not_true)))

    @margin
    def pred_variance(self) -> Array:
        """Σ pred (m - pred), scaled."""
        if self.exact_products:
            return self._rounded(self._square - self._dot(self._pred, self._pred))
        return self._rounded(self._dot(self._pred, self._factor(self.not_pred)))

    @margin
    def disagreement_by_chance(self) -> Array:
        """Σ true (m - pred), scaled."""
        if self.exact_products:
            return self._rounded(self._square - self._overlap)
        return self._rounded(self._dot(self._true, self._factor(self.not_pred)))

    @margin
    def class_covariance_share(self) -> Array:
        """Values (tp tn - fp fn) / m² of the classes."""
        return self.ratio(self.beyond_chance, self.whole * self.whole)

    # Entropies, [*batch], in nats -------------------------------------------------------------------------------------

    @margin
    def share_log_share(self) -> Array:
        """Values p ln p of the cells: the one logarithm pass that entropies and confusion entropies share.

        Where p is nearly 1, its logarithm is that of the rest: p itself has no digits left for it.
        """
        xp, axes, shares = self.xp, (self.true_axis, self.pred_axis), self.shares
        largest = xp.max(shares, axis=axes)
        if self.is_host and not (largest > 0.5).any():  # then of what follows this is left, with the same bits
            return shares * (np.log1p(shares.dtype.type(-0.5)) + self.log(2 * shares))
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
        xp, rates, beyond, expected = self.xp, self.true_rates, self.beyond_pred_share, self.columnwise(self.pred_share)
        near = (xp.abs(beyond) < expected / 2) & ~self.is_zero(expected)
        of_near = xp.log1p(self.ratio(xp.where(near, beyond, 0), xp.where(near, expected, 1)))
        log_ratio = xp.where(near, of_near, self.log(rates) - self.log(expected))
        # The shares of a row and of a column are not multiplied with each other: their product may vanish.
        terms = self.rowwise(self.true_share) * (rates * log_ratio - beyond)
        return self.sum(terms, axis=(self.true_axis, self.pred_axis))

    def log_share(self, size: Array, rest: Array) -> Array:
        """Ln (size / m), finite for a size of 0: the share itself may vanish, or have no digits left near 1."""
        near = self.xp.log1p(-self.share(self.xp.where(size > rest, rest, 0)))
        far = self.log(self.nonzero(self.wide(size)) / self.nonzero(self.whole))
        return self.xp.where(size > rest, near, far)

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

    def _two_by_two(self, cells: Array, **seen: Any) -> Table:
        return Table(cells, self.xp, class_first=True, zero_division=self.zero_division, **seen)

    @margin
    def one_vs_rest(self) -> Table:
        """Each class against the rest: a table of 2×2 matrices over ``[class, *batch]``; the class is index 1."""
        stack = self.xp.stack
        cells = stack([stack([self.tn, self.fp]), stack([self.fn, self.tp])])
        seen = {"exact": self.exact, "exact_products": self.exact_products, "product_dtype": self.product_dtype}
        return self._two_by_two(cells, is_moderate=self.is_moderate, **seen)

    @margin
    def pooled(self) -> Table:
        """The 2×2 tables of all classes added up, for micro averages."""
        # Every error is one class's false positive and another's false negative: one sum, lest they differ by rounding.
        stack, errors = self.xp.stack, self.errors
        cells = stack([stack([self.sum(self.tn, axis=0), errors]), stack([errors, self.hits])])
        return self._two_by_two(cells, is_moderate=self.is_moderate)

    def pairs(self, unit: Array | float = 1) -> Table:
        """Pairs of items, apart (0) or together (1) in truth and in the prediction: a table of 2×2 matrices.

        With a unit ``[*batch]`` for one item, each pair is the square of that.
        """
        xp, axes = self.xp, (self.true_axis, self.pred_axis)
        dtype = np.float64 if self.is_host else self.cells.dtype
        if self.exact_products:
            # Squares are exact as well, and so are their differences.
            total, cells = (xp.astype(x, dtype) for x in (self.total, self.cells))
            whole, same = total**2, self.sum(cells**2, axis=axes)
            true, pred = (self.sum(xp.astype(x, dtype) ** 2, axis=0) for x in (self.true, self.pred))
            twice = [whole - true - pred + same, pred - same, true - same, same - total]
        else:  # each pair is two of: the same cell, the same row, the same column, or neither
            one = unit if isinstance(unit, (int, float)) else self.cellwise(unit)
            rest_of_row, rest_of_column, elsewhere, cells = (
                xp.astype(x * one, dtype) for x in (*self.around, self.cells)
            )
            twice = [self.sum(cells * other, axis=axes) for other in (elsewhere, rest_of_column, rest_of_row)]
            twice.append(self.not_negative(self.sum(cells * (cells - one), axis=axes)))
        apart, pred_only, true_only, together = (pairs / 2 for pairs in twice)
        return self._two_by_two(xp.stack([xp.stack([apart, pred_only]), xp.stack([true_only, together])]))

    @margin
    def repaired(self) -> Table:
        """1/n added to every cell of the matrices that have an empty true class (Dembélé)."""
        return self.repair_where(self.xp.any(self.true == 0, axis=0))

    def repair_where(self, condition: Array) -> Table:
        """1/n added to every cell of the matrices where the condition ``[*batch]`` holds."""
        cells = self.xp.where(self.cellwise(condition), self.cells + 1 / self.n, self.cells)
        return Table(cells, self.xp, class_first=self.class_first, zero_division=self.zero_division)
