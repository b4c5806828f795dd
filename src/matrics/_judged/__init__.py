"""Matrices of many samples that a judge has labelled, and few that people have."""
