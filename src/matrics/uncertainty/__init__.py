"""How sure a score is: intervals for every measure."""

from matrics.uncertainty.interval import interval
from matrics.uncertainty.results import Interval, IntervalStatus

__all__ = ["Interval", "IntervalStatus", "interval"]
