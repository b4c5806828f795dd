"""The result of a comparison of two runs, with the precision for other numbers of samples."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

from matrics._integrations.evals.noise import Noise
from matrics._uncertainty.limits import normal_quantile, student_quantile

POWER = 0.8


class Estimate(NamedTuple):
    """A value with its limits and its standard error.

    Parameters
    ----------
    value : float
        The value of all samples.
    low, high : float
        The limits of the value.
    standard_error : float
        The standard error of the value.
    """

    value: float
    low: float
    high: float
    standard_error: float


def level_of_difference(level: float, pairs: int) -> float:
    """The level of the limits of each difference, so that all hold jointly with probability ``level`` (Bonferroni)."""
    return 1 - (1 - level) / pairs


class RunComparison(NamedTuple):
    """Two runs of an evaluation on the samples that both have.

    Parameters
    ----------
    names : tuple of str
        The names of the runs.
    scorer, measure : str
        The scorer that graded the answers, and the measure: ``accuracy`` if answers pass or fail, ``mean score`` if
        there are other scores, or a measure of classes.
    samples : int
        The number of samples that both runs have.
    epochs : tuple of float
        The mean number of answers to a sample in each run.
    a, b, difference : Estimate
        The values of both runs, and of a - b.
    noise_a, noise_b, noise : Noise
        The variance of the value of a sample in each run, and of its difference; NaN if it cannot be split.
    only_a, only_b : tuple of str
        The samples that only one run has; they are left out.
    unscored : tuple of tuple of str
        For each run, the answers without a score, each with the reason. They are left out, or scored as 0.
    answered : tuple of Estimate
        For each run, the share of answers with a score, over all its samples. A model that refuses difficult questions
        may have a higher score without being better.
    higher_is_better : bool
        Whether higher values are better.
    level : float
        The level of the limits.
    pairs : int
        The number of pairs of runs. The limits of their differences hold jointly with the probability ``level``: each
        difference has the level 1 − (1 − ``level``) / ``pairs``.
    not_compared : tuple of dict
        The runs of the logs without any score of this scorer: the name of the run, the numbers of its answers and of
        those with a score, and the share of these with its limits.
    """

    names: tuple[str, str]
    scorer: str
    measure: str
    samples: int
    epochs: tuple[float, float]
    a: Estimate
    b: Estimate
    difference: Estimate
    noise_a: Noise
    noise_b: Noise
    noise: Noise
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    unscored: tuple[tuple[str, ...], tuple[str, ...]]
    answered: tuple[Estimate, Estimate]
    higher_is_better: bool
    level: float
    pairs: int = 1
    not_compared: tuple[dict[str, Any], ...] = ()

    @property
    def level_of_difference(self) -> float:
        """The level of the limits of this single difference."""
        return level_of_difference(self.level, self.pairs)

    @property
    def is_real(self) -> bool:
        """Whether both limits of the difference are on one side of 0."""
        return self.difference.low > 0 or self.difference.high < 0

    def half_width(self, *, samples: float = 1, epochs: float = 1) -> float:
        """Half the width of the limits of the difference for other numbers of samples or epochs.

        This is half the width of the limits of ``difference``, times the ratio of the standard errors. For more epochs
        it is NaN if no sample is repeated, as the variance between epochs is unknown. ``epochs=math.inf`` gives the
        limit for many epochs.

        Parameters
        ----------
        samples : float, default 1
            How many times as many samples there would be.
        epochs : float, default 1
            How many times as many epochs there would be; ``math.inf`` leaves the noise of data alone.
        """
        error, number = self.difference.standard_error, self.samples * samples
        if epochs == 1:
            ratio = 1 / math.sqrt(samples)
        else:
            ratio = self.noise.standard_error(number, epochs=epochs) / error if error > 0 else math.nan
        now, later = (student_quantile(self.level_of_difference, round(size) - 1) for size in (self.samples, number))
        return (self.difference.high - self.difference.low) / 2 * ratio * later / now

    def samples_to_show(self) -> int | None:
        """The number of samples with which a difference of this size is significant with a probability of 80 %.

        None if the difference or its standard error is 0 or undefined.
        """
        gap, low, high, error = self.difference
        distance = gap - low if gap > 0 else high - gap  # the distance of the limit that is closer to 0
        if not (abs(gap) > 0 and error > 0 and distance > 0):
            return None
        factor = normal_quantile(self.level_of_difference) + NormalDist().inv_cdf(POWER)
        factor *= distance / student_quantile(self.level_of_difference, self.samples - 1)
        return math.ceil(self.samples * (factor / gap) ** 2)
