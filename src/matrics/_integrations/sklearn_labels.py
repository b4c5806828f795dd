"""The classes of a scikit-learn classifier, the class numbers of labels, and class scores in class order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from matrics._arrays import Array
from matrics._arrays.inputs import is_missing
from matrics._catalogue.classes import Classes, Sorted
from matrics._quoting import quoted, quoted_list
from matrics._tables.vocabularies import refuse_disjoint

#: The second class where only a single class is known: binary measures need a 2 × 2 matrix.
OTHER = "(no other class)"


def known_classes(estimator: Any, labels: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """The ``labels``, or the ``classes_`` of the estimator; raises unless it is a classifier of single labels."""
    classes = getattr(estimator, "classes_", None)
    if labels is not None:
        return tuple(labels)
    if classes is None:
        raise TypeError(
            "estimator: expected a fitted classifier, which has classes_, got "
            f"{type(estimator).__name__} without classes_; fit it, or name the classes with labels="
        )
    if any(np.ndim(item) for item in classes):
        raise ValueError(
            f"estimator: expected a single label for each sample, got {type(estimator).__name__} with "
            f"{len(classes)} arrays in classes_; use matrics.multilabel.score for several labels a sample"
        )
    return tuple(np.asarray(classes).tolist())


def single_labels(values: Any, name: str) -> list[Hashable]:
    """The labels as a list; raises if a sample has several labels or a missing label."""
    shape = np.shape(values)
    if len(shape) > 1 and shape[1] != 1:
        raise ValueError(
            f"{name}: expected a single label for each sample, shape (N,), got shape {shape}; use "
            "matrics.multilabel.score "
            "for several labels a sample"
        )
    array = column_or_1d(values)
    labels: list[Hashable] = array.tolist()
    is_object = array.dtype.kind == "O"
    missing = np.fromiter(map(is_missing, labels), bool, len(labels)) if is_object else np.asarray(array != array)  # noqa: PLR0124 (NaN)
    if missing.any():
        raise ValueError(
            f"{name}: expected a label for every sample, got {np.count_nonzero(missing):,} of {missing.size:,} "
            f"missing, the first at {int(missing.argmax())}"
        )
    return labels


def extended(
    known: tuple[Hashable, ...], y_true: Iterable[Hashable], y_pred: Iterable[Hashable], *, is_complete: bool
) -> tuple[Hashable, ...]:
    """The known classes and, in order, the other labels that occur: their samples count as errors.

    Raises if another label occurs although the user has given all classes.
    """
    known_set = set(known)
    unknown = {label for labels in (y_true, y_pred) for label in set(labels) if label not in known_set}
    if not unknown:
        return known
    if is_complete:
        raise ValueError(
            f"labels: expected all labels that occur, got {quoted_list(known)} without {quoted(min(unknown, key=str))}"
        )
    if known and len({isinstance(label, str) for label in (*known, *unknown)}) > 1:
        raise ValueError(
            f"y_true: expected labels of the same type as estimator.classes_, {quoted_list(known)}, got "
            f"{quoted(min(unknown, key=str))}"
        )
    fold_labels = set(y_true)
    if len(fold_labels) > 1 and known:  # a fold may contain the only sample of a rare class
        refuse_disjoint(
            fold_labels, known, "fit and score the estimator with the same labels", ("y", "estimator.classes_")
        )
    return tuple(Sorted.of((*known, *unknown)))


def as_classes(labels: tuple[Hashable, ...], positive: Hashable, *, is_complete: bool) -> Classes:
    """The classes of the matrix, at least two; the order of text labels has a meaning only if the user gave it."""
    is_ordered = is_complete or not isinstance(Sorted.of(labels), Sorted)
    if len(labels) == 1:
        # A single known class is the positive class if it is 1, True, or the user's positive class.
        (label,) = labels
        missing = OTHER if positive is None or Classes.of(1, labels).has(positive) else positive
        is_second = missing is OTHER and (label == positive or (positive is None and label == 1))
        labels = (missing, label) if is_second else (label, missing)
    return Classes.of(len(labels), labels, positive, ordered=is_ordered)


def codes(labels: Sequence[Hashable], classes: Classes) -> Array:
    """The class number of each label."""
    numbers = {label: number for number, label in enumerate(classes.labels or ())}
    return np.fromiter((numbers[label] for label in labels), np.int64, len(labels))


def method_of(estimator: Any, methods: Sequence[str], name: str) -> str:
    """The name of the first method that the estimator has; raises if it has none of them."""
    method = next((candidate for candidate in methods if hasattr(estimator, candidate)), None)
    if method is None:
        raise ValueError(
            f"{name}: expected an estimator with {' or '.join(methods)}, got {type(estimator).__name__} without"
        )
    return method


def scores_of_classes(estimator: Any, X: Any, method: str, classes: Classes) -> Array:
    """The scores of every class, (N, n), from a method of the estimator.

    A class that the estimator does not know has the probability 0, or the lowest of the other scores.
    """
    scores = np.asarray(getattr(estimator, method)(X), float)
    own_labels = np.asarray(getattr(estimator, "classes_", classes.labels)).tolist()
    if scores.ndim == 1:
        scores = np.stack([-scores, scores], axis=-1) if len(own_labels) == 2 else scores[:, None]
    if scores.ndim != 2 or scores.shape[1] != len(own_labels):
        raise ValueError(
            f"{method}: expected scores of {len(own_labels)} classes, (N, {len(own_labels)}), got shape {scores.shape}"
        )
    missing = np.isnan(scores).any(axis=-1)
    if missing.any():
        raise ValueError(f"{method}: expected numbers, got NaN for {missing.sum():,} of {missing.size:,} samples")
    rest = 0.0 if method == "predict_proba" or not scores.size else float(scores.min())
    columns = np.full((len(scores), classes.number), rest)
    columns[:, [classes.index(label) for label in own_labels]] = scores
    return columns
