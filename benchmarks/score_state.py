"""Time metrics of scores beside torchmetrics, and measure their memory and the width of their bounds.

    python benchmarks/score_state.py [--before CHECKOUT] [--rounds N]

torchmetrics' AUROC is timed as it comes, which keeps all scores and sorts them, and with ``thresholds=200``. All run in
turn, on the CPU, in one thread; every figure is the best of several runs. With ``--before``, the metric of another
checkout of this library is timed as well, by another process whose runs alternate with ours. Of the times nothing is
asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from run import machine, print_machine  # (beside this file, as is timing; fixes the threads)
from sklearn import datasets, linear_model, model_selection, naive_bayes, pipeline, preprocessing
from timing import best

import torch  # isort: skip
from torchmetrics.classification import BinaryAUROC, MulticlassAUROC

from matrics import ScoreState
from matrics.torch import ScoreMetric

SIZES = ((128, 10), (65_536, 10), (65_536, 2), (65_536, None))
METRICS = {"AUC, AP, ECE": None, "AUC, AP": "roc_auc, average_precision"}
MODELS = {
    "logistic regression": linear_model.LogisticRegression(max_iter=3000),
    "logistic regression, scaled columns": pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=3000)
    ),
    "naive Bayes": naive_bayes.GaussianNB(),
}


def batch(size: int, n: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Labels and logits of class 1 of two, or of n classes."""
    random = torch.Generator().manual_seed(size)
    y_true = torch.randint(0, n or 2, (size,), generator=random)
    logits = torch.randn(size, n, generator=random) if n else torch.randn(size, generator=random) + y_true
    return y_true, logits


def ours() -> dict[str, dict[str, float]]:
    """Milliseconds of an update and of a compute of our metrics, and the MiB of their counts."""
    rows = {}
    for size, n in SIZES:
        y_true, logits = batch(size, n)
        for name, metrics in METRICS.items():
            metric = ScoreMetric(n, metrics, from_logits=True)
            compiled = torch.compile(ScoreMetric(n, metrics, from_logits=True).update, fullgraph=True)
            compiled(y_true, logits)
            calls = (
                lambda y=y_true, x=logits, m=metric: m.update(y, x),
                lambda y=y_true, x=logits, c=compiled: c(y, x),
                metric.compute,
            )
            update, in_graph, compute = best(*calls, runs=200 if size < 1000 else 20)
            bytes_of_metric = sum(x.numel() * x.element_size() for x in metric.buffers())
            rows[f"{size:,} × {n or 1}, {name}"] = {
                "update": update * 1e3,
                "update, compiled": in_graph * 1e3,
                "compute": compute * 1e3,
                "MiB": bytes_of_metric / 2**20,
            }
    return rows


def theirs() -> dict[str, dict[str, float]]:
    """The same of torchmetrics, after one update."""
    rows = {}
    for size, n in SIZES:
        y_true, logits = batch(size, n)
        for name, thresholds in (("exact", None), ("thresholds=200", 200)):
            options: dict[str, Any] = {"thresholds": thresholds, "validate_args": False}
            metric = MulticlassAUROC(n, **options) if n else BinaryAUROC(**options)

            def update(m: Any = metric, y: torch.Tensor = y_true, x: torch.Tensor = logits) -> None:
                m.reset()
                m.update(x, y)

            def compute(m: Any = metric) -> object:
                m._computed = None
                return m.compute()

            took, took_compute = best(update, compute, runs=20 if size < 1000 else 3)
            rows[f"{size:,} × {n or 1}, {name}"] = {"update": took * 1e3, "compute": took_compute * 1e3}
    return rows


def of_both(checkout: Path | None, rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Our figures, and perhaps those of another checkout, each the best of rounds in turn."""
    sources = {"now": Path(__file__).parents[1] / "src"} | ({} if checkout is None else {"before": checkout / "src"})
    found: dict[str, list[Any]] = {name: [] for name in sources}
    for _ in range(rounds):
        for name, source in sources.items():
            environment = {**os.environ, "PYTHONPATH": str(source)}
            command = [sys.executable, "-W", "ignore", __file__, "--ours"]
            run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
            found[name].append(json.loads(run.stdout))
    return {
        name: {row: {key: min(x[row][key] for x in runs) for key in runs[0][row]} for row in runs[0]}
        for name, runs in found.items()
    }


def gaps() -> list[tuple[str, str, list[float]]]:
    """How far apart the bounds are, on scores of five folds that a model has not seen."""
    rows = []
    for data, load in (("breast cancer", datasets.load_breast_cancer), ("digits", datasets.load_digits)):
        X, y = load(return_X_y=True)
        n = None if data == "breast cancer" else 10
        for name, model in MODELS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of iterations, and of the logarithm of 0
                logs = model_selection.cross_val_predict(model, X, y, method="predict_log_proba")
            logs = np.maximum(logs, -1e4)
            probabilities = np.exp(logs)
            equal = ScoreState.zeros(num_classes=n, edges=np.linspace(0, 1, 1001))
            states = [
                equal.update(y, probabilities if n else probabilities[:, 1]),
                ScoreState.zeros(num_classes=n).update(y, probabilities if n else probabilities[:, 1]),
                ScoreState.zeros(num_classes=n).update(y, logits=logs if n else logs[:, 1] - logs[:, 0]),
            ]
            areas = [area for state in states for area in (state.roc_auc(), state.average_precision())]
            rows.append((data, name, [float(area.high - area.low) for area in areas]))
    return rows


def print_rows(title: str, rows: dict[str, dict[str, float]]) -> None:
    """A table with a line for each row."""
    print(f"\n{title}\n")
    columns = list(next(iter(rows.values())))
    print(f"{'batch, metrics':<30}" + "".join(f"{column:>20}" for column in columns))
    for name, row in rows.items():
        print(f"{name:<30}" + "".join(f"{row[column]:>20.3f}" for column in columns))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another checkout of this library, to time as well")
    parser.add_argument("--rounds", type=int, default=3, help="of both processes")
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        print(json.dumps(ours()))
        sys.exit()
    print_machine(machine())
    for name, rows in of_both(options.before, options.rounds).items():
        print_rows(f"ScoreMetric of PyTorch, {name}: milliseconds, and the memory of the counts", rows)
    print_rows("torchmetrics: milliseconds, the update after a reset", theirs())
    print("\nDistance of the bounds, mean over classes: of the ROC area and the average precision\n")
    print(f"{'':<50}{'1,000 equal bins':>22}{'probabilities':>22}{'logits':>22}")
    for data, name, found in gaps():
        print(f"{data + ', ' + name:<50}" + "".join(f"{gap:>11.1e}" for gap in found))
