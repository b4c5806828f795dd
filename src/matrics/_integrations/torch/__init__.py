"""Running metrics for PyTorch."""

from matrics._integrations.tensors.sync import SyncError
from matrics._integrations.torch.metrics import ConfusionMetric, MarginMetric, MultilabelMetric, ScoreMetric

__all__ = ["ConfusionMetric", "MarginMetric", "MultilabelMetric", "ScoreMetric", "SyncError"]
