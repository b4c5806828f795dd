"""Logs of evaluations: one file a format, and what compares two runs."""
