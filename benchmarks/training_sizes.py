"""Time update, forward and compute of metrics for training loops beside torchmetrics, over classes and batches.

    python benchmarks/training_sizes.py [--quick]

The measures are accuracy, macro F1 and MCC of labels; with 50,000 classes accuracy alone: torchmetrics would count all
n² cells for the others. torchmetrics' part is a MetricCollection with validate_args=False, whose compute groups are
formed. Ours is once the plain module and once the torchmetrics metric: a ConfusionMetric, and from 1,000 classes on a
MarginMetric. All run in turn, on the CPU, in one thread; values are compared first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from run import as_slow, machine, print_machine, spell  # (beside this file, as are the next two; fixes the threads)
from timing import both
from training import timed

import torch  # isort: skip
import torchmetrics.classification as rival
from torchmetrics import MetricCollection

from matrics import torch as plain
from matrics import torchmetrics as with_torchmetrics

CLASSES = (2, 10, 100, 1000, 50_000)
BATCHES = (128, 65_536)
MANY = 1000


def collection(n: int, names: list[str]) -> MetricCollection:
    """The measures as torchmetrics has them."""
    options = {"num_classes": n, "validate_args": False}
    makers: dict[str, Callable[[], object]] = {
        "accuracy": lambda: rival.MulticlassAccuracy(average="micro", **options),
        "f1:macro": lambda: rival.MulticlassF1Score(average="macro", **options),
        "mcc": lambda: rival.MulticlassMatthewsCorrCoef(**options),
    }
    return MetricCollection({name: makers[name]() for name in names})


def measure(n: int, size: int, *, quick: bool) -> list[dict[str, object]]:
    """A row for each method: seconds."""
    names = ["accuracy", "f1:macro", "mcc"] if n <= MANY else ["accuracy"]
    kind = "MarginMetric" if n >= MANY else "ConfusionMetric"
    random = torch.Generator().manual_seed(n + size)
    true, pred = torch.randint(0, n, (2, size), generator=random)
    pred = torch.where(torch.rand(size, generator=random) < 0.7, true, pred)
    module, torchmetric = (getattr(library, kind)(n, names) for library in (plain, with_torchmetrics))
    theirs = collection(n, names)
    module.update(true, pred)
    torchmetric.update(pred, true)
    theirs.update(pred, true)
    expected = theirs.compute()
    for name in names:
        for found in (module.compute(), torchmetric.compute()):
            torch.testing.assert_close(found[name].float(), expected[name], rtol=1e-4, atol=1e-5)

    def computed(metric: torch.nn.Module, *parts: torch.nn.Module) -> object:
        for part in parts:
            part._computed = None  # or it would return what it has kept
        return metric.compute()

    rows = {
        "update": (
            lambda: module.update(true, pred),
            lambda: torchmetric.update(pred, true),
            lambda: theirs.update(pred, true),
        ),
        "forward": (
            lambda: module(true, pred),
            lambda: torchmetric(pred, true),
            lambda: theirs(pred, true),
        ),
        "compute": (
            module.compute,
            lambda: computed(torchmetric, torchmetric),
            lambda: computed(theirs, *theirs.values(copy_state=False)),
        ),
    }
    columns = ("matrics", "as a torchmetric", "torchmetrics")
    found = []
    for method, calls in rows.items():
        calls[-1]()
        repeats = 10 if size == BATCHES[0] and n < MANY else 1
        found.append(
            {
                "n": n,
                "size": size,
                "method": method,
                **timed(dict(zip(columns, calls, strict=True)), repeats, quick=quick),
            }
        )
    return found


def print_rows(rows: list[dict[str, object]]) -> None:
    columns = ("matrics", "as a torchmetric", "torchmetrics")
    print("Time of a call; in brackets how many times as fast as torchmetrics\n")
    print(f"{'classes':>8} {'batch':>7} {'':<8} {'':>6}", *(f"{name:>18}" for name in columns))
    for row in both(rows):
        cells = []
        for name in columns:
            against = "" if name == "torchmetrics" else f" ({as_slow(row['torchmetrics'] / row[name])})"
            cells.append(f"{spell(row[name] * 1e9)}{against}")
        line = f"{row['n']:>8,} {row['size']:>7,} {row['method']:<8} {row['of']:>6}"
        print(line, *(f"{cell:>18}" for cell in cells))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print_machine(machine())
    print_rows([row for n in CLASSES for size in BATCHES for row in measure(n, size, quick=options.quick)])


if __name__ == "__main__":
    main()
