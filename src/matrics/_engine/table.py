"""Table: what measures are made of, from the margins of one stack: shares, rates, covariance, entropies, other tables.

Sums are computed on first use and cached, so that fifty measures cost about one pass.
"""

from __future__ import annotations

from typing import Literal

from matrics._arrays import Array
from matrics._engine.margins import Margins, margin


class Table(Margins):
    """One stack of confusion matrices, for the formulas of measures. Its parameters are those of ``Margins``."""

    def __array__(self, *_: object, **__: object) -> Array:
        raise TypeError(
            "expected a function of a matrics.typing.Table, made of t.tp, t.true, t.total and t.xp, got one that takes "
            "the table for a matrix of NumPy"
        )

    @property
    def of_normal_counts(self) -> Table:
        """A table for measures that do not depend on the scale of the counts; on the host it is of normal numbers."""
        return self

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

        That is ``x`` times a power of two, which changes no digit.
        """
        if self.scale is None:
            return x
        return x * (self.scale if x.ndim == self.total.ndim else self.scale[None, ...])

    # Rates of the classes, [class, *batch]; 0 where there is nothing to divide by ---------------------------------

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
        """Where a class has samples."""
        return self.is_positive(self.true)

    @margin
    def has_not_true(self) -> Array:
        """Where the other classes have samples."""
        return self.is_positive(self.not_true)

    @margin
    def has_pred(self) -> Array:
        """Where a sample is predicted as the class."""
        return self.is_positive(self.pred)

    @margin
    def has_not_pred(self) -> Array:
        """Where a sample is predicted as another class."""
        return self.is_positive(self.not_pred)

    @margin
    def has_every_class(self) -> Array:
        """Where no true class is empty: ``[*batch]``, or without axes as ``is_positive``."""
        return self.has_true if self.has_true.ndim == 0 else self.xp.all(self.has_true, axis=0)

    @margin
    def in_truth(self) -> Array:
        """Where a class has samples, and so have the others, so that its two rates are defined."""
        return self.has_true & self.has_not_true

    @margin
    def in_both(self) -> Array:
        """Where a class has samples and predictions."""
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
        """The row sum and the column sum of each class, and the total minus each."""
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
        """The total next to the classes, as a factor of products."""
        return self.wide(self.total[None, ...])

    # Rates of the cells, in the order of the cells --------------------------------------------------------------------

    @margin
    def true_rates(self) -> Array:
        """The cells over their true class: rows sum to 1, or to 0 for an empty class."""
        return self.rate(self.cells, self.rowwise(self.true), self.has_true)

    @margin
    def pred_rates(self) -> Array:
        """The cells over their predicted class: columns sum to 1, or to 0 for a class without predictions."""
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
        total, others = self.cellwise(self.total), self.around
        part = self.ratio(others[along], sums) * self.ratio(others[1 - along], total)
        return rates * self.ratio(others[2], total) - part

    @margin
    def mean_square_contingency(self) -> Array:
        """χ² / m as Σ (c/t - k/m) (c/k - t/m): no expected count, which could leave the range of float32."""
        axes = (self.true_axis, self.pred_axis)
        squared = self.sum(self.beyond_pred_share * self.beyond_true_share, axis=axes)
        # Its largest value, for classes that are one to one, without the rounding of the sum.
        is_one_to_one = (
            self.is_determined(self.true_axis) & self.is_determined(self.pred_axis) & ~self.is_zero(self.total)
        )
        most = self.sum(self.xp.astype(self.true != 0, squared.dtype), axis=0) - 1
        # The two factors have one sign, but for rounding.
        return self.xp.where(is_one_to_one, most, self.not_negative(squared))

    # Covariance -------------------------------------------------------------------------------------------------------

    @margin
    def _class_covariance(self) -> Array:
        """Values tp tn - fp fn of the classes, scaled: m tp - true pred without the cancellation."""
        scaled = self.scaled
        return scaled(self.tp) * scaled(self.tn) - scaled(self.fp) * scaled(self.fn)

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
        return self.sum(self._class_covariance, axis=0)

    @margin
    def true_variance(self) -> Array:
        """Σ true (m - true), scaled."""
        return self.sum(self.scaled(self.true) * self.scaled(self.not_true), axis=0)

    @margin
    def pred_variance(self) -> Array:
        """Σ pred (m - pred), scaled."""
        return self.sum(self.scaled(self.pred) * self.scaled(self.not_pred), axis=0)

    @margin
    def disagreement_by_chance(self) -> Array:
        """Σ true (m - pred), scaled."""
        return self.sum(self.scaled(self.true) * self.scaled(self.not_pred), axis=0)

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
        xp, axes, shares, largest = self.xp, (self.true_axis, self.pred_axis), self.shares, self.largest_share
        rest = self.share(self.sum(xp.where(shares == self.cellwise(largest), 0, self.cells), axis=axes))
        return shares * self.log_near_one(shares, xp.where(shares > 0.5, self.cellwise(-rest), -1))

    @margin
    def largest_share(self) -> Array:
        """The largest share of a cell: ``[*batch]``."""
        return self.xp.max(self.shares, axis=(self.true_axis, self.pred_axis))

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

    def is_determined(self, axis: int) -> Array:
        """Whether the class on one axis, the true or the predicted one, is known where that on the other axis is.

        Then measures of information are at an end of their range, which sums of logarithms may miss by a bit.
        """
        number = self.xp.sum(self.xp.astype(self.cells != 0, self.cells.dtype), axis=axis, keepdims=True)
        return self.xp.all(number <= 1, axis=(self.true_axis, self.pred_axis))

    def eigenvalues(self, x: Array) -> Array:
        """Ascending eigenvalues ``[class, *batch]`` of symmetric matrices in the order of the cells.

        No cell is NaN or infinite, or much above 1.
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

    def derived(self, cells: Array, *, class_first: bool = True, is_moderate: bool = False) -> Table:
        """A table of other cells, executed in the same way."""
        return type(self)(
            cells,
            self.backend,
            class_first=class_first,
            zero_division=self.zero_division,
            is_moderate=is_moderate,
        )

    def regrouped(self, cells: Array) -> Table:
        """A table of the same samples in other classes; known properties of the counts are kept."""
        return self.derived(cells, is_moderate=self.is_moderate)

    @margin
    def one_vs_rest(self) -> Table:
        """Each class against the rest: a table of 2×2 matrices over ``[class, *batch]``; the class is index 1."""
        stack = self.xp.stack
        return self.regrouped(stack([stack([self.tn, self.fp]), stack([self.fn, self.tp])]))

    @margin
    def pooled(self) -> Table:
        """The 2×2 tables of all classes added up, for micro averages."""
        # Every error is one class's false positive and another's false negative: one sum, lest they differ by rounding.
        stack, errors = self.xp.stack, self.errors
        cells = stack([stack([self.sum(self.tn, axis=0), errors]), stack([errors, self.hits])])
        return self.derived(cells, is_moderate=self.is_moderate)

    def pooled_of(self, classes: tuple[int, ...]) -> Table:
        """The 2×2 tables of some classes added up."""
        stack = self.xp.stack
        tn, fp, fn, tp = (
            self.sum(stack([counts[k, ...] for k in classes]), axis=0)
            for counts in (self.tn, self.fp, self.fn, self.tp)
        )
        return self.derived(stack([stack([tn, fp]), stack([fn, tp])]), is_moderate=self.is_moderate)

    def pairs(self, unit: Array | float = 1) -> Table:
        """Pairs of samples, in different (0) or the same (1) true and predicted classes: a table of 2×2 matrices.

        With a unit ``[*batch]`` for one sample each pair is its square; the host takes 1 where pairs are exact.
        """
        apart, pred_only, true_only, together = (twice / 2 for twice in self._twice_the_pairs(unit))
        return self.derived(self.xp.stack([self.xp.stack([apart, pred_only]), self.xp.stack([true_only, together])]))

    def _twice_the_pairs(self, unit: Array | float) -> list[Array]:
        """Each pair is two of: the same cell, the same row, the same column, or neither."""
        axes = (self.true_axis, self.pred_axis)
        one = unit if isinstance(unit, (int, float)) else self.cellwise(unit)
        rest_of_row, rest_of_column, elsewhere, cells = (self._pair_factor(x * one) for x in (*self.around, self.cells))
        twice = [self.sum(cells * other, axis=axes) for other in (elsewhere, rest_of_column, rest_of_row)]
        return [*twice, self.not_negative(self.sum(cells * (cells - one), axis=axes))]

    def _pair_factor(self, x: Array) -> Array:
        return self.xp.astype(x, self.cells.dtype)

    @margin
    def repaired(self) -> Table:
        """1/n added to every cell of the matrices that have an empty true class (Dembélé)."""
        return self.repair_where(self.xp.any(self.true == 0, axis=0))

    def repair_where(self, condition: Array) -> Table:
        """1/n added to every cell of the matrices where the condition ``[*batch]`` holds."""
        cells = self.xp.where(self.cellwise(condition), self.cells + 1 / self.n, self.cells)
        return self.derived(cells, class_first=self.class_first)
