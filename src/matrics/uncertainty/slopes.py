"""How measures change with the cells: derivatives, and what it changes to leave out one sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from matrics._backend import NUMPY, Array, Standard
from matrics.evaluation import TableFunction, evaluate

# A step relative to its cell: what a central difference leaves out of x·ln x and what rounding adds to it are both
# below 1e-7 of the derivative, for single samples among a million.
STEP = 2e-4

# Cells of the changed matrices that are scored at a time.
CELLS_AT_ONCE = 2**21


class Slopes(NamedTuple):
    """Values of measures and their derivatives by each of the k = n² cells; C is the number of classes, or no axis."""

    values: list[Array]  # (B,) or (B, C)
    first: list[Array]  # (B, k) or (B, C, k)
    second: list[Array] | None  # by the same cell twice


def slopes(
    cells: Array,
    functions: Sequence[TableFunction],
    zero_division: float,
    backend: Standard,
    *,
    second: bool,
    workers: int,
) -> Slopes:
    """Derivatives of all functions at matrices (B, n, n): by central differences for NumPy, elsewhere automatic.

    By an empty cell they are not needed (it adds nothing to a variance), and are 0.
    """
    options = {"zero_division": zero_division, "invalid": "nan"}
    if backend is not NUMPY:

        def score(x: Array) -> list[Array]:
            return evaluate(x, functions, **options)  # type: ignore[arg-type]

        values, first, diagonal = backend.derivatives(score, cells, second=second)
        return Slopes(values, first, diagonal)
    values = evaluate(cells, functions, workers=workers, **options)  # type: ignore[arg-type]
    steps = np.where(cells > 0, cells * STEP, 0)
    above = changed(cells, steps, functions, options, workers)
    below = changed(cells, -steps, functions, options, workers)
    flat = steps.reshape(len(cells), cells.shape[-1] ** 2)
    first, curves = [], []
    for value, up, down in zip(values, above, below, strict=True):
        step = flat if value.ndim == 1 else flat[:, None, :]
        some = step > 0
        first.append(np.where(some, (up - down) / np.where(some, 2 * step, 1), 0))
        if second:
            curves.append(np.where(some, (up - 2 * value[..., None] + down) / np.where(some, step**2, 1), 0))
    return Slopes(values, first, curves if second else None)


def changed(
    cells: Array, steps: Array, functions: Sequence[TableFunction], options: dict[str, object], workers: int = 1
) -> list[Array]:
    """The values with each cell changed by its step, one at a time: (B, k) or (B, C, k); NaN where the step is 0."""
    count, n, _ = cells.shape
    which, cell = np.nonzero(steps.reshape(count, n * n))
    by = steps.reshape(count, n * n)[which, cell]
    found: list[Array] | None = None
    at_once = max(1, CELLS_AT_ONCE // n**2)
    for start in range(0, max(1, len(which)), at_once):
        part = slice(start, start + at_once)
        stack = cells[which[part]].reshape(-1, n * n)
        stack[np.arange(len(stack)), cell[part]] += by[part]
        values = evaluate(stack.reshape(-1, n, n), functions, workers=workers, **options)  # type: ignore[arg-type]
        if found is None:
            found = [np.full((count, *value.shape[1:], n * n), math.nan) for value in values]
        for result, value in zip(found, values, strict=True):
            if value.ndim == 1:
                result[which[part], cell[part]] = value
            else:
                result[which[part], :, cell[part]] = value
    return found or []


def variance(first: Array, cells: Array, scheme: str, clusters: Array | None, backend: Standard) -> Array:
    """The variance of a measure by the delta method: of multinomial cells, of rows, or of whole clusters.

    ``first`` is (B, k) or (B, C, k), cells (B, n, n), clusters (K, B, n, n).
    """
    xp, n = backend.xp, cells.shape[-1]
    classwise = first.ndim == 3
    flat = xp.reshape(cells, (cells.shape[0], n * n))
    if scheme == "clusters" and clusters is not None:
        number = clusters.shape[0]
        parts = xp.reshape(clusters, (number, cells.shape[0], n * n))
        parts = parts[:, :, None, :] if classwise else parts
        moved = xp.sum(parts * first[None, ...], axis=-1)
        moved = moved - xp.mean(moved, axis=0, keepdims=True)
        return xp.sum(moved**2, axis=0) * (number / max(number - 1, 1))
    flat = flat[:, None, :] if classwise else flat
    if scheme == "rows":
        rows = (*first.shape[:-1], n, n)
        counts, by = xp.reshape(xp.broadcast_to(flat, first.shape), rows), xp.reshape(first, rows)
    else:
        counts, by = flat[..., None, :], first[..., None, :]
    total = xp.sum(counts, axis=-1)
    total = xp.where(total > 0, total, 1)
    mean = xp.sum(counts * by, axis=-1) / total
    return xp.sum(counts * (by - mean[..., None]) ** 2, axis=(-2, -1))
