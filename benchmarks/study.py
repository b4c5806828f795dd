"""Time measures of measures: pairs of matrices beside SciPy and the plain definition, and a whole catalogue.

    python benchmarks/study.py [--matrices N] [--metrics GROUP]

Every pair of measures is timed once, as it takes a minute; SciPy is timed for a sample of the pairs, and its time
multiplied. The figures of one run are those of one machine; of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import math
import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)
from scipy.stats import kendalltau, spearmanr  # noqa: E402
from timing import best  # noqa: E402 (beside this file)

import matrics  # noqa: E402
from matrics import study  # noqa: E402

SAMPLE = 40  # pairs of measures for which SciPy is timed


def by_definition(f: np.ndarray, g: np.ndarray) -> float:
    """Consistency from all pairs, as it is defined: N² comparisons."""
    product = np.sign(f[:, None] - f) * np.sign(g[:, None] - g)
    return (product > 0).sum() / (product != 0).sum()


def pairs() -> None:
    """Two measures."""
    rng = np.random.default_rng(0)
    print("Two measures of N matrices: seconds")
    print(f"  {'N':>8}  {'values':<10}{'consistency':>12}{'discriminancy':>15}{'SciPy tau-b':>13}{'definition':>12}")
    for number, kind in ((2_000, "distinct"), (2_000, "tied"), (200_000, "distinct"), (200_000, "tied")):
        f, g = rng.random((2, number)) if kind == "distinct" else rng.integers(0, 1000, (2, number)).astype(float)
        calls = [lambda f=f, g=g, call=call: call(f, g) for call in (study.consistency, study.discriminancy)]
        times = best(*calls, lambda f=f, g=g: kendalltau(f, g), runs=3)
        plain = best(lambda f=f, g=g: by_definition(f, g), runs=1)[0] if number < 10_000 else math.nan
        print(f"  {number:>8,}  {kind:<10}{times[0]:>12.4f}{times[1]:>15.4f}{times[2]:>13.4f}{plain:>12.4f}")


def both_times(call: object) -> tuple[object, float, float]:
    """What a call gives, its seconds, and those of the processor: on a busy machine the latter say more."""
    begin, used = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - begin, time.process_time() - used


def catalogue(number: int, group: str) -> None:
    """Many measures."""
    stack = matrics.simulate.random_matrices(number, 3, rng=0)
    scores = matrics.score(stack, group)
    names = list(scores)
    combinations = len(names) * (len(names) - 1) // 2
    print(f"\nAll pairs of {len(names)} measures ({combinations:,}) of {number:,} random 3×3 matrices")
    print(f"  {'':<46}{'seconds':>9}{'processor':>11}{'ms a pair':>11}")

    def row(name: str, seconds: float, processor: float) -> None:
        print(f"  {name:<46}{seconds:>9.1f}{processor:>11.1f}{processor / combinations * 1e3:>11.2f}")

    for workers in (1, 2):
        found, *taken = both_times(lambda workers=workers: study.agreement(stack, group, workers=workers))
        row(f"agreement, {workers} {'workers' if workers > 1 else 'worker'}", *taken)
    row("redundancy, five measures", *both_times(lambda: study.redundancy(stack, group))[1:])
    rng = np.random.default_rng(1)
    signs = {name: -1 if matrics.get_metric(name).higher_is_better is False else 1 for name in names}
    varying = [name for name in names if len(np.unique(scores[name][:100])) > 1]
    chosen = [rng.choice(varying, 2, replace=False) for _ in range(SAMPLE)]
    for function, ours in ((kendalltau, found.kendall), (spearmanr, found.spearman)):
        times, worst = np.zeros(2), 0.0
        for pair in chosen:
            values = [signs[name] * scores[name].round(12) for name in pair]
            theirs, *taken = both_times(lambda f=function, v=values: f(*v, nan_policy="omit").statistic)
            times += taken
            worst = max(worst, abs(theirs - ours[names.index(pair[0]), names.index(pair[1])]))
        row(f"SciPy {function.__name__} ({SAMPLE} pairs, extrapolated)", *(times / SAMPLE * combinations))
        print(f"    largest difference from {function.__name__}: {worst:.0e}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrices", type=int, default=100_000)
    parser.add_argument("--metrics", default="all")
    given = parser.parse_args()
    pairs()
    catalogue(given.matrices, given.metrics)


if __name__ == "__main__":
    main()
