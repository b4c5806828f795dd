"""Limits from replicates: quantiles, and BCa's corrected ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrics._backend import NUMPY, Array, Standard
from matrics._draws import Source
from matrics.roads.blocks import in_threads
from matrics.simulate import check_prior
from matrics.uncertainty.limits import bca_limits, percentile_limits, spread, summary_of_finite
from matrics.uncertainty.measure import Limits, Task
from matrics.uncertainty.replicates import acceleration, replicates


def limits_by_draws(task: Task, source: Source, prior: Any) -> list[Limits]:
    """The limits of every measure from replicates of the cells."""
    backend, options, scheme = task.backend, task.options, task.options.scheme
    added, skew = None, None
    if options.method == "posterior":
        added = check_prior(prior, tuple(task.whole.shape[-2:]), source)
        scheme = "dirichlet" if scheme == "multinomial" else "dirichlet rows"
    if options.method == "bca":
        skew = acceleration(task)
    parts: list[list[Any]] = [[] for _ in task.measures]
    for which, found in replicates(task, source, scheme, added):
        columns = list(enumerate(found))
        del found  # or all replicates would stay until the last of them is summarised

        def summarise(share: Sequence[tuple[int, Array]], which: slice = which) -> None:
            with backend.quiet():
                for k, values in share:
                    some = None if skew is None else (task.estimates[k][which, ...], skew[k][which, ...])
                    parts[k].append(_summary(values, some, options.level, backend))

        in_threads(summarise, [columns[k :: task.threads] for k in range(min(task.threads, len(columns)))])
    results: list[Limits] = []
    for one in parts:
        low, high, error, undefined = (backend.xp.concat(list(column), axis=0) for column in zip(*one, strict=True))
        results.append((low, high, error, undefined))
    return results


def _summary(values: Array, bca: tuple[Array, Array] | None, level: float, backend: Standard) -> Limits:
    """Limits, standard errors and the numbers of undefined replicates; ``bca`` are estimates and accelerations."""
    if bca is not None:
        return (*bca_limits(values, *bca, level, backend), *spread(values, backend))
    known = summary_of_finite(values, level) if backend is NUMPY else None
    return known or (*percentile_limits(values, level, backend), *spread(values, backend))
