"""Two classes, one of them positive: sensitivity, specificity, predictive values and ROC area of each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matrics._reporting.areas import ModelScores
from matrics._reporting.data import Data
from matrics._reporting.leaderboard import IntervalSettings, cells_of
from matrics._reporting.limited import Limited
from matrics._uncertainty.interval import interval
from matrics._wording import short

__all__ = ["Detection", "detection"]


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
