"""What each sample contributes to a measure of scores: the first order by which the measure depends on its weight.

The sum of the squares of these influences is the variance of the measure, and the sum of their products for two models
is a covariance. Of an area under the ROC curve it is DeLong's; of clusters, with the influences of each added up, it is
Obuchowski's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._ranking.rows import before_and_after
from matrics._ranking.variance import twice_above


class Influences(NamedTuple):
    """A measure of some rows of scores, and the influence of each sample: those of positive samples and others."""

    estimate: Array  # (G,)
    of_positive: Array  # (G, N), 0 of negative samples
    of_negative: Array  # (G, N), 0 of positive samples

    def within(self, units: Array, number: int) -> Influences:
        """The sums of the influences within each of so many clusters (G, K), from the cluster of each sample (N,)."""

        def added(x: Array) -> Array:
            return np.stack([np.bincount(units, row, number) for row in x])

        return Influences(self.estimate, added(self.of_positive), added(self.of_negative))


def of_roc_auc(positive: Array, scores: Array) -> Influences:
    """The area under the ROC curve, of rows of labels and scores (G, N).

    A positive sample contributes the share of the negative samples below it, and the other way round.
    """
    ranked = _Ranked.of(positive, scores)
    twice_positive, twice_negative = twice_above(ranked.positive, 1 - ranked.positive, ranked.keys, NUMPY)
    positives, negatives = ranked.sizes()
    # Pairs in the wrong order, in integers as in the area itself.
    wrong = np.sum(twice_negative * ranked.positive, axis=-1)
    area = (2 * positives * negatives - wrong) / 2 / (positives.astype(np.float64) * negatives)
    below = 1 - twice_negative / (2 * negatives[:, None])
    higher = twice_positive / (2 * positives[:, None])
    at = area[:, None]
    of_positive = ranked.positive * (below - at) / positives[:, None]
    of_negative = (1 - ranked.positive) * (higher - at) / negatives[:, None]
    return Influences(area, ranked.back(of_positive), ranked.back(of_negative))


def of_average_precision(positive: Array, scores: Array) -> Influences:
    """Average precision, of rows of labels and scores (G, N).

    A sample changes the precision at the scores of all positive samples that are not above it, and a positive sample
    contributes the precision at its own score as well.
    """
    ranked = _Ranked.of(positive, scores)
    _, true = before_and_after(ranked.positive, ranked.keys, NUMPY)
    _, size = before_and_after(np.ones_like(ranked.positive), ranked.keys, NUMPY)
    positives, _ = ranked.sizes()
    precision = true / size
    contributed = ranked.positive * precision
    average = np.sum(contributed, axis=-1) / positives

    def from_here_on(x: Array) -> Array:
        """The sums over the samples that are not above each one."""
        before, _ = before_and_after(x, ranked.keys, NUMPY)
        return np.sum(x, axis=-1, keepdims=True) - before

    moved = ranked.positive * from_here_on(ranked.positive / size) - from_here_on(contributed / size)
    moved = moved + ranked.positive * (precision - average[:, None])
    found = ranked.back(moved / positives[:, None])
    return Influences(average, np.where(positive, found, 0), np.where(positive, 0, found))


def of_mean(positive: Array, values: Array) -> Influences:
    """The mean of one value of each sample (G, N), such as its loss."""
    mean = np.sum(values, axis=-1) / values.shape[-1]
    found = (values - mean[:, None]) / values.shape[-1]
    return Influences(mean, np.where(positive, found, 0), np.where(positive, 0, found))


class _Ranked(NamedTuple):
    """Rows in the order of their scores, the highest first, and the way back."""

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
        """Values in the order of the samples."""
        found = np.empty_like(x)
        np.put_along_axis(found, self.order, x, axis=-1)
        return found
