"""Measures of measures: whether two of them agree, which tells more apart, and which properties each has."""

from matrics.study.certificates import Certificate, Verdict, Witness, certificate

__all__ = ["Certificate", "Verdict", "Witness", "certificate"]
