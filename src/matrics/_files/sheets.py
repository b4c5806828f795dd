"""Sheets of Excel, read by pandas where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from matrics._files.plain_values import of_one_type
from matrics._files.sheet_sizes import refuse_large_sheet, refuse_many_cells

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Sheet(NamedTuple):
    """The first sheet of a file as a table for the commands."""

    columns: dict[str, list[Any]]
    clusters: str | None = None
    scorers: tuple[str, ...] = ()
    unlabelled: str = ""
    notice: str = ""


def read_sheets(paths: Sequence[Path]) -> Sheet:
    """The columns of the first sheet of one file, or of several as one table."""
    try:
        import pandas as pd

        frame = pd.concat([_read(pd, path, one=len(paths) == 1) for path in paths], ignore_index=True)
    except ImportError as error:  # of pandas, or of the package with which it reads this format
        raise ImportError(
            f"sheets need pandas and its reader: python -m pip install pandas openpyxl ({error})"
        ) from error
    rows = frame.astype(object).where(frame.notna(), None)
    return Sheet({str(name): of_one_type(rows[name].tolist()) for name in rows.columns})


def _read(pd: Any, path: Path, *, one: bool) -> Any:
    try:
        if path.suffix.lower() != ".xls":  # of which pandas says the size
            refuse_large_sheet(path)
        with pd.ExcelFile(path) as book:
            if path.suffix.lower() == ".xls":
                first = book.book.sheet_by_index(0)
                refuse_many_cells(first.nrows, first.ncols)
            return pd.read_excel(book, dtype=object, keep_default_na=False, na_values=[""])  # NA may be a label
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # pandas passes on those of zipfile, of XML and of each reader
        if isinstance(error, OSError) and error.errno:
            raise
        where = "" if one else f"{path}: "
        raise ValueError(f"{where}expected a sheet that pandas can read, got: {error}") from error
