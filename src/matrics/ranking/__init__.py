"""From scores to decisions: measures of rankings and probabilities, and every measure at every threshold."""

from matrics.ranking.areas import average_precision, partial_roc_auc, roc_auc
from matrics.ranking.best import BestThreshold, best_threshold
from matrics.ranking.best_interval import BestThresholdInterval, best_threshold_interval
from matrics.ranking.bounds import Bounded
from matrics.ranking.brier import BrierDecomposition, brier_decomposition, brier_score
from matrics.ranking.calibration import Reliability, expected_calibration_error, reliability_curve
from matrics.ranking.curves import (
    PrecisionRecallCurve,
    RocCurve,
    precision_at_recall,
    precision_recall_curve,
    recall_at_precision,
    roc_curve,
)
from matrics.ranking.losses import binary_cross_entropy, log_loss
from matrics.ranking.state import ScoreState
from matrics.ranking.thresholds import ThresholdCurve, threshold_confusion_matrix, threshold_curve
from matrics.ranking.top_k import top_k_accuracy, top_k_recall
from matrics.ranking.variance import roc_auc_variance

__all__ = [
    "BestThreshold",
    "BestThresholdInterval",
    "Bounded",
    "BrierDecomposition",
    "PrecisionRecallCurve",
    "Reliability",
    "RocCurve",
    "ScoreState",
    "ThresholdCurve",
    "average_precision",
    "best_threshold",
    "best_threshold_interval",
    "binary_cross_entropy",
    "brier_decomposition",
    "brier_score",
    "expected_calibration_error",
    "log_loss",
    "partial_roc_auc",
    "precision_at_recall",
    "precision_recall_curve",
    "recall_at_precision",
    "reliability_curve",
    "roc_auc",
    "roc_auc_variance",
    "roc_curve",
    "threshold_confusion_matrix",
    "threshold_curve",
    "top_k_accuracy",
    "top_k_recall",
]
