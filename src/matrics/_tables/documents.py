"""Tables for papers: documents of Word, with the three rules of a table in a journal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from matrics._errors import ArgumentError
from matrics._extras import requires
from matrics._quoting import quoted

__all__ = ["write_docx"]

POINTS = 9  # the size of the text


def write_docx(  # noqa: PLR0917 (the parts of a table)
    path: str | Path,
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    remarks: Sequence[str] = (),
    rules: Collection[int] = (),
    *,
    texts: int = 1,
) -> Path:
    """Write a document with a table: its title above, remarks below; the first columns are texts, others numbers.

    Parameters
    ----------
    path : str or Path
        The file, whose name ends with ``.docx``.
    title, remarks : str, sequence of str
        Paragraphs above and below the table.
    head, rows : sequence of str, sequence of sequence of str
        The cells.
    rules : collection of int
        The rows with a thin line above them.
    texts : int
        How many columns begin at the left.

    Raises
    ------
    ModuleNotFoundError
        python-docx is not installed.
    ValueError
        The name of the file has another ending.
    """
    path = Path(path)
    if path.suffix.lower() != ".docx":
        raise ArgumentError("path", f"expected the name of a file that ends with .docx, got {quoted(str(path))}")
    with requires("docx", "docx"):
        from docx import Document
        from docx.shared import Pt
    document = Document()
    document.styles["Normal"].font.size = Pt(POINTS)
    document.add_paragraph(_printable(title))
    table = document.add_table(rows=0, cols=len(head))
    for position, cells in enumerate([head, *rows]):
        row = table.add_row()
        for column, (cell, text) in enumerate(zip(row.cells, cells, strict=True)):
            paragraph = cell.paragraphs[0]
            paragraph.paragraph_format.space_after = Pt(0)
            paragraph.alignment = 0 if column < texts else 2  # left, or right
            paragraph.add_run(_printable(text)).bold = position == 0
            above = {0: 12, 1: 6}.get(position, 4 if position - 1 in rules else 0)
            _draw_rules(cell, above=above, below=12 if position == len(rows) else 0)
    for remark in remarks:
        document.add_paragraph(_printable(remark))
    document.save(str(path))
    return path


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
    """Text without control characters, which XML does not have."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
