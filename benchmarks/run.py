"""Time six measures, EVE, small calls and the counting of labels, beside others' code and the floor, in one run.

    python benchmarks/run.py [--json FILE] [--plot FILE] [--sizes N ...]

Every figure is the best of several runs, and below it their median; float64, one thread unless the column says
otherwise; the rivals run in turn with ours, as machines drift. Values are compared first. At the end: where the time
goes. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402 (after the threads are fixed)
import rivals  # noqa: E402 (beside this file, as are the next three)
from machine import machine, print_machine  # noqa: E402
from shares import LABEL_PARTS, SCORE_PARTS, of_labels, of_score, print_shares  # noqa: E402
from timing import Time, best, both  # noqa: E402

import matrics  # noqa: E402

SIZES = (2, 3, 5, 10, 30, 100)
SIZES_OF_SHARES = (3, 10, 100)
CELLS = 8_000_000  # a stack of 64 MB, which no cache holds
ONE_BY_ONE = {2: 60, 3: 60, 5: 60, 10: 30, 30: 20, 100: 3}  # matrices for those that take one at a time
BATCHES = (1, 10, 1_000, 1_000_000)  # of 3×3 matrices
ITEMS, CLASSES, ROWS = 1_000_000, 10, 100  # labels: one vector, or a batch of as many rows


# Times ----------------------------------------------------------------------------------------------------------------


def measure(n: int) -> dict[str, float]:
    """All figures of one size, in nanoseconds a matrix."""
    count = CELLS // n**2
    stack = np.random.default_rng(n).integers(1, 100, (count, n, n)).astype(np.float64)
    ours = matrics.score(stack, rivals.PANEL)
    for name, values in rivals.plain_panel(stack).items():
        np.testing.assert_allclose(ours[name], values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(matrics.eve(stack), rivals.plain_eve(stack), rtol=1e-9, atol=1e-12)
    calls = {
        "read": (count, stack.sum),
        "plain panel": (count, lambda: rivals.plain_panel(stack)),
        "panel": (count, lambda: matrics.score(stack, rivals.PANEL)),
        "panel, 2 workers": (count, lambda: matrics.score(stack, rivals.PANEL, workers=2)),
        "plain EVE": (count, lambda: rivals.plain_eve(stack)),
        "EVE": (count, lambda: matrics.eve(stack)),
        "EVE, 2 workers": (count, lambda: matrics.score(stack, "eve", workers=2)),
    }
    row = timed(calls)
    # The rivals in a round of their own with ours, which takes up to a quarter longer beside them: their large
    # temporary arrays seem to leave it fresh pages.
    few = ONE_BY_ONE.get(n, max(3, 60 // n))
    calls = {"panel beside rivals": calls["panel"]}
    for name, make in rivals.PANELS.items():
        part = count if name == "prob_conf_mat" else few
        call = make(stack[:part])
        digits = 1e-5 if name == "torchmetrics" else 1e-9  # float32
        for metric, values in call().items():
            np.testing.assert_allclose(values, ours[metric][:part], rtol=digits, atol=digits, err_msg=f"{name}'s")
        calls[name] = (part, call)
    samples = float(stack[:few].sum((-2, -1)).mean())
    return {"n": n, "matrices": count, "one by one": few, "samples": samples, **row, **timed(calls)}


def timed(calls: dict[str, tuple[int, object]]) -> dict[str, Time]:
    """Nanoseconds a matrix of each call, which comes with how many it has."""
    times = best(*(call for _, call in calls.values()))
    return {name: taken / count * 1e9 for (name, (count, _)), taken in zip(calls.items(), times, strict=True)}


def measure_batch(count: int) -> dict[str, float]:
    """One call on a stack of 3×3 matrices: seconds a call."""
    stack = np.random.default_rng(count).integers(1, 100, (count, 3, 3)).astype(np.float64)
    if count == 1:
        (stack,) = stack
    repeats = max(1, 500 // count)
    calls = {
        "mcc": lambda: matrics.mcc(stack),
        "panel": lambda: matrics.score(stack, rivals.PANEL),
        "plain panel": lambda: rivals.plain_panel(stack),
        "core": lambda: matrics.score(stack),
    }

    def repeated(call: object) -> object:
        return lambda: [call() for _ in range(repeats)]

    times = best(*map(repeated, calls.values()))
    return {"B": count, **{name: taken / repeats for name, taken in zip(calls, times, strict=True)}}


def measure_labels(dtype: type, rows: int) -> dict[str, object]:
    """Counting the labels of `rows` vectors into as many matrices: nanoseconds a label."""
    import torch
    from sklearn.metrics import confusion_matrix
    from torchmetrics.functional.classification import multiclass_confusion_matrix

    shape = (rows, ITEMS // rows)
    true, pred = np.random.default_rng(rows).integers(0, CLASSES, (2, *shape)).astype(dtype)
    cells = CLASSES**2
    keys = (np.arange(rows)[:, None] * cells + true * np.int64(CLASSES) + pred).ravel()
    if rows == 1:
        true, pred = true[0], pred[0]
    pairs = [(true, pred)] if rows == 1 else list(zip(true, pred, strict=True))
    tensors = [(torch.from_numpy(p), torch.from_numpy(t)) for t, p in pairs]

    def by_hand() -> np.ndarray:
        offsets = np.arange(rows)[:, None] * cells
        counted = np.bincount((offsets + true * np.int64(CLASSES) + pred).ravel(), minlength=rows * cells)
        return counted.reshape(rows, CLASSES, CLASSES)

    everyone = range(CLASSES)
    calls = {
        "bincount of keys": lambda: np.bincount(keys, minlength=rows * cells).reshape(rows, CLASSES, CLASSES),
        "keys and bincount": by_hand,
        "confusion_matrix": lambda: matrics.confusion_matrix(true, pred, num_classes=CLASSES),
        "torchmetrics": lambda: np.stack(
            [multiclass_confusion_matrix(p, t, CLASSES, validate_args=False).numpy() for p, t in tensors]
        ),
        "scikit-learn": lambda: np.stack([confusion_matrix(t, p, labels=everyone) for t, p in pairs]),
    }
    counted = by_hand()
    for name, call in calls.items():
        np.testing.assert_array_equal(np.reshape(call(), counted.shape), counted, err_msg=name)
    times = best(*calls.values())
    row = {name: taken / ITEMS * 1e9 for name, taken in zip(calls, times, strict=True)}
    return {"labels": f"{shape} {np.dtype(dtype)}" if rows > 1 else f"({ITEMS},) {np.dtype(dtype)}", **row}


# Tables ---------------------------------------------------------------------------------------------------------------


def against(row: dict[str, float], name: str, plain: str) -> str:
    return f"{row[name]:.0f} ({row[plain] / row[name]:.1f}×)"


def spell(nanoseconds: float) -> str:
    """A time in the unit in which it is neither long nor tiny."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def as_slow(factor: float) -> str:
    return f"{factor:.1f}×" if factor < 9.95 else f"{float(f'{factor:.2g}'):,.0f}×"


def print_panel(rows: list[dict[str, float]]) -> None:
    print(f"Six measures ({', '.join(rivals.PANEL)}): ns a matrix, in brackets times as fast as plain")
    print("NumPy; reads: how often the stack could have been read in the time of one worker\n")
    print(f"{'n':>4} {'':>6} {'one read':>9} {'plain NumPy':>12} {'matrics':>14} {'reads':>6} {'2 workers':>15}")
    for row in both(rows):
        one, two = (against(row, name, "plain panel") for name in ("panel", "panel, 2 workers"))
        reads = row["panel"] / row["read"]
        line = f"{row['n']:>4} {row['of']:>6} {row['read']:>9.1f} {row['plain panel']:>12.0f}"
        print(f"{line} {one:>14} {reads:>6.1f} {two:>15}")


def print_eve(rows: list[dict[str, float]]) -> None:
    print("\nEVE: ns a matrix, in brackets times as fast as plain NumPy\n")
    print(f"{'n':>4} {'':>6} {'plain NumPy':>12} {'matrics':>15} {'2 workers':>15}")
    for row in both(rows):
        one, two = (against(row, name, "plain EVE") for name in ("EVE", "EVE, 2 workers"))
        print(f"{row['n']:>4} {row['of']:>6} {row['plain EVE']:>12.0f} {one:>15} {two:>15}")


def print_rivals(rows: list[dict[str, float]]) -> None:
    print("\nThe same six measures by others: time a matrix, in brackets times ours. Samples: those of a matrix\n")
    print(f"{'n':>4} {'':>6} {'samples':>7} {'matrics':>8}", *(f"{name:>18}" for name in rivals.PANELS))
    for row in both(rows):
        ours = row["panel beside rivals"]
        cells = [f"{spell(row[name])} ({as_slow(row[name] / ours)})" for name in rivals.PANELS]
        print(
            f"{row['n']:>4} {row['of']:>6} {row['samples']:>7.0f} {spell(ours):>8}", *(f"{cell:>18}" for cell in cells)
        )


def print_batches(rows: list[dict[str, float]]) -> None:
    print("\nOne call on B matrices of 3×3: time a call, and a matrix. score(cm) has the nine measures of core\n")
    heads = ("mcc(cm)", "six measures", "plain NumPy, six", "score(cm)")
    print(f"{'B':>9} {'':>6}", *(f"{head:>21}" for head in heads))
    for row in both(rows):
        times = [row[name] * 1e9 for name in ("mcc", "panel", "plain panel", "core")]
        print(
            f"{row['B']:>9,} {row['of']:>6}",
            *(f"{spell(taken)} | {spell(taken / row['B']):>7}".rjust(21) for taken in times),
        )


def print_labels(rows: list[dict[str, object]]) -> None:
    print(
        f"\nCounting labels of {CLASSES} classes: ns a pair of labels. Keys: true · n + predicted, made beforehand in"
    )
    print("the first column; in brackets times as fast as keys and bincount\n")
    names = [name for name in rows[0] if name != "labels"]
    print(f"{'labels':<19} {'':>6}", *(f"{name:>17}" for name in names))
    for row in both(rows):
        cells = [f"{row[name]:.2f} ({row['keys and bincount'] / row[name]:.2g}×)" for name in names]
        print(f"{row['labels']:<19} {row['of']:>6}", *(f"{cell:>17}" for cell in cells))


def main() -> None:
    """Print the tables; save and draw them if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="save the figures there")
    parser.add_argument("--plot", type=Path, help="draw the time a matrix against n there (.png, .svg; matplotlib)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of classes")
    options = parser.parse_args()
    if options.plot:
        from plot import draw  # at once, lest matplotlib be missed after minutes
    found = machine()
    print_machine(found)
    rows = [measure(n) for n in sorted(options.sizes)]
    print_panel(rows)
    print_eve(rows)
    print_rivals(rows)
    batches = [measure_batch(count) for count in BATCHES]
    print_batches(batches)
    counting = [measure_labels(dtype, rows) for dtype in (np.int64, np.int8) for rows in (1, ROWS)]
    print_labels(counting)
    shares = [of_score(n, CELLS) for n in SIZES_OF_SHARES], [of_labels(rows, ITEMS, CLASSES) for rows in (1, ROWS)]
    print_shares(shares[0], SCORE_PARTS, "Where the time of score(cm) goes, the nine measures of core: ns a matrix")
    print_shares(
        shares[1], LABEL_PARTS, f"Where that of counting labels of {CLASSES} classes goes: ns a pair of labels"
    )
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        figures = {"machine": found, "sizes": rows, "batches": batches, "labels": counting, "shares": shares}
        options.json.write_text(json.dumps(figures, indent=1))
    if options.plot:
        draw(rows, options.plot, f"{found['cpu']}, {found['cores']} cores, NumPy {np.__version__}, float64")


if __name__ == "__main__":
    main()
