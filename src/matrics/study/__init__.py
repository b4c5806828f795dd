"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

from matrics.study.agreement import Agreement, agreement
from matrics.study.pairs import PairShares, consistency, discriminancy
from matrics.study.redundancy import Redundancy, Representation, redundancy

__all__ = [
    "Agreement",
    "PairShares",
    "Redundancy",
    "Representation",
    "agreement",
    "consistency",
    "discriminancy",
    "redundancy",
]
