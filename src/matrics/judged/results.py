"""What judged_interval() and judged_compare() return."""

from __future__ import annotations

from typing import Any, NamedTuple

from matrics.arrays import Array
from matrics.engine.results import frame_of, short_repr, to_dict


class JudgedInterval(NamedTuple):
    """An interval as from :func:`matrics.judged_interval`: the fields of :class:`matrics.Interval` and one more.

    Parameters
    ----------
    estimate, low, high, standard_error, undefined, status : array
        As of :class:`matrics.Interval`.
    effective_labels : array
        How many samples with true labels alone, drawn at random, would give this standard error.
    """

    estimate: Array
    low: Array
    high: Array
    standard_error: Array
    undefined: Array
    status: Array
    effective_labels: Array

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, as :func:`matrics.to_dict` gives them."""
        return to_dict(self)

    def to_frame(self) -> Any:
        """A data frame of pandas with a row for each element of the arrays."""
        return frame_of(self)
