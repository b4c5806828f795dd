"""Measures that disagree about the best model, what each measure cannot detect, and redundant measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from matrics._catalogue.description import FAILS, FAILS_BEYOND_TWO, HOLDS, certified, range_of
from matrics._catalogue.record import Metric
from matrics._reporting.data import Data
from matrics._reporting.leaderboard import Leaderboard
from matrics._study.agreement import Agreement, agreement
from matrics._study.certificates.results import key_of

__all__ = [
    "Blindness",
    "Limitation",
    "Winner",
    "blindness",
    "compared_measures",
    "duplicates",
    "limitations",
    "winners",
]

# The consequence of a missing property, and of an invariance, for a measure; the most important ones first.
LACKING = {
    "chance": "Random predictions get different values for different class sizes",
    "class_sizes": "The value depends on the class sizes, even if each class is predicted at the same rates",
    "correction": "The value can get worse when an error is corrected",
    "error": "The value can get better when an error is added",
    "one_class_missed": "Missing one of three classes completely gives the worst value",
    "only_perfect": "Predictions with errors can be as good as perfect ones",
    "continuity": "One sample of a class that is otherwise empty can change the value much",
}
HAVING = {
    "true_negatives": "True negatives are ignored (of two classes)",
    "transposition": "The direction of errors is ignored: true and predicted classes can be exchanged",
}
MOST_BLIND = 4


@dataclass(frozen=True)
class Winner:
    """The best model by one measure, and whether the best model by the first measure differs significantly from it.

    Parameters
    ----------
    measure : str
        The measure.
    model : str
        Its best model; None if it is undefined for all.
    value : float
        The value of that model.
    value_of_first : float
        The value of the model that is best by the first measure.
    agrees : bool
        Whether both are the same model, or as good by this measure.
    is_apart : bool or None
        Whether they differ significantly by this measure; None if that was not tested.
    """

    measure: str
    model: str
    value: float
    value_of_first: float
    agrees: bool
    is_apart: bool | None


@dataclass(frozen=True)
class Limitation:
    """What some measures cannot detect: a sentence, and the measures for which it is so."""

    sentence: str
    measures: list[str]


@dataclass(frozen=True)
class Blindness:
    """What a measure cannot detect, from its certificate; empty for measures without one."""

    measure: str
    summary: str
    range: str
    sentences: list[str]
    is_certified: bool


def winners(data: Data, found: Leaderboard) -> list[Winner]:
    """The best model by each measure."""
    first = found.order[0]
    told = []
    for name, verdict in found.verdicts.items():
        if verdict.best is None:
            told.append(Winner(verdict.title, "", np.nan, np.nan, agrees=True, is_apart=None))
            continue
        value, other = float(verdict.estimate[verdict.best]), float(verdict.estimate[first])
        agrees = verdict.best == first or value == other
        # A model that was not compared, because it is not among the best by the first measure, has no verdict.
        tested = name in found.judged and verdict.best in found.compared and first in found.compared
        apart = None if agrees or not tested else not bool(verdict.tied[first])
        told.append(Winner(verdict.title, data.models[verdict.best], value, other, agrees, apart))
    return told


def blindness(measure: str, metric: Metric) -> Blindness:
    """What a measure cannot detect, from its certificate for the mean over classes or for one class."""
    average = None if metric.average == "macro" else metric.average
    spec = key_of(replace(metric, average=average, classes=(), called="", resolved=False))
    if metric.is_own or spec not in certified():  # one's own, whatever its name
        return Blindness(measure, metric.summary, _range(metric), [], is_certified=False)
    marks = certified()[spec]
    told = [text for name, text in LACKING.items() if marks[name] in (FAILS, FAILS_BEYOND_TWO)]
    told += [text for name, text in HAVING.items() if marks[name] == HOLDS]
    return Blindness(measure, metric.summary, _range(metric), told[:MOST_BLIND], is_certified=True)


def _range(metric: Metric) -> str:
    """Which values there are, and which are good: from −1 to 1, and higher is better."""
    ends = range_of(metric).strip("[]()").split(", ")
    between = f"From {' to '.join(ends)}" if len(ends) == 2 else range_of(metric)
    better = {True: "; higher is better", False: "; lower is better", None: ""}[metric.higher_is_better]
    return f"{between.replace('-', '−')}{better}."


def limitations(found: Sequence[Blindness]) -> list[Limitation]:
    """The same by sentences, each told once, those of most measures first."""
    measures: dict[str, list[str]] = {}
    for one in found:
        for sentence in one.sentences:
            measures.setdefault(sentence, []).append(one.measure)
    return sorted((Limitation(*pair) for pair in measures.items()), key=lambda one: -len(one.measures))


def compared_measures(data: Data, found: Leaderboard) -> Agreement | None:
    """How far the measures agree about the models; None with fewer than three of either."""
    if len(data.models) < 3 or len(found.verdicts) < 3:
        return None
    agreed = agreement(data.matrices, list(found.metrics.values()), workers=-1)
    return replace(agreed, names=tuple(found.titles(found.metrics)))


def duplicates(agreed: Agreement | None) -> list[list[str]]:
    """Measures that order all models alike."""
    if agreed is None:
        return []
    return [family for family in agreed.families(least_correlation=1.0) if len(family) > 1]
