"""Scores as a tidy table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from matrics import _backend
from matrics.catalogue.registry import get_metric
from matrics.naming import CLASSWISE, check_names, columns


def to_frame(
    scores: Mapping[str, Any],
    *,
    axes: Sequence[str] | Mapping[str, Iterable[Any]] | None = None,
    class_names: Sequence[str] | None = None,
) -> Any:
    """Scores as a pandas data frame: one row a matrix, one column a value.

    Parameters
    ----------
    scores : dict of str to array
        What :func:`matrics.score` returns: values (*B,), or (*B, n) for measures of every class.
    axes : sequence of str, or mapping of str to labels, optional
        The name of each axis of B, or names with the labels along them: ``{"model": ["a", "b"], "fold": range(5)}``.
        Each is a column; ``index_0``, ``index_1``, … with the positions if left out.
    class_names : sequence of str, optional
        The names of the classes, for the columns of measures of every class (``recall/cat``); their numbers if left
        out.

    Returns
    -------
    pandas.DataFrame
        The columns of the axes, then those of the measures; rows in the order of the stack.

    Raises
    ------
    ImportError
        pandas is not installed.
    ValueError
        Names or labels do not fit the axes, or the scores are of different stacks.

    Examples
    --------
    >>> import matrics
    >>> stack = [[[45, 5], [5, 45]], [[50, 0], [10, 40]]]
    >>> scores = matrics.score(stack, ["mcc", "recall:class"])
    >>> matrics.to_frame(scores, axes={"model": ["tree", "net"]}, class_names=["cat", "dog"]).round(2)
      model   mcc  recall/cat  recall/dog
    0  tree  0.80         0.9         0.9
    1   net  0.82         1.0         0.8
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame needs pandas: python -m pip install pandas") from error
    if not isinstance(scores, Mapping) or not scores:
        raise TypeError(f"scores: expected the dict that matrics.score returns, got {type(scores).__name__}")
    values: dict[str, Any] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for key, array in scores.items():
        metric = None if "/" in key else get_metric(key)  # recall/cat is the value of a class already
        backend, (found,) = _backend.as_arrays(**{key: array})
        found = backend.to_numpy(found)
        is_classwise = metric is not None and metric.average in CLASSWISE
        shapes[key] = found.shape[:-1] if is_classwise else found.shape
        rows = found.reshape(-1, found.shape[-1]) if is_classwise else found.reshape(-1, 1)
        n = rows.shape[-1]
        names = [str(k) for k in range(n)] if class_names is None or not is_classwise else check_names(class_names, n)
        found_names = [key] if metric is None else columns(key, metric, names or ())
        values.update(zip(found_names, rows.T, strict=True))
    batch = next(iter(shapes.values()))
    if any(shape != batch for shape in shapes.values()):
        raise ValueError(f"scores: expected values of one stack, got the batches {shapes}")
    indexed = _axis_columns(axes, batch)
    both = sorted(set(indexed) & set(values))
    if both:
        raise ValueError(f"axes: expected names that no measure has, got {both[0]!r}")
    return pd.DataFrame({**indexed, **values})


def _axis_columns(axes: Sequence[str] | Mapping[str, Iterable[Any]] | None, batch: tuple[int, ...]) -> dict[str, Any]:
    """For each axis of the batch the label of every matrix."""
    if axes is None:
        axes = [f"index_{axis}" for axis in range(len(batch))]
    names = [axes] if isinstance(axes, str) else list(axes)
    if len(names) != len(batch) or len(set(names)) != len(names):
        raise ValueError(f"axes: expected {len(batch)} different names, one for each axis of the stack, got {names}")
    positions = np.indices(batch).reshape(len(batch), math.prod(batch))
    found = {}
    for axis, name in enumerate(names):
        labels = list(axes[name]) if isinstance(axes, Mapping) else list(range(batch[axis]))
        if len(labels) != batch[axis]:
            raise ValueError(f"axes: expected {batch[axis]} labels for {name!r}, got {len(labels)}")
        found[name] = [labels[position] for position in positions[axis]]
    return found
