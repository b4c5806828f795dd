"""The sources' figures: a module a source, with what it draws in ``FIGURES``."""
