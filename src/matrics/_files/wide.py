"""Files with a row for each sample and a column for each model, as tables with a row for each sample and model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from matrics._errors import ArgumentError
from matrics._files.columns import typed
from matrics._files.inputs import Input, open_input, read_table
from matrics._files.missing import drop_missing, left_out_text
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
    """The columns of a file with several models: the columns of all models, by kind."""

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
    """The table of a file with several models, with the interface of a table of another tool."""

    columns: dict[str, Any]
    clusters: str | None = None
    scorers: tuple[str, ...] = ()
    unlabelled: str = ""
    notice: str = ""


def by_model(source: Path | Input, names: AnyNames) -> tuple[Input, AnyNames]:
    """The rows of all models of a file, model by model, and the names of their columns.

    The column ``names.of_models`` has the values of the columns ``names.models``. The samples are the rows of the file,
    which the column ``ROW`` numbers; this column may define the clusters.

    Raises
    ------
    ArgumentError
        A model is listed twice, or another column has the name of a new column.
    """
    argument = "scores" if names.of_models in names.numbers else "pred"
    twice = first_twice(names.models)
    if twice is not None:
        raise ArgumentError(argument, f"expected each column of a model once, got {quoted(twice)} twice")
    clusters = None if names.clusters == ROW else names.clusters
    for name in (*names.by, clusters, names.true, names.weight, names.counts):
        if name in {MODEL, ROW, *names.models}:
            reason = "the column of a model" if name in names.models else "the column of models or of rows"
            raise ArgumentError(argument, f"expected other columns than those of models, got {quoted(name)}, {reason}")
    source = source if isinstance(source, Input) else open_input(source, answers=names.answers)
    file = name_of(source.path)
    if source.kind in ("arrays", "counts"):
        raise ArgumentError(argument, f"expected a file of samples with a column for each model, got {file}")
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
        if names.missing == "drop":  # a sample without a value of any model is left out for all models
            table, left_out = drop_missing(table, wide)
            if left_out:
                say(f"{file}: {left_out_text(left_out, wide)}")
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
