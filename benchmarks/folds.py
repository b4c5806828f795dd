"""How often tests of scores by fold, by data set and of shuffled labels reject where there is nothing to find.

``python benchmarks/folds.py`` prints the tables of docs/comparing.md in Markdown, and times a permutation test
beside shuffling the labels one by one with scikit-learn.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import matrics


def ridge_errors(x: np.ndarray, y: np.ndarray, columns: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Which samples a classifier by regularised least squares on some columns gets wrong, trained on some samples."""
    a = np.column_stack([np.ones(len(x)), x[:, columns]])
    inside = a[train]
    coefficients = np.linalg.solve(inside.T @ inside + np.eye(a.shape[1]), inside.T @ (2 * y[train] - 1))
    return (a @ coefficients > 0) != y


def folds(sets: int, samples: int = 200, repeats: int = 10) -> None:
    """Two classifiers that are equally good by construction, each on five of ten equally useful columns."""
    names = ("plain t", "corrected t", "5x2 t", "5x2 F", "corrected t, limits hold the truth")
    rejected = np.zeros(len(names))
    random = np.random.default_rng(0)
    halves = np.arange(5), np.arange(5, 10)
    for _ in range(sets):
        y = random.random(samples) < 0.5
        x = random.normal(size=(samples, 10)) + 0.35 * y[:, None]
        scores = np.empty((2, repeats * 10))
        for repeat in range(repeats):
            fold = random.permutation(samples) % 10
            for k in range(10):
                for model, columns in enumerate(halves):
                    errors = ridge_errors(x, y, columns, fold != k)
                    scores[model, 10 * repeat + k] = 1 - errors[fold == k].mean()
        two = np.empty((2, 5, 2))
        for repeat in range(5):
            fold = random.permutation(samples) % 2
            for k in range(2):
                for model, columns in enumerate(halves):
                    two[model, repeat, k] = 1 - ridge_errors(x, y, columns, fold != k)[fold == k].mean()
        found = matrics.stats.compare_folds(*scores, test_fraction=0.1)
        plain = matrics.stats.compare_folds(*scores, test_fraction=1e-9)  # 1/k alone, as a paired t-test has it
        t, f = (matrics.stats.compare_folds(*two, method=method) for method in ("5x2_t", "5x2_f"))  # type: ignore[arg-type]
        rejected += [
            plain.p_value < 0.05,
            found.p_value < 0.05,
            t.p_value < 0.05,
            f.p_value < 0.05,
            found.low <= 0 <= found.high,
        ]
    print("| " + " | ".join(names) + " |")
    print("|" + "--:|" * len(names))
    print("| " + " | ".join(f"{100 * one / sets:.1f}" for one in rejected) + " |\n", flush=True)


def datasets(sets: int) -> None:
    """Models that are equally good, on so many data sets that vary in how hard they are."""
    print(
        "| data sets | models | Friedman | Iman-Davenport | Nemenyi, any pair | Holm, any pair | Wilcoxon, any pair |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|")
    random = np.random.default_rng(1)
    for number, models in ((8, 4), (20, 4), (20, 8), (50, 8)):
        rejected = np.zeros(5)
        for _ in range(sets):
            scores = random.normal(size=(number, 1)) + 0.3 * random.normal(size=(number, models))
            found = [
                matrics.stats.compare_datasets(scores, method=method) for method in ("nemenyi", "holm", "wilcoxon")
            ]  # type: ignore[arg-type]
            rejected += [
                found[0].p_value < 0.05,
                found[0].f_p_value < 0.05,
                *(np.nanmin(one.p_values) < 0.05 for one in found),
            ]
        print(
            f"| {number} | {models} | " + " | ".join(f"{100 * one / sets:.1f}" for one in rejected) + " |", flush=True
        )
    print()


def shuffles(sets: int) -> None:
    """Predictions that have nothing to do with the labels."""
    print("| samples | classes | accuracy | MCC | macro F1 |")
    print("|--:|--:|--:|--:|--:|")
    random = np.random.default_rng(2)
    for number, classes in ((20, 2), (60, 3), (300, 10)):
        rejected = np.zeros(3)
        for _ in range(sets):
            y_true, y_pred = random.integers(0, classes, (2, number))
            for k, metric in enumerate(("accuracy", "mcc", "f1:macro")):
                p = matrics.stats.permutation_test(
                    y_true, y_pred, metric, num_classes=classes, num=499, rng=random
                ).p_value
                rejected[k] += p <= 0.05
        print(
            f"| {number} | {classes} | " + " | ".join(f"{100 * one / sets:.1f}" for one in rejected) + " |", flush=True
        )
    print()


def cost() -> None:
    """9,999 shuffles of 10,000 labels: drawn as matrices, and one by one."""
    random = np.random.default_rng(0)
    y_true, y_pred = random.integers(0, 3, (2, 10_000))
    begin = time.perf_counter()
    matrics.stats.permutation_test(y_true, y_pred, "mcc", num_classes=3, rng=0)
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    for _ in range(100):
        matrics.mcc(matrics.confusion_matrix(y_true, random.permutation(y_pred), num_classes=3))
    loop = (time.perf_counter() - begin) * 9_999 / 100
    try:
        from sklearn.metrics import matthews_corrcoef
    except ImportError:
        theirs = math.nan
    else:
        begin = time.perf_counter()
        for _ in range(20):
            matthews_corrcoef(y_true, random.permutation(y_pred))
        theirs = (time.perf_counter() - begin) * 9_999 / 20
    print(
        f"one call {ours:.2f} s; one by one {loop:.1f} s, with scikit-learn {theirs:.1f} s ({theirs / ours:.0f} times)"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num", type=int, default=1_000, help="data sets of each row")
    given = parser.parse_args()
    folds(given.num)
    datasets(given.num)
    shuffles(given.num)
    cost()
