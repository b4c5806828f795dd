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

#: The name of the other class if it is several labels, or values cannot be inspected.
REST = "rest"
# With positive=, the new label of samples to leave out.
LEFT_OUT = -2


class Labels(NamedTuple):
    """Labels as integers, and the positive label."""

    values: Any  # as given, or 0 and 1 of labels that are no numbers
    positive: int | None
    ignored: tuple[int, ...]
    names: tuple[Hashable, Hashable] | None = None  # of the rest and of the positive class, where these are known
    known: tuple[Hashable, ...] | None = None  # the labels of all classes, of which the values are the numbers

    def check_number(self, number: int, *, has_classes: bool, each: str) -> None:
        """Raise unless there is a label for each of so many classes; of one positive class there may be any number."""
        if self.known is None or len(self.known) == number or not (has_classes or self.positive is None):
            return
        each = each if has_classes else "or positive=, with the scores of one class"
        raise ArgumentError("labels", f"expected {number}, {each}, got {len(self.known)}")

    def named(self, sides: tuple[Hashable, Hashable]) -> tuple[Hashable, Hashable]:
        """The labels of the rest and of the positive class, of which these are the numbers."""
        known = self.known
        if known is None:
            return sides
        rest, positive = (known[side] if isinstance(side, int) else side for side in sides)
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
    """Labels that are no numbers as 0 and 1; integers unchanged; and the positive label.

    Labels that are no numbers need ``positive``, because their order has no meaning, or ``labels``, which has an order.
    A batch of many need not have the positive one. ``has_columns`` says, for labels of this shape, whether scores have
    a column for each class.
    """
    known = known_labels(labels)
    if known is not None:
        values, ignored = true_codes(known, y_true, ignore_index, may_drop=is_batch)
        return Labels(values, None if positive is None else _place(positive, known), ignored, known=known)
    texts = _others(y_true, positive)
    if texts is None:
        ignored = check_ignore_index(ignore_index)
        return Labels(y_true, None if positive is None else _integer(positive), ignored)
    missing = _missing(texts)
    if missing.any():
        texts = texts.copy()
        texts[missing] = None  # which compares with any label
    left_out = one_or_more(ignore_index)
    kept = np.ones(texts.shape, bool)
    for label in left_out:
        kept &= ~_same(texts, label)
    lacking = kept & missing
    if lacking.any():
        first = tuple(int(i) for i in np.argwhere(lacking)[0])
        raise ArgumentError(
            "y_true",
            f"expected a label for every sample, got {np.count_nonzero(lacking):,} of {texts.size:,} "
            f"missing, the first at {first}",
        )
    if positive is None:
        found = _different(texts[kept])
        if has_columns(texts.shape):
            raise ArgumentError(
                "y_true",
                "expected integers, the number of the column of each class, got the labels "
                f"{_listed(found)}: pass labels=, the labels of the classes in the order of the columns",
            )
        advice = (
            " or ".join(f"positive={quoted(label)}" for label in found) if len(found) == 2 else "positive=, its label"
        )
        raise ArgumentError(
            "y_true",
            f"expected the integers 0 and 1, got the labels {_listed(found)}: pass the class of the scores, {advice}",
        )
    positive = positive.item() if isinstance(positive, np.generic) else positive
    is_positive = kept & _same(texts, positive)
    rest = texts[kept & ~is_positive]
    if not is_batch:
        _check_found(positive, is_positive, lambda: _different(rest))
    codes = np.where(kept, is_positive.astype(np.int64), LEFT_OUT)
    only = rest.flat[0] if rest.size and bool((rest == rest.flat[0]).all()) else REST
    return Labels(codes, 1, (LEFT_OUT,) if left_out else (), (only, positive))


def against_rest(
    y_true: Array, kept: Array | None, positive: int, backend: Standard
) -> tuple[Array, Array, tuple[Hashable, Hashable]]:
    """Integers (*B, N) as 0 and 1, which of them are out of range, and the names of both.

    Any two labels are accepted, also -1 and 1. If other labels are 0 or above, a negative label marks samples to leave
    out rather than a class: it is out of range.
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
        _check_found(positive, is_positive, lambda: _different(others))
        rest = int(others[0]) if others.size and bool((others == others[0]).all()) else REST
    return xp.astype(is_positive, y_true.dtype), is_bad, (rest, positive)


def directed(values: Any, *, lower_is_positive: bool) -> Any:
    """Scores that are higher in the positive class, made of scores that are lower there; and thresholds, both ways.

    Changing the sign is exact, so a threshold has the digits of its score again.
    """
    return -values if lower_is_positive else values


def two_classes(names: tuple[Hashable, Hashable] | None) -> Classes:
    """The classes of the matrices that thresholds make."""
    return TWO if names is None else Classes.of(2, names, by_construction=True)


def _others(values: Any, positive: Any) -> Array | None:
    """Labels that are no numbers, as an array; None for numbers, which are not converted here, and traced arrays."""
    if isinstance(values, (list, tuple)):
        first: Any = values
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        # A list of numbers may be long, and is not searched for a text unless the positive class is one.
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
    """The positive label among integers; a text, as the command line has it, or a number that is one."""
    value = positive.item() if isinstance(positive, np.generic) else positive
    try:
        found = int(value)
        if isinstance(value, (int, float, str)) and (isinstance(value, str) or found == value):
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise ArgumentError("positive", f"expected one of the labels of y_true, which are integers, got {quoted(positive)}")


def _place(positive: Any, known: tuple[Hashable, ...]) -> int:
    """The number of the positive class among the labels of all classes."""
    positive = positive.item() if isinstance(positive, np.generic) else positive
    if positive not in known:
        raise ArgumentError("positive", f"expected one of labels=, {_listed(list(known))}, got {quoted(positive)}")
    return known.index(positive)


def _same(labels: Array, label: Any) -> Array:
    """Where labels are this one."""
    return np.asarray([one == label for one in labels.flat], bool).reshape(labels.shape)


def _missing(labels: Array) -> Array:
    """Where labels are missing; of many samples the few different labels are looked at first."""
    listed = labels.ravel().tolist()
    try:
        has_any = any(map(is_missing, dict.fromkeys(listed)))
    except TypeError:  # not hashable
        has_any = True
    found = np.asarray(list(map(is_missing, listed)), bool) if has_any else np.zeros(len(listed), bool)
    return found.reshape(labels.shape)


def _check_found(positive: Any, is_positive: Array, others: Any) -> None:
    """Raise if no sample is positive although there are several classes: probably the label is misspelt."""
    if is_positive.any():
        return
    found = others()
    if len(found) > 1:
        raise ArgumentError(
            "positive", f"expected one of the labels of y_true, {_listed(found)}, got {quoted(positive)}"
        )


def _different(labels: Array) -> list[Any]:
    """The different labels, in the order of their texts."""
    plain = (label.item() if isinstance(label, np.generic) else label for label in labels.tolist())
    return sorted(dict.fromkeys(plain), key=str)


def _listed(labels: list[Any]) -> str:
    more = f" and {len(labels) - 8} more" if len(labels) > 8 else ""
    return quoted_list(labels[:8]) + more
