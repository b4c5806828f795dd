"""The counts that a gate decides by, and the limits of measures of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._catalogue.record import Metric
from matrics._gates.requirements import Requirement
from matrics._gates.results import Limits
from matrics._judged.counts import JudgedCounts
from matrics._judged.interval import interval as judged_interval
from matrics._uncertainty.compare import compare, compare_paired
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Measure
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
