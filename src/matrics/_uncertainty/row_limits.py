"""Score limits of a measure as a sum over the true classes. One class with few errors may decide."""

from __future__ import annotations

from matrics._arrays import Array, Standard
from matrics._uncertainty.limits import wilson_at

# The number of updates of the quantile's distribution over rows. One row is exact at once; many rows are within 5 % of
# where it settles, and further steps cost as much as these.
STEPS = 8


def reaches_by_rows(  # noqa: PLR0917 (two tables, and what is known of them)
    first: Array,
    smoothed: Array,
    observed: Array,
    z: float,
    scheme: str,
    backend: Standard,
    squares: Array | None = None,
    beyond: Array | None = None,
) -> tuple[Array, Array]:
    """How far the limits are below and above the estimate: (B,) or (B, C).

    To first order a measure is a sum over the true classes. Each row contributes like a proportion: the mean of its
    cells' derivatives, between the lowest and the highest of these. The score limits of such a sum are where it is
    z standard errors away, with the errors taken there, and the proportions the most likely ones that lead there. That
    is Wilson's limit of each row for a quantile of its own, z times the root of the row's part of the variance: all of
    z where one row decides, and little where many do (Martín Andrés, Álvarez Hernández and Herranz Tejedor 2011).

    Parameters
    ----------
    first
        Derivatives by the cells (B, k) or (B, C, k).
    smoothed, observed
        The tables (B, r, c) with which these were found (all their cells have samples), and the tables as counted.
    squares
        The smoothed squared weights (B, r, c), if the tables are sums of weights.
    beyond
        The variance that does not come from the rows (B,) or (B, C).
    """
    xp, (count, rows, columns) = backend.xp, smoothed.shape
    lead = tuple(first.shape[:-1])
    by = xp.reshape(first, (*lead, rows, columns))
    as_table = (count, *(1,) * (len(lead) - 1), rows, columns)
    smoothed, observed = xp.reshape(smoothed, as_table), xp.reshape(observed, as_table)
    low, high = xp.min(by, axis=-1), xp.max(by, axis=-1)
    size, has_samples = xp.sum(smoothed, axis=-1), xp.sum(observed, axis=-1) > 0
    mean = xp.sum(smoothed * by, axis=-1) / size
    varying = smoothed if squares is None else xp.reshape(squares, as_table)
    spread = xp.sum(varying * (by - mean[..., None]) ** 2, axis=-1)
    # Rows without samples have only the added counts.
    counts = xp.where(has_samples[..., None], observed, smoothed)
    number = xp.sum(counts, axis=-1)
    room = high - low
    varies = (room > 0) & (spread > 0)
    safe_room = xp.where(varies, room, 1)
    share = xp.clip((xp.sum(counts * by, axis=-1) / number - low) / safe_room, 0, 1)
    inside = (mean - low) * (high - mean)  # the variance of a row with its samples at both ends alone
    trials = xp.where(varies, number * size * inside / xp.where(varies, spread, 1), 1)
    weight = xp.where(varies, number * room, 0)
    between = xp.zeros_like(weight[..., 0]) if beyond is None else beyond
    if scheme != "rows":
        away = mean - (xp.sum(size * mean, axis=-1) / xp.sum(size, axis=-1))[..., None]
        # With weights, what varies within a row does not add up to 0, and goes along with the row.
        within = xp.sum(varying * (by - mean[..., None]), axis=-1)
        between = xp.sum(away * (xp.sum(varying, axis=-1) * away + 2 * within), axis=-1)
        between = xp.where(between > 0, between, 0)
    down, up = (_reach(proportion, trials, weight, between, z, backend) for proportion in (share, 1 - share))
    return down, up


def _reach(share: Array, trials: Array, weight: Array, between: Array, z: float, backend: Standard) -> Array:  # noqa: PLR0917
    """How far below its value a weighted sum of proportions and a normal variate has its lower limit."""
    xp = backend.xp
    quantile = xp.full_like(trials, z)
    for _ in range(STEPS):
        quantile, lowest, total = _shared(share, trials, weight, between, quantile, z, backend)
    return xp.sum(weight * (share - lowest), axis=-1) + z * between / xp.where(total > 0, xp.sqrt(total), 1)


def _shared(  # noqa: PLR0917 (the same)
    share: Array, trials: Array, weight: Array, between: Array, quantile: Array, z: float, backend: Standard
) -> tuple[Array, Array, Array]:
    """The next quantile of each row, with the rows' limits for the last one and the variance there."""
    xp = backend.xp
    lowest = wilson_at(share, trials, quantile, backend)
    variances = weight**2 * lowest * (1 - lowest) / trials
    total = xp.sum(variances, axis=-1) + between
    part = variances / xp.where(total > 0, total, 1)[..., None]
    return z * xp.sqrt(part), lowest, total
