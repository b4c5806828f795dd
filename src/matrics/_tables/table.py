"""Scores as data frames, and the columns of a table that identify the matrix of each row."""

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
    """The values of one measure, or the parts of its intervals or comparisons."""

    name: str
    classes: list[str | None]  # [None] for a measure of whole matrices
    titles: list[str]  # that of each class
    parts: dict[str, Array]  # each (rows, classes), by how the names of its columns end

    def columns(self) -> Iterator[tuple[str, Array]]:
        """One column for each class and part, with its name."""
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
        a stack with one axis takes a mapping (or a data frame) of as many names as there are, such as the ``groups`` of
        :func:`matrics.frames.count`; a stack with more axes takes it in the place of the labels of one of them,
        ``{"model": ["a", "b"], "group": groups}``. Columns of the same library keep their type.
    class_names : sequence of str, optional
        Names of the classes, in their order, for the columns of measures of every class (``recall of cat``); their
        numbers if left out.
    layout : {"wide", "long"}
        ``"wide"``: one row a matrix, one column a value. ``"long"``: one row a value, with the columns ``measure``,
        ``class`` (missing for measures of whole matrices; left out if there are no others) and ``value``.
    library : {"pandas", "polars"}
        Which library the data frame is of.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        The columns of the axes, then those of the measures, whose names say which average or class they are of
        (``recall, macro``, ``recall of cat``); rows in the order of the stack. Intervals have five columns
        each: ``mcc``, the estimate, ``mcc/low``, ``mcc/high``, ``mcc/standard_error`` and ``mcc/status``, a code of
        :class:`matrics.IntervalStatus`; in the long layout they are ``value``, ``low``, ``high``, ``standard_error``
        and ``status``. The first of a comparison is the difference, and it has columns for its other fields.

    Raises
    ------
    ImportError
        The library is not installed.
    TypeError
        The scores are not a dict with names of measures, or not all of one kind, or of another result, which has a
        ``to_frame`` of its own; or names of axes are not text, which Polars needs.
    ValueError
        Names or labels do not fit the axes, two columns would have one name, the scores are of different stacks, or an
        option has a value that does not exist.

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

    Of intervals:

    >>> found = matrics.interval(stack, "mcc")
    >>> matrics.to_frame(found, axes=axes).round(2)
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
        raise ValueError(f"axes: expected names that no measure has, got {quoted(both[0])}")
    if library == "polars" and not all(isinstance(name, str) for name in indexed):
        raise TypeError(f"axes: expected text as the names of columns of Polars, got [{quoted_list(indexed)}]")
    return frames.DataFrame({**indexed, **values})


def read_measures(
    scores: Mapping[str, Any], class_names: Sequence[str] | None
) -> tuple[list[Measure], tuple[int, ...]]:
    """The measures of scores, intervals or comparisons, and the shape of the stack that they are of."""
    if not isinstance(scores, Mapping) or not scores:
        what = described(scores) if not isinstance(scores, Mapping) else "an empty one"
        raise TypeError(f"scores: expected the dict that matrics.score or matrics.interval returns, got {what}")
    if not all(isinstance(key, str) for key in scores):
        raise TypeError(f"scores: expected the names of measures as keys, got [{quoted_list(scores)}]")
    other = next((v for v in scores.values() if isinstance(v, (tuple, Mapping)) and not isinstance(v, KINDS)), None)
    if hasattr(other, "to_frame"):
        raise TypeError(
            f"scores: expected values, intervals or comparisons, got {type(other).__name__}: its to_frame()"
        )
    if len({tuple(parts_of(value)) if isinstance(value, KINDS) else None for value in scores.values()}) > 1:
        raise TypeError("scores: expected what one function returned, got several kinds: make a data frame of each")
    measures, shapes = [], {}
    for key, value in scores.items():
        measure, shapes[key] = _measure(key, value, class_names)
        measures.append(measure)
    batch = next(iter(shapes.values()))
    if any(shape != batch for shape in shapes.values()):
        raise ValueError(f"scores: expected values of one stack, got the batches {shapes}")
    return measures, batch


def imported(library: Any, function: str = "to_frame") -> Any:
    """The library of data frames, for a function that messages name."""
    if library not in get_args(Library):
        raise ValueError(f"library: expected 'pandas' or 'polars', got {quoted(library)}")
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise ImportError(f"{function} needs {library}: python -m pip install {library}") from error


def parts_of(result: Interval | Comparison) -> dict[str, Array]:
    """The fields of an interval or a comparison by the endings of their columns, as the command line writes them."""
    fields = {name: value for name, value in result._asdict().items() if name != "undefined"}
    return {f"/{name}" if k else "": value for k, (name, value) in enumerate(fields.items())}


def _measure(key: str, value: Any, class_names: Sequence[str] | None) -> tuple[Measure, tuple[int, ...]]:
    """The values or intervals of one key of the scores, and the shape of the stack."""
    # recall/cat is the value of a class already, and roc_auc that of a function of scores.
    metric = None if "/" in key or call_of(name_of(key)) else metric_of(key)
    is_classwise = metric is not None and metric.is_classwise
    given = parts_of(value) if isinstance(value, KINDS) else {"": value}
    parts, shape = {}, ()
    for ending, array in given.items():
        backend, (found,) = as_arrays(**{key: array})
        found = backend.to_numpy(found)
        if is_classwise and not found.ndim:
            raise ValueError(f"{key}: expected a value for each class, (*B, n), got a single value")
        shape = found.shape[:-1] if is_classwise else found.shape
        parts[ending] = found.reshape(-1, found.shape[-1]) if is_classwise else found.reshape(-1, 1)
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
    """The measure and the class of a key that has both; of another key with a slash, a logger's, itself."""
    measure, _, label = key.partition("/")
    known = key.metric_ if isinstance(key, MeasureName) else None
    if known is None or replace(known, average=None).spec != measure:  # another name of it, or a logger's prefix
        try:
            get_metric(measure)
        except ValueError:
            return title_of(key), [None]
    return measure, [label]


def _wide(measures: Sequence[Measure]) -> dict[str, Any]:
    """One column a measure, class and part."""
    found: dict[str, Any] = {}
    for measure in measures:
        for name, values in measure.columns():
            # One measure under two keys, recall and recall:macro, is one column.
            if name in found and not np.array_equal(found[name], values, equal_nan=True):
                raise ValueError(f"scores: expected a column for each value, got two that are named {quoted(name)}")
            found[name] = values
    return found


def _long(measures: Sequence[Measure], rows: int) -> dict[str, Any]:
    """One column a part, in the order of the matrices, and in that of the measures for each of them."""
    named = [(measure.name, label) for measure in measures for label in measure.classes]
    found: dict[str, Any] = {"measure": _text([name for name, _ in named] * rows)}
    if any(label is not None for _, label in named):
        found["class"] = _text([label for _, label in named] * rows)
    for ending in measures[0].parts:
        name = ending.removeprefix("/") or "value"
        found[name] = np.concatenate([measure.parts[ending] for measure in measures], axis=1).ravel()
    return found


def _text(values: list[Any]) -> Any:
    """A column of text, also if it is empty: libraries take the type of an empty list for another."""
    return values or np.empty(0, np.str_)


#: Names of the axes; or names with labels, where a mapping in the place of labels is several columns of one axis.
Axes: TypeAlias = Sequence[str] | Mapping[str, Iterable[Any] | Mapping[str, Iterable[Any]]]


def axis_columns(axes: Axes | None, batch: tuple[int, ...], wanted: str | None, *, times: int = 1) -> dict[str, Any]:
    """For each axis of the batch the label of every matrix, in one column or in several, of the library wanted.

    Without a library columns are lists or arrays. Each matrix belongs to one row.
    """
    found: dict[str, Any] = {}
    positions = np.repeat(np.indices(batch).reshape(len(batch), math.prod(batch)), times, axis=1)
    for axis, of_axis in enumerate(_by_axis(axes, batch)):
        for name, given in of_axis.items():
            labels = _sized(name, given)
            if len(labels) != batch[axis]:
                raise ValueError(f"axes: expected {batch[axis]} labels for {quoted(name)}, got {len(labels)}")
            found[name] = _taken(labels, positions[axis], wanted)
    return found


def _by_axis(axes: Axes | None, batch: tuple[int, ...]) -> list[dict[str, Any]]:
    """For each axis of the batch the names and labels of its columns."""
    if axes is None:
        axes = [f"index_{axis}" for axis in range(len(batch))]
    given = _columns_of(axes)
    if given is None and not isinstance(axes, Iterable):
        raise TypeError(f"axes: expected names of axes, or a mapping of names to labels, got {quoted(axes)}")
    if given is None:
        names = [axes] if isinstance(axes, str) else list(axes)
        columns = [{name: np.arange(size)} for name, size in zip(names, batch, strict=False)]
        number = len(names)
    else:
        columns = [_columns_of(labels) or {name: labels} for name, labels in given.items()]
        names = [name for one in columns for name in one]
        if len(batch) == 1 < len(columns):  # such as the groups of matrics.frames.count
            columns = [{name: labels for one in columns for name, labels in one.items()}]
        number = len(columns)
    if number != len(batch) or len(set(names)) != len(names):
        raise ValueError(
            f"axes: expected {len(batch)} different names, one for each axis of the stack, got {quoted(names)}"
        )
    return columns


def _columns_of(labels: Any) -> dict[str, Any] | None:
    """The columns of a mapping or of a data frame, and None for anything else."""
    if isinstance(labels, Mapping):
        return dict(labels)
    return {name: labels[name] for name in labels.columns} if hasattr(labels, "columns") else None


def _sized(name: Any, labels: Any) -> Any:
    """Labels unchanged, if they have a length and positions; else in a list."""
    if not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) != 1 or hasattr(labels, "levels"):
        got = f"one of shape {labels.shape}" if getattr(labels, "ndim", 1) != 1 else quoted(labels)
        got = "a MultiIndex: pass its .to_frame()" if hasattr(labels, "levels") else got
        raise ValueError(f"axes: expected a list of labels for {quoted(name)}, got {got}")
    has_positions = isinstance(labels, (list, tuple, range, np.ndarray))
    has_positions = has_positions or library(labels) in ("pandas", "polars", "pyarrow")
    return labels if has_positions else list(labels)


def _taken(labels: Any, positions: Array, wanted: str | None) -> Any:
    """The labels at these positions; a column of the requested library, or of pyarrow, keeps its type."""
    kind = library(labels)
    if kind == "pyarrow":
        labels = labels.take(positions)
        if wanted is None:
            return labels.to_pylist()
        return labels.to_pandas() if wanted == "pandas" else importlib.import_module("polars").Series(labels)
    if kind == wanted == "polars":
        return labels.gather(positions)
    if kind == wanted == "pandas":
        return getattr(labels, "array", labels).take(positions)
    if isinstance(labels, np.ndarray) and not labels.dtype.hasobject:
        return labels[positions]
    labels = list(labels)
    return [labels[position] for position in positions]
