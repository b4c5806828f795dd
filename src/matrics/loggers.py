"""Scores into what records a training run: TensorBoard, Weights & Biases, MLflow, and plain CSV and JSON lines.

No logger is imported: a writer, a run or a path decides.
"""

from matrics._integrations.loggers.calls import log_confusion_matrix, log_to

__all__ = [
    "log_confusion_matrix",
    "log_to",
]
