"""Files of other tools as tables, by the end of a name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


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
    def left_out(self) -> str:
        """Which rows the file has in addition, in words; empty if none."""


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


def read_foreign(suffix: str, files: Sequence[Path]) -> ForeignTable:
    """A file of another tool, or several as one table, by the end of their names."""
    module, name = _READER_OF_LOGS if suffix in LOGS else _READER_OF_SHEETS
    found: ForeignTable = getattr(importlib.import_module(module), name)(files)
    return found
