"""One page with all that is found in predictions: ``report()``."""

from matrics.reporting.report import Report, report

__all__ = ["Report", "report"]
