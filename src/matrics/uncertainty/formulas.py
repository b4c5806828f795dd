"""Limits without replicates: Wilson's interval and the delta method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matrics._backend import NUMPY, Array
from matrics.evaluation import evaluate
from matrics.uncertainty.limits import around, around_corrected, normal_quantile, student_quantile, wilson
from matrics.uncertainty.measure import Limits, Measure, Task
from matrics.uncertainty.slopes import Slopes, slopes, variance

# Numbers that the derivatives of some matrices may take at a time.
NUMBERS_AT_ONCE = 2**21

# Standard errors up to this part of a value's distance from its range's end are noise, by the bits of its dtype.
NOISE = {64: 1e-7, 32: 1e-5}


def limits_by_formula(task: Task) -> list[Limits]:
    """The limits of every measure, worked out for some matrices at a time."""
    xp, n, count = task.backend.xp, task.whole.shape[-1], task.whole.shape[0]
    step = max(1, NUMBERS_AT_ONCE // (n**3 * len(task.measures))) if task.backend is NUMPY else max(1, count)
    parts: list[list[Any]] = [[] for _ in task.measures]
    for start in range(0, count, step):
        part = slice(start, start + step)
        some = task._replace(
            cells=task.cells[..., part, :, :],
            whole=task.whole[part, :, :],
            estimates=[estimate[part, ...] for estimate in task.estimates],
        )
        for found, one in zip(parts, _limits(some), strict=True):
            found.append(one)
    integer = task.backend.widest_int(task.whole) or xp.int32
    results: list[Limits] = []
    for found in parts:
        low, high, error = (xp.concat(list(column), axis=0) for column in zip(*found, strict=True))
        results.append((low, high, error, xp.astype(xp.zeros_like(low), integer)))
    return results


def _limits(task: Task) -> list[tuple[Array, Array, Array]]:
    """Limits and standard errors: of proportions Wilson's, unless the plain delta method is asked for."""
    plain = task.options.method == "delta"
    found: dict[int, tuple[Array, Array, Array]] = {}
    trials = {k: m.trials for k, m in enumerate(task.measures) if m.trials is not None and not plain}
    trials = {k: count for k, count in trials.items() if _are_independent(task.measures[k], task.options.scheme)}
    if trials:
        z = normal_quantile(task.options.level)
        numbers = evaluate(task.whole, list(trials.values()), invalid="nan")
        for k, number in zip(trials, numbers, strict=True):
            share = task.estimates[k]
            error = task.backend.xp.sqrt(share * (1 - share) / number)
            found[k] = (*wilson(share, number, z, task.backend), error)
    others = [k for k in range(len(task.measures)) if k not in found]
    if others:
        some = task._replace(measures=[task.measures[k] for k in others])
        found.update(zip(others, _by_slopes(some, plain=plain), strict=True))
    return [found[k] for k in range(len(task.measures))]


def _are_independent(measure: Measure, scheme: str) -> bool:
    """Whether the samples of which a measure is a proportion are independent; of fixed rows those of a row are."""
    return scheme == "multinomial" or (scheme == "rows" and measure.margin == "true")


def _by_slopes(task: Task, *, plain: bool) -> list[tuple[Array, Array, Array]]:
    """The delta method: as it is, or with one sample added to the matrix and a correction for biased measures."""
    backend, xp, n, scheme = task.backend, task.backend.xp, task.whole.shape[-1], task.options.scheme
    whole = task.whole if plain else task.whole + 1 / n**2
    clusters = task.cells if scheme == "clusters" else None
    if clusters is None:
        z = normal_quantile(task.options.level)
    else:
        z = student_quantile(task.options.level, clusters.shape[0] - 1)
    corrected = [not plain and measure.biased for measure in task.measures]
    found = _slopes(task, whole, corrected)
    results = []
    for k, measure in enumerate(task.measures):
        value, first = found.values[k], found.first[k]
        counts = xp.reshape(whole, (whole.shape[0], *(1,) * (first.ndim - 2), n * n))
        first = xp.where(counts > 0, first, 0)  # to an empty cell it does not matter, and it may be infinite
        spread = variance(first, whole, scheme, clusters, backend)
        if clusters is not None and not plain:  # a few clusters may agree by chance
            alone = variance(first, whole, "multinomial", None, backend)
            spread = xp.where(spread > alone, spread, alone)
        # What is left of a derivative that is 0, by rounding and by the step of a difference, is no variation.
        ends = [xp.abs(value - end) for end in measure.range if math.isfinite(end)]
        room = xp.minimum(*ends) if len(ends) == 2 else (ends or [xp.abs(value)])[0]
        noise = NOISE[xp.finfo(spread.dtype).bits] * room
        spread = xp.where(spread > noise * noise, spread, 0)
        error = xp.sqrt(spread)
        curve = found.second[k] if corrected[k] and found.second is not None else None
        if curve is None:
            results.append((*around(value, error, z, measure.range, backend), error))
            continue
        bias = xp.sum(counts * curve, axis=-1) / 2
        limits = around_corrected(value, spread, bias, z, measure.range, backend)
        results.append((*limits, error))
    return results


def _slopes(task: Task, whole: Array, corrected: Sequence[bool]) -> Slopes:
    """The derivatives of all measures, and the second ones of those that need them."""
    options: Any = {"zero_division": task.zero_division, "backend": task.backend, "workers": task.workers}
    if task.backend is NUMPY or not any(corrected):  # differences have the second ones for nothing
        return slopes(whole, task.functions, second=any(corrected), **options)
    found = slopes(whole, task.functions, second=False, **options)
    some = [k for k, needed in enumerate(corrected) if needed]
    curved = slopes(whole, [task.functions[k] for k in some], second=True, **options)
    curves: list[Any] = [math.nan] * len(corrected)
    for k, curve in zip(some, curved.second or [], strict=True):
        curves[k] = curve
    return found._replace(second=curves)
