"""Confusion matrices of samples that all have the labels of a judge, and of which some have true labels."""
