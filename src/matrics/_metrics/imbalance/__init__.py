"""Measures made for imbalanced classes, of the whole matrix and of a class."""

# ruff: noqa: F403 (each module lists its public names)
from matrics._metrics.imbalance.overall import *  # isort: skip
from matrics._metrics.imbalance.by_class import *  # isort: skip
from matrics._metrics.imbalance import overall, by_class  # isort: skip

__all__: list[str] = []
__all__ += overall.__all__
__all__ += by_class.__all__
