"""Tables as files: Parquet with a row group for each table, or comma-separated values."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from matrics._errors import ArgumentError
from matrics._files.outputs.texts import csv_text


class Writer(Protocol):
    """A file of tables with the same columns."""

    def encode(self, table: Any) -> Any:
        """Do the part of the work on a table that is independent of the order of tables; thread-safe."""

    def write(self, encoded: Any) -> None:
        """Write the rows of a table after the earlier rows."""

    def finish(self) -> None:
        """Write the end, wait until the file is on the disk, and check it."""

    def close(self) -> None:
        """Close the file without finishing it."""


def create(path: Path) -> IO[bytes]:
    """Open a new file for writing; an existing file or link of this name is unlinked first."""
    path.unlink(missing_ok=True)
    return path.open("xb")  # this mode follows no link


class CsvWriter:
    """Comma-separated values; undefined values are empty cells."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._file = create(path)
        self._file.write(csv_text([schema.names]).encode())  # pyarrow would put every name in quotes

    def encode(self, table: Any) -> Any:
        """The table itself, as all work depends on the order of tables."""
        return table

    def write(self, table: Any) -> None:
        """Write the rows of a table."""
        try:
            pyarrow.csv.write_csv(table, self._file, pyarrow.csv.WriteOptions(include_header=False))
        except pa.ArrowInvalid as error:  # for example for bytes that are no text
            raise ArgumentError(
                "output", f"expected a name that ends in .parquet for these columns: {error}"
            ) from error

    def finish(self) -> None:
        """Wait until the file is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def close(self) -> None:
        """Close the file without finishing it."""
        with contextlib.suppress(OSError):  # the disk may be full when the buffer is written
            self._file.close()


class ParquetWriter:
    """Parquet with a row group for each table; undefined values are nulls."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._path, self._rows = path, 0
        self._file = create(path)
        self._writer = pq.ParquetWriter(self._file, schema.remove_metadata(), **parquet_options(schema))

    def encode(self, table: Any) -> Any:
        """The table itself, as all work depends on the order of tables."""
        return table

    def write(self, table: Any) -> None:
        """Write the rows of a table, which may be empty."""
        if table.num_rows:
            self._writer.write_table(table.replace_schema_metadata(None), row_group_size=table.num_rows)
            self._rows += table.num_rows

    def finish(self) -> None:
        """Write the footer, wait until the file is on the disk, and check its number of rows."""
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        num_rows = pq.read_metadata(self._path).num_rows
        if num_rows != self._rows:
            raise OSError(f"{self._path}: expected {self._rows} rows, got {num_rows} in the file that was written")

    def close(self) -> None:
        """Close the file without finishing it."""
        if not self._file.closed:
            with contextlib.suppress(OSError):  # the disk may be full for the footer
                self._writer.close()
            with contextlib.suppress(OSError):
                self._file.close()


class PartsWriter:
    """A directory with a Parquet file for each table."""

    def __init__(self, path: Path) -> None:
        self._path, self._number = path, 0

    def encode(self, table: Any) -> Any:
        """The bytes of a file."""
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, table.schema, **parquet_options(table.schema)) as writer:
            if table.num_rows:
                writer.write_table(table, row_group_size=table.num_rows)
        return memoryview(sink.getvalue())

    def write(self, content: Any) -> None:
        """Write the next file, and wait until it is on the disk."""
        with create(self._path / f"part-{self._number:05d}.parquet") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._number += 1

    def finish(self) -> None:
        """Do nothing, as all files are complete."""

    def close(self) -> None:
        """Do nothing, as no file is open."""


def open_writer(path: Path, kind: str, schema: Any) -> Writer:
    """A new file of the kind ``csv`` or ``parquet``, or the files of the kind ``directory``."""
    if kind == "directory":
        return PartsWriter(path)
    return CsvWriter(path, schema) if kind == "csv" else ParquetWriter(path, schema)


def parquet_options(schema: Any) -> dict[str, Any]:
    """The encodings of columns: dictionaries for text, as scores rarely repeat, and differences for integer indices."""
    texts = [
        column.name for column in schema if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ]
    integers = [field.name for field in schema if pa.types.is_integer(field.type)]
    return {
        "compression": "zstd",
        "use_dictionary": texts or False,
        "column_encoding": dict.fromkeys(integers, "DELTA_BINARY_PACKED") or None,
        "write_page_checksum": True,
    }
