"""Several labels a sample: matrices of each label or each sample, averages over them, and their running state."""
