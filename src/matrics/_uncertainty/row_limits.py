"""Score limits of a measure as a sum over the true classes. A single class with few errors may dominate."""

from __future__ import annotations

from matrics._arrays import Array, Standard
from matrics._uncertainty.limits import wilson_at

# The number of updates of the quantile's distribution over rows. It is exact for a single row. For many rows it is
# within 5 % of the limit, and further steps cost as much as these.
STEPS = 8


def reaches_by_rows(  # noqa: PLR0917 (two tables and their properties)
    first: Array,
    smoothed: Array,
    observed: Array,
    z: float,
    scheme: str,
    backend: Standard,
    squares: Array | None = None,
    share_variance: Array | None = None,
) -> tuple[Array, Array]:
    """The distances of the limits below and above the estimate: (B,) or (B, C).

    To first order a measure is a sum over the true classes. Each row contributes like a proportion: the mean of the
    derivatives by its cells, between the lowest and the highest derivative. The score limits of such a sum are z
    standard errors away from it. The errors are those at the most likely proportions for these limits. They are
    Wilson's limits of each row, for a quantile of the row: z times the root of its part of the variance. The quantile
    is z if a row has all of the variance, and small if many rows share it (Martín Andrés, Álvarez Hernández and Herranz
    Tejedor 2011).

    Parameters
    ----------
    first
        Derivatives by the cells (B, k) or (B, C, k).
    smoothed, observed
        The tables (B, r, c) of the derivatives (all their cells have samples), and the tables as counted.
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
    between = xp.zeros_like(weight[..., 0]) if share_variance is None else share_variance
    if scheme != "rows":
        deviations = mean - (xp.sum(size * mean, axis=-1) / xp.sum(size, axis=-1))[..., None]
        # The weighted deviations within a row do not add up to 0, and are correlated with the weights of the row.
        within = xp.sum(varying * (by - mean[..., None]), axis=-1)
        between = xp.sum(deviations * (xp.sum(varying, axis=-1) * deviations + 2 * within), axis=-1)
        between = xp.where(between > 0, between, 0)
    down, up = (_reach(proportion, trials, weight, between, z, backend) for proportion in (share, 1 - share))
    return down, up


def _reach(share: Array, trials: Array, weight: Array, between: Array, z: float, backend: Standard) -> Array:  # noqa: PLR0917
    """The distance of the lower limit of a weighted sum of proportions and a normal variate from its value."""
    xp = backend.xp
    quantile = xp.full_like(trials, z)
    for _ in range(STEPS):
        quantile, lowest, total = _shared(share, trials, weight, between, quantile, z, backend)
    return xp.sum(weight * (share - lowest), axis=-1) + z * between / xp.where(total > 0, xp.sqrt(total), 1)


def _shared(  # noqa: PLR0917 (the parameters of _reach)
    share: Array, trials: Array, weight: Array, between: Array, quantile: Array, z: float, backend: Standard
) -> tuple[Array, Array, Array]:
    """The next quantile of each row, the rows' limits for the last quantile, and the variance at these limits."""
    xp = backend.xp
    lowest = wilson_at(share, trials, quantile, backend)
    variances = weight**2 * lowest * (1 - lowest) / trials
    total = xp.sum(variances, axis=-1) + between
    part = variances / xp.where(total > 0, total, 1)[..., None]
    return z * xp.sqrt(part), lowest, total
