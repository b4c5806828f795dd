"""Averages over classes: the mean, the lowest or highest value, the value of a single class, or all values."""

from __future__ import annotations

import math
from typing import Any

from matrics._arrays import Array
from matrics._engine.evaluation import TableFunction, is_nan
from matrics._engine.table import Table
from matrics._quoting import quoted

AVERAGES = {
    "per_class": ("macro", "micro", "weighted", "min", "max", "geometric", "binary", "class"),
    "overall": ("one_vs_rest",),
}

#: The average with a value for each class, which is the meaning of ``average=None``.
EACH = {"per_class": "class", "overall": "one_vs_rest"}

#: Averages over all or some classes: ``f1:macro[cat,dog]``.
OF_SEVERAL = ("macro", "micro", "weighted", "min", "max", "geometric")

#: Averages with a value for each class.
CLASSWISE = ("class", "one_vs_rest")

#: Names that mean a measure with an average, also for two classes.
MEANS = {
    "miou": ("jaccard", "macro"),
    "mean_iou": ("jaccard", "macro"),
    "fwiou": ("jaccard", "weighted"),
    "frequency_weighted_iou": ("jaccard", "weighted"),
    "mdice": ("f1", "macro"),
    "mean_dice": ("f1", "macro"),
}

#: Names in the language of diagnostic tests, which titles keep: "sensitivity" in place of "recall".
TEST_WORDS = frozenset(
    {
        "sensitivity",
        "specificity",
        "selectivity",
        "ppv",
        "positive_predictive_value",
        "npv",
        "negative_predictive_value",
        "positive_likelihood_ratio",
        "plr",
        "lr_plus",
        "negative_likelihood_ratio",
        "nlr",
        "lr_minus",
        "diagnostic_odds_ratio",
        "dor",
        "odds_ratio",
    }
)


def check_average(average: Any, kind: str, name: str) -> str | None:
    """The average in the spelling of specs, or None for "auto"; raises for an average that the kind does not have.

    The argument None means a value for each class, as in scikit-learn and torchmetrics.
    """
    requested = average
    if average is None:
        return EACH[kind]
    if isinstance(average, str):
        average = average.strip().casefold().replace("-", "_")
    if average == "none":  # as torchmetrics spells it
        return EACH[kind]
    if average == "auto":
        return None
    if average not in AVERAGES[kind]:
        what = "a class measure" if kind == "per_class" else "an overall measure"
        expected = ", ".join(repr(known) for known in ("auto", None, *AVERAGES[kind]))
        raise ValueError(
            f"{name} is {what}: expected average to be one of {expected}, got {quoted(requested)}; put a class in "
            "square "
            f"brackets ({name}[fraud])"
        )
    return str(average)


def average(
    measure: TableFunction,
    how: str,
    chosen: tuple[int, ...],
    class_weights: tuple[float, ...] = (),
    *,
    unbounded: bool,
) -> TableFunction:
    """The function of a Table that averages a class measure ``[class, *batch]`` over all or some classes.

    ``binary`` is the value of the selected class. The default weights of the classes are their true sizes.
    """
    values = (lambda table: of_some(measure(table), table, chosen)) if chosen else measure
    if how == "class":
        return measure
    if how == "binary":
        return lambda table: measure(table)[chosen[0], ...]
    if how == "micro":
        return lambda table: measure(table.pooled_of(chosen) if 0 < len(chosen) < table.n else table.pooled)[1, ...]
    if how == "macro":
        return lambda table: mean_of_defined(values(table), table, unbounded=unbounded)
    if how == "weighted":
        return lambda table: mean_of_defined(
            values(table), table, weights=of_some(weights_of(table, class_weights), table, chosen), unbounded=unbounded
        )
    if how == "geometric":
        return lambda table: geometric_mean_of_defined(values(table), table)
    return lambda table: extreme_of_defined(values(table), table, highest=how == "max")


def of_some(values: Array, table: Table, chosen: tuple[int, ...]) -> Array:
    """The values of the chosen classes, or of all classes if none is chosen."""
    return table.xp.stack([values[k, ...] for k in chosen]) if chosen else values


def weights_of(table: Table, class_weights: tuple[float, ...]) -> Array:
    """The weight of each class, ``[class, *batch]``: its share of the samples, or of the sum of ``class_weights``."""
    if not class_weights:
        return table.share(table.true)
    most = max(class_weights)  # divided by the largest weight, as the sum may be infinite
    parts = [weight / most for weight in class_weights]
    total = math.fsum(parts)
    row = table.backend.constant([[part / total for part in parts]], table.true)[0, :]
    return table.xp.reshape(row, (table.n, *(1,) * table.batch_ndim)) * table.xp.ones_like(table.true)


def one_vs_rest(measure: TableFunction, chosen: tuple[int, ...]) -> TableFunction:
    """An overall measure of each class, or of the selected class, against the rest."""
    if chosen:
        return lambda table: measure(table.one_vs_rest)[chosen[0], ...]
    return lambda table: measure(table.one_vs_rest)


def extreme_of_defined(values: Array, table: Table, *, highest: bool) -> Array:
    """The lowest or the highest value over classes, without undefined values."""
    xp, missing = table.xp, values != values  # noqa: PLR0124 (as below)
    if highest:
        extreme = xp.max(xp.where(missing, -math.inf, values), axis=0)
    else:
        extreme = xp.min(xp.where(missing, math.inf, values), axis=0)
    return table.define(extreme, ~xp.all(missing, axis=0))


def geometric_mean_of_defined(values: Array, table: Table) -> Array:
    """The geometric mean over classes, without undefined values.

    It is 0 if a value is 0, and undefined if a value is negative, or if values are 0 and infinite.
    """
    xp, missing = table.xp, values != values  # noqa: PLR0124 (as below)
    zero, negative, infinite = table.is_zero(values), values < 0, values == math.inf
    logs = table.log(xp.where(missing | negative | zero, 1, values))
    number = table.sum(xp.astype(~missing, values.dtype), axis=0)
    mean = xp.exp(table.ratio(table.sum(logs, axis=0), number))
    has_zero = xp.any(zero, axis=0)
    defined = ~xp.all(missing, axis=0) & ~xp.any(negative & ~zero, axis=0) & ~(has_zero & xp.any(infinite, axis=0))
    return table.define(xp.where(has_zero, 0, mean), defined)


def mean_of_defined(values: Array, table: Table, weights: Array | None = None, *, unbounded: bool = False) -> Array:
    """The mean over classes, without undefined values unless ``zero_division`` is a number.

    If an unbounded measure has infinite values, the mean is infinite, unless the weights of these classes are 0.
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
    if not is_nan(table.zero_division):
        if weights is None:
            return table.mean(values)
        return table.divide(table.sum(values * weights, axis=0), table.sum(weights, axis=0))
    if weights is None and table.looks:
        mean = table.mean(values)
        if table.nowhere(mean != mean):  # noqa: PLR0124 (isnan takes twice as long)
            return mean
    known = values == values  # noqa: PLR0124 (as in without_nan)
    if weights is None:
        return table.divide(
            table.sum(table.without_nan(values), axis=0), table.sum(xp.astype(known, values.dtype), axis=0)
        )
    weights = xp.where(known, weights, 0)
    return table.divide(table.sum(table.without_nan(values) * weights, axis=0), table.sum(weights, axis=0))
