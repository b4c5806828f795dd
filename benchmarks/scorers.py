"""Time a scorer of ten measures beside ten scorers of scikit-learn.

    python benchmarks/scorers.py [--samples N ...]

Both score the same fitted model: matrics by one scorer of ten measures, scikit-learn by a dictionary of ten scorers,
which shares one call of ``predict`` as well. Then both stand in ``cross_validate`` on the digits that scikit-learn
brings along, once of a model that predicts fast and once of one that predicts slowly. Every figure is the best of
several runs in turn, of processor time in one thread; scikit-learn times predicting and scoring by the clock. Values
are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import time  # noqa: E402 (after the threads are fixed)

import numpy as np  # noqa: E402
from machine import machine, print_machine  # noqa: E402 (beside this file, as is timing)
from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.linear_model import RidgeClassifier  # noqa: E402
from sklearn.metrics import check_scoring, cohen_kappa_score, make_scorer  # noqa: E402
from sklearn.model_selection import cross_validate  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from timing import best  # noqa: E402

from matrics.sklearn import scorer  # noqa: E402

#: Ten measures here, and the scorers there with the same values.
TEN = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "mcc": "matthews_corrcoef",
    "cohen_kappa": make_scorer(cohen_kappa_score),
    "f1": "f1_macro",
    "f1:weighted": "f1_weighted",
    "precision": "precision_macro",
    "recall": "recall_macro",
    "jaccard": "jaccard_macro",
    "precision:weighted": "precision_weighted",
}
HERE = scorer(list(TEN))
THERE = {name: check_scoring(scoring=one) for name, one in TEN.items()}


class Known(ClassifierMixin, BaseEstimator):
    """A classifier that has its predictions, so that nothing but scoring is timed."""

    def __init__(self, predictions: np.ndarray) -> None:
        self.predictions = predictions
        self.classes_ = np.unique(predictions)

    def fit(self, *_: object) -> Known:
        return self

    def predict(self, _: object) -> np.ndarray:
        return self.predictions


def of_labels(samples: int, *, are_texts: bool) -> list[float]:
    """Seconds of each, for a model of ten classes that is right in eight of ten samples."""
    random = np.random.default_rng(0)
    y = random.integers(0, 10, samples)
    pred = np.where(random.random(samples) < 0.8, y, random.integers(0, 10, samples))
    if are_texts:
        y, pred = (np.array([f"class {label}" for label in labels]) for labels in (y, pred))
    model, there = Known(pred), check_scoring(Known(pred), THERE)
    ours, theirs = HERE(model, y, y), there(model, y, y)
    assert all(np.isclose(ours[name], theirs[name]) for name in TEN), "values differ"
    runs = 20 if samples < 10_000 else 5
    return list(best(lambda: HERE(model, y, y), lambda: there(model, y, y), runs=runs, clock=time.process_time))


def in_cross_validate(model: object) -> tuple[list[float], list[float]]:
    """Seconds of cross_validate with each, and of its scoring alone."""
    X, y = load_digits(return_X_y=True)
    scoring: list[list[float]] = [[], []]

    def validate(which: int) -> None:
        found = cross_validate(model, X, y, scoring=(HERE, THERE)[which])
        scoring[which].append(float(found["score_time"].sum()))

    whole = best(lambda: validate(0), lambda: validate(1), runs=7, clock=time.process_time)
    return list(whole), [min(taken) for taken in scoring]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[1000, 100_000])
    options = parser.parse_args()
    print_machine(machine())
    print(f"\nTen measures, milliseconds\n\n{'':<42}{'matrics':>10}{'scikit-learn':>14}{'ratio':>8}")
    for samples in options.samples:
        for are_texts in (False, True):
            kind = "texts" if are_texts else "integers"
            show(f"{samples:,} predicted labels, {kind}", of_labels(samples, are_texts=are_texts))
    for model in (RidgeClassifier(), KNeighborsClassifier()):
        whole, scoring = in_cross_validate(model)
        show(f"cross_validate of {type(model).__name__}", whole)
        show("  of that predict and scoring", scoring)


def show(title: str, seconds: list[float]) -> None:
    """Print a row."""
    ours, theirs = (1e3 * one for one in seconds)
    print(f"{title:<42}{ours:>10.2f}{theirs:>14.2f}{theirs / ours:>8.1f}")


if __name__ == "__main__":
    main()
