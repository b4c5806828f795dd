"""Evaluate a function of one stack of confusion matrices, on any array library."""
