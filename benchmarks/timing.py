"""How the benchmarks time what they compare."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self


class Time(float):
    """The best of several runs, in any unit, with their median beside it; so are quotients and multiples of it."""

    median: float

    def __new__(cls, best: float, median: float) -> Self:
        self = super().__new__(cls, best)
        self.median = median
        return self

    @classmethod
    def of(cls, taken: Sequence[float]) -> Time:
        return cls(min(taken), statistics.median(taken))

    def __mul__(self, factor: float) -> Time:
        return Time(float(self) * factor, self.median * factor)

    def __truediv__(self, divisor: float) -> Time:
        return Time(float(self) / divisor, self.median / getattr(divisor, "median", divisor))


def best(*calls: Callable[[], object], runs: int = 5, clock: Callable[[], float] = time.perf_counter) -> list[Time]:
    """The shortest time of each call, with its median, of runs in turn, so that all see the same machine."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(runs):
        for call, taken in zip(calls, times, strict=True):
            begin = clock()
            call()
            taken.append(clock() - begin)
    return list(map(Time.of, times))


def both(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Two rows of each, for a table: the best times, and the medians."""
    for row in rows:
        yield {**row, "of": "best"}
        yield {name: getattr(value, "median", value) for name, value in row.items()} | {"of": "median"}
