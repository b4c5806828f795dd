"""Measures for the Trainer of Hugging Face: ``Trainer(..., compute_metrics=compute_metrics("mcc, f1"))``."""

from matrics._extras import requires

with requires("matrics.transformers needs", "torch", extra="torch"):
    from matrics._integrations.transformers import compute_metrics

__all__ = [
    "compute_metrics",
]
