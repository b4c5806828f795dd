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
class Named:
    """A measure of scores: what kind it is, which decides how its limits are formed."""

    name: str
    kind: Kind
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    of_probabilities: bool = False
    option: str = ""  # of a point of a curve: its given rate, or k
    at: float = math.nan  # and its value

    def bounds(self, num_classes: int | None) -> tuple[float, float]:
        """The range: the Brier score of classes is the sum over all of them."""
        return (0.0, 2.0) if self.name == "brier_score" and num_classes is not None else self.range


# Those of a curve, of one class against the rest.
CURVES = ("area", "precision", "point")
#: The measures of a point of a curve, and the option that says which point.
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
        Named("roc_auc", "area"),
        Named("average_precision", "precision"),
        Named("log_loss", "mean", (0.0, math.inf), higher_is_better=False, of_probabilities=True),
        Named("brier_score", "mean", higher_is_better=False, of_probabilities=True),
        Named(CALIBRATION, "calibration", higher_is_better=False, of_probabilities=True),
        *(
            Named(name, "point", (0.0, math.inf if name == "lift_at_k" else 1.0), option=option)
            for name, option in POINTS.items()
        ),
    )
}
NAMES = names_of(set(MEASURES))
#: What is measured if nothing is asked for: the latter where scores are probabilities.
DEFAULT, DEFAULT_OF_PROBABILITIES = ("roc_auc", "average_precision"), ("log_loss", "brier_score")


def read_measures(metrics: Any, *, are_probabilities: bool) -> dict[str, Named]:
    """The measures by their names as they were given."""
    if metrics is None:
        metrics = (*DEFAULT, *DEFAULT_OF_PROBABILITIES) if are_probabilities else DEFAULT
    given = [metrics] if isinstance(metrics, str) else list(metrics) if isinstance(metrics, Iterable) else [metrics]
    if not all(isinstance(name, str) for name in given):
        raise TypeError(f"metrics: expected names, such as {', '.join(DEFAULT)}, got {quoted(given)}")
    names = list(dict.fromkeys(part.strip() for name in given for part in split_outside(name) if part.strip()))
    if not names:
        raise ArgumentError("metrics", "expected at least one name, got none")
    found = {name: _read(name) for name in names}
    needing = [name for name, measure in found.items() if measure.of_probabilities]
    if needing and not are_probabilities:
        raise ArgumentError(
            "metrics", f"expected scores in [0, 1] for {', '.join(needing)}, which are of probabilities, got others"
        )
    return found


def _read(spec: str) -> Named:
    name, bracket, rest = spec_of(spec).partition("(")
    known = MEASURES.get(name.strip())
    if known is None:
        known_names = ", ".join(name for name in MEASURES if name not in POINTS)
        points = ", ".join(_example(name) for name in POINTS)
        hint = near(spec, NAMES)
        raise ArgumentError(
            "metrics",
            f"{hint}expected {known_names}, {points}, got "
            f"{quoted(spec)}; measures of predicted labels have their limits from matrics.interval",
        )
    options = options_of(bracket, rest, spec_of(spec))
    if known.kind != "point":
        if options:
            raise ArgumentError("metrics", f"expected {quoted(known.name)}, without options, got {quoted(spec)}")
        return known
    at = _value(options, known.option)
    if math.isnan(at):
        what = "a number of samples of 1 or more" if known.option == "k" else "a number from 0 to 1"
        raise ArgumentError("metrics", f"expected {_example(known.name)} with {what}, got {quoted(spec)}")
    return replace(known, at=at)


def _example(name: str) -> str:
    """The spec of a point of a curve, as messages show it."""
    option = POINTS[name]
    return f"{name}({option}={100 if option == 'k' else 0.9})"


def _value(options: dict[str, Any], option: str) -> float:
    """The value of the only option; NaN for others, and for values out of range."""
    try:
        value = float(options[option]) if set(options) == {option} else math.nan
    except ValueError:
        return math.nan
    is_good = value >= 1 and value.is_integer() if option == "k" else 0 <= value <= 1
    return value if is_good else math.nan
