"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

from matrics.study.line import DiscriminationLine, LineStatus, discrimination_line

__all__ = ["DiscriminationLine", "LineStatus", "discrimination_line"]
