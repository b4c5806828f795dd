"""
Which methods are better, over many data sets?
==============================================

A critical difference diagram shows the mean ranks of models over data sets. A bar joins models that are not
significantly different.
"""

import numpy as np

import matrics.plot

# %%
# Six methods on 24 data sets, which differ more in how hard they are than the methods do in how good they are.

random = np.random.default_rng(0)
names = ["boosting", "forest", "network", "nearest", "linear", "tree"]
scores = random.normal(0.8, 0.08, (24, 1)) + random.normal(
    [0.05, 0.045, 0.04, 0.02, 0.01, 0.0], 0.02, (24, 6)
)
matrics.plot.critical_difference(scores, names=names)

# %%
# Wilcoxon's signed ranks compare each pair by itself: other methods in the table change nothing.

matrics.plot.critical_difference(scores, names=names, method="wilcoxon")
