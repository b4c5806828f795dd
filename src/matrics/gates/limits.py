"""The counts that a gate decides by, and the limits of measures of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from matrics.arrays import NUMPY, Array
from matrics.catalogue.record import Metric
from matrics.gates.results import Limits
from matrics.uncertainty.compare import compare, compare_paired
from matrics.uncertainty.interval import interval
from matrics.uncertainty.results import IntervalStatus
from matrics.uncertainty.weighted import kish


class Evidence(NamedTuple):
    """The counts that decide: matrices of counts, or of weights with those of their squares."""

    cm: Array  # (n, n)
    squares: Array | None = None
    baseline: Array | None = None  # (n, n), of other samples
    baseline_squares: Array | None = None
    joint: Array | None = None  # (n, n, n) [true, here, baseline], of the same samples
    joint_squares: Array | None = None

    @property
    def samples(self) -> float:
        """The number of samples of the matrix, of weighted ones the effective number."""
        return size_of(self.cm, self.squares)

    @property
    def compared(self) -> float:
        """The number of samples of the comparison with the baseline."""
        return self.samples if self.joint is None else size_of(self.joint, self.joint_squares)

    def times(self, factor: float) -> Evidence:
        """As many times the samples, in the same proportions."""
        return Evidence(*(None if table is None else table * factor for table in self))


def size_of(table: Array, squares: Array | None) -> float:
    """The number of samples of a table of counts, or the effective number of one of weights."""
    total = table.sum(dtype=np.float64)
    return float(total if squares is None else kish(total, squares.sum(dtype=np.float64), NUMPY))


def limits_of(metrics: dict[str, Metric], given: Evidence, options: dict[str, Any], *, is_relative: bool) -> Any:
    """The limits of each measure by its key, or those of its difference from the baseline's."""
    if not metrics:
        return {}
    chosen = list(metrics.values())
    if not is_relative:
        found: Any = interval(given.cm, chosen, squared_weights=given.squares, **options)
    elif given.joint is not None:
        found = compare_paired(given.joint, chosen, squared_weights=given.joint_squares, **options)
    else:
        squares: Any = None if given.squares is None else (given.squares, given.baseline_squares)
        other: Any = given.baseline  # there is one, or nothing to compare
        found = compare(given.cm, other, chosen, squared_weights=squares, **options)
    return {key: _plain(*(one[k] for k in range(3)), one.status) for key, one in found.items()}


def _plain(*parts: Any) -> Limits:
    """In plain numbers: a value or a difference, its limits, and the status."""
    *numbers, status = parts
    estimate, low, high = map(float, numbers)
    return Limits(estimate, low, high, list(IntervalStatus)[int(status)])
