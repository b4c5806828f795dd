"""Replicates of the choice of a threshold, drawn from counts between thresholds instead of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._ranking.best import Goal

# Number of counts of each class on the grid on which is_best_at_positives() evaluates a measure.
GRID_SIZE = 60


def matrices_at(counts: Sequence[Array]) -> Array:
    """The matrices (R, T + 1, 2, 2) at all thresholds, from the counts (R, T) of each class between thresholds."""
    cells = []
    for of_score in counts:
        empty = np.zeros((len(of_score), 1), of_score.dtype)
        cumulated = np.concatenate([empty, of_score.cumsum(-1)], axis=-1)
        cells.append(np.stack([cumulated[:, -1:] - cumulated, cumulated], axis=-1))
    return np.stack(cells, axis=-2)


def drawn_cells(cells: Sequence[Array], number: int, rng: np.random.Generator, *, within_classes: bool) -> list[Array]:
    """Counts (R, T) of each class in replicates: as many samples as there are, drawn with replacement.

    The counts have the same distribution as if the samples themselves were drawn.
    """
    if within_classes:
        return [rng.multinomial(of_class.sum(), of_class / of_class.sum(), size=number) for of_class in cells]
    all_cells = np.concatenate(cells)
    drawn = rng.multinomial(all_cells.sum(), all_cells / all_cells.sum(), size=number)
    return np.split(drawn, len(cells), axis=-1)


def is_best_at_positives(goal: Goal, negatives: int, positives: int) -> bool:
    """Whether more false positives alone never make a threshold better, or allowed.

    Then the first of the best thresholds is the score of a positive sample, or has no false positive. A measure may be
    undefined without predicted positives, and defined with a false positive. The function evaluates the measure on a
    grid of counts. The result is False for a measure of the user, which may behave differently between the points.
    """
    if any(metric.is_own for metric in (goal.metric, *(constraint.metric for constraint in goal.constraints))):
        return False

    def grid(largest: int) -> Array:
        geometric, linear = np.geomspace(1, largest, GRID_SIZE), np.linspace(0, largest, GRID_SIZE)
        return np.unique(np.rint(np.concatenate([geometric, linear, largest - geometric])).astype(np.int64))

    tp, fp = (part.ravel() for part in np.meshgrid(grid(positives), grid(negatives), indexing="ij"))
    cm = np.stack([np.stack([negatives - fp, fp], axis=-1), np.stack([positives - tp, tp], axis=-1)], axis=-2)
    values = goal.measured(cm, zero_division=math.nan, workers=1)
    order = goal.ranked(values, NUMPY).reshape(grid(positives).size, -1)
    is_no_better = order[:, 1:] <= order[:, :-1]
    is_no_better[0, 0] = True
    return bool(is_no_better.all())
