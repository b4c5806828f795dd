"""Rankings of the same matrices by different measures, and counts of the pairs of matrices in two rankings."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._study.inversions import inversions, inversions_by_value, stable_order


class Ranking:
    """The ranking of N matrices by a measure; equal values have the same rank."""

    def __init__(self, ranks: Array, order: Array, sizes: Array) -> None:
        self.ranks = ranks  # (N,) from 0; -1 if the measure is undefined
        self.order = order  # the matrices on which the measure is defined, by rank
        self.sizes = sizes  # the number of matrices of each rank

    @classmethod
    def of(cls, values: Array, digits: int | None = None) -> Ranking:
        """The ranking of values (N,); NaN has no rank.

        Neighbours in order are equal if they differ by at most 10**-digits, relative to the value nearer to 0, or to 1
        if 1 is larger (or to the largest absolute value, if that is below 1). Without digits, they must be the same
        number.
        """
        order = np.argsort(values, kind="stable")[: len(values) - int(np.isnan(values).sum())]
        ordered = values[order]
        below, above = ordered[:-1], ordered[1:]
        rises = above > below
        if digits is not None:
            sizes = np.abs(ordered)
            # Terms that cancel leave a remainder near 0, whose error is the rounding error of the terms.
            least = min(1.0, float(np.max(sizes, where=np.isfinite(sizes), initial=0)))
            with np.errstate(over="ignore", invalid="ignore"):  # infinite values
                rises &= ~(above - below <= 10.0**-digits * np.maximum(np.minimum(sizes[:-1], sizes[1:]), least))
        steps = np.concatenate([np.zeros(min(len(order), 1), np.int32), np.cumsum(rises, dtype=np.int32)])
        ranks = np.full(len(values), -1, np.int32)
        ranks[order] = steps
        return cls(ranks, order, np.bincount(steps))

    @cached_property
    def defined(self) -> Array:
        """The mask (N,) of the matrices on which the measure is defined."""
        return self.ranks >= 0

    @property
    def is_complete(self) -> bool:
        """Whether the measure is defined on all matrices."""
        return len(self.order) == len(self.ranks)

    @cached_property
    def tied(self) -> int:
        """The number of pairs with equal ranks."""
        return pairs_within(self.sizes)

    @cached_property
    def centred(self) -> Array:
        """Twice the ranks from 1 to N, averaged over ties, minus twice their mean: integers, as floats."""
        ends = np.cumsum(self.sizes)
        return (2 * ends - self.sizes - len(self.ranks)).astype(np.float64)[self.ranks]

    @cached_property
    def spread(self) -> float:
        """The sum of the squares of the centred ranks."""
        return _dot(self.centred, self.centred)

    def only(self, kept: Array) -> Ranking:
        """The ranking of the matrices of a mask (N,)."""
        ranks = self.ranks[kept]
        places = np.cumsum(kept) - 1
        order = places[self.order[kept[self.order]]]
        sizes = np.bincount(ranks[ranks >= 0], minlength=len(self.sizes))
        dense = np.where(ranks < 0, -1, (np.cumsum(sizes > 0) - 1)[ranks] if sizes.size else -1)
        return Ranking(dense.astype(np.int32), order, sizes[sizes > 0])


class Pairs(NamedTuple):
    """The numbers of pairs of matrices, each counted once, by their order in two measures f and g."""

    agreeing: int  # R
    opposing: int  # S
    only_f: int  # P: only f orders the pair
    only_g: int  # Q: only g orders the pair

    @property
    def consistency(self) -> float:
        """The share of pairs in the same order, of the pairs that both measures order."""
        return _ratio(self.agreeing, self.agreeing + self.opposing)

    @property
    def discriminancy(self) -> float:
        """The number of pairs that only f orders, divided by the number of pairs that only g orders."""
        return math.inf if self.only_f and not self.only_g else _ratio(self.only_f, self.only_g)

    @property
    def kendall(self) -> float:
        """Kendall's tau-b."""
        both = self.agreeing + self.opposing
        return _ratio(self.agreeing - self.opposing, math.sqrt((both + self.only_f) * (both + self.only_g)))

    @property
    def swapped(self) -> Pairs:
        """The numbers with f and g exchanged."""
        return self._replace(only_f=self.only_g, only_g=self.only_f)


def count_pairs(f: Ranking, g: Ranking) -> Pairs:
    """The numbers of pairs of matrices; both measures are defined on all matrices."""
    permutation, tied = _crossing(f, g)
    opposing = inversions(permutation)
    every = pairs_within(len(f.ranks))
    both = every - f.tied - g.tied + tied
    return Pairs(both - opposing, opposing, g.tied - tied, f.tied - tied)


def count_by_matrix(f: Ranking, g: Ranking) -> tuple[Array, Array, Array, Array]:
    """The numbers of pairs R, S, P and Q that contain each matrix, arrays (N,)."""
    order = _in_both(f, g)
    in_order = inversions_by_value(stable_order(g.ranks[order], len(g.sizes)))
    opposing = np.empty(len(order), np.int64)
    opposing[order] = in_order
    starts = _starts(f.ranks[order], g.ranks[order])
    sizes = np.diff(starts, append=len(order))
    tied = np.empty(len(order), np.int64)
    tied[order] = np.repeat(sizes, sizes)
    of_f, of_g = f.sizes[f.ranks], g.sizes[g.ranks]
    return len(order) - of_f - of_g + tied - opposing, opposing, of_g - tied, of_f - tied


def spearman(f: Ranking, g: Ranking) -> float:
    """Spearman's correlation of two rankings, both defined on all matrices; NaN if a ranking is constant."""
    return _ratio(_dot(f.centred, g.centred), math.sqrt(f.spread * g.spread))


def pairs_within(sizes: Any) -> int:
    """The number of pairs within groups of these sizes."""
    sizes = np.asarray(sizes, np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


def _crossing(f: Ranking, g: Ranking) -> tuple[Array, int]:
    """A permutation whose inversions are the pairs in different order, and the number of pairs tied in both."""
    order = _in_both(f, g)
    ranks = g.ranks.take(order)
    if not g.tied:
        return ranks, 0
    tied = 0
    if f.tied:
        tied = pairs_within(np.diff(_starts(f.ranks.take(order), ranks), append=len(order)))
    # Positions in the order of f, sorted by g: pairs that are tied in f or g are in ascending order.
    return stable_order(ranks, len(g.sizes)), tied


def _in_both(f: Ranking, g: Ranking) -> Array:
    """The matrices in the order of f, and where f is tied in the order of g."""
    return g.order.take(stable_order(f.ranks.take(g.order), len(f.sizes))) if f.tied else f.order


def _starts(f: Array, g: Array) -> Array:
    """The positions where runs of equal ranks in both rankings begin."""
    differ = (f[1:] != f[:-1]) | (g[1:] != g[:-1])
    return np.concatenate([np.zeros(min(len(f), 1), np.intp), np.flatnonzero(differ) + 1])


def _dot(f: Array, g: Array) -> float:
    # Not f @ g: BLAS would start its own threads in addition to the threads of the caller.
    return float(np.einsum("i,i->", f, g))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
