"""Rows of labels of any number become one matrix a group: read in batches, and counted in one pass without sorting."""
