"""Costs of the errors of each sample, such as the amount of a payment: what all errors at a threshold cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, on_host
from matrics._quoting import quoted
from matrics._ranking.inputs import ScoredSamples

#: The name of the measure.
COST = "cost"


def read_costs(samples: ScoredSamples, false_negative: Any, false_positive: Any) -> ScoredSamples | None:
    """The samples with the cost of an error as the weight of each; None without costs.

    With weights, a sample costs as much as so many samples.
    """
    given = {"cost_false_negative": false_negative, "cost_false_positive": false_positive}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == len(given):
        return None
    if missing:
        raise ValueError(f"{missing[0]}: expected a number, or an array of them, got None; 0 where it costs nothing")
    if samples.num_classes is not None:
        raise ValueError(
            "cost_false_negative: expected the scores of a single class, or positive=, as an error is a false positive "
            f"of a class and a false negative of another, got scores of {samples.num_classes} classes"
        )
    if samples.backend is not NUMPY:
        raise TypeError("cost_false_negative: expected arrays in the memory of the CPU, outside jit, compile and vmap")
    positive = samples.y_true == 1
    kept = np.ones(positive.shape, bool) if samples.weight is None else samples.weight > 0
    costs = [
        _checked(name, value, kept & of_class)
        for (name, value), of_class in zip(given.items(), (positive, ~positive), strict=True)
    ]
    cost = np.where(positive, *costs)
    weight = cost if samples.weight is None else cost * samples.weight
    return samples._replace(weight=np.where(kept, weight, 0), is_weighted=True)


def cost_of(cm: Array) -> Array:
    """The cost of all errors, of matrices that the costs weight."""
    return cm[..., 0, 1] + cm[..., 1, 0]


def _checked(name: str, value: Any, needed: Array) -> Array:
    """The costs of all samples; where they are not needed they may be missing."""
    array = np.asarray(on_host(value, name))
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: expected numbers, got dtype {array.dtype}")
    try:
        costs = np.broadcast_to(array.astype(np.float64), needed.shape)
    except ValueError as error:
        raise ValueError(
            f"{name}: expected a number, or an array of the shape {needed.shape}, got shape {array.shape}"
        ) from error
    bad = needed & ~(np.isfinite(costs) & (costs >= 0))
    if bad.any():
        place = tuple(int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"{name}: expected finite numbers that are not negative, got {quoted(float(costs[place]))} at {place}"
        )
    return np.where(needed, costs, 0)
