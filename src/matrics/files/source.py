"""From a file to a stack of confusion matrices and the names of its rows. Pickled data is never loaded."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from matrics.arrays import NUMPY
from matrics.catalogue.classes import Classes
from matrics.files import labels, crosstab as matrix, npz
from matrics.files.rows import OpenRows, named
from matrics.files.count import COUNT_ALONE, Beside, count
from matrics.files.counts_rows import OF_NPZ
from matrics.files.fragments import is_pattern
from matrics.files.inputs import Input, open_input, parquet_rows
from matrics.files.keys import Key, Keyed
from matrics.files.labels import Names
from matrics.files.npy import NpyStack
from matrics.files.npz import NpzStack
from matrics.files.notices import warn_of_odd_labels
from matrics.files.text import STDIN, TEXTS, open_rows, suffix_of
from matrics.engine.evaluation import as_stack
from matrics.quoting import quoted
from matrics.uncertainty.weighted import kish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matrics.files.text import Row

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
    named: bool = True  # whether classes have labels, by which users call them; else numbers from 0
    ordered: bool = True  # whether the file or the classes themselves say which comes first
    by_construction: bool = False  # whether the second class is the positive one
    clusters: Array = None  # (clusters of all matrices, n, n), matrix by matrix
    starts: Array = None  # the first cluster of each matrix
    squares: Array = None  # squared weights, of the shape of a stack of weights

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes before those of the classes."""
        return tuple(self.stack.shape[:-2])

    @property
    def n(self) -> int:
        """Number of classes."""
        return int(self.stack.shape[-1])

    def known(self, positive: str | None) -> Classes:
        """What is known of the classes."""
        labels = self.classes if self.named else None
        made = self.by_construction
        return Classes.of(self.n, labels, positive, by_construction=made, ordered=self.ordered)

    @property
    def titles(self) -> list[str]:
        """What titles call the classes."""
        known = self.known(None)
        return [known.name(k) for k in range(self.n)]

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
    def effective_samples(self) -> Array:
        """How many samples of one weight would vary as much as those of each matrix: (Σ w)² / Σ w²."""
        weights, squares = (x.reshape(-1, self.n**2).sum(axis=-1) for x in (self.stack, self.squares))
        return kish(weights, squares, NUMPY)

    @property
    def cluster_counts(self) -> Array:
        """The number of clusters of each matrix; nothing if there are none."""
        return np.diff([] if self.starts is None else np.append(self.starts, len(self.clusters)))

    def clusters_of(self, position: int) -> Array:
        """The clusters of a matrix, which add up to it: (K, n, n)."""
        start = self.starts[position]
        return self.clusters[start : start + self.cluster_counts[position]]


def read(path: Path, names: Names, rows: str | None, beside: Beside = COUNT_ALONE) -> Source:
    """Open a file of confusion matrices, or count a file of labels."""
    if rows not in (None, "true", "pred"):
        raise ValueError(f"--rows: expected true or pred, got {quoted(rows)}")
    names.check()
    if path.is_dir() or is_pattern(path):
        return _read_labels(path, names, rows, beside)
    if path == STDIN:
        return _read_text(path, names, rows, beside)
    path.stat()  # raises with the name of a missing file
    suffix = suffix_of(path)
    if suffix == ".npy":
        return _read_npy(path, names, rows)
    if suffix == ".npz":
        return _read_npz(path, names, rows, beside)
    if suffix == ".parquet":
        return _read_labels(path, names, rows, beside)
    if suffix not in TEXTS:
        known = ", ".join((".npy", ".npz", ".parquet", *TEXTS))
        raise ValueError(f"{path}: expected a name that ends in {known}, got {suffix or 'no suffix'}")
    return _read_text(path, names, rows, beside)


def read_labels(path: Path, names: Names) -> labels.Labelled:
    """The labels of a file, row by row."""
    names.check()
    return read_rows(path, names, labels.numbered)[1]


def read_rows(path: Path, names: AnyNames, made: Callable[[Any, AnyNames], Made]) -> tuple[str, Made]:
    """The name of a file of rows, and what is made of its table; errors have the name of the file."""
    file = "standard input" if path == STDIN else str(path)
    suffix = ".csv" if path == STDIN else suffix_of(path)
    if is_pattern(path) and suffix in TEXTS:
        raise ValueError(f"{file}: expected one file of text, got a pattern, which is for Parquet files here")
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


def _read_npz(path: Path, names: Names, rows: str | None, beside: Beside) -> Source:
    arrays = npz.members(path)
    if {array.name for array in arrays} >= OF_NPZ:
        for option, given in (("clusters", names.clusters), ("weight", names.weight)):
            if given is not None:
                raise ValueError(f"--{option}: expected a file of labels, got {path}, which has counts")
        return _read_labels(path, names, rows, beside)
    if not arrays:
        raise ValueError(f"{path}: expected at least one array, got none")
    for array in arrays:
        as_stack(array.like, name=f"{path}: array {quoted(array.name)}")
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{array.name} {array.shape}" for array in arrays)
        raise ValueError(f"{path}: expected arrays of one shape, to make one stack, got {shapes}")
    keys = pa.array([array.name for array in arrays]) if len(arrays) > 1 else None
    return _matrices(str(path), NpzStack(path, arrays), names, rows, arrays=keys)


def _read_text(path: Path, names: Names, rows: str | None, beside: Beside) -> Source:
    """Count labels, or read a matrix and, if it has any, its labels: whichever the first rows look like."""
    file, suffix = ("standard input", ".csv") if path == STDIN else (str(path), suffix_of(path))
    counted: labels.GroupCounts | None = None
    with named(file), open_rows(path, suffix) as lines:
        first = next(lines, None)
        if first is None:
            raise ValueError(f"expected a matrix or columns {' and '.join(names.labels)}, got an empty file")
        found = None if set(names.labels).issubset(first[1]) else _parse_matrix(lines, first, names)
        if found is None and not names.in_pieces:
            counted = labels.count_table(labels.rows_table(lines, first[1], names), names)
        elif found is None and (path == STDIN or not path.is_file()):  # a pipe, which cannot be read twice
            texts = frozenset({*names.labels, *names.by})
            counted = count(Input(file, OpenRows(file, lines, first[1], names), names, texts), beside).of_source
    if found is not None:
        return _matrices(file, found[0], names, rows, classes=found[1])
    return _read_labels(path, names, rows, beside) if counted is None else _groups(file, counted, rows)


def _parse_matrix(lines: Iterator[Row], first: Row, names: Names) -> tuple[Array, tuple[str, ...] | None] | None:
    """A matrix and its labels, if the rows look like one; else columns are missing, which who counts them says."""
    start = list(itertools.islice(lines, FIRST_ROWS))
    if matrix.is_crosstab(first[1], start):
        return matrix.read_crosstab(first[1], [*start, *lines])
    if set(names.labels).isdisjoint(first[1]) and any(map(matrix.is_number, first[1])):
        return matrix.read_numbers([first, *start, *lines]), None
    return None


def _read_labels(path: Path, names: Names, rows: str | None, beside: Beside) -> Source:
    if names.in_pieces:
        return _groups(str(path), count(open_input([path], names), beside).of_source, rows)
    with named(str(path)):
        return _groups(str(path), labels.count_table(parquet_rows([path], names).table(), names), rows)


def _matrices(
    file: str,
    stack: Array,
    names: Names,
    rows: str | None,
    *,
    arrays: Array | None = None,
    classes: tuple[str, ...] | None = None,
) -> Source:
    rest = (("clusters", names.clusters), ("counts", names.counts), ("weight", names.weight))
    renamed = (("true", names.true != Names.true), ("pred", names.pred != Names.pred))
    for option, given in (("by", names.by), *rest, *renamed):
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
    names_of_classes = classes or tuple(map(str, range(stack.shape[-1])))
    return Source(file, stack, keys, names_of_classes, rows or "true", named=classes is not None)


def _groups(file: str, counted: labels.GroupCounts, rows: str | None) -> Source:
    if rows is not None:
        raise ValueError(f"--rows: expected a file of matrices, got {file}, which has columns of labels")
    warn_of_odd_labels(file, *counted.sides)
    keys = tuple(Key(name, 0, values) for name, values in counted.groups.items())
    return Source(
        file,
        counted.stack,
        keys,
        counted.classes,
        ordered=counted.ordered,
        clusters=counted.clusters,
        starts=counted.starts,
        squares=counted.squares,
    )
