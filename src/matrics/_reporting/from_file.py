"""Read the data of a report from a file with a table of labels, or with named matrices."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
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
        """The column that is replaced by the columns of several models."""
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

    ``sides`` are the true and the predicted labels, which the caller checks for probable mistakes.
    """

    data: Any
    origin: Origin
    class_names: tuple[str, ...] | None = None
    sides: tuple[list[str], list[str]] | None = None
    columns: ReportColumns | None = None  # completed for a log


def read_file(
    path: Path,
    names: ReportColumns,
    *,
    level: float,
    command: str = "",
    reading: Mapping[str, Any] | None = None,
) -> FileData:
    """Read the columns of a file of labels as a table of pyarrow, or a file of matrices as a mapping of their names.

    ``reading`` has the fields of :class:`matrics._files.names.Names` with the options for reading rows.

    Raises
    ------
    ValueError
        The file is standard input, or has neither labels nor matrices.
    """
    if path == STDIN:
        raise ValueError("-: expected a file, as the report contains its checksum, got standard input")
    source_file = open_input(path, answers=(reading or {}).get("answers"))
    origin = origin_of_files(path.name or str(path), source_file.paths, command, path=str(path))
    if source_file.table is not None and source_file.table.scorers:
        names = columns_of_log(source_file.table.columns, names)
        answered = [part.facts(level) for part in getattr(source_file.table, "answered", ())]
        origin = replace(origin, answered=tuple(part for part in answered if part["scored"] < part["answers"]))
    true, pred = _text(names.y_true), _text(names.y_pred)
    known = Names(true, pred, by=tuple(map(str, names.by)), **(reading or {}))
    source = (
        read(source_file, known, None) if source_file.kind in ("arrays", "counts") else read_single(source_file, known)
    )
    if source is not None:
        stack = np.concatenate([source.block(k, k + 1) for k in range(source.count)])
        keys = [source.name(k) if source.keys else path.name for k in range(source.count)]
        if len(set(keys)) < len(keys):
            raise ValueError(
                f"{path}: expected matrices with different names, got several with the same name, such as "
                f"{quoted(keys[0])}"
            )
        classes = class_names_of(source.classes if source.ordered else Sorted(source.classes))
        return FileData(dict(zip(keys, stack, strict=True)), origin, classes)
    others = [name for name in (names.paired_on, names.groups) if name is not None]
    encoding = (reading or {}).get("encoding", Names.encoding)
    models = (reading or {}).get("models", ())
    has_pred = not names.y_score or (not models and names.y_pred in header_of(source_file, encoding))
    scores = tuple(map(str, names.y_score.values()))
    columns = ReportNames(
        true,
        pred,
        tuple(_text(name) for name in [*names.by, *others] if not (models and name in {MODEL, ROW})),
        scores=scores,
        has_pred=has_pred,
        weight=None if names.sample_weight is None else _text(names.sample_weight),
        **(reading or {}),
    )
    if models:
        source_file, columns = by_model(source_file, columns)
        if names.paired_on == ROW:
            columns = replace(columns, by=(*columns.by, ROW))
    _, table, left_out = read_rows(source_file, columns, lambda table, _: table, warns=False)
    origin = replace(origin, left_out=left_out)
    if not table.num_rows:
        raise ValueError(f"{path}: expected rows of labels, got none")
    # Labels with an order are intended, and people do not write the labels of a log.
    are_intended = columns.order is not None or bool(source_file.table is not None and source_file.table.scorers)
    return FileData(table, origin, None, sides(table, columns) if has_pred and not are_intended else None, names)


def columns_of_log(columns: Mapping[str, Sequence[Any]], names: ReportColumns) -> ReportColumns:
    """The columns, completed by those of the models and samples of an evaluation log if the caller has named none.

    The answers to a sample are not independent. Models are compared sample by sample if they have the same samples.
    """
    by = names.by or next(
        ((name,) for name in ("model", "file") if name in columns and len(set(columns[name])) > 1), ()
    )
    if names.paired_on is not None or not set(by) <= set(columns):
        return replace(names, by=by)
    models = zip(*(columns[str(name)] for name in by), strict=True) if by else itertools.repeat(())
    samples: dict[Any, Counter[Any]] = defaultdict(Counter)
    for model, sample in zip(models, columns["sample"], strict=False):
        samples[model][sample] += 1
    first, *others = samples.values()
    is_repeated = len(first) < first.total()
    is_same = all(other == first for other in others) and (bool(others) or is_repeated)
    is_paired = is_same and len(first) > 1  # a single cluster has no limits
    return replace(names, by=by, paired_on="sample" if is_paired else None)


def _text(name: Hashable) -> str:
    return str(name)
