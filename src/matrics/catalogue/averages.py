"""From the classes' values to one: macro, micro, weighted, binary, or none."""

from __future__ import annotations

import math
from typing import Any

from matrics._backend import Array
from matrics.evaluation import TableFunction
from matrics.table import Table

AVERAGES = {
    "per_class": ("macro", "micro", "weighted", "binary", "class"),
    "overall": ("one_vs_rest",),
}


def check_average(average: Any, kind: str, name: str) -> str:
    """The average as a spec spells it (None means every class); raises with what this kind of measure takes."""
    asked = average
    if average is None:
        average = "class"
    elif isinstance(average, str):
        average = average.strip().casefold().replace("-", "_")
    if average not in AVERAGES[kind]:
        what = "a class measure" if kind == "per_class" else "an overall measure"
        expected = ", ".join(repr(known) for known in AVERAGES[kind])
        raise ValueError(f"{name} is {what}: expected average to be one of {expected}, got {asked!r}")
    return str(average)


def average(measure: TableFunction, how: str, pos_label: int, *, unbounded: bool) -> TableFunction:
    """A class measure ``[class, *batch]`` as the function of a Table that an average of it is."""
    if how == "class":
        return measure
    if how == "macro":
        return lambda table: mean_of_defined(measure(table), table, unbounded=unbounded)
    if how == "weighted":
        return lambda table: mean_of_defined(
            measure(table), table, weights=table.share(table.true), unbounded=unbounded
        )
    if how == "micro":
        return lambda table: measure(table.pooled)[1, ...]

    def binary(table: Table) -> Array:
        if table.n != 2:
            raise ValueError(
                f"average='binary' is for 2×2 matrices, got {table.n}×{table.n}: take 'macro', 'weighted' or 'micro', "
                "or every class with average=None (':class' in a spec)"
            )
        return measure(table)[pos_label, ...]

    return binary


def one_vs_rest(measure: TableFunction) -> TableFunction:
    """An overall measure as a class measure: of each class against the rest."""
    return lambda table: measure(table.one_vs_rest)


def mean_of_defined(values: Array, table: Table, weights: Array | None = None, *, unbounded: bool = False) -> Array:
    """The mean over classes, undefined ones left out unless ``zero_division`` makes numbers of them.

    Values may be infinite if the measure is unbounded; then so is the mean, unless the class has no weight.
    """
    xp = table.xp
    if unbounded:
        finite = xp.abs(values) != math.inf
        mean = mean_of_defined(xp.where(finite, values, 0), table, weights)
        counted = ~finite if weights is None else ~finite & (weights != 0)
        highest, lowest = (xp.any(counted & side, axis=0) for side in (values > 0, values < 0))
        undefined = table.zero_division * xp.ones_like(mean)
        infinite = xp.where(highest, xp.where(lowest, undefined, math.inf), -math.inf)
        return xp.where(highest | lowest, infinite, mean)
    if not math.isnan(table.zero_division):
        if weights is None:
            return table.sum(values, axis=0) / table.n
        return table.divide(table.sum(values * weights, axis=0), table.sum(weights, axis=0))
    if weights is None and table.looks:
        mean = table.sum(values, axis=0) / table.n
        if not xp.count_nonzero(mean != mean):  # noqa: PLR0124 (isnan and any take twice as long)
            return mean
    missing = values != values  # noqa: PLR0124 (PyTorch's compiler has no vectors for isnan)
    weights = xp.astype(~missing, values.dtype) if weights is None else xp.where(missing, 0, weights)
    return table.divide(table.sum(xp.where(missing, 0, values * weights), axis=0), table.sum(weights, axis=0))
