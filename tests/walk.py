"""What is walked: every formula of the catalogue, on matrices of every size that a dtype has, and their true values."""

from __future__ import annotations

import functools
from typing import Any

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
            for choice in option.choices[1:] or (option.above + 0.5, option.above + 0.9)
        ]
        average = {"average": "class"} if metric.kind == "per_class" else {}
        specs += [str(metric.using(**chosen, **average)) for chosen in options]
    return specs


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
    """One cell, row or column of a size beside single samples."""
    random = np.random.default_rng([seed, n])
    base = random.integers(0, 6, (12, n, n)).astype(float)
    base[0] = np.eye(n)
    for i, matrix in enumerate(base):
        place = [(0, 0), (0, -1), (0, slice(None)), (slice(None), 0)][i % 4]
        matrix[place] = size * np.maximum(1, matrix[place])
        if i >= 8:
            matrix[-1, -1] = size
    return base


def within(n: int, dtype: type) -> np.ndarray:
    """Matrices of which every share of the total is far above the smallest number of the dtype, squares of it are not."""
    far = 22 if dtype is np.float32 else 160
    sizes = (30, -25) if dtype is np.float32 else (290, -250)
    parts = [ordinary(n), dominated(n, 10.0**far), spread(n, far / 2, 10, 1), spread(n, 5, 6, 2)]
    parts += [ordinary(n, 1)[:8] * 10.0**size for size in sizes]
    return np.concatenate(parts).astype(dtype)


def beyond(n: int, dtype: type) -> np.ndarray:
    """Matrices whose cells are further apart than the dtype's smallest number is from 1."""
    far = 36 if dtype is np.float32 else 300
    diagonal = np.zeros((3, n, n))
    diagonal[:, 0, 0], diagonal[:, -1, -1] = 10.0**far, 10.0**-far
    diagonal[1, 0, -1], diagonal[2, -1, 0] = 1, 10.0**-far
    return np.concatenate([diagonal, spread(n, far, 12, 3)]).astype(dtype)
