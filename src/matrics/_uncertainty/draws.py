"""Limits from replicates: quantiles, and BCa's corrected quantiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from matrics._arrays import NUMPY, Array, Standard
from matrics._arrays.draws import RandomSource
from matrics._engine.execution.blocks import in_threads
from matrics._stacks.simulate import check_prior
from matrics._uncertainty.bias import NOTICEABLE, bias_of
from matrics._uncertainty.extremes import level_of_all, of_classes, values_of_classes
from matrics._uncertainty.limits import bca_limits, percentile_limits, spread, summary_of_finite
from matrics._uncertainty.measure import Extreme, Limits, Task, score_of
from matrics._uncertainty.replicates import acceleration, replicates


def limits_by_draws(task: Task, source: RandomSource, prior: Any) -> list[Limits]:
    """The limits of every measure from replicates of the cells."""
    backend, level, number = task.backend, task.options.level, len(task.measures)
    extremes = [(k, measure.extreme) for k, measure in enumerate(task.measures) if measure.extreme is not None]
    extended = _with_classes(task, [extreme for _, extreme in extremes])
    scheme, added, skew = _prepared([extended], source, prior)
    parts: list[list[Any]] = [[] for _ in (*extended.measures, *extremes)]
    for which, (values_of_block,) in replicates([extended], [source], scheme, added):
        columns = list(enumerate(values_of_block))
        del values_of_block  # frees replicates before the last of them are summarised

        def summarise(share: Iterable[tuple[int, Array]], which: slice = which) -> None:
            with backend.quiet():
                for k, values in share:
                    estimate = extended.estimates[k][which, ...]
                    bca = None if skew is None else (estimate, skew[k][which, ...])
                    parts[k].append(_summary(values, bca, level, backend))
                    if k >= number:
                        level_of_classes = level_of_all(level, extremes[k - number][1], estimate)
                        parts[k + len(extremes)].append(_summary(values, bca, level_of_classes, backend))

        in_threads(summarise, [columns[k :: task.threads] for k in range(min(task.threads, len(columns)))])
    results: list[Limits] = []
    for blocks in parts:
        low, high, error, undefined = (backend.xp.concat(list(column), axis=0) for column in zip(*blocks, strict=True))
        results.append((low, high, error, undefined))
    for place, (k, extreme) in enumerate(extremes, number):
        limits_of_class, limits_of_all = results[place][:3], results[place + len(extremes)][:3]
        low, high, _ = of_classes(extreme, extended.estimates[place], limits_of_all, limits_of_class, backend)
        # The replicates of a lowest value are biased as much as the value itself, if several classes compete for it.
        biased = backend.xp.abs(bias_of(task, task.measures[k])) > NOTICEABLE
        plain_low, plain_high, *rest = results[k]
        results[k] = backend.xp.where(biased, low, plain_low), backend.xp.where(biased, high, plain_high), *rest
    return results[:number]


def _with_classes(task: Task, extremes: Sequence[Extreme]) -> Task:
    """The task with the measures of each class after the others."""
    if not extremes:
        return task
    measures = [*task.measures, *(extreme.each for extreme in extremes)]
    estimates = [*task.estimates, *(values_of_classes(task, extreme) for extreme in extremes)]
    return task._replace(measures=measures, estimates=estimates, score=score_of(measures, task.zero_division))


def differences_by_draws(tasks: Sequence[Task], source: RandomSource, prior: Any) -> list[tuple[Array, ...]]:
    """Limits of differences from replicates, and how often the first is above, with half of the ties.

    A single task scores differences; two tasks are on independent samples.
    """
    first, backend = tasks[0], tasks[0].backend
    xp, options = backend.xp, first.options
    scheme, added, skew = _prepared(tasks, source, prior)
    gaps = first.estimates
    if len(tasks) == 2:
        gaps = [columns - other for columns, other in zip(first.estimates, tasks[1].estimates, strict=True)]
    parts: list[list[Any]] = [[] for _ in first.measures]
    for which, (values_of_first, *others) in replicates(tasks, source.split(len(tasks)), scheme, added):
        for k, values in enumerate(values_of_first):
            drawn = values - others[0][k] if others else values
            level = xp.mean(xp.astype(drawn > 0, drawn.dtype), axis=-1)
            level = level + xp.mean(xp.astype(drawn == 0, drawn.dtype), axis=-1) / 2
            bca = None if skew is None else (gaps[k][which, ...], skew[k][which, ...])
            parts[k].append((*_summary(drawn, bca, options.level, backend), level))
    return [tuple(xp.concat(list(column), axis=0) for column in zip(*columns, strict=True)) for columns in parts]


def _prepared(tasks: Sequence[Task], source: RandomSource, prior: Any) -> tuple[str, Array | None, list[Array] | None]:
    """The scheme of the draws, the prior of a posterior, and BCa's accelerations."""
    options, added = tasks[0].options, None
    scheme = options.scheme
    if options.method == "posterior":
        added = check_prior(prior, tuple(tasks[0].whole.shape[-2:]), source)
        scheme = "dirichlet" if scheme == "multinomial" else "dirichlet rows"
    return scheme, added, acceleration(*tasks) if options.method == "bca" else None


def _summary(values: Array, bca: tuple[Array, Array] | None, level: float, backend: Standard) -> Limits:
    """Limits, standard errors and the numbers of undefined replicates; ``bca`` are estimates and accelerations."""
    if bca is not None:
        return (*bca_limits(values, *bca, level, backend), *spread(values, backend))
    known = summary_of_finite(values, level) if backend is NUMPY else None
    return known or (*percentile_limits(values, level, backend), *spread(values, backend))
