"""count_frame(): from a data frame of labels to one confusion matrix for each group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._backend import Array
from matrics.build import confusion_matrix
from matrics.coding import check_classes
from matrics.frame.columns import Coded, check_frame, coded, group_names, numbered, taken, weights_of
from matrics.typing import NumPyArray

MOST_CELLS = 2**30  # 8 GiB of counts: with more, the labels are probably not classes but numbers of samples


class FrameCounts(NamedTuple):
    """The matrices of a data frame of labels, as from :func:`matrics.count_frame`.

    Parameters
    ----------
    matrix : array, shape (G, n, n), or (n, n) without groups
        A confusion matrix for each group; integers, or floating numbers if weighted.
    groups : dict of str to Series
        For each column of the groups the value of every group; the ``axes`` of :func:`matrics.to_frame`.
    labels : tuple, length n
        The label of each class.
    """

    matrix: NumPyArray
    groups: dict[str, Any]
    labels: tuple[Hashable, ...]

    @property
    def class_names(self) -> list[str]:
        """The labels as text: the ``class_names`` of :func:`matrics.to_frame`."""
        return [str(label) for label in self.labels]


def count_frame(
    frame: Any,
    *,
    true: Hashable = "y_true",
    pred: Hashable = "y_pred",
    by: Hashable | Iterable[Hashable] = (),
    labels: Iterable[Hashable] | None = None,
    sample_weight: Hashable | None = None,
) -> FrameCounts:
    """Count a data frame of labels, one sample a row, into one confusion matrix for each group.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        One sample a row. pyarrow is not needed.
    true, pred : column name, default "y_true" and "y_pred"
        The columns of true and of predicted labels: integers, booleans, text, categories or times.
    by : column name or sequence of them, optional
        The columns whose values make the groups: one matrix for each combination that occurs, sorted by the first
        column, then by the second. Without it there is one matrix.
    labels : sequence, optional
        The label of each class, in the order of rows and columns. If left out, the categories of both columns where
        these are the same categorical type (with categories that do not occur); otherwise all labels that occur in one
        of the columns, sorted.
    sample_weight : column name, optional
        The column of the weights of samples.

    Returns
    -------
    FrameCounts
        The stack of matrices, the values of the groups, and the labels of the classes.

    Raises
    ------
    TypeError
        ``frame`` is no data frame, or a column has values of another kind.
    ValueError
        A column does not exist, or there are several of that name; a value is missing; a label is not among
        ``labels``; a weight is negative or infinite; or there are too many classes and groups to count.

    Examples
    --------
    >>> import matrics
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "site": ["north", "north", "south", "south"],
    ...     "y_true": ["cat", "dog", "cat", "dog"],
    ...     "y_pred": ["cat", "dog", "cat", "cat"],
    ... })
    >>> counts = matrics.count_frame(frame, by="site")
    >>> counts.matrix.tolist()
    [[[1, 0], [0, 1]], [[1, 0], [1, 0]]]
    >>> scores = matrics.score(counts.matrix, "accuracy, recall:class")
    >>> matrics.to_frame(scores, axes=counts.groups, class_names=counts.class_names)
        site  accuracy  recall/cat  recall/dog
    0  north       1.0         1.0         1.0
    1  south       0.5         1.0         0.0
    """
    names = group_names(by)
    check_frame(frame, [true, pred, *names, *(() if sample_weight is None else (sample_weight,))])
    found = [coded(name, frame[name]) for name in (true, pred)]
    classes = _classes(found, (true, pred)) if labels is None else check_classes(None, labels).labels or ()
    y_true, y_pred = (_numbers(name, one, classes) for name, one in zip((true, pred), found, strict=True))
    group_of_row, groups, number = _groups(frame, names)
    n = len(classes)
    if number * n * n > MOST_CELLS:
        raise ValueError(
            f"frame: expected labels of few classes, got {n:,} classes in {number:,} groups: too many to count"
        )
    weights = None if sample_weight is None else weights_of(sample_weight, frame[sample_weight])
    options: dict[str, Any] = {"num_classes": n, "sample_weight": weights}
    if not number:  # no rows, and so no groups
        matrix = confusion_matrix(y_true, y_pred, **options)[None][:0]
    elif names:
        matrix = confusion_matrix(y_true, y_pred, groups=group_of_row, num_groups=number, **options)
    else:
        matrix = confusion_matrix(y_true, y_pred, **options)
    return FrameCounts(matrix, groups, classes)


def _classes(columns: Sequence[Coded], names: tuple[Hashable, Hashable]) -> tuple[Hashable, ...]:
    """The labels of both columns: their categories if these are the same, otherwise those that occur, sorted."""
    categories = {column.categories for column in columns}
    if len(categories) == 1 and any(categories):  # neither None nor without categories
        return categories.pop() or ()
    labels = {label for column in columns for label in column.listed()}
    floating = [label for label in labels if isinstance(label, float)]
    if floating:
        raise TypeError(
            f"columns {names[0]!r} and {names[1]!r}: expected labels, integers or text, got floating numbers such as "
            f"{floating[0]!r}: convert them to integers first"
        )
    if not labels:
        raise ValueError("frame: expected at least one row, or labels=, got none")
    try:
        return tuple(sorted(labels))
    except TypeError as error:
        raise TypeError(
            f"columns {names[0]!r} and {names[1]!r}: expected labels that have an order, got {error}: pass labels=[...]"
        ) from error


def _numbers(name: Hashable, column: Coded, classes: Sequence[Hashable]) -> Array:
    """The number of the class of each row; unknown labels raise an error."""
    places = {label: place for place, label in enumerate(classes)}
    values = column.listed()
    numbers = np.asarray([places.get(value, -1) for value in values], np.int64)
    unknown = np.flatnonzero(numbers < 0)
    if unknown.size:
        samples = np.isin(column.codes, unknown)
        known = ", ".join(map(repr, classes[:8])) + (", …" if len(classes) > 8 else "")
        first = int(samples.argmax())
        raise ValueError(
            f"column {name!r}: expected one of the labels {known}, got {values[column.codes[first]]!r} at position "
            f"{first} ({np.count_nonzero(samples):,} of {samples.size:,} are unknown)"
        )
    return numbers[column.codes]


def _groups(frame: Any, by: Sequence[Hashable]) -> tuple[Array, dict[Any, Any], int]:
    """The group of every row, for each column the value of every group, and the number of groups."""
    rows = np.zeros(len(frame), np.int64)
    places: dict[Any, tuple[Any, Array]] = {}
    number = 1
    for name in by:
        column = coded(name, frame[name])
        size = len(column.values)
        # Numbered anew after each column, so that the numbers stay below that of the rows.
        found, rows = numbered(rows * size + column.codes, number * size)
        before, here = np.divmod(found, max(size, 1))
        places = {known: (values, codes[before]) for known, (values, codes) in places.items()}
        places[name] = column.values, here
        number = len(found)
    return rows, {name: taken(values, codes) for name, (values, codes) in places.items()}, number
