"""Rows of a text file: separated by commas, semicolons or tabs, compressed by gzip or not, or from standard input."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

Row = tuple[int, list[str]]  # the line of the file in which it begins, from 1, and its cells

STDIN = Path("-")
TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
SEPARATORS = {".csv": ",;\t", ".tsv": "\t"}
MOST_LETTERS = 2**26  # of a cell: a quote that is left open in a big file must not take all memory


def suffix_of(path: Path) -> str:
    """How the name of a file ends, with the ending before ``.gz``."""
    return "".join(path.suffixes[-2 if path.suffix.lower() == ".gz" else -1 :]).lower()


@contextlib.contextmanager
def open_rows(path: Path, suffix: str) -> Iterator[Iterator[Row]]:
    """Open a file for ``rows``."""
    with open_raw(path) as raw, parsed(raw, suffix) as lines:
        yield lines


def open_raw(path: Path) -> BinaryIO:
    """Open a file, or standard input, which stays open for others."""
    return open(0, "rb", closefd=False) if path == STDIN else path.open("rb")


@contextlib.contextmanager
def parsed(raw: BinaryIO, suffix: str) -> Iterator[Iterator[Row]]:
    """``rows`` of a file that is open; errors in its encoding or compression say what was expected."""
    try:
        content: Any = gzip.GzipFile(fileobj=raw) if suffix.endswith(".gz") else raw
        with io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as file:
            yield rows(file, SEPARATORS[suffix.removesuffix(".gz")])
    except UnicodeDecodeError as error:
        raise ValueError(f"expected text in UTF-8: {error}") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"expected a file compressed by gzip: {error}") from error


def rows(lines: Iterator[str], separators: str) -> Iterator[Row]:
    """Yield every row that is not blank; raises where a quote stays open or a row is not as wide as the first.

    The separator is the one that splits the first line into the most cells.
    """
    csv.field_size_limit(MOST_LETTERS)
    head: list[str] = []
    for line in lines:
        head.append(line)
        if line.strip("\r\n"):
            break
    separator = max(separators, key=lambda one: len(next(csv.reader(head[-1:], delimiter=one), [])))
    # Only in strict mode a quote that is never closed, or that is followed by text, is an error.
    reader = csv.reader(itertools.chain(head, lines), delimiter=separator, strict=True)
    width, begin = 0, 1
    try:
        for row in reader:
            if row:
                width = width or len(row)
                if len(row) != width:
                    raise ValueError(f"line {begin}: expected {_cells(width)}, as in the first row, got {len(row)}")
                if reader.line_num > begin and any(_holds_rows(cell, separator, width) for cell in row):
                    raise ValueError(
                        f"line {begin}: expected every quote that opens a cell to be closed at its end, got a cell "
                        f"with whole rows in it, up to line {reader.line_num}"
                    )
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        where = "" if reader.line_num == begin else f" in line {reader.line_num}"
        raise ValueError(
            f"line {begin}: expected every quote that opens a cell to be closed at its end, got {error}{where}"
        ) from error


def _holds_rows(cell: str, separator: str, width: int) -> bool:
    """Whether a line within a cell is as wide as a row: two open quotes that meet would swallow the rows between."""
    return width > 1 and any(line.count(separator) == width - 1 for line in cell.splitlines()[1:])


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"
