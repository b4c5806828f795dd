"""Time intervals: replicates beside the draws alone, plain NumPy, prob_conf_mat and labels; and the delta method.

    python benchmarks/uncertainty.py [--replicates R]

Every figure is the best of several runs in turn with its rivals, as machines drift. The scikit-learn loop is timed for
a few replicates, and its time multiplied. The memory is what the process holds at most beyond what it held before,
without the 8 bytes a replicate and measure (Linux only). Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from functools import partial

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)
import rivals  # noqa: E402 (beside this file, as are timing and memory)
import sklearn.metrics  # noqa: E402
from memory import anonymous  # noqa: E402
from timing import best  # noqa: E402

import matrics  # noqa: E402

SHARES = np.asarray([[450, 50, 10], [100, 300, 30], [10, 20, 140]]) / 1110
TEN = ["accuracy", "mcc", "cohen_kappa", "recall", "precision", "f1", "jaccard", "balanced_accuracy", "specificity"]
TEN += ["g_mean"]
MIB = 2**20


def peak(call: object) -> int:
    """Bytes of anonymous memory that a call holds at most beyond what was held before."""
    before, seen, done = anonymous(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            seen.append(anonymous())

    thread = threading.Thread(target=watch)
    thread.start()
    call()
    done.set()
    thread.join()
    return max(seen) - before


def plain_numpy(cm: np.ndarray, num: int) -> object:
    """Draws, six measures without any check, and their quantiles: what one writes by hand."""
    rng, shares = np.random.default_rng(0), cm.ravel() / cm.sum()

    def call() -> None:
        draws = rng.multinomial(cm.sum(), shares, size=num).reshape(-1, 3, 3).astype(float)
        for values in rivals.plain_panel(draws).values():
            np.quantile(values, (0.025, 0.975))

    return call


def resampled_labels(cm: np.ndarray, times: int) -> float:
    """Seconds a replicate of resampling labels and six measures of scikit-learn."""
    true, pred = np.divmod(np.repeat(np.arange(9), cm.ravel()), 3)
    rng, begin = np.random.default_rng(0), time.perf_counter()
    for _ in range(times):
        some = rng.integers(0, len(true), len(true))
        pair = true[some], pred[some]
        sklearn.metrics.accuracy_score(*pair)
        sklearn.metrics.matthews_corrcoef(*pair)
        sklearn.metrics.cohen_kappa_score(*pair)
        for measure in ("recall_score", "precision_score", "f1_score"):
            getattr(sklearn.metrics, measure)(*pair, average="macro")
    return (time.perf_counter() - begin) / times


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1_000_000)
    num = parser.parse_args().replicates
    print(f"{num:,} replicates of a 3×3 matrix: seconds, in brackets how many times the draws alone\n")
    for samples in (1_000, 1_000_000):
        cm = np.rint(SHARES * samples).astype(int)
        rng, shares = np.random.default_rng(0), cm.ravel() / cm.sum()
        drawn = partial(rng.multinomial, cm.sum(), shares, size=num)
        draws = drawn().reshape(-1, 3, 3)

        def ours(specs: object, workers: int, cm: np.ndarray = cm) -> object:
            return lambda: matrics.interval(cm, specs, method="bootstrap", num=num, rng=0, workers=workers)

        calls = {
            "draws alone (Generator.multinomial)": drawn,
            "ten measures of the draws": partial(matrics.score, draws, TEN),
            "interval, ten measures": ours(TEN, 1),
            "interval, ten measures, 2 workers": ours(TEN, 2),
            "interval, core": ours("core", 1),
            "interval, core, 2 workers": ours("core", 2),
            "plain NumPy, six measures": plain_numpy(cm, num),
        }
        if "prob_conf_mat" in rivals.PANELS:
            calls["prob_conf_mat, six measures of the draws"] = rivals.PANELS["prob_conf_mat"](draws.astype(float))
        times = dict(zip(calls, best(*calls.values(), runs=3), strict=True))
        alone = times["draws alone (Generator.multinomial)"]
        print(f"{samples:,} samples")
        for name, taken in times.items():
            print(f"  {name:<42}{taken:8.2f} ({taken / alone:.2f}×), median {taken.median:.2f}")
        by_labels = resampled_labels(cm, 20 if samples < 10_000 else 2) * num
        print(
            f"  {'scikit-learn, six measures of labels':<42}{by_labels:8.0f} ({by_labels / alone:,.0f}×, extrapolated)"
        )
        del draws, calls
        more = peak(ours(TEN, 1)) - 8 * num * len(TEN)
        print(f"  memory beyond 8 bytes a replicate and measure: {more / MIB:.0f} MiB\n")
    stack = np.random.default_rng(0).integers(0, 100, (100_000, 3, 3))
    print("Without draws: 100,000 3×3 matrices, nine measures (core), seconds")
    for method in ("delta", "auto"):
        (one, two) = best(
            *(lambda w=w, m=method: matrics.interval(stack, "core", method=m, workers=w) for w in (1, 2)), runs=3
        )
        print(f"  {method:<6} {one:.2f} (median {one.median:.2f}), 2 workers {two:.2f} ({two.median:.2f})")


if __name__ == "__main__":
    main()
