"""Similarity of a class's samples and its predictions, in coefficients of overlap, of matching, and beyond chance."""

# ruff: noqa: F403 (each module lists its public names)
from matrics._metrics.similarity.overlap import *  # isort: skip
from matrics._metrics.similarity.matching import *  # isort: skip
from matrics._metrics.similarity.logarithmic import *  # isort: skip
from matrics._metrics.similarity.beyond_chance import *  # isort: skip
from matrics._metrics.similarity.counts_beyond_chance import *  # isort: skip
from matrics._metrics.similarity import overlap, matching, logarithmic, beyond_chance, counts_beyond_chance  # isort: skip

__all__: list[str] = []
__all__ += overlap.__all__
__all__ += matching.__all__
__all__ += logarithmic.__all__
__all__ += beyond_chance.__all__
__all__ += counts_beyond_chance.__all__
