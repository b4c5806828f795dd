"""Files with a row for each sample and a column for each model, as tables with a row for each sample and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from matrics._errors import ArgumentError
from matrics._files.columns import typed
from matrics._files.inputs import Input, open_input, read_table
from matrics._files.missing import said, settled
from matrics._files.names import Names
from matrics._files.notices import say
from matrics._files.rows import name_of, named
from matrics._quoting import first_twice, quoted

if TYPE_CHECKING:
    from pathlib import Path

AnyNames = TypeVar("AnyNames", bound=Names)

MODEL, ROW = "model", "row"  # the columns of the model and of the sample


@dataclass(frozen=True)
class WideNames(Names):
    """The columns of a file with several models: of each kind those of all models."""

    columns: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels."""
        return self.columns[0]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers."""
        return self.columns[1]

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of text that may be empty."""
        return self.columns[2]


@dataclass(frozen=True)
class LongTable:
    """The table that a file with several models is read as, in place of one of another tool."""

    columns: dict[str, Any]
    clusters: str | None = None
    scorers: tuple[str, ...] = ()
    unlabelled: str = ""
    notice: str = ""


def by_model(source: Path | Input, names: AnyNames) -> tuple[Input, AnyNames]:
    """The rows of all models of a file, those of each after the other, and the names of their columns.

    The column that ``names.of_models`` stands for those of ``names.models``. The samples are the rows of the file: the
    column ``ROW``, which may be one of clusters.

    Raises
    ------
    ArgumentError
        A model is named twice, or another column has the name of one of the new columns.
    """
    argument = "scores" if names.of_models in names.numbers else "pred"
    twice = first_twice(names.models)
    if twice is not None:
        raise ArgumentError(argument, f"expected each column of a model once, got {quoted(twice)} twice")
    clusters = None if names.clusters == ROW else names.clusters
    for name in (*names.by, clusters, names.true, names.weight, names.counts):
        if name in {MODEL, ROW, *names.models}:
            what = "the column of a model" if name in names.models else "the column of models or of rows"
            raise ArgumentError(argument, f"expected other columns than those of models, got {quoted(name)}, {what}")
    source = source if isinstance(source, Input) else open_input(source, answers=names.answers)
    file = name_of(source.path)
    if source.kind in ("arrays", "counts"):
        raise ArgumentError(argument, f"expected samples, with one column for each model, got {file}")
    kinds = (names.labels, names.numbers, names.texts)
    columns = [
        tuple(part for name in kind for part in (names.models if name == names.of_models else [name])) for kind in kinds
    ]
    common: dict[str, Any] = {
        field: getattr(names, field) for field in ("missing", "encoding", "decimal", "na", "counts")
    }
    wide = WideNames(names.true, "", names.by, clusters, columns=(columns[0], columns[1], columns[2]), **common)
    with named(file):
        table = read_table(source, wide)
        if names.missing == "drop":  # a sample is left out for all models
            table, left_out = settled(table, wide)
            if left_out:
                say(f"{file}: {said(left_out, wide)}")
        melted = _long(table, wide, names, is_text=source.kind == "text")
    of_all = replace(names, by=(MODEL, *names.by), models=())
    return Input(source.path, "table", source.files, table=LongTable(melted)), of_all


def _long(table: Any, wide: WideNames, names: Names, *, is_text: bool) -> dict[str, Any]:
    """The columns of a table with a row for each model and sample."""
    columns, models = {}, names.models
    for name in table.column_names:
        if name not in models:
            column = typed(table[name]) if is_text and name in wide.cells else table[name]
            columns[name] = pa.chunked_array([part for _ in models for part in column.chunks], column.type)
    kinds = {table[name].type for name in models}
    parts = [table[name] if len(kinds) == 1 else table[name].cast(pa.large_string()) for name in models]
    columns[names.of_models] = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
    codes = pa.array(np.repeat(np.arange(len(models)), table.num_rows))
    columns[MODEL] = pa.chunked_array([pa.array(models, pa.large_string()).take(codes)])
    columns[ROW] = pa.chunked_array([pa.array(np.tile(np.arange(1, table.num_rows + 1), len(models)))])
    return columns
