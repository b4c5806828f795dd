"""The rankings of the matrices of a stack by several measures, for ``agreement`` and ``redundancy``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from matrics._arrays import Array
from matrics._arrays.sizes import check_count
from matrics._catalogue.classes import Classes
from matrics._catalogue.naming import check_names
from matrics._catalogue.record import Metric
from matrics._engine.evaluation import as_stack, check_options
from matrics._scoring.score import resolve, score
from matrics._study.ranks import Ranking

MOST_DIGITS = 15


class Measured(NamedTuple):
    """Several measures of the same N matrices."""

    names: tuple[str, ...]
    rankings: list[Ranking]  # without duplicates; a higher rank is better
    which: Array  # (K,): the number of the ranking of each measure
    batch: tuple[int, ...]  # the shape of the stack before the axes of the classes

    @classmethod
    def of(  # noqa: PLR0917 (the parameters of the public functions)
        cls,
        stack: Any,
        metrics: str | Metric | Iterable[str | Metric],
        digits: int | None,
        zero_division: float,
        workers: int,
        class_names: Sequence[str] | None,
        positive: Hashable,
    ) -> Measured:
        """The rankings of the matrices of a stack, which is scored on the host."""
        check_options(zero_division, "nan", workers)
        digits = None if digits is None else check_count(digits, "digits")
        if digits is not None and digits > MOST_DIGITS:
            raise ValueError(f"digits: expected at most {MOST_DIGITS}, the digits of a float64, or None, got {digits}")
        backend, array = as_stack(stack, name="stack")
        number = array.shape[-1]
        chosen = resolve(metrics, Classes.of(number, check_names(class_names, number), positive))
        classwise = [key for key, metric in chosen.items() if metric.is_classwise]
        if classwise:
            raise ValueError(
                "metrics: expected measures with a single value for each matrix, as values are compared between "
                "matrices; "
                f"got measures with a value for each class: {', '.join(classwise[:5])}"
            )
        cells = np.asarray(backend.to_numpy(array))
        batch = cells.shape[:-2]
        if not batch:
            raise ValueError(f"stack: expected several matrices, (*B, n, n), got a single matrix, shape {cells.shape}")
        cells = cells if cells.dtype.kind in "iu" else cells.astype(np.float64)
        rankings: list[Ranking] = []
        known: dict[bytes, int] = {}
        which = []
        for values in _values(cells, chosen, zero_division, workers):
            ranking = Ranking.of(values, digits)
            # Measures that are functions of each other have the same ranking, and are compared once.
            place = known.setdefault(ranking.ranks.tobytes(), len(rankings))
            if place == len(rankings):
                rankings.append(ranking)
            which.append(place)
        return cls(tuple(chosen), rankings, np.asarray(which, np.intp), batch)


def _values(cells: Array, chosen: dict[str, Metric], zero_division: float, workers: int) -> Iterator[Array]:
    """The values (N,) of each measure, negated if lower values are better."""
    scores = score(cells, chosen.values(), zero_division=zero_division, invalid="nan", workers=workers)
    for metric in chosen.values():  # two names may mean the same measure
        values = np.asarray(scores[str(metric)], np.float64).ravel()
        yield -values if metric.higher_is_better is False else values


class SharedRankings:
    """The rankings of each pair of measures on the matrices on which both are defined."""

    def __init__(self, rankings: list[Ranking]) -> None:
        self._rankings = rankings
        # Many measures share each pattern of undefined values.
        patterns: dict[bytes, int] = {}
        self._pattern = [patterns.setdefault(np.packbits(f.defined).tobytes(), len(patterns)) for f in rankings]

    def pairs_of(self, first: int) -> Iterator[tuple[int, Ranking, Ranking]]:
        """The numbers of later rankings, each with both rankings on the matrices for which both are defined."""
        f, restricted = self._rankings[first], {}
        for second in range(first, len(self._rankings)):
            g, pattern = self._rankings[second], self._pattern[second]
            if pattern == self._pattern[first] and f.is_complete:
                yield second, f, g
                continue
            both = f.defined & g.defined
            if pattern not in restricted:
                restricted[pattern] = f.only(both)
            yield second, restricted[pattern], g.only(both)
