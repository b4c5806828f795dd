"""Running metrics for PyTorch: modules that count on the device of the model, with any measures."""

from matrics._extras import requires

with requires("matrics.torch needs", "torch", extra="torch"):
    from matrics._integrations.torch import (
        ConfusionMetric,
        MarginMetric,
        Metrics,
        MultilabelMetric,
        ScoreMetric,
        SyncError,
    )

__all__ = [
    "ConfusionMetric",
    "MarginMetric",
    "Metrics",
    "MultilabelMetric",
    "ScoreMetric",
    "SyncError",
]
