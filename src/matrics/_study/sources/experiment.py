"""The experiment of source 002: how close the transformed MCC is to the confusion entropy of random matrices."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from matrics._scoring.score import score
from matrics._study.pairs import consistency
from matrics._study.sources.records import Record

TABLE = "random-matrix experiment"
NUM, SEED = 200_000, 20261121  # the number of the source
FEWEST_CLASSES, MOST_CLASSES = 3, 30
LARGEST_COUNT, LEAST_RATIO = 1000, 0.01
ORACLE_NUM = 100_000  # the number of matrices for the true values of the records: 20 samples of 5,000
GROUPS = 20  # the number of groups for the estimates of standard errors


@dataclass(frozen=True, eq=False)
class Experiment:
    """Scores of random matrices, in random order.

    Attributes
    ----------
    classes : array, shape (N,)
        The number of classes of each matrix.
    mcc, cen, tmcc : arrays, shape (N,)
        The scores of each matrix.
    """

    classes: np.ndarray
    mcc: np.ndarray
    cen: np.ndarray
    tmcc: np.ndarray

    @property
    def scaled_cen(self) -> np.ndarray:
        """The confusion entropy times k(n), which the transformed MCC resembles (equation 3)."""
        log = np.log(self.classes)
        return np.asarray((1 + 0.18924 / log - 0.06694 / log**2) * self.cen)


@functools.lru_cache(maxsize=2)
def run(num: int = NUM, seed: int = SEED) -> Experiment:
    """The scores of random matrices, drawn as in the source.

    The number of classes is uniform from 3 to 30, a diagonal cell from 1 to 1000, and any other cell from 1 to 1000 ρ,
    where ρ is uniform in [0.01, 1] and the same for all cells of a matrix.
    """
    random = np.random.default_rng(seed)
    classes = random.integers(FEWEST_CLASSES, MOST_CLASSES, num, endpoint=True)
    scores = {name: np.empty(num) for name in ("mcc", "cen", "tmcc")}
    for n in range(FEWEST_CLASSES, MOST_CLASSES + 1):
        places = np.flatnonzero(classes == n)
        if len(places):
            results = score(_draw(random, len(places), n), list(scores))
            for name, values in results.items():
                scores[name][places] = values
    return Experiment(classes, **scores)


def _draw(random: np.random.Generator, number: int, n: int) -> np.ndarray:
    ratios = random.uniform(LEAST_RATIO, 1, number)
    largest = np.floor(LARGEST_COUNT * ratios).astype(np.int64)
    stack = random.integers(1, largest[:, None, None], (number, n, n), endpoint=True)
    stack[:, np.arange(n), np.arange(n)] = random.integers(1, LARGEST_COUNT, (number, n), endpoint=True)
    return stack


# Statistics -----------------------------------------------------------------------------------------------------------


def correlation(tmcc: np.ndarray, scaled_cen: np.ndarray) -> float:
    """Pearson's correlation."""
    return float(np.corrcoef(tmcc, scaled_cen)[0, 1])


def mean_ratio(tmcc: np.ndarray, scaled_cen: np.ndarray) -> float:
    """The mean of the ratios tMCC / (k CEN)."""
    return float(np.mean(tmcc / scaled_cen))


def degree_of_consistency(tmcc: np.ndarray, scaled_cen: np.ndarray) -> float:
    """The share of pairs of matrices in the same order, of the pairs that both measures order."""
    return float(consistency(tmcc, scaled_cen).value)


STATISTICS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "correlation tMCC, k CEN": correlation,
    "average ratio tMCC/(k CEN)": mean_ratio,
    'degree of consistency (printed "1 - 10^?")': degree_of_consistency,
}


def value(record: Record, num: int = NUM) -> float:
    """The recomputed value of a record of the experiment, with this number of matrices."""
    experiment = run(num)
    return STATISTICS[record.measure](experiment.tmcc, experiment.scaled_cen)


def error(record: Record, num: int = NUM) -> float:
    """The standard error of the difference from the record, which was also computed from random matrices."""
    experiment, statistic = run(num), STATISTICS[record.measure]
    groups = [statistic(experiment.tmcc[k::GROUPS], experiment.scaled_cen[k::GROUPS]) for k in range(GROUPS)]
    return float(np.std(groups, ddof=1) / math.sqrt(GROUPS) * math.sqrt(1 + num / ORACLE_NUM))


def interval_of_mean_ratio(num: int = NUM, resamples: int = 1000, level: float = 0.95) -> tuple[float, float]:
    """The bootstrap interval of the mean ratio, with Student's statistic as in the source."""
    experiment = run(num)
    ratios = experiment.tmcc / experiment.scaled_cen
    mean, deviation = ratios.mean(), ratios.std(ddof=1)
    random = np.random.default_rng(SEED)
    statistics = np.empty(resamples)
    for position in range(resamples):
        drawn = ratios[random.integers(0, num, num)]
        statistics[position] = (drawn.mean() - mean) / drawn.std(ddof=1)
    low, high = np.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(mean - high * deviation), float(mean - low * deviation)


def remark(num: int = NUM) -> str:
    """A sentence with the mean ratio and its interval, and those of the source, which have no record."""
    experiment = run(num)
    low, high = interval_of_mean_ratio(num)
    mean = mean_ratio(experiment.tmcc, experiment.scaled_cen)
    return (
        f"002, mean of tMCC / (k CEN) over {num:,} random matrices: {mean:.6f}, 95 % bootstrap interval {low:.6f} to "
        f"{high:.6f}; the source has 1.000508, 1.000328 to 1.000711, of 200,000 others. Their correlation is "
        f"{correlation(experiment.tmcc, experiment.scaled_cen):.4f} here; the source's 0.9941 is only within the error "
        "of samples "
        "of 5,000"
    )
