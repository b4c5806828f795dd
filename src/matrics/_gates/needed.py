"""How many samples like those at hand would decide on a requirement."""

from __future__ import annotations

import math
from typing import Any

from matrics._gates.limits import Evidence, has_bias, limits_of, needs_of_requirement
from matrics._gates.requirements import Requirement
from matrics._gates.results import Limits, verdict_of
from matrics._judged.counts import JudgedCounts
from matrics._judged.needed import labels_needed
from matrics._uncertainty.planning import samples_needed
from matrics._uncertainty.results import IntervalStatus

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
