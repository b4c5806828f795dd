"""Scores and intervals of xarray's DataArrays of confusion matrices, as Datasets.

The import adds ``da.matrics.score(...)`` and ``da.matrics.interval(...)`` to each DataArray.
"""

from matrics._extras import requires

with requires("matrics.xarray needs", "xarray", extra="xarray"):
    from matrics._integrations.xarray import MatricsAccessor, confusion_matrix, interval, score

__all__ = [
    "MatricsAccessor",
    "confusion_matrix",
    "interval",
    "score",
]
