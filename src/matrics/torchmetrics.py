"""Running metrics for torchmetrics and Lightning; predictions come first, as in all of torchmetrics."""

from matrics._extras import requires

with requires("matrics.torchmetrics needs", "torchmetrics", "torch", extra="torchmetrics"):
    from matrics._integrations.torchmetrics import ConfusionMetric, MarginMetric, Metrics, MultilabelMetric, ScoreMetric

__all__ = [
    "ConfusionMetric",
    "MarginMetric",
    "Metrics",
    "MultilabelMetric",
    "ScoreMetric",
]
