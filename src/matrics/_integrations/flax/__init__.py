"""Running metrics for Flax."""

from matrics._integrations.flax.metrics import ConfusionMetric, MarginMetric, Metrics, MultilabelMetric, ScoreMetric

__all__ = ["ConfusionMetric", "MarginMetric", "Metrics", "MultilabelMetric", "ScoreMetric"]
