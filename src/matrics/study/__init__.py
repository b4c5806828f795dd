"""Measures of measures: do two of them agree, which tells more apart, and which properties does each have?"""

__all__: list[str] = []
