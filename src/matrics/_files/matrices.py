"""Stacks of confusion matrices that are read from a path, or counted from labels. Pickled data is never loaded."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from matrics._arrays import NUMPY
from matrics._engine.evaluation import as_stack
from matrics._errors import ArgumentError
from matrics._files.compression import suffix_of
from matrics._files.count import Watch, count, unwatched
from matrics._files.fragments import is_pattern
from matrics._files.inputs import Input, open_input, open_labels, refuse_options_of_text
from matrics._files.keys import Key
from matrics._files.labels import complete_order
from matrics._files.names import Names
from matrics._files.notices import refuse_disjoint, warn_of_odd_labels
from matrics._files.rows import name_of, named
from matrics._files.sheets import Sheet
from matrics._files.source import MatrixSource
from matrics._files.text import STDIN, open_text, with_point
from matrics._files.wide import by_model
from matrics._quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from matrics._files.counts import SortedCounts
    from matrics._files.text import Row, TextFile

Array = Any
Parsed = tuple[Array, tuple[str, ...] | None]  # a matrix, and its labels


def read(source: Path | Input, names: Names, rows: str | None, watch: Watch = unwatched) -> MatrixSource:
    """Open a file of confusion matrices, or count a file of labels."""
    if rows not in (None, "true", "pred"):
        raise ArgumentError("rows", f"expected true or pred, got {quoted(rows)}")
    names.check()
    if names.models:
        source, names = by_model(source, names)
    source = (
        source
        if isinstance(source, Input)
        else open_input(source, counts_as_rows=names.counts is not None, answers=names.answers)
    )
    refuse_options_of_text(source, names)
    path = source.path
    if source.kind == "arrays":
        if suffix_of(path) == ".npy":
            from matrics._files.npy import NpyStack

            return _matrices(str(path), NpyStack(path), names, rows)
        return _read_npz(path, names, rows)
    if isinstance(source.table, Sheet):
        single = read_single(source, names, rows)
        return _count(source, names, rows, watch) if single is None else single
    if source.kind == "text" and len(source.files) < 2 and not (is_pattern(path) or path.is_dir()):
        return _read_text(source, names, rows, watch)
    return _count(source, names, rows, watch)


def _read_npz(path: Path, names: Names, rows: str | None) -> MatrixSource:
    from matrics._files.npz import NpzStack, members

    arrays = members(path)
    if not arrays:
        raise ValueError(f"{path}: expected at least one array, got none")
    for array in arrays:
        as_stack(array.like, name=f"{path}: array {quoted(array.name)}")
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{array.name} {array.shape}" for array in arrays)
        raise ValueError(f"{path}: expected arrays of one shape, to make one stack, got {shapes}")
    keys = pa.array([array.name for array in arrays]) if len(arrays) > 1 else None
    return _matrices(str(path), NpzStack(path, arrays), names, rows, arrays=keys)


def read_single(source: Input, names: Names, rows: str | None = None) -> MatrixSource | None:
    """The matrix in a text file or in a sheet; None if the content is no matrix."""
    file, sheet = name_of(source.path), source.table
    if len(source.files) != 1:
        return None
    if isinstance(sheet, Sheet):
        refuse_options_of_text(source, names)
        if sheet.has_names(names.labels):
            return None
        cells = sheet.matrix_rows()
        with named(f"{file}, sheet {quoted(sheet.name)}" if sheet.name else file):
            size = source.path.stat().st_size
            parsed = _parse_matrix(cells, lambda: cells, names, size) if cells else None
    elif source.kind == "text":
        path = source.files[0].path
        with named(file), open_text(path, suffix_of(path), names.encoding, names.labels, names.decimal) as text:
            parsed = _matrix_of(text, names)
    else:
        return None
    return None if parsed is None else _matrices(file, parsed[0], names, rows, classes=parsed[1])


def _read_text(source: Input, names: Names, rows: str | None, watch: Watch) -> MatrixSource:
    """Read a matrix with its labels, or count labels, depending on the first rows."""
    path = source.path
    file, suffix = name_of(path), ".csv" if path == STDIN else suffix_of(path)
    with named(file), open_text(path, suffix, names.encoding, names.labels, names.decimal) as text:
        if not text.header:
            raise ValueError(f"expected a matrix or columns {' and '.join(names.labels)}, got an empty file")
        parsed = _matrix_of(text, names)
        if parsed is None:
            return _count(source, names, rows, watch, text)
    return _matrices(file, parsed[0], names, rows, classes=parsed[1])


def _matrix_of(text: TextFile, names: Names) -> Parsed | None:
    """The matrix in a text file, with its labels, if any."""
    if not text.header or set(names.labels).issubset(text.header):
        return None
    return _parse_matrix(text.first_rows(), text.rows, names, text.size)


def _in_order(counts: Array, labels: tuple[str, ...], order: tuple[str, ...]) -> tuple[Array, tuple[str, ...]]:
    """A crosstab with its classes in this order."""
    classes = complete_order(labels, order)
    matrix = np.zeros((len(classes), len(classes)), counts.dtype)
    places = [classes.index(label) for label in labels]
    matrix[np.ix_(places, places)] = counts
    return matrix, classes


def _parse_matrix(
    first_rows: Sequence[Row], rows: Callable[[], Iterable[Row]], names: Names, size: int
) -> Parsed | None:
    """The matrix and the labels in the rows of a file of ``size`` bytes; None if the rows are no matrix."""
    from matrics._files import crosstab

    (_, header), *start = first_rows
    if crosstab.is_crosstab(header, start):
        counts, labels = crosstab.read_crosstab(header, itertools.islice(rows(), 1, None), size, names.decimal)
        return (counts, labels) if names.order is None else _in_order(counts, labels, names.order)
    if set(names.labels).isdisjoint(header) and any(
        crosstab.is_number(with_point(cell, names.decimal)) for cell in header
    ):
        return crosstab.read_numbers(rows(), size, decimal=names.decimal), None
    return None


def _count(source: Input, names: Names, rows: str | None, watch: Watch, text: TextFile | None = None) -> MatrixSource:
    file = name_of(source.path)
    if rows is not None:
        raise ArgumentError("rows", f"expected a file of matrices, got {file}, which has columns of labels")
    rows_of_labels = open_labels([source], names, text)
    counted = count(rows_of_labels, watch, warns=False).renamed(names.positive)
    are_named = rows_of_labels.names.order is not None  # a user who lists all labels means each of them
    if not are_named:
        refuse_disjoint(file, *counted.sides, rows_of_labels.names.labels)
        refuse_disjoint(file, counted.sides[0], counted.foreign, rows_of_labels.names.labels)
    matrices = counted_source(file, counted)
    if matrices.apart:  # before the warning, as output with an error is a single line
        matrices.known(names.positive)
    if not (rows_of_labels.is_log or are_named):
        warn_of_odd_labels(file, *counted.sides)
    return matrices


def counted_source(file: str, counted: SortedCounts) -> MatrixSource:
    """Counts as a source of matrices: a matrix for each group, or a single matrix without groups."""
    cells, squares = counted.stack(counted.cells), None
    effective = None
    if counted.squares is not None:
        from matrics._uncertainty.weighted import kish

        squares = counted.stack(counted.squares)
        weights, of_squares = (np.add.reduceat(x, counted.starts) for x in (counted.cells, counted.squares))
        effective = kish(weights, of_squares, NUMPY)
    clusters = starts = None
    if counted.parts is not None:
        clusters, starts = counted.clusters, np.searchsorted(counted.parts, counted.starts)
    return MatrixSource(
        file,
        cells,
        tuple(Key(name, 0, values) for name, values in counted.groups.items()),
        tuple(map(str, counted.classes.to_pylist())),
        ordered=counted.ordered,
        apart=counted.apart,
        squares=squares,
        effective_samples=effective,
        clusters=clusters,
        starts=starts,
    )


def _matrices(
    file: str,
    stack: Array,
    names: Names,
    rows: str | None,
    *,
    arrays: Array | None = None,
    classes: tuple[str, ...] | None = None,
) -> MatrixSource:
    rest = (("clusters", names.clusters), ("counts", names.counts), ("weight", names.weight))
    renamed = tuple((name, getattr(names, name) != getattr(Names, name)) for name in ("true", "pred", "missing"))
    parsing = (("na", names.na), ("text_labels", names.text_labels), ("labels", classes is None and names.order))
    for option, is_set in (("by", names.by), *rest, *renamed, *parsing):
        if is_set:
            columns = " and ".join(names.labels)
            raise ArgumentError(option, f"expected a file with columns {columns}, got a file of matrices: {file}")
    if isinstance(stack, np.ndarray):
        as_stack(stack, name=file)
    if 0 in stack.shape:
        raise ValueError(f"{file}: expected at least one confusion matrix, got shape {stack.shape}")
    of_arrays = () if arrays is None else (Key("array", 0, arrays),)
    indexed = range(len(of_arrays), len(stack.shape) - 2)
    keys = (*of_arrays, *(Key(f"index_{axis - len(of_arrays)}", axis) for axis in indexed))
    names_of_classes = classes or tuple(map(str, range(stack.shape[-1])))
    ordered = True
    if classes is not None and names.order is None:
        from matrics._files.crosstab import has_order

        ordered = has_order(classes)
    named_classes = classes is not None
    return MatrixSource(file, stack, keys, names_of_classes, rows or "true", named=named_classes, ordered=ordered)
