"""matrics on dask: lazy scores, counts and intervals of arrays in chunks, and counts of data frames in partitions."""

from matrics._extras import requires

with requires("matrics.dask needs", "dask", extra="dask"):
    from matrics._integrations.dask import confusion_matrix, count_frame, interval, score

__all__ = [
    "confusion_matrix",
    "count_frame",
    "interval",
    "score",
]
