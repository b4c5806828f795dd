"""Arguments of calls with matrices: the metrics, resolved for the classes, and errors for samples in their place."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._catalogue.classes import Classes, labels_of_frame
from matrics._catalogue.naming import by_class, columns, names_or_labels
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import Invalid, InvalidConfusionMatrix, frames_to_the_user, refuse_unseen
from matrics._scoring.score import resolve

_COUNTED = "matrics.confusion_matrix(y_true, y_pred, num_classes=n)"


def metrics_of(
    metrics: str | Metric | Iterable[str | Metric],
    number: int,
    class_names: Sequence[str] | None,
    positive: Hashable,
    cm: Any = None,
) -> dict[str, Metric]:
    """The metrics by the keys of the result, resolved for the number of classes and the labels of a data frame."""
    return resolve(metrics, classes_of(number, class_names, positive, cm))


def classes_of(number: int, class_names: Sequence[str] | None, positive: Hashable, cm: Any = None) -> Classes:
    """The classes of matrices, by their names or the labels of a data frame."""
    labels = names_or_labels(class_names, number, labels_of_frame(cm))
    return Classes.of(number, labels, positive)


def second_class(classes: Classes) -> int | None:
    """The index of the class that a single prevalence is of: the positive one of two; None where it has to be said."""
    return classes.positive if classes.positive is not None else 1 if classes.ordered else None


def refuse_samples(function: str, matrices: Any, metrics: Any, clusters: Any, counted: str = _COUNTED) -> None:
    """Raise where labels stand in place of matrices or metrics, or clusters of samples with matrices."""
    if clusters is not None:
        by_cluster = counted.replace(")", ", groups=clusters, num_groups=K)")
        raise TypeError(
            "clusters: expected None, because a matrix does not identify its samples: count each cluster separately, "
            f"and name the axis, matrics.{function}({by_cluster}, cluster_axis=0)"
        )
    named = isinstance(metrics, (str, Metric, set, frozenset))
    first = metrics[0] if isinstance(metrics, (list, tuple)) and metrics else None
    is_data = (not named and hasattr(metrics, "dtype")) or isinstance(first, (int, float, np.generic, list))
    if is_data or _is_a_row(matrices):
        raise TypeError(
            f"matrics.{function} takes confusion matrices and metrics, got labels; for labels, call "
            f"matrics.{function}({counted})"
        )


def _is_a_row(values: Any) -> bool:
    """Whether these are values along one axis, as labels are."""
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and isinstance(values[0], (str, int, float, np.generic))
    return getattr(values, "ndim", None) == 1


def tell_of(good: Array, backend: Standard, what: str, invalid: Invalid) -> None:
    """Warn of invalid tables where looking is free; or raise, which waits for the device."""
    if invalid == "nan" or (invalid == "warn" and backend is not NUMPY):
        return
    refuse_unseen(good, backend)
    bad = np.flatnonzero(~backend.to_numpy(good))
    if not bad.size:
        return
    number = f"{bad.size} of {good.shape[0]} {what} invalid"
    message = f"{number}, the first at {bad[0]}: a cell is negative, NaN or infinite"
    if invalid == "raise":
        raise InvalidConfusionMatrix(message)
    warnings.warn(message, RuntimeWarning, stacklevel=frames_to_the_user())


def by_class_names(
    found: dict[str, Any], chosen: dict[str, Metric], class_names: Sequence[str] | None
) -> dict[str, Any]:
    """Give the result of each class its own key, if classes have names."""
    if class_names is None:
        return found
    named: dict[str, Any] = {}
    for key, result in found.items():
        parts = _parts(result, len(class_names)) if chosen[key].is_classwise else [result]
        named.update(zip(columns(key, chosen[key], class_names), parts, strict=True))
    return named


def _parts(result: Any, number: int) -> list[Any]:
    """The results of each class: their axis is the last of all arrays; what is None is so for each."""
    fields = [
        [None] * number if one is None else _parts(one, number) if isinstance(one, tuple) else by_class(one)
        for one in result
    ]
    return [type(result)(*parts) for parts in zip(*fields, strict=True)]
