"""What is walked: every formula of the catalogue, on matrices of every size that a dtype has, and their true values."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import reference

import matrics


def formulas() -> list[str]:
    """Each formula once, of every class or of the whole, with every choice of its options."""
    specs = []
    for name in [*matrics.list_metrics("all")]:
        metric = matrics.get_metric(name)
        options: list[dict[str, Any]] = [{}]
        options += [
            {option.name: choice}
            for option in metric.options
            for choice in option.choices[1:] or (() if option.matrix else (option.above + 0.5, option.above + 0.9))
        ]
        average = {"average": "class"} if metric.kind == "per_class" else {}
        specs += [str(metric.using(**chosen, **average)) for chosen in options]
    return list(dict.fromkeys(specs))  # an option's other values may hold its default


@functools.cache
def truth(spec: str, cells: tuple[tuple[float, ...], ...]) -> Any:
    """The value of the documented formula, to float64; NaN where it is undefined."""
    metric = matrics.get_metric(spec)
    values = reference.evaluate(metric.name, cells, average=metric.average, **dict(metric.fixed))
    return np.array([_float(x) for x in values]) if isinstance(values, list) else _float(values)


def _float(value: Any) -> float:
    return np.nan if value is None else float(value)


def spread(n: int, decades: float, count: int, seed: int, zeros: float = 0.15) -> np.ndarray:
    """Matrices whose cells lie anywhere within so many powers of ten below and above 1; some are 0."""
    random = np.random.default_rng([seed, n])
    cells = 10.0 ** random.uniform(-decades, decades, (count, n, n))
    return np.where(random.random((count, n, n)) < zeros, 0, cells)


def ordinary(n: int, seed: int = 0) -> np.ndarray:
    """Counts and soft counts as they come: some classes empty or never predicted, some matrices without errors."""
    random = np.random.default_rng([seed, n])
    counts = random.integers(0, 40, (6, n, n)).astype(float)
    counts[1, 0], counts[2, :, 0] = 0, 0
    few = random.integers(0, 3, (6, n, n)).astype(float)
    soft = random.dirichlet(np.full(n * n, 0.3), 3).reshape(3, n, n) * random.integers(1, 50, (3, 1, 1))
    corner = np.zeros((n, n))
    corner[0, 0] = 5
    chance = np.outer(random.integers(1, 9, n), random.integers(1, 9, n)).astype(float)
    plain = [np.zeros((n, n)), np.eye(n), 7 * np.eye(n), np.ones((n, n)), corner, corner[::-1], chance]
    return np.concatenate([counts, few, soft, np.stack(plain)])


def dominated(n: int, size: float, seed: int = 0) -> np.ndarray:
    """One cell, row or column of a size with single samples."""
    random = np.random.default_rng([seed, n])
    base = random.integers(0, 6, (12, n, n)).astype(float)
    base[0] = np.eye(n)
    for i, matrix in enumerate(base):
        place = [(0, 0), (0, -1), (0, slice(None)), (slice(None), 0)][i % 4]
        matrix[place] = size * np.maximum(1, matrix[place])
        if i >= 8:
            matrix[-1, -1] = size
    return base


def by_hand_within(n: int, dtype: type) -> np.ndarray:
    """The counts of reports: products of shares that vanished, and products of counts that overflowed."""
    if n == 2:
        cells = [[[1e10, 1e9], [1e9, 1e10]], [[1e22, 3], [2, 5]], [[3, 2], [5, 1e22]], [[1e22, 0], [0, 1]]]
    elif n == 3:
        cells = [[[1e12, 1, 2], [3, 5, 1], [1, 2, 4]], [[1e12, 1, 1], [1, 1e12, 1], [1, 1, 1e12]]]
        if dtype is np.float64:
            cells += [[[1e84, 1, 2], [3, 5, 1], [1, 2, 4]], [[1e160, 0, 1], [2, 3, 4], [1, 1, 0]]]
    else:
        return np.zeros((0, n, n))
    return np.array(cells)


def within(n: int, dtype: type) -> np.ndarray:
    """Matrices of which every share of the total fits the dtype, though products of two may not."""
    far = 22 if dtype is np.float32 else 160
    sizes = (30, -25) if dtype is np.float32 else (290, -250)
    parts = [ordinary(n), by_hand_within(n, dtype), dominated(n, 10.0**far)]
    parts += [spread(n, far / 2, 10, 1), spread(n, 5, 6, 2)]
    parts += [ordinary(n, 1)[:8] * 10.0**size for size in sizes]
    return np.concatenate(parts).astype(dtype)


def beyond(n: int, dtype: type, count: int = 6) -> np.ndarray:
    """Matrices whose cells are further apart than the dtype's smallest number is from 1."""
    far = 36 if dtype is np.float32 else 300
    diagonal = np.zeros((3, n, n))
    diagonal[:, 0, 0], diagonal[:, -1, -1] = 10.0**far, 10.0**-far
    diagonal[1, 0, -1], diagonal[2, -1, 0] = 1, 10.0**-far
    return np.concatenate([diagonal, spread(n, far, count, 3)]).astype(dtype)


class Miss(NamedTuple):
    """A measure that is not what it should be of one matrix of a stack."""

    measure: str
    place: int
    cells: tuple[tuple[float, ...], ...]
    ours: Any
    true: Any


def misses(road: Any, stack: np.ndarray, dtype: type, specs: list[str]) -> tuple[int, list[Miss]]:
    """How many numbers were compared along a road, and what differs."""
    ours = road.score(stack, specs, dtype, invalid="nan")
    rtol, atol = (1e-9, 1e-12) if dtype is np.float64 else (3e-4, 3e-5)
    compared, found = 0, []
    for place, matrix in enumerate(stack.astype(dtype)):
        cells = tuple(tuple(row) for row in matrix.tolist())
        for spec in specs:
            value, true = np.atleast_1d(ours[spec][place]), np.atleast_1d(truth(spec, cells))
            with np.errstate(over="ignore"):
                true = true.astype(dtype)  # what does not fit the dtype is infinite there
            allowed = max(atol, rounding(spec, matrix, dtype))
            far = ~np.isclose(value, true, rtol=rtol, atol=allowed, equal_nan=True)
            if beyond_condition(spec, matrix, dtype, rtol):
                continue
            compared += far.size
            if far.any():
                found.append(Miss(matrics.get_metric(spec).name, place, cells, value[far], true[far]))
    return compared, found


def rounding(spec: str, matrix: np.ndarray, dtype: type) -> float:
    """What a difference of two sums of counts may be off by, where it is told in counts: docs/numerics.md."""
    if not spec.startswith("automatic_manual_difference"):
        return 0.0
    wide = matrix.astype(np.float64)
    return float(np.finfo(dtype).eps * (wide.sum(0) + wide.sum(1)).max())


def beyond_condition(spec: str, matrix: np.ndarray, dtype: type, rtol: float) -> bool:
    """Whether rounding may change a value by more than so much: docs/numerics.md says so of the ground-truth index."""
    if not spec.startswith("gt_index") or not np.isfinite(matrix).all():
        return False
    return conditioning(matrix) > rtol / float(np.finfo(dtype).eps) / 100


def conditioning(matrix: np.ndarray) -> float:
    """All errors over those that avoid the pivot of the ground-truth index: what rounding is multiplied by."""
    cells = [[Fraction(cell) for cell in row] for row in matrix.tolist()]
    n = len(cells)
    errors = [[cell if i != j else 0 for j, cell in enumerate(row)] for i, row in enumerate(cells)]
    total = sum(map(sum, errors))
    avoiding = [sum(errors[i][j] for i in range(n) for j in range(n) if k not in (i, j)) for k in range(n)]
    least = min((rest for rest in avoiding), default=Fraction(0))
    return float(min(total / least, Fraction(10) ** 300)) if least else np.inf if total else 1.0
