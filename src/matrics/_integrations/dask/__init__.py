"""Lazy scores, counts and intervals of arrays in chunks, and counts of data frames in partitions."""

from matrics._integrations.dask.counting import confusion_matrix
from matrics._integrations.dask.frames import count_frame
from matrics._integrations.dask.intervals import interval
from matrics._integrations.dask.scoring import score

__all__ = ["confusion_matrix", "count_frame", "interval", "score"]
