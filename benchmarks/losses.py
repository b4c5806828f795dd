"""Time the gradients of soft measures as losses, beside the same written by hand.

    python benchmarks/losses.py [--quick] [--roads eager compiled ...] [--measures mcc ...] [--classes 2 10 100]

From logits through softmax to a loss and back: soft MCC, soft F1 (macro; of segmentation it is called Dice, and then is
one of each image) and EVE, each by ``soft_confusion_matrix`` and the measure, and by hand: a product of one-hot labels
and probabilities, then the formula in a few lines, with no care for 0/0. Roads of PyTorch: eager, compiled by inductor,
and ``torch.func.vmap`` over eight models; of JAX: ``jit``, and ``jit`` of ``vmap`` over eight models. All on the CPU in
one thread, ours and by hand in turn. Gradients are compared first. Of the times nothing is asserted. ``--quick`` has 10
classes, few runs, and compiles nothing of PyTorch.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

from run import machine, print_machine, spell  # (beside this file, as is timing; fixes the threads)
from timing import Time, best

import jax  # isort: skip
import jax.numpy as jnp  # isort: skip
import torch  # isort: skip

import matrics

BATCHES, CLASSES, MODELS = (128, 4096), (2, 10, 100), 8
MEASURES = ("mcc", "f1", "dice", "eve")
IMAGES = 16  # of the samples of a batch as pixels, for Dice
ROADS = ("eager", "compiled", "torch vmap", "jax jit", "jax vmap")
Loss = Callable[[Any, Any], Any]


def ours(measure: str, softmax: Callable[[Any], Any]) -> Loss:
    """The loss of matrics."""
    spec = {"f1": "f1:macro", "dice": "f1:macro", "eve": "eve(empty=zero)"}.get(measure, measure)
    metric = matrics.get_metric(spec)

    def loss(logits: Any, labels: Any) -> Any:
        if measure == "dice":
            logits, labels = logits.reshape(IMAGES, -1, logits.shape[-1]), labels.reshape(IMAGES, -1)
        return 1 - metric(matrics.soft_confusion_matrix(labels, softmax(logits)), zero_division=0).mean()

    return loss


def by_hand(measure: str, lib: Any, softmax: Callable[[Any], Any], one_hot: Callable[[Any, int], Any]) -> Loss:
    """The same, as somebody would write it."""

    def mcc(cm: Any) -> Any:
        rows, columns, total = cm.sum(-1), cm.sum(-2), cm.sum()
        spread = (total**2 - rows @ rows) * (total**2 - columns @ columns)
        return (cm.diagonal().sum() * total - rows @ columns) / lib.sqrt(spread)

    def f1(cm: Any) -> Any:
        return (2 * lib.diagonal(cm, 0, -2, -1) / (cm.sum(-1) + cm.sum(-2))).mean(-1)

    def eve(cm: Any) -> Any:
        rates = cm / cm.sum(-1)[:, None]
        values = lib.linalg.eigvalsh((rates + rates.T) / 2)
        shares = lib.clip(values, 0, None)
        shares = shares / shares.sum()
        positive = shares > 0
        return -(shares * lib.log(lib.where(positive, shares, 1.0))).sum() / math.log(len(cm))

    formula = {"mcc": mcc, "f1": f1, "dice": f1, "eve": eve}[measure]

    def loss(logits: Any, labels: Any) -> Any:
        n = logits.shape[-1]
        if measure == "dice":
            logits, labels = logits.reshape(IMAGES, -1, n), labels.reshape(IMAGES, -1)
        cm = one_hot(labels, n).swapaxes(-1, -2) @ softmax(logits)
        return 1 - formula(cm).mean()

    return loss


def torch_one_hot(labels: torch.Tensor, n: int) -> torch.Tensor:
    return (labels[..., None] == torch.arange(n)).float()  # one_hot has no rule for vmap


def calls_of(road: str, measure: str, size: int, n: int) -> list[Callable[[], Any]]:
    """The gradient by matrics and by hand, of the same logits."""
    random = torch.Generator().manual_seed(n)
    labels = torch.cat([torch.arange(n), torch.randint(0, n, (size - n,), generator=random)])
    models = (MODELS,) if road.endswith("vmap") else ()
    logits = torch.randn((*models, size, n), generator=random) + 2 * torch.eye(n)[labels]
    if road.startswith("jax"):
        softmax = jax.nn.softmax
        pair = ours(measure, softmax), by_hand(measure, jnp, softmax, jax.nn.one_hot)
        data = jnp.asarray(logits.numpy()), jnp.asarray(labels.numpy(), jnp.int32)
        grads = [jax.grad(loss) for loss in pair]
        mapped = [jax.vmap(grad, (0, None)) if models else grad for grad in grads]
        return [lambda f=f: f(*data).block_until_ready() for f in map(jax.jit, mapped)]
    pair = ours(measure, lambda x: x.softmax(-1)), by_hand(measure, torch, lambda x: x.softmax(-1), torch_one_hot)
    if models:
        mapped = [torch.func.vmap(torch.func.grad(loss), (0, None)) for loss in pair]
        return [lambda f=f: f(logits, labels) for f in mapped]
    logits.requires_grad_()
    if road == "compiled":
        torch._dynamo.reset()
        pair = [torch.compile(loss, fullgraph=True, dynamic=False) for loss in pair]
    return [lambda f=f: torch.autograd.grad(f(logits, labels), logits)[0] for f in pair]


def measure_pair(road: str, measure: str, size: int, n: int, *, quick: bool) -> list[Time]:
    """Seconds of a gradient by matrics, and by hand."""
    calls = calls_of(road, measure, size, n)
    found, expected = (torch.tensor(jax.device_get(call()) if "jax" in road else call().tolist()) for call in calls)
    largest = expected.abs().max().item()
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-3 * largest)
    (probe,) = best(calls[0], runs=2)
    repeats = max(1, int(2e-3 / probe))  # short runs and many of them, between what else the machine does
    repeated = [lambda call=call: [call() for _ in range(repeats)] for call in calls]
    runs = 10 if quick else max(10, min(100, int(1 / (probe * repeats))))
    return [taken / repeats for taken in best(*repeated, runs=runs)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10 classes, few runs, and nothing that PyTorch compiles")
    parser.add_argument("--roads", nargs="+", choices=ROADS, default=ROADS)
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=MEASURES)
    parser.add_argument("--classes", nargs="+", type=int, default=CLASSES)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print_machine(machine())
    print("Gradient of a loss: matrics, by hand, and in brackets how many times as long ours takes (best, median)\n")
    for road in options.roads:
        if road == "compiled" and options.quick:
            continue
        for measure in options.measures:
            for n in (10,) if options.quick else options.classes:
                for size in BATCHES:
                    mine, bare = measure_pair(road, measure, size, n, quick=options.quick)
                    ratio = mine / bare
                    times = f"{spell(mine * 1e9):>12}{spell(bare * 1e9):>12}"
                    name = f"{road:<11}{measure:<5} n = {n:<4} {size:>5} samples"
                    print(f"{name}{times} ({ratio:.2f}, {ratio.median:.2f})", flush=True)


if __name__ == "__main__":
    main()
