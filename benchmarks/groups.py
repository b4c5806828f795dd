"""Time counting by group in one pass, beside a loop over groups and the least that counting takes.

    python benchmarks/groups.py [--samples N]

The loop calls confusion_matrix with the samples of one group after the other, found by a mask; so does that of
scikit-learn, of at most 10 groups, whose time is multiplied. The floor is one bincount of the cells of all groups,
which would miscount at a label out of range. All run in turn, in one thread; every figure is the best of several runs.
Counts are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)
import sklearn.metrics  # noqa: E402
from run import as_slow, machine, print_machine, spell  # noqa: E402 (beside this file, as is timing)
from timing import best  # noqa: E402

import matrics  # noqa: E402

CASES = [(2, 10), (2, 1000), (10, 10), (10, 1000)]


def measure(samples: int, n: int, num_groups: int) -> dict[str, float]:
    """Seconds of each way, of random labels and groups."""
    random = np.random.default_rng(0)
    y_true, y_pred = random.integers(0, n, (2, samples))
    groups = random.integers(0, num_groups, samples)
    shape, few = (num_groups, n, n), min(num_groups, 10)

    def floor() -> np.ndarray:
        return np.bincount((groups * n + y_true) * n + y_pred, minlength=num_groups * n * n).reshape(shape)

    def at_once() -> np.ndarray:
        return matrics.confusion_matrix(y_true, y_pred, num_classes=n, groups=groups, num_groups=num_groups)

    def one_by_one() -> np.ndarray:
        masks = (groups == group for group in range(num_groups))
        return np.stack([matrics.confusion_matrix(y_true[mask], y_pred[mask], num_classes=n) for mask in masks])

    def peer() -> np.ndarray:
        masks = (groups == group for group in range(few))
        labels = range(n)
        return np.stack([sklearn.metrics.confusion_matrix(y_true[mask], y_pred[mask], labels=labels) for mask in masks])

    calls = {"floor": floor, "groups=": at_once, "a loop": one_by_one, "scikit-learn": peer}
    counted = at_once()
    assert all((call() == counted[: few if call is peer else None]).all() for call in calls.values()), "counts differ"
    times = dict(zip(calls, best(*calls.values(), runs=5), strict=True))
    times["scikit-learn"] *= num_groups / few
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=1_000_000, help="number of samples")
    options = parser.parse_args()
    print_machine(machine())
    print(
        f"The matrices of all groups, of {options.samples:,} samples. In brackets how many times as long as groups=\n"
    )
    print(f"{'classes':>8} {'groups':>7} {'groups=':>10} {'one bincount':>18} {'a loop':>18} {'scikit-learn':>18}")
    for n, num_groups in CASES:
        times = measure(options.samples, n, num_groups)
        ours = times.pop("groups=")
        others = [f"{spell(taken * 1e9)} ({as_slow(taken / ours)})" for taken in times.values()]
        print(f"{n:>8} {num_groups:>7} {spell(ours * 1e9):>10}", *(f"{other:>18}" for other in others))


if __name__ == "__main__":
    main()
