"""Requirements: bounds of measures (``recall[fraud] >= 0.9``), and measures compared with another model or group."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import title_of
from matrics._catalogue.of_scores import spec_of
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._gates.scores import ScoreMeasure, is_of_scores, read_measure
from matrics._quoting import quoted, split_outside
from matrics._ranking.constraints import is_bound, read_bound
from matrics._scoring.score import resolve

_EXPECTED = "expected bounds such as 'mcc >= 0.8'"

Other = Literal["baseline", "reference"]  # another model, or another group of samples


class Requirement(NamedTuple):
    """A bound of a measure, or of its difference from a baseline or from the reference group."""

    text: str  # as the user wrote it
    title: str
    metric: Any  # a Metric, or a ScoreMeasure
    sign: str
    limit: float
    is_relative: bool = False

    @property
    def is_of_scores(self) -> bool:
        """Whether the measure is of scores, and not of predicted labels."""
        return isinstance(self.metric, ScoreMeasure)


class _Known(NamedTuple):
    """The options with which requirements are read."""

    classes: Classes
    margin: float
    other: Other | None
    are_probabilities: bool | None  # None without scores


def read_requirements(
    specs: Any, classes: Classes, margin: float, *, other: Other | None = None, are_probabilities: bool | None = None
) -> list[Requirement]:
    """The requirements of a text, a measure, or several; measures without a bound are compared with ``other``.

    Parameters
    ----------
    specs
        Texts, with commas between several, or metrics.
    classes : Classes
        The classes of the matrix; a measure of every class is a requirement for each class.
    margin : float
        By how much a measure may be worse than the other's.
    other : {"baseline", "reference"}, optional
        What measures without a bound are compared with.
    are_probabilities : bool, optional
        Whether the scores are probabilities; None if there are no scores.
    """
    is_several = isinstance(specs, Iterable) and not isinstance(specs, (str, Mapping, Metric))
    items = list(specs) if is_several else [specs]
    wrong = next((item for item in items if not isinstance(item, (str, Metric))), None)
    if wrong is not None or not items:
        raise TypeError(f"requirements: {_EXPECTED}, as text or a list of such, got {quoted(specs)}")
    known, requirements = _Known(classes, margin, other, are_probabilities), list[Requirement]()
    for item in items:
        parts = [part.strip() for part in split_outside(item)] if isinstance(item, str) else [item]
        if not all(parts):
            raise ArgumentError("requirements", f"{_EXPECTED}, got an empty requirement in {quoted(item)}")
        for part in parts:
            if isinstance(part, str) and is_bound(part):
                requirements += _bounds(part, known)
            elif other is not None:
                requirements += _relative(part, other, known)
            else:
                raise ArgumentError(
                    "requirements", f"{_EXPECTED}, or a baseline to compare with, got {quoted(str(part))}"
                )
    if other is not None and not any(requirement.is_relative for requirement in requirements):
        raise ArgumentError(other, "expected a measure to compare with it, such as 'mcc', got bounds alone")
    return requirements


def has_measures(specs: Iterable[str], *, of_scores: bool) -> bool:
    """Whether requirements have a measure of scores, or a measure of labels."""
    parts = [part.strip() for text in specs for part in split_outside(text)]
    names = [read_bound(part, "requirements").name if is_bound(part) else part for part in parts]
    return any(is_of_scores(name) is of_scores for name in names)


def bound(metric: str | Metric, sign: str, limit: Any, classes: Classes) -> list[Requirement]:
    """The requirements of a measure, a sign and a number."""
    if isinstance(limit, bool) or not isinstance(limit, (int, float, np.number)) or math.isnan(limit):
        raise ArgumentError("least", f"expected a number, got {quoted(limit)}")
    chosen = resolve(metric, classes)
    return [
        _bound(f"{metric} {sign} {limit:.10g}", title, single, sign, float(limit))
        for key, whole in chosen.items()
        for title, single in _by_class(title_of(key), whole, classes)
    ]


def _bounds(text: str, known: _Known) -> list[Requirement]:
    name, sign, limit = read_bound(text, "requirements")
    requirement = f"{name} {sign} {limit:.10g}"
    measures = _measures(name, known)
    if len({key for key, _, _ in measures}) != 1:
        raise ArgumentError(
            "requirements", f"expected a single measure before {sign} in {quoted(text)}, got {len(measures)}"
        )
    return [_bound(requirement, title, metric, sign, limit) for _, title, metric in measures]


def _measures(name: str | Metric, known: _Known) -> list[tuple[str, str, Metric | ScoreMeasure]]:
    """The key, the title and the measure of each measure of a name; a measure of every class is split by class."""
    if isinstance(name, str) and is_of_scores(name):
        measure = read_measure(name, are_probabilities=known.are_probabilities)
        key = spec_of(name)
        return [(key, key, measure)]
    return [
        (key, title, metric)
        for key, whole in resolve(name, known.classes).items()
        for title, metric in _by_class(title_of(key), whole, known.classes)
    ]


def _bound(requirement: str, title: str, metric: Metric | ScoreMeasure, sign: str, limit: float) -> Requirement:
    least, most = metric.range
    if not least <= limit <= most:
        raise ArgumentError(
            "requirements",
            f"expected a number from {least:g} to {most:g}, the range of {title}, after {sign}, got "
            f"{limit:.10g} in {quoted(requirement)}",
        )
    return Requirement(requirement, f"{title} {sign} {limit:.10g}", metric, sign, limit)


def _relative(part: str | Metric, other: Other, known: _Known) -> list[Requirement]:
    """Bounds of the difference: a measure is worse than that of the other side by at most the margin."""
    requirements = []
    for key, title, metric in _measures(part, known):
        if metric.higher_is_better is None:
            raise ArgumentError(
                "requirements", f"expected measures with a better direction to compare with the {other}, got {key}"
            )
        if isinstance(metric, ScoreMeasure):
            metric.check_difference(other)
        sign, limit = (">=", 0.0 - known.margin) if metric.higher_is_better else ("<=", known.margin)
        text = f"{title} - {other} {sign} {limit:.10g}"
        requirements.append(Requirement(str(key), text, metric, sign, limit, is_relative=True))
    return requirements


def _by_class(title: str, metric: Metric, classes: Classes) -> list[tuple[str, Metric]]:
    """The title and the measure, or those of each class if the measure has a value for every class."""
    if not metric.is_classwise:
        return [(title, metric)]
    by_class = [replace(metric, average=None).of_classes((k,)) for k in range(classes.number)]
    return [(single.title(classes), single) for single in by_class]
