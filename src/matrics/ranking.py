"""Measures of scores: areas under curves, the curves, top-k, and every measure at every threshold.

``interval`` gives confidence limits, ``compare`` compares models on the same samples, and ``best_threshold`` chooses a
threshold under constraints. Losses and calibration are in :mod:`matrics.probabilities`.

>>> import matrics
>>> matrics.ranking.roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
np.float64(0.75)
"""

from matrics._ranking.areas import average_precision, partial_roc_auc, roc_auc
from matrics._ranking.at_k import lift_at_k, precision_at_k, recall_at_k
from matrics._ranking.best_interval import best_threshold
from matrics._ranking.cost_saved import cost_saved
from matrics._ranking.curves import (
    precision_at_recall,
    precision_recall_curve,
    recall_at_precision,
    recall_at_specificity,
    roc_curve,
)
from matrics._ranking.decisions import decision_curve
from matrics._ranking.drift import score_drift
from matrics._ranking.inference.compare import compare
from matrics._ranking.inference.interval import interval
from matrics._ranking.thresholds import confusion_matrix, threshold_curve
from matrics._ranking.top_k import top_k_accuracy, top_k_recall
from matrics._ranking.variance import roc_auc_variance

__all__ = [
    "average_precision",
    "best_threshold",
    "compare",
    "confusion_matrix",
    "cost_saved",
    "decision_curve",
    "interval",
    "lift_at_k",
    "partial_roc_auc",
    "precision_at_k",
    "precision_at_recall",
    "precision_recall_curve",
    "recall_at_k",
    "recall_at_precision",
    "recall_at_specificity",
    "roc_auc",
    "roc_auc_variance",
    "roc_curve",
    "score_drift",
    "threshold_curve",
    "top_k_accuracy",
    "top_k_recall",
]
