"""Scores as data frames, with columns that identify the matrix of each row."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from matrics._arrays import Array, as_arrays
from matrics._arrays.inputs import described, library
from matrics._catalogue.naming import MeasureName, check_names, columns, metric_of, title_of
from matrics._catalogue.of_scores import call_of, name_of
from matrics._catalogue.registry import get_metric
from matrics._quoting import quoted, quoted_list
from matrics._uncertainty.results import Comparison, Interval

Layout = Literal["wide", "long"]
Library = Literal["pandas", "polars"]

KINDS = (Interval, Comparison)


class Measure(NamedTuple):
    """The values of a measure, or the parts of its intervals or comparisons."""

    name: str
    classes: list[str | None]  # [None] for a measure of whole matrices
    titles: list[str]  # the title of each class
    parts: dict[str, Array]  # arrays (rows, classes), by the endings of the names of their columns

    def columns(self) -> Iterator[tuple[str, Array]]:
        """The name and the values of a column for each class and part."""
        for position, title in enumerate(self.titles):
            for ending, values in self.parts.items():
                yield title + ending, values[:, position]


def to_frame(
    scores: Mapping[str, Any],
    *,
    axes: Axes | None = None,
    class_names: Sequence[str] | None = None,
    layout: Layout = "wide",
    library: Library = "pandas",
) -> Any:
    """Scores, intervals or comparisons as a data frame of pandas or Polars.

    Parameters
    ----------
    scores : dict of str to array, Interval or Comparison
        What :func:`matrics.score` returns: values (*B,), or (*B, n) for measures of every class; or what
        :func:`matrics.interval`, :func:`matrics.compare` or :func:`matrics.compare_paired` returns.
    axes : sequence of str, or mapping of str to labels, optional
        The name of each axis of B, or names with the labels along them: ``{"model": ["a", "b"], "fold": range(5)}``.
        Each is a column; ``index_0``, ``index_1``, … with the positions if left out. An axis may have several columns:
        for a stack with a single axis, pass a mapping (or a data frame) of all names, such as the ``groups`` of
        :func:`matrics.frames.count`; for a stack with more axes, pass it in place of the labels of an axis:
        ``{"model": ["a", "b"], "group": groups}``. Columns of the same library keep their type.
    class_names : sequence of str, optional
        Names of the classes, in their order, for the columns of measures of every class (``recall of cat``); their
        numbers if left out.
    layout : {"wide", "long"}
        ``"wide"``: a row for each matrix, a column for each value. ``"long"``: a row for each value, with the columns
        ``measure``, ``class`` (missing for measures of whole matrices; left out if all measures are) and ``value``.
    library : {"pandas", "polars"}
        Which library the data frame is of.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        The columns of the axes, then the columns of the measures, whose names contain the average or the class
        (``recall, macro``, ``recall of cat``). Rows are in the order of the stack. An interval has five columns:
        ``mcc`` (the estimate), ``mcc/low``, ``mcc/high``, ``mcc/standard_error`` and ``mcc/status``, a code of
        :class:`matrics.IntervalStatus`; in the long layout they are ``value``, ``low``, ``high``, ``standard_error``
        and ``status``. A comparison has the difference in the first of its columns, and a column for each other field.

    Raises
    ------
    ImportError
        The library is not installed.
    TypeError
        The scores are not a dict with names of measures, they have several kinds, or they are another result, which has
        its own ``to_frame``; or names of axes are not text, which Polars needs.
    ValueError
        Names or labels do not fit the axes, two columns would have the same name, the scores are of different stacks,
        or an option has an unknown value.

    Examples
    --------
    >>> import matrics
    >>> stack = [[[45, 5], [5, 45]], [[50, 0], [10, 40]]]
    >>> scores = matrics.score(stack, ["mcc", "recall:class"])
    >>> axes, names = {"model": ["tree", "net"]}, ["cat", "dog"]
    >>> matrics.to_frame(scores, axes=axes, class_names=names).round(2)
      model   mcc  recall of cat  recall of dog
    0  tree  0.80            0.9            0.9
    1   net  0.82            1.0            0.8
    >>> matrics.to_frame(scores, axes=axes, class_names=names, layout="long").round(2).head(3)
      model measure class  value
    0  tree     mcc   NaN    0.8
    1  tree  recall   cat    0.9
    2  tree  recall   dog    0.9

    Intervals:

    >>> intervals = matrics.interval(stack, "mcc")
    >>> matrics.to_frame(intervals, axes=axes).round(2)
      model   mcc  mcc/low  mcc/high  mcc/standard_error  mcc/status
    0  tree  0.80     0.64      0.89                0.06           0
    1   net  0.82     0.68      0.90                0.05           0
    """
    frames = imported(library)
    if layout not in get_args(Layout):
        raise ValueError(f"layout: expected 'wide' or 'long', got {quoted(layout)}")
    measures, batch = read_measures(scores, class_names)
    times = sum(len(measure.classes) for measure in measures) if layout == "long" else 1
    values = _long(measures, math.prod(batch)) if layout == "long" else _wide(measures)
    indexed = axis_columns(axes, batch, library, times=times)
    both = sorted(set(indexed) & set(values))
    if both:
        raise ValueError(f"axes: expected names that differ from those of the measures, got {quoted(both[0])}")
    if library == "polars" and not all(isinstance(name, str) for name in indexed):
        raise TypeError(f"axes: expected text as the names of columns of Polars, got [{quoted_list(indexed)}]")
    return frames.DataFrame({**indexed, **values})


def read_measures(
    scores: Mapping[str, Any], class_names: Sequence[str] | None
) -> tuple[list[Measure], tuple[int, ...]]:
    """The measures of scores, intervals or comparisons, and the shape of their stack."""
    if not isinstance(scores, Mapping) or not scores:
        what = described(scores) if not isinstance(scores, Mapping) else "an empty dict"
        raise TypeError(f"scores: expected the dict that matrics.score or matrics.interval returns, got {what}")
    if not all(isinstance(key, str) for key in scores):
        raise TypeError(f"scores: expected the names of measures as keys, got [{quoted_list(scores)}]")
    other = next((v for v in scores.values() if isinstance(v, (tuple, Mapping)) and not isinstance(v, KINDS)), None)
    if hasattr(other, "to_frame"):
        raise TypeError(
            f"scores: expected values, intervals or comparisons, got {type(other).__name__}; use its to_frame()"
        )
    if len({tuple(parts_of(value)) if isinstance(value, KINDS) else None for value in scores.values()}) > 1:
        raise TypeError(
            "scores: expected the results of a single function, got several kinds; make a data frame of each"
        )
    measures, shapes = [], {}
    for key, value in scores.items():
        measure, shapes[key] = _measure(key, value, class_names)
        measures.append(measure)
    batch = next(iter(shapes.values()))
    if any(shape != batch for shape in shapes.values()):
        raise ValueError(f"scores: expected values of the same stack, got the batches {shapes}")
    return measures, batch


def imported(library: Any, function: str = "to_frame") -> Any:
    """The module of a library of data frames; ``function`` is named in messages."""
    if library not in get_args(Library):
        raise ValueError(f"library: expected 'pandas' or 'polars', got {quoted(library)}")
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(f"{function} needs {library}: python -m pip install {library}") from error


def parts_of(result: Interval | Comparison) -> dict[str, Array]:
    """The fields of an interval or a comparison by the endings of the names of their columns."""
    fields = {name: value for name, value in result._asdict().items() if name != "undefined"}
    return {f"/{name}" if k else "": value for k, (name, value) in enumerate(fields.items())}


def _measure(key: str, value: Any, class_names: Sequence[str] | None) -> tuple[Measure, tuple[int, ...]]:
    """The values or intervals of a key of the scores, and the shape of the stack."""
    # The key recall/cat is the value of a single class, and roc_auc the value of a function of scores.
    metric = None if "/" in key or call_of(name_of(key)) else metric_of(key)
    is_classwise = metric is not None and metric.is_classwise
    arrays = parts_of(value) if isinstance(value, KINDS) else {"": value}
    parts, shape = {}, ()
    for ending, array in arrays.items():
        backend, (values,) = as_arrays(**{key: array})
        values = backend.to_numpy(values)
        if is_classwise and not values.ndim:
            raise ValueError(f"{key}: expected a value for each class, (*B, n), got a single value")
        shape = values.shape[:-1] if is_classwise else values.shape
        parts[ending] = values.reshape(-1, values.shape[-1]) if is_classwise else values.reshape(-1, 1)
    if metric is None:
        return Measure(*_split(key), [title_of(key)], parts), shape
    if not is_classwise:
        return Measure(title_of(key), [None], [title_of(key)], parts), shape
    n = parts[""].shape[-1]
    names = [str(k) for k in range(n)] if class_names is None else list(check_names(class_names, n) or ())
    measure = columns(key, metric, [""])[0].removesuffix("/")
    called = [f"class {name}" for name in names] if class_names is None else names
    return Measure(measure, list(names), [title_of(name) for name in columns(key, metric, called)], parts), shape


def _split(key: str) -> tuple[str, list[str | None]]:
    """The measure and the class of a key such as ``recall/cat``; the key itself if it is the name of a logged value."""
    measure, _, label = key.partition("/")
    known = key.metric_ if isinstance(key, MeasureName) else None
    if known is None or replace(known, average=None).spec != measure:  # an alias, or the prefix of a logger
        try:
            get_metric(measure)
        except ValueError:
            return title_of(key), [None]
    return measure, [label]


def _wide(measures: Sequence[Measure]) -> dict[str, Any]:
    """A column for each measure, class and part."""
    columns: dict[str, Any] = {}
    for measure in measures:
        for name, values in measure.columns():
            # A measure may have two keys, such as recall and recall:macro, and then a single column.
            if name in columns and not np.array_equal(columns[name], values, equal_nan=True):
                raise ValueError(f"scores: expected a column for each value, got two that are named {quoted(name)}")
            columns[name] = values
    return columns


def _long(measures: Sequence[Measure], rows: int) -> dict[str, Any]:
    """A column for each part; rows are in the order of the matrices, then of the measures."""
    named = [(measure.name, label) for measure in measures for label in measure.classes]
    table: dict[str, Any] = {"measure": _text([name for name, _ in named] * rows)}
    if any(label is not None for _, label in named):
        table["class"] = _text([label for _, label in named] * rows)
    for ending in measures[0].parts:
        name = ending.removeprefix("/") or "value"
        table[name] = np.concatenate([measure.parts[ending] for measure in measures], axis=1).ravel()
    return table


def _text(values: list[Any]) -> Any:
    """A column of text, also without rows, as libraries assume another type for an empty list."""
    return values or np.empty(0, np.str_)


#: Names of the axes; or names with labels, where a mapping in place of labels has several columns of an axis.
Axes: TypeAlias = Sequence[str] | Mapping[str, Iterable[Any] | Mapping[str, Iterable[Any]]]


def axis_columns(axes: Axes | None, batch: tuple[int, ...], library: str | None, *, times: int = 1) -> dict[str, Any]:
    """The label of every matrix for each axis of the batch, in a single column or several columns of a library.

    Without a library, columns are lists or arrays. Each label is repeated ``times`` times.
    """
    columns: dict[str, Any] = {}
    positions = np.repeat(np.indices(batch).reshape(len(batch), math.prod(batch)), times, axis=1)
    for axis, of_axis in enumerate(_by_axis(axes, batch)):
        for name, values in of_axis.items():
            labels = _sized(name, values)
            if len(labels) != batch[axis]:
                raise ValueError(f"axes: expected {batch[axis]} labels for {quoted(name)}, got {len(labels)}")
            columns[name] = _taken(labels, positions[axis], library)
    return columns


def _by_axis(axes: Axes | None, batch: tuple[int, ...]) -> list[dict[str, Any]]:
    """The names and labels of the columns of each axis of the batch."""
    if axes is None:
        axes = [f"index_{axis}" for axis in range(len(batch))]
    mapping = _columns_of(axes)
    if mapping is None and not isinstance(axes, Iterable):
        raise TypeError(f"axes: expected names of axes, or a mapping of names to labels, got {quoted(axes)}")
    if mapping is None:
        names = [axes] if isinstance(axes, str) else list(axes)
        columns = [{name: np.arange(size)} for name, size in zip(names, batch, strict=False)]
        number = len(names)
    else:
        columns = [_columns_of(labels) or {name: labels} for name, labels in mapping.items()]
        names = [name for of_axis in columns for name in of_axis]
        if len(batch) == 1 < len(columns):  # such as the groups of matrics.frames.count
            columns = [{name: labels for of_axis in columns for name, labels in of_axis.items()}]
        number = len(columns)
    if number != len(batch) or len(set(names)) != len(names):
        raise ValueError(f"axes: expected {len(batch)} different names, for the axes of the stack, got {quoted(names)}")
    return columns


def _columns_of(labels: Any) -> dict[str, Any] | None:
    """The columns of a mapping or of a data frame; None for other objects."""
    if isinstance(labels, Mapping):
        return dict(labels)
    return {name: labels[name] for name in labels.columns} if hasattr(labels, "columns") else None


def _sized(name: Any, labels: Any) -> Any:
    """Labels with a length and positions; other iterables become a list."""
    if not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) != 1 or hasattr(labels, "levels"):
        got = f"an array of shape {labels.shape}" if getattr(labels, "ndim", 1) != 1 else quoted(labels)
        got = "a MultiIndex: pass its .to_frame()" if hasattr(labels, "levels") else got
        raise ValueError(f"axes: expected a list of labels for {quoted(name)}, got {got}")
    has_positions = isinstance(labels, (list, tuple, range, np.ndarray))
    has_positions = has_positions or library(labels) in ("pandas", "polars", "pyarrow")
    return labels if has_positions else list(labels)


def _taken(labels: Any, positions: Array, target: str | None) -> Any:
    """The labels at these positions; a column of the requested library, or of pyarrow, keeps its type."""
    kind = library(labels)
    if kind == "pyarrow":
        labels = labels.take(positions)
        if target is None:
            return labels.to_pylist()
        return labels.to_pandas() if target == "pandas" else importlib.import_module("polars").Series(labels)
    if kind == target == "polars":
        return labels.gather(positions)
    if kind == target == "pandas":
        return getattr(labels, "array", labels).take(positions)
    if isinstance(labels, np.ndarray) and not labels.dtype.hasobject:
        return labels[positions]
    labels = list(labels)
    return [labels[position] for position in positions]
