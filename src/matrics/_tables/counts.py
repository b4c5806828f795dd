"""count(): a confusion matrix for each group of a data frame of labels."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._arrays.sizes import most_cells, one_or_more
from matrics._counting.build import confusion_matrix
from matrics._engine.evaluation import frames_to_the_user
from matrics._quoting import quoted
from matrics._tables.any_table import names_of_columns
from matrics._tables.columns import (
    Coded,
    Where,
    at_position,
    class_codes,
    coded,
    combined,
    common_order,
    given_labels,
    sorted_labels,
    taken,
)
from matrics._tables.frame_counts import FrameCounts
from matrics._tables.rows import Numbers, Rows
from matrics._tables.vocabularies import foreign_predictions, odd_labels, refuse_disjoint


def count(
    frame: Any,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable = "y_pred",
    by: Hashable | Iterable[Hashable] = (),
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: Hashable | None = None,
    squared_weights: Hashable | None = None,
    counts: Hashable | None = None,
    ignore_index: Any = None,
) -> FrameCounts:
    """Count a data frame of labels into a confusion matrix for each group of rows.

    Parameters
    ----------
    frame : data frame or other table
        One sample in each row: a data frame of pandas or Polars; or, if pyarrow is installed, a table of pyarrow, a
        mapping of names to columns, or an object with ``__arrow_c_stream__``. A relation of DuckDB and a table of Ibis
        are grouped in their database, and only the combinations that occur are read.
    y_true, y_pred : column name, default "y_true" and "y_pred"
        The columns of true and of predicted labels: integers, booleans, text, categories or times.
    by : column name or sequence of them, default ()
        The columns whose values define the groups: a matrix for each combination that occurs, sorted by the first
        column, then by the second. Without it, there is a single matrix.
    num_classes : int, optional
        Number of classes, if labels are 0 to n - 1.
    labels : sequence, optional
        The label of each class, in order, in place of ``num_classes``. If both are left out, the categories of both
        columns if these have the same categorical type (also categories that do not occur); otherwise all labels that
        occur, sorted. A warning lists labels that occur in a single column only, and labels that differ only in case,
        blanks or the notation of a number.
    sample_weight : column name, optional
        The column of the weights of samples. Intervals use their squares, which are counted as well.
    squared_weights : column name, optional
        If a row stands for several samples, and ``sample_weight`` is the sum of their weights: the column of the sums
        of the squared weights, as from :func:`matrics.frames.count_sql`.
    counts : column name, optional
        If a row stands for several samples: the column of the number of samples of each row, as from
        :func:`matrics.frames.count_sql`.
    ignore_index : label or sequence of labels, optional
        Samples with this true label, or any of these, are left out.

    Returns
    -------
    FrameCounts
        The stack of matrices, the values of the groups, and the labels of the classes; its methods ``score`` and
        ``interval`` use the labels as class names.

    Raises
    ------
    ImportError
        The table needs pyarrow, which is not installed.
    TypeError
        ``frame`` is not a table, a column has values of another kind, or both ``num_classes`` and ``labels`` are given,
        or both ``counts`` and ``sample_weight``, or ``squared_weights`` alone.
    ValueError
        A column does not exist, or several columns have its name; a value is missing (None, NaN or empty text); a
        label is not among ``labels``; without ``labels`` the columns have no label in common (except that 0 and 1,
        false and true, or fail and pass may be in a single column each); a weight is negative or infinite; or there are
        too many classes and groups to count.

    Examples
    --------
    >>> import matrics
    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "site": ["north", "north", "south", "south"],
    ...     "y_true": ["cat", "dog", "cat", "dog"],
    ...     "y_pred": ["cat", "dog", "cat", "cat"],
    ... })
    >>> counts = matrics.frames.count(frame, by="site")
    >>> counts.matrix.tolist()
    [[[1, 0], [0, 1]], [[1, 0], [1, 0]]]
    >>> matrics.to_frame(counts.score("accuracy, recall:class"), axes=counts.groups)
        site  accuracy  recall of cat  recall of dog
    0  north       1.0            1.0            1.0
    1  south       0.5            1.0            0.0
    """
    if (counts is not None and sample_weight is not None) or (squared_weights is not None and sample_weight is None):
        arguments = {"counts": counts, "sample_weight": sample_weight, "squared_weights": squared_weights}
        got = ", ".join(f"{name}={quoted(column)}" for name, column in arguments.items() if column is not None)
        raise TypeError(f"expected either counts=, or sample_weight= with or without squared_weights=, got {got}")
    names = names_of_columns(by)
    classes = given_labels(num_classes, labels)
    keys = list(dict.fromkeys([y_true, y_pred, *names]))
    rows = Rows.of(frame, keys, Numbers(counts, sample_weight, squared_weights))
    rows = rows.without(y_true, one_or_more(ignore_index))
    columns = {name: coded(name, rows.columns[name], rows.where) for name in keys}
    true_and_pred = [(name, columns[name]) for name in (y_true, y_pred)]
    by_group = {name: columns[name] for name in names}
    return count_codes(true_and_pred, by_group, classes=classes, where=rows.where, **rows.numbers())


def count_codes(
    labels: Sequence[tuple[Any, Coded]],
    groups: Mapping[Any, Coded],
    *,
    classes: tuple[Hashable, ...] | None,
    weights: Array | None = None,
    squares: Array | None = None,
    counts: Array | None = None,
    where: Where = at_position,
) -> FrameCounts:
    """Count columns of codes into a matrix for each group.

    Parameters
    ----------
    labels : sequence of two pairs
        The names and the codes of the true and of the predicted labels.
    groups : mapping of names to Coded
        The columns of the groups.
    classes : tuple or None
        The labels of the classes; None for the labels that occur.
    weights : array, shape (rows,), or None
        The weight of each row.
    squares : array, shape (rows,), or None
        The squared weight of each row; None for the squares of ``weights``.
    counts : array of int, shape (rows,), or None
        The number of samples of each row.
    where : function of an int, optional
        The name of the row at a position, for messages.
    """
    are_given, has_warning = True, classes is None
    if classes is None:
        true_labels, pred_labels = (column.listed() for _, column in labels)
        classes = common_order((column.categories, column.listed()) for _, column in labels)
        if not classes:
            classes = sorted_labels(labels, ": pass labels=[...]")
            refuse_disjoint(true_labels, pred_labels, names=[name for name, _ in labels])
            are_given = False
    true, pred = (class_codes(name, column, classes, where) for name, column in labels)
    group_of_row, places = combined(list(groups.values()), len(true))
    named = {name: taken(column.values, codes) for (name, column), codes in zip(groups.items(), places, strict=True)}
    if not are_given:
        foreign = foreign_predictions(true, pred, group_of_row)
        names = [name for name, _ in labels]
        refuse_disjoint([classes[k] for k in np.unique(true)], [classes[k] for k in foreign], names=names)
    if has_warning:
        warn_of_odd_labels(true_labels, pred_labels)
    number = len(places[0]) if places else 1
    n = len(classes)
    if number * n * n > most_cells():
        raise ValueError(
            f"frame: expected labels of few classes, got {n:,} classes in {number:,} groups, which need too much memory"
        )
    of_groups: dict[str, Any] = {"groups": group_of_row, "num_groups": number} if groups and number else {}

    def count(weights: Array | None) -> Array:
        matrix = confusion_matrix(true, pred, num_classes=n, sample_weight=weights, **of_groups)
        return matrix if number else matrix[None][:0]  # without rows there are no groups

    if counts is not None:
        matrix = np.zeros((number, n, n), np.int64)
        np.add.at(matrix, (group_of_row, true, pred), counts)  # sums of floating numbers would not be exact
        return FrameCounts(matrix if groups else matrix[0], named, classes)
    if squares is None and weights is not None:
        squares = np.square(weights, dtype=np.float64)
    return FrameCounts(count(weights), named, classes, None if squares is None else count(squares))


def warn_of_odd_labels(
    true_labels: Iterable[Hashable],
    pred_labels: Iterable[Hashable],
    advice: str = "; pass the classes in their order as labels=",
) -> None:
    """Warn of labels that are probably mistakes; the advice ends the message."""
    odd = odd_labels(true_labels, pred_labels)
    if odd:
        warnings.warn(
            f"{odd}{advice}",
            UserWarning,
            stacklevel=frames_to_the_user(),
        )
