"""Running metrics for Flax."""

from matrics._integrations.flax.metrics import ConfusionMetric, MarginMetric, MultilabelMetric, ScoreMetric

__all__ = ["ConfusionMetric", "MarginMetric", "MultilabelMetric", "ScoreMetric"]
