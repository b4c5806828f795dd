"""The columns of a table that identify the matrix of each row."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from matrics._arrays import Array
from matrics._arrays.inputs import library
from matrics._quoting import quoted

#: Names of the axes; or names with labels, where a mapping in the place of labels is several columns of one axis.
Axes: TypeAlias = Sequence[str] | Mapping[str, Iterable[Any] | Mapping[str, Iterable[Any]]]


def axis_columns(axes: Axes | None, batch: tuple[int, ...], wanted: str | None, *, times: int = 1) -> dict[str, Any]:
    """For each axis of the batch the label of every matrix, in one column or in several, of the library wanted.

    Without a library columns are lists or arrays. Each matrix belongs to one row.
    """
    found: dict[str, Any] = {}
    positions = np.repeat(np.indices(batch).reshape(len(batch), math.prod(batch)), times, axis=1)
    for axis, columns in enumerate(_by_axis(axes, batch)):
        for name, given in columns.items():
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
