"""matrics on dask: lazy scores, counts and intervals of arrays in chunks, and counts of data frames in partitions."""

from matrics.integrations.dask.counting import confusion_matrix
from matrics.integrations.dask.frames import count_frame
from matrics.integrations.dask.intervals import interval
from matrics.integrations.dask.scoring import score

__all__ = ["confusion_matrix", "count_frame", "interval", "score"]
