"""Random confusion matrices: with given class sizes, with known errors, and resampled from counts.

>>> import matrics, numpy
>>> rng = numpy.random.default_rng(0)
>>> matrics.simulate.random_matrices(3, 100, 5, rng=rng).shape
(5, 3, 3)
"""

from matrics._stacks.simulate import class_proportions, controlled_errors, random_matrices, resample

__all__ = [
    "class_proportions",
    "controlled_errors",
    "random_matrices",
    "resample",
]
