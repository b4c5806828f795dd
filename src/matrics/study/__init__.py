"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

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

__all__ = [
    "MULTI_CLASS_PROBLEMS",
    "TWO_CLASS_PROBLEMS",
    "Certificate",
    "DiscriminationLine",
    "ImbalanceProblem",
    "LineStatus",
    "StabilityResult",
    "Verdict",
    "Witness",
    "certificate",
    "discrimination_line",
    "precision_at_ratio",
    "stability_experiment",
]
