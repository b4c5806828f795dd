"""The measures of scores that have limits, by name."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from matrics._catalogue.of_scores import names_of, near, spec_of
from matrics._catalogue.registry import options_of
from matrics._errors import ArgumentError
from matrics._quoting import quoted, split_outside

Kind = Literal["area", "precision", "mean", "point", "calibration"]


@dataclass(frozen=True)
class ScoreMeasure:
    """A measure of scores, and its kind, which determines the method of its limits."""

    name: str
    kind: Kind
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    of_probabilities: bool = False
    option: str = ""  # the option that gives a point of a curve: a rate, or k
    at: float = math.nan  # the value of the option

    def bounds(self, num_classes: int | None) -> tuple[float, float]:
        """The range of values; the Brier score of classes is a sum over the classes."""
        return (0.0, 2.0) if self.name == "brier_score" and num_classes is not None else self.range


# The kinds of measures of curves, which compare each class with the rest.
CURVES = ("area", "precision", "point")
#: The measures of a point of a curve, and the option that selects the point.
POINTS = {
    "recall_at_specificity": "specificity",
    "precision_at_recall": "recall",
    "recall_at_precision": "precision",
    "precision_at_k": "k",
    "recall_at_k": "k",
    "lift_at_k": "k",
}
CALIBRATION = "expected_calibration_error"
MEASURES = {
    measure.name: measure
    for measure in (
        ScoreMeasure("roc_auc", "area"),
        ScoreMeasure("average_precision", "precision"),
        ScoreMeasure("log_loss", "mean", (0.0, math.inf), higher_is_better=False, of_probabilities=True),
        ScoreMeasure("brier_score", "mean", higher_is_better=False, of_probabilities=True),
        ScoreMeasure(CALIBRATION, "calibration", higher_is_better=False, of_probabilities=True),
        *(
            ScoreMeasure(name, "point", (0.0, math.inf if name == "lift_at_k" else 1.0), option=option)
            for name, option in POINTS.items()
        ),
    )
}
NAMES = names_of(set(MEASURES))
#: The default measures; the latter are added if the scores are probabilities.
DEFAULT, DEFAULT_OF_PROBABILITIES = ("roc_auc", "average_precision"), ("log_loss", "brier_score")


def read_measures(metrics: Any, *, are_probabilities: bool) -> dict[str, ScoreMeasure]:
    """The measures, keyed by name as given."""
    if metrics is None:
        metrics = (*DEFAULT, *DEFAULT_OF_PROBABILITIES) if are_probabilities else DEFAULT
    items = [metrics] if isinstance(metrics, str) else list(metrics) if isinstance(metrics, Iterable) else [metrics]
    if not all(isinstance(name, str) for name in items):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(items)}")
    names = list(dict.fromkeys(part.strip() for name in items for part in split_outside(name) if part.strip()))
    if not names:
        raise ArgumentError("metrics", "expected at least one name, got none")
    measures = {name: _read(name) for name in names}
    of_probabilities = [name for name, measure in measures.items() if measure.of_probabilities]
    if of_probabilities and not are_probabilities:
        raise ArgumentError(
            "metrics",
            f"expected scores in [0, 1] for {', '.join(of_probabilities)}, which score probabilities, got others",
        )
    return measures


def _read(spec: str) -> ScoreMeasure:
    name, bracket, rest = spec_of(spec).partition("(")
    known = MEASURES.get(name.strip())
    if known is None:
        known_names = ", ".join(name for name in MEASURES if name not in POINTS)
        points = ", ".join(_example(name) for name in POINTS)
        hint = near(spec, NAMES)
        raise ArgumentError(
            "metrics",
            f"{hint}expected {known_names}, {points}, got "
            f"{quoted(spec)}; for measures of predicted labels use matrics.interval",
        )
    options = options_of(bracket, rest, spec_of(spec))
    if known.kind != "point":
        if options:
            raise ArgumentError("metrics", f"expected {quoted(known.name)}, without options, got {quoted(spec)}")
        return known
    value = _value(options, known.option)
    if math.isnan(value):
        expected_value = "a number of samples of 1 or more" if known.option == "k" else "a number from 0 to 1"
        raise ArgumentError("metrics", f"expected {_example(known.name)} with {expected_value}, got {quoted(spec)}")
    return replace(known, at=value)


def _example(name: str) -> str:
    """An example of the spec of a point of a curve, for messages."""
    option = POINTS[name]
    return f"{name}({option}={100 if option == 'k' else 0.9})"


def _value(options: dict[str, Any], option: str) -> float:
    """The value of the only option; NaN for other options and for values out of range."""
    try:
        value = float(options[option]) if set(options) == {option} else math.nan
    except ValueError:
        return math.nan
    is_good = value >= 1 and value.is_integer() if option == "k" else 0 <= value <= 1
    return value if is_good else math.nan
