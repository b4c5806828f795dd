"""Loggers of scores of a training run: TensorBoard, Weights & Biases, MLflow, and plain CSV and JSON lines.

No logging library is imported: the type of the writer, a run or a path, selects the logger.
"""

from matrics._integrations.loggers.calls import log_confusion_matrix, log_to

__all__ = [
    "log_confusion_matrix",
    "log_to",
]
