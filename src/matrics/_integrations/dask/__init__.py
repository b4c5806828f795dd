"""Lazy scores, counts and intervals of arrays in chunks, and counts of data frames in partitions."""
