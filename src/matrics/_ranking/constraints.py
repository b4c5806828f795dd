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
        """Which values of the measure satisfy the bound; an undefined value does not."""
        return COMPARISONS[self.sign](values, self.limit)

    def best(self, values: Array, xp: Namespace) -> Array:
        """The value that is nearest to keeping to the bound, along the last axis; infinite if all are undefined."""
        missing, inf = xp.isnan(values), float("inf")
        if self.sign.startswith(">"):
            return xp.max(xp.where(missing, -inf, values), axis=-1)
        return xp.min(xp.where(missing, inf, values), axis=-1)


def read_constraints(given: Any, classes: Classes = TWO, name: str = "subject_to") -> list[Constraint]:
    """The constraints of a text, with commas between several, or of several texts; ``name`` is that of the argument."""
    if given is None:
        return []
    is_several = isinstance(given, Iterable) and not isinstance(given, (str, Mapping))
    texts = list(given) if is_several else [given]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{name}: expected text such as 'recall>=0.9', or a list of such, got {quoted(given)}")
    if not all(text.strip() for text in texts):
        raise ValueError(f"{name}: expected constraints such as 'recall>=0.9', got an empty text: {quoted(given)}")
    return [_read(part.strip(), classes, name) for text in texts for part in split_outside(text) if part.strip()]


def is_bound(text: str) -> bool:
    """Whether a text has a sign of a comparison outside brackets, where those of options are."""
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
    last = max(text.rfind(character) for character in "<>=")  # a number has none of them
    first = last - (text[last : last + 1] == "=")
    name, sign, number = (part.strip() for part in (text[: max(first, 0)], text[first : last + 1], text[last + 1 :]))
    if not name or sign not in COMPARISONS or is_bound(name):
        raise ArgumentError(
            argument, f"expected a measure, one of >=, <=, >, < and a number, such as 'recall>=0.9', got {quoted(text)}"
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
    chosen = list(resolve(name, classes).values())
    if len(chosen) != 1:
        raise ArgumentError(argument, f"expected one measure before {sign} in {quoted(text)}, got {len(chosen)}")
    return Constraint(text, name, chosen[0], sign, limit)
