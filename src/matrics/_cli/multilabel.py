"""Sets of labels in two columns of text, such as ``cat;dog``, and their scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import matrics
from matrics._arrays.sizes import most_cells
from matrics._catalogue.naming import title_of
from matrics._cli.blocks import BlockResult, Piece
from matrics._cli.measures import about_measure
from matrics._cli.run import Run, score_columns
from matrics._errors import ArgumentError
from matrics._files import columns as of_columns
from matrics._files.inputs import read_rows
from matrics._files.keys import Key, Keyed
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.wide import by_model
from matrics._multilabel.averages import checked_average
from matrics._quoting import quoted
from matrics._wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matrics._catalogue.record import Metric
    from matrics._cli.results import Measured
    from matrics._files.inputs import Input
    from matrics._multilabel.averages import Average

Array = Any

METRICS = "accuracy,precision,recall,f1,mcc"


@dataclass(frozen=True)
class SetNames(Names):
    """The columns of sets of labels and of the groups."""

    separator: str = ";"

    @property
    def labels(self) -> tuple[str, ...]:
        """No column has one label a row."""
        return ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Both columns of sets; a sample without any label is an empty cell."""
        return self.true, self.pred


@dataclass(frozen=True)
class Sets(Keyed):
    """The samples of a file: of each group, which labels are true (N, L) and which are predicted."""

    file: str
    keys: tuple[Key, ...]
    classes: tuple[str, ...]
    groups: list[tuple[Array, Array]] = field(repr=False)

    @property
    def batch(self) -> tuple[int, ...]:
        """The axis of groups."""
        return (len(self.groups),) if self.keys else ()


@dataclass(kw_only=True)
class MultilabelRun(Run):
    """The scores (groups, columns) of sets of labels."""

    source: Sets
    average: str
    to_backend: Callable[[Array], Array]

    @property
    def counts(self) -> str:
        """What there is, in words."""
        groups = f"{counted(self.source.count, 'group')} of " if self.source.keys else ""
        average = "each label" if self.average == "label" else f"average {self.average}"
        return f"{groups}{counted(len(self.source.classes), 'label')}, {average}"

    @property
    def columns(self) -> list[Measured]:
        """One column per measure, or one per label."""
        ends = [f" of {name}" for name in self.source.classes] if self.average == "label" else [f", {self.average}"]
        columns = zip(self.metrics, score_columns(self.metrics, ()), strict=True)
        return [replace(column, label=f"{name}{end}") for name, column in columns for end in ends]

    @property
    def measures(self) -> list[dict[str, Any]]:
        """The measures, each of which has as many columns as any other."""
        labels = [column.label for column in self.columns]
        each = len(labels) // len(self.metrics)
        return [
            about_measure(title_of(key), metric, labels[k * each : (k + 1) * each])
            for k, (key, metric) in enumerate(self.metrics.items())
        ]

    def classes(self, positive: str | None) -> dict[str, Any]:
        """The labels."""
        del positive
        return {"classes": list(self.source.classes), "positive": None}

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Each group."""
        yield from ((position, position + 1) for position in range(self.source.count))

    def find(self, piece: Piece) -> BlockResult:
        """The scores of a group."""
        true, pred = self.source.groups[piece.start]
        scores = matrics.multilabel.score(
            self.to_backend(true),
            self.to_backend(pred),
            list(self.metrics),
            average=cast("Average", self.average),  # verified by check
            zero_division=self.zero_division,
            workers=self.manner.workers,
        )
        values = np.concatenate([np.ravel(np.asarray(values)) for values in scores.values()])[None]
        return BlockResult(
            piece.start, piece.stop, values, samples=float(len(true)), undefined=int(np.isnan(values).sum())
        )


def check(metrics: dict[str, Metric], average: str) -> None:
    """Check the options of sets, before they are read."""
    checked_average(average)
    for name, metric in metrics.items():
        if metric.is_classwise:
            raise ArgumentError(
                "metrics", f"expected measures with one value a label, got {quoted(name)}; --average label"
            )
        if metric.classes:
            raise ArgumentError(
                "metrics",
                f"expected no classes in square brackets with --separator, got {quoted(name)}; "
                "--average label has a column for each label",
            )


def read_sets(path: Path, names: SetNames) -> Sets:
    """The samples of a file."""
    if not names.separator:
        raise ArgumentError("separator", "expected the text between two labels, such as ';', got an empty text")
    if names.true == names.pred or {names.true, names.pred} & set(names.by):
        raise ArgumentError("pred", "expected different columns of true labels, predicted labels and groups")
    found: Path | Input = path
    if names.models:
        found, names = by_model(path, names)
    file, (classes, values, groups), _ = read_rows(found, names, _samples)
    of_groups = (np.any([side.any(axis=0) for side in of], axis=0) for of in zip(*groups, strict=True))
    true, pred = ([classes[k] for k in np.flatnonzero(there).tolist()] for there in of_groups)
    refuse_disjoint(file, true, pred, (names.true, names.pred))
    warn_of_odd_labels(file, true, pred)
    return Sets(file, tuple(Key(name, 0, column) for name, column in values.items()), classes, groups)


def _samples(table: Any, names: SetNames) -> tuple[tuple[str, ...], dict[str, Any], list[tuple[Array, Array]]]:
    if not table.num_rows:
        raise ValueError("expected at least one row of labels, got none")
    for name in names.by:
        of_columns.refuse_missing(name, of_columns.decoded(table[name]))
    parts = [_split(name, table[name], names.separator) for name in names.texts]
    known = of_columns.sorted_values(pa.chunked_array([flat for _, flat in parts], pa.large_string()))
    if not len(known):
        raise ValueError(
            f"columns {quoted(names.true)} and {quoted(names.pred)}: expected at least one label, got empty cells only"
        )
    if table.num_rows * len(known) > most_cells():
        raise ValueError(f"expected few different labels, got {len(known):,} in {table.num_rows:,} rows")
    matrices = []
    for rows, flat in parts:
        matrix = np.zeros((table.num_rows, len(known)), bool)
        matrix[rows, of_columns.codes(flat, known)] = True
        matrices.append(matrix)
    of_row, values = of_columns.group_rows(table, names.by)
    count = int(of_row.max()) + 1
    groups = [(matrices[0][of_row == k], matrices[1][of_row == k]) for k in range(count)]
    return tuple(known.to_pylist()), values, groups


def _split(name: str, column: Any, separator: str) -> tuple[Array, Any]:
    """The row of every label, and the labels."""
    column = of_columns.decoded(column)
    if not of_columns.is_text(column.type):
        raise ValueError(
            f"column {quoted(name)}: expected text, labels with {quoted(separator)} between them, got {column.type}"
        )
    texts = pc.fill_null(pc.cast(column, pa.large_string()), "").combine_chunks()
    sets = pc.split_pattern(texts, separator)
    rows, flat = pc.list_parent_indices(sets).to_numpy(), pc.list_flatten(sets)
    is_none = pc.equal(texts, "").to_numpy(zero_copy_only=False)[rows]
    empty = pc.equal(flat, "").to_numpy(zero_copy_only=False) & ~is_none
    if empty.any():
        row = int(rows[empty.argmax()])
        raise ValueError(
            f"column {quoted(name)}: expected a label on both sides of every {quoted(separator)}, got "
            f"{texts[row].as_py()[:40]!r} in row {row + 1} of the data"
        )
    return rows[~is_none], flat.filter(pa.array(~is_none))
