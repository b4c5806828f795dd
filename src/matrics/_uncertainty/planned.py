"""The number of samples for which the limits of expected matrices are narrow enough, on the host."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._uncertainty.compare import compare, compare_paired
from matrics._uncertainty.interval import interval
from matrics._uncertainty.measure import Score

# The relative precision of the numbers, the most steps of a search, and the halvings for an expected matrix.
PRECISION, STEPS, HALVINGS = 1e-6, 40, 60

# The factors by which a step may change a number.
LEAST_STEP, LARGEST_STEP = 1 / 16, 16.0

# A ratio that the search brings to 1, by the numbers, the places, and their matrices and classes.
Excess = Callable[[Array, Array, Array, Array], Array]


class Expected:
    """The expected matrices of a plan, and the measure; a place is a matrix, or a class of a matrix."""

    def __init__(self, shares: Array, metric: Metric, score: Score, options: dict[str, Any]) -> None:
        self.shares, self.metric, self.score = shares, metric, score
        self.options = {**options, "invalid": "nan"}

    def for_width(self, start: Array, half_width: float) -> Array:
        """The numbers (B,) or (B, C) for which :func:`interval` has this half width."""

        def excess(numbers: Array, which: Array, rows: Array, classes: Array) -> Array:  # noqa: ARG001
            cells = self.shares[rows] * numbers[:, None, None]
            (result,) = interval(cells, self.metric, **self.options).values()
            return values_of_places((result.high - result.low) / 2, classes) / half_width

        return solve(start, excess)

    def for_difference(self, start: Array, difference: float, z: float) -> Array:
        """The numbers for which :func:`compare` detects this difference, of a better or a worse model (the larger).

        The limit is further from the expected difference than ``z`` standard errors with the probability of the power.
        """
        rows, classes = places_of(start)
        numbers = []
        for gap in (-difference, difference):
            others, known = self.others(self.shares[rows], classes, gap)
            numbers.append(solve(start, self._excess_of(others, difference, z), known))
        return np.fmax(*numbers)

    def for_paired(self, start: Array, difference: float, z: float) -> Array:
        """The numbers for which :func:`compare_paired` detects this difference; the shares are of tables (B, n, n²)."""
        n = self.shares.shape[-2]

        def excess(numbers: Array, which: Array, rows: Array, classes: Array) -> Array:  # noqa: ARG001
            tables = self.shares[rows].reshape(-1, n, n, n) * numbers[:, None, None, None]
            (result,) = compare_paired(tables, self.metric, **self.options).values()
            low, high, error = (
                values_of_places(part, classes) for part in (result.low, result.high, result.standard_error)
            )
            return ((high - low) / 2 + z * error) / difference

        return solve(start, excess)

    def _excess_of(self, others: Array, difference: float, z: float) -> Excess:
        def excess(numbers: Array, which: Array, rows: Array, classes: Array) -> Array:
            times = numbers[:, None, None]
            (result,) = compare(self.shares[rows] * times, others[which] * times, self.metric, **self.options).values()
            value, low, high, error = (values_of_places(part, classes) for part in result[:4])
            return (np.where(value > 0, value - low, high - value) + z * error) / difference

        return excess

    def others(self, first: Array, classes: Array, gap: float) -> tuple[Array, Array]:
        """Matrices whose measure is larger by ``gap``, and whether each exists.

        The matrices have more errors, or fewer, in the same proportions.
        """
        targets = self._values(first, classes, np.ones(len(first))) + gap
        errors = np.sum(first * ~np.eye(first.shape[-1], dtype=bool), axis=-1)
        most = np.max(first.sum(axis=-1) / np.where(errors > 0, errors, math.inf), axis=-1, initial=1)

        def is_beyond(factor: Array) -> Array:
            values = self._values(first, classes, factor)
            return values <= targets if gap < 0 else values >= targets

        factor, known = np.ones(len(first)), np.zeros(len(first), bool)
        for end in (np.zeros(len(first)), most):
            inside, beyond = np.ones(len(first)), end
            reached = ~known & is_beyond(end)
            for _ in range(HALVINGS):
                middle = (inside + beyond) / 2
                is_outside = is_beyond(middle)
                inside, beyond = np.where(is_outside, inside, middle), np.where(is_outside, middle, beyond)
            factor, known = np.where(reached, beyond, factor), known | reached
        return with_errors(first, factor), known

    def _values(self, first: Array, classes: Array, factor: Array) -> Array:
        return values_of_places(self.score(with_errors(first, factor), 1)[0], classes)


def with_errors(shares: Array, factor: Array) -> Array:
    """Matrices (K, n, n) with the errors of each true class multiplied by ``factor``, up to the size of the class."""
    diagonal = np.eye(shares.shape[-1], dtype=bool)
    errors = shares * ~diagonal
    of_row, size = errors.sum(axis=-1), shares.sum(axis=-1)
    most = size / np.where(of_row > 0, of_row, 1)
    factors = np.where(of_row > 0, np.minimum(factor[:, None], most), 0)
    return errors * factors[..., None] + diagonal * np.maximum(size - of_row * factors, 0)[..., None]


def values_of_places(values: Array, classes: Array) -> Array:
    """The value of each place, from values (K,) or (K, C)."""
    return values[np.arange(len(values)), classes] if values.ndim > 1 else values


def places_of(values: Array) -> tuple[Array, Array]:
    """The matrix and the class of each value (B,) or (B, C)."""
    rows, *classes = (place.ravel() for place in np.indices(values.shape))
    return rows, classes[0] if classes else np.zeros_like(rows)


def solve(start: Array, excess: Excess, known: Array | None = None) -> Array:
    """The numbers at which ``excess`` is 1; NaN where it has no value. It falls roughly with the root of the number."""
    rows, classes = places_of(start)
    numbers = start.ravel().astype(np.float64)
    active = np.isfinite(numbers) if known is None else np.isfinite(numbers) & known
    numbers = np.where(active, numbers, math.nan)
    for _ in range(STEPS):
        which = np.flatnonzero(active)
        if not which.size:
            break
        with np.errstate(all="ignore"):
            ratio = excess(numbers[which], which, rows[which], classes[which]) ** 2
        numbers[which] = np.maximum(numbers[which] * np.clip(ratio, LEAST_STEP, LARGEST_STEP), 1)
        active[which] = np.abs(ratio - 1) > PRECISION  # False for NaN
    return numbers.reshape(start.shape)
