"""Running metrics for Flax (``nnx.Metric``), with any measures."""

from matrics._extras import requires

with requires("matrics.flax needs", "flax", "jax", extra="flax"):
    from matrics._integrations.flax import ConfusionMetric, MarginMetric, Metrics, MultilabelMetric, ScoreMetric

__all__ = [
    "ConfusionMetric",
    "MarginMetric",
    "Metrics",
    "MultilabelMetric",
    "ScoreMetric",
]
