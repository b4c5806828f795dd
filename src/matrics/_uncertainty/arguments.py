"""Arguments of calls with matrices: metrics resolved for the classes, and errors for labels in place of matrices."""

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
    """The index of the class of a scalar prevalence: the positive class of two; None if it must be named."""
    return classes.positive if classes.positive is not None else 1 if classes.ordered else None


def refuse_samples(function: str, matrices: Any, metrics: Any, clusters: Any, counted: str = _COUNTED) -> None:
    """Raise an error for labels in place of matrices or metrics, and for clusters of samples with matrices."""
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
    """Whether the values have a single axis, as labels have."""
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and isinstance(values[0], (str, int, float, np.generic))
    return getattr(values, "ndim", None) == 1


def report_invalid(good: Array, backend: Standard, what: str, invalid: Invalid) -> None:
    """Warn of invalid tables if inspecting them is cheap; or raise an error, which waits for the device."""
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
    results: dict[str, Any], chosen: dict[str, Metric], class_names: Sequence[str] | None
) -> dict[str, Any]:
    """The results, with a key for the result of each class if classes have names."""
    if class_names is None:
        return results
    named: dict[str, Any] = {}
    for key, result in results.items():
        parts = _parts(result, len(class_names)) if chosen[key].is_classwise else [result]
        named.update(zip(columns(key, chosen[key], class_names), parts, strict=True))
    return named


def _parts(result: Any, number: int) -> list[Any]:
    """The results of each class, which is the last axis of all arrays; None stays None for each class."""
    fields = [
        [None] * number if field is None else _parts(field, number) if isinstance(field, tuple) else by_class(field)
        for field in result
    ]
    return [type(result)(*parts) for parts in zip(*fields, strict=True)]
