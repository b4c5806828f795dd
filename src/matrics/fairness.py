"""Differences between groups: any measure of each group, and the usual criteria of fairness.

>>> import matrics
>>> result = matrics.fairness.equal_opportunity([[[45, 5], [5, 45]], [[40, 10], [10, 40]]])
>>> print(f"{result.difference:.2f}")
0.10
"""

from matrics._scoring.fairness import demographic_parity, disparity, equal_opportunity, equalized_odds

__all__ = [
    "demographic_parity",
    "disparity",
    "equal_opportunity",
    "equalized_odds",
]
