"""The rows of a file of labels as numbers of classes, groups and samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._files.columns import decoded, group_rows, refuse_missing, weights_of
from matrics._files.inputs import read_rows
from matrics._files.keys import text_of
from matrics._files.labels import MISSING_CLASS, coded
from matrics._files.names import Names
from matrics._files.notices import two_names
from matrics._files.wide import by_model
from matrics._tables.vocabularies import apart

if TYPE_CHECKING:
    from pathlib import Path

    from matrics._files.inputs import Input


@dataclass(frozen=True)
class Labelled:
    """The rows of a file of labels: the numbers of the true class, predicted class, group and sample of each row."""

    true: Any
    pred: Any
    groups: Any
    samples: Any
    classes: tuple[str, ...]
    ordered: bool  # whether the order of the classes has a meaning, as for numbers
    names: list[str]  # of the groups
    sample_names: list[str]
    weights: Any = None  # of each row; None without weights

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The classes of the true labels, and the classes of the predicted labels."""
        true, pred = ([self.classes[k] for k in np.unique(side).tolist()] for side in (self.true, self.pred))
        return true, pred

    @property
    def apart(self) -> tuple[tuple[int, str], ...]:
        """The classes that must not count as negative if another class is positive, and a description of their rows."""
        of_true, of_pred = (np.bincount(side, minlength=len(self.classes)) for side in (self.true, self.pred))
        return apart(self.classes, of_true, of_pred, MISSING_CLASS)


def read_labels(path: Path | Input, names: Names, *, warns: bool = True) -> Labelled:
    """The labels of a file, row by row."""
    names.check()
    if names.models:
        path, names = by_model(path, names)
    return read_rows(path, names, numbered, warns=warns)[1]


def numbered(table: Any, names: Names) -> Labelled:
    """The rows of a table as numbers."""
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in table.column_names:
        refuse_missing(name, decoded(table[name]))
    (true, classes, ordered), (pred, _, _) = (coded(table, name) for name in names.labels)
    text = tuple(map(str, classes.to_pylist()))
    sides = [[text[k] for k in np.unique(side).tolist()] for side in (true, pred)]
    pair = two_names(sides[0], sides[1], names.positive)
    if pair is not None:
        of_true, of_pred = (np.asarray([indices.get(x, -1) for x in text]) for indices in (pair.of_true, pair.of_pred))
        true, pred, text, ordered = of_true[true], of_pred[pred], pair.classes, False
    groups, values = group_rows(table, names.by)
    num_groups = int(groups.max()) + 1
    titles = [", ".join(text_of(values[name][k]) for name in names.by) for k in range(num_groups)]
    samples, known = group_rows(table, (names.clusters,)) if names.clusters else (groups, {})
    sample_names = [text_of(value) for column in known.values() for value in column]
    weights = None if names.weight is None else weights_of(names.weight, table[names.weight])
    return Labelled(true, pred, groups, samples, text, ordered, titles, sample_names, weights)
