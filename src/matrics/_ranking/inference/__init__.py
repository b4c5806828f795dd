"""Confidence limits of measures of scores, and comparisons of models by these measures."""
