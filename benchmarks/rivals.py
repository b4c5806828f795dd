"""The same six measures, and EVE, as others compute them: what run.py times beside ours.

`PANELS` makes of a stack a call that scores it, and returns the panel by name. What a library wants made of a matrix
beforehand (labels, weights, dicts) is made outside that call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn.metrics
import torch
from torchmetrics.functional import classification

PANEL = ["accuracy", "mcc", "cohen_kappa", "recall:macro", "precision:macro", "f1:macro"]
Panel = dict[str, np.ndarray]


def plain_panel(cm: Any, xp: Any = np) -> Panel:
    """What one writes by hand, in NumPy, PyTorch or JAX: the natural layout, divided without looking."""
    true, pred, tp = cm.sum(-1), cm.sum(-2), xp.diagonal(cm, 0, -2, -1)
    total, hits = true.sum(-1), tp.sum(-1)
    chance = (true * pred).sum(-1)
    covariance = total * hits - chance
    spread = (total**2 - (true**2).sum(-1)) * (total**2 - (pred**2).sum(-1))
    return {
        "accuracy": hits / total,
        "mcc": covariance / xp.sqrt(spread),
        "cohen_kappa": covariance / (total**2 - chance),
        "recall:macro": (tp / true).mean(-1),
        "precision:macro": (tp / pred).mean(-1),
        "f1:macro": (2 * tp / (true + pred)).mean(-1),
    }


def plain_eve(cm: np.ndarray) -> np.ndarray:
    """EVE by hand."""
    rates = cm / cm.sum(-1, keepdims=True)
    values = np.linalg.eigvalsh((rates + np.swapaxes(rates, -1, -2)) / 2)
    positive = np.where(values > 0, values, 0)
    shares = positive / positive.sum(-1, keepdims=True)
    logs = np.log(np.where(shares > 0, shares, 1))
    return -(shares * logs).sum(-1) / np.log(cm.shape[-1])


def labels(stack: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """True and predicted labels of every matrix, an item each."""
    cells = np.indices(stack.shape[-2:]).reshape(2, -1)
    return [tuple(np.repeat(cells, cm.astype(np.int64).ravel(), axis=1)) for cm in stack]


def gather(panels: list[list[float]]) -> Panel:
    return dict(zip(PANEL, np.asarray(panels, dtype=np.float64).T, strict=True))


def scikit_learn(stack: np.ndarray) -> Callable[[], Panel]:
    """A pair of labels a cell, weighted with its count: as fast as a pair an item for n = 2, 24 times for n = 100."""
    true, pred = np.indices(stack.shape[-2:]).reshape(2, -1)
    weights = list(stack.reshape(len(stack), -1))
    measures = (
        sklearn.metrics.accuracy_score,
        sklearn.metrics.matthews_corrcoef,
        sklearn.metrics.cohen_kappa_score,
        partial(sklearn.metrics.recall_score, average="macro"),
        partial(sklearn.metrics.precision_score, average="macro"),
        partial(sklearn.metrics.f1_score, average="macro"),
    )
    return lambda: gather([[measure(true, pred, sample_weight=w) for measure in measures] for w in weights])


def by_pycm(stack: np.ndarray) -> Callable[[], Panel]:
    """The constructor, which computes all of its statistics."""
    import pycm

    dicts = [{i: dict(enumerate(row)) for i, row in enumerate(cm)} for cm in stack.astype(int).tolist()]
    names = ("Overall ACC", "Overall MCC", "Kappa", "TPR Macro", "PPV Macro", "F1 Macro")

    def call() -> Panel:
        objects = [pycm.ConfusionMatrix(matrix=matrix) for matrix in dicts]
        return gather([[cm.overall_stat[name] for name in names] for cm in objects])

    return call


def torchmetrics(stack: np.ndarray) -> Callable[[], Panel]:
    """The functional measures of labels, an item each, in float32; there is none of matrices."""
    options = {"num_classes": stack.shape[-1], "validate_args": False}
    measures = (
        partial(classification.multiclass_accuracy, average="micro", **options),
        partial(classification.multiclass_matthews_corrcoef, **options),
        partial(classification.multiclass_cohen_kappa, **options),
        partial(classification.multiclass_recall, average="macro", **options),
        partial(classification.multiclass_precision, average="macro", **options),
        partial(classification.multiclass_f1_score, average="macro", **options),
    )
    pairs = [(torch.from_numpy(pred), torch.from_numpy(true)) for true, pred in labels(stack)]
    return lambda: gather([[float(measure(*pair)) for measure in measures] for pair in pairs])


def prob_conf_mat(stack: np.ndarray) -> Callable[[], Panel]:
    """Its metrics of a whole stack, after the five arrays that they start from, which are part of the call."""
    from prob_conf_mat.metrics import get_metric
    from prob_conf_mat.metrics.collection import generate_metric_computation_schedule

    names = ("acc", "mcc", "kappa", "recall@macro", "precision@macro", "f1@macro")
    metrics = [get_metric(name) for name in names]
    schedule = generate_metric_computation_schedule(tuple(metrics))

    def call() -> Panel:
        norm = stack / stack.sum((-2, -1), keepdims=True)
        condition, pred = norm.sum(-1), norm.sum(-2)
        known = {
            "norm_confusion_matrix": norm,
            "p_condition": condition,
            "p_pred": pred,
            "p_pred_given_condition": norm / condition[..., None],
            "p_condition_given_pred": norm / pred[..., None, :],
        }
        for metric in schedule:
            if metric.name not in known:
                value = metric(**{name: known[name] for name in metric.dependencies})
                known.update(dict.fromkeys([*metric.aliases, metric.name], value))
        return gather(np.stack([known[metric.name][:, 0] for metric in metrics], axis=1))

    return call


PANELS = {"torchmetrics": torchmetrics, "scikit-learn": scikit_learn, "PyCM": by_pycm}
if find_spec("prob_conf_mat"):  # no test needs it, so the extra "test" does not bring it
    PANELS = {"prob_conf_mat": prob_conf_mat, **PANELS}
warnings.filterwarnings("ignore", module="pycm|sklearn")
