"""Results of one pass in one file, which has its name when it is whole."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from matrics.files.outputs.formats import format_of
from matrics.files.outputs.volume import Volume, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matrics.files.outputs.unfinished import Unfinished


def table_of(columns: dict[str, Any]) -> Any:
    """A table of columns; undefined values (NaN) become nulls."""
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


@contextlib.contextmanager
def open_output(output: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that appends columns to the file; undefined values (NaN) become empty cells or nulls."""
    # A short name, as the output's name may already have the maximum length.
    temporary = output.with_name(f".{secrets.token_hex(8)}.tmp")
    volume: Volume | None = None

    def append(columns: dict[str, Any]) -> None:
        nonlocal volume
        table = table_of(columns)
        if volume is None:
            volume = Volume(temporary, format_of(output.suffix.lower().removeprefix("."), table.schema))
        content, note = volume.form.encode(table)
        volume.append(content, note, table.num_rows)

    try:
        yield append
        if volume is not None:
            volume.finish()
            temporary.replace(output)
            settle(output.parent)
    except OSError as error:  # name the requested file, not the temporary one
        raise OSError(error.errno, error.strerror, str(output)) if error.errno else error from None
    finally:
        if volume is not None:
            volume.close()
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_file(work: Unfinished) -> Iterator[IO[bytes]]:
    """Yield a file to write, which is the output when it is whole."""
    made = work.folder / "whole"
    with work.naming_output():
        work.find_folder()
        with made.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        work.check_inputs()
        made.replace(work.destination.path)
        work.settle()
