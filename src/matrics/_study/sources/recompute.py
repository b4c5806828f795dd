"""The shared part of all sources: compute a number with the library, and compare it with the printed one."""

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

# Transforms by name; a step (name, k) takes the k-th of the matrices that a transform makes.
STEPS: dict[str, Callable[[Any], Any]] = {
    "transpose": transpose,
    "repair": functools.partial(repair, where="zero_diagonal"),
    "rebalance": rebalance,
    "one_vs_rest": one_vs_rest,
    "pair_counts": pair_counts,
}
Step = str | tuple[str, int]

# How far a value may be from the true one: 60 digits against float64.
RELATIVE, ABSOLUTE = 1e-9, 1e-12
# How many standard errors two random experiments may differ by.
STANDARD_ERRORS = 4.0


class Ask(Protocol):
    """Computes one number. The tests compute the same numbers with PyTorch, JAX and compiled code."""

    def __call__(self, matrix: Any, steps: Iterable[Step], spec: str, place: int | None = None) -> float:
        """Return what a spec is of the matrix that the steps make; ``place`` takes one of many values."""
        ...


def ask_library(matrix: Any, steps: Iterable[Step], spec: str, place: int | None = None) -> float:
    """Compute with the library on NumPy.

    In addition to the specs of :func:`matrics.score` there are ``"eigenvalues of A"`` and ``"of B"`` (ascending),
    ``"lower"`` and ``"upper"`` (the printed bounds of the eigenvalues), and ``"recall of 0"``: of two classes, where
    the first is the positive one.
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
    """The steps that put the true classes of a record into the rows."""
    return ["transpose"] if record.rows == "predicted" else []


def no_readings(_: Record) -> dict[str, float]:
    """A source in which each number has only one reading."""
    return {}


def no_error(_: Record) -> float:
    """A source without random experiments."""
    return 0.0


@dataclass(frozen=True)
class Reproduced:
    """A printed number and the number computed by the library.

    Attributes
    ----------
    record : Record
        The printed value and the true value.
    value : float
        The value computed now.
    readings : dict of float
        The values under other readings, by the assumption of each.
    error : float
        The standard error of the difference from the printed value; 0 unless it comes from random matrices.
    verdict : str
        ``"match"``, ``"erratum"``, ``"ambiguous"`` or ``"unexplained"``.
    reason : str
        Why it does not simply match.
    """

    record: Record
    value: float
    readings: Mapping[str, float]
    error: float
    verdict: Verdict
    reason: str


def judge(record: Record, value: float, readings: Mapping[str, float], error: float) -> Reproduced:
    """Compare a value with the printed one and with the true one.

    It matches the print if it differs by at most one unit of the last printed digit: source 000 truncates about as
    often as it rounds. Whole numbers other than percentages are exact: they are counts, bounds, and statements.
    """
    verdict, reason = _judged(record, value, readings, error)
    return Reproduced(record, value, readings, error, verdict, reason)


def _judged(record: Record, value: float, readings: Mapping[str, float], error: float) -> tuple[Verdict, str]:
    if not _is_true(record, value, readings, error):
        return "unexplained", f"the true value is {'undefined' if record.computed is None else record.computed}"
    printed = is_print(record, value, error)
    if record.verdict == "ambiguous":
        return "ambiguous", record.note
    if record.verdict == "erratum":
        return (
            ("unexplained", "it matches the print, although it is a known erratum")
            if printed
            else ("erratum", record.note)
        )
    if printed:
        return "match", ""
    fitting = [label for label, reading in readings.items() if is_print(record, reading, error)]
    return ("match", fitting[0]) if fitting else ("unexplained", "it is not the printed value, and no erratum is known")


def _is_true(record: Record, value: float, readings: Mapping[str, float], error: float) -> bool:
    if record.computed is None:  # it may have a value in another form, which is a reading here
        return any(math.isnan(some) for some in (value, *readings.values()))
    return abs(value - record.computed) <= RELATIVE * abs(record.computed) + ABSOLUTE + STANDARD_ERRORS * error


def is_print(record: Record, value: float, error: float = 0.0) -> bool:
    """Whether a value is the printed one, up to one unit of its last digit."""
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
