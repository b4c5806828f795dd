"""Classes with errors, detection of a positive class, and measures that disagree about models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from matrics._catalogue.description import FAILS, FAILS_BEYOND_TWO, HOLDS, certified, range_of
from matrics._catalogue.record import Metric
from matrics._plot.confusion import Confusion, most_frequent
from matrics._reporting.areas import ModelScores
from matrics._reporting.data import Data
from matrics._reporting.leaderboard import IntervalSettings, Leaderboard, cells_of
from matrics._reporting.verdicts import Limited
from matrics._scoring.score import score
from matrics._study.agreement import Agreement, agreement
from matrics._study.certificates.results import key_of
from matrics._uncertainty.interval import interval
from matrics._wording import amount, counted, joined, number, percent, short

__all__ = [
    "Blindness",
    "ClassRow",
    "Detection",
    "Limitation",
    "ModelClasses",
    "Winner",
    "blindness",
    "compared_measures",
    "detection",
    "duplicates",
    "hardest_classes",
    "limitations",
    "model_classes",
    "winners",
]


MOST_CLASSES, MOST_ERRORS = 50, 8  # in the folded table and list
IN_WORDS = 3


@dataclass(frozen=True)
class ClassRow:
    """One class of one model: its samples, how often it is predicted, and its recall and precision with limits."""

    name: str
    samples: float
    predicted: float
    recall: Limited
    precision: Limited


@dataclass(frozen=True)
class ModelClasses:
    """The classes of a model with the lowest recall, lowest first, and its most frequent errors."""

    model: str
    classes: list[ClassRow]
    errors: list[Confusion]
    left_out: int  # classes that are not among them
    unit: str = "sample"  # the noun for a row of the data: a prediction, if samples are repeated

    @property
    def sentences(self) -> list[str]:
        """The three worst classes and the three most frequent errors, in words."""
        if not any(row.samples for row in self.classes):
            return ["It has no samples."]
        if not self.errors:
            return ["It makes no errors on these samples."]
        told = []
        known = [row for row in self.classes if row.samples > 0 and row.recall.value < 1][:IN_WORDS]
        if known:
            parts = [
                f"{number(row.recall.value)} of class {short(row.name)} ({row.recall.between}; "
                f"{counted(row.samples, self.unit)})"
                for row in known
            ]
            told.append(f"{'Lowest recalls' if len(known) > 1 else 'Lowest recall'}: {joined(parts)}.")
        several = "Most frequent errors" if len(self.errors[:IN_WORDS]) > 1 else "Most frequent error"
        told.append(f"{several}: {joined([self._told(error) for error in self.errors[:IN_WORDS]])}.")
        return told

    @property
    def more_errors(self) -> list[str]:
        """Further frequent errors, in words."""
        return [f"Class {self._told(error)}." for error in self.errors[IN_WORDS:]]

    def _told(self, error: Confusion) -> str:
        return (
            f"{short(error.true)} predicted as {short(error.predicted)} in {amount(error.samples)} of "
            f"{counted(_whole(error.samples / error.share), self.unit)} ({percent(error.share)})"
        )


def _whole(samples: float) -> float:
    """Without what a division adds to a whole number."""
    return round(samples) if abs(samples - round(samples)) < 1e-6 * samples else samples


def model_classes(data: Data, model: int, manner: IntervalSettings) -> ModelClasses:
    """The classes and the errors of one model."""
    matrix = data.matrices[model]
    cells, options = cells_of(data, model)
    found = interval(cells, ["recall:class", "precision:class"], level=manner.level, **options)
    recall, precision = found.values()
    in_order = np.argsort(np.nan_to_num(recall.estimate, nan=np.inf), kind="stable")
    rows = [
        ClassRow(
            data.classes[k],
            float(matrix[k].sum()),
            float(matrix[:, k].sum()),
            Limited.of(recall, int(k)),
            Limited.of(precision, int(k)),
        )
        for k in in_order[:MOST_CLASSES]
    ]
    errors = most_frequent(matrix, data.classes, MOST_ERRORS)
    return ModelClasses(data.models[model], rows, errors, len(in_order) - len(rows), data.unit)


def hardest_classes(data: Data, models: Sequence[int]) -> list[str]:
    """Which classes have the lowest recall in most of the models, in sentences."""
    if len(models) < 3 or len(data.classes) < 3:
        return []
    recalls = np.asarray(score(data.matrices[list(models)], "recall:class")["recall:class"])
    known = recalls[~np.isnan(recalls).any(axis=1)]
    if len(known) < 3:
        return []
    is_worst = known == known.min(axis=1, keepdims=True)
    times = (is_worst & (is_worst.sum(axis=1, keepdims=True) == 1)).sum(axis=0)
    often = [int(k) for k in np.argsort(-times, kind="stable")[:3] if times[k] > 1]
    if not often:
        return []
    first, *others = often
    name, number_of = short(data.classes[first]), len(known)
    told = [f"Of the {number_of} models that may be the best, class {name} has the lowest recall in {times[first]}"]
    return [", ".join([*told, *(f"class {short(data.classes[k])} in {times[k]}" for k in others)]) + "."]


@dataclass(frozen=True)
class Detection:
    """How well the models detect the positive class of two.

    Parameters
    ----------
    positive, negative : str
        The names of the classes.
    names : tuple of str
        The measures: sensitivity, specificity, PPV, NPV, and the ROC area where there are scores.
    rows : list of list of Limited
        For each model, in the order of the data, the measures with their limits.
    """

    positive: str
    negative: str
    names: tuple[str, ...]
    rows: list[list[Limited]]


def detection(data: Data, scores: Sequence[ModelScores], manner: IntervalSettings) -> Detection | None:
    """The measures of the positive class; None unless there are two classes, one of them positive."""
    positive = data.known.positive
    if len(data.classes) != 2 or positive is None:
        return None
    with_areas = bool(scores) and data.scores is not None and data.scores.positives == (positive,)
    rows = []
    for model in range(len(data.models)):
        cells, options = cells_of(data, model)
        recall, precision = interval(cells, ["recall:class", "precision:class"], level=manner.level, **options).values()
        row = [Limited.of(one, k) for one in (recall, precision) for k in (positive, 1 - positive)]
        if with_areas:
            row.append(scores[model].area)
        rows.append(row)
    names = ("sensitivity", "specificity", "PPV", "NPV", *(("ROC AUC",) if with_areas else ()))
    return Detection(short(data.classes[positive]), short(data.classes[1 - positive]), names, rows)


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
