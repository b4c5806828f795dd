"""``redundancy``: a few measures that represent many."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._arrays.sizes import check_count
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._catalogue.registry import groups
from matrics._engine.results import Result, frame_of
from matrics._study.measured import Measured, SharedRankings
from matrics._study.ranks import Ranking, spearman
from matrics.typing import ArrayLike

# Gains that differ by less are equal: sums of squared correlations are rounded.
NOISE = 1e-12


class Representation(NamedTuple):
    """The chosen measure that represents another measure best, as in :class:`matrics.study.Redundancy`.

    Parameters
    ----------
    measure : str
        The chosen measure.
    correlation : float
        Spearman's correlation of both measures.
    information : float
        The mutual information of the quantile bins of both measures, in bits.
    information_share : float
        The mutual information divided by the entropy of the bins of the represented measure, from 0 to 1.
    """

    measure: str
    correlation: float
    information: float
    information_share: float


@dataclass(frozen=True, eq=False)
class Redundancy(Result):
    """A few measures that represent many, as from :func:`matrics.study.redundancy`.

    Parameters
    ----------
    chosen : tuple of str
        The measures, in the order in which they were chosen.
    explained : tuple of float
        After each choice, the mean over all measures of the largest squared correlation with a chosen measure.
    represented_by : dict of str to Representation
        For every measure, the chosen measure with the largest absolute correlation.
    left_out : tuple of str
        Measures that are constant or undefined on the stack, for which no rank correlation exists.
    """

    chosen: tuple[str, ...]
    explained: tuple[float, ...]
    represented_by: dict[str, Representation]
    left_out: tuple[str, ...]

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each measure, and the chosen measure that represents it."""
        rows = list(self.represented_by.values())
        columns = {name: [getattr(row, name) for row in rows] for name in Representation._fields}
        titles = [title_of(name) for name in self.represented_by]
        table = {"measure": titles, "represented_by": list(map(title_of, columns.pop("measure"))), **columns}
        return frame_of(table, indexed=False)

    def __repr__(self) -> str:
        shown = "; ".join(f"{title_of(k)} {v:.2f}" for k, v in zip(self.chosen, self.explained, strict=True))
        return f"<Redundancy of {len(self.represented_by) + len(self.left_out)} measures: {shown}>"


def redundancy(
    stack: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    num_metrics: int = 5,
    num_quantiles: int = 10,
    digits: int | None = 12,
    zero_division: float = math.nan,
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> Redundancy:
    """A few measures that represent all measures on the matrices of a stack.

    The first choice is the measure whose squared rank correlations with all measures have the largest mean. Each
    further choice increases this mean most, where each measure counts with its largest correlation with a chosen
    measure.

    Parameters
    ----------
    stack : array_like, shape (*B, n, n)
        Confusion matrices; rows are true classes. Floating cells are scored as float64, on the host.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Each has
        one value for each matrix.
    num_metrics : int, default 5
        The largest number of measures to choose; fewer are chosen if no further measure increases the mean.
    num_quantiles : int, default 10
        The number of quantile bins into which the ranks are cut for the mutual information.
    digits : int or None, default 12
        Rounding may change the last bits of values that are equal in theory, so nearly equal values count as equal.
        Sorted neighbours are equal if they differ by at most 10**-digits, relative to the value nearer to 0, or to 1 if
        1 is larger (or to the largest absolute value, if that is below 1). None compares unrounded numbers, as p-values
        below 1e-12 need.
    zero_division : float, default NaN
        The value of undefined measures (0/0).
    workers : int, default 1
        Number of threads on the host; -1 for as many as there are cores. It does not change results.
    class_names : sequence of str, optional
        Names of the classes, for ``positive`` and specs (``"recall[fraud]"``).
    positive : str or int, optional
        The positive class: a class name where there are ``class_names``, and an index otherwise. Per-class measures
        without an average are values of this class. Without it they are values of class 1 of two classes, and means
        over more (``macro``).

    Returns
    -------
    Redundancy
        The chosen measures, how much they explain, and which of them represents each measure.

    Raises
    ------
    ValueError
        As in :func:`matrics.study.agreement`, or ``num_metrics`` or ``num_quantiles`` is not an integer of at least 1.

    Notes
    -----
    The correlation is Spearman's, on the matrices on which both measures are defined, and 0 if it is
    undefined. The result is not random: among measures with the same gain, the first of the group ``core`` is chosen,
    or else the first of ``metrics``. The forward choice is greedy, so another set of the same size may explain more.

    The mutual information is computed from the table of the bins of both measures; equal values are in the same bin. It
    also detects relations that are not monotone. For N matrices with unrelated values its mean is about (Q - 1)² / (2 N
    ln 2) bits and not 0, with Q quantile bins.

    Examples
    --------
    >>> import matrics
    >>> stack = matrics.simulate.random_matrices(1000, 3, rng=0)
    >>> names = ["mcc", "cohen_kappa", "accuracy", "error_rate", "true_entropy", "imbalance_ratio"]
    >>> result = matrics.study.redundancy(stack, names, num_metrics=2)
    >>> result.chosen
    ('accuracy', 'true_entropy')
    >>> result.represented_by["error_rate"].measure
    'accuracy'
    """
    most, bins = check_count(num_metrics, "num_metrics"), check_count(num_quantiles, "num_quantiles")
    measured = Measured.of(stack, metrics, digits, zero_division, workers, class_names, positive)
    varies = np.asarray([len(ranking.sizes) > 1 for ranking in measured.rankings], bool)[measured.which]
    varying = np.flatnonzero(varies)
    names = [measured.names[place] for place in varying]
    correlations = _correlations(measured)[np.ix_(measured.which[varies], measured.which[varies])]
    chosen, explained = _forward(correlations**2, names, most)
    represented = {}
    for place, name in enumerate(names):
        best = chosen[int(np.argmax(np.abs(correlations[place, chosen])))]
        ranking, representative = (measured.rankings[measured.which[varying[k]]] for k in (place, best))
        rho = float(correlations[place, best])
        represented[name] = Representation(names[best], rho, *_information(ranking, representative, bins))
    left_out = tuple(name for name, kept in zip(measured.names, varies, strict=True) if not kept)
    return Redundancy(tuple(names[k] for k in chosen), explained, represented, left_out)


def _correlations(measured: Measured) -> Array:
    """Spearman's correlations of all pairs of rankings; 0 if undefined."""
    number = len(measured.rankings)
    correlations = np.zeros((number, number))
    common = SharedRankings(measured.rankings)
    for first in range(number):
        for second, f, g in common.pairs_of(first):
            correlations[first, second] = correlations[second, first] = np.nan_to_num(spearman(f, g))
    return correlations


def _forward(squares: Array, names: list[str], num: int) -> tuple[list[int], tuple[float, ...]]:
    """The numbers of the chosen measures, and the mean of the largest squared correlations after each choice."""
    core = set(groups()["core"])
    order = np.asarray(sorted(range(len(names)), key=lambda k: (names[k] not in core, k)), np.intp)
    explained_squares = np.zeros(len(names))
    chosen: list[int] = []
    explained: list[float] = []
    while len(chosen) < min(num, len(names)):
        means = np.maximum(squares[order], explained_squares).mean(axis=1)
        if explained and means.max() <= explained[-1] + NOISE:
            break
        best = int(order[np.flatnonzero(means >= means.max() - NOISE)[0]])
        explained_squares = np.maximum(explained_squares, squares[best])
        chosen.append(best)
        explained.append(float(explained_squares.mean()))
    return chosen, tuple(explained)


def _information(measure: Ranking, other: Ranking, bins: int) -> tuple[float, float]:
    """The mutual information of two measures in bits, and its share of the entropy of the first measure."""
    both = measure.defined & other.defined
    f, g = (_binned(ranking.only(both), bins) for ranking in (measure, other))
    table = np.bincount(f * bins + g, minlength=bins * bins).reshape(bins, bins)
    own, others, joint = (_entropy(counts) for counts in (table.sum(axis=1), table.sum(axis=0), table.ravel()))
    information = max(own + others - joint, 0.0)
    return information, information / own if own else math.nan


def _binned(ranking: Ranking, bins: int) -> Array:
    """The quantile bin of each matrix, from the middle of its rank."""
    number = len(ranking.ranks)
    return (bins * (ranking.centred.astype(np.int64) + number)) // max(2 * number, 1)


def _entropy(counts: Array) -> float:
    """The entropy of counts in bits."""
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log2(shares)).sum())
