"""Replicates of a choice of a threshold from counts between thresholds, in place of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._ranking.best import Goal

# Counts of each class on the grid on which a measure is tried.
TRIED = 60


def matrices_at(counts: Sequence[Array]) -> Array:
    """The matrices at all thresholds, (R, T + 1, 2, 2), of the counts of each class between them, (R, T)."""
    cells = []
    for of_score in counts:
        empty = np.zeros((len(of_score), 1), of_score.dtype)
        up = np.concatenate([empty, of_score.cumsum(-1)], axis=-1)
        cells.append(np.stack([up[:, -1:] - up, up], axis=-1))
    return np.stack(cells, axis=-2)


def drawn_cells(cells: Sequence[Array], number: int, rng: np.random.Generator, *, within_classes: bool) -> list[Array]:
    """Counts (R, T) of each class, of samples drawn with replacement, as many as there are.

    They have the distribution that drawing the samples themselves would give them.
    """
    if within_classes:
        return [rng.multinomial(of_class.sum(), of_class / of_class.sum(), size=number) for of_class in cells]
    whole = np.concatenate(cells)
    drawn = rng.multinomial(whole.sum(), whole / whole.sum(), size=number)
    return np.split(drawn, len(cells), axis=-1)


def is_best_at_positives(goal: Goal, negatives: int, positives: int) -> bool:
    """Whether more false positives alone never make a threshold better, or allowed.

    Then the first of the best thresholds is the score of a positive sample, or has no false positive. Where nothing is
    predicted as positive a measure may be undefined, and then better with a false positive. This is tried on a grid of
    counts, and own measures may do anything between its points.
    """
    if any(metric.is_own for metric in (goal.metric, *(constraint.metric for constraint in goal.constraints))):
        return False

    def tried(most: int) -> Array:
        few, some = np.geomspace(1, most, TRIED), np.linspace(0, most, TRIED)
        return np.unique(np.rint(np.concatenate([few, some, most - few])).astype(np.int64))

    tp, fp = (part.ravel() for part in np.meshgrid(tried(positives), tried(negatives), indexing="ij"))
    cm = np.stack([np.stack([negatives - fp, fp], axis=-1), np.stack([positives - tp, tp], axis=-1)], axis=-2)
    values = goal.measured(cm, zero_division=math.nan, workers=1)
    order = goal.ranked(values, NUMPY).reshape(tried(positives).size, -1)
    is_no_better = order[:, 1:] <= order[:, :-1]
    is_no_better[0, 0] = True
    return bool(is_no_better.all())
