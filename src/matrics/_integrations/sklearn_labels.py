"""The classes of a classifier of scikit-learn, its labels as their numbers, and its scores in their order."""

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

#: The second class where only one is known: measures of two classes need a matrix of two.
OTHER = "(no other class)"


def known_classes(estimator: Any, labels: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    """The labels given, or else those that the estimator has seen; raises for what is no classifier of one label."""
    found = getattr(estimator, "classes_", None)
    if labels is not None:
        return tuple(labels)
    if found is None:
        raise TypeError(
            "estimator: expected a classifier, which has classes_ once it is fitted, got "
            f"{type(estimator).__name__} without classes_; labels= names the classes of another estimator"
        )
    if any(np.ndim(one) for one in found):
        raise ValueError(
            f"estimator: expected one label for each sample, got {type(estimator).__name__} with {len(found)} arrays "
            "in classes_; matrics.multilabel.score is for several labels a sample"
        )
    return tuple(np.asarray(found).tolist())


def one_label_each(values: Any, name: str) -> list[Hashable]:
    """Labels of any kind as a list, one for each sample; raises where there are several, or one is missing."""
    shape = np.shape(values)
    if len(shape) > 1 and shape[1] != 1:
        raise ValueError(
            f"{name}: expected one label for each sample, shape (N,), got shape {shape}; matrics.multilabel.score is "
            "for several labels a sample"
        )
    array = column_or_1d(values)
    found: list[Hashable] = array.tolist()
    is_object = array.dtype.kind == "O"
    missing = np.fromiter(map(is_missing, found), bool, len(found)) if is_object else np.asarray(array != array)  # noqa: PLR0124 (NaN)
    if missing.any():
        raise ValueError(
            f"{name}: expected a label for every sample, got {np.count_nonzero(missing):,} of {missing.size:,} "
            f"missing, the first at {int(missing.argmax())}"
        )
    return found


def extended(
    known: tuple[Hashable, ...], y_true: Iterable[Hashable], y_pred: Iterable[Hashable], *, are_given: bool
) -> tuple[Hashable, ...]:
    """The classes and, in order, labels that the estimator does not know: their samples are errors, not left out.

    Classes that the user has given are all there are.
    """
    seen = set(known)
    unknown = {label for labels in (y_true, y_pred) for label in set(labels) if label not in seen}
    if not unknown:
        return known
    if are_given:
        raise ValueError(
            f"labels: expected all that occur, got {quoted_list(known)} without {quoted(min(unknown, key=str))}"
        )
    if known and len({isinstance(label, str) for label in (*known, *unknown)}) > 1:
        raise ValueError(
            f"y_true: expected labels such as those of estimator.classes_, {quoted_list(known)}, got "
            f"{quoted(min(unknown, key=str))}"
        )
    of_fold = set(y_true)
    if len(of_fold) > 1 and known:  # a fold may have the only sample of a rare class
        refuse_disjoint(of_fold, known, "fit and score the estimator with the same labels", ("y", "estimator.classes_"))
    return tuple(Sorted.of((*known, *unknown)))


def as_classes(labels: tuple[Hashable, ...], positive: Hashable, *, are_given: bool) -> Classes:
    """The classes of the matrix, two at least; the alphabetical order of texts has no meaning unless it is given."""
    is_ordered = are_given or not isinstance(Sorted.of(labels), Sorted)
    if len(labels) == 1:
        # A single class of two is the positive one if it says so: 1, True, or what the user has called so.
        (label,) = labels
        lacking = OTHER if positive is None or Classes.of(1, labels).has(positive) else positive
        is_second = lacking is OTHER and (label == positive or (positive is None and label == 1))
        labels = (lacking, label) if is_second else (label, lacking)
    return Classes.of(len(labels), labels, positive, ordered=is_ordered)


def codes(labels: Sequence[Hashable], classes: Classes) -> Array:
    """The number of the class of each label."""
    numbers = {label: number for number, label in enumerate(classes.labels or ())}
    return np.fromiter((numbers[label] for label in labels), np.int64, len(labels))


def method_of(estimator: Any, methods: Sequence[str], name: str) -> str:
    """The first of the methods that the estimator has; raises if it has none."""
    found = next((one for one in methods if hasattr(estimator, one)), None)
    if found is None:
        raise ValueError(
            f"{name}: expected an estimator with {' or '.join(methods)}, got {type(estimator).__name__} without"
        )
    return found


def scores_of_classes(estimator: Any, X: Any, method: str, classes: Classes) -> Array:
    """The scores of every class (N, n) by a method.

    A class that the estimator does not know has the probability 0, and of other scores the lowest.
    """
    found = np.asarray(getattr(estimator, method)(X), float)
    own = np.asarray(getattr(estimator, "classes_", classes.labels)).tolist()
    if found.ndim == 1:
        found = np.stack([-found, found], axis=-1) if len(own) == 2 else found[:, None]
    if found.ndim != 2 or found.shape[1] != len(own):
        raise ValueError(f"{method}: expected scores of {len(own)} classes, (N, {len(own)}), got shape {found.shape}")
    missing = np.isnan(found).any(axis=-1)
    if missing.any():
        raise ValueError(f"{method}: expected numbers, got NaN for {missing.sum():,} of {missing.size:,} samples")
    rest = 0.0 if method == "predict_proba" or not found.size else float(found.min())
    columns = np.full((len(found), classes.number), rest)
    columns[:, [classes.index(label) for label in own]] = found
    return columns
