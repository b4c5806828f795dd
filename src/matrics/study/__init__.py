"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

from matrics.study.line import DiscriminationLine, LineStatus, discrimination_line
from matrics.study.pairs import PairShares, consistency, discriminancy
from matrics.study.sources.recompute import Reproduced
from matrics.study.sources.records import Record
from matrics.study.sources.reproduction import Reproduction, reproduce

__all__ = [
    "DiscriminationLine",
    "LineStatus",
    "PairShares",
    "Record",
    "Reproduced",
    "Reproduction",
    "consistency",
    "discriminancy",
    "discrimination_line",
    "reproduce",
]
