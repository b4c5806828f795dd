"""Limits of differences without replicates, on independent samples and on the same samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from matrics._arrays import Array
from matrics._uncertainty.formulas import (
    at_samples,
    broadcast_to_values,
    limits_by_formula,
    noise_of,
    quantile_of,
    spread_of,
)
from matrics._uncertainty.measure import Limits, Task
from matrics._uncertainty.slopes import by_shares, covariance_of, slopes_of


def recovered(
    a: tuple[Array, Array, Array], b: tuple[Array, Array, Array], correlation: Any, xp: Any
) -> tuple[Array, Array]:
    """Limits of a difference, from the values and limits of both: MOVER, the method of variance estimates recovery."""
    (value_a, low_a, high_a), (value_b, low_b, high_b), r = a, b, correlation
    below_a, above_a, below_b, above_b = (
        xp.where(distance > 0, distance, 0)
        for distance in (value_a - low_a, high_a - value_a, value_b - low_b, high_b - value_b)
    )
    missing = xp.isnan(low_a + high_a + low_b + high_b)
    down, up = (
        xp.sqrt(xp.where(square > 0, square, 0))
        for square in (
            below_a**2 + above_b**2 - 2 * r * below_a * above_b,
            above_a**2 + below_b**2 - 2 * r * above_a * below_b,
        )
    )
    low, high = value_a - value_b - down, value_a - value_b + up
    return xp.where(missing, math.nan, low), xp.where(missing, math.nan, high)


def _square_and_add(
    parts: Sequence[Sequence[Limits]], tasks: Sequence[Task], correlation: Sequence[Any]
) -> list[tuple[Array, Array]]:
    """Limits of differences, from the limits of both classifiers."""
    xp, (first, second) = tasks[0].backend.xp, (task.estimates for task in tasks)
    rows = zip(first, second, *parts, correlation, strict=True)
    return [recovered((a, *ours[:2]), (b, *theirs[:2]), r, xp) for a, b, ours, theirs, r in rows]


def independent(tasks: Sequence[Task]) -> list[Limits]:
    """The limits of differences of independent samples without draws."""
    xp = tasks[0].backend.xp
    parts = [limits_by_formula(task) for task in tasks]
    covariances = _by_shares(tasks)
    squares = [(a[2] ** 2 + b[2] ** 2, a[2] * b[2]) for a, b in zip(*parts, strict=True)]
    errors = [
        xp.sqrt(xp.where(square > 2 * both, square - 2 * both, 0))
        for (square, _), both in zip(squares, covariances, strict=True)
    ]
    if tasks[0].options.method == "delta":
        return _symmetric(tasks, errors)
    correlation = [
        xp.clip(xp.where(product > 0, both / xp.where(product > 0, product, 1), 0), -1, 1)
        for (_, product), both in zip(squares, covariances, strict=True)
    ]
    limits = _square_and_add(parts, tasks, correlation)
    return [(*ends, error, a[3]) for ends, error, a in zip(limits, errors, parts[0], strict=True)]


def _by_shares(tasks: Sequence[Task]) -> list[Any]:
    """The covariance of both values of each measure due to the same estimated prevalence; 0 for a known prevalence."""
    first = tasks[0]
    if first.target is None or first.target.covariance is None:
        return [0.0] * len(first.measures)
    gradients = []
    for task in tasks:
        whole = task.whole if task.options.method == "delta" else task.whole + 1 / task.size
        derivatives = slopes_of(task, whole, task.score, second=False).first
        gradients.append([by_shares(at_samples(whole, by, first.backend.xp)[1], whole, task) for by in derivatives])
    return [covariance_of(a, b, first) for a, b in zip(*gradients, strict=True)]


def _symmetric(tasks: Sequence[Task], errors: Sequence[Array]) -> list[Limits]:
    """The difference ± a number of standard errors, limited to the range of differences."""
    backend, xp = tasks[0].backend, tasks[0].backend.xp
    quantiles = [quantile_of(task)[0] for task in tasks]
    z = (
        xp.maximum(*quantiles) if np.ndim(quantiles[0]) else max(quantiles)
    )  # Student's quantile for the smaller number of clusters
    integer = backend.widest_int(tasks[0].whole) or xp.int32
    results: list[Limits] = []
    for k, error in enumerate(errors):
        gap = tasks[0].estimates[k] - tasks[1].estimates[k]
        low, high = tasks[0].measures[k].range
        most = high - low
        distance = xp.where(error > 0, broadcast_to_values(z, error, xp) * error, math.nan)
        down, up = gap - distance, gap + distance
        if math.isfinite(most):
            down, up = xp.clip(down, -most, most), xp.clip(up, -most, most)
        results.append((down, up, error, xp.astype(xp.zeros_like(gap), integer)))
    return results


def dependent(pair: Task, tasks: Sequence[Task]) -> list[Limits]:
    """The limits of differences on the same samples without draws: the delta method on the joint cells."""
    backend, xp = pair.backend, pair.backend.xp
    plain = pair.options.method == "delta"
    whole = pair.whole if plain else pair.whole + 1 / pair.size
    squares = pair.squares if plain or pair.squares is None else pair.squares + 1 / pair.size
    derivatives = slopes_of(pair, whole, pair.score, second=False)
    errors = []
    for k, first in enumerate(derivatives.first):
        _, by_cell = at_samples(whole, first, xp)
        spread, _ = spread_of(by_cell, whole, pair, squares, plain=plain)
        of_shares = by_shares(by_cell, whole, pair)
        spread = spread if of_shares is None else spread + covariance_of(of_shares, of_shares, pair)
        noise = noise_of(tasks[0].estimates[k], pair.measures[k].range, backend)
        errors.append(xp.sqrt(xp.where(spread > noise, spread, 0)))
    if plain:
        return _symmetric(tasks, errors)
    parts = [limits_by_formula(task) for task in tasks]
    correlation = []
    for k, error in enumerate(errors):
        error_a, error_b = parts[0][k][2], parts[1][k][2]
        both = error_a * error_b
        r = (error_a**2 + error_b**2 - error**2) / (2 * xp.where(both > 0, both, 1))
        correlation.append(xp.clip(xp.where(both > 0, r, 0), -1, 1))
    limits = _square_and_add(parts, tasks, correlation)
    return [(*ends, error, limits_of_a[3]) for ends, error, limits_of_a in zip(limits, errors, parts[0], strict=True)]
