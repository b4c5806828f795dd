"""Counts of a dask data frame of labels, group by group, without moving its rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import dask
import numpy as np

from matrics.arrays.sizes import one_or_more
from matrics.catalogue.classes import Sorted
from matrics.counting.codes import check_classes
from matrics.quoting import quoted
from matrics.tables.columns import check_columns, group_names, in_their_order, weights_of
from matrics.tables.counts import MOST_CELLS, FrameCounts, warn_of_odd_labels


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
    split_every: int | None = None,
) -> Any:
    """Count a dask data frame of labels into one confusion matrix per group, lazily.

    Every partition is counted where it is, into one row per group and pair of labels, and these small tables are
    merged in a tree: no row is shuffled, and columns that are not named are not read. How many groups and classes there
    are is known once all partitions are counted, so the result is a delayed object, not an array, which would need a
    shape now.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        One row per sample.
    y_true, y_pred : column name, default "y_true" and "y_pred"
        The columns of the true and the predicted labels: integers, text, booleans or times, also as categories.
    by : column name or sequence of them, optional
        The columns of the groups; one matrix for each combination of their values that is there, in order. That of
        categories which dask knows before it reads them is their own.
    num_classes : int, optional
        Number of classes, if labels are 0 to n - 1.
    labels : sequence of text, integers or other hashables, optional
        In place of ``num_classes``: the label of each class, in the order of rows and columns. If both are left out,
        the classes are the categories of both columns, where these are the same and known to dask; otherwise all labels
        in the two columns, sorted.
    sample_weight : column name, optional
        The column of the weights.
    ignore_index : label or sequence of labels, optional
        Samples with this true label, or one of these, are left out.
    split_every : int, optional
        How many tables are merged in one task; dask's default (8) if left out.

    Returns
    -------
    dask.delayed.Delayed
        Its ``compute()`` gives :class:`matrics.FrameCounts`, as :func:`matrics.count_frame` does; ``dask.compute``
        takes it together with other collections.

    Raises
    ------
    TypeError
        ``frame`` is no dask data frame, a column has floating labels, or both ``num_classes`` and ``labels`` are given.
    ValueError
        There is no such column, or one is named twice in ``by``. When the result is computed: a value is missing, a
        label is not one of ``labels``, a weight is negative, NaN or infinite, or there are too many classes and groups
        to hold their matrices.

    Examples
    --------
    >>> import dask.dataframe, pandas, matrics
    >>> from matrics.integrations.dask import count_frame
    >>> rows = pandas.DataFrame({
    ...     "y_true": ["cat", "dog", "dog", "cat"],
    ...     "y_pred": ["cat", "cat", "dog", "cat"],
    ...     "site": ["north", "north", "south", "south"],
    ... })
    >>> found = count_frame(dask.dataframe.from_pandas(rows, npartitions=2), by="site").compute()
    >>> found.labels
    ('cat', 'dog')
    >>> found.matrix
    array([[[1, 0],
            [1, 0]],
    <BLANKLINE>
           [[1, 0],
            [0, 1]]])
    >>> matrics.to_frame(found.score("accuracy"), axes=found.groups)
        site  accuracy
    0  north       0.5
    1  south       1.0
    """
    if not hasattr(frame, "map_partitions") or not hasattr(frame, "columns"):
        raise TypeError(
            f"frame: expected a dask data frame, got {type(frame).__module__}.{type(frame).__qualname__}; "
            "dask.dataframe.from_pandas(frame, npartitions=...) makes one"
        )
    known = None
    if num_classes is not None or labels is not None:
        classes = check_classes(num_classes, labels)
        known = tuple(range(classes.number)) if classes.labels is None else classes.labels
    groups = group_names(by)
    columns = {"true": y_true, "pred": y_pred, **{f"by {k}": name for k, name in enumerate(groups)}}
    columns |= {} if sample_weight is None else {"weight": sample_weight}
    check_columns(list(frame.columns), columns.values())
    types = {own: _known_categories(frame[name]) for own, name in columns.items()}
    orders = {None if types[own] is None else in_their_order(types[own]) for own in ("true", "pred")}
    if known is None and len(orders) == 1:
        known = orders.pop()
    ignored = one_or_more(ignore_index)
    counted = frame[list(dict.fromkeys(columns.values()))].reduction(
        _count_rows,
        aggregate=_merge,
        meta=_count_rows(frame._meta, columns, ignored),
        split_every=split_every,
        chunk_kwargs={"columns": columns, "ignored": ignored},
    )
    (table,) = counted.to_delayed()
    return dask.delayed(_matrices)(table, columns, known, types, pure=True)


def _known_categories(column: Any) -> Any:
    """The categorical type of a column, if dask knows the categories before it reads them; None otherwise."""
    return column.dtype if hasattr(column.dtype, "categories") and column.cat.known else None


def _count_rows(rows: Any, columns: dict[str, Any], ignored: tuple[Any, ...]) -> Any:
    """The counts of a partition in long form: one row per group and pair of labels, under names of our own."""
    import pandas as pd

    if ignored:
        rows = rows[~rows[columns["true"]].isin(ignored)]
    found = {own: _plain(rows[name], name, is_label=own in {"true", "pred"}) for own, name in columns.items()}
    weights = found.pop("weight", None)
    if weights is None:
        weights = np.ones(len(rows), np.int64)
    else:
        weights = _checked_weights(weights_of(columns["weight"], weights), columns["weight"])
    return _merge(pd.DataFrame({**found, "count": weights}, index=rows.index))


def _merge(counts: Any) -> Any:
    """The sums of the counts that belong to the same group and pair of labels."""
    keys = [name for name in counts.columns if name != "count"]
    return counts.groupby(keys, sort=False, observed=True, dropna=False)["count"].sum().reset_index()


def _plain(column: Any, name: Any, *, is_label: bool) -> Any:
    """A column of values without categories and missing values."""
    missing = column.isna()
    if missing.any():
        raise ValueError(
            f"column {quoted(name)}: expected a value in every row, got {int(missing.sum())} missing, the first at the "
            f"index {quoted(missing.idxmax())}"
        )
    if hasattr(column.dtype, "categories"):
        column = column.astype(column.dtype.categories.dtype)
    if is_label:
        if getattr(column.dtype, "kind", "O") not in "iubOUTmM":
            raise TypeError(f"column {quoted(name)}: expected labels, integers or text, got {column.dtype}")
        if column.dtype.kind in "iu":  # also those that could be missing
            column = column.astype(np.int64 if column.dtype.kind == "i" else np.uint64)
    return column


def _checked_weights(weights: Any, name: Any) -> Any:
    weights = weights.astype(np.float64)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ValueError(
            f"column {quoted(name)}: expected finite weights of at least 0, got {weights[wrong.argmax()]} "
            f"({np.count_nonzero(wrong)} of {wrong.size} are wrong)"
        )
    return weights


def _matrices(
    counts: Any, columns: dict[str, Any], known: tuple[Hashable, ...] | None, types: dict[str, Any]
) -> FrameCounts:
    """The matrices of all groups, from counts in long form."""
    import pandas as pd

    classes = known or _sorted_labels(counts, columns)
    if known is None:
        warn_of_odd_labels(*(counts[which].unique().tolist() for which in ("true", "pred")))
    n = len(classes)
    codes = {which: _codes(counts[which], classes, columns[which]) for which in ("true", "pred")}
    groups = [name for name in counts.columns if name not in {"true", "pred", "count"}]
    counts = counts.astype({name: types[name] for name in groups if types[name] is not None})  # and so in their order
    numbers = np.zeros(len(counts), np.int64)
    named = pd.DataFrame(index=range(1))
    if groups:
        numbers = counts.groupby(groups, sort=True, observed=True).ngroup().to_numpy()
        named = counts[groups].iloc[np.unique(numbers, return_index=True)[1]].reset_index(drop=True)
        named.columns = [columns[name] for name in groups]
    if len(named) * n * n > MOST_CELLS:
        raise ValueError(
            f"frame: expected labels of few classes, got {n:,} classes in {len(named):,} groups: too many to count"
        )
    matrix = np.zeros((len(named), n, n), counts["count"].dtype)
    matrix[numbers, codes["true"], codes["pred"]] = counts["count"]
    return FrameCounts(matrix if groups else matrix[0], {name: named[name] for name in named.columns}, classes)


def _sorted_labels(counts: Any, columns: dict[str, Any]) -> tuple[Hashable, ...]:
    """All labels of the two columns in order."""
    found = {label for which in ("true", "pred") for label in counts[which].tolist()}
    if not found:
        raise ValueError(
            f"frame: expected at least one row of labels, got none: pass labels= or num_classes= to count "
            f"{quoted(columns['true'])} and {quoted(columns['pred'])} all the same"
        )
    try:
        return Sorted.of(found)
    except TypeError as error:
        raise ValueError(
            f"expected {quoted(columns['true'])} and {quoted(columns['pred'])} to hold labels of one type, got "
            "labels that cannot be sorted: pass labels= in the order of the classes"
        ) from error


def _codes(column: Any, classes: tuple[Hashable, ...], name: Any) -> Any:
    """The number of the class of each label."""
    numbers = {label: number for number, label in enumerate(classes)}
    found = np.fromiter((numbers.get(label, -1) for label in column.tolist()), np.int64, len(column))
    if (found < 0).any():
        unknown = column.tolist()[int((found < 0).argmax())]
        shown = ", ".join(map(repr, classes[:8])) + (", …" if len(classes) > 8 else "")
        raise ValueError(f"column {quoted(name)}: expected one of the labels {shown}, got {quoted(unknown)}")
    return found
