"""Time measures of several labels beside scikit-learn's functions and one read of the arrays.

    python benchmarks/multilabel.py [--small]

Every figure is the best of several runs in turn with its rivals. The read is a sum of both arrays. scikit-learn has no
batches: its time for a batch is that of a loop, timed for a few of its elements and multiplied. Of the times nothing is
asserted; that the values agree is.
"""

from __future__ import annotations

import argparse
import os
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)
import sklearn.metrics as peer  # noqa: E402
from timing import best  # noqa: E402 (beside this file)

import matrics  # noqa: E402

FIVE = ["precision", "recall", "f1", "jaccard", "hamming_loss"]
LOOPED = 3


def by_scikit_learn(y_true: np.ndarray, y_pred: np.ndarray, average: str) -> list[float]:
    """The five measures of one set of samples."""
    three = peer.precision_recall_fscore_support(y_true, y_pred, average=average)[:3]
    return [*three, peer.jaccard_score(y_true, y_pred, average=average), peer.hamming_loss(y_true, y_pred)]


def by_matrics(y_true: np.ndarray, y_pred: np.ndarray, average: str) -> list[np.ndarray]:
    """The same, of all sets."""
    return list(matrics.multilabel.score(y_true, y_pred, FIVE, average=average, zero_division=0).values())


def row(name: str, seconds: float, read: float) -> None:
    """Print one line of the table."""
    print(f"  {name:<48}{1e3 * seconds:10.1f} ms  {seconds / read:8.1f} × one read")


def compare(y_true: np.ndarray, y_pred: np.ndarray) -> None:
    """Print the table of one pair of arrays."""
    batch = y_true.shape[0] if y_true.ndim == 3 else 1
    one = (y_true[0], y_pred[0]) if batch > 1 else (y_true, y_pred)
    looped = min(batch, LOOPED)
    pairs = list(zip(y_true[:looped], y_pred[:looped], strict=True)) if batch > 1 else [one]
    (read,) = best(lambda: (y_true.sum(), y_pred.sum()), runs=5)
    print(f"\n{y_true.shape} {y_true.dtype}: one read {1e3 * read:.1f} ms")
    for average in ("macro", "micro", "samples"):
        ours, theirs = best(
            lambda average=average: by_matrics(y_true, y_pred, average),
            lambda average=average: [by_scikit_learn(*pair, average) for pair in pairs],
            runs=3,
        )
        np.testing.assert_allclose(by_matrics(*one, average), by_scikit_learn(*one, average), rtol=1e-9)
        theirs *= batch / len(pairs)
        row(f"multilabel.score, five measures, {average}", ours, read)
        row(f"scikit-learn, the same{' (loop)' if batch > 1 else ''}: {theirs / ours:.0f} times ours", theirs, read)
    calls = {
        "multilabel.confusion_matrix": lambda: matrics.multilabel.confusion_matrix(y_true, y_pred),
        "subset_accuracy": lambda: matrics.multilabel.subset_accuracy(y_true, y_pred),
    }
    for name, seconds in zip(calls, best(*calls.values(), runs=3), strict=True):
        row(name, seconds, read)
    state = matrics.MultilabelState.zeros(y_true.shape[-1], batch_shape=y_true.shape[:-2])
    row("MultilabelState.update", *best(lambda: state.update(y_true, y_pred), runs=3), read)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a hundredth of the samples")
    share = 100 if parser.parse_args().small else 1
    warnings.simplefilter("ignore")  # scikit-learn's, of samples without labels
    rng = np.random.default_rng(0)
    print("Samples with 20 labels, zeros and ones: best times, and how many times one read of both arrays they are")
    for shape in ((100_000 // share, 20), (1_000 // share, 1_000, 20)):
        for dtype in (np.int64, np.bool_):
            y_true, y_pred = (rng.random((2, *shape)) < rng.random(20)).astype(dtype)
            compare(y_true, y_pred)


if __name__ == "__main__":
    main()
