"""Time what measures cost a training step in PyTorch, beside torchmetrics and the least that counting takes.

    python benchmarks/training.py [--json FILE] [--classes N]

torchmetrics' part is a MetricCollection of nine metrics with validate_args=False, whose compute groups are formed; ours
is one ConfusionMetric for the same nine, once as a plain module and once as a torchmetrics metric. The update of a
ConfusionState, which makes new counts, shows what it saves that the metrics count in place. The floor is an argmax (of
logits) and a scatter_add_, which would crash or miscount at a label out of range. All run in turn, on the CPU, in one
thread; every figure is the best of several runs. Values are compared first. Of the times nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from run import as_slow, machine, print_machine, spell  # (beside this file, as is timing; fixes the threads)
from timing import best

import torch  # isort: skip
import torchmetrics.classification as rival
from torchmetrics import MetricCollection

from matrics import ConfusionState
from matrics.integrations.torch import ConfusionMetric
from matrics.integrations.torchmetrics import ConfusionMetric as Torchmetric

BATCHES = (128, 65_536)
MEASURES = ["accuracy", "f1", "precision", "recall", "specificity", "mcc", "cohen_kappa", "jaccard"]  # and the matrix


def collection(n: int) -> MetricCollection:
    """The same nine, as torchmetrics has them."""
    options = {"num_classes": n, "validate_args": False}
    return MetricCollection(
        {
            "accuracy": rival.MulticlassAccuracy(average="micro", **options),
            "f1": rival.MulticlassF1Score(average="macro", **options),
            "precision": rival.MulticlassPrecision(average="macro", **options),
            "recall": rival.MulticlassRecall(average="macro", **options),
            "specificity": rival.MulticlassSpecificity(average="macro", **options),
            "mcc": rival.MulticlassMatthewsCorrCoef(**options),
            "cohen_kappa": rival.MulticlassCohenKappa(**options),
            "jaccard": rival.MulticlassJaccardIndex(average="macro", **options),
            "matrix": rival.MulticlassConfusionMatrix(**options),
        }
    )


def measure_update(n: int, size: int, kind: str) -> dict[str, object]:
    """One update with a batch: seconds."""
    random = torch.Generator().manual_seed(size)
    true = torch.randint(0, n, (size,), generator=random)
    scores = torch.randn((size, n), generator=random)
    pred = scores if kind == "logits" else scores.argmax(1)
    floor = torch.zeros(n * n, dtype=torch.int64)

    def bare() -> None:
        labels = pred.argmax(1) if kind == "logits" else pred
        bins = true * n + labels
        floor.scatter_add_(0, bins, torch.ones_like(bins))

    theirs, ours, both = collection(n), ConfusionMetric(n, MEASURES), Torchmetric(n, MEASURES)
    state, axis = ConfusionState.zeros(n, like=scores), 1 if kind == "logits" else None
    torch._dynamo.reset()
    compiled_metric = ConfusionMetric(n, MEASURES)
    compiled = torch.compile(compiled_metric.update, fullgraph=True, dynamic=False)
    compiled_bare = torch.compile(bare, fullgraph=True, dynamic=False)
    calls = {
        "floor": bare,
        "matrics": lambda: ours.update(true, pred),
        "ConfusionState": lambda: state.update(true, pred, class_axis=axis),
        "as a torchmetric": lambda: both.update(pred, true),
        "floor, compiled": compiled_bare,
        "matrics, compiled": lambda: compiled(true, pred),
        "torchmetrics": lambda: theirs.update(pred, true),
    }
    for call in calls.values():
        call()  # groups are formed, and graphs compiled
    floor //= 2  # which two have counted
    counted = [floor.view(n, n), ours.matrix, both.matrix, compiled_metric.matrix, theirs.compute()["matrix"]]
    assert all(torch.equal(matrix, counted[0]) for matrix in counted), "counts differ"
    repeats = max(1, 10_000 // size)  # short runs and many of them, between what else the machine does
    return {"batch": f"{size:,} {kind}", "repeats": repeats, **timed(calls, repeats)}


def measure_compute(n: int) -> dict[str, object]:
    """All nine values of what has been counted: seconds."""
    random = torch.Generator().manual_seed(n)
    true, pred = torch.randint(0, n, (2, 1000), generator=random)
    theirs, ours, both = collection(n), ConfusionMetric(n, MEASURES), Torchmetric(n, MEASURES)
    ours.update(true, pred)
    both.update(pred, true)
    theirs.update(pred, true)

    def compute_theirs() -> dict[str, torch.Tensor]:
        for metric in theirs.values(copy_state=False):
            metric._computed = None  # or it would hand out what it has kept
        return theirs.compute()

    def compute_both() -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        both._computed = None
        return both.compute(), both.matrix

    values, expected = ours.compute(), compute_theirs()
    for name in MEASURES:
        torch.testing.assert_close(values[name].float(), expected[name], rtol=1e-5, atol=1e-5)
    calls = {
        "matrics": lambda: (ours.compute(), ours.matrix),
        "as a torchmetric": compute_both,
        "torchmetrics": compute_theirs,
    }
    return {"batch": "compute", "repeats": 2, **timed(calls, 2)}


def timed(calls: dict[str, object], repeats: int) -> dict[str, float]:
    def repeated(call: object) -> object:
        return lambda: [call() for _ in range(repeats)]

    times = best(*map(repeated, calls.values()), runs=100)
    return {name: taken / repeats for name, taken in zip(calls, times, strict=True)}


NAMES = (
    "floor",
    "matrics",
    "ConfusionState",
    "floor, compiled",
    "matrics, compiled",
    "as a torchmetric",
    "torchmetrics",
)


def print_rows(rows: list[dict[str, object]], n: int) -> None:
    print(f"Nine measures of {n} classes: time of an update with a batch, and of computing all values. In brackets how")
    print("many times as fast as torchmetrics; floor: argmax and scatter_add_ alone, in brackets how")
    print("many times that ours takes\n")
    print(f"{'':<15}", *(f"{name:>18}" for name in NAMES))
    for row in rows:
        cells = []
        for name in NAMES:
            if name not in row:
                cells.append("")
                continue
            against = "" if name == "torchmetrics" else f" ({as_slow(row['torchmetrics'] / row[name])})"
            if name.startswith("floor"):
                against = f" ({as_slow(row[name.replace('floor', 'matrics')] / row[name])})"
            cells.append(f"{spell(row[name] * 1e9)}{against}")
        print(f"{row['batch']:<15}", *(f"{cell:>18}" for cell in cells))


def main() -> None:
    """Print the table; save the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="save the figures there")
    parser.add_argument("--classes", type=int, default=10, help="number of classes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = machine()
    print_machine(found)
    rows = [measure_update(options.classes, size, kind) for size in BATCHES for kind in ("labels", "logits")]
    rows.append(measure_compute(options.classes))
    print_rows(rows, options.classes)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({"machine": found, "classes": options.classes, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
