"""The sources' own numbers: one file with all that they print, and a module a source that computes it again."""
