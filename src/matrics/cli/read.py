"""From a file to a stack of confusion matrices and the names of its rows. Pickled data is never loaded."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from matrics.cli import labels, matrix, npz
from matrics.cli.counting.batches import Batch, named, text_batches
from matrics.cli.counting.counter import Counter
from matrics.cli.counting.counts_rows import OF_NPZ
from matrics.cli.counting.fragments import is_pattern
from matrics.cli.counting.inputs import count, open_input, parquet_rows
from matrics.cli.keys import Key, Keyed
from matrics.cli.labels import Names
from matrics.cli.npy import NpyStack
from matrics.cli.npz import NpzStack
from matrics.cli.text import STDIN, TEXTS, open_rows, suffix_of
from matrics.evaluation import as_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matrics.cli.text import Row

Array = Any
AnyNames = TypeVar("AnyNames", bound=Names)
Made = TypeVar("Made")

FIRST_ROWS = 1000  # that may tell what a text file holds


@dataclass(frozen=True)
class Source(Keyed):
    """A stack ``(*B, n, n)`` in a file, of which only the requested blocks are read."""

    file: str  # its name, for messages
    stack: Array  # an array, or what has its shape and reads blocks of it
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
        block = self._read(start, stop)
        return np.asarray(block, np.float32 if block.dtype in (np.float16, np.float32) else np.float64)

    def _read(self, start: int, stop: int) -> Array:
        stack = self.stack
        if not isinstance(stack, np.ndarray):
            return stack.read(start, stop)
        return stack.reshape(-1, self.n, self.n)[start:stop]

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
    names.check()
    if path == STDIN:
        return _read_text(path, names, rows)
    if path.is_dir() or is_pattern(path):
        return _read_parquet(path, names, rows)
    path.stat()  # raises with the name of a missing file
    suffix = suffix_of(path)
    if suffix not in readers:
        raise ValueError(f"{path}: expected a name that ends in {', '.join(readers)}, got {suffix or 'no suffix'}")
    return readers[suffix](path, names, rows)


def read_labels(path: Path, names: Names) -> labels.Labelled:
    """The labels of a file, row by row."""
    names.check()
    return read_rows(path, names, labels.numbered)[1]


def read_rows(path: Path, names: AnyNames, made: Callable[[Any, AnyNames], Made]) -> tuple[str, Made]:
    """The name of a file of rows, and what is made of its table; errors have the name of the file."""
    file = "standard input" if path == STDIN else str(path)
    suffix = ".csv" if path == STDIN else suffix_of(path)
    if path.is_dir() or is_pattern(path):
        suffix = ".parquet"
    elif path != STDIN:
        path.stat()  # raises with the name of a missing file
    if suffix not in (".parquet", *TEXTS):
        raise ValueError(
            f"{file}: expected a file of labels: .parquet, {', '.join(TEXTS)}, got {suffix or 'no suffix'}"
        )
    with named(file):
        if suffix == ".parquet":
            return file, made(parquet_rows([path], names).table(), names)
        with open_rows(path, suffix) as lines:
            _, header = next(lines, (0, []))
            return file, made(labels.rows_table(lines, header, names), names)


def _read_npy(path: Path, names: Names, rows: str | None) -> Source:
    return _matrices(str(path), NpyStack(path), names, rows)


def _read_npz(path: Path, names: Names, rows: str | None) -> Source:
    arrays = npz.members(path)
    if {array.name for array in arrays} >= OF_NPZ:
        return _read_labels(path, names, rows)
    if not arrays:
        raise ValueError(f"{path}: expected at least one array, got none")
    for array in arrays:
        as_stack(array.like, name=f"{path}: array {array.name!r}")
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{array.name} {array.shape}" for array in arrays)
        raise ValueError(f"{path}: expected arrays of one shape, to make one stack, got {shapes}")
    keys = pa.array([array.name for array in arrays]) if len(arrays) > 1 else None
    return _matrices(str(path), NpzStack(path, arrays), names, rows, arrays=keys)


def _read_text(path: Path, names: Names, rows: str | None) -> Source:
    file = "standard input" if path == STDIN else str(path)
    try:
        with open_rows(path, ".csv" if path == STDIN else suffix_of(path)) as lines:
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
    return _count_lines(lines, header, names), None


def _count_lines(lines: Iterator[Row], header: list[str], names: Names) -> labels.GroupCounts:
    """Count the rows of a text file that follow its header."""
    if names.clusters is not None:
        return labels.count_table(labels.rows_table(lines, header, names), names)
    counter = Counter(names, frozenset({*names.labels, *names.by}))
    for table in text_batches(lines, header, names):
        counter.add(Batch(table, "", counter.rows))
    return counter.counted().of_source


def _read_parquet(path: Path, names: Names, rows: str | None) -> Source:
    if names.clusters is None:
        return _read_labels(path, names, rows)
    with named(str(path)):
        return _groups(str(path), labels.count_table(parquet_rows([path], names).table(), names), rows)


def _read_labels(path: Path, names: Names, rows: str | None) -> Source:
    if names.clusters is not None:
        raise ValueError(f"--clusters: expected a file of labels, got {path}, which has counts")
    return _groups(str(path), count(open_input([path], names), None).of_source, rows)


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
    for option, given in (("by", names.by), ("clusters", names.clusters), ("counts", names.counts), *renamed):
        if given:
            columns = " and ".join(names.labels)
            raise ValueError(f"--{option}: expected a file with columns {columns}, got a file of matrices: {file}")
    if isinstance(stack, np.ndarray):
        as_stack(stack, name=file)
    if 0 in stack.shape:
        raise ValueError(f"{file}: expected at least one confusion matrix, got shape {stack.shape}")
    of_arrays = () if arrays is None else (Key("array", 0, arrays),)
    indexed = range(len(of_arrays), len(stack.shape) - 2)
    keys = (*of_arrays, *(Key(f"index_{axis - len(of_arrays)}", axis) for axis in indexed))
    return Source(file, stack, keys, classes or tuple(map(str, range(stack.shape[-1]))), rows or "true")


def _groups(file: str, counted: labels.GroupCounts, rows: str | None) -> Source:
    if rows is not None:
        raise ValueError(f"--rows: expected a file of matrices, got {file}, which has columns of labels")
    keys = tuple(Key(name, 0, values) for name, values in counted.groups.items())
    return Source(file, counted.stack, keys, counted.classes, clusters=counted.clusters, starts=counted.starts)
