"""The verdicts on requirements: limits by intervals and comparisons, and how many samples would decide."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from matrics._catalogue.classes import Classes
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._gates.requirements import Requirement
from matrics._gates.results import GateResult, Limits, RequirementResult, verdict_of
from matrics._gates.samples import Correction, Evidence, Samples
from matrics._gates.scores import ScoreMeasure, deciding_number, difference_of, limits_of_scores, lower_limit_holds
from matrics._judged.interval import interval as judged_interval
from matrics._judged.needed import labels_needed
from matrics._plot.confusion import Confusion, most_frequent
from matrics._quoting import quoted
from matrics._uncertainty.compare import compare, compare_paired
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import check_level
from matrics._uncertainty.planning import samples_needed
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.status import Side, enough, is_biased, needs_of


def limits_of(
    metrics: dict[str, Metric | ScoreMeasure], given: Evidence, options: dict[str, Any], *, is_relative: bool
) -> dict[str, Limits]:
    """The limits of each measure by its key, or those of its difference from the baseline's."""
    of_scores = [metric for metric in metrics.values() if isinstance(metric, ScoreMeasure)]
    limits = {}
    if of_scores and given.scores is not None:
        other = given.baseline_scores if is_relative else None
        limits = limits_of_scores(of_scores, given.scores, options["level"], other)
    of_labels = {key: metric for key, metric in metrics.items() if isinstance(metric, Metric)}
    return limits | _limits_of_labels(of_labels, given, options, is_relative=is_relative)


def _limits_of_labels(
    metrics: dict[str, Metric], given: Evidence, options: dict[str, Any], *, is_relative: bool
) -> dict[str, Limits]:
    if not metrics:
        return {}
    chosen = list(metrics.values())
    if given.labels is not None:
        known = {name: value for name, value in options.items() if name != "invalid"}
        found: Any = judged_interval(given.labels, chosen, **known)
        if is_relative and given.baseline_labels is not None:
            there = judged_interval(given.baseline_labels, chosen, **known)
            return {key: difference_of(_limits_in(here), _limits_in(there[key])) for key, here in found.items()}
    elif not is_relative and given.clusters is not None:
        found = interval(given.clusters, chosen, cluster_axis=0, **options)
    elif not is_relative:
        found = interval(given.cm, chosen, squared_weights=given.squares, **options)
    elif given.joint_clusters is not None:
        found = compare_paired(given.joint_clusters, chosen, cluster_axis=0, **options)
    elif given.joint is not None:
        found = compare_paired(given.joint, chosen, squared_weights=given.joint_squares, **options)
    elif given.clusters is not None:
        others: Any = given.baseline_clusters
        found = compare(given.clusters, others, chosen, cluster_axis=0, **options)
    else:
        squares: Any = None if given.squares is None else (given.squares, given.baseline_squares)
        other: Any = given.baseline  # there is one, or nothing to compare
        found = compare(given.cm, other, chosen, squared_weights=squares, **options)
    return {key: _limits_in(limits) for key, limits in found.items()}


def _limits_in(result: Any) -> Limits:
    """The limits of an interval or of a comparison."""
    return _plain(*(result[k] for k in range(3)), result.status)


def needs_of_requirement(requirement: Requirement, given: Evidence) -> list[tuple[float, float]]:
    """The samples that there are, and those that are needed for the limit that decides on a requirement to hold.

    A difference from a baseline needs them of both models.
    """
    measure, side = Measure.of(requirement.metric), _side_of(requirement)
    return [need for table in _tables_of(requirement, given) for need in needs_of(measure=measure, side=side, **table)]


def has_bias(requirement: Requirement, given: Evidence) -> bool:
    """Whether the limit that decides on a requirement may not hold because an estimate is biased."""
    measure, side = Measure.of(requirement.metric), _side_of(requirement)
    side = None if requirement.is_relative else side  # a difference is wrong on either side
    return any(is_biased(measure=measure, side=side, **table) for table in _tables_of(requirement, given))


def _tables_of(requirement: Requirement, given: Evidence) -> list[dict[str, Any]]:
    """The matrices of a requirement: of a difference from a baseline those of both models."""
    here = {"cm": given.cm, "squares": given.squares, "clusters": given.clusters}
    if not requirement.is_relative:
        return [here]
    if given.joint is None:
        there = {"cm": given.baseline, "squares": given.baseline_squares, "clusters": given.baseline_clusters}
        return [here, there]
    return [
        {
            "cm": given.joint.sum(axis),
            "squares": None if given.joint_squares is None else given.joint_squares.sum(axis),
            "clusters": None if given.joint_clusters is None else given.joint_clusters.sum(axis + 1),
        }
        for axis in (2, 1)
    ]


def _side_of(requirement: Requirement) -> Side:
    """The limit that decides."""
    return "low" if requirement.sign in {">=", ">"} else "high"


def about_one_limit(limits: Limits, requirement: Requirement, given: Evidence) -> Limits:
    """The limits with the status of the one that decides: few errors, or a bias, may make only the other one wrong."""
    if requirement.is_of_scores:
        has_few = limits.status == IntervalStatus.FEW_SAMPLES
        about_area = has_few and not requirement.is_relative and _side_of(requirement) == "low"
        holds = about_area and given.scores is not None and lower_limit_holds(requirement.metric, given.scores)
    elif limits.status == IntervalStatus.FEW_SAMPLES:
        holds = all(enough(number, least) for number, least in needs_of_requirement(requirement, given))
    elif limits.status == IntervalStatus.BIASED:
        holds = not has_bias(requirement, given)
    else:
        return limits
    return limits._replace(status=IntervalStatus.OK) if holds else limits


def _plain(*parts: Any) -> Limits:
    """In plain numbers: a value or a difference, its limits, and the status."""
    *numbers, status = parts
    estimate, low, high = map(float, numbers)
    return Limits(estimate, low, high, list(IntervalStatus)[int(status)])


# How exactly the number is searched for, and up to how many times the number from which the search starts.
STEPS, MOST_TIMES = 10, 2.0**10


def deciding_samples(requirement: Requirement, limits: Limits, given: Evidence, options: dict[str, Any]) -> int | None:
    """About how many samples in the same proportions would decide; None if no number would.

    ``options`` are those of :func:`matrics.interval`.
    """
    distance = abs(limits.estimate - requirement.limit)
    if not 0 < distance < math.inf or limits.are_missing or limits.status == IntervalStatus.LIMITS_MISS:
        return None
    if given.labels is not None:
        return _deciding_labels(requirement, limits, distance, given, options)
    if requirement.is_of_scores and given.scores is not None:
        return deciding_number(limits, distance, given.scores.number)
    now = given.compared if requirement.is_relative else given.samples
    if given.clusters is not None:
        return deciding_number(limits, distance, now)
    times = 1.0
    if limits.low <= requirement.limit <= limits.high:
        times = _times_for_width(requirement, distance, now, given, options)
    if limits.status != IntervalStatus.OK:
        times = max(times, _times_for_status(limits.status, given, requirement))
    return math.ceil(max(times * now * (1 - 1e-9), now + 1)) if math.isfinite(times) else None


def _deciding_labels(
    requirement: Requirement, limits: Limits, distance: float, given: Evidence, options: dict[str, Any]
) -> int | None:
    """About how many labels drawn at random would decide; None if all samples would not be enough.

    A difference needs them in both groups: the squares of the half widths of both add up to that of the difference.
    """
    both = [given.labels, given.baseline_labels] if requirement.is_relative else [given.labels]
    half_width = distance / math.sqrt(len(both))
    needed = [
        labels_needed(counts, requirement.metric, half_width=half_width, level=options["level"])
        for counts in both
        if counts is not None
    ]
    number = max(float(of_one.labels) for of_one in needed)
    if not math.isfinite(number):
        return None
    few = limits.status != IntervalStatus.OK
    return None if few and not any(of_one.more for of_one in needed) else int(max(number, given.samples + 1))


def _times_for_width(
    requirement: Requirement, distance: float, now: float, given: Evidence, options: dict[str, Any]
) -> float:
    """How many times as many samples put the bound outside the interval; infinite if none do.

    The search starts where half of the interval's width is the distance of the estimate from the bound: the limits are
    not at equal distances, and those of proportions depend on the bound itself.
    """
    # With a power of one half the difference is half of the width. That of two independent samples varies twice as much
    # as one value, whose own half width would be found by simulation for some measures, and by the search below faster.
    paired = given.joint if requirement.is_relative else None
    difference = distance if requirement.is_relative else distance * math.sqrt(2)
    size: dict[str, Any] = {"difference": difference, "power": 0.5, "paired": paired}
    # NaN: the measure of mere proportions is undefined, or does not vary.
    start = float(samples_needed(given.cm, requirement.metric, **size, **options)) / now
    start = 1.0 if math.isnan(start) else start

    def decides(times: float) -> bool:
        metrics, is_relative = {str(requirement.metric): requirement.metric}, requirement.is_relative
        (limits,) = limits_of(metrics, given.times(times), options, is_relative=is_relative).values()
        return verdict_of(requirement.sign, requirement.limit, limits._replace(status=IntervalStatus.OK)) != "undecided"

    low, high = 1.0, max(start, 1.0)
    while not decides(high):
        low, high = high, 2 * high
        if high > MOST_TIMES * max(start, 1.0):
            return math.inf
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def _times_for_status(status: IntervalStatus, given: Evidence, requirement: Requirement) -> float:
    """How many times as many samples an interval needs for a status of 0; infinite if no number gives one."""
    if status == IntervalStatus.BIASED:  # with more samples the classes that differ compete no longer
        some = (2.0**k for k in range(1, STEPS + 1))
        return next((times for times in some if not has_bias(requirement, given.times(times))), math.inf)
    if status != IntervalStatus.FEW_SAMPLES:
        return math.inf
    needs = needs_of_requirement(requirement, given)
    return max(least / number if number else math.inf for number, least in needs)


METHOD = "auto"
GRADES = {"pass", "fail"}  # the classes of answers


def check_options(
    margin: Any, on_undecided: Any, *, other: bool, correction: Any = None, has_groups: bool = False
) -> float:
    """The margin, once it, what undecided counts as and the correction are checked."""
    is_number = isinstance(margin, (int, float)) and not isinstance(margin, bool)
    if not is_number or not 0 <= margin < math.inf:
        raise ArgumentError("margin", f"expected a number of at least 0, got {quoted(margin)}")
    if margin and not other:
        raise ArgumentError("margin", f"expected a baseline with it, or a reference group, got {margin:g} without")
    if on_undecided not in (None, "pass", "fail"):
        raise ArgumentError("on_undecided", f"expected 'pass', 'fail' or None, got {quoted(on_undecided)}")
    if correction not in (None, "none", "bonferroni"):
        raise ArgumentError("correction", f"expected 'none', 'bonferroni' or None, got {quoted(correction)}")
    if correction is not None and not has_groups:
        raise ArgumentError("correction", f"expected groups with it, got {quoted(correction)} without")
    return float(margin)


def judged(
    requirements: list[Requirement],
    given: Samples,
    classes: Classes,
    *,
    level: float,
    correction: Correction | None = None,
    on_undecided: Any = None,
    zero_division: float = math.nan,
    top: int = 5,
) -> GateResult:
    """The verdict on each requirement in each group, and the most frequent errors by the names of the classes."""
    level = check_level(level)
    _refuse_unlabelled(requirements, given)
    options: dict[str, Any] = {"level": level, "zero_division": zero_division, "invalid": "raise"}
    rows: list[list[RequirementResult]] = [[] for _ in requirements]
    for place, evidence in enumerate(given.parts):
        is_reference = place == given.reference
        chosen = [k for k, own in enumerate(requirements) if not (is_reference and own.is_relative)]
        for side in (False, True):
            of_side = [k for k in chosen if requirements[k].is_relative is side]
            number = given.shared_by(correction, is_relative=side)
            here = evidence if given.reference is None else evidence.against(given.parts[given.reference])
            shared = {**options, "level": 1 - (1 - level) / number if number > 1 else level}
            metrics = {str(requirements[k].metric): requirements[k].metric for k in of_side}
            limits = limits_of(metrics, here, shared, is_relative=side)
            for k in of_side:
                verdict = _result(requirements[k], limits[str(requirements[k].metric)], here, shared)
                group = given.names[place] if given.names else ""
                rows[k].append(replace(verdict, group=group, adjusted_for=number))
    samples, units = (sum(part.samples for part in given.parts), given.parts[0].unit)
    return GateResult(
        tuple(row for of_requirement in rows for row in of_requirement),
        on_undecided,
        samples,
        _errors(given, classes, top),
        units,
        given.names,
        None if given.reference is None else given.names[given.reference],
        level,
    )


def _refuse_unlabelled(requirements: list[Requirement], given: Samples) -> None:
    """Raise for measures of labels where there are only scores."""
    first = next((requirement for requirement in requirements if not requirement.is_of_scores), None)
    if given.parts[0].cm is None and first is not None:
        raise ArgumentError("y_pred", f"expected predicted labels with {first.metric}, got scores alone")


def _result(requirement: Requirement, limits: Limits, given: Evidence, options: dict[str, Any]) -> RequirementResult:
    """The verdict on one requirement, by the limits of its measure."""
    limits = about_one_limit(limits, requirement, given)
    verdict = verdict_of(requirement.sign, requirement.limit, limits)
    number = given.compared if requirement.is_relative else given.samples
    if requirement.is_of_scores and given.scores is not None:
        number = given.scores.number
    return RequirementResult(
        requirement.asked,
        requirement.title,
        verdict,
        limits.estimate,
        limits.low,
        limits.high,
        requirement.limit,
        options["level"],
        METHOD,
        limits.status,
        samples=number,
        is_weighted=given.squares is not None,
        unit=given.unit,
        needed=deciding_samples(requirement, limits, given, options) if verdict == "undecided" else None,
    )


def _errors(given: Samples, classes: Classes, top: int) -> tuple[Confusion, ...]:
    """The most frequent errors in all samples."""
    matrices = [part.cm for part in given.parts if part.cm is not None]
    if not matrices:
        return ()
    names = [str(label) for label in classes.labels or range(classes.number)]
    whole = sum(matrices[1:], start=matrices[0])
    sides = (whole.any(axis=0).sum(), whole.any(axis=1).sum())
    if set(names) <= GRADES and min(sides) < 2:  # grades of answers: the errors are the failed answers
        return ()
    if given.parts[0].labels is not None:  # a corrected matrix has parts of samples
        whole = np.rint(whole)
    return tuple(most_frequent(whole, names, top))
