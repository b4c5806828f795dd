"""Scores to a CSV or Parquet file, block by block; the file is there when it is whole, or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import secrets
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def check_output(output: Path, source: Path) -> None:
    """Raise, before any work is done, for an output that could not be written."""
    if output.suffix.lower() not in {".csv", ".parquet"}:
        raise ValueError(f"--output: expected a name that ends in .csv or .parquet, got {str(output)!r}")
    if not output.parent.is_dir():
        raise ValueError(f"--output: expected an existing directory, got {str(output.parent)!r}")
    if output.is_dir():
        raise ValueError(f"--output: expected a file, got the directory {str(output)!r}")
    if output.exists() and source.exists() and output.samefile(source):
        raise ValueError(f"--output: expected another file than the one that is read, got {str(output)!r}")


@contextlib.contextmanager
def open_output(output: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give a function that appends columns to the file; undefined values (NaN) become empty cells or nulls."""
    # A short name, whatever the length of the output's: that may be the longest there can be.
    temporary = output.with_name(f".{secrets.token_hex(8)}.tmp")
    open_writer = _csv_writer if output.suffix.lower() == ".csv" else _parquet_writer
    try:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(temporary.open("xb"))
            writer: Any = None

            def append(columns: dict[str, Any]) -> None:
                nonlocal writer
                table = pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})
                if writer is None:
                    writer = stack.enter_context(open_writer(file, table.schema))
                writer.write_table(table)

            yield append
        temporary.replace(output)
    except OSError as error:  # names the file that was asked for, not the temporary one
        raise OSError(error.errno, error.strerror, str(output)) if error.errno else error from None
    finally:
        temporary.unlink(missing_ok=True)


def _csv_writer(file: Any, schema: Any) -> Any:
    # pyarrow would put every name between quotes.
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())
    return pyarrow.csv.CSVWriter(file, schema, write_options=pyarrow.csv.WriteOptions(include_header=False))


def _parquet_writer(file: Any, schema: Any) -> Any:
    return pq.ParquetWriter(file, schema, compression="zstd")
