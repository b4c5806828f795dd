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
    "ClassRow",
    "Detection",
    "Limitation",
    "MeasureProperties",
    "ModelClasses",
    "Winner",
    "compared_measures",
    "detection",
    "duplicates",
    "hardest_classes",
    "limitations",
    "measure_properties",
    "model_classes",
    "winners",
]


MOST_CLASSES, MOST_ERRORS = 50, 8  # in the folded table and list
IN_WORDS = 3


@dataclass(frozen=True)
class ClassRow:
    """A class of a model: its samples, its predictions, and its recall and precision with limits."""

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
    left_out: int  # number of classes that are not listed
    unit: str = "sample"  # the noun for a row of the data: "prediction" if samples are repeated

    @property
    def sentences(self) -> list[str]:
        """Sentences on the three worst classes and the three most frequent errors."""
        if not any(row.samples for row in self.classes):
            return ["The model has no samples."]
        if not self.errors:
            return ["The model makes no errors on these samples."]
        sentences = []
        known = [row for row in self.classes if row.samples > 0 and row.recall.value < 1][:IN_WORDS]
        if known:
            parts = [
                f"{number(row.recall.value)} of class {short(row.name)} ({row.recall.between}; "
                f"{counted(row.samples, self.unit)})"
                for row in known
            ]
            sentences.append(f"{'Lowest recalls' if len(known) > 1 else 'Lowest recall'}: {joined(parts)}.")
        several = "Most frequent errors" if len(self.errors[:IN_WORDS]) > 1 else "Most frequent error"
        sentences.append(f"{several}: {joined([self._described(error) for error in self.errors[:IN_WORDS]])}.")
        return sentences

    @property
    def more_errors(self) -> list[str]:
        """Sentences on further frequent errors."""
        return [f"Class {self._described(error)}." for error in self.errors[IN_WORDS:]]

    def _described(self, error: Confusion) -> str:
        return (
            f"{short(error.true)} predicted as {short(error.predicted)} in {amount(error.samples)} of "
            f"{counted(_whole(error.samples / error.share), self.unit)} ({percent(error.share)})"
        )


def _whole(samples: float) -> float:
    """The number without the rounding error that a division adds to a whole number."""
    return round(samples) if abs(samples - round(samples)) < 1e-6 * samples else samples


def model_classes(data: Data, model: int, settings: IntervalSettings) -> ModelClasses:
    """The classes and the errors of a model."""
    matrix = data.matrices[model]
    cells, options = cells_of(data, model)
    intervals = interval(cells, ["recall:class", "precision:class"], level=settings.level, **options)
    recall, precision = intervals.values()
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
    """Sentences on the classes that have the lowest recall in several models."""
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
    parts = [f"Of the {number_of} models that may be the best, class {name} has the lowest recall in {times[first]}"]
    return [", ".join([*parts, *(f"class {short(data.classes[k])} in {times[k]}" for k in others)]) + "."]


@dataclass(frozen=True)
class Detection:
    """Measures of the detection of a positive class, for data of two classes.

    Parameters
    ----------
    positive, negative : str
        The names of the classes.
    names : tuple of str
        The measures: sensitivity, specificity, PPV, NPV, and the ROC area if there are scores.
    rows : list of list of Limited
        For each model, in the order of the data, the measures with their limits.
    """

    positive: str
    negative: str
    names: tuple[str, ...]
    rows: list[list[Limited]]


def detection(data: Data, scores: Sequence[ModelScores], settings: IntervalSettings) -> Detection | None:
    """The measures of the positive class; None unless the data have two classes and a positive class."""
    positive = data.known.positive
    if len(data.classes) != 2 or positive is None:
        return None
    with_areas = bool(scores) and data.scores is not None and data.scores.positives == (positive,)
    rows = []
    for model in range(len(data.models)):
        cells, options = cells_of(data, model)
        recall, precision = interval(
            cells, ["recall:class", "precision:class"], level=settings.level, **options
        ).values()
        row = [Limited.of(limits, k) for limits in (recall, precision) for k in (positive, 1 - positive)]
        if with_areas:
            row.append(scores[model].area)
        rows.append(row)
    names = ("sensitivity", "specificity", "PPV", "NPV", *(("ROC AUC",) if with_areas else ()))
    return Detection(short(data.classes[positive]), short(data.classes[1 - positive]), names, rows)


# The consequences of missing properties and of invariances; the most important come first.
LACKING = {
    "chance": "The expected value of random predictions depends on the class sizes",
    "class_sizes": "The value depends on the class sizes, even if the error rates of each class stay the same",
    "correction": "The value can get worse when an error is corrected",
    "error": "The value can get better when an error is added",
    "one_class_missed": "The value is the worst possible if all samples of one of three classes are misclassified",
    "only_perfect": "Predictions with errors can have the same value as perfect predictions",
    "continuity": "A single sample of a class without other samples can change the value by a large amount",
}
HAVING = {
    "true_negatives": "True negatives are ignored (with two classes)",
    "transposition": "The direction of errors is ignored (true and predicted classes can be exchanged)",
}
MOST_SENTENCES = 4


@dataclass(frozen=True)
class Winner:
    """The best model by a measure, and its comparison with the best model by the first measure.

    Parameters
    ----------
    measure : str
        The measure.
    model : str
        The best model by this measure; empty if the measure is undefined for all models.
    value : float
        The value of the best model.
    value_of_first : float
        The value of the model that is best by the first measure.
    agrees : bool
        Whether both are the same model, or have the same value of this measure.
    is_significant : bool or None
        Whether both differ significantly by this measure; None if the difference was not tested.
    """

    measure: str
    model: str
    value: float
    value_of_first: float
    agrees: bool
    is_significant: bool | None


@dataclass(frozen=True)
class Limitation:
    """A limitation of measures: a sentence, and the measures that have this limitation."""

    sentence: str
    measures: list[str]


@dataclass(frozen=True)
class MeasureProperties:
    """The limitations of a measure from its certificate; empty for measures without a certificate."""

    measure: str
    summary: str
    range: str
    sentences: list[str]
    is_certified: bool


def winners(data: Data, board: Leaderboard) -> list[Winner]:
    """The best model by each measure."""
    first = board.order[0]
    best = []
    for name, verdict in board.verdicts.items():
        if verdict.best is None:
            best.append(Winner(verdict.title, "", np.nan, np.nan, agrees=True, is_significant=None))
            continue
        value, other = float(verdict.estimate[verdict.best]), float(verdict.estimate[first])
        agrees = verdict.best == first or value == other
        # Only the best models by the first measure were compared.
        tested = name in board.judged and verdict.best in board.compared and first in board.compared
        apart = None if agrees or not tested else not bool(verdict.tied[first])
        best.append(Winner(verdict.title, data.models[verdict.best], value, other, agrees, apart))
    return best


def measure_properties(measure: str, metric: Metric) -> MeasureProperties:
    """The limitations of a measure, from its certificate for the mean over classes or for a single class."""
    average = None if metric.average == "macro" else metric.average
    spec = key_of(replace(metric, average=average, classes=(), called="", resolved=False))
    if metric.is_own or spec not in certified():  # an own measure may have the name of another
        return MeasureProperties(measure, metric.summary, _range(metric), [], is_certified=False)
    marks = certified()[spec]
    sentences = [text for name, text in LACKING.items() if marks[name] in (FAILS, FAILS_BEYOND_TWO)]
    sentences += [text for name, text in HAVING.items() if marks[name] == HOLDS]
    return MeasureProperties(measure, metric.summary, _range(metric), sentences[:MOST_SENTENCES], is_certified=True)


def _range(metric: Metric) -> str:
    """A sentence on the range and the direction: "From −1 to 1; higher is better."."""
    ends = range_of(metric).strip("[]()").split(", ")
    between = f"From {' to '.join(ends)}" if len(ends) == 2 else range_of(metric)
    better = {True: "; higher is better", False: "; lower is better", None: ""}[metric.higher_is_better]
    return f"{between.replace('-', '−')}{better}."


def limitations(properties: Sequence[MeasureProperties]) -> list[Limitation]:
    """All different limitations with their measures; limitations of many measures come first."""
    measures: dict[str, list[str]] = {}
    for of_measure in properties:
        for sentence in of_measure.sentences:
            measures.setdefault(sentence, []).append(of_measure.measure)
    return sorted((Limitation(*pair) for pair in measures.items()), key=lambda limitation: -len(limitation.measures))


def compared_measures(data: Data, board: Leaderboard) -> Agreement | None:
    """The agreement of the measures about the models; None with fewer than three models or measures."""
    if len(data.models) < 3 or len(board.verdicts) < 3:
        return None
    agreed = agreement(data.matrices, list(board.metrics.values()), workers=-1)
    return replace(agreed, names=tuple(board.titles(board.metrics)))


def duplicates(agreed: Agreement | None) -> list[list[str]]:
    """The sets of measures that rank all models in the same order."""
    if agreed is None:
        return []
    return [family for family in agreed.families(least_correlation=1.0) if len(family) > 1]
