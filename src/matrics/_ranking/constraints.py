"""Constraints on thresholds: conditions such as ``recall>=0.9``."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from matrics._arrays import Array, Namespace
from matrics._catalogue.classes import TWO, Classes
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._quoting import LONGEST, quoted, split_outside
from matrics._scoring.score import resolve

COMPARISONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


class Constraint(NamedTuple):
    """A bound of a measure."""

    text: str
    name: str  # of the measure, as given
    metric: Metric
    sign: str
    limit: float

    def holds(self, values: Array) -> Array:
        """Whether each value of the measure satisfies the bound; an undefined value does not."""
        return COMPARISONS[self.sign](values, self.limit)

    def best(self, values: Array, xp: Namespace) -> Array:
        """The value along the last axis that comes nearest to the bound; infinite if all values are undefined."""
        missing, inf = xp.isnan(values), float("inf")
        if self.sign.startswith(">"):
            return xp.max(xp.where(missing, -inf, values), axis=-1)
        return xp.min(xp.where(missing, inf, values), axis=-1)


def read_constraints(constraints: Any, classes: Classes = TWO, name: str = "subject_to") -> list[Constraint]:
    """The constraints of a text, separated by commas, or of several texts; ``name`` is the argument in messages."""
    if constraints is None:
        return []
    is_several = isinstance(constraints, Iterable) and not isinstance(constraints, (str, Mapping))
    texts = list(constraints) if is_several else [constraints]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name}: expected text such as 'recall>=0.9', or a list of such, got {quoted(constraints)}")
    if not all(text.strip() for text in texts):
        raise ValueError(
            f"{name}: expected constraints such as 'recall>=0.9', got an empty text: {quoted(constraints)}"
        )
    return [_read(part.strip(), classes, name) for text in texts for part in split_outside(text) if part.strip()]


def is_bound(text: str) -> bool:
    """Whether a text has a comparison outside brackets, which enclose options of a measure."""
    return any(len(split_outside(text, character)) > 1 for character in "<>=")


class Bound(NamedTuple):
    """The parts of a bound: the name of a measure as given, a sign, and a number."""

    name: str
    sign: str
    limit: float


def read_bound(text: str, argument: str) -> Bound:
    """Split a bound into its parts; ``argument`` is the name for messages."""
    if len(text) > LONGEST:
        raise ArgumentError(
            argument, f"expected a constraint of at most {LONGEST:,} characters, got {len(text):,}: {quoted(text)}"
        )
    end = max(text.rfind(character) for character in "<>=")  # a number has none of these characters
    start = end - (text[end : end + 1] == "=")
    name, sign, number = (part.strip() for part in (text[: max(start, 0)], text[start : end + 1], text[end + 1 :]))
    if not name or sign not in COMPARISONS or is_bound(name):
        raise ArgumentError(
            argument, f"expected a measure, >=, <=, > or <, and a number, such as 'recall>=0.9', got {quoted(text)}"
        )
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if math.isnan(limit):
        raise ArgumentError(argument, f"expected a number after {sign} in {quoted(text)}, got {quoted(number)}")
    return Bound(name, sign, limit)


def _read(text: str, classes: Classes, argument: str) -> Constraint:
    name, sign, limit = read_bound(text, argument)
    metrics = list(resolve(name, classes).values())
    if len(metrics) != 1:
        raise ArgumentError(argument, f"expected a single measure before {sign} in {quoted(text)}, got {len(metrics)}")
    return Constraint(text, name, metrics[0], sign, limit)
