"""Measures of predicted probabilities: losses, calibration, and the expected confusion matrix.

``interval`` gives confidence limits of the measures of calibration.

>>> import matrics
>>> matrics.probabilities.brier_score([0, 1, 1], [0.1, 0.7, 0.9]).round(4)
np.float64(0.0367)
"""

from matrics._judged.expected import expected_confusion_matrix, expected_interval
from matrics._ranking.brier import brier_decomposition, brier_score
from matrics._ranking.calibration import expected_calibration_error, reliability_curve
from matrics._ranking.inference.recalibrated import interval
from matrics._ranking.losses import log_loss

__all__ = [
    "brier_decomposition",
    "brier_score",
    "expected_calibration_error",
    "expected_confusion_matrix",
    "expected_interval",
    "interval",
    "log_loss",
    "reliability_curve",
]
