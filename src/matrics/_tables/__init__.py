"""Data frames of pandas and Polars: labels in, scores out."""
