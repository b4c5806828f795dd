"""The verdicts on requirements: limits by intervals and comparisons, and how many samples would decide."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._catalogue.classes import Classes
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._gates.requirements import Requirement
from matrics._gates.results import GateResult, Limits, RequirementResult, verdict_of
from matrics._judged.counts import JudgedCounts
from matrics._judged.interval import interval as judged_interval
from matrics._judged.needed import labels_needed
from matrics._plot.confusion import most_frequent
from matrics._quoting import quoted
from matrics._uncertainty.compare import compare, compare_paired
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Measure
from matrics._uncertainty.options import check_level
from matrics._uncertainty.planning import samples_needed
from matrics._uncertainty.results import IntervalStatus
from matrics._uncertainty.status import Side, enough, is_biased, needs_of
from matrics._uncertainty.weighted import kish


class Evidence(NamedTuple):
    """The counts that decide: matrices of counts, or of weights with those of their squares."""

    cm: Array  # (n, n)
    squares: Array | None = None
    baseline: Array | None = None  # (n, n), of other samples
    baseline_squares: Array | None = None
    joint: Array | None = None  # (n, n, n) [true, here, baseline], of the same samples
    joint_squares: Array | None = None
    clusters: Array | None = None  # (K, n, n): the matrices of the clusters, which add up to that of counts
    joint_clusters: Array | None = None  # (K, n, n, n): the joint tables of the clusters
    labels: JudgedCounts | None = None  # of samples that a judge has labelled; the matrix is the corrected one

    @property
    def unit(self) -> str:
        """What there would have to be more of."""
        if self.labels is not None:
            return "label"
        return "sample" if self.clusters is None else "cluster"

    @property
    def samples(self) -> float:
        """The number of samples of the matrix, of weighted ones the effective number; of clusters, or of labels."""
        if self.labels is not None:
            return float(self.labels.labelled.sum())
        return size_of(self.cm, self.squares) if self.clusters is None else _filled(self.clusters)

    @property
    def compared(self) -> float:
        """The number of samples, or of clusters, of the comparison with the baseline."""
        if self.joint_clusters is not None:
            return _filled(self.joint_clusters)
        return self.samples if self.joint is None else size_of(self.joint, self.joint_squares)

    def times(self, factor: float) -> Evidence:
        """As many times the samples, in the same proportions."""
        return Evidence(*(None if table is None else table * factor for table in self[:6]))


def _filled(clusters: Array) -> float:
    """The number of clusters with samples."""
    return float((clusters.reshape(len(clusters), -1).sum(axis=1) > 0).sum())


def size_of(table: Array, squares: Array | None) -> float:
    """The number of samples of a table of counts, or the effective number of one of weights."""
    total = table.sum(dtype=np.float64)
    return float(total if squares is None else kish(total, squares.sum(dtype=np.float64), NUMPY))


def limits_of(metrics: dict[str, Metric], given: Evidence, options: dict[str, Any], *, is_relative: bool) -> Any:
    """The limits of each measure by its key, or those of its difference from the baseline's."""
    if not metrics:
        return {}
    chosen = list(metrics.values())
    if given.labels is not None:
        known = {name: value for name, value in options.items() if name != "invalid"}
        found: Any = judged_interval(given.labels, chosen, **known)
    elif not is_relative and given.clusters is not None:
        found = interval(given.clusters, chosen, cluster_axis=0, **options)
    elif not is_relative:
        found = interval(given.cm, chosen, squared_weights=given.squares, **options)
    elif given.joint_clusters is not None:
        found = compare_paired(given.joint_clusters, chosen, cluster_axis=0, **options)
    elif given.joint is not None:
        found = compare_paired(given.joint, chosen, squared_weights=given.joint_squares, **options)
    else:
        squares: Any = None if given.squares is None else (given.squares, given.baseline_squares)
        other: Any = given.baseline  # there is one, or nothing to compare
        found = compare(given.cm, other, chosen, squared_weights=squares, **options)
    return {key: _plain(*(one[k] for k in range(3)), one.status) for key, one in found.items()}


def needs_of_requirement(wanted: Requirement, given: Evidence) -> list[tuple[float, float]]:
    """The samples that there are, and those that are needed for the limit that decides on a requirement to hold.

    A difference from a baseline needs them of both models.
    """
    measure, side = Measure.of(wanted.metric), _side_of(wanted)
    return [need for table in _tables_of(wanted, given) for need in needs_of(measure=measure, side=side, **table)]


def has_bias(wanted: Requirement, given: Evidence) -> bool:
    """Whether the limit that decides on a requirement may not hold because an estimate is biased."""
    measure, side = Measure.of(wanted.metric), _side_of(wanted)
    side = None if wanted.is_relative else side  # a difference is wrong on either side
    return any(is_biased(measure=measure, side=side, **table) for table in _tables_of(wanted, given))


def _tables_of(wanted: Requirement, given: Evidence) -> list[dict[str, Any]]:
    """The matrices of a requirement: of a difference from a baseline those of both models."""
    here = {"cm": given.cm, "squares": given.squares, "clusters": given.clusters}
    if not wanted.is_relative:
        return [here]
    if given.joint is None:
        return [here, {"cm": given.baseline, "squares": given.baseline_squares}]
    return [
        {
            "cm": given.joint.sum(axis),
            "squares": None if given.joint_squares is None else given.joint_squares.sum(axis),
            "clusters": None if given.joint_clusters is None else given.joint_clusters.sum(axis + 1),
        }
        for axis in (2, 1)
    ]


def _side_of(wanted: Requirement) -> Side:
    """The limit that decides."""
    return "low" if wanted.sign in {">=", ">"} else "high"


def about_one_limit(limits: Limits, wanted: Requirement, given: Evidence) -> Limits:
    """The limits with the status of the one that decides: few errors, or a bias, may make only the other one wrong."""
    if limits.status == IntervalStatus.FEW_SAMPLES:
        holds = all(enough(number, least) for number, least in needs_of_requirement(wanted, given))
    elif limits.status == IntervalStatus.BIASED:
        holds = not has_bias(wanted, given)
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


def deciding_samples(wanted: Requirement, limits: Limits, given: Evidence, options: dict[str, Any]) -> int | None:
    """About how many samples in the same proportions would decide; None if no number would.

    ``options`` are those of :func:`matrics.interval`.
    """
    distance = abs(limits.estimate - wanted.limit)
    if not 0 < distance < math.inf or limits.are_missing or limits.status == IntervalStatus.LIMITS_MISS:
        return None
    now = given.compared if wanted.is_relative else given.samples
    if given.labels is not None:
        return _deciding_labels(wanted, limits, distance, given.labels, options)
    if given.clusters is not None:  # as the width falls with the root of their number
        if limits.status == IntervalStatus.BIASED:
            return None
        few = limits.status != IntervalStatus.OK
        times = ((limits.high - limits.low) / 2 / distance) ** 2
        return None if few and times <= 1 else math.ceil(max(times * now, now + 1))
    times = 1.0
    if limits.low <= wanted.limit <= limits.high:
        times = _times_for_width(wanted, distance, now, given, options)
    if limits.status != IntervalStatus.OK:
        times = max(times, _times_for_status(limits.status, given, wanted))
    return math.ceil(max(times * now * (1 - 1e-9), now + 1)) if math.isfinite(times) else None


def _deciding_labels(
    wanted: Requirement, limits: Limits, distance: float, counts: JudgedCounts, options: dict[str, Any]
) -> int | None:
    """About how many labels drawn at random would decide; None if all samples would not be enough."""
    needed = labels_needed(counts, wanted.metric, half_width=distance, level=options["level"])
    if not math.isfinite(float(needed.labels)):
        return None
    few = limits.status != IntervalStatus.OK
    return None if few and not needed.more else int(max(needed.labels, counts.labelled.sum() + 1))


def _times_for_width(
    wanted: Requirement, distance: float, now: float, given: Evidence, options: dict[str, Any]
) -> float:
    """How many times as many samples put the bound outside the interval; infinite if none do.

    The search starts where half of the interval's width is the distance of the estimate from the bound: the limits are
    not at equal distances, and those of proportions depend on the bound itself.
    """
    # With a power of one half the difference is half of the width. That of two independent samples varies twice as much
    # as one value, whose own half width would be found by simulation for some measures, and by the search below faster.
    paired = given.joint if wanted.is_relative else None
    difference = distance if wanted.is_relative else distance * math.sqrt(2)
    size: dict[str, Any] = {"difference": difference, "power": 0.5, "paired": paired}
    # NaN: the measure of mere proportions is undefined, or does not vary.
    start = float(samples_needed(given.cm, wanted.metric, **size, **options)) / now
    start = 1.0 if math.isnan(start) else start

    def decides(times: float) -> bool:
        (found,) = limits_of(
            {str(wanted.metric): wanted.metric}, given.times(times), options, is_relative=wanted.is_relative
        ).values()
        return verdict_of(wanted.sign, wanted.limit, found._replace(status=IntervalStatus.OK)) != "undecided"

    low, high = 1.0, max(start, 1.0)
    while not decides(high):
        low, high = high, 2 * high
        if high > MOST_TIMES * max(start, 1.0):
            return math.inf
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def _times_for_status(status: IntervalStatus, given: Evidence, wanted: Requirement) -> float:
    """How many times as many samples an interval needs for a status of 0; infinite if no number gives one."""
    if status == IntervalStatus.BIASED:  # with more samples the classes that differ compete no longer
        some = (2.0**k for k in range(1, STEPS + 1))
        return next((times for times in some if not has_bias(wanted, given.times(times))), math.inf)
    if status != IntervalStatus.FEW_SAMPLES:
        return math.inf
    needs = needs_of_requirement(wanted, given)
    return max(least / number if number else math.inf for number, least in needs)


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
