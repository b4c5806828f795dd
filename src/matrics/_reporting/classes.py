"""What each model does class by class; of two classes: sensitivity, specificity, predictive values and ROC area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from matrics._plot.confusion import Confusion, most_frequent
from matrics._reporting.areas import ModelScores
from matrics._reporting.data import Data
from matrics._reporting.leaderboard import IntervalSettings, cells_of, repeats
from matrics._reporting.verdicts import Limited
from matrics._scoring.score import score
from matrics._uncertainty.interval import interval
from matrics._wording import amount, counted, joined, number, percent, short

__all__ = ["ClassRow", "Detection", "ModelClasses", "detection", "hardest_classes", "model_classes"]


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
    unit = "sample" if repeats(data) == 1 else "prediction"
    unit = unit if data.weighted is None else f"weighted {unit}"
    return ModelClasses(data.models[model], rows, errors, len(in_order) - len(rows), unit)


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
