"""Files of other tools as tables; the suffix of the name decides the format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from matrics._errors import ArgumentError
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Answers(NamedTuple):
    """The part of a file of another tool that is read: the answers of an evaluation log, or a sheet."""

    missing_score: str = "drop"  # the treatment of answers without a score: drop, zero or error
    scorer: str | None = None  # the scorer whose scores are read; None reads all
    sheet: str | None = None  # the name of a sheet; None is the first sheet
    as_table: bool = False  # whether JSON Lines are a table, whatever the names of their fields


class ForeignTable(Protocol):
    """The interface of the tables that the readers of formats return."""

    @property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns by name, with None where a row has no value."""

    @property
    def clusters(self) -> str | None:
        """The column of clusters, whose rows are dependent, if the user specifies no other column."""

    @property
    def scorers(self) -> tuple[str, ...]:
        """The values of the column ``scorer``; each scorer has a row for each sample."""

    @property
    def unlabelled(self) -> str:
        """Why some rows have no ``y_true`` and ``y_pred``, in words; empty if all rows have them."""

    @property
    def notice(self) -> str:
        """The treatment of rows without a value, in words; empty if no value is missing."""


# By suffix, the functions that read files of arrays that no command reads.
_BY_BLOCKS = "matrics.score_blocks({}) scores its stack of matrices block by block"
IN_PYTHON = {
    ".zarr": _BY_BLOCKS.format("zarr.open(path)"),
    ".h5": _BY_BLOCKS.format("h5py.File(path)[name]"),
    ".hdf5": _BY_BLOCKS.format("h5py.File(path)[name]"),
    ".nc": "matrics.xarray.score(xarray.open_dataarray(path)) scores its matrices",
}


def in_python(path: Path) -> str:
    """The end of a message about a file that no command reads: the function that reads it. Empty for other files."""
    end = next((end for end in IN_PYTHON if path.name.lower().removesuffix(".zip").endswith(end)), None)
    return "" if end is None else f"; {IN_PYTHON[end]}"


#: The suffixes of evaluation logs, and of files with sheets.
LOGS = (".eval", ".json", ".jsonl", ".jsonl.gz", ".jsonl.zst")
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods")
FOREIGN = (*LOGS, *SHEETS)

# Modules and functions by name, as they are imported only for such files; `_integrations` may not be imported here.
_READER_OF_LOGS = ("matrics._integrations.evals.reading", "table_of")
_READER_OF_SHEETS = ("matrics._files.sheets", "read_sheets")


def read_foreign(suffix: str, files: Sequence[Path], answers: Answers | None = None) -> ForeignTable:
    """The table in files of another tool; the suffix decides the format."""
    is_log = suffix in LOGS
    module, name = _READER_OF_LOGS if is_log else _READER_OF_SHEETS
    read = getattr(importlib.import_module(module), name)
    missing_score, scorer, sheet, as_table = answers or Answers()
    of_kind = (missing_score, scorer, as_table) if is_log else (sheet,)
    table: ForeignTable = read(files, *of_kind)
    return table


def check_answers(answers: Answers, path: Path, suffix: str = "") -> None:
    """Raise if an option is for files of another kind than this file."""
    for option, value, default in zip(Answers._fields, answers, Answers(), strict=True):
        kind, ends = ("a workbook", SHEETS) if option == "sheet" else ("an evaluation log", LOGS)
        if option != "as_table" and value != default and suffix not in ends:
            raise ArgumentError(option, f"expected {kind} with it ({', '.join(ends)}), got {quoted(value)} and {path}")
