"""A value with its limits, as tables of a report show it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matrics._uncertainty.results import Interval
from matrics._wording import between, with_limits

__all__ = ["Limited"]


@dataclass(frozen=True)
class Limited:
    """A value with its limits, and the code of :class:`matrics.IntervalStatus`."""

    value: float
    low: float
    high: float
    status: int = 0

    @classmethod
    def of(cls, interval: Interval, place: int | tuple[int, ...]) -> Limited:
        """One element of an interval of arrays."""
        estimate, low, high = (float(part[place]) for part in interval[:3])
        return cls(estimate, low, high, int(interval.status[place]))

    @property
    def between(self) -> str:
        """The limits in words; empty if there are none."""
        return "" if math.isnan(self.low) or math.isnan(self.high) else between(self.low, self.high, self.value)

    @property
    def text(self) -> str:
        """The value, and its limits in brackets."""
        return with_limits(self.value, self.low, self.high)[0] + (f" ({self.between})" if self.between else "")

    @property
    def is_rough(self) -> bool:
        """Whether the limits that are there are to be taken with care, as with few samples."""
        return self.status != 0 and bool(self.between)
