"""Counting the labels of masks beside torchmetrics: 10 × 512 × 512 labels of 21 classes, in one thread.

    python benchmarks/masks.py [--runs 15]

A function, a state and the metrics for PyTorch and torchmetrics, for int64 and uint8; the best processor times of calls
in turn, in milliseconds. torchmetrics has ``validate_args=False``, and gets uint8 as int64, which it needs. Counts are
compared first.
"""

from __future__ import annotations

import argparse
import time

import torch  # isort: skip
import numpy as np
import torchmetrics.classification as rival
from machine import machine, print_machine  # (beside this file)
from timing import best

import matrics
from matrics.torch import ConfusionMetric
from matrics.torchmetrics import ConfusionMetric as Torchmetric

SHAPE, CLASSES = (10, 512, 512), 21


def labels(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """True labels in blocks as of objects, and predictions of which nine of ten are right."""
    random = np.random.default_rng(0)
    coarse = random.integers(0, CLASSES, (SHAPE[0], 32, 32)).repeat(16, 1).repeat(16, 2)
    wrong = random.integers(0, CLASSES, SHAPE)
    pred = np.where(random.random(SHAPE) < 0.9, coarse, wrong)
    return torch.from_numpy(coarse).to(dtype), torch.from_numpy(pred).to(dtype)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print_machine(machine())
    names = ("confusion_matrix, NumPy", "confusion_matrix", "ConfusionState", "ConfusionMetric", "as a torchmetric")
    print(f"| {'ms':24} |   int64 |   uint8 |\n|{'-' * 26}|{'-' * 8}:|{'-' * 8}:|")
    columns = []
    for dtype in (torch.int64, torch.uint8):
        true, pred = labels(dtype)
        flat = true.flatten(), pred.flatten()  # a batch has a matrix each in functions and states
        on_host = flat[0].numpy(), flat[1].numpy()
        state = matrics.ConfusionState.zeros(CLASSES, like=true)
        ours, both = ConfusionMetric(CLASSES, "iou"), Torchmetric(CLASSES, "iou")
        theirs = rival.MulticlassConfusionMatrix(CLASSES, validate_args=False)
        calls = (
            lambda on_host=on_host: matrics.confusion_matrix(*on_host, num_classes=CLASSES),
            lambda flat=flat: matrics.confusion_matrix(*flat, num_classes=CLASSES),
            lambda flat=flat, state=state: state.update(*flat),
            lambda true=true, pred=pred, ours=ours: ours.update(true, pred),
            lambda true=true, pred=pred, both=both: both.update(pred, true),
            lambda true=true, pred=pred, theirs=theirs: theirs.update(pred.long(), true.long()),
        )
        theirs.update(pred.long(), true.long())
        assert torch.equal(theirs.compute(), calls[1]()), "counts differ"
        columns.append(best(*calls, runs=options.runs, clock=time.process_time))
    for name, *taken in zip((*names, "torchmetrics"), *columns, strict=True):
        print(f"| {name:24} | {1e3 * taken[0]:7.2f} | {1e3 * taken[1]:7.2f} |")
    ratios = [theirs / max(ours) for *ours, theirs in columns]
    print(f"\ntorchmetrics' time over the slowest of ours: {ratios[0]:.2f} (int64), {ratios[1]:.2f} (uint8)")


if __name__ == "__main__":
    main()
