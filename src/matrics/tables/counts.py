"""count_frame(): from a data frame of labels to one confusion matrix for each group."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import Array
from matrics.arrays.sizes import MOST_CELLS, one_or_more
from matrics.catalogue.classes import Sorted
from matrics.catalogue.record import Metric
from matrics.counting.build import confusion_matrix
from matrics.engine.evaluation import Invalid, frames_to_the_user
from matrics.quoting import quoted
from matrics.scoring.score import score
from matrics.tables.any_table import names_of_columns, open_table
from matrics.tables.axes import axis_columns
from matrics.tables.class_codes import class_codes, given_labels, sorted_labels
from matrics.tables.columns import Coded, Where, at_position, coded, combined, filtered, listed, taken, weights_of
from matrics.tables.odd_labels import odd_labels
from matrics.tables.table import Library, imported
from matrics.typing import NumPyArray
from matrics.uncertainty.interval import interval
from matrics.uncertainty.options import Method
from matrics.uncertainty.results import Interval

MOST_NAMED = 10


class FrameCounts(NamedTuple):
    """The matrices of a data frame of labels, as from :func:`matrics.count_frame`.

    Parameters
    ----------
    matrix : array, shape (G, n, n), or (n, n) without groups
        A confusion matrix for each group; integers, or floating numbers if weighted.
    groups : dict of str to column
        For each column of the groups the value of every group, the ``axes`` of :func:`matrics.to_frame`: a Series of
        pandas or Polars, or for any other table an array of pyarrow.
    labels : tuple, length n
        The label of each class.
    squared_weights : array, shape of the matrix, or None
        With weights, the matrices of their squares: what :func:`matrics.interval` and :func:`matrics.compare` need to
        know how sure the others are.
    """

    matrix: NumPyArray
    groups: dict[str, Any]
    labels: tuple[Hashable, ...]
    squared_weights: NumPyArray | None = None

    @property
    def class_names(self) -> tuple[str, ...]:
        """The labels as text: the ``class_names`` of :func:`matrics.score` and :func:`matrics.to_frame`.

        Texts that were found in the columns, and put in alphabetical order, are not an order of classes, and no measure
        takes the last one for the positive class: ``positive=`` says which it is.
        """
        names = tuple(str(label) for label in self.labels)
        return Sorted(names) if isinstance(self.labels, Sorted) else names

    def score(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
        positive: Hashable = None,
    ) -> dict[str, Any]:
        """Many measures of the matrix of every group, as from :func:`matrics.score`, with the labels as class names.

        Parameters
        ----------
        metrics : str, Metric, or several of them
            As in :func:`matrics.score`.
        zero_division, invalid, workers
            As in :func:`matrics.score`.
        positive : label, optional
            The positive class. Of two texts, whose order neither the data frame nor ``labels=`` has given, it has to be
            said for ``:binary`` and for sensitivity, specificity, PPV, NPV, likelihood ratios and the diagnostic odds
            ratio.

        Returns
        -------
        dict of str to array
            Keyed by metric, as given; with the label where there is one value a class: ``recall/fraud``.

        Raises
        ------
        ValueError, TypeError
            As in :func:`matrics.score`.

        Examples
        --------
        >>> import matrics
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"y_true": ["ok", "fraud", "ok", "fraud"], "y_pred": ["ok", "fraud", "ok", "ok"]})
        >>> counts = matrics.count_frame(frame)
        >>> scores = counts.score("sensitivity, specificity, precision", positive="fraud")
        >>> matrics.to_frame(scores)
           sensitivity of fraud  specificity of fraud  precision of fraud
        0                   0.5                   1.0                 1.0
        """
        options: Any = {"zero_division": zero_division, "invalid": invalid, "workers": workers}
        return score(self.matrix, metrics, class_names=self.class_names, positive=positive, **options)

    def interval(
        self,
        metrics: str | Metric | Iterable[str | Metric] = "core",
        *,
        level: float = 0.95,
        method: Method = "auto",
        zero_division: float = math.nan,
        invalid: Invalid = "warn",
        workers: int = 1,
        positive: Hashable = None,
    ) -> dict[str, Interval]:
        """Confidence intervals of the matrix of every group, as from :func:`matrics.interval`, with labels and weights.

        Parameters
        ----------
        metrics : str, Metric, or several of them
            As in :func:`matrics.score`.
        level, method, zero_division, invalid, workers
            As in :func:`matrics.interval`, which has more options.
        positive : label, optional
            As in :meth:`score`.

        Returns
        -------
        dict of str to Interval
            Keyed by metric, as given; with the label where there is one interval a class: ``recall/fraud``.

        Raises
        ------
        ValueError, TypeError
            As in :func:`matrics.interval`.

        Examples
        --------
        >>> import matrics
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"y_true": [0, 1] * 300, "y_pred": [0, 1, 0, 1, 1, 0] * 100, "w": [1.0, 2.5] * 300})
        >>> one = matrics.count_frame(frame, sample_weight="w").interval("accuracy")["accuracy"]
        >>> print(f"{one.estimate:.3f}, between {one.low:.3f} and {one.high:.3f}")
        0.667, between 0.625 and 0.706
        """
        options: Any = {"level": level, "method": method, "zero_division": zero_division, "invalid": invalid}
        return interval(
            self.matrix,
            metrics,
            squared_weights=self.squared_weights,
            class_names=self.class_names,
            positive=positive,
            workers=workers,
            **options,
        )

    def to_frame(self, *, library: Library = "pandas") -> Any:
        """The counts in long form: one row for each group, true label and predicted label, also where it is 0.

        Parameters
        ----------
        library : {"pandas", "polars"}
            Which library the data frame is of.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            The columns of the groups, then ``true``, ``pred`` and ``count``.

        Raises
        ------
        ImportError
            The library is not installed.
        ValueError
            A column of the groups has one of these three names.
        """
        frames = imported(library)
        n = len(self.labels)
        stack = np.reshape(self.matrix, (-1, n, n))
        found = axis_columns(self.groups, (len(stack),), library, times=n * n) if self.groups else {}
        own = {
            "true": [label for label in self.labels for _ in self.labels] * len(stack),
            "pred": [*self.labels] * (n * len(stack)),
            "count": stack.ravel(),
        }
        both = sorted(set(found) & set(own))
        if both:
            raise ValueError(f"by: expected other columns than true, pred and count, got {quoted(both[0])}")
        return frames.DataFrame({**found, **own})

    def to_dict(self) -> dict[str, Any]:
        """The matrices, the groups and the labels as lists, numbers and texts, for JSON."""
        plain = (bool, int, float, str)
        return {
            "matrix": self.matrix.tolist(),
            "groups": {
                str(name): [value if isinstance(value, plain) else str(value) for value in listed(column)]
                for name, column in self.groups.items()
            },
            "labels": [label if isinstance(label, plain) else str(label) for label in self.labels],
            "squared_weights": None if self.squared_weights is None else self.squared_weights.tolist(),
        }

    def __repr__(self) -> str:
        """The number of matrices and their classes; a table of all of them may have thousands of numbers."""
        by = f", by={list(self.groups)}" if self.groups else ""
        more = f" and {len(self.labels) - MOST_NAMED} more" if len(self.labels) > MOST_NAMED else ""
        named = ", ".join(map(repr, self.labels[:MOST_NAMED]))
        return f"FrameCounts(matrix of shape {self.matrix.shape}{by}, labels={named}{more})"


def count_frame(
    frame: Any,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable = "y_pred",
    by: Hashable | Iterable[Hashable] = (),
    num_classes: int | None = None,
    labels: Iterable[Hashable] | None = None,
    sample_weight: Hashable | None = None,
    ignore_index: Any = None,
) -> FrameCounts:
    """Count a data frame of labels, one sample a row, into one confusion matrix for each group.

    Parameters
    ----------
    frame : data frame or other table
        One sample a row: a data frame of pandas or Polars; or, where pyarrow is installed, a table of pyarrow, a
        mapping of names to columns, or an object with ``__arrow_c_stream__``, such as a relation of DuckDB.
    y_true, y_pred : column name, default "y_true" and "y_pred"
        The columns of true and of predicted labels: integers, booleans, text, categories or times.
    by : column name or sequence of them, optional
        The columns whose values make the groups: one matrix for each combination that occurs, sorted by the first
        column, then by the second. Without it there is one matrix.
    num_classes : int, optional
        Number of classes, if labels are 0 to n - 1.
    labels : sequence, optional
        In place of ``num_classes``: the label of each class, in the order of rows and columns. If both are left out,
        the categories of both columns where these are the same categorical type (with categories that do not occur);
        otherwise all labels that occur in one of the columns, sorted. There is a warning if some occur in one of the
        columns alone, or differ only in case, blanks or the way a number is written.
    sample_weight : column name, optional
        The column of the weights of samples. Their squares are counted as well, for intervals.
    ignore_index : label or sequence of labels, optional
        Samples with this true label, or one of these, are left out.

    Returns
    -------
    FrameCounts
        The stack of matrices, the values of the groups, and the labels of the classes; its methods ``score`` and
        ``interval`` name the classes by these.

    Raises
    ------
    ImportError
        The table is of neither pandas nor Polars, and pyarrow is not installed.
    TypeError
        ``frame`` is no table, a column has values of another kind, or both ``num_classes`` and ``labels`` are given.
    ValueError
        A column does not exist, or there are several of that name; a value is missing (None, NaN or empty text); a
        label is not among ``labels``; a weight is negative or infinite; or there are too many classes and groups to
        count.

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
    >>> matrics.to_frame(counts.score("accuracy, recall:class"), axes=counts.groups)
        site  accuracy  recall of cat  recall of dog
    0  north       1.0            1.0            1.0
    1  south       0.5            1.0            0.0
    """
    names = names_of_columns(by)
    wanted = [y_true, y_pred, *names, *(() if sample_weight is None else (sample_weight,))]
    table = open_table("frame", frame, wanted)
    classes = given_labels(num_classes, labels)
    columns, where = _without(table.columns(wanted), y_true, one_or_more(ignore_index))
    weights = None if sample_weight is None else weights_of(sample_weight, columns[sample_weight], where=where)
    found = {name: coded(name, columns[name], where) for name in dict.fromkeys((y_true, y_pred, *names))}
    true_and_pred = [(name, found[name]) for name in (y_true, y_pred)]
    by_group = {name: found[name] for name in names}
    return count_codes(true_and_pred, by_group, classes=classes, weights=weights, where=where)


def _without(columns: dict[Any, Any], name: Hashable, ignored: Sequence[Hashable]) -> tuple[dict[Any, Any], Where]:
    """The rows with other true labels, and the names of these rows in messages."""
    if not ignored:
        return columns, at_position
    column = coded(name, columns[name])
    kept = np.asarray([label not in ignored for label in column.listed()], bool)[column.codes]
    rows = np.flatnonzero(kept)
    return {name: filtered(column, kept) for name, column in columns.items()}, lambda row: at_position(rows[row])


def count_codes(
    labels: Sequence[tuple[Any, Coded]],
    groups: Mapping[Any, Coded],
    *,
    classes: tuple[Hashable, ...] | None,
    weights: Array | None,
    where: Where = at_position,
) -> FrameCounts:
    """Count columns that are codes into one matrix for each group.

    Parameters
    ----------
    labels : sequence of two pairs
        The name and the codes of the true labels, and those of the predicted ones.
    groups : mapping of names to Coded
        The columns of the groups.
    classes : tuple or None
        The labels of the classes; those of the columns if None.
    weights : array, shape (rows,), or None
        The weight of each row.
    where : function of an int, optional
        What messages call the row at a position.
    """
    if classes is None:
        classes = _classes(labels)
        warn_of_odd_labels(*(column.listed() for _, column in labels))
    true, pred = (class_codes(name, column, classes, where) for name, column in labels)
    group_of_row, places = combined(list(groups.values()), len(true))
    named = {name: taken(column.values, codes) for (name, column), codes in zip(groups.items(), places, strict=True)}
    number = len(places[0]) if places else 1
    n = len(classes)
    if number * n * n > MOST_CELLS:
        raise ValueError(
            f"frame: expected labels of few classes, got {n:,} classes in {number:,} groups: too many to count"
        )
    of_groups: dict[str, Any] = {"groups": group_of_row, "num_groups": number} if groups and number else {}

    def count(weights: Array | None) -> Array:
        matrix = confusion_matrix(true, pred, num_classes=n, sample_weight=weights, **of_groups)
        return matrix if number else matrix[None][:0]  # no rows, and so no groups

    squares = None if weights is None else count(np.square(weights, dtype=np.float64))
    return FrameCounts(count(weights), named, classes, squares)


def warn_of_odd_labels(true_labels: Iterable[Hashable], pred_labels: Iterable[Hashable]) -> None:
    """Warn of labels that are probably mistakes; ``labels=`` avoids the warning."""
    odd = odd_labels(true_labels, pred_labels)
    if odd:
        warnings.warn(
            f"{odd}; pass the classes in their order as labels=",
            UserWarning,
            stacklevel=frames_to_the_user(),
        )


def _classes(columns: Sequence[tuple[Any, Coded]]) -> tuple[Hashable, ...]:
    """The labels of both columns: their categories if these are the same, otherwise those that occur, sorted."""
    categories = {column.categories for _, column in columns}
    if len(categories) == 1 and any(categories):  # neither None nor without categories
        return categories.pop() or ()
    return sorted_labels(columns, ": pass labels=[...]")
