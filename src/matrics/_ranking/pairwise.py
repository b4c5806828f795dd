"""The area under the ROC curve averaged over pairs of classes (Hand and Till)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from matrics._arrays import NUMPY, Array
from matrics._engine.evaluation import check_options
from matrics._engine.execution.blocks import in_threads, number_of_threads
from matrics._engine.safety import Safe
from matrics._ranking.averages import mean_of_defined
from matrics._ranking.inputs import ScoredSamples
from matrics._ranking.rows import before_and_after


def one_vs_one(samples: ScoredSamples, average: str, zero_division: float, workers: int) -> Array:
    """The mean area under the ROC curve over all pairs of classes, (*B,)."""
    check_options(zero_division, "nan", workers)
    backend, n = samples.backend, samples.scores.shape[-1]
    xp, safe = backend.xp, Safe(backend, float(zero_division))
    batch = tuple(samples.y_true.shape[:-1])
    with backend.quiet():
        wins, sizes, spoiled = _wins(samples, workers)
        products = sizes[:, :, None] * sizes[:, None, :]
        areas = safe.divide(wins, products)
        kept = [k for k in range(n) if k not in samples.left_out]
        pairs = [(i, j) for place, i in enumerate(kept) for j in kept[place + 1 :]]
        areas_of_pairs = [(areas[:, i, j] + areas[:, j, i]) / 2 for i, j in pairs]
        pair_areas = xp.stack(areas_of_pairs, axis=-1) if pairs else areas[:, 0, :0]
        weights = None
        if average == "weighted" and pairs:
            weights = xp.stack([sizes[:, i] + sizes[:, j] for i, j in pairs], axis=-1)
        values = xp.where(spoiled, math.nan, mean_of_defined(pair_areas, weights, safe))
    return samples.finish(xp.reshape(values, batch))


def _wins(samples: ScoredSamples, workers: int) -> tuple[Array, Array, Array]:
    """The number of pairs of a sample of class i and a sample of class j in which the former scores higher for i.

    Its shape is (R, n, n). The function also returns the number of samples in each class, (R, n), and whether a row is
    invalid, (R,). The scores of each class are sorted only once for all of its pairs.
    """
    backend, y_true, scores = samples.backend, samples.y_true, samples.scores
    xp, n, length = backend.xp, scores.shape[-1], y_true.shape[-1]
    count = math.prod(y_true.shape[:-1])
    dtype = backend.widest_float(scores)
    labels = xp.reshape(y_true, (count, length))
    weight = xp.ones_like(labels, dtype=dtype)
    if samples.weight is not None:
        weight = xp.astype(xp.reshape(samples.weight, (count, length)), dtype)
        if length:  # products of very large or small weights would overflow or underflow
            largest = xp.max(weight, axis=-1, keepdims=True)
            weight = weight / xp.where(largest > 0, largest, 1)
    scores = xp.reshape(scores, (count, length, n))
    is_nan = xp.isnan(scores)
    spoiled = xp.any(xp.any(is_nan, axis=-1), axis=-1)
    if samples.spoiled is not None:
        spoiled = spoiled | xp.reshape(samples.spoiled, (count,))
        labels = backend.clamped(labels, 0, n - 1)
    scores = xp.where(is_nan, 0, scores)
    sizes = backend.scatter_add(labels, weight[:, :, None], n)[:, :, 0]
    wins: list[Any] = [None] * n

    def work(classes: Iterable[int]) -> None:
        with backend.quiet():  # its effect is limited to the current thread
            for k in classes:
                keys, order, weights = backend.sort_descending(scores[:, :, k], labels, weight)
                before, after = before_and_after(xp.where(order == k, weights, 0), keys, backend)
                wins[k] = backend.scatter_add(order, (weights * (before + after) / 2)[:, :, None], n)[:, :, 0]

    threads = min(number_of_threads(workers), n) if backend is NUMPY else 1
    in_threads(work, [range(k, n, threads) for k in range(threads)])
    return xp.stack(wins, axis=1), sizes, spoiled
