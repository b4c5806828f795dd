"""Replicates of measures, drawn and scored in blocks and threads; and the jackknife."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._arrays.draws import RandomSource
from matrics._engine.execution.blocks import in_threads
from matrics._progress import steps
from matrics._stacks.simulate import Plan, draw
from matrics._uncertainty.measure import Task
from matrics._uncertainty.slopes import changed, weights_of_rows

# Bytes of the replicates of several matrices at a time; a single matrix may need more.
BYTES_AT_ONCE = 2**25

# Cells of replicates per chunk on devices.
CELLS_AT_ONCE = 2**22


def replicates(
    tasks: Sequence[Task], sources: Sequence[RandomSource], scheme: str, prior: Array | None
) -> Iterator[tuple[slice, list[list[Array]]]]:
    """Yield slices of matrices, with the values of all measures of each task in replicates: (b, num) or (b, C, num)."""
    first, num = tasks[0], tasks[0].options.num
    count = first.cells.shape[-3]
    if sources[0].backend is not NUMPY:
        yield (
            slice(0, count),
            [_on_device(task, source, scheme, prior) for task, source in zip(tasks, sources, strict=True)],
        )
        return
    plan = Plan.of(count, num, first.size, scheme)
    outputs = 8 * num * sum(math.prod(estimate.shape[1:]) for estimate in first.estimates)
    step = plan.width * max(1, BYTES_AT_ONCE // (outputs * plan.width))
    for start in steps(range(0, count, step)):
        which = slice(start, min(start + step, count))
        part = plan._replace(matrices=which.stop - start)
        yield (
            which,
            [
                _on_host(task, source, part, start, scheme, prior)
                for task, source in steps(list(zip(tasks, sources, strict=True)))
            ],
        )


def _on_device(task: Task, source: RandomSource, scheme: str, prior: Array | None) -> list[Array]:
    """The values of all measures for the replicates of all matrices."""
    cells, score, count = task.cells, task.score, task.cells.shape[-3]
    everything = slice(0, count)

    def make(stream: RandomSource, size: int) -> list[Array]:
        return score(task.there(draw(stream, cells, everything, size, scheme=scheme, prior=prior)), 1)

    xp = source.backend.xp
    values = source.collect(make, task.options.num, max(1, CELLS_AT_ONCE // max(1, count * task.size)))
    return [xp.permute_dims(value, (*range(1, value.ndim), 0)) for value in values]


def _on_host(  # noqa: PLR0917 (the local variables of replicates)
    task: Task, source: RandomSource, part: Plan, start: int, scheme: str, prior: Array | None
) -> list[Array]:
    """The values of all measures for the replicates of a chunk of matrices, which begins at ``start``."""
    cells, score, num, threads = task.cells, task.score, task.options.num, task.threads
    tasks = list(part.tasks())
    results: list[Array] = []

    def work(share: Iterable[tuple[tuple[slice, slice], RandomSource]]) -> None:
        for (matrices, replicates_of_block), stream in share:
            rows = slice(start + matrices.start, start + matrices.stop)
            size = replicates_of_block.stop - replicates_of_block.start
            drawn = draw(stream, cells, rows, size, scheme=scheme, prior=prior)
            values = score(task.part(rows).there(drawn), 1)
            if not results:
                results.extend(np.empty((part.matrices, *value.shape[2:], num)) for value in values)
            for result, value in zip(results, values, strict=True):
                result[matrices, ..., replicates_of_block] = np.moveaxis(value, 0, -1)

    first, *others = zip(tasks, source.split(len(tasks)), strict=True)
    work([first])  # the first block has the shapes of the results
    if others:
        in_threads(work, [others[k::threads] for k in range(min(threads, len(others)))])
    return results


def acceleration(*tasks: Task) -> list[Array]:
    """BCa's acceleration from the values without a single sample, or without a single cluster.

    The acceleration is the third moment of the influences over six times the 3/2 power of the second (Efron 1987, eq.
    6.6). With random rows, the influences in each row are relative to the mean of the row. For two tasks on independent
    samples, the result is the acceleration of the difference.
    """
    xp = tasks[0].backend.xp
    results = []
    for moments in zip(*map(_moments, tasks), strict=True):
        second = sum(moment[0] for moment in moments)
        third = sum(moment[1] if k == 0 else -moment[1] for k, moment in enumerate(moments))
        results.append(xp.where(second > 0, third / (6 * xp.where(second > 0, second, 1) ** 1.5), 0))
    return results


def _moments(task: Task) -> list[tuple[Array, Array]]:
    """Σ u² and Σ u³ of every measure, where u are the influences of the samples, or clusters."""
    backend, scheme, cells = task.backend, task.options.scheme, task.cells
    xp, (count, rows, columns) = backend.xp, task.whole.shape
    if scheme == "clusters":
        values = task.score(xp.sum(cells, axis=0)[None, ...] - cells, task.workers)
        last = [xp.permute_dims(value, (*range(1, value.ndim), 0)) for value in values]
        return [_powers(value[..., None, :], xp.ones_like(value)[..., None, :], xp) for value in last]
    if backend is NUMPY:
        rebalanced = task.there(cells)
        steps = np.where(cells >= 1, -weights_of_rows(cells, rebalanced, xp), 0)
        values = changed(rebalanced, steps, task.score, task.workers)
    else:
        size = task.size
        identity = backend.constant([[float(i == j) for j in range(size)] for i in range(size)], cells)
        less = cells[None, ...] - xp.reshape(identity, (size, 1, rows, columns))
        values = task.score(task.there(xp.where(less < 0, 0, less)), 1)
        values = [xp.permute_dims(value, (*range(1, value.ndim), 0)) for value in values]
    flat = xp.reshape(cells, (count, task.size))
    results = []
    for value in values:
        counts = xp.broadcast_to(flat if value.ndim == 2 else flat[:, None, :], value.shape)
        counts = xp.where(xp.isnan(value) | (counts < 1), 0, counts)
        known = xp.where(xp.isnan(value), 0, value)
        shape = (*value.shape[:-1], *((rows, columns) if scheme == "rows" else (1, task.size)))
        results.append(_powers(xp.reshape(known, shape), xp.reshape(counts, shape), xp))
    return results


def _powers(values: Array, counts: Array, xp: Any) -> tuple[Array, Array]:
    """Σ u² and Σ u³ of values (…, samples, distinct) with these counts, where u are distances from the means."""
    total = xp.sum(counts, axis=-1, keepdims=True)
    total = xp.where(total > 0, total, 1)
    distances = (xp.sum(values * counts, axis=-1, keepdims=True) / total - values) * ((total - 1) / total)
    second, third = (xp.sum(counts * distances**power, axis=(-2, -1)) for power in (2, 3))
    return second, third
