"""Verdicts on requirements by intervals and comparisons, and the number of samples that would decide."""

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
from matrics._progress import steps
from matrics._quoting import quoted
from matrics._ranking.inference.measure_estimates import check_k
from matrics._uncertainty.compare import compare, compare_paired
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import check_level
from matrics._uncertainty.planning import samples_needed
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.status import Side, enough, is_biased, needs_of


def limits_of(
    metrics: dict[str, Metric | ScoreMeasure], evidence: Evidence, options: dict[str, Any], *, is_relative: bool
) -> dict[str, Limits]:
    """The limits of each measure by its key, or the limits of its difference from the baseline."""
    of_scores = [metric for metric in metrics.values() if isinstance(metric, ScoreMeasure)]
    limits = {}
    if of_scores and evidence.scores is not None:
        other = evidence.baseline_scores if is_relative else None
        limits = limits_of_scores(of_scores, evidence.scores, options["level"], other)
    of_labels = {key: metric for key, metric in metrics.items() if isinstance(metric, Metric)}
    return limits | _limits_of_labels(of_labels, evidence, options, is_relative=is_relative)


def _limits_of_labels(
    metrics: dict[str, Metric], evidence: Evidence, options: dict[str, Any], *, is_relative: bool
) -> dict[str, Limits]:
    if not metrics:
        return {}
    chosen = list(metrics.values())
    if evidence.labels is not None:
        known = {name: value for name, value in options.items() if name != "invalid"}
        results: Any = judged_interval(evidence.labels, chosen, **known)
        if is_relative and evidence.baseline_labels is not None:
            there = judged_interval(evidence.baseline_labels, chosen, **known)
            return {key: difference_of(_limits_in(here), _limits_in(there[key])) for key, here in results.items()}
    elif not is_relative and evidence.clusters is not None:
        results = interval(evidence.clusters, chosen, cluster_axis=0, **options)
    elif not is_relative:
        results = interval(evidence.cm, chosen, squared_weights=evidence.squares, **options)
    elif evidence.joint_clusters is not None:
        results = compare_paired(evidence.joint_clusters, chosen, cluster_axis=0, **options)
    elif evidence.joint is not None:
        results = compare_paired(evidence.joint, chosen, squared_weights=evidence.joint_squares, **options)
    elif evidence.clusters is not None:
        others: Any = evidence.baseline_clusters
        results = compare(evidence.clusters, others, chosen, cluster_axis=0, **options)
    else:
        squares: Any = None if evidence.squares is None else (evidence.squares, evidence.baseline_squares)
        other: Any = evidence.baseline  # not None where a requirement is relative
        results = compare(evidence.cm, other, chosen, squared_weights=squares, **options)
    return {key: _limits_in(limits) for key, limits in results.items()}


def _limits_in(result: Any) -> Limits:
    """The limits of an interval or of a comparison."""
    return _plain(*(result[k] for k in range(3)), result.status)


def needs_of_requirement(requirement: Requirement, evidence: Evidence) -> list[tuple[float, float]]:
    """The number of samples, and the number that the deciding limit needs, for each condition of a requirement.

    A difference from a baseline has the conditions of both models.
    """
    measure, side = Measure.of(requirement.metric), _side_of(requirement)
    return [
        need for table in _tables_of(requirement, evidence) for need in needs_of(measure=measure, side=side, **table)
    ]


def has_bias(requirement: Requirement, evidence: Evidence) -> bool:
    """Whether the deciding limit of a requirement may be wrong because an estimate is biased."""
    measure, side = Measure.of(requirement.metric), _side_of(requirement)
    side = None if requirement.is_relative else side  # the bias of a difference may have either sign
    return any(is_biased(measure=measure, side=side, **table) for table in _tables_of(requirement, evidence))


def _tables_of(requirement: Requirement, evidence: Evidence) -> list[dict[str, Any]]:
    """The matrix of a requirement, or the matrices of both models if it compares them."""
    here = {"cm": evidence.cm, "squares": evidence.squares, "clusters": evidence.clusters}
    if not requirement.is_relative:
        return [here]
    if evidence.joint is None:
        there = {"cm": evidence.baseline, "squares": evidence.baseline_squares, "clusters": evidence.baseline_clusters}
        return [here, there]
    return [
        {
            "cm": evidence.joint.sum(axis),
            "squares": None if evidence.joint_squares is None else evidence.joint_squares.sum(axis),
            "clusters": None if evidence.joint_clusters is None else evidence.joint_clusters.sum(axis + 1),
        }
        for axis in (2, 1)
    ]


def _side_of(requirement: Requirement) -> Side:
    """The side of the deciding limit: a lower limit has to exceed a least value."""
    return "low" if requirement.sign in {">=", ">"} else "high"


def with_deciding_status(limits: Limits, requirement: Requirement, evidence: Evidence) -> Limits:
    """The limits with the status of the deciding limit: few errors, or a bias, may affect the other limit alone."""
    if requirement.is_of_scores:
        has_few = limits.status == IntervalStatus.FEW_SAMPLES
        is_lower_of_area = has_few and not requirement.is_relative and _side_of(requirement) == "low"
        holds = (
            is_lower_of_area and evidence.scores is not None and lower_limit_holds(requirement.metric, evidence.scores)
        )
    elif limits.status == IntervalStatus.FEW_SAMPLES:
        holds = all(enough(number, least) for number, least in needs_of_requirement(requirement, evidence))
    elif limits.status == IntervalStatus.BIASED:
        holds = not has_bias(requirement, evidence)
    else:
        return limits
    return limits._replace(status=IntervalStatus.OK) if holds else limits


def _plain(*parts: Any) -> Limits:
    """A value or a difference and its limits as floats, and the status."""
    *numbers, status = parts
    estimate, low, high = map(float, numbers)
    return Limits(estimate, low, high, list(IntervalStatus)[int(status)])


# The steps of bisection, and the largest number of samples, as a multiple of the number at which the search starts.
STEPS, MOST_TIMES = 10, 2.0**10


def deciding_samples(
    requirement: Requirement, limits: Limits, evidence: Evidence, options: dict[str, Any]
) -> int | None:
    """The approximate number of samples in the same proportions that would decide; None if no number would.

    The ``options`` are passed to :func:`matrics.interval`.
    """
    distance = abs(limits.estimate - requirement.limit)
    if not 0 < distance < math.inf or limits.are_missing or limits.status == IntervalStatus.LIMITS_MISS:
        return None
    if evidence.labels is not None:
        return _deciding_labels(requirement, limits, distance, evidence, options)
    if requirement.is_of_scores and evidence.scores is not None:
        if requirement.metric.named.option == "k":  # more samples do not add to the k highest scores
            return None
        return deciding_number(limits, distance, evidence.scores.number)
    now = evidence.compared if requirement.is_relative else evidence.samples
    if evidence.clusters is not None:
        return deciding_number(limits, distance, now)
    times = 1.0
    if limits.low <= requirement.limit <= limits.high:
        times = _times_for_width(requirement, distance, now, evidence, options)
    if limits.status != IntervalStatus.OK:
        times = max(times, _times_for_status(limits.status, evidence, requirement))
    return math.ceil(max(times * now * (1 - 1e-9), now + 1)) if math.isfinite(times) else None


def _deciding_labels(
    requirement: Requirement, limits: Limits, distance: float, evidence: Evidence, options: dict[str, Any]
) -> int | None:
    """The approximate number of random labels that would decide; None if labels of all samples would not.

    Both groups of a difference need this number, as the squares of their half widths add up to that of the difference.
    """
    both = [evidence.labels, evidence.baseline_labels] if requirement.is_relative else [evidence.labels]
    half_width = distance / math.sqrt(len(both))
    needed = [
        labels_needed(counts, requirement.metric, half_width=half_width, level=options["level"])
        for counts in both
        if counts is not None
    ]
    number = max(float(result.labels) for result in needed)
    if not math.isfinite(number):
        return None
    few = limits.status != IntervalStatus.OK
    return None if few and not any(result.more for result in needed) else int(max(number, evidence.samples + 1))


def _times_for_width(
    requirement: Requirement, distance: float, now: float, evidence: Evidence, options: dict[str, Any]
) -> float:
    """The factor for the number of samples with which the interval excludes the bound; infinite if there is none.

    The search starts where half of the width of the interval equals the distance between the estimate and the bound.
    This is not the solution, as the limits are not symmetric, and limits of proportions depend on the bound.
    """
    # With a power of 0.5, samples_needed() returns the number for which half of the width equals the difference. The
    # variance of a difference of independent samples is twice that of a value. This replaces half_width=, for which
    # samples_needed() simulates some measures, and takes longer than the search below.
    paired = evidence.joint if requirement.is_relative else None
    difference = distance if requirement.is_relative else distance * math.sqrt(2)
    size: dict[str, Any] = {"difference": difference, "power": 0.5, "paired": paired}
    # NaN where the measure of the shares of the cells is undefined or has no variance.
    start = float(samples_needed(evidence.cm, requirement.metric, **size, **options)) / now
    start = 1.0 if math.isnan(start) else start

    def decides(times: float) -> bool:
        metrics, is_relative = {str(requirement.metric): requirement.metric}, requirement.is_relative
        (limits,) = limits_of(metrics, evidence.times(times), options, is_relative=is_relative).values()
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


def _times_for_status(status: IntervalStatus, evidence: Evidence, requirement: Requirement) -> float:
    """The factor for the number of samples with which the status is 0; infinite if there is none."""
    if status == IntervalStatus.BIASED:  # with more samples, chance decides less often which class has the lowest value
        factors = (2.0**k for k in range(1, STEPS + 1))
        return next((times for times in factors if not has_bias(requirement, evidence.times(times))), math.inf)
    if status != IntervalStatus.FEW_SAMPLES:
        return math.inf
    needs = needs_of_requirement(requirement, evidence)
    return max(least / number if number else math.inf for number, least in needs)


METHOD = "auto"
GRADES = {"pass", "fail"}  # the classes of answers


def check_options(
    margin: Any, on_undecided: Any, *, other: bool, correction: Any = None, has_groups: bool = False
) -> float:
    """The margin as a float; raises for an invalid margin, correction or ``on_undecided``."""
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


def decide(
    requirements: list[Requirement],
    samples: Samples,
    classes: Classes,
    *,
    level: float,
    correction: Correction | None = None,
    on_undecided: Any = None,
    zero_division: float = math.nan,
    top: int = 5,
) -> GateResult:
    """The result of a gate: the verdict on each requirement in each group, and the most frequent errors."""
    level = check_level(level)
    _refuse_unlabelled(requirements, samples)
    _refuse_large_k(requirements, samples)
    options: dict[str, Any] = {"level": level, "zero_division": zero_division, "invalid": "raise"}
    rows: list[list[RequirementResult]] = [[] for _ in requirements]
    for place, evidence in enumerate(steps(samples.parts)):
        is_reference = place == samples.reference
        chosen = [k for k, each in enumerate(requirements) if not (is_reference and each.is_relative)]
        for side in (False, True):
            of_side = [k for k in chosen if requirements[k].is_relative is side]
            number = samples.shared_by(correction, is_relative=side)
            here = evidence if samples.reference is None else evidence.against(samples.parts[samples.reference])
            shared = {**options, "level": 1 - (1 - level) / number if number > 1 else level}
            metrics = {str(requirements[k].metric): requirements[k].metric for k in of_side}
            limits = limits_of(metrics, here, shared, is_relative=side)
            for k in of_side:
                verdict = _result(requirements[k], limits[str(requirements[k].metric)], here, shared)
                group = samples.names[place] if samples.names else ""
                rows[k].append(replace(verdict, group=group, adjusted_for=number))
    total, unit = (sum(part.samples for part in samples.parts), samples.parts[0].unit)
    return GateResult(
        tuple(row for of_requirement in rows for row in of_requirement),
        on_undecided,
        total,
        _errors(samples, classes, top),
        unit,
        samples.names,
        None if samples.reference is None else samples.names[samples.reference],
        level,
    )


def _refuse_large_k(requirements: list[Requirement], samples: Samples) -> None:
    """Raise if the ``k`` of a measure is above the number of samples of any group."""
    names = samples.names or ("",)
    of_scores = {str(each.metric): each.metric for each in requirements if isinstance(each.metric, ScoreMeasure)}
    for name, evidence in zip(names, samples.parts, strict=True):
        if evidence.scores is not None:
            measures = {spec: metric.named for spec, metric in of_scores.items()}
            where = f" of group {quoted(name)}" if name else ""
            try:
                check_k(measures, len(evidence.scores.true), where)
            except ArgumentError as error:
                raise ArgumentError("requirements", error.text) from error


def _refuse_unlabelled(requirements: list[Requirement], samples: Samples) -> None:
    """Raise for measures of labels if the samples have only scores."""
    first = next((requirement for requirement in requirements if not requirement.is_of_scores), None)
    if samples.parts[0].cm is None and first is not None:
        raise ArgumentError("y_pred", f"expected predicted labels with {first.metric}, got scores alone")


def _result(requirement: Requirement, limits: Limits, evidence: Evidence, options: dict[str, Any]) -> RequirementResult:
    """The verdict on a requirement by the limits of its measure."""
    limits = with_deciding_status(limits, requirement, evidence)
    verdict = verdict_of(requirement.sign, requirement.limit, limits)
    number = evidence.compared if requirement.is_relative else evidence.samples
    if requirement.is_of_scores and evidence.scores is not None:
        number = evidence.scores.number
    return RequirementResult(
        requirement.text,
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
        is_weighted=evidence.squares is not None,
        unit=evidence.unit,
        needed=deciding_samples(requirement, limits, evidence, options) if verdict == "undecided" else None,
    )


def _errors(samples: Samples, classes: Classes, top: int) -> tuple[Confusion, ...]:
    """The most frequent errors in all samples."""
    matrices = [part.cm for part in samples.parts if part.cm is not None]
    if not matrices:
        return ()
    names = [str(label) for label in classes.labels or range(classes.number)]
    whole = sum(matrices[1:], start=matrices[0])
    sides = (whole.any(axis=0).sum(), whole.any(axis=1).sum())
    is_graded = set(names) <= GRADES or samples.parts[0].labels is not None  # judged answers may have other grades
    if is_graded and min(sides) < 2:  # each error is a failed answer, as answers have no true class
        return ()
    if samples.parts[0].labels is not None:  # a corrected matrix has no integers
        whole = np.rint(whole)
    return tuple(most_frequent(whole, names, top))
