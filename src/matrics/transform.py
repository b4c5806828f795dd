"""Transforms of stacks of confusion matrices: normalization, merged classes, another prevalence.

>>> import matrics
>>> matrics.transform.normalize([[45, 5], [10, 40]], over="true")
array([[0.9, 0.1],
       [0.2, 0.8]])
"""

from matrics._stacks.merging import merge_classes
from matrics._stacks.prevalence import at_prevalence
from matrics._stacks.transform import normalize, one_vs_rest, pair_counts, rebalance, repair, transpose, weight_cells

__all__ = [
    "at_prevalence",
    "merge_classes",
    "normalize",
    "one_vs_rest",
    "pair_counts",
    "rebalance",
    "repair",
    "transpose",
    "weight_cells",
]
