"""Costs of the errors of each sample, such as the amount of a payment, and their sum at a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrics._arrays import NUMPY, Array, on_host
from matrics._errors import ArgumentError
from matrics._quoting import quoted, split_outside
from matrics._ranking.inputs import ScoredSamples

#: The name of the measure.
COST = "cost"


def read_costs(samples: ScoredSamples, false_negative: Any, false_positive: Any) -> ScoredSamples | None:
    """The samples with the cost of an error as the weight of each; None without costs.

    The cost of a sample is multiplied by its weight.
    """
    costs_of_errors = {"cost_false_negative": false_negative, "cost_false_positive": false_positive}
    missing = [name for name, value in costs_of_errors.items() if value is None]
    if len(missing) == len(costs_of_errors):
        return None
    if missing:
        raise ValueError(f"{missing[0]}: expected a number, or an array of numbers, got None; pass 0 for no cost")
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
        for (name, value), of_class in zip(costs_of_errors.items(), (positive, ~positive), strict=True)
    ]
    cost = np.where(positive, *costs)
    weight = cost if samples.weight is None else cost * samples.weight
    return samples._replace(weight=np.where(kept, weight, 0), is_weighted=True)


def others_than_cost(metrics: Any, *, has_costs: bool) -> Any:
    """The metrics without the name of the cost, or None without others; the name raises an error without costs."""
    items = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(items, (list, tuple, set, frozenset)):
        return metrics
    names = [part for item in items for part in (split_outside(item) if isinstance(item, str) else [item])]
    others = [name for name in names if not isinstance(name, str) or name.strip() != COST]
    if len(others) == len(names):
        return metrics
    if not has_costs:
        raise ArgumentError(
            "metrics", "expected a measure other than 'cost', which needs cost_false_negative= and cost_false_positive="
        )
    return others or None


def cost_of(cm: Array) -> Array:
    """The cost of all errors, from matrices of samples that are weighted by their costs."""
    return cm[..., 0, 1] + cm[..., 1, 0]


def _checked(name: str, value: Any, is_needed: Array) -> Array:
    """The costs of all samples; values that are not needed may be NaN."""
    array = np.asarray(on_host(value, name))
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: expected numbers, got dtype {array.dtype}")
    try:
        costs = np.broadcast_to(array.astype(np.float64), is_needed.shape)
    except ValueError as error:
        raise ValueError(
            f"{name}: expected a number, or an array of the shape {is_needed.shape}, got shape {array.shape}"
        ) from error
    is_bad = is_needed & ~(np.isfinite(costs) & (costs >= 0))
    if is_bad.any():
        index = tuple(int(k) for k in np.argwhere(is_bad)[0])
        raise ArgumentError(
            name, f"expected finite numbers that are not negative, got {quoted(float(costs[index]))} at {index}"
        )
    return np.where(is_needed, costs, 0)
