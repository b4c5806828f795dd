"""Text files as rows: separated by commas, semicolons or tabs, compressed by gzip or not, or from standard input.

``pyarrow.csv`` parses a file block by block. It accepts a stray quote, and its errors have no line number. Python's
strict reader therefore parses unusual blocks again, and its errors have the line number.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import itertools
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from matrics._files.columns import is_number
from matrics._files.compression import COMPRESSIONS, compression_of, decompressed, most_letters, without_compression
from matrics._files.names import Names, check_columns
from matrics._quoting import quoted
from matrics._tables.vocabularies import stands_for_missing

Row = tuple[int, list[str]]  # the line of the file in which it begins, from 1, and its cells

STDIN = Path("-")
TEXTS = tuple(f"{end}{compression}" for compression in ("", *COMPRESSIONS) for end in (".csv", ".tsv", ".txt"))
SEPARATORS = {".csv": ",;\t", ".tsv": "\t", ".txt": ",;\t"}
BLANK = " "  # the separator of numpy.savetxt
COMMENT = "#"
BLOCK_BYTES = 2**22
CHUNK_ROWS = 2**10  # rows of the strict reader: pyarrow takes a tenth of the memory of texts in Python
MOST_LINES_BACK = 1000
QUOTE = ord('"')
FIRST_ROWS = 1000  # rows that decide what a text file contains
EMPTY_CELL = "an empty cell; missing=drop leaves out rows without a value"
OTHER_ENCODING = "encoding= names another, such as cp1252, latin-1 or utf-16"


class TextFile:
    """An open text file whose header has been read."""

    def __init__(
        self,
        raw: BinaryIO,
        suffix: str,
        encoding: str = "utf-8",
        columns: Iterable[str] = (),
        decimal: str = ".",
    ) -> None:
        self._raw = raw
        self._content = decompressed(raw, suffix)
        if encoding != "utf-8":
            self._content = io.BufferedReader(_InUtf8(self._content, encoding), BLOCK_BYTES)
        self._line = 0  # the number of skipped blank lines, and later the line in which the header ends
        with _readable():
            self._first = self._read().removeprefix(b"\xef\xbb\xbf")
            while self._first and not self._first.strip(b"\r\n"):
                self._line += _count_lines(self._first)
                self._first = self._read()
            lead = _Lead.of(self._first)
            self._first, self._line = self._first[lead.size :], self._line + lead.lines
            separators = SEPARATORS[without_compression(suffix)]
            self.separator = lead.separator or _separator(self._first, separators, decimal)
            taken: list[str] = []
            lines = _noted(_lines(_as_text(io.BytesIO(self._first))), taken)
            self._blank = self._line
            self.header = lead.header(self.separator, columns)
            if not self.header:
                _, self.header = next(rows(lines, self.separator), (0, []))
            if any("\0" in cell for cell in self.header):  # as in an encoding with two bytes per letter
                raise ValueError(f"expected text in {encoding.upper()}, got zero bytes; {OTHER_ENCODING}")
        self._begin = sum(len(line.encode()) for line in taken)
        self._line += len(taken)
        if self._begin == len(self._first) == BLOCK_BYTES:
            raise ValueError(
                f"line {self._line}: expected names of columns, got a line of more than {BLOCK_BYTES:,} bytes"
            )

    @property
    def read_bytes(self) -> int:
        """How many bytes of the file have been read; 0 of a stream."""
        return self._raw.tell() if self._raw.seekable() else 0

    @property
    def size(self) -> int:
        """The bytes of the file; 0 of a stream."""
        return os.fstat(self._raw.fileno()).st_size if self._raw.seekable() else 0

    def rows(self) -> Iterator[Row]:
        """Yield every row with its line, the header first unless it is a comment."""
        with _readable():
            yield from rows(self._lines_from(self._first), self.separator, self._blank + 1)

    def first_rows(self) -> list[Row]:
        """Return the header and the first rows below it. The file can still be read from its beginning."""
        whole = self._first if len(self._first) < BLOCK_BYTES else self._first[: self._first.rfind(b"\n") + 1]
        with _readable():
            lines = _lines(_as_text(io.BytesIO(whole)))
            return list(itertools.islice(rows(lines, self.separator, self._blank + 1), FIRST_ROWS))

    def batches(self, names: Names) -> Iterator[Any]:
        """Yield the columns of the rows below the header, block by block: as text, or numbers where required."""
        columns = check_columns(self.header, names)
        block, line, has_ended = self._first[self._begin :], self._line + 1, False
        self._first = b""
        size = BLOCK_BYTES
        with _readable():
            while block or not has_ended:
                while len(block) < size and not has_ended:
                    more = self._read()
                    block, has_ended = block + more, not more
                end = _end_of_rows(block, is_last=has_ended)
                if not end and len(block) < most_letters() and not has_ended:
                    size += BLOCK_BYTES
                    continue
                if not end:  # an unclosed quote, or an endless line
                    strict_rows = rows(self._lines_from(block), self.separator, line, len(self.header))
                    yield from row_chunks(strict_rows, self.header, names)
                    return
                whole_rows, block, size = block[:end], block[end:], BLOCK_BYTES
                yield from self._parsed(whole_rows, line, columns, names)
                line += _count_lines(whole_rows)

    def _read(self) -> bytes:
        return self._content.read(BLOCK_BYTES) or b""

    def _lines_from(self, first: bytes) -> Iterator[str]:
        """The lines of these bytes and of the rest of the file."""
        return _lines(_as_text(io.BufferedReader(_Chained(first, self._content))))

    def _parsed(self, block: bytes, line: int, columns: list[str], names: Names) -> Iterator[Any]:
        """Yield the columns of complete rows, of which the first begins in this line."""
        table = self._parsed_at_once(block, columns, names)
        if table is None:
            strict_rows = rows(_lines(_as_text(io.BytesIO(block))), self.separator, line, len(self.header))
            yield from row_chunks(strict_rows, self.header, names)
        elif len(table):
            yield table

    def _parsed_at_once(self, block: bytes, names_of_columns: list[str], names: Names) -> Any:
        """The columns of complete rows; None if a block is unusual, for example has a stray quote or an empty cell."""
        places = {name: str(self.header.index(name)) for name in names_of_columns}
        if self.separator == BLANK or not _has_regular_quotes(block, self.separator):
            return None  # several blanks count as a single blank
        try:
            table = pyarrow.csv.read_csv(
                pa.BufferReader(block),
                pa.csv.ReadOptions(
                    use_threads=False, block_size=len(block) + 1, column_names=list(map(str, range(len(self.header))))
                ),
                pa.csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                pa.csv.ConvertOptions(
                    include_columns=list(places.values()),
                    column_types={place: _kind(name, names) for name, place in places.items()},
                    strings_can_be_null=False,
                ),
            )
            if table.num_rows != _count_lines(block):
                return None
            columns = {name: table[place].combine_chunks() for name, place in places.items()}
            for name, column in columns.items():
                if name in names.numbers or name == names.counts:
                    numbers = pc.cast(with_points(column, names.decimal), pa.float64())
                    columns[name] = numbers if name in names.numbers else column
                elif name not in names.texts and names.missing == "error" and _has_empty(column, names.na):
                    return None
        except pa.ArrowInvalid:
            return None
        return pa.record_batch([_whole(columns[name]) for name in names_of_columns], names=names_of_columns)


def _kind(name: str, names: Names) -> Any:
    """The type of a column: dictionaries for labels and groups, which repeat; text for numbers, parsed later."""
    return (
        pa.string() if name in {*names.numbers, *names.texts, names.counts} else pa.dictionary(pa.int32(), pa.string())
    )


def _whole(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _has_empty(column: Any, na: tuple[str, ...]) -> bool:
    column = _whole(column)
    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    return bool(pc.any(pc.is_in(texts, value_set=pa.array(["", *na], texts.type))).as_py())


def _has_regular_quotes(block: bytes, separator: str) -> bool:
    """Whether every quote opens a cell, closes a cell, or is doubled within a cell."""
    if b'"' not in block:
        return True
    letters = np.frombuffer(block, np.uint8)
    places = np.flatnonzero(letters == QUOTE)
    if len(places) % 2:
        return False
    edges = np.zeros(256, bool)  # characters that may precede an opening quote, or follow a closing quote
    edges[[QUOTE, ord(separator), *b"\r\n"]] = True
    opening, closing = places[::2], places[1::2]
    before = edges[letters[opening[opening > 0] - 1]]
    behind = edges[letters[closing[closing < len(letters) - 1] + 1]]
    return bool(before.all() and behind.all())


def _end_of_rows(block: bytes, *, is_last: bool) -> int:
    """The end of the last complete row; 0 if a quote is not closed."""
    end = len(block) if is_last else block.rfind(b"\n") + 1
    is_open = b'"' in block and _count(block, b'"', end) % 2 == 1
    for _ in range(MOST_LINES_BACK if is_open and not is_last else 0):  # the last line end may be within a cell
        if not (end and is_open):
            break
        start = block.rfind(b"\n", 0, max(0, end - 1)) + 1
        is_open, end = is_open != (block.count(b'"', start, end) % 2 == 1), start
    return 0 if is_open else end


def _count_lines(block: bytes) -> int:
    returns = block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0
    return _count(block, b"\n") + returns + (not block.endswith((b"\r", b"\n")))


def _count(block: bytes, letter: bytes, end: int | None = None) -> int:
    """The number of occurrences of a letter; several times as fast as ``bytes.count``."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8, -1 if end is None else end) == ord(letter)))


class _Lead(NamedTuple):
    """The lines above a table: the line with the separator that Excel writes, and comments."""

    size: int  # bytes
    lines: int
    separator: str
    last: str  # the last comment

    @classmethod
    def of(cls, block: bytes) -> _Lead:
        """The lines above the table in a text that does not begin with blank lines."""
        taken: list[str] = []
        separator = last = ""
        for line in _lines(_as_text(io.BytesIO(block))):
            text = line.rstrip("\r\n")
            if not taken and re.fullmatch('"?sep=[^"]"?', text, re.IGNORECASE):
                separator = text.strip('"')[-1]
            elif text.lstrip().startswith(COMMENT):
                last = text.lstrip().lstrip(COMMENT).strip()
            elif text.strip() or not taken:
                break
            taken.append(line)
        return cls(sum(len(line.encode()) for line in taken), len(taken), separator, last)

    def header(self, separator: str, columns: Iterable[str]) -> list[str]:
        """The column names in the last comment; empty if a required column is not among them."""
        names = [name.strip() for name in next(rows([self.last], separator), (0, []))[1]] if self.last else []
        return names if set(names).issuperset(columns) and columns else []


def with_points(column: Any, decimal: str) -> Any:
    """Text of numbers with a point as the decimal sign; a point in the original text makes the number invalid."""
    if decimal == ".":
        return column
    return pc.replace_substring(pc.replace_substring(column, ".", "?"), decimal, ".")


def with_point(text: str, decimal: str) -> str:
    """The text of a number with a point in place of another sign, as of :func:`with_points`."""
    return text if decimal == "." else text.replace(".", "?").replace(decimal, ".")


class _Chained(io.RawIOBase):
    """A stream of some bytes, followed by the rest of a file."""

    def __init__(self, first: bytes, rest: Any) -> None:
        super().__init__()
        self._first, self._rest = io.BytesIO(first), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._first.readinto(buffer) or self._rest.readinto(buffer)


class _InUtf8(io.RawIOBase):
    """A text in another encoding, as UTF-8."""

    def __init__(self, content: Any, encoding: str) -> None:
        super().__init__()
        self._content, self._decoder = content, codecs.getincrementaldecoder(encoding)()
        self._rest, self._has_ended = b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and not self._has_ended:
            more = self._content.read(BLOCK_BYTES)
            self._has_ended = not more
            self._rest = self._decoder.decode(more or b"", final=self._has_ended).encode()
        content, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(content)] = content
        return len(content)


def _as_text(file: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(file, encoding="utf-8", newline="")


def _lines(file: io.TextIOWrapper) -> Iterator[str]:
    """Yield the lines of a file; raise if a line is longer than memory can hold."""
    most = most_letters()
    for line in iter(lambda: file.readline(most + 1), ""):
        if len(line) > most:
            raise ValueError(f"expected lines of at most {most:,} letters, got a longer line that begins {line[:40]!r}")
        yield line


def _noted(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    """Yield lines, and append each to ``taken``."""
    for line in lines:
        taken.append(line)
        yield line


def _separator(block: bytes, separators: str, decimal: str = ".") -> str:
    """Return the separator that splits the first line into the most cells; blanks if no other separator splits it.

    A comma before decimal places separates cells only where nothing else does.
    """
    line = next((text for text in _lines(_as_text(io.BytesIO(block))) if text.strip("\r\n")), "")
    others = separators.replace(decimal, "")
    if others != separators:
        if any(len(_cells(line, other)) > 1 for other in others):
            separators = others
        elif len(parts := line.split()) > 1 and all(is_number(with_point(part, decimal)) for part in parts):
            return BLANK
    best = max(separators, key=lambda separator: len(_cells(line, separator)))
    return BLANK if len(_cells(line, best)) < 2 < len(line.split()) + 1 else best


def _cells(line: str, separator: str) -> list[str]:
    csv.field_size_limit(most_letters())
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


@contextlib.contextmanager
def _readable() -> Iterator[None]:
    """Convert errors of the encoding or the compression to errors that say what was expected."""
    try:
        yield
    except UnicodeError as error:
        known = getattr(error, "encoding", "").upper() or "this encoding"
        raise ValueError(f"expected text in {known}: {error}; {OTHER_ENCODING}") from error
    except EOFError as error:
        raise ValueError(f"expected a whole compressed file: {error}") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"expected a file compressed by gzip: {error}") from error
    except OSError as error:
        if error.errno:
            raise
        raise ValueError(f"expected a file compressed by bzip2: {error}") from error


def open_raw(path: Path) -> BinaryIO:
    """Open a file, or standard input, which stays open afterwards."""
    return open(0, "rb", closefd=False) if path == STDIN else path.open("rb")


@contextlib.contextmanager
def open_text(
    path: Path, suffix: str, encoding: str = "utf-8", columns: Iterable[str] = (), decimal: str = "."
) -> Iterator[TextFile]:
    """Open a text file, or standard input, which may be compressed as well.

    A comment with the names of these columns is the header, as ``numpy.savetxt`` writes it.
    """
    with open_raw(path) as raw:
        yield TextFile(raw, suffix + (compression_of(raw) if path == STDIN else ""), encoding, columns, decimal)


# The strict reader ---------------------------------------------------------------------------------------------------


def rows(lines: Iterable[str], separator: str, begin: int = 1, width: int = 0) -> Iterator[Row]:
    """Yield each row that is not blank, with its line number; the first line has the number ``begin``.

    Raises
    ------
    ValueError
        A quote is not closed, text follows a closing quote, or the rows do not all have ``width`` cells.
    """
    csv.field_size_limit(most_letters())
    # Only in strict mode, a quote that is never closed, or a closing quote before text, is an error.
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=separator == BLANK)
    first = begin - 1
    try:
        for row in reader:
            if row:
                width = width or len(row)
                if len(row) != width:
                    raise ValueError(f"line {begin}: expected {_in_words(width)}, as in the first row, got {len(row)}")
                if first + reader.line_num > begin and any(_holds_rows(cell, separator, width) for cell in row):
                    raise ValueError(
                        f"line {begin}: expected every quote that opens a cell to be closed at its end, got a cell "
                        f"with whole rows in it, up to line {first + reader.line_num}"
                    )
                yield begin, row
            begin = first + reader.line_num + 1
    except csv.Error as error:
        line = first + reader.line_num
        where = "" if line == begin else f" in line {line}"
        raise ValueError(
            f"line {begin}: expected every quote that opens a cell to be closed at its end, got {error}{where}"
        ) from error


def _holds_rows(cell: str, separator: str, width: int) -> bool:
    """Whether a line within a cell is a whole row, as happens between two quotes that are not closed."""
    return width > 1 and any(line.count(separator) == width - 1 for line in cell.splitlines()[1:])


def _in_words(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def row_chunks(rows: Iterator[Row], header: list[str], names: Names) -> Iterator[Any]:
    """Yield batches of rows: columns of text, and of numbers if only numbers are expected."""
    required = check_columns(header, names)
    for chunk in iter(lambda: list(itertools.islice(rows, CHUNK_ROWS)), []):
        columns = {}
        for name in required:
            position = header.index(name)
            texts = original = [row[position] for _, row in chunk]
            if names.na and name not in names.texts:
                texts = ["" if text in names.na else text for text in original]
            columns[name] = pa.array(texts, pa.large_string())
            pattern = r"[\r\n]" if name in names.texts or names.missing != "error" else r"^$|[\r\n]"
            invalid = pc.index(pc.match_substring_regex(columns[name], pattern), value=True).as_py()
            if invalid >= 0:
                # Two quotes that are not closed enclose all rows between them.
                got = f"the line break in {texts[invalid][:40]!r}" if texts[invalid] else EMPTY_CELL
                got = f"{quoted(original[invalid])}, which is a missing value" if original[invalid] in names.na else got
                raise ValueError(f"line {chunk[invalid][0]}: expected a value in column {quoted(name)}, got {got}")
            if name in {*names.numbers, names.counts} and names.missing == "drop":
                columns[name] = pc.if_else(
                    pc.equal(columns[name], ""), pa.scalar(None, pa.large_string()), columns[name]
                )
            if name in names.numbers:
                columns[name] = _numbers(name, columns[name], chunk, names.decimal)
            elif name == names.counts:
                # Counts stay text after this check, because a float cannot represent every integer.
                _numbers(name, columns[name], chunk, names.decimal)
        yield pa.record_batch(columns)


def _numbers(name: str, column: Any, rows: list[Row], decimal: str) -> Any:
    """Text as floating-point numbers."""
    numbers = with_points(column, decimal)
    try:
        return pc.cast(numbers, pa.float64())
    except pa.ArrowInvalid:
        texts = column.to_pylist()
        index = next(
            (k for k, text in enumerate(numbers.to_pylist()) if text is not None and not is_number(text)), None
        )
        if index is None:
            raise
        text = texts[index][:40]
        hint = f"; na={text.strip()} reads it as a missing value" if stands_for_missing(text) else ""
        hint = "; decimal= reads a comma as the point of a number" if is_number(text.replace(",", ".", 1)) else hint
        raise ValueError(
            f"line {rows[index][0]}: expected a number in column {quoted(name)}, got {text!r}{hint}"
        ) from None
