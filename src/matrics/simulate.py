"""Random confusion matrices: with given class sizes, with known errors, and resampled from counts.

>>> import matrics
>>> matrics.simulate.random_matrices(5, 3, rng=0).shape
(5, 3, 3)
"""

from matrics._stacks.simulate import class_proportions, controlled_errors, random_matrices, resample

__all__ = [
    "class_proportions",
    "controlled_errors",
    "random_matrices",
    "resample",
]
