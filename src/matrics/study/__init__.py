"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

from matrics.study.line import DiscriminationLine, LineStatus, discrimination_line
from matrics.study.pairs import PairShares, consistency, discriminancy
from matrics.study.sources.reproduction import reproduce

__all__ = [
    "DiscriminationLine",
    "LineStatus",
    "PairShares",
    "consistency",
    "discriminancy",
    "discrimination_line",
    "reproduce",
]
