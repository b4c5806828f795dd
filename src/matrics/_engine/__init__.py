"""Evaluate functions of a stack of confusion matrices, with any array library."""
