"""Sheets of Excel, read by pandas where it is installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matrics._errors import ArgumentError
from matrics._files.plain_values import of_common_type
from matrics._files.sheet_sizes import refuse_large_sheet, refuse_many_cells
from matrics._quoting import quoted, quoted_list

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path


FIRST_ROWS = 100  # the rows that may have the names of columns


@dataclass(frozen=True)
class Sheet:
    """A sheet of a file, or the sheets of several files as a single table, for the commands."""

    grids: tuple[list[list[Any]], ...] = field(repr=False)  # the cells of each file, row by row; None where empty
    name: str = ""  # of the sheet, if there are several
    expected: Collection[str] = ()  # names of columns, which the first row of the table has
    clusters: str | None = None
    scorers: tuple[str, ...] = ()
    unlabelled: str = ""
    notice: str = ""

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The values below the names of the columns, from all files."""
        columns: dict[str, list[Any]] = {}
        length = 0
        for grid in self.grids:
            place = self._place_of_names(grid)
            below = grid[place + 1 :]
            names = _distinct(grid[place]) if grid else []
            for k, name in enumerate(names):
                values = columns.setdefault(name, [None] * length)
                values += [row[k] for row in below]
            length += len(below)
            for values in columns.values():  # a file need not have all columns
                values.extend([None] * (length - len(values)))
        return {name: of_common_type(values) for name, values in columns.items()}

    def has_names(self, names: Collection[str]) -> bool:
        """Whether a row has all these names of columns."""
        return any(set(names) <= set(_texts(row)) for grid in self.grids for row in grid[:FIRST_ROWS])

    def _place_of_names(self, grid: list[list[Any]]) -> int:
        """The index of the first row with all expected names; without such a row, of the first row with a value."""
        for place, row in enumerate(grid[:FIRST_ROWS]):
            if self.expected and set(self.expected) <= set(_texts(row)):
                return place
        return next((place for place, row in enumerate(grid) if any(cell is not None for cell in row)), 0)

    def matrix_rows(self) -> list[tuple[int, list[str]]]:
        """The rows of a matrix or a crosstab as text, with their numbers, without titles and empty columns.

        A row with a single value is a title, or the name that pandas writes above the labels of the rows.
        """
        rows = [(k, row) for k, row in enumerate(self.grids[0], 1) if sum(cell is not None for cell in row) > 1]
        used = [j for j in range(len(rows[0][1]) if rows else 0) if any(row[j] is not None for _, row in rows)]
        return [(k, [_text(row[j]) for j in used]) for k, row in rows]


def read_sheets(paths: Sequence[Path], name: str | None = None) -> Sheet:
    """The first sheet, or the sheet of this name, of a file; the sheets of several files are a single table.

    Raises
    ------
    ArgumentError
        There is no such sheet.
    ImportError
        pandas, or the package with which it reads this format, is not installed.
    """
    try:
        import pandas as pd

        read = [_read(pd, path, name, alone=len(paths) == 1) for path in paths]
    except ImportError as error:
        raise ImportError(
            f"sheets need pandas and its reader: python -m pip install pandas openpyxl ({error})"
        ) from error
    return Sheet(tuple(grid for grid, _ in read), read[0][1] if read else "")


def _read(pd: Any, path: Path, name: str | None, *, alone: bool) -> tuple[list[list[Any]], str]:
    """The cells of a sheet, and its name if there are several."""
    try:
        if path.suffix.lower() != ".xls":  # xlrd has the size of such a sheet, see below
            refuse_large_sheet(path)
        with pd.ExcelFile(path) as book:
            names = list(map(str, book.sheet_names))
            place = 0 if name is None else _place(name, names)
            if path.suffix.lower() == ".xls":
                sheet = book.book.sheet_by_index(place)
                refuse_many_cells(sheet.nrows, sheet.ncols)
            options = {"dtype": object, "keep_default_na": False, "na_values": [""]}  # NA may be a label
            frame = pd.read_excel(book, sheet_name=place, header=None, **options)
    except (ImportError, MemoryError, ArgumentError):
        raise
    except Exception as error:  # pandas raises the errors of zipfile, of XML and of each reader
        if isinstance(error, OSError) and error.errno:
            raise
        where = "" if alone else f"{path}: "
        raise ValueError(f"{where}expected a sheet that pandas can read, got: {error}") from error
    cells = frame.astype(object).where(frame.notna(), None)
    return cells.to_numpy(dtype=object).tolist(), names[place] if len(names) > 1 else ""


def _place(name: str, names: list[str]) -> int:
    """The index of the sheet of this name; raise if there is no such sheet."""
    if name not in names:
        raise ArgumentError("sheet", f"expected the name of a sheet ({quoted_list(names)}), got {quoted(name)}")
    return names.index(name)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _texts(row: list[Any]) -> list[str]:
    return [_text(cell).strip() for cell in row]


def _distinct(row: list[Any]) -> list[str]:
    """Distinct names of columns: an empty or repeated name gets a number."""
    names: list[str] = []
    for k, text in enumerate(_texts(row)):
        name = text or f"Unnamed: {k}"
        number = sum(previous == name or previous.startswith(f"{name}.") for previous in names)
        names.append(f"{name}.{number}" if number else name)
    return names
