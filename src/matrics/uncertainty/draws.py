"""Limits from replicates: quantiles, and BCa's corrected ones."""

from __future__ import annotations

import math
from typing import Any

from matrics._backend import Array, Standard
from matrics._draws import Source
from matrics.simulate import check_prior
from matrics.uncertainty.limits import bca_limits, percentile_limits
from matrics.uncertainty.measure import Limits, Task
from matrics.uncertainty.replicates import acceleration, replicates


def limits_by_draws(task: Task, source: Source, prior: Any) -> list[Limits]:
    """The limits of every measure from replicates of the cells."""
    backend, options, scheme = task.backend, task.options, task.options.scheme
    added, skew = None, None
    if options.method == "posterior":
        added = check_prior(prior, task.whole.shape[-1], source)
        scheme = "dirichlet" if scheme == "multinomial" else "dirichlet rows"
    if options.method == "bca":
        skew = acceleration(task)
    parts: list[list[Any]] = [[] for _ in task.measures]
    for which, found in replicates(task, source, scheme, added):
        for k, values in enumerate(found):
            if skew is None:
                limits = percentile_limits(values, options.level, backend)
            else:
                estimate, bend = (x[which, ...] for x in (task.estimates[k], skew[k]))
                limits = bca_limits(values, estimate, bend, options.level, backend)
            parts[k].append((*limits, *_spread(values, backend)))
    results: list[Limits] = []
    for one in parts:
        low, high, error, undefined = (backend.xp.concat(list(column), axis=0) for column in zip(*one, strict=True))
        results.append((low, high, error, undefined))
    return results


def _spread(values: Array, backend: Standard) -> tuple[Array, Array]:
    """The standard deviation of the defined replicates, and how many are undefined."""
    xp = backend.xp
    missing = xp.isnan(values)
    undefined = xp.sum(xp.astype(missing, backend.widest_int(values) or xp.int32), axis=-1)
    number = xp.astype(values.shape[-1] - undefined, values.dtype)
    mean = xp.sum(xp.where(missing, 0, values), axis=-1) / xp.where(number > 0, number, 1)
    away = xp.where(missing, 0, values - mean[..., None])
    error = xp.sqrt(xp.sum(away * away, axis=-1) / xp.where(number > 1, number - 1, 1))
    return xp.where(number > 1, error, math.nan), undefined
