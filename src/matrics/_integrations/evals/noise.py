"""Noise of data and noise of prediction: a one-way analysis of variance of samples with several answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any

# A standard error up to this share of the values is a rounding error.
ROUNDING = 1e-12


class Answers(NamedTuple):
    """The scores of a run: the mean of each sample over its epochs, and the variance between epochs.

    Parameters
    ----------
    means : array, shape (N,)
        The mean score of each sample.
    epochs : array of int, shape (N,)
        The number of epochs of each sample.
    within : float
        The variance of a score between epochs of a sample; NaN if no sample has several epochs.
    """

    means: Array
    epochs: Array
    within: float

    @classmethod
    def of(cls, scores: Sequence[Array]) -> Answers:
        """The answers of samples with these scores."""
        epochs = np.array([len(sample) for sample in scores])
        means = np.array([np.mean(sample) for sample in scores])
        degrees_of_freedom = int((epochs - 1).sum())
        squares = sum(float(((sample - mean) ** 2).sum()) for sample, mean in zip(scores, means, strict=True))
        return cls(means, epochs, squares / degrees_of_freedom if degrees_of_freedom else math.nan)

    @property
    def prediction(self) -> float:
        """The part of the variance of the mean of a sample that is noise of prediction."""
        return float(self.within * np.mean(1 / self.epochs))


class Noise(NamedTuple):
    """The variance of the values of samples, whose mean is the score of a run or a difference of scores.

    Parameters
    ----------
    data : float
        The variance between samples, whose effect decreases with more samples; NaN if no sample is repeated.
    prediction : float
        The variance from epochs of a sample, for the actual number of epochs; NaN if no sample is repeated.
    """

    data: float
    prediction: float

    @classmethod
    def of(cls, values: Array, prediction: float, *, scale: float | None = None) -> Noise:
        """The noise of the values of samples, from the part of their variance that is noise of prediction.

        The variance of the values is the sum of the noise of data and of prediction. Both are at least 0, so the noise
        of prediction is at most the variance.

        Parameters
        ----------
        values : array, shape (N,)
            The value of each sample.
        prediction : float
            The part of the variance that is noise of prediction; if it is NaN, both parts are NaN.
        scale : float, optional
            The size of the values before their difference was computed: a variance that is a rounding error at this
            size becomes 0. The largest of the values if left out.
        """
        total = variance(values, scale)
        if math.isnan(prediction):
            return cls(math.nan, math.nan)
        prediction = min(max(0.0, prediction), total)
        return cls(total - prediction, prediction)

    def standard_error(self, number: float, *, epochs: float = 1) -> float:
        """The standard error of the mean of this number of samples, with ``epochs`` times as many epochs.

        Parameters
        ----------
        number : float
            The number of samples.
        epochs : float, default 1
            How many times as many epochs there would be; ``math.inf`` leaves the noise of data alone.
        """
        return math.sqrt((self.data + self.prediction / epochs) / number)


def shared_prediction(pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]]) -> float:
    """The covariance of the means of a sample in two runs by noise of prediction; 0 without repeats.

    ``pairs`` are the scores of each sample in both runs, by epoch. Epochs with the same number are pairs. They have the
    same answers if the second run grades the answers of the first, and independent answers otherwise. The covariance is
    therefore at least 0.
    """
    products, degrees_of_freedom, parts = 0.0, 0, 0.0
    for a, b in pairs:
        epochs = [epoch for epoch in a if epoch in b]
        parts += len(epochs) / (len(a) * len(b))
        if len(epochs) > 1:
            ours, theirs = (np.array([side[epoch] for epoch in epochs]) for side in (a, b))
            products += float(((ours - ours.mean()) * (theirs - theirs.mean())).sum())
            degrees_of_freedom += len(epochs) - 1
    return max(0.0, products) / degrees_of_freedom * parts / len(pairs) if degrees_of_freedom else 0.0


def variance(values: Array, scale: float | None = None) -> float:
    """The variance of values; 0 if it is a rounding error at their ``scale``, by default the largest value."""
    result = float(np.var(values, ddof=1))
    scale = float(np.max(np.abs(values))) if scale is None else scale
    return 0.0 if result <= (ROUNDING * scale) ** 2 else result


def standard_error(values: Array, scale: float | None = None) -> float:
    """The standard error of the mean of independent values, which may be the means of clusters."""
    return math.sqrt(variance(values, scale) / len(values))
