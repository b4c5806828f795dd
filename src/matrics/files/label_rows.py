"""The rows of a file of labels as numbers of classes, groups and samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from matrics.files.columns import (
    as_labels,
    codes,
    decoded,
    group_rows,
    is_ordered,
    refuse_missing,
    sorted_values,
    weights_of,
)
from matrics.files.inputs import read_rows
from matrics.files.keys import text_of
from matrics.files.missing import MISSING_CLASS
from matrics.files.names import Names
from matrics.files.notices import two_names
from matrics.tables.vocabularies import apart

if TYPE_CHECKING:
    from pathlib import Path

Column = Any


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


def read_labels(path: Path, names: Names) -> Labelled:
    """The labels of a file, row by row."""
    names.check()
    return read_rows(path, names, numbered)[1]


def numbered(table: Any, names: Names) -> Labelled:
    """The rows of a table as numbers."""
    true, pred, classes = _coded(table, names)
    text, ordered = tuple(map(str, classes.to_pylist())), is_ordered(classes)
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


def _coded(table: Any, names: Names) -> tuple[Any, Any, Column]:
    """True and predicted labels as numbers of classes, and the classes."""
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in table.column_names:
        refuse_missing(name, decoded(table[name]))
    true, pred = (as_labels(name, table[name]) for name in names.labels)
    if true.type != pred.type:
        raise ValueError(
            f"expected {names.true} and {names.pred} to have labels of one type, got {true.type} and {pred.type}"
        )
    classes = sorted_values(pa.chunked_array([*true.chunks, *pred.chunks]))
    return codes(true, classes), codes(pred, classes), classes
