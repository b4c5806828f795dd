"""One call of each function on small data, where the overhead of a call is all of its time.

    python benchmarks/calls.py [--json FILE]

Each row is the best time of many calls in microseconds, and its ratio to six measures of one 3 × 3 matrix that are
written out in NumPy. ``compare.py`` runs this file with two commits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine, print_machine  # (beside this file)

import matrics

RANDOM = np.random.default_rng(0)
CM = np.array([[50, 3, 2], [4, 40, 1], [0, 5, 30]])
TWO = np.array([[90, 10], [5, 45]])
Y_TRUE, Y_PRED = RANDOM.integers(0, 3, (2, 100))
PROBS = RANDOM.dirichlet([1, 1, 1], 100)
HITS, SCORES = RANDOM.integers(0, 2, 100), RANDOM.random(100)
JUDGED = np.where(np.arange(100) < 30, HITS, -1)
SIX = "accuracy, balanced_accuracy, f1:macro, mcc, cohen_kappa, precision:macro"
EMPTY, COUNTED = matrics.ConfusionState.zeros(3), matrics.ConfusionState.zeros(3).update(Y_TRUE, Y_PRED)
WITH_SCORES = matrics.ScoreState.zeros(bits=8)


def by_hand(cm: np.ndarray = CM) -> tuple[float, ...]:
    """The six measures, as one writes them in NumPy."""
    hits, true, pred, total = np.diag(cm), cm.sum(1), cm.sum(0), cm.sum()
    recall, precision = hits / true, hits / pred
    chance, correct = true @ pred, hits.sum()
    kappa = (total * correct - chance) / (total**2 - chance)
    mcc = (total * correct - chance) / np.sqrt((total**2 - true @ true) * (total**2 - pred @ pred))
    f1 = 2 * hits / (true + pred)
    return correct / total, recall.mean(), f1.mean(), mcc, kappa, precision.mean()


CALLS: dict[str, Callable[[], object]] = {
    "six measures by hand": by_hand,
    "mcc(cm)": lambda: matrics.mcc(CM),
    "accuracy(cm)": lambda: matrics.accuracy(CM),
    "f1(cm)": lambda: matrics.f1(CM),
    "cen(cm)": lambda: matrics.cen(CM),
    "eve(cm)": lambda: matrics.eve(CM),
    "score(cm, six)": lambda: matrics.score(CM, SIX),
    "score(cm)": lambda: matrics.score(CM),
    "score_labels": lambda: matrics.score_labels(Y_TRUE, Y_PRED, SIX),
    "confusion_matrix": lambda: matrics.confusion_matrix(Y_TRUE, Y_PRED, num_classes=3),
    "check(cm)": lambda: matrics.check(CM),
    "transform.normalize": lambda: matrics.transform.normalize(CM, over="true"),
    "transform.one_vs_rest": lambda: matrics.transform.one_vs_rest(CM),
    "ConfusionState.update": lambda: EMPTY.update(Y_TRUE, Y_PRED),
    "ConfusionState.score(six)": lambda: COUNTED.score(SIX),
    "ScoreState.update": lambda: WITH_SCORES.update(HITS, SCORES),
    "multilabel.score": lambda: matrics.multilabel.score(HITS[:, None], HITS[:, None], "f1"),
    "ranking.roc_auc": lambda: matrics.ranking.roc_auc(HITS, SCORES),
    "ranking.average_precision": lambda: matrics.ranking.average_precision(HITS, SCORES),
    "ranking.best_threshold": lambda: matrics.ranking.best_threshold(HITS, SCORES, "f1"),
    "probabilities.log_loss": lambda: matrics.probabilities.log_loss(Y_TRUE, PROBS),
    "probabilities.brier_score": lambda: matrics.probabilities.brier_score(Y_TRUE, PROBS),
    "interval(cm, mcc)": lambda: matrics.interval(CM, "mcc"),
    "stats.diagnostic_table": lambda: matrics.stats.diagnostic_table(TWO),
    "judged.count": lambda: matrics.judged.count(JUDGED, HITS, num_classes=2),
}


def clocked(call: Callable[[], object], seconds: float) -> float:
    """The best time of a call in microseconds; the first calls are not counted."""
    call()
    begin = time.perf_counter()
    call()
    number = max(1, int(0.01 / max(time.perf_counter() - begin, 1e-7)))  # so that a run takes 10 ms
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        begin = time.perf_counter()
        for _ in range(number):
            call()
        best = min(best, (time.perf_counter() - begin) / number)
    return best * 1e6


def times(seconds: float) -> dict[str, float]:
    """The time of each call; those that this version of the library does not have are left out."""
    found = {}
    for name, call in CALLS.items():
        try:
            found[name] = clocked(call, seconds)
        except (AttributeError, TypeError, ValueError):
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the times there instead")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each call")
    options = parser.parse_args()
    taken = times(options.seconds)
    if options.json:
        options.json.write_text(json.dumps(taken))
        return
    print_machine(machine())
    print(f"| {'call':28} | {'µs':>8} | {'by hand':>8} |\n|{'-' * 30}|{'-' * 9}:|{'-' * 9}:|")
    for name, value in taken.items():
        print(f"| {name:28} | {value:8.1f} | {value / taken['six measures by hand']:7.1f}× |")


if __name__ == "__main__":
    main()
