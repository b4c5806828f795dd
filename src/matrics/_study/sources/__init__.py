"""The numbers printed in the sources: one file with all of them, and a module per source that recomputes them."""
