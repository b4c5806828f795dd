"""Outputs that get their names when they are complete; until then, they are hidden files in the same folder."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from matrics._files.fragments import find, is_stream
from matrics._files.notices import cleaned_by
from matrics._files.outputs.destination import Destination, followed
from matrics._files.outputs.writers import Writer, create, open_writer


def table_of(columns: dict[str, Any]) -> Any:
    """A table of columns; undefined values (NaN) become nulls."""
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


class Output:
    """A file, or a directory of Parquet files, that is being written."""

    def __init__(self, destination: Destination, made: Path, inputs: Sequence[Path]) -> None:
        self.destination = destination
        self.made = made
        self.inputs = inputs
        self.before = _states(inputs)
        self.writer: Writer | None = None

    def begin(self, schema: Any) -> None:
        """Open the file for tables with this schema."""
        kind = "directory" if self.destination.is_directory else self.destination.kind
        with _naming(self.destination.path):
            self.writer = open_writer(self.made, kind, schema)

    def encode(self, table: Any) -> Any:
        """Do the part of the work on a table that is independent of the order of tables; thread-safe."""
        return self._open_writer.encode(table)

    def append(self, encoded: Any) -> None:
        """Write a table that ``encode`` has returned after the earlier tables."""
        with _naming(self.destination.path):
            self._open_writer.write(encoded)

    @contextlib.contextmanager
    def file(self) -> Iterator[IO[bytes]]:
        """Open the file for bytes, and wait until they are on the disk."""
        with _naming(self.destination.path), create(self.made) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Give the output its name.

        Raise an error if an input has changed since, as the output would correspond to no state of the input.
        """
        with _naming(self.destination.path):
            if self.writer is not None:
                self.writer.finish()
        _refuse_changes(self.before, _states(self.inputs))
        with _naming(self.destination.path):
            take_name(self.made, self.destination.path)

    @property
    def _open_writer(self) -> Writer:
        assert self.writer is not None  # noqa: S101 (for mypy: begin opens it)
        return self.writer


@contextlib.contextmanager
def whole_output(destination: Destination, inputs: Sequence[Path] = ()) -> Iterator[Output]:
    """Yield an output that gets its name when it is finished; an unfinished output is removed."""
    path = destination.path
    made = path.with_name(f".{secrets.token_hex(8)}.tmp")  # short, as the name may have the maximum length
    output = Output(destination, made, inputs)
    with _naming(path):
        if destination.is_directory:
            made.mkdir()
        else:
            create(made).close()  # created here to raise an error before the work if the folder is read-only

    def remove() -> None:
        if destination.is_directory:
            shutil.rmtree(made, ignore_errors=True)
        else:
            made.unlink(missing_ok=True)

    try:
        with cleaned_by(remove):
            yield output
    finally:
        if output.writer is not None:
            output.writer.close()
        remove()


@contextlib.contextmanager
def open_output(output: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that appends columns to the file; undefined values (NaN) become empty cells or nulls."""
    path = followed(output)
    with whole_output(Destination(path, path.suffix.lower().removeprefix("."))) as whole:

        def append(columns: dict[str, Any]) -> None:
            table = table_of(columns)
            if whole.writer is None:
                whole.begin(table.schema)
            whole.append(whole.encode(table))

        yield append
        whole.finish()


def write_whole(output: Path, content: bytes) -> None:
    """Write a file that gets its name when its content is on the disk."""
    with whole_output(Destination(followed(output), "")) as whole:
        with whole.file() as file:
            file.write(content)
        whole.finish()


def take_name(made: Path, output: Path) -> None:
    """Give a finished output its name and the mode of the file that it replaces; wait until the name is on the disk."""
    with contextlib.suppress(FileNotFoundError):
        before = output.lstat()
        if stat.S_ISREG(before.st_mode):
            made.chmod(stat.S_IMODE(before.st_mode))
        elif stat.S_ISDIR(before.st_mode):  # empty; not every system replaces a directory
            output.rmdir()
    made.replace(output)
    _settle(output.parent)


def _settle(directory: Path) -> None:
    """Wait until the names in a directory are on the disk."""
    if sys.platform == "win32":  # cannot open directories
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system supports this
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _states(inputs: Sequence[Path]) -> dict[Path, tuple[int, int] | None]:
    """The sizes and modification times of all files of the inputs, which show a change; streams have none."""
    files = [fragment.path for path in inputs if not is_stream(path) for fragment in find(path)]
    return {file: _state(file) for file in files}


def _state(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return status.st_size, status.st_mtime_ns


def _refuse_changes(before: dict[Path, Any], after: dict[Path, Any]) -> None:
    changed = next((file for file in {**before, **after} if before.get(file) != after.get(file)), None)
    if changed is not None:
        raise ValueError(f"{changed}: expected a file that does not change, got a file that changed while it was read")


@contextlib.contextmanager
def _naming(output: Path) -> Iterator[None]:
    """Give errors the name of the output instead of the hidden file."""
    try:
        yield
    except OSError as error:
        if not error.errno:
            raise
        # Errors of pyarrow have no file name, and their text has that of the hidden file.
        reason = error.strerror if error.filename else os.strerror(error.errno)
        raise OSError(error.errno, reason, str(output)) from None
