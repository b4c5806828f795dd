"""What is counted and what is not: one batch in a running state, which drops labels out of range without an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import matrics


def counted(
    y_true: Any,
    y_pred: Any,
    *,
    num_classes: int | None = None,
    labels: Sequence[Any] | None = None,
    batch_shape: tuple[int, ...] = (),
    num_groups: int | None = None,
    weighted_in: Any = None,
    **options: Any,
) -> tuple[Any, Any]:
    """The matrices, and the number of samples that were left out; weighted ones in this dtype."""
    like = y_pred if hasattr(y_pred, "dtype") and not hasattr(y_pred, "iloc") else np.zeros(())
    state = matrics.ConfusionState.zeros(
        num_classes, labels=labels, batch_shape=batch_shape, num_groups=num_groups, like=like, dtype=weighted_in
    )
    state = state.update(y_true, y_pred, labels=labels, **options)
    return state.matrix, state.dropped
