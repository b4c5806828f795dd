"""Checks of scores that are compared with thresholds of probabilities, but are not probabilities, such as logits."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._engine.evaluation import frames_to_the_user
from matrics._quoting import quoted


def are_probabilities(thresholds: Iterable[float]) -> bool:
    """Whether any threshold is between 0 and 1, as for probabilities; logits often have the threshold 0."""
    return any(0 < threshold < 1 for threshold in thresholds)


def check_probabilities(thresholds: Iterable[float]) -> None:
    """Raise an error unless the thresholds of a metric of logits are probabilities."""
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise ValueError(
                "threshold: expected a probability, from 0 to 1, with from_logits=True, got "
                f"{quoted(threshold)}; leave from_logits out for a threshold of the logits themselves"
            )


def warned_of_scores(scores: Array, counted: Array | None, backend: Standard) -> bool:
    """Warn if counted scores are outside of [0, 1]; return whether it has warned.

    ``counted`` broadcasts against the scores. Values that cannot be read without synchronization are not checked.
    """
    views: Any = backend.host_views(scores, *(() if counted is None else (counted,)))
    if views is None or not views[0].size:
        return False
    values, *others = views
    if not (np.fmin.reduce(values, axis=None) < 0 or np.fmax.reduce(values, axis=None) > 1):
        return False
    is_odd = (values < 0) | (values > 1)
    if not (is_odd & others[0] if others else is_odd).any():
        return False
    warnings.warn(
        "some scores are not in [0, 1], and are compared with a threshold between 0 and 1: if they are logits, make "
        "the metric with from_logits=True, and the threshold is a probability; if they are other scores, choose a "
        "threshold of the same scale",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
    return True
