"""Rows of files in batches; a thread reads the next batch while the current batch is counted."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from matrics._errors import ArgumentError
from matrics._files import READER
from matrics._files.columns import decoded
from matrics._files.names import required_columns
from matrics._files.text import STDIN, TextFile, open_text

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from matrics._files.names import Names

Item = TypeVar("Item")

BATCH_ROWS = 2**20
AHEAD = 1  # batches that are read in advance


@dataclass(frozen=True)
class Batch:
    """Some rows of a file: columns by name."""

    table: Any  # a pyarrow.RecordBatch
    file: str
    row: int = 0  # the index of the first row in the file
    where: str = "the data"  # the file's name, if there are several
    read: float = 0.0  # bytes of all files up to the end of the batch, if known


class RowReader(Protocol):
    """The rows of files, in order."""

    @property
    def count(self) -> int | None:
        """The number of all rows, if it is known before they are read."""

    @property
    def size(self) -> int:
        """The bytes of all files; 0 if unknown."""

    def batches(self) -> Generator[tuple[int, Batch]]:
        """Yield the rows of all files, each batch with the number of rows up to its end."""


@dataclass(frozen=True)
class TextRows:
    """The rows of text files; ``opened`` is the only file if it is already open, such as a pipe."""

    paths: tuple[Path, ...]
    suffixes: tuple[str, ...]
    names: Names
    opened: TextFile | None = None

    @property
    def count(self) -> int | None:
        """None: text files do not declare their number of rows."""
        return None

    @property
    def size(self) -> int:
        """The bytes of all files; 0 if a file is a stream."""
        return total_size(self.paths) if self.opened is None and STDIN not in self.paths else 0

    def batches(self) -> Generator[tuple[int, Batch]]:
        """Yield the rows of all files, each batch with the number of rows up to its end."""
        position = before = 0
        for path, suffix in zip(self.paths, self.suffixes, strict=True):
            file, first = name_of(path), position
            opened = (
                open_text(path, suffix, self.names.encoding, required_columns(self.names), self.names.decimal)
                if self.opened is None
                else contextlib.nullcontext(self.opened)
            )
            with named(file), opened as text:
                for table in text.batches(self.names):
                    where = file if len(self.paths) > 1 else "the data"
                    batch = Batch(table, file, position - first, where, before + text.read_bytes)
                    position += len(table)
                    yield position, batch
                before += text.read_bytes

    def table(self) -> Any:
        """All rows at once: columns of text, or of numbers where numbers are required."""
        names, parts = self.names, [pa.Table.from_batches([batch.table]) for _, batch in self.batches()]
        required = required_columns(names)
        if not parts:
            kinds = {name: pa.float64() if name in names.numbers else pa.large_string() for name in required}
            return pa.schema(kinds).empty_table()
        columns = {}
        for name in required:
            chunks = [
                pc.cast(decoded(part[name]), part[name].type if name in names.numbers else pa.large_string())
                for part in parts
            ]
            columns[name] = pa.chunked_array([part for chunk in chunks for part in chunk.chunks])
        return pa.table(columns)


def name_of(path: Path) -> str:
    """Return the name of a file in messages."""
    return "standard input" if path == STDIN else str(path)


def total_size(paths: Iterable[Path]) -> int:
    """The bytes of all files."""
    return sum(path.stat().st_size for path in paths)


class FileError(ValueError):
    """An error that begins with the name of its file."""


@contextlib.contextmanager
def named(file: str) -> Iterator[None]:
    """Begin the messages of errors with the name of the file, unless they already begin with a file name."""
    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(error.argument, error.text, error.file or file) from error
    except (FileError, MemoryError):  # pyarrow's MemoryError is an ArrowException, and not an error in the file
        raise
    except (ValueError, OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            # An error of the system, not of the content.
            reason = error.strerror if error.filename else os.strerror(error.errno)
            raise OSError(error.errno, reason, error.filename or file) from error
        is_own = isinstance(error, ValueError) and not isinstance(error, pa.ArrowException)
        message = str(error) if is_own else f"expected a file that pyarrow can read, got: {error}"
        raise FileError(f"{file}: {message}") from error


def ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items, while a thread computes the next item.

    After the generator is closed, the thread ends with the item that it is computing. Closing does not wait for the
    thread, which may wait for a pipe or a disk.
    """
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(AHEAD)
    done = threading.Event()

    def put(item: Item | None, error: BaseException | None = None) -> None:
        while not done.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put((item, error), timeout=0.1)
                return

    def compute() -> None:
        try:
            for item in items:
                put(item)
                if done.is_set():
                    return
            put(None)
        except BaseException as error:  # noqa: BLE001 (raised again in the thread of the caller)
            put(None, error)

    thread = threading.Thread(target=compute, name=READER, daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
            del item  # frees its memory before the wait for the next item
    finally:
        done.set()
