"""Results that are made in one go, in one file, which gets its name when it is whole."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from matrics._files.notices import cleaned_by
from matrics._files.outputs.destination import followed
from matrics._files.outputs.sealed import create
from matrics._files.outputs.writers import Writer, open_writer


def table_of(columns: dict[str, Any]) -> Any:
    """A table of columns; undefined values (NaN) become nulls."""
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


@contextlib.contextmanager
def open_output(output: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that appends columns to the file; undefined values (NaN) become empty cells or nulls."""
    output = followed(output)
    temporary = _temporary(output)
    writer: Writer | None = None

    def append(columns: dict[str, Any]) -> None:
        nonlocal writer
        table = table_of(columns)
        if writer is None:
            writer = open_writer(temporary, output.suffix.lower().removeprefix("."), table.schema)
        writer.write(table)

    with _naming(output, temporary):
        try:
            yield append
            if writer is not None:
                writer.finish()
                take_name(temporary, output)
        finally:
            if writer is not None:
                writer.close()


def write_whole(output: Path, content: bytes) -> None:
    """Write a file that has its name when all of it is on the disk."""
    output = followed(output)
    temporary = _temporary(output)
    with _naming(output, temporary):
        with create(temporary) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        take_name(temporary, output)


def take_name(made: Path, output: Path) -> None:
    """Give a finished file its name, and the mode of a file that it replaces; wait until the name is on the disk."""
    with contextlib.suppress(FileNotFoundError):
        before = output.lstat()
        if stat.S_ISREG(before.st_mode):
            made.chmod(stat.S_IMODE(before.st_mode))
    made.replace(output)
    settle(output.parent)


def settle(directory: Path) -> None:
    """Wait until the names in a directory are on the disk."""
    if sys.platform == "win32":  # has no such call
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system supports this
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _temporary(output: Path) -> Path:
    # A short name, as the output's name may already have the maximum length.
    return output.with_name(f".{secrets.token_hex(8)}.tmp")


@contextlib.contextmanager
def _naming(output: Path, temporary: Path) -> Iterator[None]:
    """Name the output in errors, and not the temporary file, which is removed."""

    def remove() -> str:
        temporary.unlink(missing_ok=True)
        return ""

    try:
        with cleaned_by(remove):
            yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(output)) if error.errno else error from None
    finally:
        remove()
