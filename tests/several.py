"""Metrics of several labels of three libraries by one interface, and their values by hand, entry by entry."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest
import roads

LIBRARIES = ("torch", "torchmetrics", "flax")


class Metric:
    """A MultilabelMetric of a library, which takes and gives NumPy's arrays."""

    def __init__(self, library: str, *args: Any, **options: Any) -> None:
        pytest.importorskip({"flax": "flax.nnx"}.get(library, library))
        module = importlib.import_module(f"matrics.{library}")
        self.library, self.own = library, module.MultilabelMetric(*args, **options)

    def array(self, x: Any) -> Any:
        if self.library == "flax":
            return importlib.import_module("jax").numpy.asarray(x)
        return importlib.import_module("torch").as_tensor(np.asarray(x))

    def update(self, y_true: Any, y_score: Any, **options: Any) -> Metric:
        first, second, options = self.array(y_true), self.array(y_score), {k: self.array(x) for k, x in options.items()}
        if self.library == "flax":
            roads.nnx_update(self.own, first, second, **options)
        else:
            self.own.update(*((second, first) if self.library == "torchmetrics" else (first, second)), **options)
        return self

    def values(self) -> dict[str, float]:
        return self.own.log_dict()


def leaves(state: Any) -> list[np.ndarray]:
    """The arrays of a state, or of the states in it, as NumPy's."""
    if state is None:
        return []
    return [x for part in state for x in leaves(part)] if hasattr(state, "_fields") else [np.asarray(state)]


def by_hand(
    y_true: np.ndarray,
    y_score: np.ndarray,
    thresholds: Any = 0.5,
    *,
    ignored: Any = None,
    weights: Any = None,
) -> dict[str, Any]:
    """Matrices, weights of right and wrong samples, losses and dropped entries of (N, L), as they are defined."""
    n, number = y_true.shape
    thresholds, weights = np.broadcast_to(thresholds, number), np.ones(n) if weights is None else weights
    matrix, whole, dropped, losses = np.zeros((number, 2, 2)), [0.0, 0.0], 0, []
    for row, scores, weight in zip(y_true, y_score, weights, strict=True):
        kept = [k for k in range(number) if row[k] != ignored]
        good = [k for k in kept if row[k] in (0, 1) and not np.isnan(scores[k])]
        dropped += len(kept) - len(good)
        for k in good:
            matrix[k, int(row[k]), int(scores[k] >= thresholds[k])] += weight
        if not kept or len(kept) > len(good):
            continue
        whole[all(row[k] == (scores[k] >= thresholds[k]) for k in good)] += weight
        pairs = [scores[i] <= scores[j] for i, j in itertools.product(good, good) if row[i] == 1 and row[j] == 0]
        losses.append((np.mean(pairs) if pairs else 0.0, weight))
    return {"matrix": matrix, "whole": whole, "dropped": dropped, "losses": losses}
