"""Requirements: bounds of measures (``recall[fraud] >= 0.9``), and measures no worse than those of a baseline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._quoting import quoted, split_outside
from matrics._ranking.constraints import is_bound, read_constraints
from matrics._scoring.score import resolve

_EXPECTED = "expected bounds such as 'mcc >= 0.8'"


class Requirement(NamedTuple):
    """A bound of one value: of a measure, or of its difference from the baseline's."""

    asked: str  # as the user wrote it
    title: str
    metric: Metric
    sign: str
    limit: float
    is_relative: bool = False


def read_requirements(given: Any, classes: Classes, margin: float, *, has_baseline: bool) -> list[Requirement]:
    """The requirements of a text, a measure, or several of them; measures without a bound are for the baseline.

    Parameters
    ----------
    given
        Texts, with commas between several, or metrics.
    classes : Classes
        The classes of the matrix; a measure of every class is one requirement for each.
    margin : float
        By how much a measure may be worse than the baseline's.
    has_baseline : bool
        Whether there is a baseline, which measures without a bound need.
    """
    is_several = isinstance(given, Iterable) and not isinstance(given, (str, Mapping, Metric))
    items = list(given) if is_several else [given]
    wrong = next((item for item in items if not isinstance(item, (str, Metric))), None)
    if wrong is not None or not items:
        raise TypeError(f"requirements: {_EXPECTED}, as text or a list of such, got {quoted(given)}")
    found: list[Requirement] = []
    for item in items:
        parts = [part.strip() for part in split_outside(item)] if isinstance(item, str) else [item]
        if not all(parts):
            raise ArgumentError("requirements", f"{_EXPECTED}, got an empty one: {quoted(item)}")
        for part in parts:
            if isinstance(part, str) and is_bound(part):
                found += [_bound(*one) for one in _each(part, classes)]
            elif has_baseline:
                found += _relative(part, classes, margin)
            else:
                raise ArgumentError(
                    "requirements", f"{_EXPECTED}, or a baseline to compare with, got {quoted(str(part))}"
                )
    if has_baseline and not any(one.is_relative for one in found):
        raise ArgumentError("baseline", "expected a measure to compare with it, such as 'mcc', got bounds alone")
    return found


def bound(metric: str | Metric, sign: str, limit: Any, classes: Classes) -> list[Requirement]:
    """A bound of a measure given apart from its limit."""
    if isinstance(limit, bool) or not isinstance(limit, (int, float, np.number)) or math.isnan(limit):
        raise ArgumentError("least", f"expected a number, got {quoted(limit)}")
    chosen = resolve(metric, classes)
    return [
        _bound(f"{metric} {sign} {limit:.10g}", title, one, sign, float(limit))
        for key, whole in chosen.items()
        for title, one in _by_class(title_of(key), whole, classes)
    ]


def _each(text: str, classes: Classes) -> list[tuple[str, str, Metric, str, float]]:
    (constraint,) = read_constraints(text, classes, "requirements")
    (key,) = resolve(constraint.name, classes)
    asked = f"{constraint.name} {constraint.sign} {constraint.limit:.10g}"
    return [
        (asked, title, metric, constraint.sign, constraint.limit)
        for title, metric in _by_class(title_of(key), constraint.metric, classes)
    ]


def _bound(asked: str, title: str, metric: Metric, sign: str, limit: float) -> Requirement:
    least, most = metric.range
    if not least <= limit <= most:
        raise ArgumentError(
            "requirements",
            f"expected a number from {least:g} to {most:g}, the range of {title}, after {sign}, got "
            f"{limit:.10g} in {quoted(asked)}",
        )
    return Requirement(asked, f"{title} {sign} {limit:.10g}", metric, sign, limit)


def _relative(part: str | Metric, classes: Classes, margin: float) -> list[Requirement]:
    """No worse than the baseline by more than the margin, as a bound of the difference."""
    found = []
    for key, whole in resolve(part, classes).items():
        if whole.higher_is_better is None:
            raise ArgumentError(
                "requirements", f"expected measures with a better direction to compare with the baseline, got {key}"
            )
        sign, limit = (">=", 0.0 - margin) if whole.higher_is_better else ("<=", margin)
        for title, metric in _by_class(title_of(key), whole, classes):
            text = f"{title} - baseline {sign} {limit:.10g}"
            found.append(Requirement(str(key), text, metric, sign, limit, is_relative=True))
    return found


def _by_class(title: str, metric: Metric, classes: Classes) -> list[tuple[str, Metric]]:
    """The measure, or that of each class if it has a value for every class."""
    if not metric.is_classwise:
        return [(title, metric)]
    ones = [replace(metric, average=None).of_classes((k,)) for k in range(classes.number)]
    return [(one.title(classes), one) for one in ones]
