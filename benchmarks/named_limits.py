"""How often limits by name contain the truth: exactly, by sums of binomial probabilities.

``python benchmarks/named_limits.py`` prints the tables of docs/uncertainty.md in Markdown. Of each number of samples it
takes the mean and the smallest coverage over proportions, or over pairs of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import matrics

PROPORTIONS = ("wilson", "agresti_coull", "clopper_pearson", "jeffreys")
SHARES = np.linspace(0.02, 0.98, 97)
SPECS = ("diagnostic_odds_ratio", "positive_likelihood_ratio", "negative_likelihood_ratio")


def binomial(number: int, share: float) -> np.ndarray:
    """The probability of each number of successes."""
    k = np.arange(number + 1)
    logs = np.asarray([math.lgamma(number + 1) - math.lgamma(i + 1) - math.lgamma(number - i + 1) for i in k])
    return np.exp(logs + k * math.log(share) + (number - k) * math.log1p(-share))


def holds(found: Any, truth: float) -> np.ndarray:
    """Which limits contain the truth; none do where there are none."""
    return (found.low <= truth * (1 + 1e-12)) & (truth * (1 - 1e-12) <= found.high)


def proportions() -> None:
    """The recall of a class, of so many samples."""
    print("| samples | " + " | ".join(PROPORTIONS) + " |")
    print("|--:|" + "--:|" * len(PROPORTIONS))
    for number in (5, 10, 20, 50, 200):
        k = np.arange(number + 1)
        cm = np.stack([np.stack([0 * k + 9, 0 * k + 9], -1), np.stack([number - k, k], -1)], -2)
        cells = []
        for method in PROPORTIONS:
            found = matrics.interval(cm, "recall[1]", method=method)["recall[1]"]  # type: ignore[arg-type]
            covered = [binomial(number, share) @ holds(found, share) for share in SHARES]
            cells.append(f"{100 * np.mean(covered):.1f} ({100 * np.min(covered):.1f})")
        print(f"| {number} | " + " | ".join(cells) + " |")
    print()


def ratios() -> None:
    """Ratios of two proportions, and of their odds, and Youden's index, of so many samples of each class."""
    names = [f"{name}, {method}" for name in ("odds ratio", "LR+", "LR-") for method in ("log", "score")]
    print("| samples | " + " | ".join([*names, "Youden"]) + " |")
    print("|--:|" + "--:|" * (len(names) + 1))
    shares = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
    for size in (10, 20, 50):
        x, y = (grid.ravel() for grid in np.meshgrid(np.arange(size + 1), np.arange(size + 1), indexing="ij"))
        cm = np.stack([np.stack([size - y, y], -1), np.stack([size - x, x], -1)], -2)  # x hits, and y false alarms
        specs = [f"{name}[1]" for name in SPECS]
        found = {method: matrics.interval(cm, specs, method=method) for method in ("log", "score")}  # type: ignore[arg-type]
        youden = matrics.interval(cm, "informedness[1]")["informedness[1]"]
        covered: list[list[float]] = [[] for _ in range(7)]
        for p in shares:
            for q in shares:
                weight = np.outer(binomial(size, p), binomial(size, q)).ravel()
                truths = (p * (1 - q) / (q * (1 - p)), p / q, (1 - p) / (1 - q))
                for k, (spec, truth) in enumerate(zip(specs, truths, strict=True)):
                    for m, method in enumerate(("log", "score")):
                        one = found[method][spec]
                        known = np.isfinite(one.estimate) | (method == "score")
                        # Where nothing is predicted as one class, or all is, there is no ratio to speak of.
                        defined = ~np.isnan(one.estimate)
                        share = weight[defined].sum()
                        covered[2 * k + m].append(float(weight[defined] @ (holds(one, truth) & known)[defined] / share))
                covered[6].append(float(weight @ ((youden.low <= p - q + 1e-12) & (p - q - 1e-12 <= youden.high))))
        cells = [f"{100 * np.mean(one):.1f} ({100 * np.min(one):.1f})" for one in covered]
        print(f"| {size} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    proportions()
    ratios()
