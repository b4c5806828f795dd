"""From a file to a stack of confusion matrices and the names of its rows. Pickled data is never loaded."""

from __future__ import annotations

import csv
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matrics.cli import labels
from matrics.evaluation import as_stack

if TYPE_CHECKING:
    from pathlib import Path

Array = Any

# Used where NumPy's own message comes from the Python parser, and means nothing to a user.
_BAD_HEADER = "expected arrays of numbers written by {}, got a header that cannot be read"


@dataclass(frozen=True)
class Key:
    """A column that identifies a row's matrix: the index along an axis of the stack, or a value for each index."""

    name: str
    axis: int
    values: Array | None = None  # a pyarrow array


@dataclass(frozen=True)
class Source:
    """A stack ``(*B, n, n)`` in a file, of which only the requested blocks are read."""

    path: Path
    stack: Array
    keys: tuple[Key, ...]
    classes: tuple[str, ...]
    rows: str = "true"

    @property
    def n(self) -> int:
        """Number of classes."""
        return int(self.stack.shape[-1])

    @property
    def count(self) -> int:
        """Number of matrices."""
        return int(np.prod(self.stack.shape[:-2], dtype=np.int64))

    def _indices(self, start: int, stop: int) -> tuple[Array, ...]:
        batch = self.stack.shape[:-2]
        return np.unravel_index(np.arange(start, stop), batch) if batch else ()

    def block(self, start: int, stop: int) -> Array:
        """Read the matrices from ``start`` to ``stop``, in the order and orientation of the file, as float32 or 64."""
        # Select by index, as reshaping a stack in Fortran order would copy all of it into memory.
        block = self.stack[self._indices(start, stop)] if self.stack.ndim > 2 else self.stack[None]
        return np.asarray(block, np.float32 if block.dtype in (np.float16, np.float32) else np.float64)

    def columns(self, start: int, stop: int) -> dict[str, Array]:
        """Return the columns that name these matrices in an output file."""
        indices = self._indices(start, stop)
        return {
            key.name: pa.array(indices[key.axis])
            if key.values is None
            else key.values.take(pa.array(indices[key.axis]))
            for key in self.keys
        }

    def name(self, position: int) -> str:
        """Return the displayed name of a matrix: its group, or its index like ``[1, 2]``."""
        columns = self.columns(position, position + 1)
        named = [_text(columns[key.name][0]) for key in self.keys if key.values is not None]
        index = [str(columns[key.name][0]) for key in self.keys if key.values is None]
        return ", ".join([*named, *([f"[{', '.join(index)}]"] if index else [])])

    @property
    def in_order(self) -> bool:
        """Whether the order of the matrices may matter: numbers and indices may be epochs, names are not ordered."""
        values = self.keys[0].values if self.keys else None
        return values is None or not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type))

    @property
    def heading(self) -> str:
        """The heading of the column of names."""
        return ", ".join(key.name for key in self.keys if key.values is not None) or "matrix"


def _text(value: Any) -> str:
    try:
        return str(value)
    except (ValueError, OverflowError):  # a time without a Python type: in nanoseconds, or after the year 9999
        return str(pc.cast(value, pa.string()))


def read(path: Path, by: list[str], rows: str | None) -> Source:
    """Open a file of confusion matrices, or count a file of labels."""
    readers = {".npy": _read_npy, ".npz": _read_npz, ".csv": _read_csv, ".parquet": _read_parquet}
    if rows not in (None, "true", "pred"):
        raise ValueError(f"--rows: expected true or pred, got {rows!r}")
    path.stat()  # raises with the name of a missing file
    if path.is_dir():
        raise ValueError(f"{path}: expected a file, got a directory")
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: expected a name that ends in {', '.join(readers)}, got {path.suffix or 'no suffix'}")
    return readers[path.suffix.lower()](path, by, rows)


def _read_npy(path: Path, by: list[str], rows: str | None) -> Source:
    try:
        # Only the requested blocks of a big file are in memory.
        stack = np.lib.format.open_memmap(path, mode="r")
    except (SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"{path}: {_BAD_HEADER.format('numpy.save')}") from error
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{path}: expected an array of numbers written by numpy.save: {error}") from error
    return _matrices(path, stack, by, rows)


def _read_npz(path: Path, by: list[str], rows: str | None) -> Source:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path}: expected arrays written by numpy.savez, got a file that is not a zip archive")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: np.asarray(archive[name]) for name in archive.files}
    except (SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"{path}: {_BAD_HEADER.format('numpy.savez')}") from error
    except (ValueError, ArithmeticError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path}: expected arrays of numbers written by numpy.savez: {error}") from error
    if not arrays:
        raise ValueError(f"{path}: expected at least one array, got none")
    for name, array in arrays.items():
        as_stack(array, name=f"{path}: array {name!r}")
    if len(arrays) == 1:
        return _matrices(path, next(iter(arrays.values())), by, rows)
    if len({array.shape for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{path}: expected arrays of one shape, to make one stack, got {shapes}")
    return _matrices(path, np.stack(list(arrays.values())), by, rows, arrays=pa.array(list(arrays)))


def _read_csv(path: Path, by: list[str], rows: str | None) -> Source:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            first = next((row for row in reader if row), None)
            if first is None:
                raise ValueError("expected a matrix or columns y_true and y_pred, got an empty file")  # noqa: TRY301
            if {"y_true", "y_pred"} & set(first) or not any(map(_is_number, first)):
                _refuse_rows(path, rows)
                return _groups(path, labels.count_csv(path, first, by))
            lines = [(1, first)] if reader.line_num == 1 else [(reader.line_num, first)]
            lines += [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: expected comma separated text in UTF-8: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return _matrices(path, _parse_matrix(path, lines), by, rows)


def _parse_matrix(path: Path, lines: list[tuple[int, list[str]]]) -> Array:
    width = len(lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(f"{path}: expected {width} numbers in every row, got {len(row)} in row {number}")
        for column, cell in enumerate(row, 1):
            if not _is_number(cell):
                raise ValueError(f"{path}: expected a number in row {number}, column {column}, got {cell!r}")
    return np.array([[float(cell) for cell in row] for _, row in lines])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python reads 1_0 as 10


def _read_parquet(path: Path, by: list[str], rows: str | None) -> Source:
    _refuse_rows(path, rows)
    try:
        return _groups(path, labels.count_parquet(path, by))
    except (ValueError, OSError, pa.ArrowException) as error:
        raise ValueError(f"{path}: {error}") from error


def _refuse_rows(path: Path, rows: str | None) -> None:
    if rows is not None:
        raise ValueError(f"--rows: expected a file of matrices, got {path}, which has columns of labels")


def _matrices(path: Path, stack: Array, by: list[str], rows: str | None, arrays: Array | None = None) -> Source:
    if by:
        raise ValueError(f"--by: expected a file with columns y_true and y_pred, got a file of matrices: {path}")
    as_stack(stack, name=str(path))
    if not stack.size:
        raise ValueError(f"{path}: expected at least one confusion matrix, got shape {stack.shape}")
    named = () if arrays is None else (Key("array", 0, arrays),)
    indexed = range(len(named), stack.ndim - 2)
    keys = (*named, *(Key(f"index_{axis - len(named)}", axis) for axis in indexed))
    return Source(path, stack, keys, tuple(map(str, range(stack.shape[-1]))), rows or "true")


def _groups(path: Path, counted: labels.GroupCounts) -> Source:
    keys = tuple(Key(name, 0, values) for name, values in counted.groups.items())
    return Source(path, counted.stack, keys, counted.classes)
