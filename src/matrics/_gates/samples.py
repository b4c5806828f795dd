"""The samples of a gate: counts or scores, of all samples or of each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from matrics._arrays import NUMPY, Array
from matrics._errors import ArgumentError
from matrics._gates.scores import ScoredSamples
from matrics._judged.counts import JudgedCounts
from matrics._quoting import quoted, quoted_list
from matrics._uncertainty.weighted import kish

Correction = Literal["none", "bonferroni"]


class Evidence(NamedTuple):
    """The counts and scores of a set of samples, and those of a baseline or of the reference group."""

    cm: Array  # (n, n), of counts or weights; None if there are only scores
    squares: Array | None = None  # (n, n), of squared weights
    baseline: Array | None = None  # (n, n), of other samples
    baseline_squares: Array | None = None
    joint: Array | None = None  # (n, n, n) [true, here, baseline], of the same samples
    joint_squares: Array | None = None
    clusters: Array | None = None  # (K, n, n): the matrices of the clusters, which add up to that of counts
    joint_clusters: Array | None = None  # (K, n, n, n): the joint tables of the clusters
    labels: JudgedCounts | None = None  # of samples that a judge has labelled; then ``cm`` is corrected
    baseline_clusters: Array | None = None  # (L, n, n): the clusters of other samples
    scores: ScoredSamples | None = None
    baseline_scores: ScoredSamples | None = None
    baseline_labels: JudgedCounts | None = None  # of other samples that the judge has labelled

    @property
    def unit(self) -> str:
        """The unit of ``samples``: of which more would decide."""
        if self.labels is not None:
            return "label"
        clusters = self.scores.clusters if self.cm is None and self.scores is not None else self.clusters
        return "sample" if clusters is None else "cluster"

    @property
    def samples(self) -> float:
        """The number of samples (for weighted samples the effective number), clusters or labels."""
        if self.labels is not None:
            return float(self.labels.labelled.sum())
        if self.cm is None and self.scores is not None:
            return self.scores.number
        return size_of(self.cm, self.squares) if self.clusters is None else _filled(self.clusters)

    @property
    def compared(self) -> float:
        """The number of samples, or of clusters, of the comparison with the baseline."""
        if self.joint_clusters is not None:
            return _filled(self.joint_clusters)
        return self.samples if self.joint is None else size_of(self.joint, self.joint_squares)

    def against(self, reference: Evidence) -> Evidence:
        """These counts and scores, with the counts and scores of other samples as the baseline."""
        return self._replace(
            baseline=reference.cm,
            baseline_squares=reference.squares,
            baseline_clusters=reference.clusters,
            baseline_scores=reference.scores,
            baseline_labels=reference.labels,
        )

    def times(self, factor: float) -> Evidence:
        """The counts multiplied by a factor."""
        return Evidence(*(None if table is None else table * factor for table in self[:6]))


class Samples(NamedTuple):
    """The counts and scores of all samples, or of each group."""

    parts: tuple[Evidence, ...]
    names: tuple[str, ...] = ()  # of the groups, in their order
    reference: int | None = None  # the group with which all other groups are compared

    @property
    def are_probabilities(self) -> bool | None:
        """Whether all scores are in [0, 1]; None if there are no scores."""
        first = self.parts[0].scores
        return None if first is None else first.are_probabilities

    def compared_with(self, reference: Any, known: Sequence[Any] | None = None) -> Samples:
        """These samples with a reference group, which has this value or this name; raises if there is no such group."""
        if reference is None:
            return self
        places = [k for k, value in enumerate(self.names if known is None else known) if value == reference]
        places = places or [k for k, name in enumerate(self.names) if name == str(reference)]
        if len(places) != 1:
            raise ArgumentError(
                "reference", f"expected a group among {quoted_list(self.names, 20)}, got {quoted(reference)}"
            )
        if len(self.names) < 2:
            raise ArgumentError("reference", f"expected groups to compare with it, got only {quoted(self.names[0])}")
        return self._replace(reference=places[0])

    def shared_by(self, correction: Correction | None, *, is_relative: bool) -> int:
        """The number of groups whose limits hold together; by default only limits of differences are adjusted."""
        if correction == "none" or (correction is None and not is_relative):
            return 1
        return max(len(self.parts) - (is_relative and self.reference is not None), 1)


def _filled(clusters: Array) -> float:
    """The number of clusters with samples."""
    return float((clusters.reshape(len(clusters), -1).sum(axis=1) > 0).sum())


def size_of(table: Array, squares: Array | None) -> float:
    """The number of samples of a table of counts, or the effective number of a table of weights."""
    total = table.sum(dtype=np.float64)
    return float(total if squares is None else kish(total, squares.sum(dtype=np.float64), NUMPY))
