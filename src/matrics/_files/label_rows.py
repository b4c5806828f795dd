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
    """The rows of a file of labels as numbers: of classes, of the group and of the sample of each row."""

    true: Any
    pred: Any
    groups: Any
    samples: Any
    classes: tuple[str, ...]
    ordered: bool  # whether the order of the classes has a meaning, as for numbers
    names: list[str]  # of the groups
    sample_names: list[str]
    weights: Any = None  # of each row, or none

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """The classes that occur among the true, and those among the predicted labels."""
        true, pred = ([self.classes[k] for k in np.unique(side).tolist()] for side in (self.true, self.pred))
        return true, pred

    @property
    def apart(self) -> tuple[tuple[int, str], ...]:
        """The classes that are not to be counted as negative beside another one, and what their rows are."""
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
    found = two_names(sides[0], sides[1], names.positive)
    if found is not None:
        of_true, of_pred = (np.asarray([of.get(x, -1) for x in text]) for of in (found.of_true, found.of_pred))
        true, pred, text, ordered = of_true[true], of_pred[pred], found.classes, False
    groups, values = group_rows(table, names.by)
    number = int(groups.max()) + 1
    titles = [", ".join(text_of(values[name][k]) for name in names.by) for k in range(number)]
    samples, known = group_rows(table, (names.clusters,)) if names.clusters else (groups, {})
    sample_names = [text_of(value) for column in known.values() for value in column]
    weights = None if names.weight is None else weights_of(names.weight, table[names.weight])
    return Labelled(true, pred, groups, samples, text, ordered, titles, sample_names, weights)
