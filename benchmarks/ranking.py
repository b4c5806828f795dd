"""Time areas and curves of scores beside scikit-learn, one argsort of the same scores, and one read, in one run.

    python benchmarks/ranking.py

Values are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import numpy as np
import sklearn.metrics as sk
from timing import best

import matrics

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


def areas() -> None:
    """ROC AUC of many models at once."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, (1000, 10_000))
    some = slice(0, 50)  # scikit-learn takes one after the other, so that some tell the time of all
    print(f"ROC AUC of {y.shape[0]:,} models on {y.shape[1]:,} samples each\n")
    print("| scores | ours | beside scikit-learn, a loop | beside one argsort | beside one read |")
    print("|---|---:|---:|---:|---:|")
    for name, dtype, digits in (
        ("float64", np.float64, 17),
        ("float32", np.float32, 17),
        ("three digits", np.float64, 3),
    ):
        x = np.round(random.random(y.shape), digits).astype(dtype)
        ours = matrics.roc_auc(y, x)
        loop = [sk.roc_auc_score(a, b) for a, b in zip(y[some], x[some], strict=True)]
        np.testing.assert_allclose(ours[some], loop, rtol=1e-12)
        times = best(
            lambda x=x: matrics.roc_auc(y, x),
            lambda x=x: [sk.roc_auc_score(a, b) for a, b in zip(y[some], x[some], strict=True)],
            lambda x=x: np.argsort(x, axis=-1),
            lambda x=x: (x.max(), y.max()),
            runs=3,
        )
        times[1] *= y.shape[0] / len(loop)
        shown = " | ".join(
            f"{times[0] / other:.2f}" if other > times[0] / 2 else f"{times[0] / other:.0f}" for other in times[2:]
        )
        print(f"| {name} | {times[0]:.2f} s | {times[1] / times[0]:.0f} times as fast | {shown} |")


def curves() -> None:
    """Ten measures at all thresholds of a million scores."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 1_000_000)
    x = random.normal(size=y.size) + y
    curve = matrics.threshold_curve(y, x, MEASURES)
    for place in (1000, 400_000, 999_000):
        predicted = x >= curve.thresholds[place]
        np.testing.assert_allclose(curve["mcc"][place], sk.matthews_corrcoef(y, predicted), rtol=1e-9)
        np.testing.assert_allclose(curve["f1"][place], sk.f1_score(y, predicted), rtol=1e-9)
    few = curve.thresholds[1 :: y.size // 5]
    times = best(
        lambda: matrics.threshold_curve(y, x, MEASURES),
        lambda: (sk.roc_curve(y, x, drop_intermediate=False), sk.precision_recall_curve(y, x)),
        lambda: [
            matrics.score(matrics.confusion_matrix(y, x, num_classes=2, threshold=float(t)), MEASURES) for t in few
        ],
        lambda: np.argsort(x),
        lambda: matrics.threshold_confusion_matrix(y, x, np.linspace(-3, 4, 1000)),
        runs=3,
    )
    times[2] *= y.size / len(few)
    print(f"\n{len(MEASURES)} measures at all thresholds of {y.size:,} scores\n")
    print("| | time | beside ours |")
    print("|---|---:|---:|")
    names = [
        "ours",
        "scikit-learn, four measures: roc_curve, precision_recall_curve",
        "a loop over thresholds (5 of them)",
    ]
    names += ["one argsort", "ours, 1,000 thresholds, the matrices alone"]
    for name, time in zip(names, times, strict=True):
        print(f"| {name} | {time:.3g} s | {time / times[0]:.3g} |")


if __name__ == "__main__":
    areas()
    curves()
