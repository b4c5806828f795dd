"""The search for a case that breaks a property: small cases, then random cases, then hill climbing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrics._arrays import Array
from matrics._catalogue.record import Metric
from matrics._study.certificates.cases import large, neighbours, samples, small, smaller
from matrics._study.certificates.exact import Number, exact_values
from matrics._study.certificates.properties import Property
from matrics._study.certificates.results import Verdict, Witness

# The smallest relative difference of floats that makes a case a candidate for exact arithmetic.
ROUNDING = 1e-9
EXACT = 1e-40
ROUNDING_OF_EQUALS = 1e-5  # where a difference of 0 breaks a property: a smaller factor gives fewer candidates
# The number of candidates for exact arithmetic in a stage, and the numbers of cases and steps of hill climbing.
CANDIDATES = 8
CLIMBERS = 48
STEPS = 12
MOST_SAMPLES = 10**6  # in a cell, during hill climbing


@dataclass(frozen=True)
class SearchedMeasure:
    """A measure, and the settings of the search for counterexamples.

    Attributes
    ----------
    metric
        The measure.
    sizes
        The numbers of classes of the matrices.
    cases
        The number of random cases of each size.
    seed
        The seed of the random cases.
    """

    metric: Metric
    sizes: tuple[int, ...]
    cases: int
    seed: int

    @property
    def sign(self) -> int:
        """-1 if lower values are better, otherwise 1."""
        return -1 if self.metric.higher_is_better is False else 1

    def values(self, matrices: Array) -> Array:
        """The values of integer matrices (..., n, n)."""
        shape = matrices.shape[:-2]
        flat = np.ascontiguousarray(matrices.reshape(-1, *matrices.shape[-2:]), dtype=np.float64)
        return np.asarray(self.metric(flat, invalid="nan")).reshape(shape)

    def exact(self, matrices: Array) -> Array:
        """The values of a few matrices (K, n, n) in exact arithmetic."""
        values = np.empty(len(matrices), dtype=object)
        values[:] = exact_values(self.metric, matrices)
        return values

    def random(self, *key: int) -> np.random.Generator:
        """A generator that depends only on the seed and this key."""
        return np.random.default_rng([self.seed, *key])


@dataclass(frozen=True)
class SearchResult:
    """How far some cases break a property."""

    gap: Array  # (N,) the largest gap over the variants; NaN if no variant applies
    variant: Array  # (N,) the variant with the largest gap
    broken: Array  # (N,) whether the property is broken in floating-point arithmetic


def decide(measure: SearchedMeasure, prop: Property) -> Verdict:
    """The verdict on whether a measure has a property."""
    undirected = prop.directed and measure.metric.higher_is_better is None
    sizes = () if undirected else tuple(n for n in measure.sizes if n in prop.classes)
    tried = 0
    held: list[int] = []
    for n in sizes:
        witness, more = search(measure, prop, n)
        tried += more
        if witness is not None:
            return Verdict(prop.name, prop.statement, False, tried, tuple(held), witness)
        held += [n] if more else []
    return Verdict(prop.name, prop.statement, True if held else None, tried, tuple(held))


def search(measure: SearchedMeasure, prop: Property, n: int) -> tuple[Witness | None, int]:
    """The smallest witness for a number of classes, and the number of tried cases."""
    tried = 0
    for stage in (_small, _large):
        cases = stage(measure, prop, n)
        result = gaps_of(measure, prop, cases)
        tried += int(np.sum(~np.isnan(result.gap)))
        witness = _confirmed(measure, prop, cases, result)
        if witness is not None:
            return witness, tried
    cases, result, more = _climb(measure, prop, cases, result)
    return _confirmed(measure, prop, cases, result), tried + more


def _small(measure: SearchedMeasure, prop: Property, n: int) -> Array:  # noqa: ARG001
    return small(prop.shape(n))


def _large(measure: SearchedMeasure, prop: Property, n: int) -> Array:
    # The name of the property is part of the key, so that properties have different cases.
    return large(prop.shape(n), measure.cases, measure.random(n, *prop.name.encode()))


def gaps_of(measure: SearchedMeasure, prop: Property, cases: Array) -> SearchResult:
    """How far each case breaks the property, in floating-point arithmetic."""
    matrices, applies = prop.made(cases)
    values = measure.values(matrices) * (measure.sign if prop.directed else 1)
    with np.errstate(invalid="ignore"):
        filled = (matrices.sum(-1) > 0).all((-2, -1))
        gap = np.where(applies & (filled | prop.at_empty_classes), prop.broken(values), np.nan)
        size = np.max(np.abs(values), axis=-1, initial=0)
        rounding = ROUNDING * (1 + np.where(np.isfinite(size), size, 0))
        # A case is a candidate if the gap is above rounding; for a strict property, if it is 0 up to rounding.
        candidates = gap > (-rounding * ROUNDING_OF_EQUALS if prop.strict else rounding)
    ranked = np.where(np.isnan(gap), -np.inf, gap)
    variant = ranked.argmax(0)
    at = (variant, np.arange(len(cases)))
    return SearchResult(gap[at], variant, candidates[at])


def _confirmed(measure: SearchedMeasure, prop: Property, cases: Array, result: SearchResult) -> Witness | None:
    """The reduced witness of a candidate with few samples; None if rounding explains all candidates."""
    candidates = np.flatnonzero(result.broken)
    order = np.argsort(samples(cases[candidates]), kind="stable")
    for place in candidates[order[:CANDIDATES]]:
        witness = _witness(measure, prop, cases[place])
        if witness is not None:
            return _witness(measure, prop, _shrunk(measure, prop, cases[place])) or witness
    return None


def _shrunk(measure: SearchedMeasure, prop: Property, case: Array) -> Array:
    """The case, reduced to fewer samples as long as it breaks the property."""
    while True:
        fewer = smaller(case)
        result = gaps_of(measure, prop, fewer) if len(fewer) else None
        if result is None or not result.broken.any():
            return case
        broken = np.flatnonzero(result.broken)
        case = fewer[broken[samples(fewer[broken]).argmin()]]


def _witness(measure: SearchedMeasure, prop: Property, case: Array) -> Witness | None:
    """The witness of a case if exact arithmetic confirms that it breaks the property, otherwise None."""
    result = gaps_of(measure, prop, case[None])
    if not result.broken[0]:
        return None
    matrices = prop.made(case[None])[0][result.variant[0], 0]
    if measure.metric.on_host:  # SciPy has no exact arithmetic
        return Witness.of(matrices, prop.roles, measure.values(matrices), confirmed=False)
    values = measure.exact(matrices)
    gap = Number.of(prop.broken((values * (measure.sign if prop.directed else 1))[None, None])[0, 0])
    return Witness.of(matrices, prop.roles, values) if gap > (-EXACT if prop.strict else EXACT) else None


def _climb(
    measure: SearchedMeasure, prop: Property, cases: Array, result: SearchResult
) -> tuple[Array, SearchResult, int]:
    """Cases that are nearer to breaking a property, by hill climbing from the nearest cases.

    The differences between a case and its neighbours, in which a single count is changed, are the gradient of the gap.
    """
    ranked = np.where(np.isnan(result.gap), -np.inf, result.gap)
    best = np.argsort(-ranked, kind="stable")[:CLIMBERS]
    here, gap, tried = cases[best], ranked[best], 0
    for _ in range(STEPS):
        around = neighbours(here)
        around = np.where(around < MOST_SAMPLES, around, 1)
        flat = around.reshape(-1, *cases.shape[1:])
        neighbour_result = gaps_of(measure, prop, flat)
        tried += int(np.sum(~np.isnan(neighbour_result.gap)))
        gaps = np.where(np.isnan(neighbour_result.gap), -np.inf, neighbour_result.gap).reshape(around.shape[:2])
        step = gaps.argmax(1)
        rows = np.arange(len(here))
        better = gaps[rows, step] > gap
        if not better.any():
            break
        here = np.where(better.reshape(-1, *(1,) * (here.ndim - 1)), around[rows, step], here)
        gap = np.maximum(gap, gaps[rows, step])
    return here, gaps_of(measure, prop, here), tried
