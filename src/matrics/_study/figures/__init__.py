"""The figures of the sources, computed anew: one module for each source, with ``FIGURES``, functions by figure name."""
