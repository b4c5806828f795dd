"""Confusion matrices of the groups of data frames and of database tables.

``count`` accepts frames of any library, and ``count_sql`` tables of a database, which counts the rows itself.
:func:`matrics.score_labels` counts and scores in a single call.
"""

from matrics._tables.counts import count
from matrics._tables.tally import count_sql

__all__ = [
    "count",
    "count_sql",
]
