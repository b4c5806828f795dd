"""Changes of measures with the cells: derivatives, and the influence of a single sample."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, Standard
from matrics._uncertainty.measure import Score, Task
from matrics._uncertainty.target import LEAST

# A step relative to its cell. The error of a central difference of x·ln x and the rounding error are both below 1e-7 of
# the derivative, for single samples among a million.
STEP = 2e-4

# Cells of the changed matrices per chunk.
CELLS_AT_ONCE = 2**21


class Slopes(NamedTuple):
    """Values of measures and their derivatives by each of the k = n² cells; C is the number of classes, or no axis."""

    values: list[Array]  # (B,) or (B, C)
    first: list[Array]  # (B, k) or (B, C, k)
    second: list[Array] | None  # by the same cell twice


def slopes(cells: Array, score: Score, backend: Standard, *, second: bool, workers: int) -> Slopes:
    """Derivatives of all measures at tables (B, r, c): by central differences for NumPy, otherwise automatic.

    Derivatives by empty cells add nothing to a variance, and are 0.
    """
    if backend is not NUMPY:
        return Slopes(*backend.derivatives(lambda x: score(x, 1), cells, second=second))
    values = score(cells, workers)
    steps = np.where(cells > 0, cells * STEP, 0)
    above = changed(cells, steps, score, workers)
    below = changed(cells, -steps, score, workers)
    flat = steps.reshape(len(cells), math.prod(cells.shape[1:]))
    first, curves = [], []
    for value, up, down in zip(values, above, below, strict=True):
        step = flat if value.ndim == 1 else flat[:, None, :]
        positive = step > 0
        first.append(np.where(positive, (up - down) / np.where(positive, 2 * step, 1), 0))
        if second:
            curves.append(np.where(positive, (up - 2 * value[..., None] + down) / np.where(positive, step**2, 1), 0))
    return Slopes(values, first, curves if second else None)


def slopes_of(task: Task, tables: Array, score: Score, *, second: bool) -> Slopes:
    """Derivatives of measures at the task's prevalence by the cells of the counted tables (B, r, c).

    The sizes of rows are fixed there, so that each cell has a fixed weight.
    """
    options: Any = {"backend": task.backend, "second": second, "workers": task.workers}
    if task.target is None:
        return slopes(tables, score, **options)
    xp = task.backend.xp
    if task.target.covariance is not None:
        shares = xp.clip(task.target.shares, LEAST, None)
        task = task._replace(target=task.target._replace(shares=shares))
    rebalanced = task.there(tables)
    derivatives = slopes(rebalanced, score, **options)
    weights = xp.broadcast_to(weights_of_rows(tables, rebalanced, xp), tuple(tables.shape))
    weights = xp.reshape(weights, (tables.shape[0], task.size))

    def weighted(by: Array, power: int) -> Array:
        of_cells = weights if by.ndim == 2 else weights[:, None, :]
        return xp.where(of_cells > 0, by * of_cells**power, 0)

    first = [weighted(by, 1) for by in derivatives.first]
    second_ = None if derivatives.second is None else [weighted(by, 2) for by in derivatives.second]
    return Slopes(derivatives.values, first, second_)


def weights_of_rows(tables: Array, there: Array, xp: Any) -> Array:
    """The weight of a sample of each row in the table at the prevalence, (B, r, 1)."""
    sizes, targets = (xp.sum(x, axis=-1, keepdims=True) for x in (tables, there))
    return xp.where(sizes > 0, targets / xp.where(sizes > 0, sizes, 1), 0)


def with_shares(first: Array, of_shares: Array | None, task: Task) -> Array:
    """The derivatives by the cells, including the effect of the cells on the estimated shares."""
    if of_shares is None or task.target is None or task.target.by_cells is None:
        return first
    xp, by_cells = task.backend.xp, task.target.by_cells
    by_cells = by_cells if first.ndim == 2 else by_cells[:, None, :, :]
    return first + xp.sum(of_shares[..., None] * by_cells, axis=-2)


def by_shares(first: Array, tables: Array, task: Task) -> Array | None:
    """Derivatives (B, r) or (B, C, r) by the estimated shares of the classes; None if the shares are known."""
    if task.target is None or task.target.covariance is None:
        return None
    xp, (count, rows, columns) = task.backend.xp, tables.shape
    lead = (1,) * (first.ndim - 2)
    products = first * xp.reshape(tables, (count, *lead, rows * columns))
    shares = xp.reshape(xp.clip(task.target.shares, LEAST, None), (count, *lead, rows))
    return xp.sum(xp.reshape(products, (*first.shape[:-1], rows, columns)), axis=-1) / shares


def covariance_of(a: Array, b: Array, task: Task) -> Array:
    """The covariance (B,) or (B, C) of two measures due to the estimated shares, from the derivatives by the shares."""
    xp, covariance = task.backend.xp, task.target.covariance if task.target is not None else None
    assert covariance is not None  # noqa: S101 (the callers check this)
    covariance = covariance if a.ndim == 2 else covariance[:, None, :, :]
    return xp.sum(a[..., :, None] * covariance * b[..., None, :], axis=(-2, -1))


def changed(cells: Array, steps: Array, score: Score, workers: int) -> list[Array]:
    """The values with a single cell changed by its step at a time: (B, k) or (B, C, k); NaN where the step is 0."""
    count, shape = len(cells), cells.shape[1:]
    size = math.prod(shape)
    flat = steps.reshape(count, size)
    which, cell = np.nonzero(flat)
    changes = flat[which, cell]
    results: list[Array] = []
    step = max(1, CELLS_AT_ONCE // size)
    for start in range(0, max(1, len(which)), step):
        part = slice(start, start + step)
        stack = cells[which[part]].reshape(-1, size)
        stack[np.arange(len(stack)), cell[part]] += changes[part]
        values = score(stack.reshape(-1, *shape), workers)
        if not results:
            results = [np.full((count, *value.shape[1:], size), math.nan) for value in values]
        for result, value in zip(results, values, strict=True):
            if value.ndim == 1:
                result[which[part], cell[part]] = value
            else:
                result[which[part], :, cell[part]] = value
    return results


def variance(  # noqa: PLR0917 (tables and their scheme)
    first: Array,
    cells: Array,
    scheme: str,
    clusters: Array | None,
    backend: Standard,
    squares: Array | None = None,
) -> Array:
    """The variance of a measure by the delta method: of multinomial cells, of rows, or of whole clusters.

    ``first`` is (B, k) or (B, C, k), cells and squares (B, r, c), clusters (K, B, r, c). With weighted samples, cells
    are sums of weights, and squares are sums of squared weights.
    """
    xp, (count, rows, columns) = backend.xp, cells.shape
    size = rows * columns
    if clusters is not None:
        deviations, weights = contributions(first, cells, clusters, backend)
        number = xp.sum(xp.astype(weights > 0, first.dtype), axis=0)
        return xp.sum(deviations * deviations, axis=0) * (number / xp.where(number > 1, number - 1, 1))
    samples = (rows, columns) if scheme == "rows" else (1, size)
    lead = (count, *(1,) * (first.ndim - 2))
    counts, by = xp.reshape(cells, (*lead, *samples)), xp.reshape(first, (*first.shape[:-1], *samples))
    total = xp.sum(counts, axis=-1)
    mean = xp.sum(counts * by, axis=-1) / xp.where(total > 0, total, 1)
    spread = counts if squares is None else xp.reshape(squares, (*lead, *samples))
    return xp.sum(spread * (by - mean[..., None]) ** 2, axis=(-2, -1))


def contributions(first: Array, cells: Array, clusters: Array, backend: Standard) -> tuple[Array, Array]:
    """The contributions of clusters (K, B, r, c) to a measure, less the mean, and weights: (K, B) or (K, B, C).

    The weights are the variances of the contributions of independent samples, if the variance within a true class were
    the same in all clusters. They are 0 without samples: such a cluster has no information.
    """
    xp, (count, rows, columns) = backend.xp, cells.shape
    lead = (1,) * (first.ndim - 2)
    parts = xp.reshape(clusters, (clusters.shape[0], count, *lead, rows * columns))
    has_samples = xp.astype(xp.sum(parts, axis=-1) > 0, first.dtype)
    number = xp.sum(has_samples, axis=0)
    sums = xp.sum(parts * first[None, ...], axis=-1)
    deviations = (sums - (xp.sum(sums, axis=0) / xp.where(number > 0, number, 1))[None, ...]) * has_samples
    counts = xp.reshape(cells, (count, *lead, rows, columns))
    by = xp.reshape(first, (*first.shape[:-1], rows, columns))
    total = xp.sum(counts, axis=(-2, -1), keepdims=True)
    mean = xp.sum(counts * by, axis=(-2, -1), keepdims=True) / xp.where(total > 0, total, 1)
    sizes = xp.sum(counts, axis=-1)
    spread = xp.sum(counts * (by - mean) ** 2, axis=-1) / xp.where(sizes > 0, sizes, 1)
    largest = xp.max(spread, axis=-1, keepdims=True)
    # A class without influence on the measure has samples all the same.
    spread = xp.where(largest > 0, spread / xp.where(largest > 0, largest, 1), 1)
    of_rows = xp.sum(xp.reshape(clusters, (clusters.shape[0], count, *lead, rows, columns)), axis=-1)
    least = 100 * xp.finfo(first.dtype).eps
    return deviations, xp.sum(of_rows * xp.where(spread > least, spread, least), axis=-1)
