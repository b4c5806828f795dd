"""Matrices whose cells are columns of a table: each row is a matrix, and rows are read in batches."""

from __future__ import annotations

import collections
import contextlib
import math
import os
import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from matrics._errors import ArgumentError
from matrics._files import columns as of_columns
from matrics._files.compression import suffix_of
from matrics._files.fragments import Fragment, is_pattern, texts
from matrics._files.inputs import parquet_rows
from matrics._files.keys import Key
from matrics._files.names import Names, required_columns
from matrics._files.parquet import ParquetRows
from matrics._files.rows import Batch, TextRows, named
from matrics._files.source import MatrixSource
from matrics._files.text import STDIN, TEXTS
from matrics._quoting import first_twice, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = Any

KEPT_BATCHES = 3  # a block may lie in two batches, and its names may be read when the third batch has been read


@dataclass(frozen=True)
class CellNames(Names):
    """The columns of the cells, row by row of the matrix, and the columns that name the matrices."""

    columns: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def labels(self) -> tuple[str, ...]:
        """Empty: such a file has no labels."""
        return ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of cells."""
        return self.columns

    @property
    def n(self) -> int:
        """The number of classes."""
        return math.isqrt(len(self.columns))

    @classmethod
    def parse(cls, values: list[str], by: tuple[str, ...]) -> CellNames:
        """The columns in texts such as ``tn,fp,fn,tp``: n² columns for n classes."""
        columns = tuple(name for text in values for name in text.split(",") if name)
        twice = first_twice(columns)
        if twice is not None or set(by) & set(columns):
            raise ArgumentError(
                "cells",
                "expected each column once, and not in by=, got "
                f"{quoted(next(iter(set(by) & set(columns)), twice))} twice",
            )
        names = cls(by=by, columns=columns)
        if not columns or names.n**2 != len(columns):
            raise ArgumentError(
                "cells",
                f"expected n² columns, such as tn,fp,fn,tp, the rows of a matrix in order, got {len(columns)}",
            )
        return names


def read_cells(path: Path, names: CellNames, rows: str | None) -> MatrixSource:
    """Open a table whose rows are matrices."""
    file = "standard input" if path == STDIN else str(path)
    if rows not in (None, "true", "pred"):
        raise ArgumentError("rows", f"expected true or pred, got {quoted(rows)}")
    is_text = path == STDIN or suffix_of(path) in TEXTS
    table = CellTable(_as_parquet(path, names) if is_text else parquet_rows(path, names), names)
    with named(file):
        count = table.rows.count
        if not count:
            raise ValueError("expected at least one row with a confusion matrix, got none")
    keys = tuple(Key(name, 0, GroupColumn(table, name)) for name in names.by) or (Key("index_0", 0),)
    return MatrixSource(
        file,
        CellStack(table, (count, names.n, names.n)),
        keys,
        tuple(map(str, range(names.n))),
        rows or "true",
        named=False,
    )


@dataclass
class CellTable:
    """Rows by their position in the file; fast if they are, or follow, the rows that were read last."""

    rows: ParquetRows
    names: CellNames
    _latest: collections.deque[tuple[int, Any]] = field(default_factory=lambda: collections.deque(maxlen=KEPT_BATCHES))
    _coming: Iterator[tuple[int, Batch]] = field(default_factory=lambda: iter(()))
    _lock: Any = field(
        default_factory=threading.Lock
    )  # the names of a block may be read while another thread reads the next block

    def read(self, start: int, stop: int) -> Any:
        """The rows from ``start`` to ``stop``, as a table."""
        with self._lock:
            return self._read(start, stop)

    def _read(self, start: int, stop: int) -> Any:
        first = self._latest[0][0] if self._latest else -1
        if not first <= start <= self._end:
            self._latest.clear()
            self._coming = self.rows.batches(start)
        parts = []
        for begin, batch in list(self._latest):
            if begin < stop and begin + len(batch) > start:
                parts.append(batch.slice(max(0, start - begin), min(stop, begin + len(batch)) - max(start, begin)))
        while sum(map(len, parts)) < stop - start:
            end, next_batch = next(self._coming)
            begin, batch = end - len(next_batch.table), self._checked(next_batch)
            self._latest.append((begin, batch))
            parts.append(batch.slice(max(0, start - begin), min(stop, end) - max(start, begin)))
        return pa.Table.from_batches(parts)

    @property
    def _end(self) -> int:
        return self._latest[-1][0] + len(self._latest[-1][1]) if self._latest else -1

    def _checked(self, batch: Batch) -> Any:
        columns = {}
        with named(batch.file):
            for name in required_columns(self.names):
                column = of_columns.decoded(batch.table[name])
                missing = of_columns.is_missing(column)
                if missing.any():
                    raise ValueError(
                        f"column {quoted(name)}: expected a value in every row, got none in row "
                        f"{batch.row + missing.argmax() + 1} of {batch.where}"
                    )
                columns[name] = _numbers(name, column) if name in self.names.columns else _name(column)
        return pa.record_batch(columns)


@dataclass(frozen=True)
class CellStack:
    """The matrices of a table: ``(rows, n, n)``."""

    table: CellTable
    shape: tuple[int, ...]

    def read(self, start: int, stop: int) -> Array:
        """The matrices from ``start`` to ``stop``."""
        rows = self.table.read(start, stop)
        cells = np.stack([rows[name].to_numpy() for name in self.table.names.columns], axis=1)
        return cells.reshape(-1, *self.shape[1:])


@dataclass(frozen=True)
class GroupColumn:
    """A column that names the matrices, read on demand."""

    table: CellTable
    name: str

    @property
    def type(self) -> Any:
        """The type of its values."""
        return self.table.read(0, 1)[self.name].type

    def take(self, places: Any) -> Any:
        """The values of these rows."""
        first, last = (value.as_py() for value in pc.min_max(places).values())
        return self.table.read(first, last + 1)[self.name].combine_chunks().take(pc.subtract(places, first))


def _numbers(name: str, column: Any) -> Any:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise ValueError(f"column {quoted(name)}: expected the counts of a cell, which are numbers, got {kind}")
    return pc.cast(column, pa.float64(), safe=False)


def _name(column: Any) -> Any:
    return pc.cast(column, pa.large_string()) if of_columns.is_text(column.type) else column


def _as_parquet(path: Path, names: CellNames) -> ParquetRows:
    """The rows of a text file, copied to a temporary file, which has numbers and can be read from any row."""
    folder = Path(tempfile.mkdtemp())
    spooled = folder / "cells.parquet"
    rows = ParquetRows([Fragment(spooled)], names)
    weakref.finalize(rows, shutil.rmtree, folder, ignore_errors=True)  # or, if the process ends first, at its end
    required = required_columns(names)
    schema = pa.schema([(name, pa.float64() if name in names.columns else pa.large_string()) for name in required])
    paths = tuple(texts(path)) if is_pattern(path) else (path,)
    suffixes = tuple(".csv" if file == STDIN else suffix_of(file) for file in paths)
    with _writing(spooled), pq.ParquetWriter(spooled, schema, compression="zstd") as writer:
        for _, batch in TextRows(paths, suffixes, names).batches():
            columns = [pc.cast(of_columns.decoded(batch.table[column.name]), column.type) for column in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema))
    return rows


@contextlib.contextmanager
def _writing(file: Path) -> Iterator[None]:
    """Add the name of the temporary file to errors, because the user does not know that it exists."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or not error.errno:  # of another file
            raise
        reason = f"{os.strerror(error.errno)}, for a temporary copy of the table"
        raise OSError(error.errno, reason, str(file)) from error
