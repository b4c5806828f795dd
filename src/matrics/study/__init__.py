"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

from matrics.study.imbalance import (
    MULTI_CLASS_PROBLEMS,
    TWO_CLASS_PROBLEMS,
    ImbalanceProblem,
    StabilityResult,
    precision_at_ratio,
    stability_experiment,
)
from matrics.study.line import DiscriminationLine, LineStatus, discrimination_line
from matrics.study.pairs import PairShares, consistency, discriminancy
from matrics.study.sources.recompute import Reproduced
from matrics.study.sources.records import Record
from matrics.study.sources.reproduction import Reproduction, reproduce

__all__ = [
    "MULTI_CLASS_PROBLEMS",
    "TWO_CLASS_PROBLEMS",
    "DiscriminationLine",
    "ImbalanceProblem",
    "LineStatus",
    "PairShares",
    "Record",
    "Reproduced",
    "Reproduction",
    "StabilityResult",
    "consistency",
    "discriminancy",
    "discrimination_line",
    "precision_at_ratio",
    "reproduce",
    "stability_experiment",
]
