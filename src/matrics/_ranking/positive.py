"""Which class scores are of: its labels become 1, all others 0, and scores that are lower there change their sign."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._arrays.frames import by_columns, column, is_frame
from matrics._arrays.inputs import is_missing, refuse_masks
from matrics._arrays.sizes import one_or_more
from matrics._catalogue.classes import TWO, Classes
from matrics._counting.codes import known_labels, true_codes
from matrics._counting.labels import check_ignore_index
from matrics._errors import ArgumentError
from matrics._quoting import quoted, quoted_list

#: The name of the negative class if it has several labels, or if values cannot be inspected.
REST = "rest"
# With positive=, the new label of samples to leave out.
LEFT_OUT = -2


class Labels(NamedTuple):
    """Labels as integers, and the positive label."""

    values: Any  # as given, or 0 and 1 for labels that are not numbers
    positive: int | None
    ignored: tuple[int, ...]
    names: tuple[Hashable, Hashable] | None = None  # of the rest and of the positive class, if known
    known: tuple[Hashable, ...] | None = None  # the labels of all classes, if the values are their indices

    def check_number(self, number: int, *, has_classes: bool, each: str) -> None:
        """Raise an error unless the number of labels fits; any number fits scores of a single positive class."""
        if self.known is None or len(self.known) == number or not (has_classes or self.positive is None):
            return
        each = each if has_classes else "or positive=, with the scores of a single class"
        raise ArgumentError("labels", f"expected {number}, {each}, got {len(self.known)}")

    def named(self, numbers: tuple[Hashable, Hashable]) -> tuple[Hashable, Hashable]:
        """The labels of the rest and of the positive class, from their indices."""
        labels = self.known
        if labels is None:
            return numbers
        rest, positive = (labels[side] if isinstance(side, int) else side for side in numbers)
        return rest, positive


def read_labels(
    y_true: Any,
    positive: Any,
    ignore_index: Any,
    has_columns: Callable[[tuple[int, ...]], bool],
    *,
    labels: Any = None,
    is_batch: bool = False,
) -> Labels:
    """The labels as integers, and the positive label; labels that are not numbers become 0 and 1.

    Labels that are not numbers need ``positive``, because their order has no meaning, or ``labels``, which has an
    order. The positive label may be absent from a batch of a state. ``has_columns`` is a function of the shape of the
    labels: whether scores have a column for each class.
    """
    class_labels = known_labels(labels)
    if class_labels is not None:
        values, ignored = true_codes(class_labels, y_true, ignore_index, may_drop=is_batch)
        return Labels(values, None if positive is None else _place(positive, class_labels), ignored, known=class_labels)
    texts = _text_labels(y_true, positive)
    if texts is None:
        ignored = check_ignore_index(ignore_index)
        return Labels(y_true, None if positive is None else _integer(positive), ignored)
    is_missing_label = _is_missing(texts)
    if is_missing_label.any():
        texts = texts.copy()
        texts[is_missing_label] = None  # which can be compared with any label
    left_out = one_or_more(ignore_index)
    is_kept = np.ones(texts.shape, bool)
    for label in left_out:
        is_kept &= ~_equals(texts, label)
    lacks_label = is_kept & is_missing_label
    if lacks_label.any():
        first = tuple(int(i) for i in np.argwhere(lacks_label)[0])
        raise ArgumentError(
            "y_true",
            f"expected a label for every sample, got {np.count_nonzero(lacks_label):,} of {texts.size:,} "
            f"missing, the first at {first}",
        )
    if positive is None:
        distinct = _different(texts[is_kept])
        if has_columns(texts.shape):
            raise ArgumentError(
                "y_true",
                "expected integers, the number of the column of each class, got the labels "
                f"{_listed(distinct)}: pass labels=, the labels of the classes in the order of the columns",
            )
        advice = (
            " or ".join(f"positive={quoted(label)}" for label in distinct)
            if len(distinct) == 2
            else "positive=, its label"
        )
        raise ArgumentError(
            "y_true",
            f"expected the integers 0 and 1, got the labels {_listed(distinct)}: pass the class of the scores, "
            f"{advice}",
        )
    positive = positive.item() if isinstance(positive, np.generic) else positive
    is_positive = is_kept & _equals(texts, positive)
    rest = texts[is_kept & ~is_positive]
    if not is_batch:
        _check_has_positive(positive, is_positive, lambda: _different(rest))
    codes = np.where(is_kept, is_positive.astype(np.int64), LEFT_OUT)
    name_of_rest = rest.flat[0] if rest.size and bool((rest == rest.flat[0]).all()) else REST
    return Labels(codes, 1, (LEFT_OUT,) if left_out else (), (name_of_rest, positive))


def against_rest(
    y_true: Array, kept: Array | None, positive: int, backend: Standard
) -> tuple[Array, Array, tuple[Hashable, Hashable]]:
    """Integer labels (*B, N) as 0 and 1, whether each is out of range, and the names of both classes.

    Any two labels are accepted, also -1 and 1. If other labels are 0 or above, a negative label marks samples to leave
    out, and is out of range.
    """
    xp = backend.xp
    is_positive = y_true == positive
    is_rest = ~is_positive if kept is None else ~is_positive & kept
    is_negative = is_rest & (y_true < 0)
    is_class = is_rest & (y_true >= 0)
    is_bad = is_negative & xp.any(is_class, axis=-1, keepdims=True) if y_true.shape[-1] else is_negative
    rest: Hashable = REST
    if backend is NUMPY:
        if is_bad.any():
            first = tuple(int(i) for i in np.argwhere(is_bad)[0])
            raise ArgumentError(
                "y_true",
                f"expected labels from 0 on, or two labels, got {int(y_true[first])} at {first} with others "
                f"({np.count_nonzero(is_bad)} of {is_bad.size} are below 0); ignore_index= leaves samples out",
            )
        others = y_true[is_rest]
        _check_has_positive(positive, is_positive, lambda: _different(others))
        rest = int(others[0]) if others.size and bool((others == others[0]).all()) else REST
    return xp.astype(is_positive, y_true.dtype), is_bad, (rest, positive)


def directed(values: Any, *, lower_is_positive: bool) -> Any:
    """Scores or thresholds with the other sign if scores are lower in the positive class, otherwise unchanged.

    Changing the sign is exact, so a threshold keeps the digits of its score.
    """
    return -values if lower_is_positive else values


def two_classes(names: tuple[Hashable, Hashable] | None) -> Classes:
    """The classes of the confusion matrices at thresholds."""
    return TWO if names is None else Classes.of(2, names, by_construction=True)


def _text_labels(values: Any, positive: Any) -> Array | None:
    """Labels that are not numbers, as an array; None for numbers and for traced arrays."""
    if isinstance(values, (list, tuple)):
        first: Any = values
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        # A list of numbers may be long, and is searched for text only if the positive label is text.
        is_text = isinstance(first, (str, bytes, type(None))) or (
            isinstance(positive, str) and not _is_digits(positive)
        )
        values = np.asarray(values, object) if is_text else None
    if values is None:
        return None
    if isinstance(values, np.ndarray):
        array = values
    elif is_frame(values):
        array = by_columns(values)
    elif hasattr(values, "to_numpy"):  # a Series
        array = column(values)
    else:
        return None
    if array.dtype.kind not in "OSUT" or not array.size:
        return None
    refuse_masks("y_true", array)
    array = array.astype(object)
    numbers = (int, float, complex, np.generic, type(None))
    return array if any(isinstance(label, str) or not isinstance(label, numbers) for label in array.flat) else None


def _is_digits(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


def _integer(positive: Any) -> int:
    """The positive label as an integer; it may be text, as on the command line, or a float without a fraction."""
    value = positive.item() if isinstance(positive, np.generic) else positive
    try:
        number = int(value)
        if isinstance(value, (int, float, str)) and (isinstance(value, str) or number == value):
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ArgumentError("positive", f"expected a label of y_true, which has integers, got {quoted(positive)}")


def _place(positive: Any, known: tuple[Hashable, ...]) -> int:
    """The index of the positive class among the labels of all classes."""
    positive = positive.item() if isinstance(positive, np.generic) else positive
    if positive not in known:
        raise ArgumentError("positive", f"expected a label of labels=, {_listed(list(known))}, got {quoted(positive)}")
    return known.index(positive)


def _equals(labels: Array, label: Any) -> Array:
    """Whether each label equals the given label."""
    return np.asarray([value == label for value in labels.flat], bool).reshape(labels.shape)


def _is_missing(labels: Array) -> Array:
    """Whether each label is missing; the distinct labels are checked first, as they are few."""
    values = labels.ravel().tolist()
    try:
        has_any = any(map(is_missing, dict.fromkeys(values)))
    except TypeError:  # not hashable
        has_any = True
    is_missing_label = np.asarray(list(map(is_missing, values)), bool) if has_any else np.zeros(len(values), bool)
    return is_missing_label.reshape(labels.shape)


def _check_has_positive(positive: Any, is_positive: Array, others: Any) -> None:
    """Raise an error if no sample is positive although there are several classes: probably the label is misspelt."""
    if is_positive.any():
        return
    labels = others()
    if len(labels) > 1:
        raise ArgumentError("positive", f"expected a label of y_true, {_listed(labels)}, got {quoted(positive)}")


def _different(labels: Array) -> list[Any]:
    """The distinct labels, sorted by their texts."""
    plain = (label.item() if isinstance(label, np.generic) else label for label in labels.tolist())
    return sorted(dict.fromkeys(plain), key=str)


def _listed(labels: list[Any]) -> str:
    more = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
    return quoted_list(labels[:8]) + more
