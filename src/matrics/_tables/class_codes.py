"""Columns of labels as codes of classes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.classes import Categories, Sorted
from matrics._counting.codes import check_classes
from matrics._quoting import quoted, quoted_list
from matrics._tables.columns import Coded, Where, at_position

__all__ = ["class_codes", "common_order", "given_labels", "sorted_labels"]


def given_labels(num_classes: int | None, labels: Iterable[Hashable] | None) -> tuple[Hashable, ...] | None:
    """The labels of the classes that the call names; None if it names none."""
    if num_classes is None and labels is None:
        return None
    classes = check_classes(num_classes, labels)
    return tuple(range(classes.number)) if classes.labels is None else classes.labels


def sorted_labels(columns: Sequence[tuple[Any, Coded]], hint: str = "") -> tuple[Hashable, ...]:
    """The labels that occur in columns with their names, sorted; ``hint`` ends messages with advice for the caller."""
    labels = {_whole(label) for _, column in columns for label in column.listed()}
    names = " and ".join(quoted(name) for name, _ in columns)
    named = f"columns {names}" if len(columns) > 1 else f"column {names}"
    floating = [label for label in labels if isinstance(label, (float, Decimal))]
    if floating:
        raise ValueError(f"{named}: expected labels, whole numbers or text, got {floating[0]}, which is not whole")
    if not labels:
        raise ValueError(f"{named}: expected at least one row, got none{hint}")
    try:
        return Sorted.of(labels)
    except TypeError as error:
        kinds = quoted_list({type(label): label for label in labels}.values())
        raise TypeError(f"{named}: expected labels that have an order, got {kinds}{hint}") from error


def common_order(sides: Iterable[tuple[tuple[Any, ...] | None, Iterable[Hashable]]]) -> tuple[Any, ...] | None:
    """The categories that all sides have, or the only ordered ones, if they are all labels of the others."""
    sides = list(sides)
    given = {categories for categories, _ in sides}
    if len(given) == 1:
        found = given.pop()
        return tuple(found) if isinstance(found, Categories) else found
    ordered = {categories for categories in given if categories and not isinstance(categories, (Categories, Sorted))}
    if len(ordered) != 1:
        return None
    (order,) = ordered
    return order if all(label in order for _, labels in sides for label in labels) else None


def _whole(label: Hashable) -> Hashable:
    """A floating or decimal number that is whole as an integer; any other label unchanged."""
    return int(label) if isinstance(label, (float, Decimal)) and label % 1 == 0 else label


def class_codes(name: Any, column: Coded, labels: Sequence[Hashable], where: Where = at_position) -> Array:
    """The class of each row; an unknown label raises ValueError."""
    places = {label: place for place, label in enumerate(labels)}
    values = column.listed()
    numbers = np.asarray([places.get(value, -1) for value in values], np.int64)
    unknown = np.flatnonzero(numbers < 0)
    if unknown.size:
        rows = np.isin(column.codes, unknown)
        first = int(rows.argmax())
        raise ValueError(
            f"column {quoted(name)}: expected one of the labels {quoted_list(labels)}, got "
            f"{quoted(values[column.codes[first]])} {where(first)} ({np.count_nonzero(rows):,} of {rows.size:,} are "
            "unknown)"
        )
    return numbers[column.codes]
