"""Studies of measures: their agreement, discriminancy, and properties.

Also eigenvalues and Gershgorin bounds of stacks, and verbal scales of agreement.
"""

from matrics._catalogue.verbal import interpret, list_benchmarks
from matrics._metrics.spectral import eigenvalues, gershgorin_bounds
from matrics._study.agreement import Agreement, agreement
from matrics._study.certificates import Certificate, Verdict, Witness, certificate
from matrics._study.imbalance import (
    MULTI_CLASS_PROBLEMS,
    TWO_CLASS_PROBLEMS,
    ImbalanceProblem,
    StabilityResult,
    precision_at_ratio,
    stability_experiment,
)
from matrics._study.line import DiscriminationLine, LineStatus, discrimination_line
from matrics._study.pairs import PairShares, consistency, discriminancy
from matrics._study.redundancy import Redundancy, Representation, redundancy
from matrics._study.sources.recompute import Reproduced
from matrics._study.sources.records import Record
from matrics._study.sources.reproduction import Reproduction, reproduce

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
    "eigenvalues",
    "gershgorin_bounds",
    "interpret",
    "list_benchmarks",
    "precision_at_ratio",
    "redundancy",
    "reproduce",
    "stability_experiment",
]
