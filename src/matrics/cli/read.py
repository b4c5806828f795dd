"""From a file to a stack of confusion matrices and the names of its rows. Pickled data is never loaded."""

from __future__ import annotations

import itertools
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from matrics.cli import labels, matrix
from matrics.cli.keys import Key, Keyed
from matrics.cli.labels import Names
from matrics.cli.text import STDIN, open_rows
from matrics.evaluation import as_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matrics.cli.text import Row

Array = Any
AnyNames = TypeVar("AnyNames", bound=Names)
Made = TypeVar("Made")

TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
FIRST_ROWS = 1000  # that may tell what a text file holds

# Used where NumPy's own message comes from the Python parser, and means nothing to a user.
_BAD_HEADER = "expected arrays of numbers written by {}, got a header that cannot be read"


@dataclass(frozen=True)
class Source(Keyed):
    """A stack ``(*B, n, n)`` in a file, of which only the requested blocks are read."""

    file: str  # its name, for messages
    stack: Array
    keys: tuple[Key, ...]
    classes: tuple[str, ...]
    rows: str = "true"
    clusters: Array = None  # (clusters of all matrices, n, n), matrix by matrix
    starts: Array = None  # the first cluster of each matrix

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes before those of the classes."""
        return tuple(self.stack.shape[:-2])

    @property
    def n(self) -> int:
        """Number of classes."""
        return int(self.stack.shape[-1])

    def block(self, start: int, stop: int) -> Array:
        """Read the matrices from ``start`` to ``stop``, in the order and orientation of the file, as float32 or 64."""
        # Select by index, as reshaping a stack in Fortran order would copy all of it into memory.
        block = self.stack[self._indices(start, stop)] if self.stack.ndim > 2 else self.stack[None]
        return np.asarray(block, np.float32 if block.dtype in (np.float16, np.float32) else np.float64)

    @property
    def cluster_counts(self) -> Array:
        """The number of clusters of each matrix; nothing if there are none."""
        return np.diff([] if self.starts is None else np.append(self.starts, len(self.clusters)))

    def clusters_of(self, position: int) -> Array:
        """The clusters of a matrix, which add up to it: (K, n, n)."""
        start = self.starts[position]
        return self.clusters[start : start + self.cluster_counts[position]]


def read(path: Path, names: Names, rows: str | None) -> Source:
    """Open a file of confusion matrices, or count a file of labels."""
    readers = {".npy": _read_npy, ".npz": _read_npz, ".parquet": _read_parquet} | dict.fromkeys(TEXTS, _read_text)
    if rows not in (None, "true", "pred"):
        raise ValueError(f"--rows: expected true or pred, got {rows!r}")
    if names.true == names.pred:
        raise ValueError(f"--pred: expected another column than that of the true labels, got {names.pred!r} for both")
    if names.clusters in {*names.by, *names.labels}:
        raise ValueError(
            f"--clusters: expected another column than those of the labels and of --by, got {names.clusters!r}"
        )
    if path == STDIN:
        return _read_text(path, names, rows)
    path.stat()  # raises with the name of a missing file
    if path.is_dir():
        raise ValueError(f"{path}: expected a file, got a directory")
    suffix = _suffix(path)
    if suffix not in readers:
        raise ValueError(f"{path}: expected a name that ends in {', '.join(readers)}, got {suffix or 'no suffix'}")
    return readers[suffix](path, names, rows)


def read_labels(path: Path, names: Names) -> labels.Labelled:
    """The labels of a file, row by row."""
    if names.true == names.pred:
        raise ValueError(f"--pred: expected another column than that of the true labels, got {names.pred!r} for both")
    return read_rows(path, names, labels.numbered)[1]


def read_rows(path: Path, names: AnyNames, made: Callable[[Any, AnyNames], Made]) -> tuple[str, Made]:
    """The name of a file of rows, and what is made of its table; errors have the name of the file."""
    if path != STDIN:
        path.stat()  # raises with the name of a missing file
    file = "standard input" if path == STDIN else str(path)
    suffix = ".csv" if path == STDIN else _suffix(path)
    if suffix not in (".parquet", *TEXTS):
        raise ValueError(
            f"{file}: expected a file of labels: .parquet, {', '.join(TEXTS)}, got {suffix or 'no suffix'}"
        )
    try:
        if suffix == ".parquet":
            return file, made(labels.parquet_table(path, names), names)
        with open_rows(path, suffix) as lines:
            _, header = next(lines, (0, []))
            return file, made(labels.rows_table(lines, header, names), names)
    except (ValueError, pa.ArrowException) as error:
        raise ValueError(f"{file}: {error}") from error


def _suffix(path: Path) -> str:
    return "".join(path.suffixes[-2 if path.suffix.lower() == ".gz" else -1 :]).lower()


def _read_npy(path: Path, names: Names, rows: str | None) -> Source:
    try:
        # Only the requested blocks of a big file are in memory.
        stack = np.lib.format.open_memmap(path, mode="r")
    except (SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"{path}: {_BAD_HEADER.format('numpy.save')}") from error
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{path}: expected an array of numbers written by numpy.save: {error}") from error
    return _matrices(str(path), stack, names, rows)


def _read_npz(path: Path, names: Names, rows: str | None) -> Source:
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
        return _matrices(str(path), next(iter(arrays.values())), names, rows)
    if len({array.shape for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{path}: expected arrays of one shape, to make one stack, got {shapes}")
    return _matrices(str(path), np.stack(list(arrays.values())), names, rows, arrays=pa.array(list(arrays)))


def _read_text(path: Path, names: Names, rows: str | None) -> Source:
    file = "standard input" if path == STDIN else str(path)
    try:
        with open_rows(path, ".csv" if path == STDIN else _suffix(path)) as lines:
            found, classes = _parse(lines, names)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    if isinstance(found, labels.GroupCounts):
        return _groups(file, found, rows)
    return _matrices(file, found, names, rows, classes=classes)


def _parse(lines: Iterator[Row], names: Names) -> tuple[labels.GroupCounts | Array, tuple[str, ...] | None]:
    """Count labels, or read a matrix and, if it has any, its labels: whichever the first rows look like."""
    first = next(lines, None)
    if first is None:
        raise ValueError(f"expected a matrix or columns {' and '.join(names.labels)}, got an empty file")
    header, wanted = first[1], set(names.labels)
    if not wanted.issubset(header):
        start = list(itertools.islice(lines, FIRST_ROWS))
        if matrix.is_crosstab(header, start):
            return matrix.read_crosstab(header, [*start, *lines])
        if wanted.isdisjoint(header) and any(map(matrix.is_number, header)):
            return matrix.read_numbers([first, *start, *lines]), None
    return labels.count_rows(lines, header, names), None


def _read_parquet(path: Path, names: Names, rows: str | None) -> Source:
    try:
        counted = labels.count_parquet(path, names)
    except (ValueError, OSError, pa.ArrowException) as error:
        raise ValueError(f"{path}: {error}") from error
    return _groups(str(path), counted, rows)


def _matrices(
    file: str,
    stack: Array,
    names: Names,
    rows: str | None,
    *,
    arrays: Array | None = None,
    classes: tuple[str, ...] | None = None,
) -> Source:
    renamed = (("true", names.true != Names.true), ("pred", names.pred != Names.pred))
    for option, given in (("by", names.by), ("clusters", names.clusters), *renamed):
        if given:
            columns = " and ".join(names.labels)
            raise ValueError(f"--{option}: expected a file with columns {columns}, got a file of matrices: {file}")
    as_stack(stack, name=file)
    if not stack.size:
        raise ValueError(f"{file}: expected at least one confusion matrix, got shape {stack.shape}")
    named = () if arrays is None else (Key("array", 0, arrays),)
    indexed = range(len(named), stack.ndim - 2)
    keys = (*named, *(Key(f"index_{axis - len(named)}", axis) for axis in indexed))
    return Source(file, stack, keys, classes or tuple(map(str, range(stack.shape[-1]))), rows or "true")


def _groups(file: str, counted: labels.GroupCounts, rows: str | None) -> Source:
    if rows is not None:
        raise ValueError(f"--rows: expected a file of matrices, got {file}, which has columns of labels")
    keys = tuple(Key(name, 0, values) for name, values in counted.groups.items())
    return Source(file, counted.stack, keys, counted.classes, clusters=counted.clusters, starts=counted.starts)
