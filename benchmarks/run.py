"""Time a matrix of six measures and of EVE, beside plain vectorised NumPy and the floor of one read of the stack.

    python benchmarks/run.py [--json FILE]

Every figure is the best of several runs, nanoseconds a matrix, float64, one thread unless the column says otherwise;
the rivals run in turn with ours, as machines drift. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)

import matrics  # noqa: E402

PANEL = ["accuracy", "mcc", "cohen_kappa", "recall", "precision", "f1"]
SIZES = (2, 3, 5, 10, 30, 100)
CELLS = 8_000_000  # a stack of 64 MB, which no cache holds


def plain_panel(cm: np.ndarray) -> dict[str, np.ndarray]:
    """What one writes by hand: the natural layout, divided without looking."""
    true, pred, tp = cm.sum(-1), cm.sum(-2), np.diagonal(cm, 0, -2, -1)
    total, hits = true.sum(-1), tp.sum(-1)
    chance = (true * pred).sum(-1)
    covariance = total * hits - chance
    spread = (total**2 - (true**2).sum(-1)) * (total**2 - (pred**2).sum(-1))
    return {
        "accuracy": hits / total,
        "mcc": covariance / np.sqrt(spread),
        "cohen_kappa": covariance / (total**2 - chance),
        "recall": (tp / true).mean(-1),
        "precision": (tp / pred).mean(-1),
        "f1": (2 * tp / (true + pred)).mean(-1),
    }


def plain_eve(cm: np.ndarray) -> np.ndarray:
    """EVE by hand."""
    rates = cm / cm.sum(-1, keepdims=True)
    values = np.linalg.eigvalsh((rates + np.swapaxes(rates, -1, -2)) / 2)
    positive = np.where(values > 0, values, 0)
    shares = positive / positive.sum(-1, keepdims=True)
    logs = np.log(np.where(shares > 0, shares, 1))
    return -(shares * logs).sum(-1) / np.log(cm.shape[-1])


def best(*calls: object, runs: int = 5) -> list[float]:
    """The shortest time of each call, in turn, so that all see the same machine."""
    times = [[] for _ in calls]
    for _ in range(runs):
        for call, taken in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in times]


def measure(n: int) -> dict[str, float]:
    """All figures of one size, in nanoseconds a matrix."""
    count = CELLS // n**2
    stack = np.random.default_rng(n).integers(1, 100, (count, n, n)).astype(np.float64)
    for name, values in plain_panel(stack).items():
        np.testing.assert_allclose(matrics.score(stack, name)[name], values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(matrics.eve(stack), plain_eve(stack), rtol=1e-9, atol=1e-12)
    names = ("read", "plain panel", "panel", "panel, 2 workers", "plain EVE", "EVE", "EVE, 2 workers")
    times = best(
        stack.sum,
        lambda: plain_panel(stack),
        lambda: matrics.score(stack, PANEL),
        lambda: matrics.score(stack, PANEL, workers=2),
        lambda: plain_eve(stack),
        lambda: matrics.eve(stack),
        lambda: matrics.score(stack, "eve", workers=2),
    )
    return {"n": n, **{name: taken / count * 1e9 for name, taken in zip(names, times, strict=True)}}


def main() -> None:
    """Print the tables; save them if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="save the figures there")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    print(
        f"NumPy {np.__version__}, {platform.machine()}, {os.cpu_count()} cores; ns a matrix (and times plain NumPy)\n"
    )
    print(f"{'n':>4} {'one read':>9} {'plain panel':>12} {'panel':>15} {'2 workers':>15}"
          f" {'plain EVE':>10} {'EVE':>15} {'2 workers':>15}")  # fmt: skip
    rows = []
    for n in arguments.sizes:
        row = measure(n)
        rows.append(row)

        def against(name: str, plain: str, row: dict[str, float] = row) -> str:
            return f"{row[name]:.0f} ({row[plain] / row[name]:.1f}×)"

        print(f"{n:>4} {row['read']:>9.1f} {row['plain panel']:>12.0f} {against('panel', 'plain panel'):>15}"
              f" {against('panel, 2 workers', 'plain panel'):>15} {row['plain EVE']:>10.0f}"
              f" {against('EVE', 'plain EVE'):>15} {against('EVE, 2 workers', 'plain EVE'):>15}")  # fmt: skip
    one = np.asarray([[50.0, 3.0, 2.0], [4.0, 60.0, 1.0], [0.0, 2.0, 40.0]])
    calls = 2000
    (single,) = best(lambda: [matrics.mcc(one) for _ in range(calls)])
    (core,) = best(lambda: [matrics.score(one) for _ in range(calls // 10)])
    print(f"\none 3×3 matrix: mcc {single / calls * 1e6:.0f} µs, score(cm) {core / calls * 1e7:.0f} µs")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
