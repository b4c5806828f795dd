"""Scores that are compared with a threshold of a probability, but are none, as logits."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from matrics._arrays import Array, Standard
from matrics._engine.evaluation import frames_to_the_user
from matrics._quoting import quoted


def are_probabilities(thresholds: Iterable[float]) -> bool:
    """Whether any of the thresholds may be one of a probability; one of 0, as of logits, parts no probabilities."""
    return any(0 < threshold < 1 for threshold in thresholds)


def check_probabilities(thresholds: Iterable[float]) -> None:
    """Raise unless the thresholds of a metric of logits are probabilities."""
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise ValueError(
                "threshold: expected one of the probability, from 0 to 1, with from_logits=True, got "
                f"{quoted(threshold)}; leave from_logits out for a threshold of the logits themselves"
            )


def warned_of_scores(scores: Array, counted: Array | None, backend: Standard) -> bool:
    """Warn if scores that are counted are outside of [0, 1], and can be read without waiting; whether it has warned.

    ``counted`` broadcasts against the scores.
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
        "the metric with from_logits=True, and the threshold is one of the probability; if they are other scores, the "
        "threshold is one of these",
        RuntimeWarning,
        stacklevel=frames_to_the_user(),
    )
    return True
