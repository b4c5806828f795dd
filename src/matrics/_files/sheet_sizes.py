"""The size of a sheet before it is read: a workbook of a few bytes may name a cell in the last row and column."""

from __future__ import annotations

import contextlib
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from matrics._files.archives import opened_archive, refuse_large, share_in_words
from matrics._memory_limits import MEMBER
from matrics._quoting import quoted

if TYPE_CHECKING:
    from pathlib import Path

CELL_BYTES = 32  # the least memory of a cell in pandas
# Shares of the limit of a member (5 means 1/5) for the texts of all cells, or a whole .ods file, which are kept as
# objects; for styles and names of sheets (Excel allows 64,000 formats); and for the text of a cell.
OF_TEXTS, OF_OTHERS, OF_TEXT = 5, 32, 256
PIECE = 2**16


def refuse_large_sheet(path: Path) -> None:
    """Raise if a workbook in an archive has members or sheets that are too large to be read.

    All members are checked, as the archive may give a sheet any name.
    """
    kind = _Ods if path.suffix.lower() == ".ods" else _Xlsx
    with opened_archive(path) as archive:
        for member in archive.infolist():
            if member.filename.endswith((".xml", ".rels")):
                is_text = member.filename.endswith(("sharedStrings.xml", "content.xml"))
                is_sheet = "/worksheets/" in member.filename
                refuse_large(member, 1 if is_sheet else OF_TEXTS if is_text else OF_OTHERS)
            _measure(archive, member, kind())


def refuse_many_cells(rows: int, columns: int) -> None:
    """Raise if this many rows and columns are too many cells."""
    most = MEMBER.size // CELL_BYTES
    if rows * columns > most:
        raise ValueError(
            f"expected a sheet of at most {most:,} cells ({CELL_BYTES} bytes each of {MEMBER.in_words}), got "
            f"{rows:,} rows and {columns:,} columns"
        )


@dataclass
class _Xlsx:
    """The last row and the last column with a value, by the addresses of cells."""

    rows: int = 0
    columns: int = 0
    _row: int = 0
    _column: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Update the position of the current cell, and the last row and column if the cell has a value."""
        name = name.rpartition(":")[2]
        if name == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif name == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            self._column = _number(letters) if letters else self._column + 1
        elif name in ("v", "is", "f"):
            self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)


@dataclass
class _Ods:
    """The last row and column with a value, by the repeats of rows and cells; all elements count as cells."""

    rows: int = 0
    columns: int = 0
    _row: int = 0
    _column: int = 0
    _cell: int = 0
    _elements: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Update the position of the current cell, and the last row and column if the cell has a value."""
        self._elements += 1
        refuse_many_cells(self._elements, 16)
        if name == "table:table":
            self._row = 0
        elif name == "table:table-row":
            self._row += int(attributes.get("table:number-rows-repeated", 1))
            self._column = 0
        elif name in ("table:table-cell", "table:covered-table-cell"):
            self._column += int(attributes.get("table:number-columns-repeated", 1))
            if "office:value-type" in attributes:
                self.rows, self.columns = max(self.rows, self._row), max(self.columns, self._column)


def _number(letters: str) -> int:
    """The number of a column, such as 27 of AA."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _measure(archive: zipfile.ZipFile, member: zipfile.ZipInfo, sheet: Any) -> None:
    """Raise an error as soon as the sheet has too many cells."""
    parser = expat.ParserCreate()
    parser.StartElementHandler = sheet.start
    text = 0  # bytes without an element
    with (
        archive.open(member) as file,
        contextlib.suppress(expat.ExpatError),
    ):  # pictures are no XML, and pandas reports errors
        while piece := file.read(PIECE):
            parser.Parse(piece)
            refuse_many_cells(sheet.rows, sheet.columns)
            text = 0 if b"<" in piece else text + len(piece)
            if text > MEMBER.size // OF_TEXT:
                most = share_in_words(OF_TEXT)
                raise ValueError(
                    f"expected texts of at most {most} in a cell, got a longer text in {quoted(member.filename)}"
                )
