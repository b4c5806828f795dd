"""Running metrics for torchmetrics and Lightning."""

from matrics._integrations.torchmetrics.metrics import (
    ConfusionMetric,
    MarginMetric,
    Metrics,
    MultilabelMetric,
    ScoreMetric,
)

__all__ = ["ConfusionMetric", "MarginMetric", "Metrics", "MultilabelMetric", "ScoreMetric"]
