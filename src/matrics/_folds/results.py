"""The results of tests of scores by fold and by data set, and of shuffled labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._engine.results import NamedResult, frame_of


class FoldComparison(NamedResult):
    """Two models on the same folds, as from :func:`matrics.stats.compare_folds`; arrays have the batch's shape.

    Parameters
    ----------
    difference : array
        The mean score of a minus that of b.
    low, high : array
        The limits of the difference that the test does not reject; NaN if there are none.
    standard_error : array
        The standard error that the test divides by.
    statistic : array
        t, or F for ``"5x2_f"``.
    p_value : array
        Two-sided.
    probability_better, probability_equal, probability_worse : array
        The probabilities that a is better than b by more than the region of practical equivalence, that they differ
        by less, and that b is better by more; NaN for the 5×2 tests.
    status : array of int
        A code of :class:`matrics.IntervalStatus`: 5 if the differences do not vary, 6 if a score is not finite.
    """

    difference: Array
    low: Array
    high: Array
    standard_error: Array
    statistic: Array
    p_value: Array
    probability_better: Array
    probability_equal: Array
    probability_worse: Array
    status: Array


class DatasetComparison(NamedResult):
    """M models on several data sets, as from :func:`matrics.stats.compare_datasets`.

    Parameters
    ----------
    names : tuple of str, length M
        The models.
    mean_ranks : array, shape (M,)
        Their mean ranks over the data sets, 1 for the best; models with equal scores share a rank.
    datasets : int
        The number of data sets.
    statistic, p_value : float
        Friedman's chi-squared, corrected for ties, with its p-value; NaN for two models or scores that are all equal.
    f_statistic, f_p_value : float
        Iman's and Davenport's F of the same ranks, which is less conservative.
    critical_difference : float
        Mean ranks that are further apart differ significantly by Nemenyi's test.
    method : str
        The test of ``p_values``: ``"nemenyi"``, ``"holm"`` or ``"wilcoxon"``.
    p_values : array, shape (M, M)
        Of each pair of models, corrected for the number of pairs; NaN on the diagonal, and for pairs without the
        control, if it is given.
    probability_better, probability_equal : array, shape (M, M), or None
        By the Bayesian signed-rank test, of each pair: that the model in the row is better, and that both are
        practically equal. None without ``rope``.
    level : float
        The confidence level of ``critical_difference``.
    """

    names: tuple[str, ...]
    mean_ranks: Array
    datasets: int
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    method: str
    p_values: Array
    probability_better: Array | None
    probability_equal: Array | None
    level: float

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each pair of models that was tested."""
        rows, columns = np.nonzero(np.triu(~np.isnan(self.p_values)))
        fields = {
            "a": np.asarray(self.names, object)[rows],
            "b": np.asarray(self.names, object)[columns],
            "rank_a": self.mean_ranks[rows],
            "rank_b": self.mean_ranks[columns],
            "p_value": self.p_values[rows, columns],
        }
        if self.probability_better is not None and self.probability_equal is not None:
            fields["probability_a_better"] = self.probability_better[rows, columns]
            fields["probability_equal"] = self.probability_equal[rows, columns]
            fields["probability_b_better"] = self.probability_better[columns, rows]
        return frame_of(fields, indexed=False)


class PermutationTest(NamedResult):
    """A measure compared with those of shuffled labels, as from :func:`matrics.stats.permutation_test`.

    Parameters
    ----------
    score : array
        The measure of the predictions.
    p_value : array
        The share of shuffles that are at least as good, the labels as they are counted among them: never 0. NaN where
        the measure is undefined.
    mean, deviation : array
        The mean and the standard deviation of the measure over the shuffles.
    undefined : array of int
        The number of shuffles for which the measure is undefined; these count as at least as good.
    num : int
        The number of shuffles.
    """

    score: Array
    p_value: Array
    mean: Array
    deviation: Array
    undefined: Array
    num: int

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of({**self._asdict(), "num": np.broadcast_to(self.num, np.shape(self.score))})
