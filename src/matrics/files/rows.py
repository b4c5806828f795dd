"""Rows of files in batches, and the next batch read while this one is counted."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from matrics.files import labels
from matrics.files.text import STDIN, open_raw, parsed

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from matrics.files.labels import Names
    from matrics.files.text import Row

Item = TypeVar("Item")

BATCH_ROWS = 2**20
AHEAD = 1  # batches that are read and wait


@dataclass(frozen=True)
class Batch:
    """Some rows of a file: columns by name."""

    table: Any  # a pyarrow.RecordBatch
    file: str
    row: int = 0  # the first one's place in the file, from 0
    where: str = "the data"  # the file's name, where there are several
    read: float = 0.0  # bytes of all files up to its end, as far as they are known


class Rows(Protocol):
    """The rows of one or more files, in order."""

    @property
    def count(self) -> int | None:
        """The number of all rows, if it is known before they are read."""

    @property
    def size(self) -> int:
        """The bytes of all files; 0 if that is not known."""

    def batches(self, start: int = 0) -> Generator[tuple[int, Batch]]:
        """Yield the rows from row ``start`` of all files on, each batch with the number of rows up to its end."""


@dataclass(frozen=True)
class TextRows:
    """The rows of text files."""

    paths: tuple[Path, ...]
    suffixes: tuple[str, ...]
    names: Names

    @property
    def count(self) -> int | None:
        """Not known before they are read."""
        return None

    @property
    def size(self) -> int:
        """The bytes of all files; 0 with standard input."""
        return 0 if STDIN in self.paths else total_size(self.paths)

    def batches(self, start: int = 0) -> Generator[tuple[int, Batch]]:
        """Yield the rows from row ``start`` of all files on, each batch with the number of rows up to its end."""
        position = before = 0
        for path, suffix in zip(self.paths, self.suffixes, strict=True):
            file = "standard input" if path == STDIN else str(path)
            first = position
            with named(file), open_raw(path) as raw, parsed(raw, suffix) as lines:
                _, header = next(lines, (0, []))
                for table in text_batches(lines, header, self.names):
                    position += len(table)
                    read = before + (0 if path == STDIN else raw.tell())
                    if position > start:  # the rows before must be parsed to know where they end
                        new = table.slice(max(0, len(table) - (position - start)))
                        where = file if len(self.paths) > 1 else "the data"
                        yield position, Batch(new, file, position - len(new) - first, where, read)
                before += 0 if path == STDIN else raw.tell()


@dataclass(frozen=True)
class OpenRows:
    """The rows of a text file whose header was read, and which cannot be opened again."""

    file: str
    lines: Iterator[Row]
    header: list[str]
    names: Names
    count: int | None = None
    size: int = 0

    def batches(self, start: int = 0) -> Generator[tuple[int, Batch]]:
        """Yield all rows."""
        position = start
        for table in text_batches(self.lines, self.header, self.names):
            yield position + len(table), Batch(table, self.file, position)
            position += len(table)


def total_size(paths: Iterable[Path]) -> int:
    """The bytes of all files."""
    return sum(path.stat().st_size for path in paths)


def text_batches(rows: Iterator[Row], header: list[str], names: Names) -> Iterator[Any]:
    """The rows of a text file that follow its header, as batches of text."""
    chunks = labels.row_chunks(rows, header, names)
    for some in iter(lambda: list(itertools.islice(chunks, max(1, BATCH_ROWS // labels.CHUNK_ROWS))), []):
        yield from pa.Table.from_batches(some).combine_chunks().to_batches()


class FileError(ValueError):
    """An error that begins with the name of its file."""


@contextlib.contextmanager
def named(file: str) -> Iterator[None]:
    """Errors begin with the name of the file, once."""
    try:
        yield
    except (
        FileError,
        MemoryError,
    ):  # the latter is no fault of what is in the file, and pyarrow's is an ArrowException
        raise
    except (ValueError, OSError, pa.ArrowException) as error:
        if isinstance(error, OSError) and error.errno:
            # No fault of what is in the file: what is finished of an output is kept.
            reason = error.strerror if error.filename else os.strerror(error.errno)
            raise OSError(error.errno, reason, error.filename or file) from error
        is_own = isinstance(error, ValueError) and not isinstance(error, pa.ArrowException)
        message = str(error) if is_own else f"expected a file that pyarrow can read, got: {error}"
        raise FileError(f"{file}: {message}") from error


def ahead(items: Iterator[Item]) -> Generator[Item]:
    """The same items, of which the next one is made in a thread meanwhile."""
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(AHEAD)
    done = threading.Event()

    def put(item: Item | None, error: BaseException | None = None) -> None:
        while not done.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put((item, error), timeout=0.1)
                return

    def make() -> None:
        try:
            for item in items:
                put(item)
                if done.is_set():
                    return
            put(None)
        except BaseException as error:  # noqa: BLE001 (raised again where the items are taken)
            put(None, error)

    thread = threading.Thread(target=make, daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
            del item  # or it would be held while the next one is waited for
    finally:
        done.set()
        thread.join()
