"""Scores of samples without labels, which count in numbers of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, on_host
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.inputs import ScoredSamples

# The measures that need no labels.
COUNTED = ("predicted_positives", "predicted_negatives")


class Unlabelled(NamedTuple):
    """The scores of samples without labels."""

    scores: Array  # (M,), ascending

    @classmethod
    def read(
        cls,
        unlabelled_scores: Any,
        samples: ScoredSamples,
        counted: Sequence[tuple[str, Metric]],
        argument: str,
        words: str,
    ) -> Unlabelled | None:
        """The sorted scores, or None without scores.

        ``counted`` are the measures that depend on the number of samples, with their texts. ``argument`` is the
        argument that has them, and ``what`` are words before their names; both are for messages.
        """
        if unlabelled_scores is None:
            return None
        if samples.backend is not NUMPY or samples.num_classes is not None:
            raise ArgumentError(
                "unlabelled_scores", "expected None with arrays on a device, while tracing, and with several classes"
            )
        others = [text for text, metric in counted if metric.name not in COUNTED]
        if others or not counted:
            raise ArgumentError(
                argument,
                f"expected {words}predicted_positives or predicted_negatives with unlabelled_scores=, as other "
                f"measures need labels, got {quoted(others[0]) if others else 'none'}",
            )
        scores = np.asarray(on_host(unlabelled_scores, "unlabelled_scores"))
        if scores.dtype.kind not in "iuf" or scores.ndim != 1:
            raise ArgumentError(
                "unlabelled_scores", f"expected numbers, shape (M,), got dtype {scores.dtype}, shape {scores.shape}"
            )
        if np.isnan(scores).any():
            position = int(np.flatnonzero(np.isnan(scores))[0])
            raise ArgumentError("unlabelled_scores", f"expected numbers, got NaN at position {position}")
        return cls(np.sort(samples.directed(scores.astype(np.float64))))

    def added(self, cm: Array, limits: Array) -> Array:
        """The matrices (…, T, 2, 2) with these samples added to the row of the negative class."""
        below = np.searchsorted(self.scores, limits, side="left")
        return cm + np.stack(
            [np.stack([below, self.scores.size - below], axis=-1), np.zeros((*below.shape, 2))], axis=-2
        )
