"""Time what measures cost a training step in PyTorch, beside torchmetrics and the least that counting takes.

    python benchmarks/training.py [--json FILE] [--classes N] [--quick]

torchmetrics' part is a MetricCollection of nine metrics with validate_args=False, whose compute groups are formed; ours
is one ConfusionMetric for the same nine, once as a plain module and once as a torchmetrics metric. The update of a
ConfusionState, which makes new counts, shows what it saves that the metrics count in place. The floor is an argmax (of
logits) and a scatter_add_, which would crash or miscount at a label out of range. All run in turn, on the CPU, in one
thread; every figure is the best of several runs, and below it their median. Values are compared first. Of the times
nothing is asserted.

Then an update of Metrics, of five measures, with those of a ConfusionMetric and a ScoreMetric for the same; and rows
beside code by hand: an update from logits beside ``argmax`` and ``bincount``, counting under ``jax.vmap``
beside an addition to zeros, the five highest of 50,000 logits in bfloat16 beside ``topk``, and the gradient of a soft
MCC under ``torch.func.vmap``; and what 1,000 and 100,000 classes cost in metrics of margins. ``--quick`` has few runs
and compiles nothing of PyTorch: 40 s.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from run import as_slow, machine, print_machine, spell  # (beside this file, as is timing; fixes the threads)
from timing import Time, best, both

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import torch  # isort: skip
import torchmetrics.classification as rival
from torchmetrics import MetricCollection

from matrics import ConfusionState, confusion_matrix, mcc, soft_confusion_matrix
from matrics.torch import ConfusionMetric, MarginMetric, Metrics, ScoreMetric
from matrics.torchmetrics import ConfusionMetric as Torchmetric
from matrics.torchmetrics import MarginMetric as TorchmetricOfMargins

BATCHES = (128, 65_536)
MANY = 1000
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


def measure_update(n: int, size: int, kind: str, *, quick: bool = False) -> dict[str, object]:
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
    compiled_metric = ConfusionMetric(n, MEASURES)
    calls = {
        "floor": bare,
        "matrics": lambda: ours.update(true, pred),
        "ConfusionState": lambda: state.update(true, pred, class_axis=axis),
        "as a torchmetric": lambda: both.update(pred, true),
        "torchmetrics": lambda: theirs.update(pred, true),
    }
    if not quick:
        torch._dynamo.reset()
        compiled = torch.compile(compiled_metric.update, fullgraph=True, dynamic=False)
        calls["floor, compiled"] = torch.compile(bare, fullgraph=True, dynamic=False)
        calls["matrics, compiled"] = lambda: compiled(true, pred)
    for call in calls.values():
        call()  # groups are formed, and graphs compiled
    counted = [ours.matrix, both.matrix, theirs.compute()["matrix"]]
    counted += (
        [floor.view(n, n)] if quick else [floor.view(n, n) // 2, compiled_metric.matrix]
    )  # which two have counted
    assert all(torch.equal(matrix, counted[0]) for matrix in counted), "counts differ"
    repeats = max(1, 10_000 // size)  # short runs and many of them, between what else the machine does
    return {"batch": f"{size:,} {kind}", "repeats": repeats, **timed(calls, repeats, quick=quick)}


def measure_compute(n: int, *, quick: bool = False) -> dict[str, object]:
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
    return {"batch": "compute", "repeats": 2, **timed(calls, 2, quick=quick)}


def measure_many_classes(n: int, *, quick: bool) -> list[dict[str, object]]:
    """Accuracy and F1 from margins: ``update`` with labels, ``compute``, and ``forward`` with logits; seconds.

    Beyond MANY classes accuracy alone, and labels: for F1 torchmetrics counts all n² cells.
    """
    names = ["accuracy", "f1"] if n <= MANY else ["accuracy"]
    random = torch.Generator().manual_seed(n)
    true, pred = torch.randint(0, n, (2, 1000), generator=random)
    scores = torch.randn((1000, n), generator=random) if n <= MANY else pred
    options = {"num_classes": n, "validate_args": False}
    makers = {"accuracy": rival.MulticlassAccuracy, "f1": rival.MulticlassF1Score}
    averages = {"accuracy": "micro", "f1": "macro"}
    theirs = MetricCollection({name: makers[name](average=averages[name], **options) for name in names})
    ours, both = MarginMetric(n, names), TorchmetricOfMargins(n, names)
    ours.update(true, pred)
    both.update(pred, true)
    theirs.update(pred, true)
    for name, value in theirs.compute().items():
        torch.testing.assert_close(ours.compute()[name].float(), value, rtol=1e-5, atol=1e-5)

    def again(metric: object, *parts: object) -> object:
        for part in parts:
            part._computed = None  # or it would hand out what it has kept
        return metric.compute()

    computes = {
        "matrics": ours.compute,
        "as a torchmetric": lambda: again(both, both),
        "torchmetrics": lambda: again(theirs, *theirs.values(copy_state=False)),
    }
    forwards = {
        "as a torchmetric": lambda: both.forward(scores, true),
        "torchmetrics": lambda: theirs.forward(scores, true),
    }
    updates = {
        "matrics": lambda: ours.update(true, pred),
        "as a torchmetric": lambda: both.update(pred, true),
        "torchmetrics": lambda: theirs.update(pred, true),
    }
    rows = {"update": updates, "compute": computes, "forward": forwards}
    return [
        {"batch": f"{name}, {n:,} classes", "repeats": 1, **timed(calls, 1, quick=quick)}
        for name, calls in rows.items()
    ]


def measure_any(n: int, *, quick: bool) -> list[dict[str, object]]:
    """An update of Metrics from logits, and the updates of its two parts: seconds."""
    random, rows = torch.Generator().manual_seed(2), []
    of_labels, of_scores = "f1, mcc", "ece, roc_auc, top_k_accuracy(k=5)"
    for size in BATCHES:
        true, scores = torch.randint(0, n, (size,), generator=random), torch.randn((size, n), generator=random)
        for way in ("eager",) if quick else ("eager", "compiled"):
            whole = Metrics(n, f"{of_labels}, {of_scores}", from_logits=True)
            parts = ConfusionMetric(n, of_labels), ScoreMetric(n, of_scores, from_logits=True)
            steps = [metric.update for metric in (whole, *parts)]
            if way == "compiled":
                torch._dynamo.reset()
                steps = [torch.compile(step, fullgraph=True, dynamic=False) for step in steps]
            calls = {
                "Metrics": lambda steps=steps, batch=(true, scores): steps[0](*batch),
                "parts": lambda steps=steps, batch=(true, scores): [step(*batch) for step in steps[1:]],
            }
            for call in calls.values():
                call()
            assert whole.log_dict() == parts[0].log_dict() | parts[1].log_dict(), "values differ"
            repeats = max(1, 2_000 // size)
            rows.append({"batch": f"{size:,} logits, {way}", **timed(calls, repeats, quick=quick)})
    return rows


def measure_by_hand(*, quick: bool) -> list[dict[str, object]]:
    """Ours and what is written by hand: seconds."""
    random = torch.Generator().manual_seed(1)
    n = 10
    true, scores = torch.randint(0, n, (128,), generator=random), torch.randn((128, n), generator=random)
    metric, counts = ConfusionMetric(n, "accuracy"), torch.zeros(n * n, dtype=torch.int64)

    def bincount() -> None:
        counts.add_(torch.bincount(true * n + scores.argmax(1), minlength=n * n))

    def bare_mcc(cm: torch.Tensor) -> torch.Tensor:
        rows, columns, total = cm.sum(1), cm.sum(0), cm.sum()
        spread = (total**2 - rows @ rows) * (total**2 - columns @ columns)
        return (cm.diagonal().sum() * total - rows @ columns) / spread.sqrt()

    def loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return mcc(soft_confusion_matrix(labels, logits.softmax(-1)))

    def bare_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return bare_mcc(torch.zeros(3, 3).index_add(0, labels, logits.softmax(-1)))

    tokens, hits = torch.randint(0, 50_000, (128,), generator=random), torch.zeros((), dtype=torch.int64)
    logits = torch.randn((128, 50_000), generator=random).to(torch.bfloat16)
    top = ScoreMetric(50_000, "top_k_accuracy(k=5)", from_logits=True)

    def bare_top() -> None:
        hits.add_((logits.topk(5, -1).indices == tokens[:, None]).any(-1).sum())

    heads = torch.randn((1000, 100, 3), generator=random), torch.randint(0, 3, (1000, 100), generator=random)
    gradient, bare_gradient = (torch.func.vmap(torch.func.grad(function)) for function in (loss, bare_loss))
    torch.testing.assert_close(gradient(*heads), bare_gradient(*heads), rtol=1e-3, atol=1e-6)
    pairs = {
        "update, 128 logits": (lambda: metric.update(true, scores), bincount, 100),
        "top 5 of 128 × 50,000": (lambda: top.update(tokens, logits), bare_top, 1),
        "torch vmap(grad), n = 3": (lambda: gradient(*heads), lambda: bare_gradient(*heads), 1),
    }
    for classes in (3, 10):
        labels = jnp.asarray(torch.randint(0, classes, (2, 1000, 100), generator=random).numpy(), jnp.int32)
        ours = jax.jit(jax.vmap(lambda y, p, n=classes: confusion_matrix(y, p, num_classes=n)))
        bare = jax.jit(jax.vmap(lambda y, p, n=classes: jnp.zeros(n * n, jnp.int32).at[y * n + p].add(1)))
        assert (ours(*labels).reshape(1000, -1) == bare(*labels)).all(), "counts differ"
        calls = (lambda f=f, labels=labels: f(*labels).block_until_ready() for f in (ours, bare))
        pairs[f"jax vmap, n = {classes}"] = (*calls, 10)
    return [
        {"batch": name, "repeats": repeats, **timed({"matrics": ours, "by hand": bare}, repeats, quick=quick)}
        for name, (ours, bare, repeats) in pairs.items()
    ]


def timed(calls: dict[str, object], repeats: int, *, quick: bool = False) -> dict[str, Time]:
    def repeated(call: object) -> object:
        return lambda: [call() for _ in range(repeats)]

    times = best(*map(repeated, calls.values()), runs=20 if quick else 100)
    return {name: taken / repeats for name, taken in zip(calls, times, strict=True)}


EAGER = ("floor", "matrics", "ConfusionState", "as a torchmetric", "torchmetrics")
COMPILED = ("floor, compiled", "matrics, compiled", "torchmetrics")


def print_rows(rows: list[dict[str, object]], n: int) -> None:
    print(f"Nine measures of {n} classes: time of an update with a batch, and of computing all values. In brackets how")
    print("many times as fast as torchmetrics; floor: argmax and scatter_add_ alone, in brackets how")
    print("many times that ours takes")
    print_columns(rows, EAGER)
    if compiled := [row for row in rows if COMPILED[0] in row]:
        print_columns(compiled, COMPILED)


def print_columns(rows: list[dict[str, object]], names: tuple[str, ...]) -> None:
    print(f"\n{'':<22} {'':>6}", *(f"{name:>17}" for name in names))
    for row in both(rows):
        cells = []
        for name in names:
            if name not in row:
                cells.append("")
                continue
            against = "" if name == "torchmetrics" else f" ({as_slow(row['torchmetrics'] / row[name])})"
            if name.startswith("floor"):
                against = f" ({as_slow(row[name.replace('floor', 'matrics')] / row[name])})"
            cells.append(f"{spell(row[name] * 1e9)}{against}")
        print(f"{row['batch']:<22} {row['of']:>6}", *(f"{cell:>17}" for cell in cells))


def print_by_hand(rows: list[dict[str, object]]) -> None:
    print("\nBeside the same by hand: in brackets the time by hand as a multiple of ours (best, median)\n")
    for row in rows:
        ours, bare = row["matrics"], row["by hand"]
        ratio = bare / ours
        print(f"{row['batch']:<25}{spell(ours * 1e9):>12}{spell(bare * 1e9):>12} ({ratio:.2f}, {ratio.median:.2f})")


def print_any(rows: list[dict[str, object]]) -> None:
    print("\nAn update of Metrics, and of a ConfusionMetric and a ScoreMetric: in brackets the share (best, median)\n")
    for row in rows:
        whole, parts = row["Metrics"], row["parts"]
        share = whole / parts
        print(f"{row['batch']:<25}{spell(whole * 1e9):>12}{spell(parts * 1e9):>12} ({share:.2f}, {share.median:.2f})")


def main() -> None:
    """Print the table; save the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="save the figures there")
    parser.add_argument("--classes", type=int, default=10, help="number of classes")
    parser.add_argument("--quick", action="store_true", help="fewer runs, and nothing that PyTorch compiles")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = machine()
    print_machine(found)
    kinds = [(size, kind) for size in BATCHES for kind in ("labels", "logits")]
    rows = [measure_update(options.classes, size, kind, quick=options.quick) for size, kind in kinds]
    rows.append(measure_compute(options.classes, quick=options.quick))
    for number in (MANY, 100 * MANY):
        rows += measure_many_classes(number, quick=options.quick)
    of_any = measure_any(options.classes, quick=options.quick)
    by_hand = measure_by_hand(quick=options.quick)
    print_rows(rows, options.classes)
    print_any(of_any)
    print_by_hand(by_hand)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(
            json.dumps({"machine": found, "classes": options.classes, "rows": rows + of_any + by_hand}, indent=1)
        )


if __name__ == "__main__":
    main()
