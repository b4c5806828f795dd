"""Limits of predictive values at a prevalence, on the scale of the logit."""

from __future__ import annotations

from matrics._arrays import Array
from matrics._uncertainty.limits import around
from matrics._uncertainty.measure import Task, like


def is_predictive_value(task: Task, k: int) -> bool:
    """Whether a measure is a predictive value at a prevalence, whose odds are a ratio of two rows' rates.

    The limits on its logit are those of Mercaldo et al. (2007).
    """
    return task.target is not None and task.measures[k].margin in ("pred", "not_pred")


def limits_with_shares(  # noqa: PLR0917 (results of the delta method)
    limits: tuple[Array, Array],
    outer: tuple[Array, Array],
    value: Array,
    spread: Array,
    share_variance: Array | None,
    z: float,
    task: Task,
    k: int,
) -> tuple[Array, Array]:
    """The limits on the logit, or limits in which the estimated shares move the value linearly, whichever are wider.

    Estimates of shares are normal on their own scale. On the logit, the lower limit for a small share is too high.
    If the shares come from the rates of the same matrix, the errors of the rates affect both, and ``outer`` is used.

    Parameters
    ----------
    limits, outer
        The limits on the logit with the whole variance, and the wider of these and of the limits by rows.
    value, spread, share_variance
        The measure, its variance, and the part of the variance that comes from the shares.
    """
    if share_variance is None or task.target is None:
        return limits
    backend, xp, bounds = task.backend, task.backend.xp, task.measures[k].range
    of_rows = xp.where(spread > share_variance, spread - share_variance, 0)
    limits_of_rows = around(value, xp.sqrt(of_rows), z, bounds, backend)
    results = []
    for side, end, inner, outer_limit in zip((-1, 1), limits, limits_of_rows, outer, strict=True):
        distance = xp.where(xp.isnan(inner), 0, inner - value)
        linear = xp.clip(value + side * xp.sqrt(distance**2 + z * z * share_variance), *bounds)
        limit = xp.where(side * linear > side * end, linear, end)
        if task.target.by_cells is not None:
            is_same = xp.any(task.target.by_cells != 0, axis=(-2, -1))
            limit = xp.where(like(is_same, limit, xp), outer_limit, limit)
        results.append(limit)
    return results[0], results[1]
