"""The figure of the page on running scores: errors of running areas against the scale of the logits."""

import matplotlib as mpl
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torchmetrics.classification import BinaryAUROC

import matrics
from matrics._study.figures.style import draw, label_all, new_figure, styles

SCALES = np.geomspace(1e-3, 100, 21)
SETS, SAMPLES, RATE = 5, 20_000, 0.1
LEAST = 1e-9  # errors below this, which a logarithm cannot show, are drawn here


def errors(scale: float) -> dict[str, float]:
    """The mean absolute errors of three running areas, for float32 logits with this standard deviation."""
    found = {"1,000 equal bins of the probability": [], "torchmetrics, thresholds=200": [], "buckets of ScoreState": []}
    for seed in range(SETS):
        random = np.random.default_rng(seed)
        y_true = (random.random(SAMPLES) < RATE).astype(int)
        logits = ((random.normal(size=SAMPLES) + 2 * y_true - 2) * scale).astype(np.float32)
        exact = roc_auc_score(y_true, logits)
        equal = matrics.ScoreState.zeros(edges=np.linspace(0, 1, 1001)).update(y_true, logits=logits)
        other = BinaryAUROC(thresholds=200)
        other.update(torch.from_numpy(logits).sigmoid(), torch.from_numpy(y_true))
        ours = matrics.ScoreState.zeros().update(y_true, logits=logits)
        areas = (equal.roc_auc().value, other.compute(), ours.roc_auc().value)
        for each, area in zip(found.values(), areas, strict=True):
            each.append(abs(float(area) - exact))
    return {name: float(np.mean(each)) for name, each in found.items()}


def figure():
    """One line for each kind of running area."""
    rows = [errors(scale) for scale in SCALES]
    with mpl.rc_context({"svg.hashsalt": "matrics"}):
        made, (axes,) = new_figure("Error of a running area under the ROC curve", size=(5.2, 3.6))
        for name, look in zip(rows[0], styles(len(rows[0])), strict=True):
            draw(axes, SCALES, [max(row[name], LEAST) for row in rows], name, look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        label_all(made, [axes], "standard deviation of the logits", "absolute error")
    return made
