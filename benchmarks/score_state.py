"""Time ScoreState beside torchmetrics' AUROC and one bincount, and measure how wide its bounds are.

    python benchmarks/score_state.py

torchmetrics' binned AUROC has 1,001 thresholds, as many as the state has edges; the unbinned one keeps all scores, and
sorts them when it is asked. All run in turn, on the CPU, in one thread; every figure is the best of several runs, and
areas are compared first. "10 updates, 1 area" is an epoch of ten batches. Of the times nothing is asserted.
"""

from __future__ import annotations

import warnings

import numpy as np
from run import as_slow, machine, print_machine, spell  # (beside this file, as is timing; fixes the threads)
from sklearn import datasets, linear_model, model_selection, naive_bayes, pipeline, preprocessing
from timing import best

import torch  # isort: skip
from torchmetrics.classification import BinaryAUROC

from matrics import ScoreState

BATCHES = (128, 65_536)
MODELS = {
    "logistic regression": linear_model.LogisticRegression(max_iter=3000),
    "of scaled columns": pipeline.make_pipeline(
        preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=3000)
    ),
    "naive Bayes": naive_bayes.GaussianNB(),
}


def compiled_step() -> object:
    """An update of a state as one program."""
    return torch.compile(ScoreState.update, fullgraph=True, dynamic=False)


def measure(size: int) -> dict[str, dict[str, float]]:
    """Seconds of an update, and of ten updates and one area."""
    random = torch.Generator().manual_seed(size)
    y_true = torch.randint(0, 2, (size,), generator=random)
    scores = torch.rand(size, generator=random) * 0.7 + 0.3 * y_true
    bins, labels, of_numpy = (scores.numpy() * 2000).astype(np.int64), y_true.numpy(), scores.numpy()
    empty, host = ScoreState.zeros(like=scores), ScoreState.zeros()
    binned, unbinned = BinaryAUROC(thresholds=1001, validate_args=False), BinaryAUROC(validate_args=False)
    compiled = compiled_step()

    def update(metric: object) -> None:
        metric.reset()
        metric.update(scores, y_true)

    def epoch(metric: object) -> object:
        metric.reset()
        for _ in range(10):
            metric.update(scores, y_true)
        return metric.compute()

    def our_epoch(step: object) -> object:
        state = empty
        for _ in range(10):
            state = step(state, y_true, scores)
        return state.roc_auc()

    areas = [our_epoch(compiled), our_epoch(ScoreState.update)]
    exact = float(epoch(unbinned))
    assert all(area.low - 1e-5 <= exact <= area.high + 1e-5 for area in areas), "the bounds do not hold"
    assert abs(float(epoch(binned)) - float(areas[0].value)) < 1e-5, "areas differ"
    updates = {
        "one bincount": lambda: np.bincount(bins, minlength=2004),
        "NumPy": lambda: host.update(labels, of_numpy),
        "PyTorch": lambda: empty.update(y_true, scores),
        "PyTorch, compiled": lambda: compiled(empty, y_true, scores),
        "torchmetrics, binned": lambda: update(binned),
        "torchmetrics, unbinned": lambda: update(unbinned),
    }
    epochs = {
        "PyTorch": lambda: our_epoch(ScoreState.update),
        "PyTorch, compiled": lambda: our_epoch(compiled),
        "torchmetrics, binned": lambda: epoch(binned),
        "torchmetrics, unbinned": lambda: epoch(unbinned),
    }
    runs = 100 if size < 1000 else 10
    rows = {}
    for name, calls in {"update": updates, "10 updates, 1 area": epochs}.items():
        rows[name] = dict(zip(calls, best(*calls.values(), runs=runs), strict=True))
    return rows


def gaps() -> list[tuple[str, str, list[float]]]:
    """How far apart the bounds are, in 1,000 bins, on scores of five folds that a model has not seen."""
    rows = []
    for data, load in (("breast cancer", datasets.load_breast_cancer), ("digits", datasets.load_digits)):
        X, y = load(return_X_y=True)
        n = None if data == "breast cancer" else 10
        for name, model in MODELS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of iterations, and of the logarithm of 0
                logs = model_selection.cross_val_predict(model, X, y, method="predict_log_proba")
            odds = log_odds(np.maximum(logs, -1e4))
            states = [
                (ScoreState.zeros(num_classes=n), np.exp(logs)),
                (ScoreState.zeros(num_classes=n, spacing="logit"), np.exp(logs)),
                (ScoreState.zeros(num_classes=n, low=-200, high=200), odds),
            ]
            found = []
            for empty, scores in states:
                state = empty.update(y, scores if n else scores[:, 1])
                found += [float(area.high - area.low) for area in (state.roc_auc(), state.average_precision())]
            rows.append((data, name, found))
    return rows


def log_odds(logs: np.ndarray) -> np.ndarray:
    """Of each class against the rest, from logarithms of probabilities, which do not saturate."""
    others = np.stack([np.delete(logs, k, axis=1) for k in range(logs.shape[1])], axis=1)
    largest = others.max(-1)
    return logs - largest - np.log(np.exp(others - largest[..., None]).sum(-1))


if __name__ == "__main__":
    print_machine(machine())
    print("ScoreState of 1,000 bins; in brackets how many times as long as one bincount, or as PyTorch's state\n")
    for size in BATCHES:
        for name, row in measure(size).items():
            floor = row.get("one bincount", row["PyTorch"])
            cells = [f"{kind} {spell(taken * 1e9)} ({as_slow(taken / floor)})" for kind, taken in row.items()]
            print(f"batch {size:,}, {name}: " + ", ".join(cells))
    print("\nDistance of the bounds, mean over classes: of the ROC area and the average precision\n")
    print(f"{'':<36}{'equal bins':>20}{'spacing of logits':>22}{'bins of log-odds':>22}")
    for data, name, found in gaps():
        print(f"{data + ', ' + name:<36}" + "".join(f"{gap:>11.1e}" for gap in found))
