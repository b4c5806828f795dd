"""The influence of each sample on a measure of scores: the derivative of the measure with respect to its weight.

The sum of the squares of the influences is the variance of the measure. The sum of their products for two models is a
covariance. For an area under the ROC curve it is DeLong's; for sums of influences within clusters it is Obuchowski's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._ranking.rows import before_and_after
from matrics._ranking.variance import twice_above


class Influences(NamedTuple):
    """A measure of rows of scores, and the influence of each positive and each negative sample."""

    estimate: Array  # (G,)
    of_positive: Array  # (G, N), 0 for negative samples
    of_negative: Array  # (G, N), 0 for positive samples

    def within(self, units: Array, number: int) -> Influences:
        """The sums of the influences within each cluster (G, K), from the cluster of each sample (N,)."""

        def sums_of(x: Array) -> Array:
            return np.stack([np.bincount(units, row, number) for row in x])

        return Influences(self.estimate, sums_of(self.of_positive), sums_of(self.of_negative))


def of_roc_auc(positive: Array, scores: Array) -> Influences:
    """The area under the ROC curve and its influences, for rows of labels and scores (G, N).

    A positive sample contributes the share of the negative samples below it, and the other way round.
    """
    ranked = _Ranked.of(positive, scores)
    twice_positive, twice_negative = twice_above(ranked.positive, 1 - ranked.positive, ranked.keys, NUMPY)
    positives, negatives = ranked.sizes()
    # Twice the number of pairs in the wrong order, in integers as in roc_auc().
    wrong_pairs = np.sum(twice_negative * ranked.positive, axis=-1)
    area = (2 * positives * negatives - wrong_pairs) / 2 / (positives.astype(np.float64) * negatives)
    negatives_below = 1 - twice_negative / (2 * negatives[:, None])
    positives_above = twice_positive / (2 * positives[:, None])
    area_column = area[:, None]
    of_positive = ranked.positive * (negatives_below - area_column) / positives[:, None]
    of_negative = (1 - ranked.positive) * (positives_above - area_column) / negatives[:, None]
    return Influences(area, ranked.back(of_positive), ranked.back(of_negative))


def of_average_precision(positive: Array, scores: Array) -> Influences:
    """The average precision and its influences, for rows of labels and scores (G, N).

    A sample changes the precision at the scores of all positive samples that are not above it. A positive sample also
    contributes the precision at its own score.
    """
    ranked = _Ranked.of(positive, scores)
    _, num_true = before_and_after(ranked.positive, ranked.keys, NUMPY)
    _, num_predicted = before_and_after(np.ones_like(ranked.positive), ranked.keys, NUMPY)
    positives, _ = ranked.sizes()
    precision = num_true / num_predicted
    precision_of_positives = ranked.positive * precision
    average = np.sum(precision_of_positives, axis=-1) / positives

    def sums_from(x: Array) -> Array:
        """The sums over the samples that are not above each sample."""
        before, _ = before_and_after(x, ranked.keys, NUMPY)
        return np.sum(x, axis=-1, keepdims=True) - before

    change = ranked.positive * sums_from(ranked.positive / num_predicted) - sums_from(
        precision_of_positives / num_predicted
    )
    change = change + ranked.positive * (precision - average[:, None])
    influence = ranked.back(change / positives[:, None])
    return Influences(average, np.where(positive, influence, 0), np.where(positive, 0, influence))


def of_mean(positive: Array, values: Array) -> Influences:
    """The mean of values of samples (G, N), such as losses, and its influences."""
    mean = np.sum(values, axis=-1) / values.shape[-1]
    influence = (values - mean[:, None]) / values.shape[-1]
    return Influences(mean, np.where(positive, influence, 0), np.where(positive, 0, influence))


class _Ranked(NamedTuple):
    """Rows in descending order of their scores, and that order."""

    order: Array  # (G, N)
    positive: Array  # (G, N), 0 or 1
    keys: Array  # (G, N), the scores

    @classmethod
    def of(cls, positive: Array, scores: Array) -> _Ranked:
        order = np.argsort(-scores, axis=-1)
        ranked = np.take_along_axis(positive, order, -1).astype(np.int64)
        return cls(order, ranked, np.take_along_axis(scores, order, -1))

    def sizes(self) -> tuple[Array, Array]:
        """The numbers of positive and of negative samples, (G,)."""
        positives = np.sum(self.positive, axis=-1)
        return positives, self.positive.shape[-1] - positives

    def back(self, x: Array) -> Array:
        """Values in the original order of the samples."""
        values = np.empty_like(x)
        np.put_along_axis(values, self.order, x, axis=-1)
        return values
