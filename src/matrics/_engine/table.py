"""``Table``: the shares, rates, covariances and entropies of a stack, from which formulas compute measures.

Sums are computed on first use and cached, so that fifty measures need about a single pass.
"""

from __future__ import annotations

from typing import Literal

from matrics._arrays import Array
from matrics._engine.margins import Margins, margin


class Table(Margins):
    """A stack of confusion matrices, for the formulas of measures; see ``Margins`` for the parameters."""

    def __array__(self, *_: object, **__: object) -> Array:
        raise TypeError(
            "expected a function of a matrics.typing.Table that uses t.tp, t.true, t.total and t.xp, got a function "
            "that treats the table as a NumPy array"
        )

    @property
    def of_normal_counts(self) -> Table:
        """A table for measures that do not depend on the scale of counts; on the host its counts are normal numbers."""
        return self

    # Shares of the total ----------------------------------------------------------------------------------------------

    def share(self, x: Array) -> Array:
        """The share x / total, for x ``[*batch]`` or ``[class, *batch]``; 0 in an empty matrix."""
        total = self.total if x.ndim == self.total.ndim else self.total[None, ...]
        return self.rate(x, total, self.has_samples)

    @margin
    def has_samples(self) -> Array:
        """Whether each matrix has samples, ``[*batch]``; without axes if all have samples (see ``is_positive``)."""
        return self.is_positive(self.total)

    @margin
    def not_empty(self) -> Array:
        """Whether each matrix has any samples, also if they are a subnormal number; in the shape of ``has_samples``."""
        return self.total != 0

    @margin
    def shares(self) -> Array:
        """The cells divided by the total, in the order of the cells."""
        return self.rate(self.cells, self.cellwise(self.total), self.has_samples)

    def scaled(self, x: Array) -> Array:
        """The array x times a power of two, for products whose scale cancels.

        Products stay in the range of floats for any counts. The power of two changes no digits.
        """
        if self.scale is None:
            return x
        return x * (self.scale if x.ndim == self.total.ndim else self.scale[None, ...])

    def scaled_dot(self, x: Array, y: Array) -> Array:
        """The sum of the products x y over the classes, both ``scaled``."""
        return self.dot(x, y) if self.scale is None else self.dot(self.scaled(x), self.scaled(y))

    # Rates of the classes, [class, *batch]; 0 where the divisor is 0 ----------------------------------------------

    @margin
    def tpr(self) -> Array:
        """True positives over the samples of the true class."""
        return self.rate(self.tp, self.true, self.has_true)

    @margin
    def tnr(self) -> Array:
        """True negatives over the samples of the other true classes."""
        return self.rate(self.tn, self.not_true, self.has_not_true)

    @margin
    def ppv(self) -> Array:
        """True positives over the samples predicted as the class."""
        return self.rate(self.tp, self.pred, self.has_pred)

    @margin
    def npv(self) -> Array:
        """True negatives over the samples predicted as another class."""
        return self.rate(self.tn, self.not_pred, self.has_not_pred)

    @margin
    def fnr(self) -> Array:
        """False negatives over the samples of the true class."""
        return self.rate(self.fn, self.true, self.has_true)

    @margin
    def fpr(self) -> Array:
        """False positives over the samples of the other true classes."""
        return self.rate(self.fp, self.not_true, self.has_not_true)

    @margin
    def has_true(self) -> Array:
        """Whether each class has samples."""
        return self.is_positive(self.true)

    @margin
    def has_not_true(self) -> Array:
        """Whether the other classes have samples."""
        return self.is_positive(self.not_true)

    @margin
    def has_pred(self) -> Array:
        """Whether a sample is predicted as the class."""
        return self.is_positive(self.pred)

    @margin
    def has_not_pred(self) -> Array:
        """Whether a sample is predicted as another class."""
        return self.is_positive(self.not_pred)

    @margin
    def has_every_class(self) -> Array:
        """Whether no true class is empty: ``[*batch]``, or without axes as in ``is_positive``."""
        return self.has_true if self.has_true.ndim == 0 else self.xp.all(self.has_true, axis=0)

    @margin
    def in_truth(self) -> Array:
        """Whether both the class and the other classes have samples, so that both rates are defined."""
        return self.has_true & self.has_not_true

    @margin
    def in_both(self) -> Array:
        """Whether the class has samples and predictions."""
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
    def mean_size(self) -> Array:
        """The mean of the row sum and the column sum of each class."""
        # Each is halved, as the sum could overflow; by a multiplication, which is three times as fast as a division.
        return 0.5 * self.true + 0.5 * self.pred

    # Factors of the products of two classes, each an array or a ``Wide`` --------------------------------------------

    @margin
    def outcomes(self) -> tuple[Array, Array, Array, Array]:
        """The counts tp, fp, fn, tn of each class, as factors of products."""
        return self.wide(self.tp), self.wide(self.fp), self.wide(self.fn), self.wide(self.tn)

    @margin
    def sizes(self) -> tuple[Array, Array, Array, Array]:
        """The row sum and the column sum of each class, and the total minus each."""
        return self.wide(self.true), self.wide(self.pred), self.wide(self.not_true), self.wide(self.not_pred)

    @margin
    def odds(self) -> tuple[Array, Array]:
        """The products tp tn and fp fn of each class."""
        tp, fp, fn, tn = self.outcomes
        return tp * tn, fp * fn

    @margin
    def beyond_chance(self) -> Array:
        """The difference tp tn - fp fn = m tp - true pred of each class."""
        right, wrong = self.odds
        return right - wrong

    @margin
    def whole(self) -> Array:
        """The total with an axis for the classes, as a factor of products."""
        return self.wide(self.total[None, ...])

    # Rates of the cells, in the order of the cells --------------------------------------------------------------------

    @margin
    def true_rates(self) -> Array:
        """The cells divided by the size of their true class: rows sum to 1, or to 0 for an empty class."""
        return self.rate(self.cells, self.rowwise(self.true), self.has_true)

    @margin
    def pred_rates(self) -> Array:
        """The cells divided by their column sum: columns sum to 1, or to 0 for a class without predictions."""
        return self.rate(self.cells, self.columnwise(self.pred), self.has_pred)

    @margin
    def beyond_pred_share(self) -> Array:
        """The difference of ``true_rates`` and the share of the predicted class: 0 for a guess, and in empty rows."""
        return self._beyond_share(self.true_rates, self.rowwise(self.true), along=0)

    @margin
    def beyond_true_share(self) -> Array:
        """The difference of ``pred_rates`` and the share of the true class: 0 for a guess, and in empty columns."""
        return self._beyond_share(self.pred_rates, self.columnwise(self.pred), along=1)

    def _beyond_share(self, rates: Array, sums: Array, *, along: Literal[0, 1]) -> Array:
        """The quotient (m c - t k) / (m s) for each cell c in row t and column k, where s is among ``sums``.

        With a dominant class the rate and the share are nearly equal, so their difference would be mostly rounding
        error. The counts around each cell avoid this cancellation.
        """
        total, others = self.cellwise(self.total), self.around
        part = self.ratio(others[along], sums) * self.ratio(others[1 - along], total)
        return rates * self.ratio(others[2], total) - part

    @margin
    def mean_square_contingency(self) -> Array:
        """The mean square contingency χ² / m = Σ (c/t - k/m) (c/k - t/m), without expected counts."""
        axes = (self.true_axis, self.pred_axis)
        squared = self.sum(self.beyond_pred_share * self.beyond_true_share, axis=axes)
        # The largest value, for a bijection of classes, without the rounding of the sum.
        is_bijection = (
            self.is_determined(self.true_axis) & self.is_determined(self.pred_axis) & ~self.is_zero(self.total)
        )
        most = self.sum(self.xp.astype(self.true != 0, squared.dtype), axis=0) - 1
        # The two factors have the same sign, except for rounding.
        return self.xp.where(is_bijection, most, self.not_negative(squared))

    # Covariance -------------------------------------------------------------------------------------------------------

    @margin
    def _class_covariance(self) -> Array:
        """The scaled difference tp tn - fp fn of the classes: m tp - true pred without cancellation."""
        if self.scale is None:
            return self.tp * self.tn - self.fp * self.fn
        scaled = self.scaled
        return scaled(self.tp) * scaled(self.tn) - scaled(self.fp) * scaled(self.fn)

    @margin
    def informedness(self) -> Array:
        """The informedness tpr + tnr - 1, not as a difference of rates, which would lose digits."""
        true, _, not_true, _ = self.sizes
        return self.ratio(self.beyond_chance, true * not_true)

    @margin
    def markedness(self) -> Array:
        """The markedness ppv + npv - 1, not as a difference of rates, which would lose digits."""
        _, pred, _, not_pred = self.sizes
        return self.ratio(self.beyond_chance, pred * not_pred)

    @margin
    def covariance(self) -> Array:
        """The scaled covariance m Σ tp - Σ true pred, ``[*batch]``."""
        return self.sum(self._class_covariance, axis=0)

    @margin
    def true_variance(self) -> Array:
        """The scaled sum Σ true (m - true)."""
        return self.scaled_dot(self.true, self.not_true)

    @margin
    def pred_variance(self) -> Array:
        """The scaled sum Σ pred (m - pred)."""
        return self.scaled_dot(self.pred, self.not_pred)

    @margin
    def disagreement_by_chance(self) -> Array:
        """The scaled sum Σ true (m - pred)."""
        return self.scaled_dot(self.true, self.not_pred)

    @margin
    def class_covariance_share(self) -> Array:
        """The quotient (tp tn - fp fn) / m² of each class."""
        return self.ratio(self.beyond_chance, self.whole * self.whole)

    # Entropies, [*batch], in nats -------------------------------------------------------------------------------------

    @margin
    def share_log_share(self) -> Array:
        """The products p ln p of the cells, which entropies and confusion entropies share.

        Where p is nearly 1, its logarithm is computed from the sum of the other cells, for precision.
        """
        xp, axes, shares, largest = self.xp, (self.true_axis, self.pred_axis), self.shares, self.largest_share
        rest = self.share(self.sum(xp.where(shares == self.cellwise(largest), 0, self.cells), axis=axes))
        return shares * self.log_near_one(shares, xp.where(shares > 0.5, self.cellwise(-rest), -1))

    @margin
    def largest_share(self) -> Array:
        """The largest share of a cell, ``[*batch]``."""
        return self.xp.max(self.shares, axis=(self.true_axis, self.pred_axis))

    @margin
    def joint_entropy(self) -> Array:
        """The entropy of the cells."""
        return 0 - self.sum(self.share_log_share, axis=(self.true_axis, self.pred_axis))

    @margin
    def true_entropy(self) -> Array:
        """The entropy of the sizes of the true classes."""
        return self.entropy(self.true_share, self.not_true)

    @margin
    def pred_entropy(self) -> Array:
        """The entropy of the sizes of the predicted classes."""
        return self.entropy(self.pred_share, self.not_pred)

    @margin
    def class_error_logs(self) -> Array:
        """The sums of p ln p over the errors in the row and the column of each class, ``[class, *batch]``."""
        errors = self.xp.where(self.is_diagonal, 0, self.share_log_share)
        return self.sum_over(self.pred_axis, errors) + self.sum_over(self.true_axis, errors)

    @margin
    def mutual_information(self) -> Array:
        """The mutual information of the true and the predicted class.

        It is Σ e (r ln r - (r - 1)), where e is the share of a cell by chance and r = p / e; no term is negative. The
        difference of nearly equal entropies would lose all digits.
        """
        xp, rates, beyond, expected = self.xp, self.true_rates, self.beyond_pred_share, self.columnwise(self.pred_share)
        near = (xp.abs(beyond) < expected / 2) & ~self.is_zero(expected)
        log_of_near = xp.log1p(self.ratio(xp.where(near, beyond, 0), xp.where(near, expected, 1)))
        log_ratio = xp.where(near, log_of_near, self.log(rates) - self.log(expected))
        # The shares of a row and of a column are not multiplied, as their product may vanish.
        terms = self.rowwise(self.true_share) * (rates * log_ratio - beyond)
        return self.sum(terms, axis=(self.true_axis, self.pred_axis))

    def is_determined(self, axis: int) -> Array:
        """Whether the true or the predicted class on an axis is a function of the class on the other axis.

        Measures of information are then at an end of their range, which sums of logarithms may miss by rounding.
        """
        number = self.xp.sum(self.xp.astype(self.cells != 0, self.cells.dtype), axis=axis, keepdims=True)
        return self.xp.all(number <= 1, axis=(self.true_axis, self.pred_axis))

    def eigenvalues(self, x: Array) -> Array:
        """The ascending eigenvalues ``[class, *batch]`` of symmetric matrices in the order of the cells.

        Cells must be finite, and not much larger than 1.
        """
        matrices = self.as_matrices(x)
        if not self.backend.has_operator(x):
            return self.lead(self.backend.eigvalsh(matrices))
        from matrics._engine.eigenvalues import operator

        batch = range(matrices.ndim - 2)
        cells = self.xp.permute_dims(matrices, (matrices.ndim - 2, matrices.ndim - 1, *batch))
        values: Array = operator.eigenvalues(self.xp.reshape(cells, (self.n, self.n, -1)))
        return self.xp.reshape(values, (self.n, *cells.shape[2:]))

    def log_share(self, size: Array, rest: Array) -> Array:
        """The logarithm ln(size / m), finite for a size of 0, and precise where the share vanishes or is near 1."""
        near = self.xp.log1p(-self.share(self.xp.where(size > rest, rest, 0)))
        far = self.log(self.nonzero(self.wide(size)) / self.nonzero(self.whole))
        return self.xp.where(size > rest, near, far)

    def entropy(self, shares: Array, rests: Array) -> Array:
        """The entropy -Σ p ln p, from the share p of each class and the number of samples outside the class."""
        # 0 - x, as -x would be -0.0 for a single class.
        return 0 - self.sum(shares * self.log_near_one(shares, -self.share(rests)), axis=0)

    def undefined(self) -> Array:
        """An undefined value for every matrix, ``[*batch]``, as for a measure of a single class."""
        return 0 * self.total + self.zero_division  # with a gradient of zeros

    def undefined_classes(self) -> Array:
        """An undefined value for every class, ``[class, *batch]``."""
        return 0 * self.tp + self.zero_division

    # Other tables ---------------------------------------------------------------------------------------------------

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, with the same execution."""
        return type(self)(
            cells,
            self.backend,
            class_first=class_first,
            zero_division=self.zero_division,
            is_moderate=is_moderate,
        )

    def regrouped(self, cells: Array) -> Table:
        """A table of the same samples in other classes, with the known properties of the counts."""
        return self.derived(cells, is_moderate=self.is_moderate)

    @margin
    def one_vs_rest(self) -> Table:
        """The table of 2×2 matrices ``[class, *batch]`` of each class, with index 1, against the rest."""
        stack = self.xp.stack
        return self.regrouped(stack([stack([self.tn, self.fp]), stack([self.fn, self.tp])]))

    @margin
    def pooled(self) -> Table:
        """The table of the sum of the 2×2 matrices of all classes, for micro averages."""
        # Each error is a false positive of a class and a false negative of another; a single sum avoids rounding
        # differences.
        stack, errors = self.xp.stack, self.errors
        cells = stack([stack([self.sum(self.tn, axis=0), errors]), stack([errors, self.hits])])
        return self.derived(cells, is_moderate=self.is_moderate)

    def pooled_of(self, classes: tuple[int, ...]) -> Table:
        """The table of the sum of the 2×2 matrices of some classes."""
        stack = self.xp.stack
        tn, fp, fn, tp = (
            self.sum(stack([counts[k, ...] for k in classes]), axis=0)
            for counts in (self.tn, self.fp, self.fn, self.tp)
        )
        return self.derived(stack([stack([tn, fp]), stack([fn, tp])]), is_moderate=self.is_moderate)

    def pairs(self, unit: Array | float = 1) -> Table:
        """The table of 2×2 matrices of pairs of samples, in different (0) or the same (1) true and predicted classes.

        With a unit ``[*batch]`` for a sample, a pair counts as its square; the host uses 1 if pairs are exact.
        """
        apart, pred_only, true_only, together = (twice / 2 for twice in self._twice_the_pairs(unit))
        return self.derived(self.xp.stack([self.xp.stack([apart, pred_only]), self.xp.stack([true_only, together])]))

    def _twice_the_pairs(self, unit: Array | float) -> list[Array]:
        """Twice the numbers of pairs in neither, the same column, the same row, and the same cell."""
        axes = (self.true_axis, self.pred_axis)
        unit_cells = unit if isinstance(unit, (int, float)) else self.cellwise(unit)
        rest_of_row, rest_of_column, elsewhere, cells = (
            self._pair_factor(x * unit_cells) for x in (*self.around, self.cells)
        )
        twice = [self.sum(cells * other, axis=axes) for other in (elsewhere, rest_of_column, rest_of_row)]
        return [*twice, self.not_negative(self.sum(cells * (cells - unit_cells), axis=axes))]

    def _pair_factor(self, x: Array) -> Array:
        return self.xp.astype(x, self.cells.dtype)

    @margin
    def repaired(self) -> Table:
        """The table with 1/n added to every cell of the matrices with an empty true class (Dembélé)."""
        return self.repair_where(self.xp.any(self.true == 0, axis=0))

    def repair_where(self, condition: Array) -> Table:
        """The table with 1/n added to every cell of the matrices where the condition ``[*batch]`` holds."""
        cells = self.xp.where(self.cellwise(condition), self.cells + 1 / self.n, self.cells)
        return self.derived(cells, class_first=self.class_first)
