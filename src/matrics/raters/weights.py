"""How much two different ratings agree, in part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from matrics.quoting import quoted
from matrics.typing import ArrayLike, NumPyArray

Weights = Literal["none", "linear", "quadratic", "ordinal", "radical", "ratio"]


def weight_matrix(weights: Any, n: int, values: Sequence[float] | None = None) -> NumPyArray:
    """Weights (n, n) by name or as they are given: 1 for equal ratings; ``values`` are those of the classes."""
    if not isinstance(weights, str):
        found = np.asarray(weights, np.float64)
        if found.shape != (n, n) or not np.isfinite(found).all():
            raise ValueError(
                f"weights: expected one of {', '.join(map(repr, get_args(Weights)))}, or finite numbers {(n, n)}, got "
                f"an array of shape {found.shape}"
            )
        return found
    if weights not in get_args(Weights):
        raise ValueError(
            f"weights: expected one of {', '.join(map(repr, get_args(Weights)))}, or an array {(n, n)}, got "
            f"{quoted(weights)}"
        )
    value = np.arange(1, n + 1, dtype=np.float64) if values is None else np.asarray(values, np.float64)
    apart = np.abs(value[:, None] - value[None, :])
    most = apart.max()
    if weights == "none" or n == 1 or most == 0:
        return np.eye(n)
    if weights == "linear":
        return 1 - apart / most
    if weights == "quadratic":
        return 1 - (apart / most) ** 2
    if weights == "radical":
        return 1 - np.sqrt(apart / most)
    if weights == "ordinal":
        step = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
        return 1 - (step * (step + 1) / 2) / math.comb(n, 2)
    total = value[:, None] + value[None, :]
    ratio = np.where(total > 0, apart / np.where(total > 0, total, 1), 0) ** 2
    return 1 - ratio / ((value.max() - value.min()) / (value.max() + value.min())) ** 2


def class_values(labels: Any, n: int) -> list[float] | None:
    """The numbers that classes stand for, where their labels are numbers; None means 1 to n.

    >>> class_values([10, 20, 40], 3), class_values(["low", "high"], 2)
    ([10.0, 20.0, 40.0], None)
    """
    known = [] if labels is None else list(labels)
    are_numbers = len(known) == n and all(isinstance(label, (int, float, np.number)) for label in known)
    return [float(label) for label in known] if are_numbers else None


__all__ = ["ArrayLike", "Weights", "class_values", "weight_matrix"]
