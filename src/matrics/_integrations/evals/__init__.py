"""Logs of evaluations: a file for each format, and the comparison of two runs."""
