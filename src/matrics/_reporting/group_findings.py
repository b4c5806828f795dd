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
from matrics._uncertainty.compare import compare
from matrics._uncertainty.interval import interval
from matrics._uncertainty.results import Interval
from matrics._wording import capital, counted, number, short
from matrics.typing import NumPyArray

__all__ = ["GroupRow", "GroupTable", "ModelGroups", "group_tables", "model_groups"]


@dataclass(frozen=True)
class GroupRow:
    """One group: its samples, and a measure of them with limits."""

    name: str
    samples: float
    measured: Limited


@dataclass(frozen=True)
class ModelGroups:
    """The groups of a model, and their differences.

    Parameters
    ----------
    model, measure : str
        The model and the measure.
    rows : list of GroupRow
        The groups, the worst first; undefined ones last.
    ends : tuple of GroupRow, or None
        The groups with the smallest and the largest value, of several the largest group; None if fewer have a value.
    difference, ratio : float
        Of the largest and the smallest value.
    is_beyond_chance : bool or None
        Whether the groups with the largest and the smallest value differ with the level shared by all pairs; None if
        that cannot be said.
    parities : dict of str to float
        Differences of rates, of two classes: demographic parity, equal opportunity, equalized odds.
    """

    model: str
    measure: str
    rows: list[GroupRow]
    ends: tuple[GroupRow, GroupRow] | None
    difference: float
    ratio: float
    is_beyond_chance: bool | None
    parities: dict[str, float]

    @property
    def known(self) -> int:
        """The number of groups that have a value."""
        return sum(not math.isnan(row.measured.value) for row in self.rows)

    @property
    def sentence(self) -> str:
        """The difference in words."""
        if self.ends is None:
            return f"{capital(self.measure)} is defined in fewer than two groups."
        low, high = self.ends
        worst, best = low.measured.value, high.measured.value
        if worst == best:
            return f"{capital(self.measure)} is {number(worst)} in all {self.known} groups where it is defined."
        told = (
            f"{capital(self.measure)} is between {number(worst)} in {short(low.name)} "
            f"({counted(low.samples, 'sample')}) and {number(best)} in {short(high.name)} "
            f"({counted(high.samples, 'sample')}): a difference of {number(self.difference)}"
        )
        if self.is_beyond_chance is None:
            return f"{told}; the significance of the difference was not tested."
        return f"{told}, {'a significant difference' if self.is_beyond_chance else 'not a significant difference'}."


@dataclass(frozen=True)
class GroupTableRow:
    """A group: its predictions by one model, and a measure of each model."""

    name: str
    samples: float
    values: list[Limited]


@dataclass(frozen=True)
class GroupTable:
    """One measure of all groups and of the models that are shown."""

    measure: str
    rows: list[GroupTableRow]


def group_tables(data: Data, models: Sequence[int], found: Leaderboard, manner: IntervalSettings) -> list[GroupTable]:
    """The first measure of each group; and of two classes the recall of each, which does not depend on their sizes."""
    groups = data.groups
    if groups is None:
        return []
    filled = [k for k in range(len(groups.names)) if groups.matrices[:, k].any()]
    side = 1 if found.verdict.higher_is_better else -1
    stack = groups.matrices[list(models)][:, filled]
    (first,) = interval(stack, found.metrics[found.first], level=manner.level).values()
    measured = {found.title: first}
    if len(data.classes) == 2:
        (recall,) = interval(stack, "recall:class", level=manner.level).values()
        for k, name in enumerate(data.classes):
            title = f"recall of {short(name)}"
            if title != found.title:
                measured[title] = Interval(*(part[..., k] for part in recall))
    worst = np.argsort(np.nan_to_num(side * np.asarray(first.estimate)[0], nan=math.inf), kind="stable")
    return [
        GroupTable(
            title,
            [
                GroupTableRow(
                    groups.names[filled[place]],
                    float(groups.matrices[list(models), filled[place]].sum((-2, -1)).max()),
                    [Limited.of(one, (row, place)) for row in range(len(models))],
                )
                for place in worst
            ],
        )
        for title, one in measured.items()
    ]


def model_groups(data: Data, models: Sequence[int], found: Leaderboard, manner: IntervalSettings) -> list[ModelGroups]:
    """The groups of some models."""
    if data.groups is None:
        return []
    return [_of_model(data, model, found, manner) for model in models]


def _of_model(data: Data, model: int, found: Leaderboard, manner: IntervalSettings) -> ModelGroups:
    groups, measure = data.groups, found.metrics[found.first]
    assert groups is not None  # noqa: S101 (the caller has looked)
    matrices = groups.matrices[model]
    filled = [k for k in range(len(matrices)) if matrices[k].any()]
    (one,) = interval(matrices[filled], measure, level=manner.level).values()
    rows = [
        GroupRow(groups.names[k], float(matrices[k].sum()), Limited.of(one, place)) for place, k in enumerate(filled)
    ]
    side = 1 if found.verdict.higher_is_better else -1
    apart = disparity(np.asarray(one.estimate))
    beyond = None
    ends = _ends(rows)
    if ends is not None:
        number = sum(not math.isnan(row.measured.value) for row in rows)
        shared = 1 - (1 - manner.level) / (number * (number - 1) / 2)
        worst, best = (filled[rows.index(row)] for row in ends)
        (pair,) = compare(matrices[best], matrices[worst], measure, level=shared).values()
        beyond = None if math.isnan(pair.low) else bool(pair.low > 0)
    parities = {}
    if matrices.shape[-1] == 2:
        parities = _parities(data, matrices[filled])
    rows.sort(key=lambda row: math.inf if math.isnan(row.measured.value) else side * row.measured.value)
    return ModelGroups(
        data.models[model], found.title, rows, ends, float(apart.difference), float(apart.ratio), beyond, parities
    )


def _ends(rows: Sequence[GroupRow]) -> tuple[GroupRow, GroupRow] | None:
    """The groups with the smallest and with the largest value; where several have it, the largest group."""
    known = [row for row in rows if not math.isnan(row.measured.value)]
    if len(known) < 2:
        return None
    return (
        min(known, key=lambda row: (row.measured.value, -row.samples)),
        max(known, key=lambda row: (row.measured.value, row.samples)),
    )


def _parities(data: Data, matrices: NumPyArray) -> dict[str, float]:
    """The parities of two classes: without a positive class, equal opportunity for each of them."""
    positive = data.known.positive
    one = 1 if positive is None else positive
    some = [0, 1] if positive is None else [positive]
    names = [short(name) for name in data.classes]
    found: dict[str, Any] = {
        f"demographic parity: difference of the shares predicted as {names[one]}": demographic_parity(
            matrices, positive=one
        )
    }
    for k in some:
        found[f"equal opportunity: difference of the recall of {names[k]}"] = equal_opportunity(matrices, positive=k)
    title = f"equalized odds: the larger difference of the recall and of the false positive rate of {names[one]}"
    found[title] = equalized_odds(matrices, positive=one)
    return {name: float(value.difference) for name, value in found.items()}


def shares_of_classes(data: Data) -> list[tuple[str, np.ndarray]]:
    """The class counts of each group, for the warnings."""
    if data.groups is None:
        return []
    counts = data.groups.matrices.sum(axis=-1)
    return list(zip(data.groups.names, counts.sum(axis=0), strict=True))
