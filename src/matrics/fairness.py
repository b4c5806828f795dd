"""Differences between groups: any measure of each group, and the usual criteria of fairness.

>>> import matrics
>>> matrics.fairness.disparity([[[45, 5], [5, 45]], [[40, 10], [10, 40]]], "accuracy").difference.round(2)
np.float64(0.1)
"""

from matrics._scoring.fairness import demographic_parity, disparity, equal_opportunity, equalized_odds

__all__ = [
    "demographic_parity",
    "disparity",
    "equal_opportunity",
    "equalized_odds",
]
