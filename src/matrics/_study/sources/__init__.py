"""The printed numbers of the sources in a single file, and a module for each source that recomputes them."""
