"""From tables to bytes: each block by itself, so that threads can encode several at the same time."""

from __future__ import annotations

import base64
import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from matrics.files.outputs import footer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Bytes = bytes | memoryview

CODEC = "zstd"


class Placed(NamedTuple):
    """What is to be known of a block that is in a file."""

    offset: int
    length: int
    rows: int
    note: str  # what the format has to know of the block at the end of the file


class Format(Protocol):
    """How blocks become a file: the head, the blocks, and a tail that is made of what was noted of them."""

    @property
    def head(self) -> bytes:
        """The start of the file."""

    def encode(self, table: Any) -> tuple[Bytes, str]:
        """The bytes of a block, and a note; they do not depend on the place of the block in the file."""

    def tail(self, blocks: Sequence[Placed]) -> bytes:
        """The end of the file."""

    def check(self, path: Path, blocks: Sequence[Placed]) -> None:
        """Raise OSError if the file is not readable as what was written."""


@dataclass(frozen=True)
class Csv:
    """Comma-separated values; undefined ones are empty cells."""

    schema: Any

    @property
    def head(self) -> bytes:
        """The names of the columns; pyarrow would put every name in quotes."""
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(self.schema.names)
        return header.getvalue().encode()

    def encode(self, table: Any) -> tuple[Bytes, str]:
        """The lines of a table."""
        sink = pa.BufferOutputStream()
        try:
            pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(include_header=False))
        except pa.ArrowInvalid as error:  # as of bytes that are no text
            raise ValueError(f"--output: expected a name that ends in .parquet for these columns: {error}") from error
        return memoryview(sink.getvalue()), ""

    def tail(self, blocks: Sequence[Placed]) -> bytes:
        """Nothing."""
        del blocks
        return b""

    def check(self, path: Path, blocks: Sequence[Placed]) -> None:
        """Whether all bytes are there; the format has nothing else that could be checked."""
        whole = len(self.head) + sum(block.length for block in blocks)
        if path.stat().st_size != whole:
            raise OSError(f"{path}: expected {whole} bytes, got {path.stat().st_size}")


@dataclass(frozen=True)
class Parquet:
    """Parquet with one row group for each block; undefined values are nulls."""

    schema: Any
    head: bytes = field(default=footer.MAGIC, init=False)

    def encode(self, table: Any) -> tuple[Bytes, str]:
        """A row group, and its entry in the footer of a file that has no other."""
        if not table.num_rows:
            return b"", ""
        content, found = footer.split(self._file(table))
        return content, base64.b64encode(footer.row_group(found)).decode()

    def tail(self, blocks: Sequence[Placed]) -> bytes:
        """The footer."""
        _, empty = footer.split(self._file(None))
        # In the file that it was encoded as, a row group follows the magic.
        groups = [(base64.b64decode(block.note), block.offset - len(footer.MAGIC)) for block in blocks if block.note]
        return footer.join(empty, groups, sum(block.rows for block in blocks))

    def check(self, path: Path, blocks: Sequence[Placed]) -> None:
        """Whether the footer can be read and has all rows."""
        found = pq.read_metadata(path)
        expected = sum(block.rows for block in blocks), sum(bool(block.note) for block in blocks)
        if (found.num_rows, found.num_row_groups) != expected:
            raise OSError(f"{path}: expected {expected[0]} rows, got {found.num_rows} in the file that was written")

    def _file(self, table: Any) -> memoryview:
        """A whole file of a table in one row group, or of none."""
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, self.schema, **parquet_options(self.schema)) as writer:
            if table is not None:
                writer.write_table(table, row_group_size=table.num_rows)
        return memoryview(sink.getvalue())


def parquet_options(schema: Any) -> dict[str, Any]:
    """How columns are encoded: scores hardly repeat, so dictionaries are for text alone; indices go up by one."""
    texts = [one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)]
    integers = [one.name for one in schema if pa.types.is_integer(one.type)]
    return {
        "compression": CODEC,
        "use_dictionary": texts or False,
        "column_encoding": dict.fromkeys(integers, "DELTA_BINARY_PACKED") or None,
        "write_page_checksum": True,
    }


def format_of(kind: str, schema: Any) -> Format:
    """The format with the name ``csv`` or ``parquet``."""
    return Csv(schema) if kind == "csv" else Parquet(schema)
