"""Noise of data and noise of prediction: the one-way arithmetic of samples that are answered several times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any


class Answers(NamedTuple):
    """The scores of a run: the mean of each sample over its epochs, and how far epochs are apart.

    Parameters
    ----------
    means : array, shape (N,)
        The mean score of each sample.
    epochs : array of int, shape (N,)
        The number of its epochs.
    within : float
        The variance of a score between epochs of one sample; NaN if no sample has several.
    """

    means: Array
    epochs: Array
    within: float

    @classmethod
    def of(cls, scores: Sequence[Array]) -> Answers:
        """The answers of samples with these scores each."""
        epochs = np.array([len(one) for one in scores])
        means = np.array([np.mean(one) for one in scores])
        freedom = int((epochs - 1).sum())
        squares = sum(float(((one - mean) ** 2).sum()) for one, mean in zip(scores, means, strict=True))
        return cls(means, epochs, squares / freedom if freedom else math.nan)

    @property
    def prediction(self) -> float:
        """The variance of a sample's mean that is noise of prediction."""
        return float(self.within * np.mean(1 / self.epochs))


class Noise(NamedTuple):
    """The variance of one sample's value, whose mean over samples is the score of a run, or a difference of two.

    Parameters
    ----------
    data : float
        The part between samples, which more samples make small; NaN if no sample is repeated.
    prediction : float
        The part between epochs of a sample, with as many epochs as there are.
    """

    data: float
    prediction: float

    @classmethod
    def of(cls, values: Array, *predictions: float) -> Noise:
        """The noise of these values, one for each sample, to which predictions contribute so much.

        The variance between the values is that of data plus that of prediction; the first is what is left of it, and at
        least 0.
        """
        prediction = sum(predictions)
        rest = float(np.var(values, ddof=1)) - prediction
        return cls(rest if math.isnan(rest) else max(0.0, rest), prediction)

    def standard_error(self, samples: float, epochs: float = 1) -> float:
        """That of the mean with so many samples, and ``epochs`` times as many epochs."""
        return math.sqrt((self.data + self.prediction / epochs) / samples)


def standard_error(values: Array) -> float:
    """The standard error of the mean of independent values: the clustered one, where each is the mean of a cluster."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))
