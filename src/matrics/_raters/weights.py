"""Weights of agreement between different ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from matrics._quoting import quoted
from matrics.typing import NumPyArray

Weights = Literal["none", "linear", "quadratic", "ordinal", "radical", "ratio"]


def weight_matrix(weights: Any, n: int, values: Sequence[float] | None = None) -> NumPyArray:
    """Weights (n, n) by name or as an array: 1 for equal ratings; ``values`` are the numbers of the classes."""
    if not isinstance(weights, str):
        matrix = np.asarray(weights, np.float64)
        if matrix.shape != (n, n) or not np.isfinite(matrix).all():
            raise ValueError(
                f"weights: expected one of {', '.join(map(repr, get_args(Weights)))}, or finite numbers {(n, n)}, got "
                f"an array of shape {matrix.shape}"
            )
        if (matrix.diagonal() != 1).any() or (matrix > 1).any():
            raise ValueError(
                "weights: expected a matrix of agreement, with 1 on the diagonal and less for worse errors, got "
                f"{matrix.diagonal().tolist()} on the diagonal; disagreements d become weights by 1 - d / d.max()"
            )
        return matrix
    if weights not in get_args(Weights):
        raise ValueError(
            f"weights: expected one of {', '.join(map(repr, get_args(Weights)))}, or an array {(n, n)}, got "
            f"{quoted(weights)}"
        )
    value = np.arange(1, n + 1, dtype=np.float64) if values is None else np.asarray(values, np.float64)
    if weights == "none" or n == 1:
        return np.eye(n)
    return 1 - _distances(weights, value, n)


def _distances(weights: str, value: NumPyArray, n: int) -> NumPyArray:
    """The distances of classes, from 0 to 1."""
    differences = np.abs(value[:, None] - value[None, :])
    differences = differences / differences.max()
    if weights == "ordinal":
        step = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
        distances: NumPyArray = step * (step + 1) / 2 / math.comb(n, 2)
    elif weights == "ratio":
        total = np.abs(value[:, None]) + np.abs(value[None, :])
        ratio = np.where(total > 0, (value[:, None] - value[None, :]) / np.where(total > 0, total, 1), 0)
        distances = (ratio / np.abs(ratio).max()) ** 2
    else:
        distances = differences ** {"linear": 1.0, "quadratic": 2.0, "radical": 0.5}[weights]
    return distances


def class_values(labels: Any, n: int) -> list[float] | None:
    """The numbers of the classes, if their labels are numbers; None means 1 to n.

    >>> class_values([10, 20, 40], 3), class_values(["low", "high"], 2)
    ([10.0, 20.0, 40.0], None)
    """
    known = [] if labels is None else list(labels)
    are_numbers = len(known) == n and all(isinstance(label, (int, float, np.number)) for label in known)
    return [float(label) for label in known] if are_numbers else None
