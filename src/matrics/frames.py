"""Confusion matrices of data frames and of tables in databases, one for each group.

``count`` takes frames of any library, and ``count_sql`` tables of a database, which counts its own rows.
:func:`matrics.score_labels` counts and scores in one call.
"""

from matrics._tables.counts import count
from matrics._tables.tally import count_sql

__all__ = [
    "count",
    "count_sql",
]
