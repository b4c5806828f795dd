"""Random labels of people, of a judge and of a model, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np


def labels(
    random: np.random.Generator, n: int, number: int, *, judge: float = 0.85, batch: tuple[int, ...] = ()
) -> tuple[Any, Any, Any]:
    """True labels, those of a judge and of a model, whose errors are more frequent on hard samples for both."""
    shape = (*batch, number)
    true, hard = random.integers(0, n, shape), random.random(shape) < 0.4

    def noisy(right: float) -> Any:
        share = np.where(hard, right - 0.1, np.minimum(right + 0.1, 1))
        return np.where(random.random(shape) < share, true, (true + random.integers(1, n, shape)) % n)

    return true, noisy(judge), noisy(0.8)
