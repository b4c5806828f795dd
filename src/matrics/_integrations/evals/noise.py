"""Noise of data and noise of prediction: the one-way arithmetic of samples that are answered several times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any

# A standard error up to this share of the values is rounding.
ROUNDING = 1e-12


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
    def of(cls, values: Array, prediction: float, *, scale: float | None = None) -> Noise:
        """The noise of these values, one for each sample, of whose variance the noise of prediction has this part.

        The variance between the values is that of data plus that of prediction. Both are at least 0, so that a part
        that is estimated to be larger than the whole is the whole.

        Parameters
        ----------
        values : array, shape (N,)
            The value of each sample.
        prediction : float
            The part of their variance that is noise of prediction; NaN if it is unknown, as both parts are then.
        scale : float, optional
            The size of the values before a difference was taken: a variance that is rounding next to it is 0. The
            largest of the values if left out.
        """
        whole = variance(values, scale)
        if math.isnan(prediction):
            return cls(math.nan, math.nan)
        prediction = min(max(0.0, prediction), whole)
        return cls(whole - prediction, prediction)

    def standard_error(self, number: float, *, epochs: float = 1) -> float:
        """That of the mean of this number of samples, with so many times as many epochs.

        Parameters
        ----------
        number : float
            The number of samples.
        epochs : float, default 1
            How many times as many epochs there would be; ``math.inf`` leaves the noise of data alone.
        """
        return math.sqrt((self.data + self.prediction / epochs) / number)


def shared_prediction(pairs: Sequence[tuple[Mapping[int, float], Mapping[int, float]]]) -> float:
    """The covariance of the means of a sample in two runs that is noise of prediction; 0 without repeats.

    The pairs are the scores of each sample in both runs, by epoch. Epochs with the same number are pairs: these have
    the same answers if the second run grades the answers of the first, and are independent if it has its own: it is at
    least 0.
    """
    products, freedom, parts = 0.0, 0, 0.0
    for a, b in pairs:
        epochs = [epoch for epoch in a if epoch in b]
        parts += len(epochs) / (len(a) * len(b))
        if len(epochs) > 1:
            ours, theirs = (np.array([side[epoch] for epoch in epochs]) for side in (a, b))
            products += float(((ours - ours.mean()) * (theirs - theirs.mean())).sum())
            freedom += len(epochs) - 1
    return max(0.0, products) / freedom * parts / len(pairs) if freedom else 0.0


def variance(values: Array, scale: float | None = None) -> float:
    """The variance of values; 0 if it is rounding beside their ``scale``, which is the largest of them if left out."""
    found = float(np.var(values, ddof=1))
    scale = float(np.max(np.abs(values))) if scale is None else scale
    return 0.0 if found <= (ROUNDING * scale) ** 2 else found


def standard_error(values: Array, scale: float | None = None) -> float:
    """The standard error of the mean of independent values: the clustered one, where each is the mean of a cluster."""
    return math.sqrt(variance(values, scale) / len(values))
