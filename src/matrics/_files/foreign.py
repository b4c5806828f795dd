"""Files of other tools as tables, by the end of a name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from matrics._errors import ArgumentError
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Answers(NamedTuple):
    """The part of the file of another tool that is read: which answers of an evaluation log, or which sheet."""

    missing_score: str = "drop"  # what becomes of those without a score: drop, zero, error
    scorer: str | None = None  # whose scores are read; all if None
    sheet: str | None = None  # the first one if None
    as_table: bool = False  # whether JSON Lines are a table as they stand, whatever their fields are called


class ForeignTable(Protocol):
    """What the reader of a format gives."""

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns by name, with None where a row has no value."""

    @property
    def clusters(self) -> str | None:
        """The column whose rows are not independent, if no other is named."""

    @property
    def scorers(self) -> tuple[str, ...]:
        """The values of the column ``scorer``, each of which has rows of its own for the same samples."""

    @property
    def unlabelled(self) -> str:
        """Why some rows have no ``y_true`` and ``y_pred``, in words; empty if all have."""

    @property
    def notice(self) -> str:
        """What became of rows without a value, in words; empty if none is missing."""


# What reads files of arrays that no command reads, by the end of their names.
_BY_BLOCKS = "matrics.score_blocks({}) scores its stack of matrices block by block"
IN_PYTHON = {
    ".zarr": _BY_BLOCKS.format("zarr.open(path)"),
    ".h5": _BY_BLOCKS.format("h5py.File(path)[name]"),
    ".hdf5": _BY_BLOCKS.format("h5py.File(path)[name]"),
    ".nc": "matrics.xarray.score(xarray.open_dataarray(path)) scores its matrices",
}


def in_python(path: Path) -> str:
    """The end of a message for a file that no command reads: what reads it; empty for other files."""
    end = next((end for end in IN_PYTHON if path.name.lower().removesuffix(".zip").endswith(end)), None)
    return "" if end is None else f"; {IN_PYTHON[end]}"


#: The ends of the names of evaluation logs, and of files with sheets.
LOGS = (".eval", ".json", ".jsonl", ".jsonl.gz", ".jsonl.zst")
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
FOREIGN = (*LOGS, *SHEETS)

# By the name of its module, which is imported for such a file only, and of which the floor above has a part.
_READER_OF_LOGS = ("matrics._integrations.evals.reading", "table_of")
_READER_OF_SHEETS = ("matrics._files.sheets", "read_sheets")


def read_foreign(suffix: str, files: Sequence[Path], answers: Answers | None = None) -> ForeignTable:
    """A file of another tool, or several as one table, by the end of their names."""
    is_log = suffix in LOGS
    module, name = _READER_OF_LOGS if is_log else _READER_OF_SHEETS
    read = getattr(importlib.import_module(module), name)
    missing_score, scorer, sheet, as_table = answers or Answers()
    of_kind = (missing_score, scorer, as_table) if is_log else (sheet,)
    table: ForeignTable = read(files, *of_kind)
    return table


def check_answers(answers: Answers, path: Path, suffix: str = "") -> None:
    """Raise if a file is to be read with the options of files of another kind."""
    for option, value, default in zip(Answers._fields, answers, Answers(), strict=True):
        kind, ends = ("a workbook", SHEETS) if option == "sheet" else ("an evaluation log", LOGS)
        if option != "as_table" and value != default and suffix not in ends:
            raise ArgumentError(option, f"expected {kind} with it ({', '.join(ends)}), got {quoted(value)} and {path}")
