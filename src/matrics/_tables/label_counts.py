"""The classes of two arrays of labels if the caller names none, and their confusion matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array, Standard, as_arrays, is_compiling
from matrics._arrays.frames import columns_of, is_frame
from matrics._arrays.inputs import is_missing, library, refuse_masks, refuse_missing
from matrics._arrays.sizes import one_or_more
from matrics._catalogue.classes import Classes, Sorted
from matrics._counting.build import confusion_matrix
from matrics._counting.codes import check_classes, labels_on_host
from matrics._counting.labels import check_whole, squared_weights
from matrics._quoting import quoted, quoted_list
from matrics._tables.columns import coded, common_order, in_their_order
from matrics._tables.counts import warn_of_odd_labels
from matrics._tables.frame_counts import FrameCounts
from matrics._tables.vocabularies import ADVICE, apart, refuse_disjoint, two_names

__all__ = ["Occurring", "count_labels", "occurring"]

HINT = ": pass the classes as labels=[...]"
SCORES = "of class scores pass the label of each column, in order, as labels=[...]"


def count_labels(
    y_true: Any,
    y_pred: Any,
    labels: Iterable[Hashable] | None = None,
    sample_weight: Any = None,
    ignore_index: Any = None,
    *,
    positive: Hashable = None,
    advice: str = ADVICE,
    squares: bool = False,
) -> FrameCounts:
    """Count labels into a matrix (*B, n, n) of the classes ``labels``, or of the labels that occur.

    Parameters
    ----------
    positive : label, optional
        The positive class. A text with a true and a predicted label, ``yes=pos``, makes a single class of both.
    advice : str
        The advice in messages about labels in different words.
    squares : bool
        Whether to count the squared weights as well.

    Raises
    ------
    TypeError, ValueError
        As in :func:`matrics.confusion_matrix`; or, without ``labels``, there are no labels, or they are floating
        numbers, missing, or of several kinds.
    """
    options: dict[str, Any] = {"ignore_index": ignore_index, "labels": labels}
    if labels is None:
        if is_compiling():
            raise TypeError(f"y_true, y_pred: expected labels with known values, got traced arrays{HINT}")
        true, pred = occurring("y_true", y_true), occurring("y_pred", y_pred)
        left_out = one_or_more(ignore_index)
        sides = _sides(true, pred, left_out)
        named = two_names(*sides, positive)
        if named is not None:
            y_true, y_pred = named.codes(true.values, pred.values)
            classes: tuple[Hashable, ...] = named.classes
            options = {"num_classes": 2, "ignore_index": -1 if left_out else None}
            return _counted(y_true, y_pred, classes, sample_weight, options, squares=squares)
        _refuse_column(true.values, pred.values)
        categories = common_order([(true.categories, sides[0]), (pred.categories, sides[1])])
        if categories:
            classes = type(categories)([label for label in categories if label not in left_out])
        else:
            classes = _classes(*sides, advice)
            _refuse_models(sides[0], pred.values, advice)
            warn_of_odd_labels(sides[0], [label for label in sides[1] if label not in left_out])
        if positive is not None and len(classes) > 2:
            _refuse_apart(classes, sides[0], pred.values, positive)
        y_true, y_pred = true.original, pred.original
        if classes == tuple(range(len(classes))) and true.are_numbers and pred.are_numbers:
            options.update(
                labels=None, num_classes=len(classes)
            )  # class numbers are counted without a search for labels
        else:
            options.update(labels=classes)
    else:
        classes = check_classes(None, labels).labels or ()
        options.update(labels=classes)
        classes = labels if isinstance(labels, Sorted) else classes
    return _counted(y_true, y_pred, classes, sample_weight, options, squares=squares)


def _counted(
    y_true: Any,
    y_pred: Any,
    classes: tuple[Hashable, ...],
    sample_weight: Any,
    options: dict[str, Any],
    *,
    squares: bool,
) -> FrameCounts:
    matrix = confusion_matrix(y_true, y_pred, sample_weight=sample_weight, **options)
    squared = None
    if squares and sample_weight is not None:
        squared = confusion_matrix(y_true, y_pred, sample_weight=squared_weights(sample_weight), **options)
    return FrameCounts(matrix, {}, classes, squared)


class Occurring(NamedTuple):
    """The labels of an argument on the host."""

    name: str
    original: Any  # the argument; floating numbers are converted to integers
    values: Array
    categories: tuple[Any, ...] | None
    are_numbers: bool  # integers or booleans, by the dtype

    def listed(self) -> list[Any]:
        """The labels of all samples; raises a TypeError if a label cannot be compared."""
        labels: list[Any] = self.values.ravel().tolist()
        odd = next((label for label in labels if not isinstance(label, Hashable)), None)
        if odd is not None:
            raise TypeError(
                f"{self.name}: expected labels that can be compared and hashed, got {quoted(odd)}, a "
                f"{type(odd).__name__}"
            )
        return _whole(self.name, labels)


def occurring(name: str, original: Any) -> Occurring:
    """The labels of an argument; raises an error for a missing label, and for a number that is not an integer."""
    refuse_masks(name, original)
    refuse_missing(name, original)
    values, backend = labels_on_host(original, name)
    if values is None:
        values = _from_device(name, original, backend)
    if values.dtype.kind == "f" and values.size:
        if name == "y_pred" and values.ndim > 1:
            _refuse_scores()
        check_whole(values, name, SCORES if name == "y_pred" else "")
        values = values.astype(np.int64)
        original = backend.from_host(values)
    return Occurring(name, original, values, _categories(original), values.dtype.kind in "biu")


def _from_device(name: str, original: Any, backend: Standard) -> Array:
    """Labels from a device, which blocks until they are computed; raises a TypeError for traced labels."""
    array = backend.detached(as_arrays(**{name: original})[1][0])
    if not backend.can_look(array):
        raise TypeError(f"{name}: expected labels with known values, got a traced {type(original).__name__}{HINT}")
    return backend.to_numpy(array)


def _categories(column: Any) -> tuple[Any, ...] | None:
    """All categories of a categorical column or a Polars Enum in their order, also of a frame with a single column."""
    if is_frame(column):
        columns = columns_of(column)
        return _categories(columns[0]) if len(columns) == 1 else None
    if library(column) == "pyarrow":
        return coded("labels", column).categories if getattr(column.type, "ordered", False) else None
    dtype = getattr(column, "dtype", None)
    if library(column) == "pandas":
        return in_their_order(dtype) if hasattr(dtype, "categories") and hasattr(dtype, "ordered") else None
    if library(column) == "polars" and type(dtype).__name__ == "Enum":
        return tuple(dtype.categories)  # type: ignore[union-attr]
    return None


def _sides(true: Occurring, pred: Occurring, left_out: Sequence[Hashable]) -> tuple[list[Hashable], list[Hashable]]:
    """The distinct true and predicted labels of the samples that are not left out."""
    kept = None
    if left_out:
        kept = np.asarray([label not in left_out for label in true.values.ravel().tolist()], bool)
        kept = kept.reshape(true.values.shape)
    return _different(true, kept), _different(pred, _kept_predictions(kept, pred.values.shape))


def _refuse_column(true: Array, pred: Array) -> None:
    """Raise for labels (N, 1), such as a data frame with a single column, as they would make N matrices."""
    if true.shape == pred.shape and true.ndim == 2 and true.shape[1] == 1 < true.shape[0]:
        raise ValueError(
            f"y_true, y_pred: expected labels of samples along the last axis, got shapes {true.shape}: a column (N, 1) "
            "becomes (N,) with y_true[:, 0]"
        )


def _refuse_models(of_true: list[Hashable], pred: Array, advice: str) -> None:
    """Raise if a model of several predicts none of the true labels, as it probably uses other words."""
    for row in pred.reshape(-1, pred.shape[-1]) if pred.ndim > 1 else ():
        refuse_disjoint(of_true, row.tolist(), advice)


def _classes(of_true: list[Hashable], of_pred: list[Hashable], advice: str) -> tuple[Hashable, ...]:
    """The sorted labels that occur."""
    both = dict.fromkeys([*of_true, *of_pred])
    if not both:
        raise ValueError(f"y_true: expected at least one sample, got none{HINT}")
    try:
        classes = Sorted.of(both)
    except TypeError as error:
        kinds = quoted_list({type(label): label for label in both}.values())
        raise TypeError(
            f"y_true, y_pred: expected labels of the same kind, which have an order, got {kinds}{HINT}"
        ) from error
    refuse_disjoint(of_true, of_pred, advice)
    return classes


def _refuse_apart(classes: tuple[Hashable, ...], of_true: list[Hashable], y_pred: Array, positive: Hashable) -> None:
    """Raise if predictions that are not a true label would count as negative."""
    if len(of_true) > 2:
        return
    is_true = np.asarray([label in of_true for label in classes])
    listed = y_pred.ravel().tolist()
    number = np.asarray(
        [0 if is_known else listed.count(label) for label, is_known in zip(classes, is_true, strict=True)]
    )
    Classes.of(len(classes), classes, positive, apart=apart(classes, is_true.astype(int), number))


def _kept_predictions(kept: Array | None, shape: tuple[int, ...]) -> Array | None:
    """Whether each prediction is of a sample that is not left out, with the batch axes of the predictions."""
    if kept is None:
        return None
    try:
        return np.broadcast_to(kept, shape)
    except ValueError:  # confusion_matrix raises the error for shapes that do not fit
        return None


def _different(labels: Occurring, kept: Array | None) -> list[Hashable]:
    """The distinct labels, in the order of their first samples; sorted if they are numbers."""
    values = labels.values if kept is None else labels.values[kept]
    if labels.are_numbers:
        return list(np.unique(values).tolist())
    listed = values.ravel().tolist()
    try:
        distinct = list(dict.fromkeys(listed))
    except TypeError as error:
        odd = next(label for label in listed if not isinstance(label, Hashable))
        raise TypeError(
            f"{labels.name}: expected labels that can be compared and hashed, got {quoted(odd)}, a {type(odd).__name__}"
        ) from error
    if any(map(_is_missing, distinct)):
        _refuse_missing(labels.name, values, has_positions=kept is None)
    return _whole(labels.name, distinct)


def _whole(name: str, labels: list[Any]) -> list[Any]:
    """Labels with integers in place of floating numbers; raises a ValueError for a number with a fraction."""
    fraction = next((label for label in labels if isinstance(label, float) and not label.is_integer()), None)
    if fraction is not None:
        hint = f"; {SCORES}" if name == "y_pred" else ""
        raise ValueError(f"{name}: expected labels, integers or text, got {fraction:g}, which is not whole{hint}")
    return [int(label) if isinstance(label, float) else label for label in labels]


def _refuse_missing(name: str, values: Array, *, has_positions: bool) -> None:
    missing = np.asarray([_is_missing(label) for label in values.ravel().tolist()], bool).reshape(values.shape)
    at = f", the first at {tuple(int(i) for i in np.argwhere(missing)[0])}" if has_positions else ""
    raise ValueError(
        f"{name}: expected a label for every sample, got {np.count_nonzero(missing):,} of {missing.size:,} missing{at}"
    )


def _is_missing(label: Any) -> bool:
    """Whether a label is missing, or empty text."""
    return is_missing(label) or label == ""


def _refuse_scores() -> None:
    raise TypeError(f"y_pred: expected labels, integers or text, got floating numbers with several axes; {SCORES}")
