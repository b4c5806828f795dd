"""The recomputed figures of the sources: a module for each source, with the functions of its figures in ``FIGURES``."""
