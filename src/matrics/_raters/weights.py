"""How much two different ratings agree, in part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from matrics._quoting import quoted
from matrics.typing import NumPyArray

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
        if (found.diagonal() != 1).any() or (found > 1).any():
            raise ValueError(
                "weights: expected a matrix of agreement, with 1 on the diagonal and less for worse errors, got "
                f"{found.diagonal().tolist()} on the diagonal; disagreements d become such by 1 - d / d.max()"
            )
        return found
    if weights not in get_args(Weights):
        raise ValueError(
            f"weights: expected one of {', '.join(map(repr, get_args(Weights)))}, or an array {(n, n)}, got "
            f"{quoted(weights)}"
        )
    value = np.arange(1, n + 1, dtype=np.float64) if values is None else np.asarray(values, np.float64)
    if weights == "none" or n == 1:
        return np.eye(n)
    return 1 - _apart(weights, value, n)


def _apart(weights: str, value: NumPyArray, n: int) -> NumPyArray:
    """How far classes are apart, from 0 to 1."""
    apart = np.abs(value[:, None] - value[None, :])
    apart = apart / apart.max()
    if weights == "ordinal":
        step = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
        found: NumPyArray = step * (step + 1) / 2 / math.comb(n, 2)
    elif weights == "ratio":
        total = np.abs(value[:, None]) + np.abs(value[None, :])
        ratio = np.where(total > 0, (value[:, None] - value[None, :]) / np.where(total > 0, total, 1), 0)
        found = (ratio / np.abs(ratio).max()) ** 2
    else:
        found = apart ** {"linear": 1.0, "quadratic": 2.0, "radical": 0.5}[weights]
    return found


def class_values(labels: Any, n: int) -> list[float] | None:
    """The numbers that classes stand for, where their labels are numbers; None means 1 to n.

    >>> class_values([10, 20, 40], 3), class_values(["low", "high"], 2)
    ([10.0, 20.0, 40.0], None)
    """
    known = [] if labels is None else list(labels)
    are_numbers = len(known) == n and all(isinstance(label, (int, float, np.number)) for label in known)
    return [float(label) for label in known] if are_numbers else None
