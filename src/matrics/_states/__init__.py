"""Counts that grow batch by batch, exact up to 2**62 samples."""
