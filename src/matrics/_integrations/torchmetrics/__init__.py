"""Running metrics for torchmetrics and Lightning."""

from matrics._integrations.torchmetrics.metrics import ConfusionMetric, MarginMetric, MultilabelMetric, ScoreMetric

__all__ = ["ConfusionMetric", "MarginMetric", "MultilabelMetric", "ScoreMetric"]
