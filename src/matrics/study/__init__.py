"""Measures of measures: do two of them agree, which tells more apart, and which properties does each have?"""

from matrics.study.sources.reproduction import reproduce

__all__ = ["reproduce"]
