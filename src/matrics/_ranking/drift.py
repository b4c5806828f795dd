"""score_drift(): distances between the scores of groups, such as months, and the scores of a reference."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrics._arrays import Array, on_host
from matrics._arrays.sizes import check_count
from matrics._counting.codes import labels_on_host, places
from matrics._engine.results import Result, frame_of
from matrics._quoting import quoted, quoted_list
from matrics.typing import ArrayLike, NumPyArray

__all__ = ["ScoreDrift", "score_drift"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDrift(Result):
    """The result of :func:`matrics.ranking.score_drift`: distances of the scores of groups from a reference.

    Parameters
    ----------
    groups : array, shape (G,)
        The groups, in order; the reference is among them.
    number : array of int, shape (G,)
        The number of samples in each group.
    ks_distance : array, shape (G,)
        The Kolmogorov–Smirnov distance: the largest difference of the two cumulative shares, from 0 to 1.
    psi : array, shape (G,)
        The population stability index.
    psi_by_chance : array, shape (G,)
        The mean of the index if a group of this size and the reference have the same distribution.
    reference : str
        The group that is the reference.
    """

    groups: NumPyArray
    number: NumPyArray
    ks_distance: NumPyArray
    psi: NumPyArray
    psi_by_chance: NumPyArray
    reference: str

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each group."""
        names = ("number", "ks_distance", "psi", "psi_by_chance")
        columns = {"group": np.asarray(self.groups, object), **{name: getattr(self, name) for name in names}}
        return frame_of(columns, indexed=False)


def score_drift(
    y_score: ArrayLike,
    *,
    groups: ArrayLike | Sequence[Hashable] | None = None,
    reference: Hashable = None,
    num_bins: int = 10,
) -> ScoreDrift:
    """Distances between the scores of each group and those of a reference, which show that the input has changed.

    No labels are needed, so a change shows before the labels are known.

    Parameters
    ----------
    y_score : array_like, shape (N,)
        Scores of any kind.
    groups : array_like, shape (N,), optional
        The group of each sample, such as its month.
    reference : group, optional
        The group that all are compared with; the first if left out.
    num_bins : int, default 10
        The number of bins of the population stability index, which have equal numbers of samples of the reference, as
        far as scores are not equal.

    Returns
    -------
    ScoreDrift
        The distances of all groups; 0 for the reference.

    Raises
    ------
    ValueError
        A score is NaN, a sample has no group, the reference is no group, or shapes do not fit.

    Notes
    -----
    With the shares p and q of both in each bin, the index is Σ (p - q) ln(p / q). A bin without samples of a group
    counts as half a sample there. By a common rule, less than 0.1 is stable and more than 0.25 is a change; the index
    is above 0 by chance as well, on average by (bins - 1) (1/n + 1/m) in groups of n and m samples.

    References
    ----------
    Siddiqi 2006, "Credit Risk Scorecards"; Yurdakul 2018, "Statistical properties of population stability index".

    Examples
    --------
    >>> import matrics, numpy
    >>> random = numpy.random.default_rng(0)
    >>> month = numpy.repeat(["2026-01", "2026-02", "2026-03"], 1000)
    >>> y_score = random.normal(numpy.repeat([0.0, 0.0, 0.5], 1000))
    >>> drift = matrics.ranking.score_drift(y_score, groups=month)
    >>> drift.ks_distance, drift.psi.round(3)
    (array([0.   , 0.052, 0.21 ]), array([0.  , 0.02, 0.24]))
    """
    scores = np.asarray(on_host(y_score, "y_score"), dtype=np.float64)
    num_bins = check_count(num_bins, "num_bins")
    if groups is None:
        raise ValueError("groups: expected the group of each sample, such as its month, got None")
    values, _ = labels_on_host(groups, "groups")
    if values is None or scores.ndim != 1 or values.shape != scores.shape:
        got = "values that cannot be inspected" if values is None else f"shapes {scores.shape} and {values.shape}"
        raise ValueError(f"y_score, groups: expected a score and a group for each sample, (N,), got {got}")
    if np.isnan(scores).any():
        raise ValueError(f"y_score: expected numbers, got NaN at {int(np.flatnonzero(np.isnan(scores))[0])}")
    names, codes = places(values, "groups")
    if not len(names):
        raise ValueError("y_score: expected at least one sample, got none")
    known = names.tolist()
    if reference is not None and reference not in known:
        raise ValueError(f"reference: expected a group ({quoted_list(known)}), got {quoted(reference)}")
    reference_index = 0 if reference is None else known.index(reference)
    reference_scores = np.sort(scores[codes == reference_index])
    edges = np.unique(np.quantile(reference_scores, np.arange(1, num_bins) / num_bins))
    rows = []
    for k in range(len(known)):
        group_scores = np.sort(scores[codes == k])
        psi = 0.0 if k == reference_index else _stability(reference_scores, group_scores, edges)
        by_chance = 0.0 if k == reference_index else len(edges) * (1 / reference_scores.size + 1 / group_scores.size)
        rows.append((_distance(reference_scores, group_scores), psi, by_chance))
    distance, psi_of_all, chance = np.asarray(rows).T
    return ScoreDrift(
        groups=names,
        number=np.bincount(codes, minlength=len(known)),
        ks_distance=distance,
        psi=psi_of_all,
        psi_by_chance=chance,
        reference=str(known[reference_index]),
    )


def _distance(a: Array, b: Array) -> float:
    """The Kolmogorov–Smirnov distance of two sorted samples."""
    both = np.concatenate([a, b])
    below = [np.searchsorted(sample, both, side="right") / sample.size for sample in (a, b)]
    return float(np.abs(below[0] - below[1]).max())


def _stability(a: Array, b: Array, edges: Array) -> float:
    """The population stability index of two sorted samples, with bins up to each edge."""
    shares = []
    for sample in (a, b):
        counts = np.bincount(np.searchsorted(edges, sample, side="left"), minlength=len(edges) + 1)
        shares.append(np.where(counts > 0, counts, 0.5) / sample.size)
    return math.fsum((shares[0] - shares[1]) * np.log(shares[0] / shares[1]))
