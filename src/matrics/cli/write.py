"""Write scores to a CSV or Parquet file, block by block; the file appears only when it is complete."""

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
    """Raise an error, before any work is done, if the output cannot be written."""
    if output.suffix.lower() not in {".csv", ".parquet"}:
        raise ValueError(f"--output: expected a name that ends in .csv or .parquet, got {str(output)!r}")
    if not output.parent.is_dir():
        raise ValueError(f"--output: expected an existing directory, got {str(output.parent)!r}")
    if output.is_dir():
        raise ValueError(f"--output: expected a file, got the directory {str(output)!r}")
    if output.exists() and source.exists() and output.samefile(source):
        raise ValueError(f"--output: expected another file than the input, got {str(output)!r}")


@contextlib.contextmanager
def open_output(output: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that appends columns to the file; undefined values (NaN) become empty cells or nulls."""
    # A short name, as the output's name may already have the maximum length.
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
    except OSError as error:  # name the requested file, not the temporary one
        raise OSError(error.errno, error.strerror, str(output)) if error.errno else error from None
    finally:
        temporary.unlink(missing_ok=True)


def _csv_writer(file: Any, schema: Any) -> Any:
    # pyarrow would put every name in quotes.
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())
    return pyarrow.csv.CSVWriter(file, schema, write_options=pyarrow.csv.WriteOptions(include_header=False))


def _parquet_writer(file: Any, schema: Any) -> Any:
    return pq.ParquetWriter(file, schema, compression="zstd")
