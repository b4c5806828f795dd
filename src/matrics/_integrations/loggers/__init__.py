"""Loggers for the scores of a training run."""
