"""Stacks in, stacks out: transform, merge classes, simulate."""
