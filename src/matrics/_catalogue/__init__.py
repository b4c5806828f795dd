"""The catalogue of measures: the record of a measure, its registration, and the look-up by name."""
