"""
Agreement of raters
===================

A measure of each pair of raters, over the items that both have rated. Those who agree most with all others come first.
"""

# %%
# Cohen's kappa of five annotators, one of whom is careless
# ---------------------------------------------------------
#
# Each has left out some of the items: the diagonal has how many they rated.

import numpy as np

import matrics.plot

random = np.random.default_rng(0)
classes = ["negative", "neutral", "positive"]
truth = random.integers(0, 3, 120)
care = {"Ada": 0.9, "Ben": 0.85, "Cem": 0.8, "Dana": 0.35, "Eve": 0.88}
ratings = [
    np.where(random.random(120) < right, truth, random.integers(0, 3, 120))
    for right in care.values()
]
ratings = np.where(random.random((120, 5)) < 0.15, -1, np.stack(ratings, axis=1))

matrics.plot.raters(ratings, num_classes=3, names=list(care))
