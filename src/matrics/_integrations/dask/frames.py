"""Confusion matrices of the groups of a dask data frame of labels; no row is moved between workers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import dask
import numpy as np

from matrics._arrays.sizes import one_or_more
from matrics._quoting import quoted
from matrics._tables.any_table import check_columns, names_of_columns
from matrics._tables.columns import class_codes, coded, combined, given_labels, in_their_order, taken, weights_of
from matrics._tables.counts import count_codes
from matrics._tables.frame_counts import FrameCounts


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
    """The confusion matrices of the groups of a dask data frame of labels, lazily.

    Each worker counts its partitions into tables with a row per group and pair of labels. These small tables are merged
    in a tree: no row is shuffled, and only the named columns are read. The numbers of groups and classes are known
    after all partitions are counted, so the result is a delayed object: an array would need a shape now.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        A row for each sample.
    y_true, y_pred : column name, default "y_true" and "y_pred"
        The columns of the true and the predicted labels: integers, text, booleans or times, also as categories.
    by : column name or sequence of them, default ()
        The columns of the groups; a matrix for each combination of values that occurs, in sorted order. Categories that
        dask knows before it reads the data keep their own order.
    num_classes : int, optional
        Number of classes, n; labels are 0 to n - 1.
    labels : sequence of text, integers or other hashables, optional
        The label of each class, in order; in place of ``num_classes``. If both are left out, the classes are the
        categories of both columns, where these are the same and known to dask; otherwise all labels in the two columns,
        sorted.
    sample_weight : column name, optional
        The column of the weights.
    ignore_index : label or sequence of labels, optional
        Samples with any of these true labels are left out.
    split_every : int, optional
        How many partial results are merged in a task; dask's default (8) if left out.

    Returns
    -------
    dask.delayed.Delayed
        Its ``compute()`` returns :class:`matrics.results.FrameCounts`, as :func:`matrics.frames.count` does;
        ``dask.compute`` accepts it together with other collections.

    Raises
    ------
    TypeError
        ``frame`` is not a dask data frame, a column has floating labels, or both ``num_classes`` and ``labels`` are
        given.
    ValueError
        A column does not exist, or a column is twice in ``by``. When the result is computed: a value is missing, a
        label is not among ``labels``, a weight is negative, NaN or infinite, or there are too many classes and groups
        for their matrices.

    Examples
    --------
    >>> import dask.dataframe, pandas, matrics
    >>> from matrics.dask import count_frame
    >>> rows = pandas.DataFrame({
    ...     "y_true": ["cat", "dog", "dog", "cat"],
    ...     "y_pred": ["cat", "cat", "dog", "cat"],
    ...     "site": ["north", "north", "south", "south"],
    ... })
    >>> counts = count_frame(dask.dataframe.from_pandas(rows, npartitions=2), by="site").compute()
    >>> counts.labels
    ('cat', 'dog')
    >>> counts.matrix
    array([[[1, 0],
            [1, 0]],
    <BLANKLINE>
           [[1, 0],
            [0, 1]]])
    >>> matrics.to_frame(counts.score("accuracy"), axes=counts.groups)
        site  accuracy
    0  north       0.5
    1  south       1.0
    """
    if not hasattr(frame, "map_partitions") or not hasattr(frame, "columns"):
        raise TypeError(
            f"frame: expected a dask data frame, got {type(frame).__module__}.{type(frame).__qualname__}; "
            "use dask.dataframe.from_pandas(frame, npartitions=...)"
        )
    known = given_labels(num_classes, labels)
    groups = names_of_columns(by)
    columns = {"true": y_true, "pred": y_pred, **{f"by {k}": name for k, name in enumerate(groups)}}
    columns |= {} if sample_weight is None else {"weight": sample_weight}
    check_columns(list(frame.columns), columns.values())
    for name in (y_true, y_pred):
        if getattr(frame[name].dtype, "kind", "O") == "f":
            raise TypeError(f"column {quoted(name)}: expected labels, integers or text, got {frame[name].dtype}")
    types = {key: _known_categories(frame[name]) for key, name in columns.items()}
    orders = {None if types[key] is None else in_their_order(types[key]) for key in ("true", "pred")}
    if known is None and len(orders) == 1:
        known = orders.pop()
    ignored = one_or_more(ignore_index)
    counted = frame[list(dict.fromkeys(columns.values()))].reduction(
        _count_rows,
        aggregate=_merge,
        meta=_count_rows(frame._meta, columns, ignored, known),
        split_every=split_every,
        chunk_kwargs={"columns": columns, "ignored": ignored, "known": known},
    )
    (table,) = counted.to_delayed()
    return dask.delayed(_matrices)(table, columns, known, types, pure=True)


def _known_categories(column: Any) -> Any:
    """The categorical type of a column, if dask knows the categories before it reads the data; None otherwise."""
    return column.dtype if hasattr(column.dtype, "categories") and column.cat.known else None


def _count_rows(
    rows: Any, columns: dict[str, Any], ignored: tuple[Any, ...], known: tuple[Hashable, ...] | None
) -> Any:
    """The counts of a partition in long form: a row per group and pair of labels, with the names of ``columns``."""
    import pandas as pd

    if ignored:
        rows = rows[~rows[columns["true"]].isin(ignored)]

    def where(row: int) -> str:
        return f"at the index {quoted(rows.index[row])}"

    coded_columns = {key: coded(name, rows[name], where) for key, name in columns.items() if key != "weight"}
    for key in ("true", "pred") if known else ():
        class_codes(columns[key], coded_columns[key], known or (), where)  # raises for labels that are not known
    number_of_row, places = combined(list(coded_columns.values()), len(rows))
    weights = None if "weight" not in columns else weights_of(columns["weight"], rows[columns["weight"]], where=where)
    sums = np.bincount(number_of_row, None if weights is None else weights, len(places[0]))
    table = {
        key: _plain(taken(column.values, codes))
        for (key, column), codes in zip(coded_columns.items(), places, strict=True)
    }
    return pd.DataFrame({**table, "count": sums})


def _merge(counts: Any) -> Any:
    """The sums of the counts of each group and pair of labels."""
    keys = [name for name in counts.columns if name != "count"]
    return counts.groupby(keys, sort=False, observed=True, dropna=False)["count"].sum().reset_index()


def _plain(column: Any) -> Any:
    """The column in a type that all partitions can share: no categories, no nullable integers."""
    if hasattr(column.dtype, "categories"):
        column = column.astype(column.dtype.categories.dtype)
    kind = getattr(column.dtype, "kind", "O")
    return column.astype(np.int64 if kind == "i" else np.uint64) if kind in "iu" else column


def _matrices(
    counts: Any, columns: dict[str, Any], known: tuple[Hashable, ...] | None, types: dict[str, Any]
) -> FrameCounts:
    """The confusion matrices of all groups, from counts in long form."""
    by = {key: name for key, name in columns.items() if key not in ("true", "pred", "weight")}
    counts = counts.astype({key: types[key] for key in by if types[key] is not None})  # in the order of the categories
    labels = [(columns[key], coded(columns[key], counts[key])) for key in ("true", "pred")]
    groups = {name: coded(name, counts[key].rename(name)) for key, name in by.items()}
    weights = counts["count"].to_numpy()
    result = count_codes(labels, groups, classes=known or None, weights=weights)
    return FrameCounts(result.matrix.astype(weights.dtype), result.groups, result.labels)
