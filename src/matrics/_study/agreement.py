"""``agreement``: the agreement of every pair of measures, and families of redundant measures."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.naming import title_of
from matrics._catalogue.record import Metric
from matrics._engine.execution.blocks import in_threads
from matrics._engine.results import Result, frame_of
from matrics._quoting import quoted
from matrics._study.measured import Measured, SharedRankings
from matrics._study.ranks import count_pairs, spearman
from matrics.typing import ArrayLike

Correlation = Literal["spearman", "kendall"]

# Rounding changes the distances of measures that are functions of each other.
NOISE = 1e-9

SHOWN = 6  # measures that a repr names


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """The agreement of all pairs of K measures, as from :func:`matrics.study.agreement`.

    Parameters
    ----------
    names : tuple of str
        The measures.
    consistency : array, shape (K, K)
        The share of pairs of matrices that both measures order in the same way, of the pairs that both order.
    discriminancy : array, shape (K, K)
        The number of pairs of matrices that only the measure of the row distinguishes, divided by the number that only
        the measure of the column distinguishes.
    spearman : array, shape (K, K)
        Spearman's rank correlation.
    kendall : array, shape (K, K)
        Kendall's rank correlation, tau-b.
    defined : array of int, shape (K, K)
        The number of matrices on which both measures are defined.
    disagreement : array, shape (K, K), or None
        The share of the groups of models in which the measures choose different models as the best; None without
        ``model_axis``.
    """

    names: tuple[str, ...]
    consistency: Array
    discriminancy: Array
    spearman: Array
    kendall: Array
    defined: Array
    disagreement: Array | None = None

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each pair of measures."""
        tables = {name: table for name, table in vars(self).items() if name != "names" and table is not None}
        titles = np.asarray([title_of(name) for name in self.names], object)
        row, column = (place.ravel() for place in np.indices((len(titles), len(titles))))
        pairs = {"measure": titles[row], "with": titles[column]}
        return frame_of(pairs | {name: np.ravel(table) for name, table in tables.items()}, indexed=False)

    def __repr__(self) -> str:
        shown = "; ".join(map(title_of, self.names[:SHOWN]))
        more = f" and {len(self.names) - SHOWN} more" if len(self.names) > SHOWN else ""
        return f"<Agreement of {_count(len(self.names), 'measure')}: {shown}{more}>"

    def linkage(self, *, correlation: Correlation = "spearman") -> Array:
        """The hierarchical clustering of the measures in the format of ``scipy.cluster.hierarchy``, (K - 1, 4).

        Average linkage of the distances 1 minus the absolute correlation, with the leaves in optimal order, for
        ``scipy.cluster.hierarchy.dendrogram``. The distance is 1 if the correlation is undefined. Needs SciPy.

        Parameters
        ----------
        correlation : {"spearman", "kendall"}
            The rank correlation that defines the distances.
        """
        if correlation not in get_args(Correlation):
            raise ValueError(f"correlation: expected 'spearman' or 'kendall', got {quoted(correlation)}")
        if len(self.names) < 2:
            raise ValueError(f"names: expected at least two measures for a clustering, got {len(self.names)}")
        hierarchy = _hierarchy()
        distances = 1 - np.abs(np.nan_to_num(self.spearman if correlation == "spearman" else self.kendall))
        above = distances[np.triu_indices(len(self.names), 1)].clip(0, 1)
        linkage: Array = hierarchy.linkage(above, "average", optimal_ordering=True)
        return linkage

    def order(self, *, correlation: Correlation = "spearman") -> list[int]:
        """The numbers of the measures in the order of the leaves of the clustering: similar measures are neighbours.

        It sorts the rows and columns of a heat map: ``result.spearman[numpy.ix_(order, order)]``. Needs SciPy.

        Parameters
        ----------
        correlation : {"spearman", "kendall"}
            The rank correlation that defines the distances.
        """
        if len(self.names) < 2:
            return list(range(len(self.names)))
        return [int(place) for place in _hierarchy().leaves_list(self.linkage(correlation=correlation))]

    def families(self, *, least_correlation: float = 0.95, correlation: Correlation = "spearman") -> list[list[str]]:
        """Families of redundant measures, joined by average linkage at this absolute correlation.

        Parameters
        ----------
        least_correlation : float, default 0.95
            Two groups of measures are joined if the average absolute correlation between them is at least this, from 0
            to 1. At 1 only measures that order all matrices in the same way, or in reverse, are in the same family.
        correlation : {"spearman", "kendall"}
            The rank correlation that defines the distances.

        Returns
        -------
        list of list of str
            Families, and the members of each family, in the order of the measures. A constant measure is a family on
            its own. Needs SciPy.
        """
        least = least_correlation
        if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0 <= least <= 1:
            raise ValueError(f"least_correlation: expected a number from 0 to 1, got {quoted(least)}")
        if len(self.names) < 2:
            return [[name] for name in self.names]
        linkage = self.linkage(correlation=correlation)
        numbers = _hierarchy().fcluster(linkage, 1 - least + NOISE, criterion="distance")
        members: dict[int, list[str]] = {}
        for name, number in zip(self.names, numbers.tolist(), strict=True):
            members.setdefault(number, []).append(name)
        return list(members.values())

    def describe(self, *, least_correlation: float = 0.95, correlation: Correlation = "spearman") -> str:
        """The families as text, the largest first.

        Parameters
        ----------
        least_correlation : float, default 0.95
            Two groups of measures are joined if the average absolute correlation between them is at least this, from 0
            to 1.
        correlation : {"spearman", "kendall"}
            The rank correlation that defines the distances.

        Returns
        -------
        str
            A paragraph for each family, and a last paragraph with all measures without a family.
        """
        families = sorted(
            self.families(least_correlation=least_correlation, correlation=correlation), key=len, reverse=True
        )
        counts = _count(len(self.names), "measure"), _count(len(families), "family")
        title = f"{counts[0]} in {counts[1]} (average |{correlation}| at least {least_correlation:g})"
        several = [family for family in families if len(family) > 1]
        alone = [family[0] for family in families if len(family) == 1]
        parts = [f"{len(family)}: {'; '.join(map(title_of, family))}" for family in several]
        parts += [f"alone: {'; '.join(map(title_of, alone))}"] if alone else []
        wrapped = (textwrap.fill(part, 100, subsequent_indent="   ", break_on_hyphens=False) for part in parts)
        return "\n".join([title, *wrapped])


def _count(number: int, what: str) -> str:
    several = f"{what.removesuffix('y')}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else several}"


def agreement(
    stack: ArrayLike,
    metrics: str | Metric | Iterable[str | Metric] = "core",
    *,
    model_axis: int | None = None,
    digits: int | None = 12,
    zero_division: float = math.nan,
    workers: int = 1,
    class_names: Sequence[str] | None = None,
    positive: Hashable = None,
) -> Agreement:
    """The agreement of every pair of measures about the matrices of a stack.

    Measures that are better when lower are negated: accuracy and the error rate agree on everything. Measures without a
    direction are used unchanged.

    Parameters
    ----------
    stack : array_like, shape (*B, n, n)
        Confusion matrices, N in all; rows are true classes. Floating cells are scored as float64, on the host.
    metrics : str, Metric, or several of them, default "core"
        Names, aliases, groups (``core``, ``overall``, ``all``, ``on_host``, or a family of
        :func:`matrics.list_metrics`), specs (``"recall:class"``, ``"recall[1]"``, ``"fbeta(beta=2):weighted"``; see
        :func:`matrics.get_metric`), or metrics. A string may contain several of these, separated by commas. Each has a
        single value for each matrix.
    model_axis : int, optional
        The batch axis of the models. The matrices along this axis are a group, such as all models on the same data set.
        With it, ``disagreement`` is computed as well.
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
    Agreement
        Matrices (K, K) of consistency, discriminancy, Spearman's and Kendall's correlation and, with ``model_axis``,
        disagreement; and methods for families of measures.

    Raises
    ------
    ValueError
        The shape is not (*B, n, n) with at least one batch axis, a measure has a value for each class, a name does not
        exist, or ``model_axis`` is not a batch axis.

    Notes
    -----
    A pair of measures is compared on the matrices on which both are defined; ``defined`` is their number. Invalid
    matrices have no defined values. NaN marks values that cannot be computed: every correlation with a constant
    measure, and the discriminancy of two measures that distinguish the same pairs (0/0); it is infinite if only the
    measure of the row distinguishes more.

    Consistency and discriminancy are those of Huang & Ling 2005; :func:`matrics.study.consistency` has the definitions,
    and intervals. All pairs of matrices are counted exactly, in O(N log N) for each pair of measures. Measures
    with the same ranks are compared once.

    Two measures choose the same model of a group if a model is best by both. A measure with several best models agrees
    with a measure that prefers any of them. Models for which a measure is undefined are left out, as are groups with
    fewer than two remaining models.

    Examples
    --------
    >>> import matrics
    >>> stack = matrics.simulate.resample([[40, 5, 5], [4, 20, 1], [2, 3, 20]], 1000, rng=0)
    >>> result = matrics.study.agreement(stack, ["accuracy", "error_rate", "mcc", "cen"])
    >>> result.kendall.round(2)
    array([[1.  , 1.  , 0.91, 0.85],
           [1.  , 1.  , 0.91, 0.85],
           [0.91, 0.91, 1.  , 0.8 ],
           [0.85, 0.85, 0.8 , 1.  ]])
    >>> result.discriminancy[2, 0]  # mcc distinguishes all matrices that accuracy distinguishes
    np.float64(inf)
    """
    measured = Measured.of(stack, metrics, digits, zero_division, workers, class_names, positive)
    groups = None if model_axis is None else _Groups(measured, _batch_axis(model_axis, measured.batch))
    number = len(measured.rankings)
    tables = np.full((6, number, number), np.nan)
    common = SharedRankings(measured.rankings)

    def work(share: Any) -> None:
        for first in share:
            for second, f, g in common.pairs_of(first):
                pairs = count_pairs(f, g)
                defined, rho = len(f.ranks), spearman(f, g)
                values = (pairs.consistency, rho, pairs.kendall, defined)
                tables[:4, first, second] = tables[:4, second, first] = values
                tables[4, first, second] = pairs.discriminancy
                tables[4, second, first] = pairs.swapped.discriminancy
                if groups is not None:
                    tables[5, first, second] = tables[5, second, first] = groups.disagreement(first, second)

    threads = max(1, min(workers if workers > 0 else os.cpu_count() or 1, number))
    in_threads(work, [range(k, number, threads) for k in range(threads)])
    tables = tables[:, measured.which[:, None], measured.which]
    alike, rho, tau, defined, apart, disagreement = tables
    return Agreement(
        measured.names, alike, apart, rho, tau, defined.astype(np.int64), None if groups is None else disagreement
    )


class _Groups:
    """The best models of every group, by each measure."""

    def __init__(self, measured: Measured, axis: int) -> None:
        models = measured.batch[axis]
        shape = (models, math.prod(measured.batch) // max(models, 1))
        self._ranks = [
            np.ascontiguousarray(np.moveaxis(ranking.ranks.reshape(measured.batch), axis, 0).reshape(shape))
            for ranking in measured.rankings
        ]
        self._complete = [ranking.is_complete for ranking in measured.rankings]
        self._best = [ranks == ranks.max(axis=0, initial=-1) for ranks in self._ranks]

    def disagreement(self, first: int, second: int) -> float:
        """The share of the groups in which no model is best by both measures."""
        f, g = self._ranks[first], self._ranks[second]
        if self._complete[first] and self._complete[second]:
            best = self._best[first] & self._best[second]
            known = np.full(f.shape[1], len(f) > 1)
        else:
            both = (f >= 0) & (g >= 0)
            best = both.copy()
            for ranks in (f, g):
                kept = np.where(both, ranks, -1)
                best &= kept == kept.max(axis=0, initial=-1)
            known = both.sum(axis=0) > 1
        number = int(known.sum())
        return float((~best.any(axis=0) & known).sum() / number) if number else np.nan


def _batch_axis(axis: Any, batch: tuple[int, ...]) -> int:
    """The number of a batch axis; negative numbers count from the end of the whole shape."""
    dims = len(batch) + 2
    position = axis + dims if isinstance(axis, (int, np.integer)) and axis < 0 else axis
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)) or not 0 <= position < len(batch):
        raise ValueError(
            f"model_axis: expected an axis before the axes of the classes, got {quoted(axis)} for batch shape {batch}"
        )
    return int(position)


def _hierarchy() -> Any:
    """SciPy's module of hierarchical clustering, from the extra ``stats``."""
    try:
        import scipy.cluster.hierarchy
    except ImportError as error:
        raise ImportError('families of measures need SciPy: python -m pip install "matrics[stats]"') from error
    return scipy.cluster.hierarchy
