"""Functions for all sources: compute a number with the library, and compare it with the printed number."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from matrics._catalogue.registry import get_metric
from matrics._metrics.spectral import eigenvalues, gershgorin_bounds
from matrics._scoring.score import score
from matrics._stacks.transform import one_vs_rest, pair_counts, rebalance, repair, transpose
from matrics._study.sources.records import Record

Verdict = Literal["match", "erratum", "ambiguous", "unexplained"]

# Transforms by name; a step (name, k) takes matrix k of the result of a transform.
STEPS: dict[str, Callable[[Any], Any]] = {
    "transpose": transpose,
    "repair": functools.partial(repair, where="zero_diagonal"),
    "rebalance": rebalance,
    "one_vs_rest": one_vs_rest,
    "pair_counts": pair_counts,
}
Step = str | tuple[str, int]

# The tolerance for a float64 value and a true value of 60 digits.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
# The tolerance for two random experiments, in standard errors.
STANDARD_ERRORS = 4.0


class Compute(Protocol):
    """A function that computes a number; the tests use functions for PyTorch, JAX and compiled code."""

    def __call__(self, matrix: Any, steps: Iterable[Step], spec: str, place: int | None = None) -> float:
        """Return the value of a spec for the transformed matrix; ``place`` selects from several values."""
        ...


def compute_with_library(matrix: Any, steps: Iterable[Step], spec: str, place: int | None = None) -> float:
    """The value of a spec for a matrix, computed by the library with NumPy.

    In addition to the specs of :func:`matrics.score` there are ``"eigenvalues of A"`` and ``"eigenvalues of B"``
    (ascending), ``"lower"`` and ``"upper"`` (the printed bounds of the eigenvalues), and ``"recall of 0"``, where the
    first of two classes is positive.
    """
    cm = np.asarray(matrix, dtype=float)
    for step in steps:
        name, choice = step if isinstance(step, tuple) else (step, ...)
        cm = STEPS[name](cm)[choice]
    values = _value(cm, spec)
    return float(values if place is None else values[place])


def _value(cm: Any, spec: str) -> Any:
    if spec.startswith("eigenvalues of "):
        return eigenvalues(cm, matrix="A" if spec.endswith("A") else "B")
    if spec in ("lower", "upper"):
        return getattr(gershgorin_bounds(cm), spec)
    if spec.endswith(" of 0"):
        return get_metric(spec.removesuffix(" of 0"))(cm, positive=0)
    return score(cm, spec)[spec]


def rows_true(record: Record) -> list[Step]:
    """The transforms that put the true classes of a record into the rows."""
    return ["transpose"] if record.rows == "predicted" else []


def no_readings(_: Record) -> dict[str, float]:
    """No readings, for a source in which each number has a single reading."""
    return {}


def no_error(_: Record) -> float:
    """The error 0, for a source without random experiments."""
    return 0.0


@dataclass(frozen=True)
class Reproduced:
    """A printed number, and the same number computed by the library.

    Attributes
    ----------
    record : Record
        The printed value and the true value.
    value : float
        The value computed now.
    readings : dict of float
        The values under other readings, by the assumption of the reading.
    error : float
        The standard error of the difference from the printed value; 0 unless the value is computed from random
        matrices.
    verdict : str
        ``"match"``, ``"erratum"``, ``"ambiguous"`` or ``"unexplained"``.
    reason : str
        The reason if the value does not simply match.
    """

    record: Record
    value: float
    readings: Mapping[str, float]
    error: float
    verdict: Verdict
    reason: str


def compare(record: Record, value: float, readings: Mapping[str, float], error: float) -> Reproduced:
    """The comparison of a value with the printed value and the true value.

    A value matches the printed value if they differ by at most a unit of the last printed digit: source 000 truncates
    about as often as it rounds. Whole numbers other than percentages must be equal: they are counts, bounds, and
    statements.
    """
    verdict, reason = _verdict(record, value, readings, error)
    return Reproduced(record, value, readings, error, verdict, reason)


def _verdict(record: Record, value: float, readings: Mapping[str, float], error: float) -> tuple[Verdict, str]:
    if not _is_true(record, value, readings, error):
        return "unexplained", f"the true value is {'undefined' if record.computed is None else record.computed}"
    is_match = matches_print(record, value, error)
    if record.verdict == "ambiguous":
        return "ambiguous", record.note
    if record.verdict == "erratum":
        return (
            ("unexplained", "it matches the printed value, although that is a known erratum")
            if is_match
            else ("erratum", record.note)
        )
    if is_match:
        return "match", ""
    fitting = [label for label, reading in readings.items() if matches_print(record, reading, error)]
    return ("match", fitting[0]) if fitting else ("unexplained", "it is not the printed value, and no erratum is known")


def _is_true(record: Record, value: float, readings: Mapping[str, float], error: float) -> bool:
    if record.computed is None:  # another form may have a value, which is a reading here
        return any(math.isnan(number) for number in (value, *readings.values()))
    return abs(value - record.computed) <= RELATIVE * abs(record.computed) + ABSOLUTE + STANDARD_ERRORS * error


def matches_print(record: Record, value: float, error: float = 0.0) -> bool:
    """Whether a value equals the printed value, up to a unit of the last digit."""
    text = record.printed.rstrip("%")
    if text == "NA":
        return math.isnan(value)
    if text.endswith("?"):  # not legible
        return False
    if text.startswith(">"):
        return value > float(text[1:])
    number = float(text.removeprefix("about "))
    inexact = "." in text or "%" in record.printed + record.measure or text.startswith("about ")
    digits = len(text.partition(".")[2].partition("e")[0])
    unit = 10.0**-digits if inexact else 0.0
    return abs(value - number) <= unit * (1 + 1e-9) + ABSOLUTE + STANDARD_ERRORS * error
