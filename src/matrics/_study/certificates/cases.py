"""The cases of a search: all small cases by the number of samples, and random cases with zeros and unequal classes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator

import numpy as np

from matrics._arrays import Array

Shape = tuple[int, ...]

# The largest number of small cases of a shape; a 2×2 matrix then has up to 18 samples, a 3×3 matrix up to 6.
MOST_SMALL = 8_000


@functools.lru_cache(maxsize=64)
def small(shape: Shape) -> Array:
    """All arrays of counts of a shape with few samples, (N, *shape), in the order of the number of samples."""
    cells = math.prod(shape)
    total = 0
    while math.comb(total + 1 + cells, cells) <= MOST_SMALL:
        total += 1
    return np.concatenate([counts_with(cells, samples) for samples in range(total + 1)]).reshape(-1, *shape)


@functools.lru_cache(maxsize=64)
def counts_with(cells: int, samples: int) -> Array:
    """All distributions of samples over cells, (N, cells)."""
    return np.asarray(list(_compositions(cells, samples)), dtype=np.int64).reshape(-1, cells)


def _compositions(cells: int, samples: int) -> Iterator[tuple[int, ...]]:
    """The distributions as all positions of bars between stars."""
    for bars in itertools.combinations(range(samples + cells - 1), cells - 1):
        edges = (-1, *bars, samples + cells - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(edges))


def large(shape: Shape, num: int, rng: np.random.Generator) -> Array:
    """Random counts (num, *shape): of few to thousands of samples, with many zeros, few errors and unequal classes."""
    scale = 10 ** rng.uniform(0, 4, (num, *(1,) * len(shape)))
    spread = 10 ** rng.uniform(-2, 0, (num, *shape))
    density = rng.uniform(0.3, 1, (num, *(1,) * len(shape)))
    cells = scale * spread * (rng.uniform(size=(num, *shape)) < density)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        n = shape[-1]
        rows = 10 ** rng.uniform(-1.5, 0, (num, *shape[:-1], 1))  # class sizes
        right = np.where(np.eye(n, dtype=bool), 1, 10 ** rng.uniform(-2, 1, (num, *(1,) * (len(shape) - 2), 1, 1)))
        cells = cells * np.where(rng.uniform(size=(num, *(1,) * len(shape))) < 0.5, rows, 1) * right
    return np.ceil(cells).astype(np.int64)


def samples(cases: Array) -> Array:
    """The number of samples of each case (N, *shape)."""
    return cases.sum(axis=tuple(range(1, cases.ndim)))


def smaller(case: Array) -> Array:
    """The arrays with a single count set to 0, halved, or decreased by 1, (M, *shape)."""
    flat = case.ravel()
    results = []
    for place in np.flatnonzero(flat):
        for count in {0, int(flat[place]) // 2, int(flat[place]) - 1}:
            changed = flat.copy()
            changed[place] = count
            results.append(changed)
    return np.asarray(results, dtype=np.int64).reshape(-1, *case.shape)


def neighbours(cases: Array) -> Array:
    """The arrays with a single count doubled, halved, or changed by 1, (M, 4 * cells, *shape)."""
    flat = cases.reshape(len(cases), -1)
    cells = flat.shape[1]
    unit = np.eye(cells, dtype=np.int64)
    here = flat[:, None, :]
    moved = np.concatenate(
        [here * (1 + unit), here // (1 + unit), here + unit, np.maximum(here - unit, 0)],
        axis=1,
    )
    return moved.reshape(len(cases), 4 * cells, *cases.shape[1:])
