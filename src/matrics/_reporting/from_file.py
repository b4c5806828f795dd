"""Read the data of a report from a file: the columns of a table of labels, or matrices with their names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from matrics._catalogue.classes import Sorted, class_names_of
from matrics._files.inputs import header_of, open_input, read_rows
from matrics._files.labels import sides
from matrics._files.matrices import read, read_single
from matrics._files.names import Names
from matrics._files.text import STDIN
from matrics._files.wide import MODEL, ROW, by_model
from matrics._quoting import quoted
from matrics._reporting.origin import Origin, origin_of_files

if TYPE_CHECKING:
    from matrics._reporting.report_columns import ReportColumns


@dataclass(frozen=True)
class ReportNames(Names):
    """The columns of the labels, of the models, samples and groups, and of the scores."""

    scores: tuple[str, ...] = ()
    has_pred: bool = True

    @property
    def of_models(self) -> str:
        """The column that those of several models are in place of."""
        return self.pred if self.has_pred else self.scores[0]

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels; the column of predicted labels may be missing if there are scores."""
        return (self.true, self.pred) if self.has_pred else (self.true,)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of scores, and of weights."""
        return (*self.scores, *super().numbers)


class FileData(NamedTuple):
    """The data of a file: a table of labels, or a mapping of names to matrices with the names of their classes.

    ``sides`` are the true and the predicted labels, which are to be looked at for mistakes.
    """

    data: Any
    origin: Origin
    class_names: tuple[str, ...] | None = None
    sides: tuple[list[str], list[str]] | None = None


def read_file(
    path: Path, wanted: ReportColumns, *, command: str = "", reading: Mapping[str, Any] | None = None
) -> FileData:
    """Read the columns of a file of labels as a table of pyarrow, or a mapping of names to matrices.

    ``reading`` are the fields of :class:`matrics._files.names.Names` that say how rows are read.

    Raises
    ------
    ValueError
        The file is standard input, or has neither labels nor matrices.
    """
    if path == STDIN:
        raise ValueError("-: expected a file, as a report has its checksum, got standard input")
    found = open_input(path, answers=(reading or {}).get("answers"))
    origin = origin_of_files(path.name or str(path), found.paths, command, path=str(path))
    true, pred = _text(wanted.y_true), _text(wanted.y_pred)
    known = Names(true, pred, by=tuple(map(str, wanted.by)), **(reading or {}))
    source = read(found, known, None) if found.kind in ("arrays", "counts") else read_single(found, known)
    if source is not None:
        stack = np.concatenate([source.block(k, k + 1) for k in range(source.count)])
        names = [source.name(k) if source.keys else path.name for k in range(source.count)]
        if len(set(names)) < len(names):
            raise ValueError(
                f"{path}: expected matrices of different names, got {quoted(names[0])} among several of one name"
            )
        classes = class_names_of(source.classes if source.ordered else Sorted(source.classes))
        return FileData(dict(zip(names, stack, strict=True)), origin, classes)
    others = [name for name in (wanted.paired_on, wanted.groups) if name is not None]
    encoding = (reading or {}).get("encoding", Names.encoding)
    models = (reading or {}).get("models", ())
    has_pred = not wanted.y_score or (not models and wanted.y_pred in header_of(found, encoding))
    scores = tuple(map(str, wanted.y_score.values()))
    columns = ReportNames(
        true,
        pred,
        tuple(_text(name) for name in [*wanted.by, *others] if not (models and name in {MODEL, ROW})),
        scores=scores,
        has_pred=has_pred,
        weight=None if wanted.sample_weight is None else _text(wanted.sample_weight),
        **(reading or {}),
    )
    if models:
        found, columns = by_model(found, columns)
        if wanted.paired_on == ROW:
            columns = replace(columns, by=(*columns.by, ROW))
    _, table, left_out = read_rows(found, columns, lambda table, _: table, warns=False)
    origin = replace(origin, left_out=left_out)
    if not table.num_rows:
        raise ValueError(f"{path}: expected rows of labels, got none")
    # Labels in an order are meant by the caller, and those of a log are not written by people.
    are_meant = columns.order is not None or bool(found.table is not None and found.table.scorers)
    return FileData(table, origin, sides=sides(table, columns) if has_pred and not are_meant else None)


def _text(name: Hashable) -> str:
    return str(name)
