"""Measures of measures: whether two agree, which discriminates more, and which properties each has."""

from matrics.study.agreement import Agreement, agreement
from matrics.study.certificates import Certificate, Verdict, Witness, certificate
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
from matrics.study.redundancy import Redundancy, Representation, redundancy
from matrics.study.sources.recompute import Reproduced
from matrics.study.sources.records import Record
from matrics.study.sources.reproduction import Reproduction, reproduce

__all__ = [
    "MULTI_CLASS_PROBLEMS",
    "TWO_CLASS_PROBLEMS",
    "Agreement",
    "Certificate",
    "DiscriminationLine",
    "ImbalanceProblem",
    "LineStatus",
    "PairShares",
    "Record",
    "Redundancy",
    "Representation",
    "Reproduced",
    "Reproduction",
    "StabilityResult",
    "Verdict",
    "Witness",
    "agreement",
    "certificate",
    "consistency",
    "discriminancy",
    "discrimination_line",
    "precision_at_ratio",
    "redundancy",
    "reproduce",
    "stability_experiment",
]
