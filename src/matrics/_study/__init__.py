"""Measures of measures: agreement, discrimination, certificates, and the sources' numbers."""
