"""Columns of scores: their classes, the classes that they predict, and the scores of each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._errors import ArgumentError
from matrics._quoting import quoted_list
from matrics.typing import NumPyArray

__all__ = ["THRESHOLD", "ReportScores", "predicted", "read_scores"]

# The lowest probability that predicts the positive class.
THRESHOLD = 0.5


@dataclass(frozen=True)
class ReportScores:
    """Scores of samples.

    Parameters
    ----------
    positives : tuple of int
        The class of each column of scores.
    values : array, shape (rows, columns)
        The scores.
    by_model : list
        For each model the true classes (N,) and the scores (N, columns) of its samples.
    """

    positives: tuple[int, ...]
    values: NumPyArray = field(repr=False)
    by_model: list[tuple[NumPyArray, NumPyArray]] = field(default_factory=list, repr=False)

    @property
    def are_probabilities(self) -> bool:
        """Whether all scores are between 0 and 1 and, if every class has a column, add up to 1."""
        inside = bool(((self.values >= 0) & (self.values <= 1)).all())
        return inside and (len(self.positives) == 1 or bool(np.allclose(self.values.sum(axis=1), 1, atol=1e-3)))

    def of_models(self, true: NumPyArray, rows: Sequence[NumPyArray]) -> ReportScores:
        """The scores with those of each model, by the rows of each model."""
        return ReportScores(self.positives, self.values, [(true[of_model], self.values[of_model]) for of_model in rows])


def read_scores(
    numbers: Mapping[Any, NumPyArray],
    columns: Mapping[Any, Any],
    known: Classes,
    true: NumPyArray,
) -> ReportScores:
    """The scores of a table from the columns of labels; the label None is the positive class.

    Raises
    ------
    ValueError
        The positive class is unknown, or a label does not occur.
    """
    values = np.stack([numbers[name] for name in columns.values()], axis=1)
    if len(np.unique(true)) < 2:
        raise ArgumentError("y_score", f"expected true labels of at least two classes, got only {known.listed}")
    if None in columns:
        place = known.default_positive
        if place is None:
            raise ArgumentError(
                "positive", f"expected the label of the class of the scores, from {known.listed}, got none"
            )
        return ReportScores((place,), values)
    if len(columns) not in (1, known.number):
        raise ArgumentError(
            "y_score",
            f"expected a single column, or a column for each of the {known.number} classes, got "
            f"[{quoted_list(columns)}]",
        )
    return ReportScores(tuple(known.index(label, "y_score") for label in columns), values)


def predicted(scores: ReportScores | None, classes: Sequence[str]) -> tuple[NumPyArray, str]:
    """The class that the scores predict for each row, and a sentence on how it is predicted."""
    if scores is None:
        raise TypeError("y_score: expected scores to predict classes from, got none")
    if len(scores.positives) > 1:
        chosen = np.asarray(scores.positives)[scores.values.argmax(axis=1)]
        return (
            chosen,
            "The predicted class is the class with the highest score, because there is no column of predicted labels.",
        )
    n = len(classes)
    if n != 2:
        raise ArgumentError(
            "y_pred", f"expected a column of predicted labels, as only a single class of {n} has scores, got none"
        )
    positive = scores.positives[0]
    if not scores.are_probabilities:
        raise ArgumentError(
            "y_pred",
            "expected a column of predicted labels, as scores that are not probabilities have no default threshold, "
            "got none",
        )
    above = scores.values[:, 0] >= THRESHOLD
    how = (
        f"A sample is predicted as {classes[positive]} if its score is at least {THRESHOLD}, as there is no column of "
        "predicted labels."
    )
    return np.where(above, positive, 1 - positive), how
