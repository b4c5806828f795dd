"""Data frames of pandas and Polars: labels in, scores out."""

from matrics.tables.counts import FrameCounts, count_frame
from matrics.tables.table import to_frame

__all__ = ["FrameCounts", "count_frame", "to_frame"]
