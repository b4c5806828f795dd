"""Differences between groups of samples for each model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrics._reporting.data import Data
from matrics._reporting.leaderboard import IntervalSettings, Leaderboard
from matrics._reporting.verdicts import Limited
from matrics._scoring.fairness import demographic_parity, disparity, equal_opportunity, equalized_odds
from matrics._scoring.score import score
from matrics._uncertainty.compare import compare
from matrics._uncertainty.interval import interval
from matrics._uncertainty.results import Interval
from matrics._wording import capital, counted, number, short
from matrics.typing import NumPyArray

__all__ = ["GroupRow", "ModelGroups", "model_groups"]


@dataclass(frozen=True)
class GroupRow:
    """A group: its samples, its samples of the positive class (None without one), and the values of all measures."""

    name: str
    samples: float
    positives: float | None
    values: dict[str, Limited]

    @property
    def measured(self) -> Limited:
        """The measure that ranks the models."""
        return next(iter(self.values.values()))


@dataclass(frozen=True)
class ModelGroups:
    """The groups of a model, and their differences.

    Parameters
    ----------
    model, measure : str
        The model and the measure.
    rows : list of GroupRow
        The groups in their order.
    positive : str
        The positive class; empty if there is none.
    ends : tuple of GroupRow, or None
        The groups with the smallest and the largest value; None if fewer than two groups have a value.
    difference, ratio : float
        The difference and the ratio of the largest and the smallest value.
    is_beyond_chance : bool or None
        Whether the groups with the largest and the smallest value differ significantly, corrected for all pairs; None
        if this was not tested.
    parities : dict of str to float
        Differences of rates for two classes: demographic parity, equal opportunity, equalized odds.
    """

    model: str
    measure: str
    rows: list[GroupRow]
    positive: str
    ends: tuple[GroupRow, GroupRow] | None
    difference: float
    ratio: float
    is_beyond_chance: bool | None
    parities: dict[str, float]

    @property
    def measures(self) -> list[str]:
        """The titles of all measures."""
        return list(self.rows[0].values)

    @property
    def known(self) -> int:
        """The number of groups that have a value."""
        return sum(not math.isnan(row.measured.value) for row in self.rows)

    @property
    def sentence(self) -> str:
        """A sentence on the difference."""
        if self.ends is None:
            return f"{capital(self.measure)} is defined in fewer than two groups."
        low, high = self.ends
        worst, best = low.measured.value, high.measured.value
        if worst == best:
            return f"{capital(self.measure)} is {number(worst)} in all {self.known} groups where it is defined."
        text = (
            f"{capital(self.measure)} is between {number(worst)} in {short(low.name)} "
            f"({counted(low.samples, 'sample')}) and {number(best)} in {short(high.name)} "
            f"({counted(high.samples, 'sample')}): a difference of {number(self.difference)}"
        )
        if self.is_beyond_chance is None:
            return f"{text}; the significance of the difference was not tested."
        return f"{text}, {'a significant difference' if self.is_beyond_chance else 'not a significant difference'}."


def model_groups(
    data: Data, models: Sequence[int], board: Leaderboard, settings: IntervalSettings
) -> list[ModelGroups]:
    """The groups of some models."""
    if data.groups is None:
        return []
    return [_of_model(data, model, board, settings) for model in models]


def _of_model(data: Data, model: int, board: Leaderboard, settings: IntervalSettings) -> ModelGroups:
    groups, measure = data.groups, board.metrics[board.first]
    assert groups is not None  # noqa: S101 (the caller has looked)
    matrices = groups.matrices[model]
    filled = [k for k in range(len(matrices)) if matrices[k].any()]
    values = _measured(data, matrices[filled], board, settings)
    positive = data.known.default_positive
    rows = [
        GroupRow(
            groups.names[k],
            float(matrices[k].sum()),
            None if positive is None else float(matrices[k][positive].sum()),
            {title: Limited.of(interval_of, place) for title, interval_of in values.items()},
        )
        for place, k in enumerate(filled)
    ]
    apart = disparity(np.asarray([row.measured.value for row in rows]))
    beyond = None
    ends = _ends(rows)
    if ends is not None:
        number = sum(not math.isnan(row.measured.value) for row in rows)
        shared = 1 - (1 - settings.level) / (number * (number - 1) / 2)
        least, most = (filled[rows.index(row)] for row in ends)
        (pair,) = compare(matrices[most], matrices[least], measure, level=shared).values()
        beyond = None if math.isnan(pair.low) else bool(pair.low > 0)
    parities = {}
    if matrices.shape[-1] == 2:
        parities = _parities(data, matrices[filled])
    name = "" if positive is None else data.classes[positive]
    numbers = (float(apart.difference), float(apart.ratio), beyond)
    return ModelGroups(data.models[model], board.title, rows, name, ends, *numbers, parities)


def _measured(data: Data, stack: NumPyArray, board: Leaderboard, settings: IntervalSettings) -> dict[str, Interval]:
    """All measures by their titles, with limits if the leaderboard has limits; for two classes also both recalls.

    The recall of a class does not depend on the class sizes, which may differ between groups.
    """
    with_limits = interval(stack, [board.metrics[name] for name in board.judged], level=settings.level, workers=-1)
    others = [name for name in board.metrics if name not in board.judged]
    plain = score(stack, [board.metrics[name] for name in others], workers=-1) if others else {}
    measured = {}
    for name in (board.first, *(name for name in board.metrics if name != board.first)):
        key = str(board.metrics[name])
        measured[board.verdicts[name].title] = with_limits[key] if key in with_limits else _without_limits(plain[key])
    if len(data.classes) == 2:
        (recall,) = interval(stack, "recall:class", level=settings.level).values()
        for k, name in enumerate(data.classes):
            title = f"recall of {short(name)}"
            if title not in measured:
                measured[title] = Interval(*(part[..., k] for part in recall))
    return measured


def _without_limits(values: Any) -> Interval:
    nothing = np.full(np.shape(values), math.nan)
    return Interval(np.asarray(values), nothing, nothing, nothing, *[np.zeros(np.shape(values), np.int64)] * 2)


def _ends(rows: Sequence[GroupRow]) -> tuple[GroupRow, GroupRow] | None:
    """The groups with the smallest and the largest value; the largest of several groups with the same value."""
    known = [row for row in rows if not math.isnan(row.measured.value)]
    if len(known) < 2:
        return None
    return (
        min(known, key=lambda row: (row.measured.value, -row.samples)),
        max(known, key=lambda row: (row.measured.value, row.samples)),
    )


def _parities(data: Data, matrices: NumPyArray) -> dict[str, float]:
    """The parities of two classes; equal opportunity of both classes if none of them is positive."""
    positive = data.known.positive
    chosen = 1 if positive is None else positive
    classes = [0, 1] if positive is None else [positive]
    names = [short(name) for name in data.classes]
    parities: dict[str, Any] = {
        f"demographic parity: difference between the shares predicted as {names[chosen]}": demographic_parity(
            matrices, positive=chosen
        )
    }
    for k in classes:
        parities[f"equal opportunity: difference in the recall of {names[k]}"] = equal_opportunity(matrices, positive=k)
    title = f"equalized odds: the larger of the differences in recall and in false positive rate of {names[chosen]}"
    parities[title] = equalized_odds(matrices, positive=chosen)
    return {name: float(value.difference) for name, value in parities.items()}


def shares_of_classes(data: Data) -> list[tuple[str, np.ndarray]]:
    """The class counts of each group, for the warnings."""
    if data.groups is None:
        return []
    counts = data.groups.matrices.sum(axis=-1)
    return list(zip(data.groups.names, counts.sum(axis=0), strict=True))
