"""Running metrics for PyTorch."""

from matrics._integrations.tensors.sync import SyncError
from matrics._integrations.torch.metrics import ConfusionMetric, MarginMetric, Metrics, MultilabelMetric, ScoreMetric

__all__ = ["ConfusionMetric", "MarginMetric", "Metrics", "MultilabelMetric", "ScoreMetric", "SyncError"]
