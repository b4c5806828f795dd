"""The search for a case that breaks a property: small cases first, then random ones, then uphill from the nearest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._study.certificates.cases import large, neighbours, samples, small, smaller
from matrics._study.certificates.exact import Number, exact_values
from matrics._study.certificates.properties import Property
from matrics._study.certificates.results import Verdict, Witness

# The smallest relative difference that counts in floats; exact arithmetic decides.
ROUNDING = 1e-9
EXACT = 1e-40
ROUNDING_OF_EQUALS = 1e-5  # where a difference of 0 counts, fewer are suspected
# How many suspects exact arithmetic looks at before a search goes on, and how many cases climb how often.
SUSPECTS = 8
CLIMBERS = 48
STEPS = 12
MOST_SAMPLES = 10**6  # in a cell, as cases climb


@dataclass(frozen=True)
class Judge:
    """A measure as properties see it.

    Attributes
    ----------
    metric
        The measure.
    sizes
        The numbers of classes for which it is judged.
    cases
        How many random cases of each size are tried.
    seed
        Of these cases.
    """

    metric: Metric
    sizes: tuple[int, ...]
    cases: int
    seed: int

    @property
    def sign(self) -> int:
        """-1 if lower values are better."""
        return -1 if self.metric.higher_is_better is False else 1

    def values(self, matrices: Array) -> Array:
        """The measure of integer matrices (..., n, n)."""
        shape = matrices.shape[:-2]
        flat = np.ascontiguousarray(matrices.reshape(-1, *matrices.shape[-2:]), dtype=np.float64)
        return np.asarray(self.metric(flat, invalid="nan")).reshape(shape)

    def exact(self, matrices: Array) -> Array:
        """The same in exact arithmetic, of a few matrices (K, n, n)."""
        found = np.empty(len(matrices), dtype=object)
        found[:] = exact_values(self.metric, matrices)
        return found

    def random(self, *key: int) -> np.random.Generator:
        """Random numbers that depend only on the seed and this key."""
        return np.random.default_rng([self.seed, *key])


@dataclass(frozen=True)
class SearchResult:
    """The result of scoring some cases."""

    gap: Array  # (N,) the largest over the variants; NaN if no variant applies
    variant: Array  # (N,) the variant with the largest gap
    broken: Array  # (N,) whether floats say that the property is broken


def judge(judge: Judge, prop: Property) -> Verdict:
    """Whether a measure has a property."""
    undirected = prop.directed and judge.metric.higher_is_better is None
    sizes = () if undirected else tuple(n for n in judge.sizes if n in prop.classes)
    tried = 0
    held: list[int] = []
    for n in sizes:
        witness, more = search(judge, prop, n)
        tried += more
        if witness is not None:
            return Verdict(prop.name, prop.statement, False, tried, tuple(held), witness)
        held += [n] if more else []
    return Verdict(prop.name, prop.statement, True if held else None, tried, tuple(held))


def search(judge: Judge, prop: Property, n: int) -> tuple[Witness | None, int]:
    """The smallest witness for a number of classes, and the number of cases tried."""
    tried = 0
    for stage in (_small, _large):
        cases = stage(judge, prop, n)
        found = look(judge, prop, cases)
        tried += int(np.sum(~np.isnan(found.gap)))
        witness = _confirmed(judge, prop, cases, found)
        if witness is not None:
            return witness, tried
    cases, found, more = _climb(judge, prop, cases, found)
    return _confirmed(judge, prop, cases, found), tried + more


def _small(judge: Judge, prop: Property, n: int) -> Array:  # noqa: ARG001
    return small(prop.shape(n))


def _large(judge: Judge, prop: Property, n: int) -> Array:
    # The name of the property is part of the key, so that no two meet the same cases.
    return large(prop.shape(n), judge.cases, judge.random(n, *prop.name.encode()))


def look(judge: Judge, prop: Property, cases: Array) -> SearchResult:
    """How far each case breaks the property, in floats."""
    matrices, applies = prop.made(cases)
    values = judge.values(matrices) * (judge.sign if prop.directed else 1)
    with np.errstate(invalid="ignore"):
        filled = (matrices.sum(-1) > 0).all((-2, -1))
        gap = np.where(applies & (filled | prop.at_empty_classes), prop.broken(values), np.nan)
        size = np.max(np.abs(values), axis=-1, initial=0)
        rounding = ROUNDING * (1 + np.where(np.isfinite(size), size, 0))
        # A strict property is suspected where the gap is 0 up to rounding, another one where it is above that.
        suspected = gap > (-rounding * ROUNDING_OF_EQUALS if prop.strict else rounding)
    ranked = np.where(np.isnan(gap), -np.inf, gap)
    variant = ranked.argmax(0)
    at = (variant, np.arange(len(cases)))
    return SearchResult(gap[at], variant, suspected[at])


def _confirmed(judge: Judge, prop: Property, cases: Array, found: SearchResult) -> Witness | None:
    """A witness of one of the suspects with the fewest samples, made as small as can be; None if all are rounding."""
    suspects = np.flatnonzero(found.broken)
    order = np.argsort(samples(cases[suspects]), kind="stable")
    for place in suspects[order[:SUSPECTS]]:
        witness = _witness(judge, prop, cases[place])
        if witness is not None:
            return _witness(judge, prop, _shrunk(judge, prop, cases[place])) or witness
    return None


def _shrunk(judge: Judge, prop: Property, case: Array) -> Array:
    """A case with fewer samples that is still suspected, as long as there is one."""
    while True:
        fewer = smaller(case)
        found = look(judge, prop, fewer) if len(fewer) else None
        if found is None or not found.broken.any():
            return case
        left = np.flatnonzero(found.broken)
        case = fewer[left[samples(fewer[left]).argmin()]]


def _witness(judge: Judge, prop: Property, case: Array) -> Witness | None:
    """The matrices of a case, if exact arithmetic confirms that they break the property."""
    found = look(judge, prop, case[None])
    if not found.broken[0]:
        return None
    matrices = prop.made(case[None])[0][found.variant[0], 0]
    if judge.metric.on_host:  # SciPy has only floats
        return Witness.of(matrices, prop.roles, judge.values(matrices), confirmed=False)
    values = judge.exact(matrices)
    gap = Number.of(prop.broken((values * (judge.sign if prop.directed else 1))[None, None])[0, 0])
    return Witness.of(matrices, prop.roles, values) if gap > (-EXACT if prop.strict else EXACT) else None


def _climb(judge: Judge, prop: Property, cases: Array, found: SearchResult) -> tuple[Array, SearchResult, int]:
    """From the cases that are nearest to breaking a property, step by step to the neighbour that is nearer.

    The differences between a case and its neighbours, in which one count is changed, are the gradient of the gap.
    """
    ranked = np.where(np.isnan(found.gap), -np.inf, found.gap)
    best = np.argsort(-ranked, kind="stable")[:CLIMBERS]
    here, gap, tried = cases[best], ranked[best], 0
    for _ in range(STEPS):
        around = neighbours(here)
        around = np.where(around < MOST_SAMPLES, around, 1)
        flat = around.reshape(-1, *cases.shape[1:])
        seen = look(judge, prop, flat)
        tried += int(np.sum(~np.isnan(seen.gap)))
        gaps = np.where(np.isnan(seen.gap), -np.inf, seen.gap).reshape(around.shape[:2])
        step = gaps.argmax(1)
        rows = np.arange(len(here))
        better = gaps[rows, step] > gap
        if not better.any():
            break
        here = np.where(better.reshape(-1, *(1,) * (here.ndim - 1)), around[rows, step], here)
        gap = np.maximum(gap, gaps[rows, step])
    return here, look(judge, prop, here), tried
