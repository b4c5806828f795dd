"""The catalogue: one file a family, one function a measure. Importing a family registers its measures."""

from matrics.metrics import agreement, correlation, information, rates, spectral

__all__ = ["agreement", "correlation", "information", "rates", "spectral"]
