"""Values at the end of an epoch: ``compute`` of the metrics for PyTorch beside that of torchmetrics.

    python benchmarks/compute.py [--seconds 0.5]

Nine measures of ten classes, and accuracy and macro F1 alone of few and many classes, after one update. Neither may
keep a computed value. The figures are the best processor times of one thread, of calls in turn; torchmetrics has
``validate_args=False``, and a MetricCollection where there are several measures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch  # isort: skip
import torchmetrics.classification as rival
from machine import machine, print_machine  # (beside this file)
from training import MEASURES, collection

from matrics.torch import ConfusionMetric, MarginMetric

SAMPLES = 4096


def best(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """The best processor time of each call in microseconds, of runs in turn."""
    found = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    until = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < until:
        for name, call in calls.items():
            number, begin = 0, time.process_time()
            while number == 0 or time.process_time() - begin < 0.005:
                call()
                number += 1
            found[name] = min(found[name], (time.process_time() - begin) / number)
    return {name: 1e6 * value for name, value in found.items()}


def without_cache(metric: Any) -> Callable[[], Any]:
    """A call of ``compute`` of torchmetrics, which keeps values otherwise."""
    members = metric.values() if hasattr(metric, "keys") else [metric]
    for member in members:
        member.compute_with_cache = False
    return metric.compute


def rows(seconds: float) -> dict[str, tuple[float, float]]:
    """Times of ours and of torchmetrics."""
    found = {}
    cases = [(10, MEASURES, "nine measures")]
    cases += [(n, [name], name) for n in (10, 1000, 50_000) for name in ("accuracy", "f1")]
    for n, measures, title in cases:
        random = torch.Generator().manual_seed(n)
        true, pred = (torch.randint(0, n, (SAMPLES,), generator=random) for _ in range(2))
        if len(measures) > 1:
            theirs: Any = collection(n)
        elif measures == ["accuracy"]:
            theirs = rival.MulticlassAccuracy(n, average="micro", validate_args=False)
        else:
            theirs = rival.MulticlassF1Score(n, average="macro", validate_args=False)
        ours = (ConfusionMetric if n <= 1000 else MarginMetric)(n, measures)
        margins = MarginMetric(n, measures) if len(measures) == 1 else ours
        for metric in (ours, margins):
            metric.update(true, pred)
        theirs.update(pred, true)
        calls = {"ours": ours.compute, "margins": margins.compute, "theirs": without_cache(theirs)}
        taken = best(calls, seconds)
        found[f"{title}, {n:,} classes"] = (taken["ours"], taken["margins"], taken["theirs"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each call")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print_machine(machine())
    head = f"| {'µs':30} |  matrics | MarginMetric | torchmetrics | ratio |"
    print(head + f"\n|{'-' * 32}|{'-' * 9}:|{'-' * 13}:|{'-' * 13}:|{'-' * 6}:|")
    for name, (ours, margins, theirs) in rows(options.seconds).items():
        print(f"| {name:30} | {ours:8.1f} | {margins:12.1f} | {theirs:12.1f} | {theirs / min(ours, margins):4.2f}× |")


if __name__ == "__main__":
    main()
