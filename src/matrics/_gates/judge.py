"""The verdicts on requirements, by intervals and comparisons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._errors import ArgumentError
from matrics._gates.limits import Evidence, about_one_limit, limits_of
from matrics._gates.needed import deciding_samples
from matrics._gates.requirements import Requirement
from matrics._gates.results import GateResult, RequirementResult, verdict_of
from matrics._plot.confusion import most_frequent
from matrics._quoting import quoted
from matrics._uncertainty.options import check_level

METHOD = "auto"


def check_manner(margin: Any, on_undecided: Any, *, has_baseline: bool) -> float:
    """The margin, once it and what undecided counts as are checked."""
    is_number = isinstance(margin, (int, float)) and not isinstance(margin, bool)
    if not is_number or not 0 <= margin < math.inf:
        raise ArgumentError("margin", f"expected a number of at least 0, got {quoted(margin)}")
    if margin and not has_baseline:
        raise ArgumentError("margin", f"expected a baseline with it, got {margin:g} without one")
    if on_undecided not in (None, "pass", "fail"):
        raise ArgumentError("on_undecided", f"expected 'pass', 'fail' or None, got {quoted(on_undecided)}")
    return float(margin)


def judged(
    wanted: list[Requirement],
    given: Evidence,
    classes: Classes,
    *,
    level: float,
    on_undecided: Any = None,
    zero_division: float = math.nan,
    top: int = 5,
) -> GateResult:
    """The verdict on each requirement, and the most frequent errors by the names of the classes."""
    level = check_level(level)
    options: dict[str, Any] = {"level": level, "zero_division": zero_division, "invalid": "raise"}
    absolute, relative = (
        {str(one.metric): one.metric for one in wanted if one.is_relative is side} for side in (False, True)
    )
    found = {
        side: limits_of(of_side, given, options, is_relative=side)
        for side, of_side in ((False, absolute), (True, relative))
    }
    verdicts = []
    for one in wanted:
        limits = about_one_limit(found[one.is_relative][str(one.metric)], one, given)
        verdict = verdict_of(one.sign, one.limit, limits)
        needed = deciding_samples(one, limits, given, options) if verdict == "undecided" else None
        verdicts.append(
            RequirementResult(
                one.asked,
                one.title,
                verdict,
                limits.estimate,
                limits.low,
                limits.high,
                one.limit,
                level,
                METHOD,
                limits.status,
                samples=given.compared if one.is_relative else given.samples,
                is_weighted=given.squares is not None,
                unit=given.unit,
                needed=needed,
            )
        )
    names = [str(label) for label in classes.labels or range(classes.number)]
    whole = given.cm if given.labels is None else np.rint(given.cm)  # a corrected matrix has parts of samples
    errors = tuple(most_frequent(whole, names, top))
    return GateResult(tuple(verdicts), on_undecided, given.samples, errors, given.unit)
