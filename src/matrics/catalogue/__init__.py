"""The machinery of the catalogue: the record of a measure, its registration, and the look-up by name."""
