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


def limits_beside_shares(  # noqa: PLR0917 (what the delta method has found)
    limits: tuple[Array, Array],
    outer: tuple[Array, Array],
    value: Array,
    spread: Array,
    beyond: Array | None,
    z: float,
    task: Task,
    k: int,
) -> tuple[Array, Array]:
    """The limits on the logit, or those in which the estimated shares move the value along a line, if further away.

    Estimates of shares are normal around themselves, not on a logit, whose lower limit of a small share is too high.
    Where the rates of the same matrix gave the shares, their errors move both, and the ``outer`` limits count.

    Parameters
    ----------
    limits, outer
        On the logit with all of the variance, and the outer ones of these and of a sum of the rows.
    value, spread, beyond
        The measure, its variance, and the part of that which comes from the shares.
    """
    if beyond is None or task.target is None:
        return limits
    backend, xp, bounds = task.backend, task.backend.xp, task.measures[k].range
    of_rows = xp.where(spread > beyond, spread - beyond, 0)
    alone = around(value, xp.sqrt(of_rows), z, bounds, backend)
    found = []
    for side, end, inner, far in zip((-1, 1), limits, alone, outer, strict=True):
        reach = xp.where(xp.isnan(inner), 0, inner - value)
        along = xp.clip(value + side * xp.sqrt(reach**2 + z * z * beyond), *bounds)
        ours = xp.where(side * along > side * end, along, end)
        if task.target.by_cells is not None:
            is_same = xp.any(task.target.by_cells != 0, axis=(-2, -1))
            ours = xp.where(like(is_same, ours, xp), far, ours)
        found.append(ours)
    return found[0], found[1]
