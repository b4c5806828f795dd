"""How the benchmarks time what they compare."""

from __future__ import annotations

import time


def best(*calls: object, runs: int = 5) -> list[float]:
    """The shortest time of each call, in turn, so that all see the same machine."""
    times = [[] for _ in calls]
    for _ in range(runs):
        for call, taken in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in times]
