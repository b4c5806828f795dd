"""A matrix in a text file: only numbers, or a crosstab with labels in the first row and the first column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from matrics._catalogue.classes import Sorted
from matrics._files.compression import refuse_much
from matrics._files.text import with_point
from matrics._quoting import cut, first_twice, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matrics._files.text import Row

Array = Any

CELL_BYTES = 8  # the copies of a number take as much memory as the objects of a text of this length


def read_numbers(rows: Iterable[Row], size: int, skip: int = 0, decimal: str = ".") -> Array:
    """Read the numbers of all rows of a file of this size, without the first ``skip`` columns."""
    numbers: list[Array] = []
    for line, row in rows:
        refuse_much(CELL_BYTES * (len(row) - skip) * (len(numbers) + 1), size)
        cells = row[skip:] if decimal == "." else [with_point(cell, decimal) for cell in row[skip:]]
        for column, cell in enumerate(cells, skip):
            if not is_number(cell):
                given = row[column]
                hint = _HINT if decimal == "." and re.fullmatch(_WITH_COMMA, given) else ""
                raise ValueError(f"line {line}, column {column + 1}: expected a number, got {quoted(given)}{hint}")
        numbers.append(np.array([float(cell) for cell in cells]))
    return np.array(numbers)


def is_number(cell: str) -> bool:
    """Whether a cell is a number; Python would read 1_0 as 10."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


# A number with a decimal comma, or with a separator that is not that of the file, because commas split the numbers.
_WITH_COMMA = r"[\s0-9]*[,;\t ][\s0-9,;]*"
_HINT = "; decimal= reads a comma as the point of a number"


def is_crosstab(header: Sequence[str], rows: Iterable[Row]) -> bool:
    """Whether the first column and the first row have labels in common, and the corner is a name or empty.

    A corner that begins like a number is probably a mistyped number of a matrix.
    """
    named = len(header) > 2 and not re.match(r"\s*[-+.,]?[0-9]", header[0])
    return named and not set(header[1:]).isdisjoint(row[0] for _, row in rows)


def read_crosstab(
    header: Sequence[str], rows: Iterable[Row], size: int, decimal: str = "."
) -> tuple[Array, tuple[str, ...]]:
    """The counts of a crosstab, with the columns in the order of the rows, and the labels in this order."""
    true: list[str] = []
    pred = list(header[1:])

    def labelled_rows() -> Iterator[Row]:
        for line, row in rows:
            true.append(row[0])
            yield line, row

    numbers = read_numbers(labelled_rows(), size, skip=1, decimal=decimal)
    for where, labels in (("row", true), ("column", pred)):
        if len(set(labels)) < len(labels):
            raise ValueError(f"expected one {where} for each label, got several for {quoted(first_twice(labels))}")
    rows_of, columns_of = set(true), {label: k for k, label in enumerate(pred)}
    missing = [f"no row {quoted(label)}" for label in pred if label not in rows_of]
    missing += [f"no column {quoted(label)}" for label in true if label not in columns_of]
    if missing:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ValueError(
            f"expected the same labels in the rows and in the columns, got {cut(', '.join(missing[:5]))}{more}"
        )
    counts = numbers[:, [columns_of[label] for label in true]]
    indices = np.nonzero(counts)
    refuse_totals(indices[0], indices[1], counts[indices], true)
    return counts, tuple(true)


def refuse_totals(true: Array, pred: Array, counts: Array, labels: Sequence[Any]) -> None:
    """Raise if a class has the sums of all other classes, as the totals of a table have, whatever its label.

    ``true`` and ``pred`` are the classes of the cells that are not 0, and ``counts`` their counts.
    """
    n, whole = len(labels), counts.sum(dtype=np.float64)
    if n < 3 or not np.isfinite(whole):
        return
    rows, columns = (np.bincount(side, counts, n) for side in (true, pred))
    for k in np.flatnonzero(np.isclose(2 * rows, whole) & np.isclose(2 * columns, whole)).tolist():
        inner = (true != k) & (pred != k)
        for side, other in ((true, pred), (pred, true)):
            sums = np.bincount(other[inner], counts[inner], n)
            sums[k] = counts[inner].sum()
            if not sums[k] or not np.allclose(np.bincount(other[side == k], counts[side == k], n), sums):
                break
        else:
            raise ValueError(
                f"expected only counts, got a row and a column {quoted(labels[k])} with the sums of the others: leave "
                "these totals out"
            )


def has_order(labels: Sequence[str]) -> bool:
    """Whether the order of the rows has a meaning; the alphabetical order of texts, as of pandas.crosstab, has none."""
    if all(re.fullmatch("-?[0-9]+", label) for label in labels):
        return True
    return not isinstance(Sorted.of(labels), Sorted) or tuple(labels) != tuple(sorted(labels))
