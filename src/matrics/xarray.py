"""Confusion matrices with named dimensions: DataArrays of xarray in, Datasets out.

The import gives each DataArray ``da.matrics.score(...)`` and ``da.matrics.interval(...)``.
"""

from matrics._extras import requires

with requires("xarray", "xarray"):
    from matrics._integrations.xarray import MatricsAccessor, confusion_matrix, interval, score

__all__ = [
    "MatricsAccessor",
    "confusion_matrix",
    "interval",
    "score",
]
