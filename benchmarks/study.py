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


def catalogue(number: int, group: str) -> None:
    """Many measures."""
    stack = matrics.random_matrices(number, 3, rng=0)
    scores = matrics.score(stack, group)
    names = list(scores)
    combinations = len(names) * (len(names) - 1) // 2
    print(f"\nAll pairs of {len(names)} measures ({combinations:,}) of {number:,} random 3×3 matrices: seconds")
    found = None
    for workers in (1, 2):
        begin = time.perf_counter()
        found = study.agreement(stack, group, workers=workers)
        taken = time.perf_counter() - begin
        print(f"  {f'agreement, {workers} workers':<46}{taken:8.1f} ({taken / combinations * 1e3:.1f} ms a pair)")
    begin = time.perf_counter()
    study.redundancy(stack, group)
    print(f"  {'redundancy, five measures':<46}{time.perf_counter() - begin:8.1f}")
    rng, spent, worst = np.random.default_rng(1), {kendalltau: 0.0, spearmanr: 0.0}, 0.0
    for _ in range(SAMPLE):
        first, second = rng.choice(len(names), 2, replace=False)
        signs = [-1 if matrics.get_metric(names[k]).higher_is_better is False else 1 for k in (first, second)]
        values = [sign * scores[names[k]] for sign, k in zip(signs, (first, second), strict=True)]
        if min(len(np.unique(one)) for one in values) == 1:
            continue
        for function, ours in ((kendalltau, found.kendall), (spearmanr, found.spearman)):
            begin = time.perf_counter()
            theirs = function(*values, nan_policy="omit").statistic
            spent[function] += time.perf_counter() - begin
            worst = max(worst, abs(theirs - ours[first, second]))
    for function, taken in spent.items():
        whole = taken / SAMPLE * combinations
        print(f"  {f'SciPy {function.__name__} ({SAMPLE} pairs, extrapolated)':<46}{whole:8.1f}")
    print(f"  largest difference from SciPy's correlations: {worst:.1e}")


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
