"""The rows of a file of labels as numbers of classes, groups and samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matrics.files.columns import decoded, group_rows, refuse_missing, weights_of
from matrics.files.inputs import read_rows
from matrics.files.keys import text_of
from matrics.files.labels import coded
from matrics.files.names import Names

if TYPE_CHECKING:
    from pathlib import Path


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


def read_labels(path: Path, names: Names, *, warns: bool = True) -> Labelled:
    """The labels of a file, row by row."""
    names.check()
    return read_rows(path, names, numbered, warns=warns)[1]


def numbered(table: Any, names: Names) -> Labelled:
    """The rows of a table as numbers."""
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in table.column_names:
        refuse_missing(name, decoded(table[name]))
    (true, classes, ordered), (pred, _, _) = (coded(table, name) for name in names.labels)
    groups, values = group_rows(table, names.by)
    number = int(groups.max()) + 1
    titles = [", ".join(text_of(values[name][k]) for name in names.by) for k in range(number)]
    samples, known = group_rows(table, (names.clusters,)) if names.clusters else (groups, {})
    sample_names = [text_of(value) for column in known.values() for value in column]
    text = tuple(map(str, classes.to_pylist()))
    weights = None if names.weight is None else weights_of(names.weight, table[names.weight])
    return Labelled(true, pred, groups, samples, text, ordered, titles, sample_names, weights)
