"""Measures of scores in requirements, such as areas under curves: their samples and their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.of_scores import name_of
from matrics._errors import ArgumentError
from matrics._gates.results import Limits
from matrics._quoting import fold
from matrics._ranking.inference import names as measure_names
from matrics._ranking.inference.interval import interval
from matrics._ranking.inference.samples import Samples
from matrics._uncertainty.differences import recovered
from matrics._uncertainty.results import IntervalStatus

# The seed of replicates for measures without a formula for their limits: a gate has the same result each time.
SEED = 0
# The number of samples of each class with which the lower limit of an area holds even if there are few errors.
ENOUGH = 25


@dataclass(frozen=True)
class ScoreMeasure:
    """A measure of scores, with the properties that requirements use."""

    spec: str
    named: measure_names.ScoreMeasure

    def __str__(self) -> str:
        return self.spec

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value; the Brier score of more than two classes is up to 2."""
        return (0.0, 2.0) if self.named.name == "brier_score" else self.named.range

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher value is better."""
        return self.named.higher_is_better

    def check_difference(self, other: str) -> None:
        """Raise unless the measure can be compared with that of the reference group."""
        if other == "baseline":
            raise ArgumentError(
                "requirements",
                f"expected measures of labels to compare with the baseline, got {self}, a measure of scores; "
                "matrics.ranking.compare compares two models",
            )
        if self.named.kind == "calibration":
            raise ArgumentError(
                "requirements",
                f"expected measures with limits on both sides of the value to compare with the {other}, got {self}, "
                "which depends on the number of samples; compare log_loss or brier_score",
            )


def is_of_scores(name: str) -> bool:
    """Whether a name is that of a measure of scores that has limits.

    >>> is_of_scores("AUROC"), is_of_scores("precision_at_k(k=10)"), is_of_scores("recall[fraud]")
    (True, True, False)
    """
    return fold(name_of(name)) in measure_names.NAMES


def read_measure(name: str, *, are_probabilities: bool | None) -> ScoreMeasure:
    """The measure of a name; raises if there are no scores (None), or if it needs probabilities."""
    if are_probabilities is None:
        raise ArgumentError("y_score", f"expected the scores of the samples with {name}, got none")
    try:
        (named,) = measure_names.read_measures(name, are_probabilities=are_probabilities).values()
    except ArgumentError as error:
        raise ArgumentError("requirements", error.text) from error
    return ScoreMeasure(name, named)


class ScoredSamples(NamedTuple):
    """Labels, as numbers of classes, and scores of the same samples."""

    true: Array  # (N,)
    scores: Array  # (N,), of class 1, or (N, n)
    clusters: Array | None  # (N,), their numbers
    are_probabilities: bool

    @classmethod
    def of(
        cls, y_true: Any, y_score: Any, positive: Any, labels: Any, clusters: Any, *, lower_is_positive: bool = False
    ) -> ScoredSamples:
        """The samples of a model; scores that are lower in the positive class have the other sign."""
        options: dict[str, Any] = {"labels": labels, "lower_is_positive": lower_is_positive}
        samples = Samples.of(y_true, y_score, positive, None, clusters, "gate", **options)
        if samples.batch:
            raise ArgumentError(
                "y_score",
                f"expected the scores of a single model, got shape {np.shape(y_score)}: pass each model alone",
            )
        (only,) = samples.elements()
        return cls(only.true, only.scores[0], only.units, samples.are_probabilities)

    def of_group(self, chosen: Array) -> ScoredSamples:
        """The samples of a group."""
        clusters = None if self.clusters is None else self.clusters[chosen]
        return self._replace(true=self.true[chosen], scores=self.scores[chosen], clusters=clusters)

    @property
    def smallest_class(self) -> int:
        """The number of samples, or of clusters, in the smallest class."""
        number = 2 if self.scores.ndim == 1 else self.scores.shape[-1]
        units = np.arange(len(self.true)) if self.clusters is None else self.clusters
        return min(len(np.unique(units[self.true == k])) for k in range(number))

    @property
    def number(self) -> float:
        """The number of samples, or of clusters."""
        return float(len(self.true) if self.clusters is None else len(np.unique(self.clusters)))


def limits_of_scores(
    measures: Iterable[ScoreMeasure], samples: ScoredSamples, level: float, reference: ScoredSamples | None = None
) -> dict[str, Limits]:
    """The limits of each measure by its spec, or the limits of its difference from the value of other samples.

    Limits of a difference are recovered from the limits of both values (Newcombe's square-and-add method, MOVER), which
    is also the method of measures of labels.
    """
    chosen = list(measures)
    here = _limits(chosen, samples, level)
    if reference is None:
        return here
    there = _limits(chosen, reference, level)
    return {spec: difference_of(here[spec], there[spec]) for spec in here}


def _limits(measures: list[ScoreMeasure], samples: ScoredSamples, level: float) -> dict[str, Limits]:
    if not measures:
        return {}
    draws = any(measure.named.kind in ("point", "calibration") for measure in measures)
    intervals = interval(
        samples.true,
        samples.scores,
        [measure.spec for measure in measures],
        clusters=samples.clusters,
        level=level,
        rng=SEED if draws else None,
    )
    return {
        spec: Limits(float(x.estimate), float(x.low), float(x.high), list(IntervalStatus)[int(x.status)])
        for spec, x in intervals.items()
    }


def difference_of(here: Limits, there: Limits) -> Limits:
    """The limits of a difference of independent samples, recovered from those of both values."""
    status = next((limits.status for limits in (here, there) if limits.status != IntervalStatus.OK), IntervalStatus.OK)
    low, high = recovered(here[:3], there[:3], 0.0, np)
    return Limits(here.estimate - there.estimate, float(low), float(high), status)


def lower_limit_holds(measure: ScoreMeasure, samples: ScoredSamples) -> bool:
    """Whether the lower limit of an area with the status ``FEW_SAMPLES`` holds.

    In simulations of areas from 0.95 to 0.9995 with at least 25 samples of each class, the lower limit was never above
    the true area if the status was ``FEW_SAMPLES``.
    """
    return measure.named.kind == "area" and samples.smallest_class >= ENOUGH


def deciding_number(limits: Limits, distance: float, now: float) -> int | None:
    """The approximate number of units that decides, as the width is proportional to 1 / √number; None if none does.

    If limits do not hold because there are few units, the number that is needed is larger than now, but unknown.
    """
    if limits.status == IntervalStatus.BIASED:
        return None
    times = ((limits.high - limits.low) / 2 / distance) ** 2
    if limits.status != IntervalStatus.OK and times <= 1:
        return None
    return math.ceil(max(times * now, now + 1))
