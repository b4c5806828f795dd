"""Scores of samples without labels, which numbers of predictions count as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array, on_host
from matrics._catalogue.record import Metric
from matrics._errors import ArgumentError
from matrics._quoting import quoted
from matrics._ranking.inputs import ScoredSamples

# All that is known of samples without labels.
COUNTED = ("predicted_positives", "predicted_negatives")


class Unlabelled(NamedTuple):
    """The scores of samples without labels."""

    scores: Array  # (M,), ascending

    @classmethod
    def read(
        cls, given: Any, samples: ScoredSamples, counted: Sequence[tuple[str, Metric]], argument: str, what: str
    ) -> Unlabelled | None:
        """The scores, if there are any.

        ``counted`` are the measures that depend on the number of samples, and how they are written in ``argument``,
        which has ``what`` of them.
        """
        if given is None:
            return None
        if samples.backend is not NUMPY or samples.num_classes is not None:
            raise ArgumentError(
                "unlabelled_scores", "expected None with arrays on a device, while tracing, and with several classes"
            )
        odd = [text for text, metric in counted if metric.name not in COUNTED]
        if odd or not counted:
            raise ArgumentError(
                argument,
                f"expected {what}predicted_positives or predicted_negatives with unlabelled_scores=, as nothing else "
                f"is known of samples without labels, got {quoted(odd[0]) if odd else 'none'}",
            )
        scores = np.asarray(on_host(given, "unlabelled_scores"))
        if scores.dtype.kind not in "iuf" or scores.ndim != 1:
            raise ArgumentError(
                "unlabelled_scores", f"expected numbers, shape (M,), got dtype {scores.dtype}, shape {scores.shape}"
            )
        if np.isnan(scores).any():
            place = int(np.flatnonzero(np.isnan(scores))[0])
            raise ArgumentError("unlabelled_scores", f"expected numbers, got NaN at position {place}")
        return cls(np.sort(samples.directed(scores.astype(np.float64))))

    def added(self, cm: Array, limits: Array) -> Array:
        """Matrices (…, T, 2, 2) of the other samples with these as well, in the row of the negative class."""
        below = np.searchsorted(self.scores, limits, side="left")
        return cm + np.stack(
            [np.stack([below, self.scores.size - below], axis=-1), np.zeros((*below.shape, 2))], axis=-2
        )
