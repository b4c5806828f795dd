"""Tables for papers: as lines of text, in Markdown, in LaTeX, and as a Word document."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matrics._engine.results import Result
from matrics._errors import ArgumentError
from matrics._extras import requires
from matrics._quoting import quoted
from matrics._tables import latex, markdown
from matrics._tables.table import Library, imported
from matrics._wording import with_limits

WIDTH = 100  # of a line of text
POINTS = 9  # the size of the text of a document


@dataclass(frozen=True)
class PaperTable:
    """The texts of a table: a title above and remarks below it; the first column contains texts."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    limits: int  # the column of the limits, which are in brackets after the value in LaTeX and Word
    remarks: Sequence[str] = ()
    texts: Collection[int] = (0,)  # the columns that contain no numbers
    rules: Sequence[int] = ()  # the rows with a line above them, in LaTeX and Word

    @property
    def leading(self) -> int:
        """The number of columns of texts before the first column of numbers."""
        return next(k for k in range(len(self.head)) if k not in self.texts)

    def with_brackets(self, template: str) -> list[list[str]]:
        """The head and the rows, with the limits in the cells of their values, such as by ``"{} [{}]"``."""
        value, limits = self.limits - 1, self.limits
        return [
            [
                template.format(text, row[limits]) if k == value and row[limits] else text
                for k, text in enumerate(row)
                if k != limits
            ]
            for row in (self.head, *self.rows)
        ]


class PaperResult(Result):
    """A result that is printed as a table and can be written for papers."""

    __slots__ = ()

    def _table(self) -> PaperTable:
        raise NotImplementedError

    def _columns(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def to_frame(self, *, library: Library = "pandas") -> Any:
        """The table as a data frame, with the columns that the class lists.

        Parameters
        ----------
        library : {"pandas", "polars"}
            Which library the data frame is of.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            A row for each measure, or with groups for each measure and group.

        Raises
        ------
        ImportError
            The library is not installed.
        """
        return imported(library).DataFrame(dict(self._columns()))

    def to_markdown(self) -> str:
        """The table in Markdown, with its title above and remarks below."""
        table = self._table()
        head, *rows = ([markdown.cell(text) for text in row] for row in (table.head, *table.rows))
        lines = [markdown.table(head, rows, texts=table.leading)]
        return "\n\n".join([markdown.cell(table.title), *lines, *map(markdown.cell, table.remarks)])

    def to_latex(self) -> str:
        """The table in LaTeX, with the rules of booktabs: limits in brackets, and title and remarks as comments."""
        table = self._table()
        head, *rows = table.with_brackets("{} [{}]")
        cells = [
            [
                latex.escape(text) if k in table.texts else latex.number(text.replace(" to ", ", "))
                for k, text in enumerate(row)
            ]
            for row in rows
        ]
        comments = [latex.comment(text) for text in (table.title, *table.remarks)]
        tabular = latex.tabular(list(map(latex.escape, head)), cells, texts=table.leading, rules=table.rules)
        return "\n".join([*comments, tabular])

    def to_docx(self, path: str | Path) -> Path:
        """Write the table to a Word document, with the rules of a table in a journal.

        Parameters
        ----------
        path : str or Path
            The file, whose name ends with ``.docx``; an older file is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ModuleNotFoundError
            python-docx is not installed (extra ``docx``).
        ValueError
            The name of the file has another ending.
        """
        path = Path(path)
        if path.suffix.lower() != ".docx":
            raise ArgumentError("path", f"expected the name of a file that ends with .docx, got {quoted(str(path))}")
        with requires("a Word document needs", "docx", extra="docx"):
            from docx import Document
            from docx.shared import Pt
        table = self._table()
        lines = table.with_brackets("{} ({})")
        document = Document()
        document.styles["Normal"].font.size = Pt(POINTS)
        document.add_paragraph(_printable(table.title))
        grid = document.add_table(rows=0, cols=len(lines[0]))
        for position, texts in enumerate(lines):
            for column, (cell, text) in enumerate(zip(grid.add_row().cells, texts, strict=True)):
                paragraph = cell.paragraphs[0]
                paragraph.paragraph_format.space_after = Pt(0)
                paragraph.alignment = 0 if column < table.leading else 2  # left, or right
                paragraph.add_run(_printable(text)).bold = position == 0
                above = {0: 12, 1: 6}.get(position, 4 if position - 1 in table.rules else 0)
                _draw_rules(cell, above=above, below=12 if position == len(lines) - 1 else 0)
        for remark in table.remarks:
            document.add_paragraph(_printable(remark))
        document.save(str(path))
        return path

    def __str__(self) -> str:
        table = self._table()
        lines = in_columns([["", *table.head[1:]], *table.rows], texts=table.texts)
        remarks = [textwrap.fill(remark, WIDTH) for remark in table.remarks]
        return "\n".join([textwrap.fill(table.title, WIDTH), "", *lines, *([""] if remarks else []), *remarks])

    __repr__ = __str__


def as_fraction(part: float, whole: float) -> str:
    """The samples of a proportion, such as 21/32; empty without samples."""
    if math.isnan(part):
        return ""
    places = 0 if float(part).is_integer() and float(whole).is_integer() else 1
    return f"{part:.{places}f}/{whole:.{places}f}"


def as_number(value: float, low: float = math.nan, high: float = math.nan, error: float = math.nan) -> tuple[str, str]:
    """A value and its limits, with as many digits as the error justifies."""
    text, *limits = with_limits(value, low, high, error)
    return text, "" if math.isnan(low + high) else " to ".join(limits)


def in_columns(rows: Sequence[Sequence[str]], *, texts: Collection[int]) -> list[str]:
    """Lines of cells in columns: texts are aligned left, numbers right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:<{width}}" if k in texts else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _draw_rules(cell: Any, *, above: int, below: int) -> None:
    """Lines at the edges of a cell, in eighths of a point; python-docx has no methods for these."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    borders = OxmlElement("w:tcBorders")
    for edge, size in (("top", above), ("bottom", below)):
        if size:
            line = OxmlElement(f"w:{edge}")
            for name, value in (("val", "single"), ("sz", str(size)), ("color", "000000")):
                line.set(qn(f"w:{name}"), value)
            borders.append(line)
    cell._tc.get_or_add_tcPr().append(borders)


def _printable(text: str) -> str:
    """Text without control characters, which XML does not allow."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
