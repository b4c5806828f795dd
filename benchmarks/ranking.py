"""Time areas and curves of scores beside scikit-learn, one argsort of the same scores, and one read, in one run.

    python benchmarks/ranking.py [--quick]

Values are compared first. Every figure is the best of several runs in turn; the median of a ratio follows it. Of the
times nothing is asserted. ``--quick`` takes fewer and shorter vectors: half a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial

import numpy as np
import sklearn.metrics as sk
from machine import machine, print_machine  # (beside this file, as is timing)
from timing import Time, best

import matrics

SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
QUICK_SIZES = SIZES[:3]
# Scores whose time is measured at each size, over all runs.
SCORES_OF_RUNS = 3 * 10**6

# Ours, and scikit-learn's.
PAIRS = {
    "ROC AUC": (matrics.ranking.roc_auc, sk.roc_auc_score),
    "average precision": (matrics.ranking.average_precision, sk.average_precision_score),
    "ROC curve": (matrics.ranking.roc_curve, partial(sk.roc_curve, drop_intermediate=False)),
    "precision and recall": (matrics.ranking.precision_recall_curve, sk.precision_recall_curve),
}

MEASURES = [
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "f1",
    "specificity",
    "mcc",
    "cohen_kappa",
    "jaccard",
]
MEASURES += ["informedness"]


def vectors(sizes: Sequence[int]) -> None:
    """Areas and curves of one vector of scores."""
    print("One vector of scores: milliseconds, and how many times as fast as scikit-learn (best, median)\n")
    print(f"| scores | dtype | {' | '.join(PAIRS)} |")
    print(f"|---:|---|{'---:|' * len(PAIRS)}")
    for size in sizes:
        random = np.random.default_rng(size)
        y = random.integers(0, 2, size)
        scores = random.normal(size=size) + y
        for name, x in (
            ("float64", scores),
            ("float32", scores.astype(np.float32)),
            ("three digits", np.round(scores, 3)),
        ):
            cells = []
            for ours, theirs in PAIRS.values():
                if theirs in (sk.roc_auc_score, sk.average_precision_score):
                    np.testing.assert_allclose(ours(y, x), theirs(y, x), rtol=1e-9)
                runs = min(50, max(3, SCORES_OF_RUNS // size))
                times = best(partial(ours, y, x), partial(theirs, y, x), runs=runs)
                ratio = times[1] / times[0]
                cells.append(f"{times[0] * 1e3:.3g} ({ratio:.3g}, {ratio.median:.3g})")
            print(f"| {size:,} | {name} | {' | '.join(cells)} |", flush=True)


def as_fast(ratio: Time) -> str:
    return f"{ratio:.0f}, {ratio.median:.0f} times as fast"


def areas(number: int) -> None:
    """ROC AUC of many models at once."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, (number, 10_000))
    some = slice(0, 50)  # scikit-learn takes one after the other, so that some tell the time of all
    print(f"\nROC AUC of {y.shape[0]:,} models on {y.shape[1]:,} samples each: the best of the runs, and the median\n")
    print("| scores | ours | beside scikit-learn, a loop | `workers=2` | beside one argsort | beside one read |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, dtype, digits in (
        ("float64", np.float64, 17),
        ("float32", np.float32, 17),
        ("three digits", np.float64, 3),
    ):
        x = np.round(random.random(y.shape), digits).astype(dtype)
        ours = matrics.ranking.roc_auc(y, x)
        loop = [sk.roc_auc_score(a, b) for a, b in zip(y[some], x[some], strict=True)]
        np.testing.assert_allclose(ours[some], loop, rtol=1e-12)
        np.testing.assert_array_equal(matrics.ranking.roc_auc(y, x, workers=2), ours)
        times = best(
            lambda x=x: matrics.ranking.roc_auc(y, x),
            lambda x=x: [sk.roc_auc_score(a, b) for a, b in zip(y[some], x[some], strict=True)],
            lambda x=x: matrics.ranking.roc_auc(y, x, workers=2),
            lambda x=x: np.argsort(x, axis=-1),
            lambda x=x: (x.max(), y.max()),
            runs=3,
        )
        times[1] *= y.shape[0] / len(loop)
        cells = [as_fast(times[1] / times[0]), as_fast(times[1] / times[2])]
        cells += [f"{of_ours:.2g}, {of_ours.median:.2g}" for of_ours in (times[0] / other for other in times[3:])]
        print(f"| {name} | {times[0]:.3g} s | {' | '.join(cells)} |")


def curves(size: int) -> None:
    """Ten measures at all thresholds of many scores."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, size)
    x = random.normal(size=y.size) + y
    curve = matrics.ranking.threshold_curve(y, x, MEASURES)
    for place in (size // 1000, 2 * size // 5, size - size // 1000):
        predicted = x >= curve.thresholds[place]
        np.testing.assert_allclose(curve["mcc"][place], sk.matthews_corrcoef(y, predicted), rtol=1e-9)
        np.testing.assert_allclose(curve["f1"][place], sk.f1_score(y, predicted), rtol=1e-9)
    few = curve.thresholds[1 :: y.size // 5]
    times = best(
        lambda: matrics.ranking.threshold_curve(y, x, MEASURES),
        lambda: (sk.roc_curve(y, x, drop_intermediate=False), sk.precision_recall_curve(y, x)),
        lambda: [
            matrics.score(matrics.confusion_matrix(y, x, num_classes=2, threshold=float(t)), MEASURES) for t in few
        ],
        lambda: np.argsort(x),
        lambda: matrics.ranking.confusion_matrix(y, x, np.linspace(-3, 4, 1000)),
        runs=3,
    )
    times[2] *= y.size / len(few)
    print(f"\n{len(MEASURES)} measures at all thresholds of {y.size:,} scores\n")
    print("| | time | median | beside ours | median |")
    print("|---|---:|---:|---:|---:|")
    names = [
        "ours",
        "scikit-learn, four measures: roc_curve, precision_recall_curve",
        "a loop over thresholds (5 of them)",
    ]
    names += ["one argsort", "ours, 1,000 thresholds, the matrices alone"]
    for name, time in zip(names, times, strict=True):
        ratio = time / times[0]
        print(f"| {name} | {time:.3g} s | {time.median:.3g} s | {ratio:.3g} | {ratio.median:.3g} |")


def main(argv: Sequence[str] | None = None) -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter vectors")
    is_quick = parser.parse_args(argv).quick
    print_machine(machine())
    vectors(QUICK_SIZES if is_quick else SIZES)
    areas(100 if is_quick else 1000)
    curves(100_000 if is_quick else 1_000_000)


if __name__ == "__main__":
    main()
